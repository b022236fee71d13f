// SPDX-License-Identifier: Apache-2.0
/*
 * The budget of a check (budget.h).  In: what is known so far.  Out: the next action and its
 * deadline.
 *
 * The order of actions is: record the first runs; predict from each trace; replay; explore and
 * record further schedules; classify.  Prediction is interleaved with early replays and, if the
 * first run was large, with looks at further runs.  A program that does not end by itself is
 * explored before prediction.  Its trace takes long to read and repeats itself, and short runs
 * under chosen schedules show more.
 */
#include "check/budget.h"

#include "base/error.h"

#include <stddef.h>

/* ---- constants; values without a stated measurement were chosen by hand ---- */

/* Milliseconds that every recorded run may take, however little time is left, because an
 * instrumented program needs seconds to start on a busy machine. */
#define LEAST_RUN_MS 10000

/* Estimated nanoseconds, on an idle machine, to analyse one event of a long trace, which is read
 * several times. */
#define LOOK_AT_EVENT_NS 500

/* If a program records nothing for 1/QUIET_SHARE of the check's time, it is assumed not to end.  A
 * quarter leaves enough time for everything that follows. */
#define QUIET_SHARE 4

/* With this many events or more, prediction may take minutes, as it did for the 34 million events
 * of memcached.  For such a run, findings that need no search are reported first, and sound
 * findings are tried during prediction.  The value is the same as in predict/walk.c. */
#define LARGE_EVENTS 1000000

/* All replays during prediction together may take 1/EARLY_SHARE of the time that remains when the
 * first of them begins.  A quarter leaves enough for prediction itself. */
#define EARLY_SHARE 4

/* A large program is run again up to this many times just to look for races that the first run did
 * not show, without prediction.  Usually LOOKS_IN_VAIN ends these looks earlier. */
#define LOOKS_MOST 12

/* No more looks are made after this many consecutive looks that showed nothing new. */
#define LOOKS_IN_VAIN 2

/* Estimate of how many times longer a run takes if no access is left out.  Leaving out accesses
 * (thinning) saves most in programs that repeat themselves. */
#define ALL_ACCESSES_COST 3

/* The remaining time is divided into this many shares; each phase gets some of them. */
#define SHARES 4
#define RECORDING_SHARES 3  /* for recording; the rest is for analysing the traces */
#define PREDICTION_SHARES 2 /* for prediction; the rest is for replays of its findings */
#define LARGE_SHARES 1	    /* for prediction from a large or endless run, whose replays are long */
#define LATEST_SHARES 3	    /* maximum for prediction, if the trace takes long to read */
/* maximum for prediction from an endless program, which was already explored in short runs */
#define ENDLESS_SHARES 2
#define LOOKS_SHARES 3 /* for looks, since a look takes less time than a search and shows more */
#define CLASS_SHARES 1 /* for classification, after replays */

/* Nanoseconds for further schedules.  If more time than this has passed since the first run began,
 * further schedules get that much time instead.  Thousands of schedules of a short program fit into
 * FURTHER_NS. */
#define FURTHER_NS 20000000000ll

/* Further schedules never get more than 1/FURTHER_SHARE of the remaining time; classification gets
 * the rest. */
#define FURTHER_SHARE 4

/* Used instead of FURTHER_SHARE if further schedules are run before prediction. */
#define FURTHER_SHARE_ENDLESS 2

/* Exploration gets 1/EXPLORE_SHARE of the time for further schedules; recording gets the rest. */
#define EXPLORE_SHARE 2

/* The user is warned if making the flavour takes more than 1/SLOW_BUILD_SHARE of the check's
 * time. */
#define SLOW_BUILD_SHARE 4

/* ---- the remaining time ---- */

static bool has_end(const struct check_known *k)
{
	return k->end_ns != 0;
}

static int64_t left_ns(const struct check_known *k)
{
	return k->end_ns - k->now_ns;
}

/* Returns the time at which `count` of the SHARES shares of the remaining time will have passed. */
static int64_t after_shares(const struct check_known *k, int64_t count)
{
	RD_ASSERT(count <= SHARES);
	return left_ns(k) > 0 ? k->now_ns + left_ns(k) / SHARES * count : k->end_ns;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool is_large(const struct check_known *k)
{
	return k->events >= LARGE_EVENTS;
}

/* ---- recording ---- */

/* Without a limit from the user, the runs that are not yet recorded share RECORDING_SHARES of the
 * remaining time equally. */
static struct check_action record(const struct check_known *k)
{
	struct check_action a = {.what = CHECK_RECORD, .limit_ms = k->timeout_ms};
	int64_t waiting = (int64_t)(k->runs - k->recorded), left = left_ns(k) > 0 ? left_ns(k) : 0;

	if (k->timeout_ms || !has_end(k))
		return a;
	a.limit_ms = (uint64_t)(left / waiting * RECORDING_SHARES / SHARES / 1000000);
	if (a.limit_ms < LEAST_RUN_MS)
		a.limit_ms = LEAST_RUN_MS;
	return a;
}

struct record_enough check_enough(const struct check_known *k)
{
	if (!has_end(k))
		return (struct record_enough){0};
	return (struct record_enough){.end_ns = k->end_ns,
				      .event_ns = LOOK_AT_EVENT_NS,
				      .quiet_ns = (k->end_ns - k->start_ns) / QUIET_SHARE};
}

bool check_is_slow_build(const struct check_known *k)
{
	return has_end(k) && k->build_ns > (k->end_ns - k->start_ns) / SLOW_BUILD_SHARE;
}

/* ---- looks at further runs ---- */

static bool wants_looks(const struct check_known *k)
{
	return is_large(k) && !k->is_endless && !k->no_replay && !k->interrupted && !k->is_deadlocked &&
	       !k->looks_over;
}

/* Chooses the next look.  If there is time, every other run is recorded without thinning, because
 * thinning tends to remove the same accesses from every run, namely those that rarely happen at the
 * same time.  Returns false if there is no time for another run, or if it would be useless. */
static bool next_look(const struct check_known *k, struct check_action *a)
{
	int64_t look_ns = k->looks_begun ? k->look_ns : (int64_t)k->recorded_ms * 1000000 * ALL_ACCESSES_COST;
	int64_t end_ns, left;

	*a = (struct check_action){.what = CHECK_LOOK, .is_first = !k->looks_begun || !k->looks_end_ns};
	end_ns = !has_end(k) ? 0 : a->is_first ? after_shares(k, LOOKS_SHARES) : k->looks_end_ns;
	left = end_ns - k->now_ns;
	if (k->looks >= LOOKS_MOST || k->vain_looks >= LOOKS_IN_VAIN || k->run_interrupted ||
	    (has_end(k) && left < look_ns))
		return false;
	a->all = k->looks % 2 == 0 && (!has_end(k) || left >= look_ns * ALL_ACCESSES_COST);
	a->end_ns = a->phase_ns = end_ns;
	a->limit_ms = k->timeout_ms;
	a->work_ms = k->timeout_ms ? 0 : 2 * k->recorded_ms + LEAST_RUN_MS;
	return true;
}

/* ---- prediction ---- */

static struct check_action predict(const struct check_known *k)
{
	struct check_action a = {.what = CHECK_PREDICT, .is_first = !k->is_predicting};

	a.end_ns = after_shares(k, k->is_endless || is_large(k) ? LARGE_SHARES : PREDICTION_SHARES);
	a.latest_ns = after_shares(k, k->is_endless ? ENDLESS_SHARES : LATEST_SHARES);
	return a;
}

/* Returns true if sound findings are to be replayed before prediction has ended.  This is done only
 * if prediction takes long. */
static bool wants_early(const struct check_known *k)
{
	return k->has_found && !k->no_replay && !k->interrupted &&
	       (k->predicted_events >= LARGE_EVENTS || k->parts);
}

static struct check_action try_early(const struct check_known *k)
{
	int64_t left = k->early_begun ? k->early_left_ns : left_ns(k) / EARLY_SHARE;

	return (struct check_action){.what = CHECK_TRY_EARLY,
				     .is_first = !k->early_begun,
				     .replays = !has_end(k) || left > 0,
				     .phase_ns = has_end(k) ? left : 0,
				     .end_ns = has_end(k) ? earlier(k->now_ns + left, k->end_ns) : 0};
}

static bool is_predicted(const struct check_known *k)
{
	return k->predicted >= k->runs;
}

static bool next_prediction(const struct check_known *k, struct check_action *a)
{
	if (k->has_walked && wants_looks(k) && !k->looks_begun) {
		*a = (struct check_action){.what = CHECK_SHOW_WALK, .end_ns = k->end_ns};
		return true;
	}
	if (k->looks_begun && wants_looks(k) && next_look(k, a))
		return true;
	if (wants_early(k)) {
		*a = try_early(k);
		return true;
	}
	if (!is_predicted(k)) {
		*a = predict(k);
		return true;
	}
	return wants_looks(k) && next_look(k, a);
}

/* ---- replays ---- */

static struct check_action settle(const struct check_known *k)
{
	bool whole = k->no_classify || !has_end(k) || left_ns(k) < 0;

	return (struct check_action){.what = CHECK_SETTLE,
				     .end_ns = whole ? k->end_ns
						     : k->end_ns - left_ns(k) / SHARES * CLASS_SHARES};
}

/* ---- further schedules ---- */

/* Returns true if other schedules are to be explored.  A program is explored only if it exited,
 * deadlocked, or was still working when its time was up.  In the last case, it does not wait for
 * anything outside.  A program that needs another command beside it or before it is not explored,
 * because it may fail for other reasons than its schedule. */
static bool wants_further(const struct check_known *k)
{
	if (k->no_explore || k->interrupted || k->is_edited || k->has_company || k->is_cut)
		return false;
	if (k->is_endless)
		return !k->has_forked;
	return k->threads > 1 && !k->forked && (k->is_deadlocked || k->has_exited);
}

static int64_t further_end(const struct check_known *k)
{
	int64_t spent = k->now_ns - k->record_ns, most = spent > FURTHER_NS ? spent : FURTHER_NS;

	return !has_end(k)
		       ? 0
		       : k->now_ns +
				 earlier(left_ns(k) / (k->is_endless ? FURTHER_SHARE_ENDLESS : FURTHER_SHARE),
					 most);
}

/* Stores the next action: one exploration, then one recorded schedule after another. */
static bool next_further(const struct check_known *k, struct check_action *a)
{
	int64_t end_ns = k->further_begun ? k->further_end_ns : further_end(k);
	bool late = has_end(k) && k->now_ns >= end_ns;

	if (k->further_over || (!k->further_begun && !wants_further(k)))
		return false;
	*a = (struct check_action){
		.what = CHECK_FURTHER, .is_first = !k->further_begun, .phase_ns = end_ns, .end_ns = end_ns};
	if (!k->explored && !late && !k->no_replay) {
		a->what = CHECK_EXPLORE;
		a->end_ns = end_ns ? k->now_ns + (end_ns - k->now_ns) / EXPLORE_SHARE : 0;
	} else if (!k->has_further || late || k->interrupted || k->further_failed) {
		a->what = CHECK_END_FURTHER;
		a->end_ns = k->end_ns;
	}
	return true;
}

/* ---- classes ---- */

/* Returns true if there is time for classification, which needs one more flavour.  Building that
 * flavour takes about as long as building the first. */
static bool has_time_for_classes(const struct check_known *k)
{
	return !has_end(k) || left_ns(k) > k->build_ns;
}

static bool wants_classes(const struct check_known *k)
{
	return !k->no_classify && !k->interrupted && !k->classified && k->races && has_time_for_classes(k);
}

uint64_t check_unclassified(const struct check_known *k)
{
	return k->no_classify || k->interrupted || k->classified ? 0 : k->races;
}

/* ---- the choice of the next action ---- */

static struct check_action choose(const struct check_known *k)
{
	struct check_action a;

	if (k->recorded < k->runs)
		return record(k);
	if (k->is_endless && next_further(k, &a))
		return a;
	if (next_prediction(k, &a))
		return a;
	if (!k->settled && !k->no_replay && !k->interrupted)
		return settle(k);
	if (!k->is_endless && next_further(k, &a))
		return a;
	if (wants_classes(k))
		return (struct check_action){.what = CHECK_CLASSIFY, .end_ns = k->end_ns};
	return (struct check_action){.what = CHECK_END, .end_ns = k->end_ns};
}

struct check_action check_next(const struct check_known *k)
{
	struct check_action a;

	RD_ASSERT(k->runs && k->recorded <= k->runs && k->predicted <= k->runs);
	a = choose(k);
	a.begin_ns = k->now_ns;
	RD_ASSERT(!has_end(k) || a.end_ns <= k->end_ns);
	return a;
}

/* ---- noting what an action did ---- */

static void done_prediction(struct check_known *k, const struct check_outcome *o)
{
	RD_ASSERT(o->walked + o->found + o->over == 1);
	k->is_predicting = true;
	k->has_walked = o->walked;
	k->has_found = o->found;
	k->predicted += o->over;
}

static void done_look(struct check_known *k, const struct check_action *a, const struct check_outcome *o)
{
	k->looks_begun = true;
	k->looks_end_ns = a->phase_ns;
	k->is_predicting = false; /* the remaining time is divided again */
	if (o->failed) {
		k->looks_over = true;
		return;
	}
	k->looks++;
	k->vain_looks = o->fresh ? 0 : k->vain_looks + 1;
	if (!a->all)
		k->look_ns = k->now_ns - a->begin_ns;
	else if (!k->look_ns)
		k->look_ns = (int64_t)k->recorded_ms * 1000000 * ALL_ACCESSES_COST;
}

static void done_early(struct check_known *k, const struct check_action *a, const struct check_outcome *o)
{
	k->early_begun = true;
	k->early_left_ns = a->phase_ns;
	if (o->replayed && has_end(k))
		k->early_left_ns -= k->now_ns - a->begin_ns;
	k->has_found = false;
}

static void done_further(struct check_known *k, const struct check_action *a, const struct check_outcome *o)
{
	k->further_begun = true;
	k->further_end_ns = a->phase_ns;
	k->explored |= a->what == CHECK_EXPLORE;
	k->further_failed |= o->failed;
}

void check_done(struct check_known *k, const struct check_action *a, const struct check_outcome *o)
{
	RD_ASSERT(k->now_ns >= a->begin_ns);
	switch (a->what) {
	case CHECK_RECORD: k->recorded++; break;
	case CHECK_PREDICT: done_prediction(k, o); break;
	case CHECK_SHOW_WALK:
		k->looks_begun = true;
		k->look_ns = k->now_ns - k->ended_ns + (int64_t)k->recorded_ms * 1000000;
		k->is_predicting = false;
		break;
	case CHECK_LOOK: done_look(k, a, o); break;
	case CHECK_TRY_EARLY: done_early(k, a, o); break;
	case CHECK_SETTLE: k->settled = true; break;
	case CHECK_EXPLORE:
	case CHECK_FURTHER: done_further(k, a, o); break;
	case CHECK_END_FURTHER: k->further_over = true; break;
	case CHECK_CLASSIFY: k->classified = true; break;
	case CHECK_END: RD_BUG("the end of a check is not an action");
	}
}

const char *check_what_name(enum check_what what)
{
	static const char *const names[] = {
		[CHECK_RECORD] = "record",
		[CHECK_PREDICT] = "predict",
		[CHECK_SHOW_WALK] = "show-walk",
		[CHECK_LOOK] = "look",
		[CHECK_TRY_EARLY] = "try-early",
		[CHECK_SETTLE] = "settle",
		[CHECK_EXPLORE] = "explore",
		[CHECK_FURTHER] = "further",
		[CHECK_END_FURTHER] = "end",
		[CHECK_CLASSIFY] = "classify",
		[CHECK_END] = "over",
	};

	RD_ASSERT(what <= CHECK_END);
	return names[what];
}
