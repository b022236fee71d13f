// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the owner graph, compared with a slow reference in random situations of up to five
 * threads.  The largest closed set must be the union of all sets whose members no outside thread
 * can release.  The reference tries every set.
 */
#include "order/owner.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 5, LOCKS = 3, HELD = 2 };

struct situation {
	struct owner_thread threads[THREADS];
	uint64_t held[THREADS][HELD];
	struct owner_graph g;
};

static uint64_t seed;

static unsigned dice(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

/* Gives each lock to one thread, or to several that share it. */
static void deal_locks(struct situation *s)
{
	for (unsigned lock = 1; lock <= LOCKS; lock++) {
		bool shared = dice(3) == 0;

		for (unsigned k = shared ? dice(4) : dice(2); k; k--) {
			unsigned t = dice(THREADS);

			if (s->threads[t].held_count < HELD)
				s->held[t][s->threads[t].held_count++] = lock * 2 | shared;
		}
	}
}

static void make_up(struct situation *s)
{
	memset(s, 0, sizeof *s);
	s->g = (struct owner_graph){s->threads, THREADS, dice(4) == 0, (enum owner_hands)dice(3)};
	deal_locks(s);
	for (unsigned t = 0; t < THREADS; t++) {
		struct owner_thread *o = &s->threads[t];

		o->held = s->held[t];
		o->ended = dice(6) == 0;
		o->alive = !o->ended && dice(8);
		o->wait = o->ended ? OWNER_RUNNING : (enum owner_wait)dice(OWNER_NOTE + 1);
		o->object = o->wait == OWNER_JOIN ? dice(THREADS + 1) : 2 * (1 + dice(LOCKS));
	}
}

static bool has(const struct owner_thread *t, uint64_t lock, bool exclusively)
{
	for (size_t i = 0; i < t->held_count; i++)
		if ((t->held[i] & ~1ull) == lock && !(exclusively && t->held[i] & 1))
			return true;
	return false;
}

/* Whether a thread exclusively holds the lock that it waits for.  Its first entry for the lock
 * counts. */
static bool has_alone(const struct owner_thread *t)
{
	for (size_t i = 0; i < t->held_count; i++)
		if ((t->held[i] & ~1ull) == t->object)
			return !(t->held[i] & 1);
	return false;
}

/* Whether all members of the set wait for something that only members or ended threads could
 * release. */
static bool is_closed(const struct situation *s, unsigned set)
{
	for (unsigned t = 0; t < THREADS; t++) {
		const struct owner_thread *o = &s->threads[t];
		bool kept = false, written = false, writer = false, left = s->g.helped;
		bool handed = s->g.hands == OWNER_ANY_THREAD ||
			      (s->g.hands == OWNER_HOLDER_UNLESS_STUCK && has_alone(o));

		if (!(set >> t & 1))
			continue;
		for (unsigned i = 0; i < THREADS; i++) {
			const struct owner_thread *by = &s->threads[i];
			bool in = set >> i & 1;

			kept |= (in || by->ended) && has(by, o->object, false);
			written |= (in || by->ended) && has(by, o->object, true);
			writer |= in && by->wait == OWNER_LOCK && by->object == o->object;
			left |= by->alive && !in;
		}
		if (o->wait == OWNER_RUNNING || (o->wait == OWNER_LOCK && (!kept || (handed && left))) ||
		    (o->wait == OWNER_READ && !written && !(kept && writer)) ||
		    (o->wait == OWNER_JOIN && !(o->object < THREADS && set >> o->object & 1)) ||
		    (o->wait == OWNER_NOTE && left))
			return false;
	}
	return true;
}

static void test_twin(void **state)
{
	unsigned found = 0, causes = 0;

	(void)state;
	for (unsigned n = 0; n < 20000; n++) {
		bool closed[THREADS], cause[THREADS];
		unsigned all = 0, set = 0;
		struct situation s;

		seed = n * 0x9e3779b97f4a7c15ull + 1;
		make_up(&s);
		for (unsigned k = 1; k < 1u << THREADS; k++)
			all |= is_closed(&s, k) ? k : 0;
		found += owner_closed(&s.g, closed) != 0;
		owner_causes(&s.g, closed, cause);
		for (unsigned t = 0; t < THREADS; t++) {
			uint32_t owner = owner_of(&s.g, closed, t);

			set |= (unsigned)closed[t] << t;
			causes += cause[t];
			assert_true(!cause[t] || closed[t]);
			if (s.threads[t].wait == OWNER_LOCK && closed[t])
				assert_true(closed[owner] || s.threads[owner].ended);
		}
		if (set != all)
			fail_msg("situation %u: closed are %x, the twin says %x", n, set, all);
	}
	assert_true(found > 1000 && causes > 1000);
}

/* A thread that only waits for a cycle is closed, but not a cause.  A thread that may be notified
 * is neither. */
static void test_causes(void **state)
{
	static const uint64_t a[] = {2}, b[] = {4};
	const struct owner_thread threads[] = {
		{.wait = OWNER_JOIN, .object = 1, .alive = true},
		{.wait = OWNER_LOCK, .object = 4, .alive = true, .held = a, .held_count = 1},
		{.wait = OWNER_LOCK, .object = 2, .alive = true, .held = b, .held_count = 1},
		{.wait = OWNER_NOTE, .alive = true},
		{.alive = true},
	};
	struct owner_graph g = {threads, 5, false, OWNER_HOLDER};
	bool closed[5], cause[5];

	(void)state;
	assert_int_equal(owner_closed(&g, closed), 3);
	owner_causes(&g, closed, cause);
	assert_true(closed[0] && !cause[0] && cause[1] && cause[2] && !closed[3]);
	assert_int_equal(owner_of(&g, closed, 0), 1);
	assert_int_equal(owner_of(&g, NULL, 2), 1);
	assert_int_equal(owner_of(&g, NULL, 3), OWNER_NONE);
	assert_true(owner_is_held(&g, 4) && !owner_is_held(&g, 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_causes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
