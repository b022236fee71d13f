// SPDX-License-Identifier: Apache-2.0
/*
 * Pairs of conflicting places.  In: pairs of sites.  Out: sorted pairs of places in the source,
 * each with the first schedule that showed one order and the first that showed the other.
 *
 * Several sites may belong to one place, as in a statement that reads and writes, or in a template.
 * Places without a file are left out, since a user could not look them up.
 */
#include "explore/cover.h"

#include "base/alloc.h"
#include "base/error.h"
#include "finding/pair.h"

#include <stdlib.h>
#include <string.h>

void cover_release(struct cover *c)
{
	free(c->pairs);
	rd_umap_release(&c->known);
	*c = (struct cover){0};
}

bool cover_has(const struct cover *c, uint64_t sites)
{
	return rd_umap_get(&c->known, sites) != NULL;
}

/* If the pair is known, keeps the lower number in `first`, because notes do not arrive in the order
 * of schedules. */
bool cover_add(struct cover *c, uint64_t sites, uint64_t first)
{
	bool fresh;
	uint64_t *at = rd_umap_put(&c->known, sites, &fresh);

	if (fresh) {
		RD_GROW(c->pairs, c->capacity, c->count + 1);
		c->pairs[c->count++] = (struct cover_pair){sites, first};
		*at = c->count;
	} else if (first < c->pairs[*at - 1].first) {
		c->pairs[*at - 1].first = first;
	}
	RD_ASSERT(*at >= 1 && *at <= c->count && c->pairs[*at - 1].sites == sites);
	return fresh;
}

/* ---- places ---- */

struct place {
	struct trace_frame frame;
	const char *what;
	bool lock;
};

static bool find_place(const struct trace_sites *sites, uint32_t number, struct place *p)
{
	const struct trace_site *site = trace_sites_find(sites, number);

	if (!site || !trace_sites_frames(sites, number, &p->frame, 1) || !*p->frame.file)
		return false;
	p->lock = site->kind == TRACE_SITE_CALL;
	p->what = p->lock || !site->what ? "" : site->what;
	return true;
}

static int compare_frames(const struct finding_frame *a, const struct finding_frame *b)
{
	int files = strcmp(a->file, b->file);

	if (files)
		return files;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return strcmp(a->function, b->function);
}

static int compare_pairs(const void *left, const void *right)
{
	const struct finding_pair *a = left, *b = right;
	int first = compare_frames(&a->place[0], &b->place[0]);

	return first ? first : compare_frames(&a->place[1], &b->place[1]);
}

static struct finding_frame frame_of(struct finding_set *set, const struct place *p)
{
	return (struct finding_frame){.file = finding_text(set, p->frame.file),
				      .function = finding_text(set, p->frame.function),
				      .line = p->frame.line};
}

/* Makes a pair whose first place is the one that comes first in the source. */
static struct finding_pair make_pair(struct finding_set *set, const struct place p[2], uint64_t first)
{
	struct finding_pair pair = {.place = {frame_of(set, &p[0]), frame_of(set, &p[1])},
				    .first = {first, 0},
				    .lock = p[0].lock && p[1].lock};
	int order = compare_frames(&pair.place[0], &pair.place[1]);

	pair.object = *p[0].what   ? finding_text(set, p[0].what)
		      : *p[1].what ? finding_text(set, p[1].what)
				   : NULL;
	if (order == 0)
		pair.first[1] = first;
	if (order > 0)
		pair = (struct finding_pair){.place = {pair.place[1], pair.place[0]},
					     .first = {0, first},
					     .lock = pair.lock,
					     .object = pair.object};
	return pair;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Merges pairs of the same places. */
static size_t merge(struct finding_pair *pairs, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (!kept || compare_pairs(&pairs[kept - 1], &pairs[i])) {
			pairs[kept++] = pairs[i];
			continue;
		}
		for (int k = 0; k < 2; k++)
			pairs[kept - 1].first[k] = earlier(pairs[kept - 1].first[k], pairs[i].first[k]);
		pairs[kept - 1].lock &= pairs[i].lock;
		if (!pairs[kept - 1].object)
			pairs[kept - 1].object = pairs[i].object;
	}
	return kept;
}

void cover_describe(const struct cover *c, const struct trace_sites *sites, struct finding_set *set)
{
	struct finding_pair *pairs = finding_array(set, c->count + 1, sizeof *pairs);
	size_t count = 0;

	for (size_t i = 0; i < c->count && sites; i++) {
		struct place p[2];

		if (find_place(sites, (uint32_t)(c->pairs[i].sites >> 32), &p[0]) &&
		    find_place(sites, (uint32_t)c->pairs[i].sites, &p[1]))
			pairs[count++] = make_pair(set, p, c->pairs[i].first);
	}
	qsort(pairs, count, sizeof *pairs, compare_pairs);
	set->pairs = pairs;
	set->pair_count = merge(pairs, count);
	RD_ASSERT(set->pair_count <= count);
}
