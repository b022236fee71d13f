/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares prediction with brute force, on random executions.  All races and all minimal deadlocks,
 * in both semantics, must be those that the enumeration of every interleaving finds.  Every witness
 * must pass the validator.
 *
 * RADDLE_BRUTE=COUNT[,FIRST] sets the number of executions and the first seed.  Only this test uses
 * the oracle and the generator, so they are included as source.
 */
#include "predict/brute.c"
#include "predict/kind.h"
#include "predict/random.c"

#include "predict/predict-int.h"
#include "predict/validate.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct tally {
	uint64_t executions, events, states, bad;
	uint64_t races[2], deadlocks[2], witnesses, exact, in_windows;
};

static void print_exec(const struct exec *x)
{
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		print_message("    %2u T%u %s(%u) flags %u aux %d\n", i, e->thread, exec_kind_name(e->kind),
			      e->object, e->flags, (int)e->aux);
	}
}

static uint32_t bits_of(const struct predict_deadlock *d)
{
	uint32_t bits = 0;

	for (uint32_t i = 0; i < d->count; i++)
		bits |= 1u << d->stops[i];
	return bits;
}

static bool oracle_has(const struct brute *b, uint32_t bits)
{
	for (uint32_t j = 0; j < b->deadlock_count; j++)
		if (b->deadlocks[j] == bits)
			return true;
	return false;
}

static bool result_has(const struct predict_result *r, uint32_t bits)
{
	for (size_t i = 0; i < r->deadlock_count; i++)
		if (bits_of(&r->deadlocks[i]) == bits)
			return true;
	return false;
}

static const char *compare_races(const struct exec *x, const struct predict_result *r, const struct brute *b)
{
	uint32_t got[BRUTE_EVENTS] = {0};

	for (size_t i = 0; i < r->race_count; i++)
		got[r->races[i].second] |= 1u << r->races[i].first;
	for (uint32_t i = 0; i < x->count; i++)
		if (got[i] != b->races[i])
			return got[i] & ~b->races[i] ? "a race is invented" : "a race is missed";
	return NULL;
}

static const char *compare_deadlocks(const struct predict_result *r, const struct brute *b)
{
	for (size_t i = 0; i < r->deadlock_count; i++)
		if (!oracle_has(b, bits_of(&r->deadlocks[i])))
			return "a deadlock is invented";
	for (uint32_t j = 0; j < b->deadlock_count; j++)
		if (!result_has(r, b->deadlocks[j]))
			return "a deadlock is missed";
	return NULL;
}

static const char *validate_all(const struct exec *x, const struct predict_result *r, bool sound,
				struct tally *t)
{
	const char *why = NULL;

	for (size_t i = 0; i < r->race_count && !why; i++) {
		const struct predict_race *c = &r->races[i];
		why = predict_validate(x, sound, (uint32_t[]){c->first, c->second}, 2, &c->witness);
		t->exact += c->tier == PREDICT_EXACT;
		t->witnesses++;
	}
	for (size_t i = 0; i < r->deadlock_count && !why; i++) {
		const struct predict_deadlock *c = &r->deadlocks[i];
		why = predict_validate(x, sound, c->stops, c->count, &c->witness);
		t->exact += c->tier == PREDICT_EXACT;
		t->witnesses++;
	}
	return why;
}

/* Windows find some of the races of the whole execution, with valid witnesses. */
static const char *check_windows(const struct exec *x, bool sound, const struct brute *b, struct tally *t)
{
	struct predict_opts o = {.max_tries = UINT32_MAX,
				 .sound_only = sound,
				 .speculative_only = !sound,
				 .no_deadlocks = true,
				 .window = 9};
	struct predict_result r;
	const char *why = predict_run(x, &o, &r) ? "prediction failed" : NULL;

	for (size_t i = 0; i < r.race_count && !why; i++)
		if (!(b->races[r.races[i].second] >> r.races[i].first & 1))
			why = "a window invents a race";
	if (!why)
		why = validate_all(x, &r, sound, t);
	t->in_windows += r.race_count;
	predict_result_release(&r);
	return why;
}

/* Counting (count_events) must mark an access as racy if and only if the access is the second one
 * of a race that the oracle finds. */
static const char *check_counts(const struct exec *x, bool sound, const struct brute *b)
{
	struct predict_opts o = {
		.count_events = true, .sound_only = sound, .speculative_only = !sound, .no_deadlocks = true};
	struct predict_result r;
	const char *why = predict_run(x, &o, &r) ? "counting failed" : NULL;

	for (uint32_t i = 0; i < x->count && !why; i++)
		if ((r.racy[i] == 1u << !sound) != (b->races[i] != 0))
			why = "an access is counted wrongly";
	predict_result_release(&r);
	return why;
}

static void compare(const struct exec *x, uint64_t seed, bool sound, struct tally *t)
{
	struct predict_opts o = {.max_tries = UINT32_MAX, .sound_only = sound, .speculative_only = !sound};
	struct predict_result r;
	struct brute b;
	const char *why;

	brute_run(x, sound, &b);
	why = predict_run(x, &o, &r) ? "prediction failed" : compare_races(x, &r, &b);
	if (!why)
		why = compare_deadlocks(&r, &b);
	if (!why)
		why = validate_all(x, &r, sound, t);
	if (!why && r.stats[!sound].unknown)
		why = "a question was left unknown";
	if (!why)
		why = check_windows(x, sound, &b, t);
	if (!why)
		why = check_counts(x, sound, &b);
	if (why && t->bad++ < 5) {
		print_message("seed %llu, %s: %s\n", (unsigned long long)seed,
			      sound ? "sound" : "speculative", why);
		print_exec(x);
	}
	t->races[!sound] += r.race_count;
	t->deadlocks[!sound] += r.deadlock_count;
	t->states += b.states;
	predict_result_release(&r);
}

static void test_brute_force(void **state)
{
	const char *wish = getenv("RADDLE_BRUTE"), *comma = wish ? strchr(wish, ',') : NULL;
	uint64_t count = wish ? strtoull(wish, NULL, 10) : 4000,
		 first = comma ? strtoull(comma + 1, NULL, 10) : 1;
	struct tally t = {0};

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct exec x;
		const char *why;

		random_exec(&x, seed);
		assert_int_equal(exec_check(&x, &why), EXEC_NONE);
		t.executions++;
		t.events += x.count;
		compare(&x, seed, true, &t);
		compare(&x, seed, false, &t);
		exec_release(&x);
	}
	print_message("%llu executions, %llu events, %llu states, %llu mismatches\n",
		      (unsigned long long)t.executions, (unsigned long long)t.events,
		      (unsigned long long)t.states, (unsigned long long)t.bad);
	print_message("sound: %llu races, %llu deadlocks; speculative: %llu races, %llu deadlocks\n",
		      (unsigned long long)t.races[0], (unsigned long long)t.deadlocks[0],
		      (unsigned long long)t.races[1], (unsigned long long)t.deadlocks[1]);
	print_message("%llu witnesses validated, %llu by exact search; %llu races in windows\n",
		      (unsigned long long)t.witnesses, (unsigned long long)t.exact,
		      (unsigned long long)t.in_windows);
	assert_int_equal(t.bad, 0);
	if (count >= 1000)
		assert_true(t.races[0] && t.deadlocks[0] && t.exact && t.races[1] > t.races[0] &&
			    t.in_windows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_brute_force)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
