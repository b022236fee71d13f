/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the budget of a check (check/budget.h), without running programs.  Tables list
 * situations and the action that must follow.  Then many checks are simulated with random results.
 * Whatever the results are, deadlines must be met, each phase must end, and each chosen action
 * must have work to do.
 */
#include "check/budget.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#define S 1000000000ll /* nanoseconds in a second */
#define START (1000 * S)
#define LARGE 2000000

/* The situation in a check with a time limit of 100 s that began 10 s ago.  One run of a small
 * program has been recorded. */
static struct check_known small(void)
{
	return (struct check_known){.start_ns = START,
				    .end_ns = START + 100 * S,
				    .record_ns = START + 2 * S,
				    .now_ns = START + 10 * S,
				    .runs = 1,
				    .recorded = 1,
				    .events = 1000,
				    .has_exited = true,
				    .recorded_ms = 100,
				    .ended_ns = START + 9 * S,
				    .build_ns = 2 * S,
				    .threads = 3,
				    .has_further = true};
}

/* The same situation after prediction from the trace. */
static struct check_known predicted(void)
{
	struct check_known k = small();

	k.predicted = 1;
	k.is_predicting = true;
	return k;
}

static struct check_known replayed(void)
{
	struct check_known k = predicted();

	k.settled = true;
	return k;
}

static struct check_known explored(void)
{
	struct check_known k = replayed();

	k.further_begun = k.explored = k.further_over = true;
	k.further_end_ns = START + 20 * S;
	return k;
}

static void assert_what(const struct check_known *k, enum check_what what)
{
	assert_string_equal(check_what_name(check_next(k).what), check_what_name(what));
}

/* ---- how long runs are recorded ---- */

static void record_comes_first(void **state)
{
	struct check_known k = small();

	(void)state;
	k.recorded = 0;
	k.runs = 3;
	assert_what(&k, CHECK_RECORD);
	k.recorded = 2;
	assert_what(&k, CHECK_RECORD);
	k.recorded = 3;
	assert_what(&k, CHECK_PREDICT);
}

static void a_run_has_its_share_of_the_time(void **state)
{
	static const struct {
		int64_t left_s; /* INT64_MIN: the check has no end */
		uint64_t runs, recorded, timeout_ms, limit_ms;
	} cases[] = {
		{80, 1, 0, 0, 60000},	     /* three quarters of the time */
		{80, 2, 0, 0, 30000},	     /* shared by two runs */
		{80, 2, 1, 0, 60000},	     /* the last run has the rest */
		{8, 1, 0, 0, 10000},	     /* at least 10 s, to let a program start */
		{-5, 1, 0, 0, 10000},	     /* even if the check is late */
		{80, 1, 0, 700, 700},	     /* the limit of the user */
		{INT64_MIN, 1, 0, 0, 0},     /* no limit */
		{INT64_MIN, 1, 0, 700, 700}, /* only the limit of the user */
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct check_known k = small();

		k.end_ns = cases[i].left_s == INT64_MIN ? 0 : k.now_ns + cases[i].left_s * S;
		k.runs = cases[i].runs;
		k.recorded = cases[i].recorded;
		k.timeout_ms = cases[i].timeout_ms;
		assert_int_equal(check_next(&k).limit_ms, cases[i].limit_ms);
	}
}

/* Passes the limits that the budget sets for a run to the code that ends runs. */
static void a_run_is_ended_when_its_trace_is_full_or_nothing_comes(void **state)
{
	struct check_known k = small();
	struct record_enough e;
	int64_t now_ns = START + 10 * S; /* 90 s are left, enough for 180 million events */
	bool full, quiet;

	(void)state;
	e = check_enough(&k);
	assert_false(record_has_enough(&e, now_ns, 179999999, now_ns, &full, &quiet));
	assert_false(full || quiet);
	assert_true(record_has_enough(&e, now_ns, 180000000, now_ns, &full, &quiet));
	assert_true(full && !quiet);
	assert_false(record_has_enough(&e, now_ns, 5, now_ns - 24 * S, &full, &quiet));
	assert_true(record_has_enough(&e, now_ns, 5, now_ns - 25 * S, &full, &quiet));
	assert_true(quiet && !full);
	now_ns = k.end_ns + 1; /* then only the time limit of the run applies */
	assert_false(record_has_enough(&e, now_ns, 180000000, now_ns, &full, &quiet));
	k.end_ns = 0;
	e = check_enough(&k);
	assert_false(record_has_enough(&e, now_ns, UINT64_MAX, 0, &full, &quiet));
}

/* ---- when the check predicts, looks at further runs, and replays early ---- */

static void prediction_leaves_time_for_replays(void **state)
{
	static const struct {
		uint64_t events;
		bool is_endless;
		int64_t end_s, latest_s; /* from now on, if 80 s are left */
	} cases[] = {{1000, false, 40, 60}, {LARGE, false, 20, 60}, {1000, true, 20, 40}};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct check_known k = small();
		struct check_action a;

		k.end_ns = k.now_ns + 80 * S;
		k.events = cases[i].events;
		k.is_endless = cases[i].is_endless;
		k.no_explore = true;
		a = check_next(&k);
		assert_int_equal(a.what, CHECK_PREDICT);
		assert_true(a.is_first);
		assert_int_equal(a.end_ns, k.now_ns + cases[i].end_s * S);
		assert_int_equal(a.latest_ns, k.now_ns + cases[i].latest_s * S);
		k.end_ns = 0;
		assert_int_equal(check_next(&k).end_ns, 0);
	}
}

static void a_walk_is_shown_and_further_runs_are_looked_at(void **state)
{
	struct check_known k = small();
	struct check_outcome fresh = {.fresh = true}, vain = {0};
	struct check_action a;

	(void)state;
	k.end_ns = 0;
	k.events = LARGE;
	k.has_walked = k.is_predicting = true;
	assert_what(&k, CHECK_SHOW_WALK);
	a = check_next(&k);
	check_done(&k, &a, &vain);
	assert_int_equal(k.look_ns, k.now_ns - k.ended_ns + 100 * 1000000);
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_LOOK);
	assert_true(a.all); /* every other run is recorded without thinning */
	assert_int_equal(a.work_ms, 2 * 100 + 10000);
	assert_int_equal(a.limit_ms, 0);
	check_done(&k, &a, &fresh);
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_LOOK);
	assert_false(a.all);
	check_done(&k, &a, &vain);
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_LOOK);
	check_done(&k, &a, &vain);
	a = check_next(&k); /* after two looks in vain, prediction continues */
	assert_int_equal(a.what, CHECK_PREDICT);
	assert_true(a.is_first); /* it gets new deadlines */
	check_done(&k, &a, &(struct check_outcome){.walked = true});
	assert_what(&k, CHECK_PREDICT); /* the walk is not shown again */
}

static void looks_need_a_large_program_that_ends(void **state)
{
	struct check_known k = small(), other;

	(void)state;
	k.events = LARGE;
	k.has_walked = k.is_predicting = k.no_explore = true;
	assert_what(&k, CHECK_SHOW_WALK);
	other = k, other.events = 1000;
	assert_what(&other, CHECK_PREDICT);
	other = k, other.is_endless = true;
	assert_what(&other, CHECK_PREDICT);
	other = k, other.no_replay = true;
	assert_what(&other, CHECK_PREDICT);
	other = k, other.is_deadlocked = true;
	assert_what(&other, CHECK_PREDICT);
	other = k, other.interrupted = true;
	assert_what(&other, CHECK_PREDICT);
}

static void looks_come_after_prediction_if_nothing_was_walked_over(void **state)
{
	struct check_known k = predicted();
	struct check_action a;

	(void)state;
	k.events = LARGE;
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_LOOK);
	assert_int_equal(a.end_ns, k.now_ns + (k.end_ns - k.now_ns) / 4 * 3);
	k.run_interrupted = true;
	assert_what(&k, CHECK_SETTLE);
	k.run_interrupted = false;
	k.recorded_ms = 40000; /* the time is too short for three such runs */
	assert_what(&k, CHECK_SETTLE);
	k.recorded_ms = 100;
	check_done(&k, &a, &(struct check_outcome){.failed = true});
	assert_what(&k, CHECK_SETTLE);
}

static void a_run_without_thinning_needs_three_times_the_time(void **state)
{
	struct check_known k = small();

	(void)state;
	k.events = LARGE;
	k.looks_begun = true;
	k.looks_end_ns = k.now_ns + 30 * S;
	k.look_ns = 10 * S;
	assert_true(check_next(&k).all);
	k.look_ns = 10 * S + 1;
	assert_int_equal(check_next(&k).what, CHECK_LOOK);
	assert_false(check_next(&k).all);
	k.look_ns = 30 * S + 1;
	assert_int_equal(check_next(&k).what, CHECK_PREDICT);
}

static void sound_findings_are_tried_early(void **state)
{
	struct check_known k = small();
	struct check_action a;

	(void)state;
	k.is_predicting = k.has_found = true;
	assert_what(&k, CHECK_PREDICT); /* prediction will end soon */
	k.parts = 2;
	assert_what(&k, CHECK_TRY_EARLY);
	k.parts = 0;
	k.predicted_events = LARGE;
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_TRY_EARLY);
	assert_true(a.replays);
	assert_int_equal(a.end_ns, k.now_ns + 90 * S / 4);
	k.now_ns += 20 * S;
	check_done(&k, &a, &(struct check_outcome){.replayed = true});
	assert_int_equal(k.early_left_ns, 90 * S / 4 - 20 * S);
	assert_what(&k, CHECK_PREDICT);
	k.has_found = true;
	a = check_next(&k);
	k.now_ns += 3 * S; /* more than was left for early replays */
	check_done(&k, &a, &(struct check_outcome){.replayed = true});
	k.has_found = true;
	a = check_next(&k);
	/* findings that need no replay are still reported */
	assert_int_equal(a.what, CHECK_TRY_EARLY);
	assert_false(a.replays);
	k.no_replay = true;
	assert_what(&k, CHECK_PREDICT);
}

static void early_replays_end_with_the_check(void **state)
{
	struct check_known k = small();

	(void)state;
	k.is_predicting = k.has_found = k.early_begun = true;
	k.predicted_events = LARGE;
	k.early_left_ns = 20 * S;
	k.now_ns = k.end_ns - 5 * S;
	assert_int_equal(check_next(&k).end_ns, k.end_ns);
}

/* ---- replays, further schedules and classes ---- */

static void replays_leave_a_quarter_for_classes(void **state)
{
	struct check_known k = predicted();

	(void)state;
	k.now_ns = k.end_ns - 40 * S;
	assert_what(&k, CHECK_SETTLE);
	assert_int_equal(check_next(&k).end_ns, k.end_ns - 10 * S);
	k.no_classify = true;
	assert_int_equal(check_next(&k).end_ns, k.end_ns);
	k.no_classify = false;
	k.now_ns = k.end_ns + S;
	assert_int_equal(check_next(&k).end_ns, k.end_ns);
	k.no_replay = true;
	assert_what(&k, CHECK_END_FURTHER);
}

static void further_schedules_have_their_share(void **state)
{
	struct check_known k = replayed();
	struct check_action a;

	(void)state;
	a = check_next(&k); /* 20 s, since a quarter of 90 s is more; half of it for exploring */
	assert_int_equal(a.what, CHECK_EXPLORE);
	assert_int_equal(a.phase_ns, k.now_ns + 20 * S);
	assert_int_equal(a.end_ns, k.now_ns + 10 * S);
	k.now_ns = k.end_ns - 40 * S;
	a = check_next(&k);
	assert_int_equal(a.phase_ns, k.now_ns + 10 * S);
	k.end_ns = START + 1000 * S;
	a = check_next(&k); /* as long as everything before took */
	assert_int_equal(a.phase_ns, k.now_ns + (k.now_ns - k.record_ns));
	check_done(&k, &a, &(struct check_outcome){0});
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_FURTHER);
	assert_int_equal(a.end_ns, k.further_end_ns);
	k.has_further = false;
	assert_what(&k, CHECK_END_FURTHER);
	k.has_further = true;
	k.now_ns = k.further_end_ns;
	assert_what(&k, CHECK_END_FURTHER);
	/* without a limit, it ends only when there is nothing new */
	k.end_ns = k.further_end_ns = 0;
	assert_what(&k, CHECK_FURTHER);
	assert_int_equal(check_next(&k).end_ns, 0);
}

static void further_schedules_end_after_a_failure(void **state)
{
	struct check_known k = replayed();
	struct check_action a = check_next(&k);

	(void)state;
	check_done(&k, &a, &(struct check_outcome){.failed = true});
	assert_what(&k, CHECK_END_FURTHER);
	a = check_next(&k);
	check_done(&k, &a, &(struct check_outcome){0});
	assert_what(&k, CHECK_END);
}

static void only_programs_that_end_alone_are_explored(void **state)
{
	static const size_t flags[] = {
		offsetof(struct check_known, no_explore), offsetof(struct check_known, interrupted),
		offsetof(struct check_known, is_edited), offsetof(struct check_known, has_company),
		offsetof(struct check_known, is_cut)};
	struct check_known k = replayed();

	(void)state;
	for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
		struct check_known other = k;

		memcpy((char *)&other + flags[i], &(bool){true}, sizeof(bool));
		assert_what(&other, CHECK_END);
	}
	k.threads = 1;
	assert_what(&k, CHECK_END);
	k.threads = 2;
	k.forked = 1;
	assert_what(&k, CHECK_END);
	k.forked = 0;
	k.has_exited = false;
	assert_what(&k, CHECK_END);
	k.is_deadlocked = true;
	assert_what(&k, CHECK_EXPLORE);
}

static void an_endless_program_is_explored_first(void **state)
{
	struct check_known k = small();
	struct check_action a;

	(void)state;
	k.is_endless = true;
	k.has_exited = false;
	k.threads = 0; /* not known before prediction */
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_EXPLORE);
	k.end_ns = k.now_ns + 30 * S;
	a = check_next(&k);
	assert_int_equal(a.phase_ns, k.now_ns + 15 * S); /* half of the time */
	check_done(&k, &a, &(struct check_outcome){0});
	k.now_ns = k.further_end_ns;
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_END_FURTHER);
	check_done(&k, &a, &(struct check_outcome){0});
	assert_what(&k, CHECK_PREDICT);
	k.predicted = 1;
	k.settled = true;
	assert_what(&k, CHECK_END); /* it is explored once */
	k.further_over = k.further_begun = false;
	k.predicted = 0;
	k.has_forked = true;
	assert_what(&k, CHECK_PREDICT);
}

static void without_replays_schedules_are_recorded_but_not_explored(void **state)
{
	struct check_known k = predicted();

	(void)state;
	k.no_replay = true;
	assert_what(&k, CHECK_FURTHER);
}

static void races_are_classified_if_there_is_time(void **state)
{
	struct check_known k = explored();
	struct check_action a;

	(void)state;
	assert_what(&k, CHECK_END);
	k.races = 2;
	assert_what(&k, CHECK_CLASSIFY);
	k.now_ns = k.end_ns - k.build_ns;
	assert_what(&k, CHECK_END);
	assert_int_equal(check_unclassified(&k), 2);
	k.now_ns--;
	a = check_next(&k);
	assert_int_equal(a.what, CHECK_CLASSIFY);
	check_done(&k, &a, &(struct check_outcome){0});
	assert_what(&k, CHECK_END);
	assert_int_equal(check_unclassified(&k), 0);
	k.classified = false;
	k.no_classify = true;
	assert_what(&k, CHECK_END);
	assert_int_equal(check_unclassified(&k), 0);
	k.no_classify = false;
	k.interrupted = true;
	assert_what(&k, CHECK_END);
}

static void a_slow_build_is_worth_a_word(void **state)
{
	struct check_known k = small();

	(void)state;
	k.build_ns = 25 * S;
	assert_false(check_is_slow_build(&k));
	k.build_ns++;
	assert_true(check_is_slow_build(&k));
	k.end_ns = 0;
	assert_false(check_is_slow_build(&k));
}

/* ---- simulated checks with random results ---- */

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static bool chance(uint64_t one_in)
{
	return draw(one_in) == 0;
}

/* A simulated check, and how often each action was done. */
struct play {
	struct check_known k;
	uint64_t done[CHECK_END + 1];
	uint64_t steps; /* of prediction, that remain for the trace */
	uint64_t schedules;
	enum check_what last;
};

static void begin(struct play *p)
{
	bool has_end = !chance(4);

	*p = (struct play){.k = {.start_ns = START,
				 .end_ns = has_end ? START + (int64_t)draw(200) * S + 1 : 0,
				 .now_ns = START + (int64_t)draw(20) * S,
				 .runs = 1 + draw(3),
				 .timeout_ms = chance(4) ? 1 + draw(10000) : 0,
				 .no_replay = chance(6),
				 .no_explore = chance(6),
				 .no_classify = chance(6),
				 .has_company = chance(8),
				 .is_edited = chance(8)},
			   .steps = 1 + draw(6),
			   .schedules = draw(12)};
	p->k.record_ns = p->k.now_ns;
	p->k.build_ns = p->k.now_ns - START;
}

/* Updates what does not depend on the last action: remaining schedules, and interruptions. */
static void refresh(struct play *p)
{
	p->k.has_further = p->schedules > 0;
	p->k.interrupted |= chance(60);
	if (p->k.interrupted)
		p->k.runs = p->k.recorded ? p->k.recorded : 1;
}

/* Checks the conditions that each action must meet in its situation. */
static void judge(const struct play *p, const struct check_action *a)
{
	const struct check_known *k = &p->k;

	assert_int_equal(a->begin_ns, k->now_ns);
	assert_true(!k->end_ns || a->end_ns <= k->end_ns);
	assert_true(k->end_ns || !a->end_ns); /* a check without a time limit sets no deadlines */
	if (a->what == CHECK_RECORD)
		assert_true(k->recorded < k->runs);
	else
		assert_int_equal(k->recorded, k->runs);
	switch (a->what) {
	case CHECK_RECORD: assert_true(!k->end_ns || a->limit_ms); break;
	case CHECK_PREDICT:
		assert_true(k->predicted < k->runs);
		assert_true(!k->end_ns || (a->end_ns <= a->latest_ns && a->latest_ns <= k->end_ns));
		break;
	case CHECK_SHOW_WALK: assert_true(k->has_walked && !k->looks_begun && !k->no_replay); break;
	case CHECK_LOOK:
		assert_true(k->events >= 1000000 && k->looks < 12 && k->vain_looks < 2);
		assert_true(!a->limit_ms != !a->work_ms);
		assert_true(!k->end_ns || a->end_ns >= k->now_ns);
		break;
	case CHECK_TRY_EARLY:
		assert_true(k->has_found && !k->no_replay && !k->interrupted);
		assert_true(!k->end_ns || !a->replays || a->end_ns > k->now_ns || k->end_ns <= k->now_ns);
		break;
	case CHECK_SETTLE: assert_true(!k->no_replay && !k->interrupted && k->predicted == k->runs); break;
	case CHECK_EXPLORE:
		assert_true(!k->no_explore && !k->no_replay && !k->has_company && !k->is_edited);
		assert_true(!k->end_ns || a->end_ns > k->now_ns || a->phase_ns > k->now_ns);
		break;
	case CHECK_FURTHER:
		assert_true(k->has_further && !k->interrupted && !k->no_explore);
		assert_true(!k->end_ns || a->end_ns > k->now_ns);
		break;
	case CHECK_END_FURTHER: assert_true(!k->no_explore); break;
	case CHECK_CLASSIFY:
		assert_true(k->races && !k->no_classify && !k->interrupted);
		assert_true(!k->end_ns || k->end_ns - k->now_ns > k->build_ns);
		break;
	case CHECK_END: assert_int_equal(k->predicted, k->runs); break;
	}
}

static void play_run(struct play *p)
{
	struct check_known *k = &p->k;

	k->recorded_ms = 1 + draw(5000);
	k->ended_ns = k->now_ns;
	if (k->recorded)
		return;
	k->events = chance(2) ? draw(1000000) : LARGE;
	k->is_endless = chance(4);
	k->is_cut = chance(10);
	k->is_deadlocked = !k->is_endless && chance(10);
	k->has_exited = !k->is_endless && !k->is_deadlocked && !chance(5);
	k->has_forked = chance(8);
}

static void play_prediction(struct play *p, struct check_outcome *o)
{
	struct check_known *k = &p->k;

	k->threads = 1 + draw(3);
	k->predicted_events = k->events;
	k->parts = chance(5) ? 2 : 0;
	if (!p->steps--) {
		o->over = true;
		p->steps = 1 + draw(6);
		k->forked = chance(8);
		k->races += draw(3);
	} else {
		o->walked = k->events >= 1000000 && chance(3);
		o->found = !o->walked;
	}
}

static void play(struct play *p, const struct check_action *a)
{
	struct check_outcome o = {.failed = chance(20), .fresh = chance(2), .replayed = chance(2)};

	p->k.now_ns += (int64_t)draw(chance(5) ? 60 * S : S);
	if (a->what == CHECK_RECORD || a->what == CHECK_LOOK)
		play_run(p);
	if (a->what == CHECK_PREDICT)
		play_prediction(p, &o);
	if (a->what == CHECK_FURTHER && p->schedules)
		p->schedules--;
	p->done[a->what]++;
	p->last = a->what;
	check_done(&p->k, a, &o);
}

static void phases_end_whatever_happens(void **state)
{
	uint64_t all[CHECK_END + 1] = {0};

	(void)state;
	for (uint64_t n = 1; n <= 20000; n++) {
		struct check_action a;
		struct play p;

		seed = n * 0x9e3779b97f4a7c15u;
		begin(&p);
		for (unsigned i = 0;; i++) {
			assert_true(i < 120); /* the check ends */
			refresh(&p);
			a = check_next(&p.k);
			judge(&p, &a);
			if (a.what == CHECK_END)
				break;
			play(&p, &a);
		}
		assert_true(p.done[CHECK_SETTLE] <= 1 && p.done[CHECK_EXPLORE] <= 1);
		assert_true(p.done[CHECK_CLASSIFY] <= 1 && p.done[CHECK_END_FURTHER] <= 1);
		assert_true(p.done[CHECK_SHOW_WALK] <= 1 && p.done[CHECK_LOOK] <= 12);
		assert_true(p.done[CHECK_END_FURTHER] || !(p.done[CHECK_EXPLORE] + p.done[CHECK_FURTHER]));
		for (unsigned i = 0; i < CHECK_END; i++)
			all[i] += p.done[i];
	}
	for (unsigned i = 0; i < CHECK_END; i++)
		assert_true(all[i]); /* every kind of action occurred */
}

/* The next action depends on the situation alone. */
static void nothing_but_what_is_known_counts(void **state)
{
	struct check_known k = small(), copy = k;
	struct check_action a = check_next(&k), b = check_next(&copy);

	(void)state;
	assert_memory_equal(&a, &b, sizeof a);
	assert_memory_equal(&k, &copy, sizeof k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(record_comes_first),
		cmocka_unit_test(a_run_has_its_share_of_the_time),
		cmocka_unit_test(a_run_is_ended_when_its_trace_is_full_or_nothing_comes),
		cmocka_unit_test(prediction_leaves_time_for_replays),
		cmocka_unit_test(a_walk_is_shown_and_further_runs_are_looked_at),
		cmocka_unit_test(looks_need_a_large_program_that_ends),
		cmocka_unit_test(looks_come_after_prediction_if_nothing_was_walked_over),
		cmocka_unit_test(a_run_without_thinning_needs_three_times_the_time),
		cmocka_unit_test(sound_findings_are_tried_early),
		cmocka_unit_test(early_replays_end_with_the_check),
		cmocka_unit_test(replays_leave_a_quarter_for_classes),
		cmocka_unit_test(further_schedules_have_their_share),
		cmocka_unit_test(further_schedules_end_after_a_failure),
		cmocka_unit_test(only_programs_that_end_alone_are_explored),
		cmocka_unit_test(an_endless_program_is_explored_first),
		cmocka_unit_test(without_replays_schedules_are_recorded_but_not_explored),
		cmocka_unit_test(races_are_classified_if_there_is_time),
		cmocka_unit_test(a_slow_build_is_worth_a_word),
		cmocka_unit_test(phases_end_whatever_happens),
		cmocka_unit_test(nothing_but_what_is_known_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
