// SPDX-License-Identifier: Apache-2.0
/*
 * Removes findings of exploration that are already known (known.h).  In: findings of prediction and
 * of exploration.  Out: the findings that add information.  This file starts no program.
 */
#include "explore/known.h"

#include "base/alloc.h"
#include "base/file.h"
#include "finding/schedule.h"

#include <stdlib.h>
#include <string.h>

static bool is_at(const struct finding_stack *a, const struct finding_stack *b)
{
	return a->count && b->count && a->frames[0].file && b->frames[0].file &&
	       a->frames[0].line == b->frames[0].line && !strcmp(a->frames[0].file, b->frames[0].file);
}

/* Returns true if each wait of deadlock `f` is also a wait of the confirmed deadlock `of`.  For
 * failures, returns true if `f` is at the place of the confirmed failure `of`. */
static bool is_part(const struct finding *f, const struct finding *of)
{
	bool all = f->kind == of->kind && of->status == FINDING_CONFIRMED && f->cycle_count;

	for (size_t i = 0; i < f->cycle_count && all; i++) {
		bool found = false;

		for (size_t k = 0; k < of->cycle_count && !found; k++)
			found = is_at(&f->cycle[i].stack, &of->cycle[k].stack);
		all = found;
	}
	return all;
}

/* Returns true if a deadlock or failure comes from exploration.  Those from other methods have
 * schedules without turns. */
static bool is_explored(const struct finding *f)
{
	return f->kind != FINDING_RACE && f->schedule && f->schedule->turns;
}

bool explore_is_part(const struct finding_set *set, const struct finding *f)
{
	for (size_t i = 0; i < set->count; i++)
		if (!is_explored(set->items[i]) && is_part(f, set->items[i]))
			return true;
	return false;
}

/* Returns true if a finding of exploration is left out.  It may be known from another method, which
 * gives more information.  It may be a bare abort(), which may only mean that an assumption of the
 * program does not hold.  Or it may be a hang of a program that never ends by itself anyway. */
static bool is_to_leave(const struct finding_set *set, const struct finding *f, bool endless)
{
	if (!is_explored(f))
		return false;
	if (f->consequence &&
	    (!strcmp(f->consequence, "abort") || (endless && !strcmp(f->consequence, "hang"))))
		return true;
	return explore_is_part(set, f);
}

void explore_leave_known(struct finding_set *set, bool endless)
{
	size_t kept = 0, count = set->count;
	bool *leave = rd_xcalloc(count + 1, sizeof *leave);

	for (size_t i = 0; i < count; i++)
		leave[i] = is_to_leave(set, set->items[i], endless);
	for (size_t i = 0; i < count; i++)
		if (!leave[i])
			set->items[kept++] = set->items[i];
	set->count = kept;
	free(leave);
}

/* ---- failures of races ---- */

/* Only the last components of file names are compared, because the file name of a failure may lack
 * its directory. */
static bool is_near(const struct finding_frame *a, const struct finding_frame *b)
{
	return a->file && b->file && a->line == b->line &&
	       !strcmp(rd_base_name(a->file), rd_base_name(b->file));
}

/* Returns true if the race is known to cause the failure: classification has shown that the race
 * has this consequence, and the program failed at one of its accesses. */
static bool is_failure_of(const struct finding *f, const struct finding *race)
{
	if (!f->consequence || f->cycle_count != 1 || race->class != FINDING_SPEC_VIOLATED ||
	    !race->consequence || strcmp(f->consequence, race->consequence) != 0)
		return false;
	for (size_t i = 0; i < race->access_count; i++)
		if (is_near(finding_top(&f->cycle[0].stack), finding_top(&race->accesses[i].stack)))
			return true;
	return false;
}

void explore_join_failures(struct finding_set *set)
{
	size_t kept = 0, count = set->count;

	for (size_t i = 0; i < count; i++) {
		struct finding *f = set->items[i];
		bool known = false;

		for (size_t k = 0; k < count && is_explored(f) && f->kind == FINDING_FAILURE; k++)
			known |= (k < kept || k > i) && is_failure_of(f, set->items[k]);
		if (!known)
			set->items[kept++] = f;
	}
	set->count = kept;
}

/* ---- races ---- */

static bool is_at_site(const struct finding_access *a, const struct trace_sites *sites, uint32_t site)
{
	struct trace_frame frame = trace_sites_frame(sites, site);
	const struct finding_frame *top = a->stack.count ? &a->stack.frames[0] : NULL;

	return top && top->file && top->line == frame.line && !strcmp(top->file, frame.file);
}

static bool is_race_at(const struct finding *f, const struct trace_sites *sites, const uint32_t site[2])
{
	if (f->kind != FINDING_RACE || f->status != FINDING_CONFIRMED || f->access_count != 2)
		return false;
	for (int k = 0; k < 2; k++)
		if (is_at_site(&f->accesses[0], sites, site[k]) &&
		    is_at_site(&f->accesses[1], sites, site[1 - k]))
			return true;
	return false;
}

bool explore_is_known(const struct finding_set *set, const struct trace_sites *sites, const uint32_t site[2])
{
	for (size_t i = 0; i < set->count; i++)
		if (is_race_at(set->items[i], sites, site))
			return true;
	return false;
}

static bool is_suggested(const struct finding_set *set, const struct trace_sites *sites, uint32_t site)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];

		if (f->kind != FINDING_RACE || f->status > FINDING_UNCONFIRMED)
			continue;
		for (size_t k = 0; k < f->access_count; k++)
			if (is_at_site(&f->accesses[k], sites, site))
				return true;
	}
	return false;
}

size_t explore_suggested(const struct finding_set *set, const struct trace_sites *sites, uint32_t *to,
			 size_t most)
{
	size_t count = 0;

	for (size_t u = 0; sites && u < sites->unit_count; u++) {
		const struct trace_unit *unit = &sites->units[u];

		for (size_t i = unit->site; i < unit->site + unit->site_count && count < most; i++) {
			uint32_t site = trace_sites_number(sites, u, &sites->sites[i]);

			if (sites->sites[i].kind < TRACE_SITE_FENCE && is_suggested(set, sites, site))
				to[count++] = site;
		}
	}
	return count;
}
