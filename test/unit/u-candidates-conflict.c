// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of which accesses may race: random threads, locks and accesses are compared with the
 * rules written out one by one.  What other threads can reach: random pointers are compared with a
 * transitive closure.  Also tests which member an expression names.
 */
#include "candidates-fixture.h"

#include "candidates/conflict-int.h"
#include "candidates/pair-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- which accesses may race ---- */

enum { THREADS = 4, ACCESSES = 12, LOCKS = 3, GUARDS = 16, INSTANCES = 24 };

/* A hand-made result of the walk over a program. */
struct scene {
	struct made m;
	struct program p;
	struct threads threads;
	struct locks locks;
	struct access accesses[ACCESSES];
	struct flow_effect effects[THREADS];
	struct access_walk w;
	/* by set of guards and lock: 0 not held, 1 held for reading, 2 for writing */
	uint8_t held[GUARDS][LOCKS];
	struct instance items[INSTANCES];
};

static uint32_t make_guards(struct scene *s, uint32_t number)
{
	uint32_t numbers[LOCKS];
	size_t count = 0;
	bool is_new;

	for (uint32_t k = 0; k < LOCKS; k++) {
		s->held[number][k] = (uint8_t)(below(&s->m, 2) ? 0 : 1 + below(&s->m, 2));
		if (s->held[number][k])
			numbers[count++] = k << 1 | (s->held[number][k] == 1);
	}
	return rd_tuples_put(&s->locks.guard_sets, numbers, count, rd_tuple_hash(numbers, count), &is_new);
}

static void make_scene(struct scene *s, uint64_t seed)
{
	uint32_t guards[GUARDS], of[GUARDS] = {0};

	*s = (struct scene){.m = {.random = seed}};
	s->p.accesses = s->accesses;
	s->threads.p = &s->p;
	s->threads.count = THREADS;
	for (uint32_t i = 0; i < THREADS; i++) {
		s->threads.items[i] = (struct thread_kind){.function = i, .many = i && below(&s->m, 2)};
		s->effects[i].started = below(&s->m, 1u << THREADS);
	}
	for (uint32_t i = 0; i < ACCESSES; i++)
		s->accesses[i] = (struct access){.kind = below(&s->m, 2) ? FACTS_READ : FACTS_WRITE,
						 .flags = (below(&s->m, 4) ? 0 : FACTS_ACCESS_ATOMIC) |
							  (below(&s->m, 6) ? 0 : FACTS_ACCESS_THREAD_LOCAL),
						 .use = below(&s->m, 8) == 0};
	for (uint32_t i = 0; i < GUARDS; i++) {
		guards[i] = make_guards(s, i);
		of[guards[i]] = i; /* equal sets of guards have the same number */
	}
	s->w = (struct access_walk){.p = &s->p,
				    .threads = &s->threads,
				    .locks = &s->locks,
				    .flow = {.effects = s->effects},
				    .instances = s->items,
				    .count = INSTANCES};
	for (uint32_t i = 0; i < INSTANCES; i++) {
		uint32_t g = below(&s->m, GUARDS);

		s->items[i] = (struct instance){.access = below(&s->m, ACCESSES),
						.thread = below(&s->m, THREADS),
						.alive = below(&s->m, 1u << THREADS),
						.apart = below(&s->m, 3) ? 0 : below(&s->m, 1u << THREADS),
						.guards = guards[g],
						.own = below(&s->m, 3) == 0,
						.direct = below(&s->m, 6) == 0};
		s->items[i].held = of[guards[g]]; /* the slow rules use this as the row of `held` */
	}
}

static bool is_alive(const struct instance *i, uint32_t thread)
{
	return i->alive >> thread & 1;
}

static bool slow_starts(const struct scene *s, uint32_t a, uint32_t b)
{
	return a == 0 || (s->effects[a].started >> b & 1);
}

static bool slow_meet(const struct scene *s, const struct instance *x, const struct instance *y)
{
	bool sees = is_alive(x, y->thread), seen = is_alive(y, x->thread);

	if (x->thread == y->thread && !s->threads.items[x->thread].many)
		return false; /* a thread cannot race with itself */
	if (x->thread == y->thread)
		return sees || seen;
	/* If exactly one of the two threads starts the other, each must be alive for the other. */
	if (slow_starts(s, x->thread, y->thread) && !slow_starts(s, y->thread, x->thread))
		return sees && seen;
	if (!slow_starts(s, x->thread, y->thread) && slow_starts(s, y->thread, x->thread))
		return sees && seen;
	return sees || seen;
}

/* A lock excludes two accesses if both threads hold it, and one of them for writing. */
static bool slow_locked(const struct scene *s, const struct instance *x, const struct instance *y)
{
	for (uint32_t k = 0; k < LOCKS; k++) {
		uint8_t a = s->held[x->held][k], b = s->held[y->held][k];

		if (a && b && (a == 2 || b == 2))
			return true;
	}
	return false;
}

static bool slow_private(const struct instance *x, const struct instance *y)
{
	if (x->direct && y->direct)
		return true;
	if (x->thread == y->thread && x->own && y->own)
		return true;
	if (y->own && (x->apart >> y->thread & 1))
		return true;
	return x->own && (y->apart >> x->thread & 1);
}

static bool slow_may_race(const struct scene *s, const struct instance *x, const struct instance *y)
{
	const struct access *a = &s->accesses[x->access], *b = &s->accesses[y->access];
	bool a_atomic = a->use || (a->flags & FACTS_ACCESS_ATOMIC);
	bool b_atomic = b->use || (b->flags & FACTS_ACCESS_ATOMIC);

	if (a->kind == FACTS_READ && b->kind == FACTS_READ)
		return false;
	if (a_atomic && b_atomic)
		return false;
	if ((a->flags & FACTS_ACCESS_THREAD_LOCAL) && (b->flags & FACTS_ACCESS_THREAD_LOCAL))
		return false;
	return slow_meet(s, x, y) && !slow_private(x, y) && !slow_locked(s, x, y);
}

static void release_scene(struct scene *s)
{
	rd_tuples_release(&s->locks.guard_sets);
}

static void conflicts_are_those_of_the_rules(void **state)
{
	size_t races = 0, others = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct scene s;

		make_scene(&s, seed);
		for (uint32_t i = 0; i < INSTANCES; i++)
			for (uint32_t k = 0; k < INSTANCES; k++) {
				bool race = conflict_may_race(&s.w, &s.items[i], &s.items[k]);

				assert_int_equal(race, slow_may_race(&s, &s.items[i], &s.items[k]));
				assert_int_equal(race, conflict_may_race(&s.w, &s.items[k], &s.items[i]));
				races += race;
				others += !race;
			}
		release_scene(&s);
	}
	assert_true(races > 1000 && others > 1000);
}

/* The result is computed once for each pair of kinds.  So two instances of one kind must have the
 * same results. */
static void kinds_decide(void **state)
{
	size_t equal = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct scene s;
		uint32_t a[CONFLICT_NUMBERS], b[CONFLICT_NUMBERS];

		make_scene(&s, seed);
		for (uint32_t i = 0; i + 1 < INSTANCES; i += 2) {
			s.items[i + 1] = s.items[i];
			/* Another access, which may or may not be of the same kind. */
			s.items[i + 1].access = below(&s.m, ACCESSES);
			if (below(&s.m, 2))
				s.items[i + 1].own = !s.items[i].own;
			assert_int_equal(conflict_kind(&s.w, &s.items[i], a), CONFLICT_NUMBERS);
			conflict_kind(&s.w, &s.items[i + 1], b);
			if (memcmp(a, b, sizeof a) != 0)
				continue;
			equal++;
			for (uint32_t k = 0; k < INSTANCES; k++)
				assert_int_equal(conflict_may_race(&s.w, &s.items[i], &s.items[k]),
						 conflict_may_race(&s.w, &s.items[i + 1], &s.items[k]));
		}
		release_scene(&s);
	}
	assert_true(equal > 20);
}

/* ---- which objects several threads can reach ---- */

enum { OBJECTS = 8 };

/* Makes objects with one place each, which contain random sets of places.  Returns the objects that
 * are shared from the start, as bits. */
static uint32_t random_objects(struct made *m, uint64_t contents[OBJECTS])
{
	uint32_t shared = 0;

	for (uint32_t i = 0; i < OBJECTS; i++) {
		struct facts_object *o = facts_add_object(m->f);
		uint32_t kind = below(m, 5);

		o->name = facts_add_string(m->f, "object");
		o->through = FACTS_NONE;
		o->size = 8;
		o->kind = kind == 0   ? FACTS_OBJECT_GLOBAL
			  : kind == 1 ? FACTS_OBJECT_STACK
			  : kind == 2 ? FACTS_OBJECT_LIBRARY
				      : FACTS_OBJECT_HEAP;
		o->flags = kind == 0 && below(m, 2) ? FACTS_OBJECT_THREAD_LOCAL : 0;
		if ((kind == 0 && !o->flags) || kind == 2)
			shared |= 1u << i;
	}
	for (uint32_t i = 0; i < OBJECTS; i++)
		made_place(m, i, 0);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		contents[i] = below(m, 2) ? 0 : 1u << below(m, OBJECTS) | 1u << below(m, OBJECTS);
		m->f->places[i].contents = contents[i] ? made_set(m, contents[i]) : 0;
	}
	return shared;
}

static void shared_objects_are_those_of_a_closure(void **state)
{
	size_t more = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct made m;
		struct program p = {0};
		uint64_t contents[OBJECTS];
		uint32_t shared, before;

		made_begin(&m, seed);
		shared = random_objects(&m, contents);
		before = shared;
		for (int round = 0; round < OBJECTS; round++)
			for (uint32_t i = 0; i < OBJECTS; i++)
				shared |= shared >> i & 1 ? (uint32_t)contents[i] : 0;
		p.f = m.f;
		share_find(&p);
		for (uint32_t i = 0; i < OBJECTS; i++)
			assert_int_equal(p.shared_object[i], shared >> i & 1);
		more += shared != before;
		free(p.shared_object);
		facts_free(m.f);
	}
	assert_true(more > 20); /* some are reached through pointers only */
}

/* ---- which member an expression names ---- */

static void members_of_expressions(void **state)
{
	static const char *const rows[][2] = {
		{"count", "count"},
		{"q->head", "head"},
		{"q->head.next", "next"},
		{"table[i]", "table"},
		{"s.rows[i][k]", "rows"},
		{"p->a[b->c]", "a"},
		{"(*p).x", "x"},
		{"", ""},
		{"x]", ""},
		{"a.b[i].c[k + 1]", "c"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t length;
		const char *member = pair_member(rows[i][0], &length);

		assert_int_equal(length, strlen(rows[i][1]));
		assert_memory_equal(member, rows[i][1], length);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conflicts_are_those_of_the_rules),
		cmocka_unit_test(kinds_decide),
		cmocka_unit_test(shared_objects_are_those_of_a_closure),
		cmocka_unit_test(members_of_expressions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
