// SPDX-License-Identifier: Apache-2.0
/*
 * Verdicts.  The reports are passed one after the other.  They are counted, and the verdict is
 * computed from the counts.  The verdict "true race" is never withdrawn.  A verdict depends on the
 * reports alone, not on the time.
 */
#include "hive/verdict.h"

#include "base/error.h"

#include <string.h>

const char *const hive_verdict_names[HIVE_VERDICTS] = {"unknown", "true-race", "likely-false-positive"};
const char *const hive_reason_names[HIVE_REASONS] = {
	"no-report",	"not-executed", "being-validated", "both-orders",	"single-order",
	"not-aliasing", "context",	"synchronisation", "order-not-reached", "unguarded"};

static void count_consequence(struct hive_tally *t, const struct hive_report *r)
{
	if (r->consequence && r->result == HIVE_RACE)
		t->consequences[r->consequence]++;
	else if (r->consequence)
		t->suspected[r->consequence]++;
}

static void count_context(struct hive_tally *t, const struct hive_report *r)
{
	bool both = (r->context & HIVE_FIRST) && (r->context & HIVE_SECOND);

	t->context |= r->context;
	if (both)
		t->executed += r->weight;
	if (r->context & HIVE_SAME_ADDRESS)
		t->aliased += r->weight;
}

/* Records a change of the verdict.  Keeps the first changes, and the latest one. */
static void note_change(struct hive_tally *t, int64_t at)
{
	struct hive_change now = {.at = at};
	const struct hive_change *last = t->change_count ? &t->changes[t->change_count - 1] : NULL;

	now.verdict = hive_tally_verdict(t, &now.reason);
	if (last && last->verdict == now.verdict && last->reason == now.reason)
		return;
	if (t->change_count == HIVE_CHANGES)
		t->change_count--;
	RD_ASSERT(!last || last->verdict != HIVE_TRUE_RACE || now.verdict == HIVE_TRUE_RACE);
	t->changes[t->change_count++] = now;
	RD_ASSERT(t->change_count <= HIVE_CHANGES);
}

void hive_tally_add(struct hive_tally *t, const struct hive_report *r)
{
	RD_ASSERT(r->result < HIVE_RESULTS && r->order < HIVE_ORDERS);
	t->reports[r->result] += r->weight;
	if (r->result == HIVE_RACE) {
		t->races[r->order]++;
		t->proofs[r->proof]++;
		t->context |= HIVE_MET;
	}
	if (r->result == HIVE_TIMEOUT && (r->tau_us >= HIVE_TAU_MAX_US || r->tau_capped))
		t->last_timeouts++;
	count_context(t, r);
	count_consequence(t, r);
	if (!t->first_at)
		t->first_at = r->received;
	t->last_at = r->received;
	note_change(t, r->received);
}

void hive_canary_add(struct hive_canary *c, const struct hive_report *r)
{
	RD_ASSERT(c->failed <= c->validated);
	bool failed = r->consequence && r->result != HIVE_RACE;

	c->failed += failed;
	c->validated +=
		failed || r->result == HIVE_RACE || r->result == HIVE_NO_RACE || r->result == HIVE_TIMEOUT;
}

bool hive_canary_stops(const struct hive_canary *c)
{
	enum {
		FAILURES = 5,
		SHARE = 5
	}; /* validation stops at this many failed runs, if at least one run in SHARE failed */

	return c->failed >= FAILURES && c->failed * SHARE >= c->validated;
}

/* Returns the verdict that follows from the contexts if nothing was validated. */
static enum hive_verdict by_context(const struct hive_tally *t, enum hive_reason *reason)
{
	*reason = HIVE_BEING_VALIDATED;
	if (t->context & HIVE_TWO_THREADS)
		return HIVE_UNKNOWN;
	*reason = t->aliased ? HIVE_ONE_THREAD : HIVE_NOT_ALIASING;
	if (t->executed)
		return HIVE_LIKELY_FALSE;
	*reason = t->first_at ? HIVE_NOT_EXECUTED : HIVE_NO_REPORT;
	return HIVE_UNKNOWN;
}

enum hive_verdict hive_tally_verdict(const struct hive_tally *t, enum hive_reason *reason)
{
	RD_ASSERT(reason != NULL);
	if (t->reports[HIVE_RACE]) {
		bool both = t->races[HIVE_PRIMARY] && t->races[HIVE_ALTERNATE];

		*reason = both ? HIVE_BOTH_ORDERS : HIVE_SINGLE_ORDER;
		return HIVE_TRUE_RACE;
	}
	if (t->reports[HIVE_NO_RACE]) {
		*reason = HIVE_SYNCHRONISED;
		return HIVE_LIKELY_FALSE;
	}
	if (t->last_timeouts) {
		*reason = HIVE_ORDER_NOT_REACHED;
		return HIVE_LIKELY_FALSE;
	}
	return by_context(t, reason);
}

/* n is the number of runs that could have shown the race but did not. */
double hive_tally_bound(const struct hive_tally *t)
{
	enum hive_reason reason;
	uint64_t n = t->reports[HIVE_NO_RACE] + t->last_timeouts;

	if (hive_tally_verdict(t, &reason) != HIVE_LIKELY_FALSE)
		return 1;
	if (reason == HIVE_NOT_ALIASING || reason == HIVE_ONE_THREAD)
		n = t->executed;
	return n > 3 ? 3.0 / (double)n : 1;
}
