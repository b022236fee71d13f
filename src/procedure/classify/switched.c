// SPDX-License-Identifier: Apache-2.0
/*
 * Makes runs in which a thread stops at an access that is unordered in only one order of the race
 * (unordered-int.h).  In: a race, and what the detector found in runs of both orders.  Out: trials.
 *
 * After the two accesses of the race, threads run by the default rule until one of them reaches one of
 * these accesses.  It stops there, and another thread runs as far as it can.  So if the accesses are in
 * critical sections with different locks, the sections overlap.  Later pairs of runs stop a thread at
 * later accesses.  All decisions of such a run are recorded, so it can be repeated, and it has a
 * counterpart like any other run.
 */
#include "classify/work-int.h"

#include "base/error.h"
#include "classify/variant-int.h"

#include <string.h>

/* ---- the detector ---- */

struct detecting {
	struct unordered *unordered;
	enum variant_group group;
};

static size_t note(void *context, const struct replay_result *run)
{
	const struct detecting *d = context;

	unordered_note(d->unordered, d->group, run);
	return 0;
}

int switched_detect(struct race_work *w, enum variant_group group, const struct schedule *s, struct trial *t)
{
	struct detecting d = {&w->unordered, group};
	struct trial_hooks hooks = {.result = note, .context = &d};
	int err;

	w->bench.detect = true;
	err = trial_run_with(&w->bench, s, &hooks, t, NULL);
	w->bench.detect = false;
	return err;
}

bool switched_begin(struct race_work *w)
{
	unordered_watch(&w->unordered, &w->switched);
	if (!w->switched.watch_count)
		return false;
	w->switched_from = w->runs.count;
	return true;
}

/* ---- runs ---- */

struct stopping {
	uint64_t decisions; /* number of those that lead the threads through the race */
	size_t left;	    /* number of accesses before the one at which the thread stops */
	bool done;
};

/* Returns the next runnable thread after the one that is stopped, or NULL. */
static const char *another(const struct replay_stand *stand)
{
	for (size_t i = 1; i < stand->thread_count; i++) {
		const struct replay_stander *t = &stand->threads[(stand->who + i) % stand->thread_count];

		if (t->thread && t->ready && !t->ended)
			return t->thread;
	}
	return NULL;
}

static bool stop(void *context, const struct replay_stand *stand, struct schedule *more, const char **next)
{
	struct stopping *s = context;
	const char *other = another(stand);

	(void)more;
	if (!stand->spot || stand->taken < s->decisions || s->done || !other || s->left-- > 0)
		return false;
	s->done = true;
	*next = other;
	return false;
}

int switched_run(struct race_work *w, struct decide_place p, struct trial *t, struct schedule *made)
{
	size_t number = p.number - w->switched_from;
	struct stopping s = {.left = number / SWITCHED_WAYS};
	struct trial_hooks hooks = {.stopped = stop, .context = &s};
	struct variant v;
	int err;

	RD_ASSERT(p.group < VARIANT_CONTROL && p.number >= w->switched_from);
	variant_make(&v, &w->race, p.group, number % SWITCHED_WAYS);
	s.decisions = v.schedule.decision_count;
	v.schedule.watches = w->switched.watches;
	v.schedule.watch_count = w->switched.watch_count;
	v.schedule.input = w->input_text;
	err = trial_run_with(&w->bench, &v.schedule, &hooks, t, made);
	w->has_switched |= s.done;
	return err;
}
