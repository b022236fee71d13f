// SPDX-License-Identifier: Apache-2.0
/*
 * Races that only explored schedules showed.  In: pairs of sites that the detector saw unordered,
 * and findings.  Out: unconfirmed findings for the pairs that no recorded run showed, so that no
 * such race is lost.
 *
 * The detector does not see orders through files and other processes, while prediction does.  So
 * the detector alone cannot confirm a race.
 */
#include "explore/sighted.h"

#include "base/alloc.h"
#include "finding/place.h"

#include <string.h>

#define SIGHTED                                                                                              \
	"apparently unordered: the detector saw the two accesses without an order in an explored schedule"

static bool is_write(const struct trace_site *site)
{
	return site->kind != TRACE_SITE_READ && site->kind != TRACE_SITE_RANGE_READ &&
	       site->kind != TRACE_SITE_ATOMIC_LOAD;
}

static void describe(struct finding_set *set, const struct trace_sites *sites, uint32_t number,
		     struct finding_access *a)
{
	const struct trace_site *site = trace_sites_find(sites, number);

	a->op = is_write(site) ? FINDING_WRITE : FINDING_READ;
	a->atomic = site->kind >= TRACE_SITE_ATOMIC_LOAD && site->kind < TRACE_SITE_FENCE;
	a->size = site->size;
	a->what = site->what && *site->what ? finding_text(set, site->what) : NULL;
	a->stack = finding_stack_at(set, sites, number);
}

static void add(struct finding_set *set, const struct trace_sites *sites, const uint32_t site[2])
{
	struct finding *f = finding_add(set, FINDING_RACE);

	f->status = FINDING_UNCONFIRMED;
	f->unordered = true;
	f->count = 1;
	f->reason = finding_text(set, SIGHTED ", but no recorded run showed that");
	f->access_count = 2;
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	for (int i = 0; i < 2; i++)
		describe(set, sites, site[i], &f->accesses[i]);
	f->object.name = f->accesses[0].what ? f->accesses[0].what : f->accesses[1].what;
}

struct finding_set *explore_sighted(const struct explore_result *r, const struct trace_sites *sites)
{
	struct finding_set *set = finding_set_new();

	for (size_t i = 0; i < r->seen_count; i++)
		if (trace_sites_find(sites, r->seen[i][0]) && trace_sites_find(sites, r->seen[i][1]))
			add(set, sites, r->seen[i]);
	finding_set_finish(set);
	return set;
}

/* ---- races that are already known ---- */

static bool is_at(const struct finding_access *a, const struct finding_access *b)
{
	const struct finding_frame *x = finding_top(&a->stack), *y = finding_top(&b->stack);

	return x->file && y->file && x->line == y->line && !strcmp(x->file, y->file);
}

static bool is_same(const struct finding *f, const struct finding *g)
{
	for (int k = 0; k < 2 && g->kind == FINDING_RACE && g->access_count == 2; k++)
		if (is_at(&f->accesses[0], &g->accesses[k]) && is_at(&f->accesses[1], &g->accesses[1 - k]))
			return true;
	return false;
}

/* Returns true if the set has the race.  If no replay of a predicted race has met it, notes that the
 * detector saw it, since whether a replay meets it by chance depends on time. */
static bool is_known(struct finding_set *set, const struct finding *f)
{
	bool known = false;

	for (size_t i = 0; i < set->count; i++) {
		struct finding *g = set->items[i];

		if (!is_same(f, g))
			continue;
		known = true;
		if (g->status != FINDING_UNCONFIRMED || g->unordered)
			continue;
		g->unordered = true;
		g->reason = g->reason ? finding_textf(set, "%s; %s", SIGHTED, g->reason)
				      : finding_text(set, SIGHTED);
	}
	return known;
}

void explore_put_sighted(struct finding_set *set, const struct finding_set *sighted)
{
	size_t count = set->count;

	for (size_t i = 0; sighted && i < sighted->count; i++)
		if (!is_known(set, sighted->items[i]))
			finding_set_put(set, sighted->items[i]);
	if (set->count > count)
		finding_set_finish(set);
}
