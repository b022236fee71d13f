// SPDX-License-Identifier: Apache-2.0
/*
 * Maps a slice to sites.  In: a place and the site table.  Out: the sites at which a run is
 * watched.
 *
 * A statement of the slice and a site match if file and line are equal.  Columns are ignored,
 * because slices and site tables have different columns for code in macros.
 */
#include "sketch/reach-int.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/context.h"
#include "base/error.h"
#include "base/file.h"
#include "facts/role.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SITES 4000 /* largest number of sites at which a run is watched */

/* Returns the last member of a name, such as "next" in "queue->head.next", or NULL if the name has
 * no member. */
static const char *member_of(const char *name)
{
	const char *dot = strrchr(name, '.'), *arrow = strrchr(name, '>');
	const char *last = dot > arrow ? dot : arrow;

	return last ? last + 1 : NULL;
}

/* ---- names in the slice ---- */

/* Makes the key of a line.  Keys of lines, variables and members differ in their first letter. */
static void line_key(struct rd_buf *key, const char *file, uint32_t line)
{
	rd_buf_clear(key);
	rd_buf_addf(key, "l%s:%" PRIu32, rd_base_name(file), line);
}

static void name_key(struct rd_buf *key, char kind, const char *name)
{
	rd_buf_clear(key);
	rd_buf_addf(key, "%c%s", kind, name);
}

static void note(struct reach *r, const struct rd_buf *key, uint32_t distance)
{
	size_t known = r->keys.count;
	uint32_t n = rd_names_put(&r->keys, key->data, key->length);

	RD_GROW(r->nearest, r->nearest_capacity, n + 1);
	if (n == known || distance < r->nearest[n])
		r->nearest[n] = distance;
}

static uint32_t find(const struct reach *r, const struct rd_buf *key)
{
	uint32_t n;

	return rd_names_find(&r->keys, key->data, key->length, &n) ? r->nearest[n] : UINT32_MAX;
}

static void note_slice(struct reach *r)
{
	struct rd_buf key = RD_BUF_INIT;

	for (size_t i = 0; i < r->slice.count; i++) {
		struct slice_statement it = slice_statement_at(&r->slice, i);
		const char *member = it.variable ? member_of(it.variable) : NULL;

		if (it.file) {
			line_key(&key, it.file, it.line);
			note(r, &key, it.distance);
		}
		if (!slice_is_access(it.kind) || !it.variable)
			continue;
		name_key(&key, 'v', it.variable);
		note(r, &key, it.distance);
		if (member) {
			name_key(&key, 'm', member);
			note(r, &key, it.distance);
		}
	}
	rd_buf_release(&key);
}

/* Records the names of the functions that synchronise.  Runs stop at their operations anyway, so
 * calls of these functions are not watched. */
static void note_operations(struct reach *r, const struct facts *f)
{
	struct rd_buf key = RD_BUF_INIT;

	for (size_t i = 0; i < f->function_count; i++)
		if (facts_role_synchronises(f->functions[i].role)) {
			name_key(&key, 's', facts_string(f, f->functions[i].name));
			note(r, &key, 0);
		}
	rd_buf_release(&key);
}

static bool is_operation(const struct reach *r, const struct trace_site *site)
{
	struct rd_buf key = RD_BUF_INIT;
	bool known;

	if (site->kind != TRACE_SITE_CALL || !site->what)
		return false;
	name_key(&key, 's', site->what);
	known = find(r, &key) == 0;
	rd_buf_release(&key);
	return known;
}

uint32_t reach_distance(const struct reach *r, const struct slice_statement *s)
{
	struct rd_buf key = RD_BUF_INIT;
	uint32_t distance;

	line_key(&key, s->file, s->line);
	distance = r->sliced ? find(r, &key) : UINT32_MAX;
	rd_buf_release(&key);
	return distance;
}

/* ---- sites ---- */

/* Returns true if one of the first `sigma` statements of the slice is on the line of the site, or
 * accesses a variable or member of the same name.  Only names are compared. */
static bool is_reached(const struct reach *r, const struct trace_sites *sites, const struct trace_site *site,
		       uint32_t sigma)
{
	struct rd_buf key = RD_BUF_INIT;
	const char *member = site->what ? member_of(site->what) : NULL;
	bool reached;

	line_key(&key, trace_sites_file(sites, site->file), site->line);
	reached = find(r, &key) < sigma;
	if (!reached && site->what) {
		name_key(&key, 'v', site->what);
		reached = find(r, &key) < sigma;
	}
	if (!reached && member) {
		name_key(&key, 'm', member);
		reached = find(r, &key) < sigma;
	}
	rd_buf_release(&key);
	return reached;
}

/* Returns true if the site can be watched.  A call may release memory, which is an access. */
static bool is_watchable(const struct trace_site *site)
{
	return trace_site_accesses(site) || site->kind == TRACE_SITE_CALL;
}

/* Returns true if the site releases memory, which may matter for any access to that memory. */
static bool is_release(const struct trace_site *site)
{
	return site->kind == TRACE_SITE_CALL && site->what &&
	       (!strcmp(site->what, "free") || !strcmp(site->what, "realloc"));
}

void reach_sites(struct reach *r, const struct trace_sites *sites, uint32_t sigma)
{
	r->count = 0;
	for (size_t u = 0; r->sliced && u < sites->unit_count; u++)
		for (size_t i = 0; i < sites->units[u].site_count && r->count < MOST_SITES; i++) {
			const struct trace_site *site = &sites->sites[sites->units[u].site + i];

			if (!is_watchable(site) || is_operation(r, site) ||
			    (!is_release(site) && !is_reached(r, sites, site, sigma)))
				continue;
			RD_GROW(r->sites, r->capacity, r->count + 1);
			r->sites[r->count++] = trace_sites_number(sites, u, site);
		}
	RD_ASSERT(r->count <= MOST_SITES);
}

int reach_open(struct reach *r, const struct facts *facts, const char *file, uint32_t line)
{
	struct slice_place at = {0};
	struct rd_context quiet = {.log = rd_log_discard};
	int err;

	*r = (struct reach){.keys = RD_NAMES_INIT};
	rd_context_enter(&quiet);
	err = slice_find(&at, facts, file, line);
	rd_context_leave(&quiet);
	if (!err) {
		slice_make(&r->slice, facts, &at);
		r->sliced = true;
		note_slice(r);
		note_operations(r, facts);
	}
	slice_place_release(&at);
	return RD_OK;
}

void reach_close(struct reach *r)
{
	if (r->sliced)
		slice_release(&r->slice);
	rd_names_release(&r->keys);
	RD_FREE(r->sites, r->nearest);
	*r = (struct reach){0};
}
