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
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/sort.h"
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

struct pair {
	size_t first, second, apart;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	RD_BY(x->apart, y->apart);
	RD_BY(y->second, x->second); /* later pairs come first, since their threads wait less */
	return 0;
}

/* Returns true if the occurrences are the accesses of the race, in its order. */
static bool is_race(const struct ends *e, const struct occurrence *first, const struct occurrence *second)
{
	return fits_best(e, trace_sites_find(e->sites, first->site), 0) &&
	       fits_best(e, trace_sites_find(e->sites, second->site), 1) &&
	       first->write == e->goals[0].write && second->write == e->goals[1].write;
}

/* Returns true if one of the race's own accesses touched the memory of `at` in this run. */
static bool is_its_memory(const struct occurrences *s, const struct ends *e, const struct occurrence *at)
{
	for (size_t i = 0; i < s->count; i++)
		for (int which = 0; which < 2; which++)
			if (fits_best(e, trace_sites_find(e->sites, s->items[i].site), which) &&
			    at->address < s->items[i].address + s->items[i].size &&
			    s->items[i].address < at->address + at->size)
				return true;
	return false;
}

static bool is_wanted(const struct occurrences *s, const struct ends *e, size_t first, size_t second)
{
	const struct occurrence *a = &s->items[first], *b = &s->items[second];

	if (!occurrences_race(a, b) || !a->at[0] || !b->at[1])
		return false;
	return e->by_line ? !is_race(e, a, b) && is_its_memory(s, e, a)
			  : a->write == e->goals[0].write && b->write == e->goals[1].write;
}

static struct pair *find_pairs(const struct occurrences *s, const struct ends *e, size_t *count)
{
	struct pair *pairs = NULL;
	size_t capacity = 0;

	*count = 0;
	for (size_t i = 0; i < s->count; i++)
		for (size_t k = 0; k < s->count; k++) {
			if (!is_wanted(s, e, i, k))
				continue;
			RD_GROW(pairs, capacity, *count + 1);
			pairs[(*count)++] = (struct pair){i, k, i < k ? k - i : i - k};
		}
	rd_sort_least(pairs, *count, sizeof *pairs, ROUTES_MOST, compare_pairs);
	return pairs;
}

static void take_pairs(struct routes *a, const struct occurrences *s, const struct ends *e)
{
	size_t count;
	struct pair *pairs = find_pairs(s, e, &count);

	for (size_t i = 0; i < count && a->count < ROUTES_MOST; i++) {
		a->goals[a->count][0] = occurrences_goal(s, &s->items[pairs[i].first], &a->texts);
		a->goals[a->count++][1] = occurrences_goal(s, &s->items[pairs[i].second], &a->texts);
	}
	RD_ASSERT(a->count <= ROUTES_MOST);
	free(pairs);
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
		take_pairs(a, &seen, ends);
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
