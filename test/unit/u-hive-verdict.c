// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of verdicts.  They test every row of the table in doc/design/hive.md.  They also
 * compare random reports with a slow, obvious reference that scans the whole list each time.
 */
#include "hive/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct hive_report report(enum hive_result result)
{
	struct hive_report r = {.result = result, .weight = 1, .received = 1000};

	if (result <= HIVE_TIMEOUT)
		r.order = HIVE_PRIMARY;
	if (result == HIVE_RACE)
		r.proof = HIVE_HAPPENS_BEFORE;
	if (result == HIVE_TIMEOUT)
		r.tau_us = 1000;
	return r;
}

static void expect(const struct hive_tally *t, enum hive_verdict verdict, enum hive_reason reason)
{
	enum hive_reason found;

	assert_int_equal(hive_tally_verdict(t, &found), verdict);
	assert_int_equal(found, reason);
}

static void add(struct hive_tally *t, struct hive_report r)
{
	hive_tally_add(t, &r);
}

static void each_row(void **state)
{
	struct hive_tally t = {0};
	struct hive_report r;

	(void)state;
	expect(&t, HIVE_UNKNOWN, HIVE_NO_REPORT);
	add(&t, report(HIVE_NOT_SEEN));
	expect(&t, HIVE_UNKNOWN, HIVE_NOT_EXECUTED);
	r = report(HIVE_CONTEXT);
	r.context = HIVE_FIRST;
	add(&t, r);
	expect(&t, HIVE_UNKNOWN, HIVE_NOT_EXECUTED);
	r.context = HIVE_FIRST | HIVE_SECOND;
	add(&t, r);
	expect(&t, HIVE_LIKELY_FALSE, HIVE_NOT_ALIASING);
	r.context |= HIVE_SAME_ADDRESS;
	add(&t, r);
	expect(&t, HIVE_LIKELY_FALSE, HIVE_ONE_THREAD);
	r.context = HIVE_MET;
	add(&t, r);
	expect(&t, HIVE_UNKNOWN, HIVE_BEING_VALIDATED);
	add(&t, report(HIVE_TIMEOUT));
	expect(&t, HIVE_UNKNOWN, HIVE_BEING_VALIDATED);
	r = report(HIVE_TIMEOUT);
	r.tau_us = HIVE_TAU_MAX_US;
	add(&t, r);
	expect(&t, HIVE_LIKELY_FALSE, HIVE_ORDER_NOT_REACHED);
	add(&t, report(HIVE_NO_RACE));
	expect(&t, HIVE_LIKELY_FALSE, HIVE_SYNCHRONISED);
	add(&t, report(HIVE_RACE));
	expect(&t, HIVE_TRUE_RACE, HIVE_SINGLE_ORDER);
	add(&t, report(HIVE_NO_RACE));
	expect(&t, HIVE_TRUE_RACE, HIVE_SINGLE_ORDER);
	r = report(HIVE_RACE);
	r.order = HIVE_ALTERNATE;
	add(&t, r);
	expect(&t, HIVE_TRUE_RACE, HIVE_BOTH_ORDERS);
	/* there were nine changes; the last one is kept */
	assert_int_equal(t.change_count, HIVE_CHANGES);
	assert_int_equal(t.changes[HIVE_CHANGES - 1].reason, HIVE_BOTH_ORDERS);
}

static void capped_timeout(void **state)
{
	struct hive_tally t = {0};
	struct hive_report r = report(HIVE_TIMEOUT);

	(void)state;
	r.tau_capped = true;
	add(&t, r);
	expect(&t, HIVE_LIKELY_FALSE, HIVE_ORDER_NOT_REACHED);
}

static void consequences(void **state)
{
	struct hive_tally t = {0};
	struct hive_report r = report(HIVE_NOT_SEEN);

	(void)state;
	r.consequence = HIVE_CRASH;
	add(&t, r);
	assert_int_equal(t.consequences[HIVE_CRASH], 0);
	assert_int_equal(t.suspected[HIVE_CRASH], 1);
	expect(&t, HIVE_UNKNOWN, HIVE_NOT_EXECUTED);
	r = report(HIVE_RACE);
	r.consequence = HIVE_HANG;
	add(&t, r);
	assert_int_equal(t.consequences[HIVE_HANG], 1);
}

static void rule_of_three(void **state)
{
	struct hive_tally t = {0};
	struct hive_report r = report(HIVE_NO_RACE);

	(void)state;
	assert_true(hive_tally_bound(&t) == 1);
	for (int i = 0; i < 300; i++)
		add(&t, r);
	assert_true(hive_tally_bound(&t) == 0.01);
	add(&t, report(HIVE_RACE));
	assert_true(hive_tally_bound(&t) == 1);
}

/* The twin of hive_tally_verdict(): its rules written out, as functions that scan the whole list of
 * reports. */
static bool any(const struct hive_report *all, size_t n, bool (*is)(const struct hive_report *))
{
	for (size_t i = 0; i < n; i++)
		if (is(&all[i]))
			return true;
	return false;
}

static bool is_primary(const struct hive_report *r)
{
	return r->result == HIVE_RACE && r->order == HIVE_PRIMARY;
}
static bool is_alternate(const struct hive_report *r)
{
	return r->result == HIVE_RACE && r->order == HIVE_ALTERNATE;
}
static bool is_no_race(const struct hive_report *r)
{
	return r->result == HIVE_NO_RACE;
}
static bool is_last(const struct hive_report *r)
{
	return r->result == HIVE_TIMEOUT && (r->tau_us == HIVE_TAU_MAX_US || r->tau_capped);
}
static bool has_met(const struct hive_report *r)
{
	return r->context & HIVE_TWO_THREADS;
}
static bool has_aliased(const struct hive_report *r)
{
	return r->context & HIVE_SAME_ADDRESS;
}
static bool has_executed(const struct hive_report *r)
{
	return (r->context & HIVE_FIRST) && (r->context & HIVE_SECOND);
}

static enum hive_verdict twin(const struct hive_report *all, size_t n, enum hive_reason *reason)
{
	bool one = any(all, n, is_primary), other = any(all, n, is_alternate);

	if (one || other) {
		*reason = one && other ? HIVE_BOTH_ORDERS : HIVE_SINGLE_ORDER;
		return HIVE_TRUE_RACE;
	}
	*reason = HIVE_SYNCHRONISED;
	if (any(all, n, is_no_race))
		return HIVE_LIKELY_FALSE;
	*reason = HIVE_ORDER_NOT_REACHED;
	if (any(all, n, is_last))
		return HIVE_LIKELY_FALSE;
	*reason = HIVE_BEING_VALIDATED;
	if (any(all, n, has_met))
		return HIVE_UNKNOWN;
	*reason = any(all, n, has_aliased) ? HIVE_ONE_THREAD : HIVE_NOT_ALIASING;
	if (any(all, n, has_executed))
		return HIVE_LIKELY_FALSE;
	*reason = n ? HIVE_NOT_EXECUTED : HIVE_NO_REPORT;
	return HIVE_UNKNOWN;
}

static struct hive_report random_report(unsigned rare)
{
	static const uint32_t contexts[] = {
		0, HIVE_FIRST, HIVE_SECOND, HIVE_FIRST | HIVE_SECOND, HIVE_MET & ~HIVE_TWO_THREADS, HIVE_MET};
	struct hive_report r =
		report(rand() % (int)rare ? HIVE_CONTEXT : (enum hive_result)(rand() % HIVE_RESULTS));

	if (r.order)
		r.order = rand() % 2 ? HIVE_PRIMARY : HIVE_ALTERNATE;
	if (r.result == HIVE_TIMEOUT)
		r.tau_us = rand() % 3 ? 51000 : HIVE_TAU_MAX_US;
	r.tau_capped = rand() % 5 == 0;
	if (r.result >= HIVE_NOT_SEEN)
		r.context = contexts[rand() % (1 + rand() % 6)];
	return r;
}

static void like_the_twin(void **state)
{
	enum { ROUNDS = 2000, LENGTH = 12 };
	unsigned seen[HIVE_REASONS] = {0};

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct hive_report all[LENGTH];
		struct hive_tally t = {0};
		unsigned rare = 1 + (unsigned)rand() % 40;

		for (size_t n = 0; n < LENGTH; n++) {
			enum hive_reason reason, expected;
			enum hive_verdict verdict;

			all[n] = random_report(rare);
			hive_tally_add(&t, &all[n]);
			verdict = twin(all, n + 1, &expected);
			assert_int_equal(hive_tally_verdict(&t, &reason), verdict);
			assert_int_equal(reason, expected);
			seen[reason]++;
		}
	}
	for (int i = HIVE_NOT_EXECUTED; i < HIVE_UNGUARDED; i++)
		assert_true(seen[i] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row),	 cmocka_unit_test(capped_timeout),
		cmocka_unit_test(consequences),	 cmocka_unit_test(rule_of_three),
		cmocka_unit_test(like_the_twin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
