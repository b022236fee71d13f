// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the tables of order/: slots, sections and rows, each against a reference that keeps
 * everything in plain arrays and searches linearly.
 */
#include "order/rows.h"
#include "order/slots.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { THREADS = 4, OBJECTS = 6, EVENTS = 120, ROUNDS = 200 };

static uint32_t pick(uint32_t below)
{
	return (uint32_t)rand() % below;
}

/* ---- slots: the events of a thread on an object ---- */

struct happening {
	struct slot_item item;
	bool counts;
};

static bool give(const void *context, uint32_t i, struct slot_item *item)
{
	const struct happening *h = (const struct happening *)context + i;

	*item = h->item;
	return h->counts;
}

/* Makes events thread by thread and in program order, as slots_build() requires. */
static uint32_t make_happenings(struct happening *list)
{
	uint32_t count = 0, event = 1000;

	for (uint32_t t = 0; t < THREADS; t++) {
		uint32_t n = pick(EVENTS / THREADS);

		for (uint32_t i = 0; i < n; i++)
			list[count++] = (struct happening){{event++, pick(OBJECTS), t, i}, pick(3) != 0};
	}
	return count;
}

/* Counts the events of a thread on an object whose index is below `position`.  Stores the last one
 * in *last. */
static uint32_t count_below(const struct happening *list, uint32_t count, const uint32_t who[2],
			    uint32_t position, uint32_t *last)
{
	uint32_t n = 0;

	*last = NONE;
	for (uint32_t i = 0; i < count; i++) {
		const struct slot_item *item = &list[i].item;

		if (!list[i].counts || item->thread != who[0] || item->object != who[1] ||
		    item->index >= position)
			continue;
		n++;
		*last = item->event;
	}
	return n;
}

static const struct slot *slot_of(const struct slots *s, uint32_t thread, uint32_t object)
{
	for (uint32_t i = s->first[object]; i < s->first[object + 1]; i++)
		if (s->slot[i].thread == thread)
			return &s->slot[i];
	return NULL;
}

static void check_slots(const struct slots *s, const struct happening *list, uint32_t count)
{
	uint32_t threads[OBJECTS] = {0};

	for (uint32_t t = 0; t < THREADS; t++)
		for (uint32_t o = 0; o < OBJECTS; o++) {
			const struct slot *slot = slot_of(s, t, o);
			uint32_t last;

			threads[o] += slot != NULL;
			if (!slot) {
				assert_int_equal(
					count_below(list, count, (uint32_t[]){t, o}, UINT32_MAX, &last), 0);
				continue;
			}
			for (uint32_t position = 0; position <= EVENTS / THREADS; position++) {
				assert_int_equal(
					slots_below(s, slot, position),
					count_below(list, count, (uint32_t[]){t, o}, position, &last));
				assert_int_equal(slots_last(s, slot, position), last);
			}
		}
	for (uint32_t o = 0; o < OBJECTS; o++)
		assert_int_equal(slots_threads(s, o), threads[o]);
}

static void slots_have_what_was_given(void **state)
{
	struct happening list[EVENTS];

	(void)state;
	srand(5);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t count = make_happenings(list);
		struct slots s;

		slots_build(&s, OBJECTS, count, give, list);
		check_slots(&s, list, count);
		slots_release(&s);
	}
}

static void no_events_make_no_slots(void **state)
{
	struct slots s;

	(void)state;
	slots_build(&s, OBJECTS, 0, give, NULL);
	for (uint32_t o = 0; o < OBJECTS; o++)
		assert_int_equal(slots_threads(&s, o), 0);
	slots_release(&s);
}

/* ---- sections: what a thread does while it holds a lock ---- */

/* How often a thread holds a lock, and which section is the outermost one. */
struct twin {
	uint32_t depth, section;
};

/* Checks that the list has exactly the open sections, each once, the latest begun first. */
static void check_holds(const struct sections *s, uint32_t thread, const struct twin *locks)
{
	uint32_t seen = 0, open = 0, before = NONE;

	for (uint32_t h = s->head[thread]; h != NONE; h = s->holds[h].next, seen++) {
		uint32_t section = s->holds[h].section;

		assert_true(section < before);
		before = section;
		assert_int_equal(locks[s->list[section].lock].section, section);
		assert_int_not_equal(locks[s->list[section].lock].depth, 0);
	}
	for (uint32_t l = 0; l < OBJECTS; l++) {
		open += locks[l].depth != 0;
		assert_int_equal(sections_find(s, s->head[thread], l),
				 locks[l].depth ? locks[l].section : NONE);
	}
	assert_int_equal(seen, open);
}

static void take(struct sections *s, struct twin *lock, const uint32_t at[3])
{
	bool shared = pick(2);
	uint32_t section = sections_begin(s, at[0], at[1], at[2], shared);

	if (lock->depth++) {
		assert_int_equal(section, NONE);
		return;
	}
	lock->section = section;
	assert_int_equal(s->list[section].lock, at[1]);
	assert_int_equal(s->list[section].acquire, at[2]);
	assert_int_equal(s->list[section].release, NONE);
	assert_int_equal(s->list[section].shared, shared);
}

static void give_back(struct sections *s, struct twin *lock, const uint32_t at[3])
{
	uint32_t section = sections_end(s, at[0], at[1], at[2]);

	if (!lock->depth || --lock->depth) {
		assert_int_equal(section, NONE);
		return;
	}
	assert_int_equal(section, lock->section);
	assert_int_equal(s->list[section].release, at[2]);
}

/* Locks are released in any order and acquired recursively, and some releases are of locks that
 * nobody holds. */
static void sections_are_outermost(void **state)
{
	(void)state;
	srand(6);
	for (int round = 0; round < ROUNDS; round++) {
		struct twin locks[THREADS][OBJECTS] = {0};
		struct sections s;

		sections_init(&s, 1);
		sections_reserve(&s, THREADS);
		for (uint32_t event = 0; event < EVENTS; event++) {
			uint32_t at[3] = {pick(THREADS), pick(OBJECTS), event};

			(pick(2) ? take : give_back)(&s, &locks[at[0]][at[1]], at);
			check_holds(&s, at[0], locks[at[0]]);
		}
		sections_release(&s);
	}
}

/* The list of sections at some point stays valid: later steps do not change earlier lists. */
static void old_lists_stay(void **state)
{
	struct sections s;
	uint32_t then, a, b, c;

	(void)state;
	sections_init(&s, 1);
	a = sections_begin(&s, 0, 0, 1, false);
	b = sections_begin(&s, 0, 1, 2, false);
	c = sections_begin(&s, 0, 2, 3, false);
	then = s.head[0];
	sections_end(&s, 0, 0, 4); /* the first of the three sections */
	assert_int_equal(sections_find(&s, s.head[0], 0), NONE);
	assert_int_equal(sections_find(&s, s.head[0], 1), b);
	assert_int_equal(sections_find(&s, s.head[0], 2), c);
	assert_int_equal(sections_find(&s, then, 0), a);
	assert_int_equal(sections_find(&s, then, 2), c);
	sections_release(&s);
}

static void readers_do_not_exclude_readers(void **state)
{
	const struct section a = {.lock = 1, .shared = true}, b = {.lock = 1, .shared = true},
			     c = {.lock = 1}, other = {.lock = 2};

	(void)state;
	assert_false(sections_exclude(&a, &b));
	assert_true(sections_exclude(&a, &c));
	assert_true(sections_exclude(&c, &c));
	assert_false(sections_exclude(&c, &other));
}

/* ---- rows: clocks of events ---- */

static void rows_join_like_plain_clocks(void **state)
{
	uint32_t plain[EVENTS][THREADS], thread[EVENTS], n[EVENTS], done[THREADS];
	struct rows r;

	(void)state;
	srand(7);
	for (int round = 0; round < ROUNDS; round++) {
		rows_init(&r, EVENTS, THREADS);
		memset(done, 0, sizeof done);
		for (uint32_t e = 0; e < EVENTS; e++) {
			uint32_t p[THREADS];

			thread[e] = pick(THREADS);
			n[e] = ++done[thread[e]];
			for (uint32_t t = 0; t < THREADS; t++)
				p[t] = pick(EVENTS);
			r.of[e] = e && pick(2) ? r.of[e - 1] : rows_add(&r, p);
			memcpy(plain[e], rows_of(&r, e), sizeof p);
		}
		for (uint32_t e = 0; e < EVENTS; e++) {
			uint32_t p[THREADS] = {3, 50, 0, 7}, twin[THREADS] = {3, 50, 0, 7};

			assert_memory_equal(rows_of(&r, e), plain[e], sizeof plain[e]);
			rows_include(&r, e, thread[e], n[e], p);
			for (uint32_t t = 0; t < THREADS; t++) {
				uint32_t most = t == thread[e] ? n[e] : plain[e][t];

				twin[t] = twin[t] > most ? twin[t] : most;
			}
			assert_memory_equal(p, twin, sizeof p);
		}
		rows_release(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_have_what_was_given),
		cmocka_unit_test(no_events_make_no_slots),
		cmocka_unit_test(sections_are_outermost),
		cmocka_unit_test(old_lists_stay),
		cmocka_unit_test(readers_do_not_exclude_readers),
		cmocka_unit_test(rows_join_like_plain_clocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
