// SPDX-License-Identifier: Apache-2.0
/* Unit tests of replay/strategy-int.h, with made-up results: which finding is tried next, and
 * how. */
#include "base/error.h"
#include "finding/schedule.h"
#include "replay/strategy-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RESULTS_MAX 64

/* A strategy and its findings.  Results are released with it. */
struct world {
	struct finding_set *set, *predictions;
	struct finding *all[16];
	struct strategy strategy;
	struct finding_set *results[RESULTS_MAX];
	size_t result_count;
};

static void begin(struct world *w)
{
	*w = (struct world){.set = finding_set_new(), .predictions = finding_set_new()};
	w->strategy.set = w->set;
	w->strategy.all = w->all;
}

static void finish(struct world *w)
{
	strategy_close(&w->strategy);
	finding_set_free(w->set);
	finding_set_free(w->predictions);
	for (size_t i = 0; i < w->result_count; i++)
		finding_set_free(w->results[i]);
}

/* Adds a finding that waits to be tried.  Its fingerprint is its number, and its schedule has `ops`
 * operations. */
static struct finding *add(struct finding_set *set, enum finding_kind kind, int number, const char *object,
			   size_t ops)
{
	struct finding *f = finding_add(set, kind);
	struct schedule *s = finding_schedule_add(set, f);

	snprintf(f->fingerprint, sizeof f->fingerprint, "%016d", number);
	snprintf(f->id, sizeof f->id, "%016d", number);
	f->object.name = object;
	f->status = FINDING_UNCONFIRMED;
	f->sound = true;
	f->reason = "predicted";
	for (size_t i = 0; i < ops; i++)
		*schedule_add_op(s) = (struct schedule_op){.thread = "T_0", .kind = "mutex-lock"};
	return f;
}

/* The result of a run: the status of the finding, and what else the run shows. */
struct outcome {
	enum finding_status status;
	bool astray, observable, unordered;
	const char *reason;
};

static struct finding_set *result_of(struct world *w, const struct strategy_attempt *a,
				     const struct outcome *o)
{
	struct finding_set *r = finding_set_new();
	size_t count = a->step == STRATEGY_OBSERVE ? a->count : 1;

	assert_true(w->result_count < RESULTS_MAX);
	w->results[w->result_count++] = r;
	for (size_t i = 0; i < count; i++) {
		const struct finding *from =
			w->set->items[a->step == STRATEGY_OBSERVE ? a->items[i] : a->item];
		struct finding *f = finding_add(r, from->kind);

		memcpy(f->fingerprint, from->fingerprint, sizeof f->fingerprint);
		f->status = o->status;
		f->reason = o->reason;
	}
	finding_stat(r, STRATEGY_DIVERGED, o->astray);
	finding_stat(r, STRATEGY_OBSERVABLE, o->observable);
	finding_stat(r, STRATEGY_UNORDERED, o->unordered);
	return r;
}

/* Expects this attempt to be the next one, and gives it this outcome. */
static void expect(struct world *w, enum strategy_step step, size_t item, size_t way, struct outcome outcome)
{
	struct strategy_attempt a = {0};

	assert_true(strategy_next(&w->strategy, 0, &a));
	assert_int_equal(a.step, step);
	assert_int_equal(a.item, item);
	assert_int_equal(a.way, way);
	strategy_take(&w->strategy, &a, result_of(w, &a, &outcome));
	strategy_attempt_release(&a);
}

static void expect_nothing(struct world *w)
{
	struct strategy_attempt a;

	assert_false(strategy_next(&w->strategy, 0, &a));
}

static const struct outcome failed = {.status = FINDING_UNCONFIRMED, .reason = "it did not come there"},
			    confirmed = {.status = FINDING_CONFIRMED},
			    strayed = {.status = FINDING_UNCONFIRMED,
				       .reason = "another way",
				       .astray = true},
			    hidden = {.status = FINDING_UNCONFIRMED, .reason = "a spin", .observable = true};

/* ---- the order in which findings are tried ---- */

/* Sound findings come first.  Of these, the first finding of each object comes first, short
 * schedules before long ones; then the second of each object. */
static void test_order(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "heap T_0#1", 9)->sound = false;
	add(w.set, FINDING_RACE, 1, "heap T_0#2", 5);
	add(w.set, FINDING_RACE, 2, "heap T_0#12", 1);
	add(w.set, FINDING_RACE, 3, "counter", 3);
	strategy_open(&w.strategy);
	assert_int_equal(strategy_waiting(&w.strategy), 4);
	expect(&w, STRATEGY_TRY, 3, 0, confirmed);
	expect(&w, STRATEGY_TRY, 1, 0, confirmed);
	expect(&w, STRATEGY_TRY, 2, 0, confirmed);
	expect(&w, STRATEGY_TRY, 0, 0, confirmed);
	expect_nothing(&w);
	assert_int_equal(w.strategy.confirmed, 4);
	assert_int_equal(w.strategy.replayed, 4);
	finish(&w);
}

/* A finding is tried only if it is unconfirmed, has a schedule and is not suppressed. */
static void test_who_waits(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "a", 1)->suppressed = "a rule";
	add(w.set, FINDING_RACE, 1, "b", 1)->schedule = NULL;
	add(w.set, FINDING_DEADLOCK, 2, "c", 1)->status = FINDING_CONFIRMED;
	strategy_open(&w.strategy);
	assert_int_equal(strategy_waiting(&w.strategy), 0);
	expect_nothing(&w);
	strategy_conclude(&w.strategy, "why");
	assert_int_equal(w.strategy.untried + w.strategy.unfinished, 0);
	finish(&w);
}

/* ---- the ways in which one finding is tried ---- */

/* These are all steps of one finding: its schedules, a meeting, three rounds from the point where
 * it strayed, and the detector. */
static void test_steps(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.all[0] = add(w.set, FINDING_RACE, 0, "a", 1);
	for (int i = 1; i < 5; i++)
		w.all[i] = add(w.predictions, FINDING_RACE, i < 4 ? 0 : 7, "a", (size_t)i);
	w.strategy.all_count = 5;
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, hidden);
	expect(&w, STRATEGY_TRY, 0, 1,
	       (struct outcome){.astray = true, .observable = true, .status = FINDING_UNCONFIRMED});
	expect(&w, STRATEGY_TRY, 0, 2, hidden);
	expect(&w, STRATEGY_MEET, 0, 0, failed);
	for (int round = 0; round < 3; round++)
		expect(&w, STRATEGY_AGAIN, 0, 1,
		       (struct outcome){.astray = true, .observable = true, .status = FINDING_UNCONFIRMED});
	assert_int_equal(strategy_exhausted(&w.strategy), 1);
	expect(&w, STRATEGY_OBSERVE, 0, 0, failed);
	expect_nothing(&w);
	strategy_conclude(&w.strategy, "why");
	assert_int_equal(w.set->items[0]->status, FINDING_UNCONFIRMED);
	assert_int_equal(w.strategy.unfinished, 0);
	finish(&w);
}

/* The threads of a deadlock have no accesses at which they could meet.  If a run did not stray,
 * nothing is predicted from it. */
static void test_deadlock(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_DEADLOCK, 0, "lock", 1);
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, (struct outcome){.status = FINDING_DROPPED, .reason = "it cannot be"});
	expect_nothing(&w);
	strategy_conclude(&w.strategy, "why");
	assert_int_equal(w.set->items[0]->status, FINDING_DROPPED);
	assert_string_equal(w.set->items[0]->reason, "it cannot be");
	finish(&w);
}

/* Each finding is tried once before any finding is tried again. */
static void test_breadth_first(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.all[0] = add(w.set, FINDING_RACE, 0, "a", 1);
	w.all[1] = add(w.predictions, FINDING_RACE, 0, "a", 2);
	add(w.set, FINDING_RACE, 1, "b", 2);
	add(w.set, FINDING_RACE, 2, "c", 3);
	w.strategy.all_count = 2;
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, strayed);
	expect(&w, STRATEGY_TRY, 1, 0, strayed);
	expect(&w, STRATEGY_TRY, 2, 0, confirmed);
	expect(&w, STRATEGY_TRY, 0, 1, failed);
	expect(&w, STRATEGY_MEET, 0, 0, failed);
	expect(&w, STRATEGY_MEET, 1, 0, failed);
	expect(&w, STRATEGY_AGAIN, 0, 0, failed);
	expect(&w, STRATEGY_AGAIN, 1, 0, confirmed);
	expect_nothing(&w);
	finish(&w);
}

/* If four replays in a row fail, threads are not led at first; the meeting is tried before that. */
static void test_cannot_be_led(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	for (int i = 0; i < 6; i++)
		add(w.set, FINDING_RACE, i, (const char *[]){"a", "b", "c", "d", "e", "f"}[i], (size_t)i + 1);
	strategy_open(&w.strategy);
	for (size_t i = 0; i < 4; i++)
		expect(&w, STRATEGY_TRY, i, 0, failed);
	expect(&w, STRATEGY_MEET, 4, 0, failed);
	assert_non_null(strstr(w.set->items[4]->reason, "no two threads"));
	expect(&w, STRATEGY_MEET, 5, 0, confirmed);
	expect(&w, STRATEGY_TRY, 4, 0, confirmed);
	expect(&w, STRATEGY_MEET, 0, 0, failed);
	finish(&w);
}

/* ---- what becomes of results ---- */

static void test_settled(void **state)
{
	struct world w;
	struct finding *before;

	(void)state;
	begin(&w);
	before = add(w.set, FINDING_RACE, 42, "a", 1);
	before->count = 5;
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, confirmed);
	assert_ptr_not_equal(w.set->items[0], before);
	assert_string_equal(w.set->items[0]->id, before->id);
	assert_int_equal(w.set->items[0]->count, 5);
	assert_true(w.set->items[0]->sound);
	assert_int_equal(strategy_waiting(&w.strategy), 0);
	finish(&w);
}

/* Other findings of a run that strayed are tried, too, up to a limit.  If such a finding is known,
 * it gets another schedule. */
static void test_others(void **state)
{
	struct strategy_attempt a;
	struct finding_set *result;
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "a", 1);
	w.strategy.extra = 1;
	strategy_open(&w.strategy);
	assert_true(strategy_next(&w.strategy, 0, &a));
	result = result_of(&w, &a, &strayed);
	add(result, FINDING_RACE, 0, "a", 2);
	add(result, FINDING_RACE, 1, "b", 2);
	add(result, FINDING_RACE, 2, "c", 2);
	strategy_take(&w.strategy, &a, result);
	assert_int_equal(w.strategy.added, 1);
	assert_int_equal(w.set->count, 2);
	assert_int_equal(w.set->items[1]->note_count, 1);
	expect(&w, STRATEGY_TRY, 1, 0, confirmed);
	expect(&w, STRATEGY_TRY, 0, 1, confirmed);
	expect_nothing(&w);
	finish(&w);
}

/* If the detector saw the accesses unordered, the first verdict stays.  If a run was lost, that is
 * the reason. */
static void test_unordered_and_lost(void **state)
{
	struct strategy_attempt a;
	struct world w;

	(void)state;
	begin(&w);
	w.all[0] = add(w.set, FINDING_DEADLOCK, 0, "a", 1);
	w.all[1] = add(w.predictions, FINDING_DEADLOCK, 0, "a", 2);
	w.strategy.all_count = 2;
	add(w.set, FINDING_DEADLOCK, 1, "b", 2);
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0,
	       (struct outcome){.status = FINDING_UNCONFIRMED, .reason = "seen", .unordered = true});
	assert_true(strategy_next(&w.strategy, 0, &a));
	assert_int_equal(a.item, 1);
	strategy_lose(&w.strategy, &a, "it died");
	expect(&w, STRATEGY_TRY, 0, 1, (struct outcome){.status = FINDING_DROPPED, .reason = "never"});
	strategy_conclude(&w.strategy, "why");
	assert_int_equal(w.set->items[0]->status, FINDING_UNCONFIRMED);
	assert_string_equal(w.set->items[0]->reason, "seen");
	assert_string_equal(w.set->items[1]->reason, "it died");
	finish(&w);
}

/* ---- several attempts at once, and the time limit ---- */

static void test_many_at_once(void **state)
{
	struct strategy_attempt a[3];
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "a", 1);
	add(w.set, FINDING_RACE, 1, "b", 2);
	strategy_open(&w.strategy);
	assert_true(strategy_next(&w.strategy, 0, &a[0]));
	assert_true(strategy_next(&w.strategy, 1, &a[1]));
	assert_int_not_equal(a[0].item, a[1].item);
	assert_false(strategy_next(&w.strategy, 2, &a[2])); /* both findings are being tried */
	strategy_take(&w.strategy, &a[0], result_of(&w, &a[0], &hidden));
	assert_true(strategy_next(&w.strategy, 1, &a[2]));
	assert_int_equal(a[2].step, STRATEGY_MEET);
	finish(&w);
}

/* When the time is up, only the detector is used, once.  Findings that were not tried completely
 * get a reason. */
static void test_late(void **state)
{
	struct strategy_attempt a;
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "a", 1);
	add(w.set, FINDING_RACE, 1, "b", 2);
	add(w.set, FINDING_RACE, 2, "c", 3);
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, hidden);
	assert_true(strategy_next(&w.strategy, 0, &a)); /* the attempt for b, which is given up */
	strategy_be_late(&w.strategy);
	assert_true(strategy_next(&w.strategy, 0, &a));
	assert_int_equal(a.step, STRATEGY_OBSERVE);
	assert_int_equal(a.count, 1);
	assert_int_equal(a.items[0], 0);
	strategy_attempt_release(&a);
	assert_false(strategy_next(&w.strategy, 1, &a));
	strategy_conclude(&w.strategy, "the time was up");
	assert_int_equal(w.strategy.unfinished, 1);
	assert_int_equal(w.strategy.untried, 2);
	assert_string_equal(w.set->items[0]->reason, "a spin; nothing more was tried: the time was up");
	assert_string_equal(w.set->items[1]->reason, "it was not replayed to the end: the time was up");
	assert_int_equal(w.set->items[2]->status, FINDING_UNCONFIRMED);
	finish(&w);
}

/* The detector is used again as long as it confirms something. */
static void test_observations(void **state)
{
	struct strategy_attempt a;
	struct finding_set *result;
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "a", 1);
	add(w.set, FINDING_RACE, 1, "b", 2);
	add(w.set, FINDING_RACE, 2, "c", 3);
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, hidden);
	expect(&w, STRATEGY_TRY, 1, 0, hidden);
	expect(&w, STRATEGY_TRY, 2, 0, failed);
	for (size_t i = 0; i < 3; i++)
		expect(&w, STRATEGY_MEET, i, 0, failed);
	assert_true(strategy_next(&w.strategy, 0, &a));
	assert_int_equal(a.count, 2);
	result = result_of(&w, &a, &failed);
	result->items[1]->status = FINDING_CONFIRMED;
	strategy_take(&w.strategy, &a, result);
	strategy_attempt_release(&a);
	assert_int_equal(w.strategy.confirmed, 1);
	assert_int_equal(w.set->items[1]->status, FINDING_CONFIRMED);
	expect(&w, STRATEGY_OBSERVE, 0, 0, failed);
	expect_nothing(&w);
	finish(&w);
}

/* A run strayed because of a read that races with a write.  Both orders of the two accesses are
 * tried. */
static void test_kept(void **state)
{
	struct strategy_attempt a = {0};
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "a", 1);
	strategy_open(&w.strategy);
	assert_true(strategy_next(&w.strategy, 0, &a));
	struct finding_set *result = result_of(&w, &a, &failed);
	finding_stat(result, STRATEGY_READ, 7);
	finding_stat(result, STRATEGY_WRITE, 8);
	strategy_take(&w.strategy, &a, result);
	expect(&w, STRATEGY_MEET, 0, 0, failed);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(strategy_next(&w.strategy, 0, &a));
		assert_int_equal(a.step, STRATEGY_KEEP);
		assert_int_equal(a.keep[i], 8);
		assert_int_equal(a.keep[1 - i], 7);
		strategy_take(&w.strategy, &a, result_of(&w, &a, &failed));
	}
	expect_nothing(&w);
	finish(&w);
}

/* If the accesses were unordered but the threads did not meet, that is tried again with more
 * patience, once and last. */
static void test_patience(void **state)
{
	static const struct outcome seen = {
		.status = FINDING_UNCONFIRMED, .reason = "seen", .unordered = true};
	struct strategy_attempt a = {0};
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "seen", 1);
	add(w.set, FINDING_RACE, 1, "not seen", 2);
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, seen);
	expect(&w, STRATEGY_TRY, 1, 0, failed);
	expect(&w, STRATEGY_MEET, 0, 0, failed);
	expect(&w, STRATEGY_MEET, 1, 0, failed);
	assert_true(strategy_next(&w.strategy, 0, &a));
	assert_int_equal(a.step, STRATEGY_MEET);
	assert_int_equal(a.item, 0);
	assert_true(a.patient);
	strategy_take(&w.strategy, &a, result_of(&w, &a, &confirmed));
	expect_nothing(&w);
	assert_int_equal(w.strategy.confirmed, 1);
	finish(&w);
}

/* If foreign code may have ordered the two accesses, the detector confirms nothing, and no finding
 * is dropped because of that. */
static void test_unordered_as_far_as_seen(void **state)
{
	struct strategy_attempt a;
	struct finding_set *result;
	struct world w;

	(void)state;
	begin(&w);
	add(w.set, FINDING_RACE, 0, "a", 1);
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, hidden);
	expect(&w, STRATEGY_MEET, 0, 0, failed);
	assert_true(strategy_next(&w.strategy, 0, &a));
	assert_int_equal(a.step, STRATEGY_OBSERVE);
	result = result_of(&w, &a, &failed);
	result->items[0]->unordered = true;
	result->items[0]->reason = "seen";
	strategy_take(&w.strategy, &a, result);
	strategy_attempt_release(&a);
	expect(&w, STRATEGY_MEET, 0, 0, failed); /* with more patience */
	expect_nothing(&w);
	strategy_conclude(&w.strategy, "why");
	assert_int_equal(w.strategy.confirmed, 0);
	assert_int_equal(w.set->items[0]->status, FINDING_UNCONFIRMED);
	assert_true(w.set->items[0]->unordered);
	assert_string_equal(w.set->items[0]->reason, "seen");
	finish(&w);
}

/* While sound findings have schedules left, one attempt in four is for a speculative finding. */
static void test_share(void **state)
{
	size_t speculative = 0, attempts = 0;
	struct strategy_attempt a = {0};
	struct world w;

	(void)state;
	begin(&w);
	for (int i = 0; i < 12; i++)
		add(w.set, FINDING_RACE, i, "heap T_0#1", 1)->sound = i < 4;
	strategy_open(&w.strategy);
	for (size_t i = 0; i < 4; i++)
		expect(&w, STRATEGY_TRY, i, 0, strayed);
	while (attempts < 12 && strategy_next(&w.strategy, 0, &a)) {
		attempts++;
		speculative += !w.set->items[a.item]->sound;
		strategy_take(&w.strategy, &a, result_of(&w, &a, &strayed));
		strategy_attempt_release(&a);
	}
	assert_int_equal(attempts, 12);
	assert_int_equal(speculative, 3);
	finish(&w);
}

/* With `once`, each finding is replayed once, whatever the result is. */
static void test_once(void **state)
{
	struct world w;

	(void)state;
	begin(&w);
	w.strategy.once = true;
	add(w.set, FINDING_RACE, 0, "a", 1);
	add(w.set, FINDING_RACE, 1, "b", 2);
	strategy_open(&w.strategy);
	expect(&w, STRATEGY_TRY, 0, 0, hidden);
	expect(&w, STRATEGY_TRY, 1, 0, confirmed);
	expect_nothing(&w);
	assert_int_equal(w.set->items[0]->status, FINDING_UNCONFIRMED);
	assert_int_equal(w.set->items[1]->status, FINDING_CONFIRMED);
	finish(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_who_waits),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_deadlock),
		cmocka_unit_test(test_breadth_first),
		cmocka_unit_test(test_cannot_be_led),
		cmocka_unit_test(test_settled),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_unordered_and_lost),
		cmocka_unit_test(test_many_at_once),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_observations),
		cmocka_unit_test(test_unordered_as_far_as_seen),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_once),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
