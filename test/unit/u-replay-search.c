// SPDX-License-Identifier: Apache-2.0
/* Unit tests of replay/search.h with made-up runs: a run is a walk through a tree of choices. */
#include "replay/search.h"

#include "raddle/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { DEPTH_MAX = 6, LEAVES_MAX = 1024 };

/* A tree in which each level has a number of alternatives.  With `merge`, all states of a level are
 * equal. */
struct tree {
	uint32_t alternatives[DEPTH_MAX];
	unsigned depth;
	bool merge;
	unsigned visits[LEAVES_MAX];
	unsigned order[LEAVES_MAX], costs[LEAVES_MAX], runs;
};

/* Makes the planned choices, then default ones.  Returns the number of the leaf. */
static unsigned run(struct tree *t, struct replay_search *s)
{
	struct raddle_choice made[DEPTH_MAX];
	unsigned leaf = 0, cost = 0;

	for (unsigned i = 0; i < t->depth; i++) {
		uint32_t taken = i < s->planned ? s->choices[i].taken : 0;

		assert_true(taken < t->alternatives[i]);
		made[i] = (struct raddle_choice){.at = i + 1,
						 .from = t->alternatives[i],
						 .taken = taken,
						 .state = t->merge ? i + 1 : (uint64_t)leaf << 8 | (i + 1)};
		leaf = leaf * t->alternatives[i] + taken;
		cost += taken != 0;
	}
	s->count = 0;
	for (unsigned i = 0; i < t->depth; i++)
		replay_search_add(s, &made[i]);
	t->visits[leaf]++;
	t->order[t->runs] = leaf;
	t->costs[t->runs++] = cost;
	return leaf;
}

static void explore(struct tree *t)
{
	struct replay_search s = {0};

	do {
		assert_true(t->runs < LEAVES_MAX);
		run(t, &s);
	} while (replay_search_next(&s));
	assert_int_equal(s.runs, t->runs);
	replay_search_release(&s);
}

static void each_leaf_is_visited_once(void **state)
{
	struct tree t = {.alternatives = {2, 3, 1, 2}, .depth = 4};

	(void)state;
	explore(&t);
	assert_int_equal(t.runs, 12);
	for (unsigned i = 0; i < 12; i++)
		assert_int_equal(t.visits[i], 1);
}

static void few_unusual_choices_come_first(void **state)
{
	struct tree t = {.alternatives = {2, 2, 2, 2, 2, 2}, .depth = 6};

	(void)state;
	explore(&t);
	assert_int_equal(t.runs, 64);
	assert_int_equal(t.order[0], 0);
	for (unsigned i = 1; i < t.runs; i++)
		assert_true(t.costs[i - 1] <= t.costs[i]);
}

/* If all states of a level are the same, each alternative is tried from one of them only. */
static void known_states_are_not_left_again(void **state)
{
	struct tree t = {.alternatives = {2, 2, 2}, .depth = 3, .merge = true};

	(void)state;
	explore(&t);
	assert_int_equal(t.runs, 1 + 3);
}

static void a_run_without_choices_is_the_only_one(void **state)
{
	struct tree t = {.depth = 0};

	(void)state;
	explore(&t);
	assert_int_equal(t.runs, 1);
}

/* A search that is abandoned has plans in its queues, which must be released. */
static void an_unfinished_search_is_released(void **state)
{
	struct tree t = {.alternatives = {4, 4, 4}, .depth = 3};
	struct replay_search s = {0};

	(void)state;
	run(&t, &s);
	assert_true(replay_search_next(&s));
	run(&t, &s);
	replay_search_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_leaf_is_visited_once),
		cmocka_unit_test(few_unusual_choices_come_first),
		cmocka_unit_test(known_states_are_not_left_again),
		cmocka_unit_test(a_run_without_choices_is_the_only_one),
		cmocka_unit_test(an_unfinished_search_is_released),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
