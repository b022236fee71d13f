// SPDX-License-Identifier: Apache-2.0
/*
 * Decides which run of a race comes next (classify/next-int.h).
 */
#include "classify/next-int.h"

#include "base/error.h"

#include <string.h>

/* Limits on the number of pairs (doc/design/classify.md).  If the caller allows no other schedules,
 * only PAIRS_WITHOUT_SEED pairs are made: one in which one of the two threads continues first after
 * the accesses, and one in which the other thread does.  Eight pairs cover most schedules of small
 * programs.  If six consecutive pairs show no new schedule, hardly any new one is left. */
#define PAIRS_WITHOUT_SEED 2
#define PAIRS_LEAST 8
#define PAIRS_STALE 6
/* The maximum number of pairs in which a thread stops at an access after the race.  Chosen by hand: two
 * pairs for each of the first twelve accesses, since either thread may continue after the race. */
#define PAIRS_SWITCHED 24
/* As long as it is not clear whether the race causes a fault, up to DOUBT_TIMES as many pairs are
 * made.  Set by hand.  If statistics have to decide, this is enough to explain a fault that occurs
 * in one run in five of one order, and never in the other. */
#define DOUBT_TIMES 2

/* maximum number of times that a run is repeated because timing may have affected its result, as on
 * a busy machine */
#define UNSURE_TIMES 4
/* No further evidence is looked for after this many runs that could not be reproduced. */
#define SHOW_TIMES 4

/* ---- pairs ---- */

size_t next_pairs(const struct next_limits *l)
{
	size_t most = l->pairs ? l->pairs : CLASSIFY_ALTERNATES;

	RD_ASSERT(most > 0);
	return l->schedules && most > PAIRS_WITHOUT_SEED ? most : PAIRS_WITHOUT_SEED;
}

bool next_is_hopeless(const struct decide_runs *runs)
{
	if (runs->count && runs->items[VARIANT_FIRST][0].obstacle.thread)
		return true;
	for (size_t i = 0; i < runs->count; i++)
		if (runs->items[VARIANT_FIRST][i].counts || runs->items[VARIANT_SECOND][i].counts)
			return false;
	return runs->count >= PAIRS_WITHOUT_SEED;
}

size_t next_room(const struct next_limits *l)
{
	return DOUBT_TIMES * next_pairs(l);
}

/* Returns true if more than PAIRS_LEAST pairs are needed, because it is still unclear whether the
 * race causes a fault. */
static bool is_in_doubt(const struct next_limits *l, const struct decide_runs *runs)
{
	return l->control && l->schedules && runs->count < next_room(l) && decide_is_open(runs);
}

bool next_is_pair(const struct next_limits *l, const struct decide_runs *runs, struct decision *d)
{
	if (next_is_hopeless(runs))
		return false;
	decide(runs, d);
	if (d->class == FINDING_SPEC_VIOLATED && d->proved)
		return false;
	if (runs->count < PAIRS_LEAST && runs->count < next_pairs(l))
		return true;
	if (d->class == FINDING_SPEC_VIOLATED)
		return false;
	return is_in_doubt(l, runs) || (runs->count < next_pairs(l) && decide_stale(runs) < PAIRS_STALE);
}

bool next_is_switched(const struct next_limits *l, const struct decide_runs *runs, size_t made,
		      struct decision *d)
{
	decide(runs, d);
	return runs->count < next_room(l) && made < PAIRS_SWITCHED && !next_is_bad(d);
}

bool next_is_between(const struct next_limits *l, const struct decision *d)
{
	return (d->class == FINDING_K_WITNESS_HARMLESS || d->hopeless || d->doubt) && !next_is_bad(d) &&
	       !l->models;
}

/* Two control runs of one schedule show which lines of the output differ in any case.  Effects of a
 * memory model are compared with all runs under sequential consistency, so if models are tried,
 * each pair of twins gets a control run. */
size_t next_controls(const struct next_limits *l, const struct decide_runs *runs, size_t have)
{
	bool more = runs->count <= PAIRS_WITHOUT_SEED || l->models;

	RD_ASSERT(have <= runs->count);
	return l->control && more ? runs->count : have;
}

bool next_is_maskable(const struct decide_runs *runs)
{
	const struct trial *control = runs->items[VARIANT_CONTROL];

	return runs->count == PAIRS_WITHOUT_SEED && control[0].counts && control[1].counts &&
	       control[0].trail == control[1].trail;
}

/* ---- reaching the race ---- */

const struct trial *next_apart(const struct decide_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
			if (runs->items[g][i].obstacle.thread)
				return &runs->items[g][i];
	return NULL;
}

bool next_is_met(const struct decide_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
			if (runs->items[g][i].outcome == REPLAY_CONFIRMED && runs->items[g][i].end_text)
				return true;
	return false;
}

const char *next_why_none(const struct decide_runs *runs, const struct decision *d)
{
	if (d->hopeless)
		return "a run of each pair failed, so what the two orders write could not be compared";
	if (d->doubt)
		return "a run failed, but too rarely to tell whether the race is the cause";
	for (size_t i = 0; i < runs->count; i++)
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
			if (runs->items[g][i].why)
				return runs->items[g][i].why;
	return "no run reached the race";
}

bool next_has_met(const struct finding *f)
{
	return f->status == FINDING_CONFIRMED && !f->observed && !f->recorded;
}

enum next_order next_order(const struct decision *d, const struct decide_runs *runs, bool has_met)
{
	if (d->class == FINDING_K_WITNESS_HARMLESS)
		return NEXT_FLAG;
	return d->class == FINDING_NO_CLASS && next_apart(runs) && !has_met ? NEXT_APART : NEXT_NO_ORDER;
}

bool next_may_pass(const struct decision *d, const struct finding *f)
{
	return d->class == FINDING_NO_CLASS && !d->doubt && !d->hopeless &&
	       (f->status == FINDING_CONFIRMED || f->unordered) && !next_has_met(f);
}

/* ---- evidence ---- */

bool next_is_bad(const struct decision *d)
{
	return d->class == FINDING_SPEC_VIOLATED || d->class == FINDING_OUTPUT_DIFFERS;
}

const char *next_consequence(const struct decide_runs *runs, const struct decision *d)
{
	const struct trial *shows = decide_at(runs, d->shows);

	if (shows->fault)
		return shows->fault;
	return d->has_other && shows->status != decide_at(runs, d->other)->status ? "exit-status" : "output";
}

bool next_is_same(const struct decision *d, const struct trial *seen, const struct trial *again)
{
	if (!again->counts)
		return false;
	if (seen->fault || again->fault)
		return seen->fault && again->fault && !strcmp(seen->fault, again->fault);
	return d->sorted ? seen->sorted_digest == again->sorted_digest : seen->digest == again->digest;
}

bool next_is_unsure(const struct trial *t)
{
	return t->unsure || t->end == REPLAY_HUNG || t->end == REPLAY_RAN_ON;
}

bool next_repeats(const struct next_repeat *r)
{
	return !r->failed && r->done < NEXT_REPLAYS;
}

/* If a repetition had a different result, but time limits may have influenced it (`unsure`), the
 * run is repeated a few more times. */
void next_repeated(struct next_repeat *r, bool same, bool unsure)
{
	RD_ASSERT(next_repeats(r));
	if (!same && unsure && r->unsure++ < UNSURE_TIMES)
		return;
	r->done++;
	r->failed = !same;
}

bool next_writes_down(unsigned tries, bool same, bool unsure)
{
	return tries == 0 || (!same && unsure && tries <= UNSURE_TIMES);
}

bool next_shows(const struct next_show *s, const struct decision *d)
{
	return s->tries < SHOW_TIMES && next_is_bad(d);
}

void next_lost(struct next_show *s, struct decide_runs *runs, struct decide_place lost, struct decision *d)
{
	RD_ASSERT(decide_at(runs, lost)->counts);
	s->tries++;
	s->fault |= decide_at(runs, lost)->fault != NULL;
	decide_at(runs, lost)->counts = false;
	decide(runs, d);
}

/* If a fault was seen but cannot be reproduced, the race gets no class, because calling it harmless
 * would be wrong. */
bool next_is_left(const struct next_show *s, const struct decision *d)
{
	return !s->fault && d->class == FINDING_K_WITNESS_HARMLESS;
}
