// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the accesses that are executed under a weaker memory model (classify/tracks-int.h).  In:
 * findings with schedules, and the stores that were published in runs.  Out: lists for schedules.
 */
#include "classify/tracks-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "finding/place.h"
#include "replay/plan.h"

#include <stdlib.h>
#include <string.h>

/* If runs report at most this many pairs of a store and a read of shared memory, threads may be
 * switched at all of these accesses.  Chosen by hand. */
#define SHARED_MOST 64

static bool is_same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static struct model_track *find(struct tracks *t, uint32_t site)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].site == site)
			return &t->items[i];
	return NULL;
}

static void add(struct tracks *t, struct model_track track)
{
	struct model_track *old = find(t, track.site);

	if (old) {
		old->point_only &= track.point_only;
		old->racy |= track.racy;
		if (!old->object)
			old->object = track.object;
		return;
	}
	RD_ASSERT(t->count <= RADDLE_MEMORY_SITES);
	if (t->count == RADDLE_MEMORY_SITES)
		return;
	RD_GROW(t->items, t->capacity, t->count + 1);
	t->items[t->count++] = track;
}

static void add_site(struct tracks *t, uint32_t site, const char *object, bool point_only, bool racy)
{
	const struct trace_site *s = trace_sites_find(t->sites, site);

	if (s && trace_site_accesses(s))
		add(t, (struct model_track){site, trace_site_writes(s), point_only, racy, object});
}

void tracks_gather(struct tracks *t, const struct finding_set *set, const struct trace_sites *sites)
{
	*t = (struct tracks){.sites = sites};
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];
		const struct schedule *s = f->kind == FINDING_RACE ? f->schedule : NULL;

		for (size_t k = 0; s && k < s->goal_count; k++) {
			const struct schedule_goal *g = &s->goals[k];
			uint32_t site;

			if (plan_find_goal(sites, g, &site))
				add_site(t, site, f->object.name, false, true);
		}
	}
}

void tracks_copy(struct tracks *t, const struct tracks *from)
{
	*t = (struct tracks){.sites = from->sites};
	for (size_t i = 0; i < from->count; i++)
		add(t, from->items[i]);
}

void tracks_release(struct tracks *t)
{
	RD_FREE(t->items, t->edges);
	*t = (struct tracks){0};
}

static void add_edge(struct tracks *t, uint32_t site, const char *object)
{
	for (size_t i = 0; i < t->edge_count; i++)
		if (t->edges[i].site == site && is_same(t->edges[i].object, object))
			return;
	RD_GROW(t->edges, t->edge_capacity, t->edge_count + 1);
	t->edges[t->edge_count++] = (struct track_edge){site, object};
}

/* If the program has few accesses to shared memory, threads may be switched at all of them. */
void tracks_add_published(struct tracks *t, const struct raddle_published *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct model_track *through = find(t, pairs[i].through);
		const char *object = through ? through->object : NULL;

		if (pairs[i].through == 0 && count <= SHARED_MOST) {
			add_site(t, pairs[i].store, NULL, true, false);
			add_site(t, pairs[i].read, NULL, true, false);
		}
		if (!through)
			continue;
		add_site(t, pairs[i].store, object, false, false);
		add_site(t, pairs[i].read, object, true, false);
		add_edge(t, pairs[i].store, object);
	}
}

static bool has_object(const struct track_objects *objects, const char *name)
{
	for (size_t i = 0; i < objects->count; i++)
		if (is_same(objects->names[i], name))
			return true;
	return false;
}

bool tracks_objects(const struct tracks *t, struct track_objects *objects)
{
	objects->count = 0;
	for (size_t i = 0; i < t->count; i++) {
		const struct model_track *item = &t->items[i];

		if (!item->racy || !item->object || has_object(objects, item->object))
			continue;
		if (objects->count == BLAME_PARTS)
			return false;
		objects->names[objects->count++] = item->object;
	}
	return true;
}

/* Returns true if the access belongs to a race about one of these objects, if such a race publishes
 * it, or if its object is not known.  If a store belongs to a race itself, it does not matter which
 * races publish it. */
static bool is_of(const struct tracks *t, const struct model_track *track, const struct track_objects *only)
{
	bool is = !track->object || has_object(only, track->object);

	for (size_t i = 0; i < t->edge_count && !is && !track->racy; i++)
		is = t->edges[i].site == track->site && has_object(only, t->edges[i].object);
	return is;
}

void tracks_fill(const struct tracks *t, const struct track_objects *only, struct schedule *lists)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct model_track *item = &t->items[i];
		struct schedule_place place = schedule_place_of(NULL, t->sites, item->site);
		struct schedule_watch *w = schedule_add_watch(lists);

		w->site = item->site;
		w->reads = !item->write;
		w->writes = item->write;
		w->place = place;
		if (!item->point_only && (!only || is_of(t, item, only)))
			*schedule_add_track(lists) = (struct schedule_track){item->site, item->write, place};
	}
}
