// SPDX-License-Identifier: Apache-2.0
/*
 * The strategy of replays.  In: findings without a verdict, and the result of each attempt.  Out:
 * the next attempt, and verdicts at the end.
 * Each finding is tried in steps.  All sound findings go through one step before any goes through
 * the next.  So easy findings are confirmed first, and hard ones do not use up a limited time.  The
 * steps are:
 *
 * 1. one replay of each finding;
 * 2. replays of other predictions of the same places;
 * 3. a run in which any two threads may meet at these places;
 * 4. if the replay diverged, a replay with a fixed order of a racy read and its write, and replays
 *    that are recorded and used for new predictions, which may help other findings too;
 * 5. at the end, one run under the detector for all findings that it can decide.
 *
 * Speculative findings go through the same steps, but get only one attempt in SPECULATIVE_SHARE
 * while sound ones are left.
 */
#include "replay/strategy-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "finding/schedule.h"
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

/* All of these values were chosen by hand.  With smaller values, findings are given up that a
 * further attempt would confirm.  Larger values take time from other findings. */
/* maximum number of other predictions from the recorded run that are tried for a finding */
#define OTHER_WAYS 2
#define WAYS 6 /* maximum number of ways (schedules) of a finding */
/* how many times a diverged run of a finding is recorded and used for a new prediction */
#define ROUNDS 3
#define OBSERVATIONS 3 /* maximum number of runs under the detector */
/* while sound findings are left, one attempt in this many goes to a speculative finding */
#define SPECULATIVE_SHARE 4
#define ORDERS 2   /* number of orders of a racy read and its write */
#define FAILURES 4 /* number of consecutive failures after which STRATEGY_MEET comes first */

/* A finding to try.  The n-th candidate belongs to the n-th item of the set. */
struct strategy_candidate {
	struct finding *ways[WAYS]; /* the same finding with different schedules */
	/* by way: true if the detector should decide after the last run of that way */
	bool observable[WAYS];
	size_t way_count, next_way;
	/* the way whose last run diverged, or WAYS if no run diverged */
	size_t diverged;
	unsigned runs; /* number of runs so far */
	/* the way whose run diverged after a racy read, or WAYS if no run did */
	size_t chance;
	uint32_t read, write; /* sites of the racy read and of the write */
	unsigned kept;	      /* number of orders of this read and write that were tried */
	bool met;	      /* STRATEGY_MEET was tried */
	bool met_patiently;   /* STRATEGY_MEET was tried with longer stops */
	unsigned rounds;      /* number of STRATEGY_AGAIN attempts */
	/* number of findings about the same object that precede this one */
	unsigned turn;
	bool waits;		     /* it waits for a verdict */
	bool busy;		     /* an attempt is in progress */
	bool unordered;		     /* the detector saw the two accesses unordered */
	enum finding_status verdict; /* the verdict if nothing more is tried */
};

/* ---- candidates ---- */

static bool wants_replay(const struct finding *f)
{
	return f->status == FINDING_UNCONFIRMED && f->schedule && !f->suppressed;
}

static void add_way(struct strategy_candidate *c, struct finding *f)
{
	if (c->way_count < WAYS)
		c->ways[c->way_count++] = f;
}

static void add_candidate(struct strategy *s, size_t item)
{
	struct finding *f = s->set->items[item];
	struct strategy_candidate *c;

	RD_GROW(s->candidates, s->capacity, item + 1);
	s->order = rd_xrealloc(s->order, (item + 1) * sizeof *s->order);
	s->order[item] = item;
	c = &s->candidates[item];
	*c = (struct strategy_candidate){
		.waits = wants_replay(f), .diverged = WAYS, .chance = WAYS, .verdict = FINDING_UNCONFIRMED};
	add_way(c, f);
	for (size_t i = 0; i < s->all_count && c->waits && c->way_count <= OTHER_WAYS; i++)
		if (s->all[i] != f && s->all[i]->schedule &&
		    strcmp(s->all[i]->fingerprint, f->fingerprint) == 0)
			add_way(c, s->all[i]);
}

/* Returns true if two names denote the same object.  Numbers in names are ignored. */
static bool is_same_object(const char *a, const char *b)
{
	while (a && b && *a && *b) {
		a += strspn(a, "0123456789");
		b += strspn(b, "0123456789");
		if (*a != *b)
			return false;
		if (*a) {
			a++;
			b++;
		}
	}
	return a && b && !*a && !*b;
}

static size_t step_count(const struct finding *f)
{
	return f->schedule ? f->schedule->op_count : 0;
}

static int compare_candidates(const void *a, const void *b, void *context)
{
	const struct strategy *s = context;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct finding *x = s->set->items[i], *y = s->set->items[k];
	const struct strategy_candidate *c = &s->candidates[i], *d = &s->candidates[k];

	if (x->sound != y->sound)
		return x->sound ? -1 : 1;
	RD_BY(c->turn, d->turn);
	if (step_count(x) != step_count(y))
		return step_count(x) < step_count(y) ? -1 : 1;
	return i < k ? -1 : 1;
}

/* Sound findings come first.  Within each of the two groups, one finding for each object comes
 * first, then a second for each, and so on.  Short schedules come before long ones. */
static void put_in_order(struct strategy *s)
{
	for (size_t i = 0; i < s->set->count; i++)
		for (size_t k = 0; k < i; k++)
			s->candidates[i].turn +=
				is_same_object(s->set->items[i]->object.name, s->set->items[k]->object.name);
	if (s->set->count)
		qsort_r(s->order, s->set->count, sizeof *s->order, compare_candidates, s);
}

void strategy_open(struct strategy *s)
{
	for (size_t i = 0; i < s->set->count; i++)
		add_candidate(s, i);
	put_in_order(s);
}

void strategy_close(struct strategy *s)
{
	free(s->order);
	free(s->candidates);
}

/* ---- the next attempt ---- */

/* Stores the next step of a candidate.  Returns its rank, or UINT32_MAX if no step is left.  If the
 * last replays have shown that the program's threads cannot be led, leading them is not tried
 * first. */
static unsigned next_step(const struct strategy *s, const struct strategy_candidate *c,
			  enum strategy_step *step)
{
	bool may_meet = !c->met && c->ways[0]->kind == FINDING_RACE;

	*step = STRATEGY_MEET;
	if (!c->waits || c->busy || (s->once && c->runs))
		return UINT32_MAX;
	if (may_meet && !c->next_way && s->failures >= FAILURES)
		return 0;
	if (may_meet && c->next_way == c->way_count)
		return 2;
	*step = STRATEGY_TRY;
	if (c->next_way < c->way_count)
		return c->next_way || c->met ? 1 : 0;
	*step = STRATEGY_KEEP;
	if (c->chance < WAYS && c->kept < ORDERS)
		return 3;
	*step = STRATEGY_AGAIN;
	if (c->diverged < WAYS && c->rounds < ROUNDS)
		return 3 + c->rounds;
	/* The detector saw the two accesses unordered, but the threads did not meet.  So a patient
	 * attempt follows. */
	*step = STRATEGY_MEET;
	return c->unordered && c->met && !c->met_patiently ? 3 + ROUNDS : UINT32_MAX;
}

static bool is_exhausted(const struct strategy *s, const struct strategy_candidate *c)
{
	enum strategy_step step;

	return !c->busy && next_step(s, c, &step) == UINT32_MAX;
}

/* Returns true if the detector should decide about the finding.  This has to be the case after
 * every way that was tried. */
static bool is_observable(const struct strategy_candidate *c)
{
	for (size_t i = 0; i < c->next_way; i++)
		if (!c->observable[i])
			return false;
	return c->waits && c->next_way;
}

/* A possible next step. */
struct next {
	size_t item; /* index in the set, or SIZE_MAX if there is no step */
	enum strategy_step step;
	unsigned later; /* its rank; lower ranks come first */
};

/* Returns the best next step among the sound findings or, if `sound` is false, the speculative
 * ones. */
static struct next find_step(const struct strategy *s, bool sound)
{
	struct next best = {.item = SIZE_MAX, .later = UINT32_MAX};

	for (size_t i = 0; i < s->set->count && best.later && !s->late; i++) {
		struct next n = {.item = s->order[i]};

		if (s->set->items[n.item]->sound != sound)
			continue;
		n.later = next_step(s, &s->candidates[n.item], &n.step);
		if (n.later < best.later)
			best = n;
	}
	return best;
}

/* Returns the next step.  Each sound finding is tried once before any speculative one.  As long as
 * sound findings have ways left, speculative ones get one attempt in SPECULATIVE_SHARE. */
static struct next find_next(const struct strategy *s)
{
	struct next sound = find_step(s, true), other = find_step(s, false);

	if (other.item == SIZE_MAX || !sound.later)
		return sound;
	if (sound.item == SIZE_MAX)
		return other;
	return s->speculative * SPECULATIVE_SHARE <= s->others ? other : sound;
}

static void begin_step(struct strategy *s, size_t item, enum strategy_step step, struct strategy_attempt *a)
{
	struct strategy_candidate *c = &s->candidates[item];

	*a = (struct strategy_attempt){.step = step, .item = item};
	a->way = step == STRATEGY_TRY ? c->next_way++ : step == STRATEGY_AGAIN ? c->diverged : 0;
	if (step == STRATEGY_KEEP) {
		a->way = c->chance;
		/* first attempt: the write comes first; second: the read */
		a->keep[c->kept % 2] = c->write;
		a->keep[1 - c->kept++ % 2] = c->read;
	}
	a->patient = step == STRATEGY_MEET && c->met;
	c->met_patiently |= a->patient;
	c->met |= step == STRATEGY_MEET;
	c->rounds += step == STRATEGY_AGAIN;
	if (step == STRATEGY_AGAIN)
		c->diverged = WAYS;
	c->busy = true;
	s->replayed += c->runs == 0;
	a->runs = c->runs++;
}

/* Begins one run for all findings that only the detector can decide. */
static bool begin_observation(struct strategy *s, struct strategy_attempt *a)
{
	RD_ASSERT(s->observations < OBSERVATIONS);
	*a = (struct strategy_attempt){.step = STRATEGY_OBSERVE};
	a->items = rd_xcalloc(s->set->count + 1, sizeof *a->items);
	for (size_t i = 0; i < s->set->count; i++)
		if (is_observable(&s->candidates[i]))
			a->items[a->count++] = i;
	s->observations++;
	if (!a->count)
		strategy_attempt_release(a);
	return a->count;
}

bool strategy_next(struct strategy *s, size_t running, struct strategy_attempt *a)
{
	struct next next = find_next(s);

	if (next.item != SIZE_MAX) {
		s->others += next.later > 0 || !s->set->items[next.item]->sound;
		s->speculative += !s->set->items[next.item]->sound;
		begin_step(s, next.item, next.step, a);
		return true;
	}
	return !running && !s->once && s->observations < OBSERVATIONS && begin_observation(s, a);
}

void strategy_attempt_release(struct strategy_attempt *a)
{
	free(a->items);
	*a = (struct strategy_attempt){0};
}

struct finding strategy_finding(const struct strategy *s, const struct strategy_attempt *a)
{
	RD_ASSERT(a->way < s->candidates[a->item].way_count);
	struct finding f = *s->candidates[a->item].ways[a->way];

	memcpy(f.id, s->set->items[a->item]->id, sizeof f.id);
	return f;
}

/* ---- taking results ---- */

static double number_of(const struct finding_set *set, const char *name)
{
	for (size_t i = 0; i < set->stat_count; i++)
		if (strcmp(set->stats[i].name, name) == 0)
			return strtod(set->stats[i].json, NULL);
	return 0;
}

static bool stat_of(const struct finding_set *set, const char *name)
{
	return number_of(set, name) != 0;
}

/* Adds another way to a finding without a verdict, or a new finding. */
static void take_further_finding(struct strategy *s, struct finding *f)
{
	size_t item = finding_position(s->set, f->fingerprint);

	if (item != SIZE_MAX) {
		f->sound |= s->set->items[item]->sound;
		if (s->candidates[item].waits)
			add_way(&s->candidates[item], f);
		return;
	}
	if (s->added >= s->extra)
		return;
	s->added++;
	finding_note(s->set, f, "It was predicted from a replay of another finding.");
	finding_set_put(s->set, f);
	add_candidate(s, s->set->count - 1);
}

static void settle(struct strategy *s, size_t item, struct finding *f)
{
	RD_ASSERT(s->candidates[item].waits);
	struct finding *before = s->set->items[item];

	memcpy(f->id, before->id, sizeof f->id);
	f->count = before->count;
	f->sound |= before->sound;
	s->set->items[item] = f;
	s->candidates[item].waits = false;
	s->confirmed++;
}

static void take_step(struct strategy *s, const struct strategy_attempt *a, struct finding_set *result)
{
	RD_ASSERT(s->candidates[a->item].busy && a->way < WAYS);
	struct strategy_candidate *c = &s->candidates[a->item];
	struct finding *f = result->items[0], *item = s->set->items[a->item];

	c->busy = false;
	if (a->step == STRATEGY_TRY && a->way == 0)
		s->failures = f->status == FINDING_CONFIRMED ? 0 : s->failures + 1;
	if (f->status == FINDING_CONFIRMED) {
		settle(s, a->item, f);
		return;
	}
	if (a->step == STRATEGY_MEET) { /* if no threads met, this proves nothing */
		if (!c->next_way)
			item->reason = "no two threads reached these places at the same time in a run "
				       "without an order";
		return;
	}
	c->observable[a->way] = stat_of(result, STRATEGY_OBSERVABLE);
	if (stat_of(result, STRATEGY_DIVERGED))
		c->diverged = a->way;
	if (a->step == STRATEGY_TRY && stat_of(result, STRATEGY_READ)) {
		c->chance = a->way;
		c->read = (uint32_t)number_of(result, STRATEGY_READ);
		c->write = (uint32_t)number_of(result, STRATEGY_WRITE);
	}
	if (!c->unordered) {
		c->verdict = f->status;
		item->reason = f->reason;
		item->unordered = f->unordered;
	}
	c->unordered |= stat_of(result, STRATEGY_UNORDERED);
	for (size_t i = 1; i < result->count; i++)
		take_further_finding(s, result->items[i]);
}

/* Called if the detector saw the accesses unordered.  This is no proof, but the finding is not
 * dropped. */
static void see_unordered(struct strategy *s, size_t item, const struct finding *f)
{
	struct strategy_candidate *c = &s->candidates[item];

	c->verdict = FINDING_UNCONFIRMED;
	c->unordered = true;
	s->set->items[item]->unordered = true;
	s->set->items[item]->reason = f->reason;
}

static void take_observation(struct strategy *s, const struct strategy_attempt *a, struct finding_set *result)
{
	uint64_t confirmed = s->confirmed;

	for (size_t i = 0; i < a->count && i < result->count; i++)
		if (result->items[i]->status == FINDING_CONFIRMED)
			settle(s, a->items[i], result->items[i]);
		else if (result->items[i]->unordered)
			see_unordered(s, a->items[i], result->items[i]);
	if (s->confirmed == confirmed)
		s->observations = OBSERVATIONS; /* further runs are unlikely to confirm a finding */
}

void strategy_take(struct strategy *s, const struct strategy_attempt *a, struct finding_set *result)
{
	RD_ASSERT(result->count);
	if (a->step == STRATEGY_OBSERVE)
		take_observation(s, a, result);
	else
		take_step(s, a, result);
}

void strategy_lose(struct strategy *s, const struct strategy_attempt *a, const char *reason)
{
	if (a->step == STRATEGY_OBSERVE)
		return;
	s->set->items[a->item]->reason = reason;
	s->candidates[a->item].verdict = FINDING_UNCONFIRMED;
	s->candidates[a->item].busy = false;
}

/* ---- verdicts at the end ---- */

/* A candidate whose attempt was cancelled stays busy, so it does not count as exhausted. */
void strategy_be_late(struct strategy *s)
{
	s->late = true;
	s->observations = OBSERVATIONS - 1;
}

size_t strategy_waiting(const struct strategy *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->set->count; i++)
		n += s->candidates[i].waits;
	return n;
}

size_t strategy_exhausted(const struct strategy *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->set->count; i++)
		n += s->candidates[i].waits && is_exhausted(s, &s->candidates[i]);
	return n;
}

/* Keeps a finding from being dropped if its failure happened in the recorded run, whatever replays
 * showed. */
static void keep_recorded(struct finding_set *set, struct finding *f)
{
	if (!f->firm || f->status != FINDING_DROPPED)
		return;
	f->status = FINDING_UNCONFIRMED;
	f->reason = finding_textf(set, "%s; but %s", f->reason, f->firm);
}

/* Only exhausted findings get a verdict. */
void strategy_conclude(struct strategy *s, const char *why)
{
	RD_ASSERT(why != NULL);
	for (size_t i = 0; i < s->set->count; i++) {
		struct strategy_candidate *c = &s->candidates[i];
		struct finding *f = s->set->items[i];

		if (!c->waits)
			continue;
		if (is_exhausted(s, c)) {
			f->status = c->verdict;
			keep_recorded(s->set, f);
			continue;
		}
		if (f->firm && s->trusts) {
			replay_confirm_recorded(s->set, f);
			s->confirmed++;
			continue;
		}
		if (c->runs > (unsigned)c->busy) {
			s->unfinished++;
			f->reason = finding_textf(s->set, "%s; nothing more was tried: %s", f->reason, why);
		} else {
			s->untried++;
			f->reason = finding_textf(s->set, "it was not replayed to the end: %s", why);
		}
	}
}
