// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of explore/state-int.h: whole explorations with made-up runs.  What is learned is
 * compared with a slow reference that keeps all notes and recounts them.  The next step is checked
 * against its definition.
 */
#include "base/clock.h"
#include "explore/state-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t seed = 29;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static struct replay_program program;

/* An exploration without a program. */
struct made_up {
	struct explore how;
	struct explore_result result;
	struct explore_state state;
};

static void begin(struct made_up *m, const struct explore *how)
{
	*m = (struct made_up){.how = *how};
	m->how.runs.program = &program;
	explore_state_init(&m->state, &m->how, &m->result);
}

static void end(struct made_up *m)
{
	explore_state_release(&m->state);
	cover_release(&m->result.cover);
}

/* ---- Luby's sequence of run lengths ---- */

/* Computes the sequence by its definition: that of a level is twice that of the level below, then
 * 2^level. */
static size_t slow_luby(uint64_t *out, size_t level)
{
	size_t n;

	if (level == 0) {
		out[0] = 1;
		return 1;
	}
	n = slow_luby(out, level - 1);
	memcpy(out + n, out, n * sizeof *out);
	out[2 * n] = UINT64_C(1) << level;
	return 2 * n + 1;
}

static void test_luby(void **state)
{
	uint64_t expected[2048];
	size_t n = slow_luby(expected, 9);

	(void)state;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(explore_luby(i + 1), expected[i]);
}

/* ---- what is learned from the notes of runs ---- */

enum { NOTES = 400 };

/* Makes the note of a run.  There are few different trails, races, threads and faults, so that each
 * occurs again. */
static void make_note(struct note *n, uint64_t number, struct note_race *races, struct note_thread *threads,
		      uint64_t *pairs)
{
	static const char *const faults[] = {"crash", "assertion", "exit-status"};

	*n = (struct note){.number = number,
			   .run_ns = below(1000000),
			   .trail = below(120),
			   .choices = below(300),
			   .extent = below(5000),
			   .known = 2,
			   .counts = below(10) != 0,
			   .status = 0,
			   .races = races,
			   .threads = threads,
			   .pairs = pairs};
	n->cut = !n->counts && below(2);
	n->why = n->counts ? NULL : "it left its schedule";
	n->race_count = below(3);
	for (uint32_t i = 0; i < n->race_count; i++)
		races[i] = (struct note_race){.site = {1 + below(5), 1 + below(5)}};
	n->thread_count = 1 + below(4);
	for (uint32_t i = 0; i < n->thread_count; i++) {
		snprintf(threads[i].name, sizeof threads[i].name, "T_%u", i);
		threads[i].points = below(50);
	}
	n->pair_count = below(3);
	for (uint32_t i = 0; i < n->pair_count; i++)
		pairs[i] = 1 + below(60);
	if (n->counts && !below(8)) {
		n->failure.fault = faults[below(3)];
		n->failure.place = below(2) ? "a.c:1: f" : "a.c:2: g";
		n->made = below(5) ? "schedule" : NULL;
	}
}

struct notes {
	struct note items[NOTES];
	struct note_race races[NOTES][3];
	struct note_thread threads[NOTES][4];
	uint64_t pairs[NOTES][3];
};

static size_t count_trails(const struct notes *all)
{
	size_t different = 0;

	for (size_t i = 0; i < NOTES; i++) {
		bool fresh = all->items[i].counts;

		for (size_t k = 0; k < i && fresh; k++)
			fresh = !all->items[k].counts || all->items[k].trail != all->items[i].trail;
		different += fresh;
	}
	return different;
}

/* Whether a run says something about races: runs that count do, and runs that were cut short. */
static bool shows(const struct note *n)
{
	return n->counts || n->cut;
}

static size_t count_races(const struct notes *all)
{
	bool seen[8][8] = {{0}};
	size_t count = 0;

	for (size_t i = 0; i < NOTES; i++)
		for (uint32_t k = 0; shows(&all->items[i]) && k < all->items[i].race_count; k++) {
			const uint32_t *site = all->items[i].races[k].site;

			count += !seen[site[0]][site[1]];
			seen[site[0]][site[1]] = true;
		}
	return count;
}

static size_t count_pairs(const struct notes *all)
{
	bool seen[64] = {0};
	size_t count = 0;

	for (size_t i = 0; i < NOTES; i++)
		for (uint32_t k = 0; shows(&all->items[i]) && k < all->items[i].pair_count; k++) {
			count += !seen[all->items[i].pairs[k]];
			seen[all->items[i].pairs[k]] = true;
		}
	return count;
}

static size_t count_failures(const struct notes *all, uint64_t *first)
{
	const struct note *seen[16];
	size_t count = 0;

	*first = 0;
	for (size_t i = 0; i < NOTES; i++) {
		const struct note *n = &all->items[i];
		bool fresh = n->counts && n->failure.fault && n->made;

		for (size_t k = 0; k < count && fresh; k++)
			fresh = strcmp(seen[k]->failure.fault, n->failure.fault) != 0 ||
				strcmp(seen[k]->failure.place, n->failure.place) != 0;
		if (!fresh)
			continue;
		seen[count++] = n;
		*first = *first ? *first : n->number + 1;
	}
	return count;
}

static uint64_t total(const struct note *n)
{
	uint64_t points = 0;

	for (uint32_t i = 0; i < n->thread_count; i++)
		points += n->threads[i].points;
	return points;
}

/* Returns the first of the runs with the most threads and, of these, the most points. */
static const struct note *largest(const struct notes *all)
{
	const struct note *best = NULL;

	for (size_t i = 0; i < NOTES; i++) {
		const struct note *n = &all->items[i];

		if (n->counts && (!best || n->thread_count > best->thread_count ||
				  (n->thread_count == best->thread_count && total(n) > total(best))))
			best = n;
	}
	return best;
}

static void check_learned(const struct made_up *m, const struct notes *all)
{
	uint64_t first, schedules = 0, strayed = 0, cut = 0, extent = 0;
	int64_t run_ns = 0;

	for (size_t i = 0; i < NOTES; i++) {
		schedules += all->items[i].counts;
		strayed += !all->items[i].counts;
		cut += !all->items[i].counts && all->items[i].cut;
		run_ns += all->items[i].counts ? all->items[i].run_ns : 0;
		extent += all->items[i].counts ? all->items[i].extent : 0;
	}
	assert_int_equal(m->result.schedules, schedules);
	assert_int_equal(m->result.discarded, strayed);
	assert_int_equal(m->state.cut, cut);
	assert_int_equal(m->state.run_ns, run_ns);
	assert_int_equal(m->state.run_extent, extent);
	assert_int_equal(m->result.different, count_trails(all));
	assert_int_equal(m->state.race_count, count_races(all));
	assert_int_equal(m->result.cover.count, count_pairs(all));
	assert_int_equal(m->state.failure_count, count_failures(all, &first));
	assert_int_equal(m->result.first_failure, first);
	assert_ptr_equal(m->state.threads, largest(all)->threads);
	for (size_t i = 0; i < m->state.race_count; i++)
		assert_true(m->state.races[i].kept <= EXPLORE_RACY_TIMES);
}

static void test_learn(void **state)
{
	struct notes *all = calloc(1, sizeof *all);

	(void)state;
	assert_non_null(all);
	for (int round = 0; round < 40; round++) {
		struct made_up m;

		begin(&m, &(struct explore){.seed = 1 + below(9)});
		for (size_t i = 0; i < NOTES; i++) {
			make_note(&all->items[i], i, all->races[i], all->threads[i], all->pairs[i]);
			explore_learn(&m.state, &all->items[i]);
		}
		check_learned(&m, all);
		end(&m);
	}
	free(all);
}

/* Resuming relies on this: explore_learn_new() leaves enough of a note to learn the same from it
 * again. */
static void test_learn_again(void **state)
{
	struct notes *all = calloc(1, sizeof *all);

	(void)state;
	assert_non_null(all);
	for (int round = 0; round < 20; round++) {
		struct made_up one, two;

		begin(&one, &(struct explore){.seed = 3});
		begin(&two, &(struct explore){.seed = 3});
		for (size_t i = 0; i < NOTES; i++) {
			make_note(&all->items[i], i, all->races[i], all->threads[i], all->pairs[i]);
			explore_learn_new(&one.state, &all->items[i]);
			explore_learn(&two.state, &all->items[i]);
		}
		assert_int_equal(one.result.schedules, two.result.schedules);
		assert_int_equal(one.result.different, two.result.different);
		assert_int_equal(one.result.last_new, two.result.last_new);
		assert_int_equal(one.state.race_count, two.state.race_count);
		assert_int_equal(one.state.thread_count, two.state.thread_count);
		assert_int_equal(one.state.failure_count, two.state.failure_count);
		assert_int_equal(one.state.prefixes.count, two.state.prefixes.count);
		assert_int_equal(one.state.repeats, two.state.repeats);
		assert_memory_equal(one.state.longest, two.state.longest, sizeof one.state.longest);
		assert_memory_equal(one.state.length, two.state.length, sizeof one.state.length);
		end(&one);
		end(&two);
	}
	free(all);
}

static void test_first_run(void **state)
{
	struct note passes = {.number = 0, .counts = true, .status = 0},
		    fails = {.number = 0, .counts = true, .status = 3},
		    later = {.number = 1, .counts = true, .status = 4};
	struct made_up m;

	(void)state;
	begin(&m, &(struct explore){0});
	assert_int_equal(m.state.usual_status, -1);
	explore_learn(&m.state, &later);
	assert_int_equal(m.state.usual_status, -1);
	explore_learn(&m.state, &passes);
	assert_int_equal(m.state.usual_status, 0);
	end(&m);
	begin(&m, &(struct explore){0});
	explore_learn(&m.state, &fails);
	assert_int_equal(m.state.usual_status, 3);
	end(&m);
}

static void test_lost(void **state)
{
	struct made_up m;

	(void)state;
	begin(&m, &(struct explore){0});
	explore_learn_lost(&m.state, 6);
	explore_learn_lost(&m.state, 2);
	assert_int_equal(m.result.discarded, 8);
	assert_non_null(m.result.why);
	assert_int_equal(m.result.schedules, 0);
	end(&m);
}

/* When the tables are full, nothing is written after their ends. */
static void test_full(void **state)
{
	static char places[2000][32];
	struct made_up m;

	(void)state;
	begin(&m, &(struct explore){.seed = 1});
	for (uint64_t i = 0; i < 2000; i++) {
		struct note_race race = {.site = {(uint32_t)i + 1, (uint32_t)i + 2}};
		uint64_t pair = i + 1;
		struct note n = {.number = i,
				 .counts = true,
				 .trail = i,
				 .races = &race,
				 .race_count = 1,
				 .pairs = &pair,
				 .pair_count = 1,
				 .made = "schedule",
				 .failure = {.fault = "crash"}};

		snprintf(places[i], sizeof places[i], "a.c:%llu: f", (unsigned long long)i);
		n.failure.place = places[i];
		explore_learn(&m.state, &n);
	}
	assert_int_equal(m.state.race_count, EXPLORE_RACES);
	assert_int_equal(m.state.failure_count, EXPLORE_FAILURES);
	assert_int_equal(m.state.prefixes.count, PREFIXES);
	assert_true(m.result.racy_count <= EXPLORE_RACY);
	assert_int_equal(m.result.new_count, EXPLORE_NEW);
	/* The last new runs are kept, in order. */
	for (size_t i = 1; i < m.result.new_count; i++)
		assert_true(m.result.new_ones[i - 1].number < m.result.new_ones[i].number);
	end(&m);
}

/* A run whose schedule depends on what was known when it was made cannot be recorded.  What was
 * learned later does not matter, such as the number of threads. */
static void test_recordable(void **state)
{
	unsigned kept[POINTS_KINDS] = {0};
	struct made_up m;

	(void)state;
	for (uint64_t number = 0; number < 300; number++) {
		struct note_race race = {.site = {1, 2}};
		struct note n = {
			.number = number, .known = 2, .counts = true, .races = &race, .race_count = 1};
		struct draw draw = strategies_draw(number, 1, NULL, 2);

		begin(&m, &(struct explore){.seed = 1});
		m.state.thread_count = 100;
		explore_learn(&m.state, &n);
		kept[draw.points] += (unsigned)m.result.racy_count;
		if (draw.points == POINTS_RACY || draw.strategy.kind == RADDLE_STRATEGY_WEIGHTED)
			assert_int_equal(m.result.racy_count, 0);
		else
			assert_int_equal(m.result.racy_count, 1);
		end(&m);
	}
	assert_true(kept[POINTS_OPERATIONS] > 0 && kept[POINTS_ALL] > 0);
	assert_int_equal(kept[POINTS_RACY], 0);
}

/* ---- which schedules come next, and when an exploration stops ---- */

/* Hands out all schedules in batches, as the loop does.  Each number occurs once, whatever the
 * number of shards. */
static void test_shards(void **state)
{
	(void)state;
	for (unsigned shards = 0; shards < 6; shards++) {
		uint64_t most = 1 + below(400);
		bool *given = calloc(most, sizeof *given);

		assert_non_null(given);
		for (unsigned shard = 0; shard < (shards ? shards : 1); shard++) {
			struct made_up m;

			begin(&m, &(struct explore){
					  .most = most, .shards = shards, .shard = shard, .go_on = true});
			m.result.schedules = 1000;
			m.state.run_extent = below(2) ? 1 : 1000000000;
			while (explore_next_stop(&m.state, 0) == EXPLORE_GOES_ON) {
				uint64_t count = explore_next_batch(&m.state);

				assert_in_range(count, 1, 30);
				for (uint64_t i = 0; i < count; i++) {
					uint64_t number = explore_number(&m.state, m.state.given + i);

					assert_true(number < most);
					assert_false(given[number]);
					given[number] = true;
				}
				m.state.given += count;
			}
			assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_ENOUGH);
			assert_int_equal(explore_next_batch(&m.state), 0);
			end(&m);
		}
		for (uint64_t i = 0; i < most; i++)
			assert_true(given[i]);
		free(given);
	}
}

static void test_batches(void **state)
{
	struct made_up m;

	(void)state;
	begin(&m, &(struct explore){0});
	/* The first run is made alone, and the next one waits for it. */
	assert_int_equal(explore_next_batch(&m.state), 1);
	assert_false(explore_next_waits(&m.state));
	m.state.given = 1;
	assert_true(explore_next_waits(&m.state));
	m.result.schedules = 1;
	assert_false(explore_next_waits(&m.state));
	assert_int_equal(explore_next_batch(&m.state), 6);
	/* Batches for a quick program become larger when enough is known. */
	m.state.run_extent = 100;
	m.state.given = EXPLORE_FIRST - 1;
	assert_int_equal(explore_next_batch(&m.state), 6);
	m.state.given = EXPLORE_FIRST;
	assert_int_equal(explore_next_batch(&m.state), 30);
	/* A slower machine makes the same batches. */
	m.state.run_ns = 10 * RD_NS_PER_MS;
	assert_int_equal(explore_next_batch(&m.state), 30);
	/* Batches for a slow program are small. */
	m.state.run_ns = RD_NS_PER_S;
	assert_int_equal(explore_next_batch(&m.state), 6);
	m.state.run_ns = 1;
	m.state.run_extent = 100000;
	assert_int_equal(explore_next_batch(&m.state), 6);
	end(&m);
}

static void test_stops(void **state)
{
	struct made_up m;

	(void)state;
	begin(&m, &(struct explore){.time_ns = 7 * RD_NS_PER_S});
	m.result.schedules = 1;
	assert_int_equal(explore_next_stop(&m.state, 7 * RD_NS_PER_S - 1), EXPLORE_GOES_ON);
	assert_int_equal(explore_next_stop(&m.state, 7 * RD_NS_PER_S), EXPLORE_TIME);
	/* A failure ends the exploration unless the caller wants more. */
	m.state.failure_count = 1;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_FAILED);
	/* If the failure cannot be repeated, the exploration continues. */
	m.state.result->unrepeated = m.state.failure_count;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
	m.state.result->unrepeated = 0;
	m.how.go_on = true;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
	/* Nothing is run if only logs are collected. */
	m.how.collect = true;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_TIME);
	m.how.collect = false;
	/* Exploration ends if nothing new was found for long: in 1500 schedules, or up to three
	 * times the schedule that last showed something new. */
	m.state.given = 1499;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
	m.state.given = 1500;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_SETTLED);
	m.result.last_new = 510;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
	m.state.given = 1530;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_SETTLED);
	/* Exploration does not end if the caller wants more schedules. */
	m.how.most = 2000;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
	m.state.given = 2000;
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_ENOUGH);
	end(&m);
}

/* There is a limit on work without anything new.  Each such run adds its points, and a new race
 * resets the sum.  A few long runs do not suffice. */
static void test_quiet(void **state)
{
	struct note plain = {.counts = true, .extent = 8000}, racy = plain;
	struct note_race race = {.site = {1, 2}};
	struct made_up m;

	(void)state;
	begin(&m, &(struct explore){.quiet = 100 * (8000 + EXPLORE_RUN_WORK)});
	racy.races = &race;
	racy.race_count = 1;
	for (uint64_t i = 0; i < 150; i++) {
		plain.number = plain.trail = racy.number = racy.trail = i;
		assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
		explore_learn(&m.state, i == 50 ? &racy : &plain);
	}
	plain.number = plain.trail = 150;
	explore_learn(&m.state, &plain);
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_SETTLED);
	end(&m);

	begin(&m, &(struct explore){.quiet = 1});
	for (uint64_t i = 0; i < 60; i++) {
		plain.number = plain.trail = i;
		assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
		explore_learn(&m.state, &plain);
	}
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_SETTLED);
	end(&m);
}

/* Exploration ends if schedules repeat: if fewer than ten of a hundred are new. */
static void test_repeats(void **state)
{
	(void)state;
	for (uint32_t fresh = 0; fresh < 20; fresh++) {
		struct made_up m;

		begin(&m, &(struct explore){0});
		for (uint64_t i = 0; i < 100; i++) {
			struct note n = {.number = i, .counts = true, .trail = i < fresh ? i : 0};

			assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
			explore_learn(&m.state, &n);
		}
		/* The first trail is always new. */
		assert_int_equal(explore_next_stop(&m.state, 0),
				 (fresh ? fresh : 1) < 10 ? EXPLORE_SETTLED : EXPLORE_GOES_ON);
		end(&m);
	}
}

/* If no run ends, exploration gives up, but not if one of them ended. */
static void test_endless(void **state)
{
	struct made_up m;

	(void)state;
	begin(&m, &(struct explore){.most = 100000});
	for (uint64_t i = 0; i < 1200; i++) {
		struct note n = {.number = i, .cut = true, .why = "the program did not end"};

		assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
		explore_learn(&m.state, &n);
	}
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_SETTLED);
	explore_learn(&m.state, &(struct note){.number = 2000, .counts = true});
	assert_int_equal(explore_next_stop(&m.state, 0), EXPLORE_GOES_ON);
	assert_string_equal(m.result.why, "the program did not end");
	end(&m);
}

static void test_extent(void **state)
{
	struct made_up m;

	(void)state;
	begin(&m, &(struct explore){0});
	/* The first run is not ended early.  While no run has ended, the others are ended by Luby's
	 * sequence. */
	assert_int_equal(explore_extent(&m.state, 0, POINTS_OPERATIONS), 200000);
	for (uint64_t i = 1; i < 100; i++)
		assert_int_equal(explore_extent(&m.state, i, POINTS_ALL),
				 500 * explore_luby(strategies_position(i)));
	/* A long run with another kind of points raises the limit. */
	m.state.longest[POINTS_OPERATIONS] = 100;
	assert_int_equal(explore_extent(&m.state, 1, POINTS_ALL), 500 * explore_luby(strategies_position(1)));
	m.state.longest[POINTS_OPERATIONS] = 1000;
	assert_int_equal(explore_extent(&m.state, 1, POINTS_ALL),
			 4000 * explore_luby(strategies_position(1)));
	/* The limit is a multiple of the longest run. */
	assert_int_equal(explore_extent(&m.state, 1, POINTS_OPERATIONS), 20000);
	m.state.longest[POINTS_OPERATIONS] = 2000;
	assert_int_equal(explore_extent(&m.state, 1, POINTS_OPERATIONS), 40000);
	/* Most runs have no end, so the limit is small. */
	m.state.longest[POINTS_OPERATIONS] = 10;
	m.state.cut = 1;
	assert_int_equal(explore_extent(&m.state, 1, POINTS_OPERATIONS), 500);
	end(&m);
}

/* ---- plans of single runs ---- */

static void test_plan(void **state)
{
	struct rd_arena *arena = rd_arena_new();
	struct note_thread threads[] = {{"T_0", 7}, {"T_0_0", 9}};
	struct explore_plan plan;
	struct made_up m;
	unsigned weighted = 0;

	(void)state;
	begin(&m, &(struct explore){.seed = 4});
	m.state.threads = threads;
	m.state.thread_count = 2;
	m.state.length[POINTS_ALL] = 77;
	for (uint64_t number = 0; number < 200; number++) {
		assert_int_equal(explore_plan(&m.state, number, arena, &plan), 0);
		struct draw draw = strategies_draw(number, 4, NULL, 2);

		assert_true(plan.schedule.turns);
		assert_string_equal(plan.schedule.flavour, EXPLORE_FLAVOUR);
		assert_int_equal(plan.schedule.seed, draw.seed);
		assert_int_equal(plan.from.prefix, 0);
		/* No race is known, so all accesses are points instead of the racy ones. */
		assert_int_equal(plan.schedule.watch_count, draw.points == POINTS_OPERATIONS ? 0 : 1);
		assert_int_equal(plan.strategy.length, draw.points == POINTS_ALL ? 77 : 0);
		assert_int_equal(plan.extent, explore_extent(&m.state, number, draw.points));
		if (plan.strategy.kind == RADDLE_STRATEGY_WEIGHTED) {
			weighted++;
			assert_int_equal(plan.strategy.weight_count, 2);
			assert_string_equal(plan.strategy.weights[1].thread, "T_0_0");
			assert_int_equal(plan.strategy.weights[1].points, 9);
		} else {
			assert_int_equal(plan.strategy.weight_count, 0);
		}
		explore_plan_release(&plan);
	}
	assert_true(weighted > 0);
	end(&m);
	rd_arena_free(arena);
}

/* As soon as there is a prefix, every third schedule extends one, with the points of the prefix. */
static void test_plan_prefix(void **state)
{
	struct schedule_decision decision = {
		.thread = "T_0", .n = 1, .point = "op", .count = 1, .next = "T_0_0"};
	struct schedule made = {.turns = true, .decisions = &decision, .decision_count = 1};
	struct rd_arena *arena = rd_arena_new();
	struct rd_buf text = RD_BUF_INIT;
	struct explore_plan plan;
	struct made_up m;
	unsigned extended = 0;

	(void)state;
	schedule_format(&made, &text);
	begin(&m, &(struct explore){.seed = 4});
	assert_true(
		prefixes_add(&m.state.prefixes, &(struct prefix){.made = text.data, .points = POINTS_ALL}));
	for (uint64_t number = 0; number < 90; number++) {
		assert_int_equal(explore_plan(&m.state, number, arena, &plan), 0);
		assert_int_equal(plan.from.prefix, number % 3 == 2);
		if (plan.from.prefix) {
			extended++;
			assert_int_equal(plan.draw.points, POINTS_ALL);
			assert_int_equal(plan.schedule.decision_count, plan.from.kept);
			assert_int_equal(plan.branch, 0);
		}
		explore_plan_release(&plan);
	}
	assert_int_equal(extended, 30);
	/* No prefix is extended if the user chose a strategy. */
	m.how.strategy = "pct";
	assert_int_equal(explore_plan(&m.state, 2, arena, &plan), 0);
	assert_int_equal(plan.from.prefix, 0);
	explore_plan_release(&plan);
	end(&m);
	rd_buf_release(&text);
	rd_arena_free(arena);
}

/* If runs are long, two of three schedules branch off, those of 48 in a row at the same place. */
static void test_plan_branch(void **state)
{
	struct schedule_decision decisions[200];
	struct schedule made = {.turns = true, .decisions = decisions, .decision_count = 200};
	struct rd_arena *arena = rd_arena_new();
	struct rd_buf text = RD_BUF_INIT;
	struct explore_plan plan;
	struct made_up m;
	uint64_t kept[3];

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		decisions[i] = (struct schedule_decision){
			.thread = "T_0", .n = i + 1, .point = "op", .count = 1, .next = "T_0_0"};
	schedule_format(&made, &text);
	begin(&m, &(struct explore){.seed = 4});
	assert_true(prefixes_add(&m.state.prefixes, &(struct prefix){.made = text.data}));
	m.state.longest[POINTS_OPERATIONS] = 1000;
	for (uint64_t number = 96; number < 5 * 48; number++) {
		size_t span = number / 48 - 2;

		assert_int_equal(explore_plan(&m.state, number, arena, &plan), 0);
		assert_int_equal(plan.from.prefix, number % 3 != 0);
		if (number % 48 == 1)
			kept[span] = plan.from.kept;
		assert_int_equal(plan.from.kept, number % 3 ? kept[span] : 0);
		assert_int_equal(plan.branch, plan.from.kept);
		assert_int_equal(plan.schedule.seed, plan.draw.seed);
		explore_plan_release(&plan);
	}
	/* The first schedules do not, nor do any if many branches leave their schedules. */
	assert_int_equal(explore_plan(&m.state, 50, arena, &plan), 0);
	assert_int_equal(plan.branch, 0);
	explore_plan_release(&plan);
	m.state.branches = 7;
	m.state.strayed = 2;
	assert_false(explore_is_long(&m.state));
	m.state.branches = 8;
	assert_true(explore_is_long(&m.state));
	m.state.thread_count = 11; /* each thread does little */
	assert_false(explore_is_long(&m.state));
	assert_true(kept[0] != kept[1] && kept[1] != kept[2]);
	end(&m);
	rd_buf_release(&text);
	rd_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plan_branch), cmocka_unit_test(test_luby),
		cmocka_unit_test(test_learn),	    cmocka_unit_test(test_learn_again),
		cmocka_unit_test(test_first_run),   cmocka_unit_test(test_lost),
		cmocka_unit_test(test_full),	    cmocka_unit_test(test_recordable),
		cmocka_unit_test(test_shards),	    cmocka_unit_test(test_batches),
		cmocka_unit_test(test_stops),	    cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_repeats),	    cmocka_unit_test(test_endless),
		cmocka_unit_test(test_extent),	    cmocka_unit_test(test_plan),
		cmocka_unit_test(test_plan_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
