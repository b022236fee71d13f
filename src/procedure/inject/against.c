// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the kinds of fault and the places that two campaigns have in common, by name.  A share
 * that is 0 in both campaigns, or 1 in both, cannot differ.  It is left out, because each further
 * test makes the correction of the other tests stricter.
 */
#include "inject/against.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "base/name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.05 /* significance level; the usual one */
/* The shares that a kind has in two campaigns count as equal if they differ by at most this much;
 * set by hand. */
#define SAME_SHARE 0.01

bool campaign_differs(const struct campaign_contrast *c)
{
	return c->difference.adjusted < LEVEL;
}

static struct campaign_sample sample_of(const struct campaign_rate *r)
{
	return (struct campaign_sample){r->hits, r->runs, r->value, r->size};
}

static void add(struct campaign_against *a, const struct campaign_contrast *c)
{
	struct campaign_sample base = sample_of(&c->base), with = sample_of(&c->rate);
	uint64_t hits = base.hits + with.hits;

	if (!base.runs || !with.runs || !hits || hits == base.runs + with.runs)
		return;
	RD_GROW(a->items, a->capacity, a->count + 1);
	a->items[a->count] = *c;
	a->items[a->count++].difference = campaign_difference(&base, &with);
}

/* ---- kinds of fault ---- */

static const struct campaign_group *find_group(const struct campaign_statistics *s, const char *fault)
{
	for (size_t i = 1; i < s->group_count; i++)
		if (!strcmp(s->groups[i].fault, fault))
			return &s->groups[i];
	return NULL;
}

static bool has_same_proportions(const struct campaign_statistics *x, const struct campaign_statistics *y)
{
	if (x->group_count != y->group_count || !x->groups[0].runs || !y->groups[0].runs)
		return false;
	for (size_t i = 1; i < x->group_count; i++) {
		const struct campaign_group *g = find_group(y, x->groups[i].fault);

		if (!g || fabs((double)x->groups[i].runs / (double)x->groups[0].runs -
			       (double)g->runs / (double)y->groups[0].runs) > SAME_SHARE)
			return false;
	}
	return true;
}

static void compare_groups(struct campaign_against *a, const struct campaign_group *base,
			   const struct campaign_group *with)
{
	for (unsigned m = 0; m < CAMPAIGN_MEASURES; m++)
		if (m != CAMPAIGN_HARM) /* CAMPAIGN_HARM is the sum of other outcomes */
			add(a, &(struct campaign_contrast){.by = CAMPAIGN_WHOLE,
							   .fault = with->fault,
							   .measure = m,
							   .base = *campaign_group_rate(base, m),
							   .rate = *campaign_group_rate(with, m)});
}

/* Compares the kinds of fault.  Returns the number of common kinds. */
static size_t compare_faults(struct campaign_against *a)
{
	size_t common = 0;

	for (size_t i = 1; i < a->with->group_count; i++) {
		const struct campaign_group *base = find_group(a->base, a->with->groups[i].fault);

		if (!base)
			continue;
		common++;
		compare_groups(a, base, &a->with->groups[i]);
	}
	if (a->same_proportions && common > 1)
		compare_groups(a, &a->base->groups[0], &a->with->groups[0]);
	return common;
}

/* ---- places ---- */

static void compare_place(struct campaign_against *a, unsigned by, const struct campaign_place *base,
			  const struct campaign_place *with)
{
	static const unsigned measures[] = {CAMPAIGN_HARM, RUNLOG_SDC};

	for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
		add(a, &(struct campaign_contrast){
			       .by = by,
			       .place = with->name,
			       .measure = measures[i],
			       .base = campaign_cell_rate(a->base, &base->cells[0], measures[i]),
			       .rate = campaign_cell_rate(a->with, &with->cells[0], measures[i])});
}

static void compare_places(struct campaign_against *a, unsigned by)
{
	struct rd_names names = RD_NAMES_INIT;
	const struct campaign_place *base = a->base->places[by];
	uint32_t *places = rd_xcalloc(a->base->place_count[by] + 1, sizeof *places), n;

	for (size_t i = 0; i < a->base->place_count[by]; i++) {
		n = rd_names_put(&names, base[i].name, strlen(base[i].name));
		places[n] = (uint32_t)i;
	}
	for (size_t i = 0; i < a->with->place_count[by]; i++) {
		const struct campaign_place *with = &a->with->places[by][i];

		if (strcmp(with->name, RD_UNKNOWN) != 0 &&
		    rd_names_find(&names, with->name, strlen(with->name), &n))
			compare_place(a, by, &base[places[n]], with);
	}
	rd_names_release(&names);
	free(places);
}

/* ---- the comparison of two campaigns ---- */

/* Corrects the tests of one family (against.h), which consists of all comparisons from index
 * `first` on. */
static void correct(struct campaign_against *a, size_t first)
{
	RD_ASSERT(first <= a->count);
	struct campaign_difference **family = rd_xcalloc(a->count - first + 1, sizeof *family);

	for (size_t i = first; i < a->count; i++)
		family[i - first] = &a->items[i].difference;
	campaign_holm(family, a->count - first);
	for (size_t i = first; i < a->count; i++)
		a->differ += campaign_differs(&a->items[i]);
	free(family);
}

int campaign_against(struct campaign_against *a, const struct campaign_statistics *base,
		     const struct campaign_statistics *with)
{
	*a = (struct campaign_against){.base = base, .with = with};
	a->same_proportions = has_same_proportions(base, with);
	a->same_program = !strcmp(base->results->name, with->results->name);
	if (!base->groups[0].runs || !with->groups[0].runs)
		return rd_fail(RD_ENOTFOUND, "campaign: %s: it has no runs to compare",
			       (base->groups[0].runs ? with : base)->results->directory);
	if (!compare_faults(a))
		return rd_fail(RD_EUSAGE, "campaign: %s and %s have no kind of fault in common",
			       with->results->directory, base->results->directory);
	correct(a, 0);
	for (unsigned by = 0; by < CAMPAIGN_BY_OPCODE && a->same_proportions; by++) {
		size_t first = a->count;

		compare_places(a, by);
		correct(a, first);
	}
	return 0;
}

void campaign_against_release(struct campaign_against *a)
{
	free(a->items);
	*a = (struct campaign_against){0};
}
