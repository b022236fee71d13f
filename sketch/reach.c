// SPDX-License-Identifier: Apache-2.0
/*
 * From a slice to sites.  In: a place and the table of sites.  Out: where a run is watched.
 *
 * A statement of the slice and a site are the same if file and line are: columns of macros differ between the
 * two.
 */
#include "sketch/reach.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SITES 4000 /* that a run can be watched at */

static bool is_same_file(const char *a, const char *b)
{
	return !strcmp(a, b) || !strcmp(rd_base_name(a), rd_base_name(b));
}

uint32_t reach_distance(struct reach *r, const struct sketch_statement *s)
{
	for (size_t i = 0; r->sliced && i < r->slice.count; i++) {
		struct sketch_statement it = slice_statement(&r->slice, i);

		if (it.line == s->line && it.file && is_same_file(it.file, s->file))
			return it.distance;
	}
	return UINT32_MAX;
}

/* "next" of "queue->head.next": the last member; NULL: it is no member of anything. */
static const char *member_of(const char *name)
{
	const char *dot = strrchr(name, '.'), *arrow = strrchr(name, '>');
	const char *last = dot > arrow ? dot : arrow;

	return last ? last + 1 : NULL;
}

/* Whether both may be the same variable, or members of the same name, as far as names tell. */
static bool may_be_same(const char *a, const char *b)
{
	const char *x = member_of(a), *y = member_of(b);

	return !strcmp(a, b) || (x && y && !strcmp(x, y));
}

/* Whether a statement of the slice has that name or lies on that line. */
static bool is_reached(struct reach *r, const struct trace_sites *sites, const struct trace_site *site)
{
	const char *file = trace_sites_file(sites, site->file);

	for (size_t i = 0; i < r->slice.count; i++) {
		struct sketch_statement it = slice_statement(&r->slice, i);

		if (it.line == site->line && it.file && is_same_file(it.file, file))
			return true;
		if (sketch_is_access(it.kind) && it.variable && site->what &&
		    may_be_same(it.variable, site->what))
			return true;
	}
	return false;
}

/* A call is an access where it releases memory. */
static bool is_watchable(const struct trace_site *site)
{
	return trace_site_accesses(site) || site->kind == TRACE_SITE_CALL;
}

/* Who frees memory may have a part in whatever happens to it. */
static bool is_release(const struct trace_site *site)
{
	return site->kind == TRACE_SITE_CALL && site->what &&
	       (!strcmp(site->what, "free") || !strcmp(site->what, "realloc"));
}

static void find_sites(struct reach *r, const struct trace_sites *sites)
{
	for (size_t u = 0; u < sites->unit_count; u++)
		for (size_t i = 0; i < sites->units[u].site_count && r->count < MOST_SITES; i++) {
			const struct trace_site *site = &sites->sites[sites->units[u].site + i];

			if (!is_watchable(site) || (!is_release(site) && !is_reached(r, sites, site)))
				continue;
			RD_GROW(r->sites, r->capacity, r->count + 1);
			r->sites[r->count++] = trace_sites_number(sites, u, site);
		}
}

int reach_open(struct reach *r, const struct facts *facts, const struct trace_sites *sites, const char *file,
	       uint32_t line)
{
	struct slice_place at = {0};
	struct rd_context quiet = {.log = rd_log_discard};
	int err;

	*r = (struct reach){0};
	rd_context_enter(&quiet);
	err = slice_find(&at, facts, file, line);
	rd_context_leave(&quiet);
	if (!err) {
		slice_make(&r->slice, facts, &at);
		r->sliced = true;
		find_sites(r, sites);
	}
	slice_place_release(&at);
	return RD_OK;
}

void reach_close(struct reach *r)
{
	if (r->sliced)
		slice_release(&r->slice);
	free(r->sites);
	*r = (struct reach){0};
}
