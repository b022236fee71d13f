// SPDX-License-Identifier: Apache-2.0
/* Unit tests of classify/unordered-int.h: which accesses become points, compared with a slow version on
 * random races of both orders. */
#include "classify/unordered-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SITES = 6, RACES = 5, ROUNDS = 3000 };

static uint64_t seed = 23;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static bool is_watched(const struct schedule *s, uint32_t site)
{
	for (size_t i = 0; i < s->watch_count; i++)
		if (s->watches[i].site == site) {
			assert_true(s->watches[i].stand && s->watches[i].reads && s->watches[i].writes);
			assert_true(s->watches[i].after == SCHEDULE_ALWAYS && !s->watches[i].thread);
			return true;
		}
	return false;
}

/* Adds a run with random races.  Sets found[order][a][b] for each of them that is not planned. */
static void add_run(struct unordered *u, unsigned order, bool found[2][SITES + 1][SITES + 1])
{
	struct replay_race races[RACES] = {{.site = {0}}};
	struct replay_result run = {.races = races, .race_count = below(RACES)};

	for (size_t i = 0; i < run.race_count; i++) {
		uint32_t a = 1 + below(SITES), b = 1 + below(SITES);

		races[i] = (struct replay_race){.site = {a, b}, .planned = !below(4)};
		if (!races[i].planned)
			found[order][a][b] = found[order][b][a] = true;
	}
	unordered_note(u, order, &run);
}

static void test_random(void **state)
{
	struct unordered u = {0};
	struct schedule s;

	(void)state;
	schedule_init(&s);
	for (int round = 0; round < ROUNDS; round++) {
		bool found[2][SITES + 1][SITES + 1] = {{{false}}};

		unordered_clear(&u);
		for (unsigned i = 0; i < 4; i++)
			add_run(&u, i % 2, found);
		unordered_watch(&u, &s);
		for (uint32_t a = 1; a <= SITES; a++) {
			bool wanted = false;

			for (uint32_t b = 1; b <= SITES; b++)
				wanted |= found[0][a][b] != found[1][a][b];
			assert_int_equal(is_watched(&s, a), wanted);
		}
	}
	schedule_release(&s);
	unordered_release(&u);
}

/* If the same accesses are unordered in both orders, the order of the race is not the reason. */
static void test_same(void **state)
{
	struct replay_race races[] = {{.site = {3, 4}}, {.site = {7, 7}}};
	struct replay_result run = {.races = races, .race_count = 2};
	struct unordered u = {0};
	struct schedule s;

	(void)state;
	schedule_init(&s);
	unordered_note(&u, 0, &run);
	unordered_watch(&u, &s);
	assert_int_equal(s.watch_count, 3);
	races[0] = (struct replay_race){.site = {4, 3}};
	unordered_note(&u, 1, &run);
	unordered_watch(&u, &s);
	assert_int_equal(s.watch_count, 0);
	schedule_release(&s);
	unordered_release(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
