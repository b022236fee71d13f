// SPDX-License-Identifier: Apache-2.0
/*
 * Finds ways to reach a race, from a run of the program.  In: the sites of the two accesses.  Out:
 * pairs of goals, with one goal for each thread.
 *
 * Pairs whose accesses followed each other most closely come first.  The fewer other occurrences
 * lie between two accesses, the less likely it is that something keeps them apart.
 */
#include "classify/routes-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "classify/occurrences-int.h"
#include "replay/plan.h"

#include <stdlib.h>
#include <string.h>

/* The accesses of a race. */
struct ends {
	const struct trace_sites *sites;
	const struct schedule_goal *goals;
	unsigned best[2]; /* by goal: the best fitness of a site, or 0 if no site fits */
	bool by_line;	  /* other accesses on the same lines are wanted */
};

static bool fits_best(const struct ends *e, const struct trace_site *site, int which)
{
	return e->best[which] && plan_goal_fitness(e->sites, site, &e->goals[which]) == e->best[which];
}

static bool is_on_line(const struct ends *e, const struct trace_site *site, int which)
{
	const struct schedule_place *place = &e->goals[which].place;

	return trace_site_accesses(site) && site->line == place->line && place->file &&
	       !strcmp(rd_base_name(trace_sites_file(e->sites, site->file)), rd_base_name(place->file));
}

static bool is_at(const void *context, const struct trace_site *site, uint32_t number, int which)
{
	const struct ends *e = context;

	(void)number;
	return fits_best(e, site, which) || (e->by_line && is_on_line(e, site, which));
}

static void find_ends(struct ends *e)
{
	for (size_t u = 0; u < e->sites->unit_count; u++)
		for (size_t i = 0; i < e->sites->units[u].site_count; i++)
			for (int which = 0; which < 2; which++) {
				const struct trace_site *site = &e->sites->sites[e->sites->units[u].site + i];
				unsigned fits = plan_goal_fitness(e->sites, site, &e->goals[which]);

				if (fits > e->best[which])
					e->best[which] = fits;
			}
}

/* A run in which threads reached the accesses. */
struct seen {
	const struct occurrences *all;
	const struct ends *ends;
	/* By occurrence: bit `which` is set if its site fits that access of the race best, and `OWN` if
	 * one of these accesses touched the same memory. */
	unsigned char *traits;
};
#define OWN 4

static bool touches_same(const struct occurrence *a, const struct occurrence *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

/* Returns true if one of the race's own accesses touched the memory of an occurrence in this run. */
static bool is_its_memory(const struct seen *s, const struct occurrence *at)
{
	for (size_t i = 0; i < s->all->count; i++)
		if (s->traits[i] & (1 | 2) && touches_same(at, &s->all->items[i]))
			return true;
	return false;
}

static void find_traits(struct seen *s)
{
	size_t count = s->all->count;

	s->traits = rd_xcalloc(count + 1, sizeof *s->traits);
	for (size_t i = 0; i < count; i++) {
		const struct trace_site *site = trace_sites_find(s->ends->sites, s->all->items[i].site);

		for (int which = 0; which < 2; which++)
			s->traits[i] |= fits_best(s->ends, site, which) ? 1u << which : 0;
	}
	for (size_t i = 0; i < count && s->ends->by_line; i++)
		s->traits[i] |= is_its_memory(s, &s->all->items[i]) ? OWN : 0;
}

/* Returns true if the occurrences are the accesses of the race, in its order. */
static bool is_race(const struct seen *s, size_t first, size_t second)
{
	return s->traits[first] & 1 && s->traits[second] & 2 &&
	       s->all->items[first].write == s->ends->goals[0].write &&
	       s->all->items[second].write == s->ends->goals[1].write;
}

static bool is_wanted(const struct seen *s, size_t first, size_t second)
{
	const struct occurrence *a = &s->all->items[first], *b = &s->all->items[second];

	if (!occurrences_race(a, b) || !a->at[0] || !b->at[1])
		return false;
	return s->ends->by_line ? !is_race(s, first, second) && s->traits[first] & OWN
				: a->write == s->ends->goals[0].write && b->write == s->ends->goals[1].write;
}

static void take_pair(struct routes *a, const struct seen *s, size_t first, size_t second)
{
	if (a->count == ROUTES_MOST || !is_wanted(s, first, second))
		return;
	a->goals[a->count][0] = occurrences_goal(s->all, &s->all->items[first], &a->texts);
	a->goals[a->count++][1] = occurrences_goal(s->all, &s->all->items[second], &a->texts);
}

/* Of pairs whose accesses are equally far apart, later ones come first, since their threads wait less. */
static void take_pairs(struct routes *a, struct seen *s)
{
	size_t count = s->all->count;

	find_traits(s);
	for (size_t apart = 1; apart < count && a->count < ROUTES_MOST; apart++)
		for (size_t second = count; second-- > 0;) {
			if (second >= apart)
				take_pair(a, s, second - apart, second);
			if (second + apart < count)
				take_pair(a, s, second + apart, second);
		}
	free(s->traits);
}

static int find(struct routes *a, struct trial_bench *b, struct ends *ends, uint64_t seed)
{
	struct occurrences seen;
	int err;

	a->count = 0;
	schedule_init(&a->texts);
	find_ends(ends);
	occurrences_init(&seen, ends->sites, is_at, ends);
	err = occurrences_gather(&seen, b, seed);
	if (!err)
		take_pairs(a, &(struct seen){.all = &seen, .ends = ends});
	occurrences_release(&seen);
	return err;
}

int routes_find(struct routes *a, struct trial_bench *b, const struct schedule *race, uint64_t seed)
{
	return find(a, b, &(struct ends){.sites = b->conditions.program->sites, .goals = race->goals}, seed);
}

int routes_find_others(struct routes *a, struct trial_bench *b, const struct schedule *race)
{
	struct ends ends = {.sites = b->conditions.program->sites, .goals = race->goals, .by_line = true};

	return find(a, b, &ends, 0);
}

void routes_release(struct routes *a)
{
	schedule_release(&a->texts);
	*a = (struct routes){0};
}
