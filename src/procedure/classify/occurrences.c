// SPDX-License-Identifier: Apache-2.0
/*
 * Finds where threads reach two accesses.  In: the sites of the accesses.  Out: occurrences.  An
 * occurrence is identified by its thread and by the number of operations that the thread has done
 * before it.
 */
#include "classify/occurrences-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "finding/place.h"
#include "raddle/steer.h"

#include <stdlib.h>
#include <string.h>

void occurrences_init(struct occurrences *s, const struct trace_sites *sites, occurrences_at_fn *at,
		      const void *context)
{
	*s = (struct occurrences){.sites = sites, .at = at, .context = context, .arena = rd_arena_new()};
}

void occurrences_release(struct occurrences *s)
{
	free(s->items);
	rd_arena_free(s->arena);
	*s = (struct occurrences){0};
}

/* ---- sites ---- */

typedef void site_fn(void *context, uint32_t number);

static void each_site(const struct occurrences *s, int which, site_fn *fn, void *context)
{
	for (size_t u = 0; u < s->sites->unit_count; u++)
		for (size_t i = 0; i < s->sites->units[u].site_count; i++) {
			const struct trace_site *site = &s->sites->sites[s->sites->units[u].site + i];
			uint32_t number = trace_sites_number(s->sites, u, site);

			if (s->at(s->context, site, number, which))
				fn(context, number);
		}
}

static void count_site(void *context, uint32_t number)
{
	(void)number;
	++*(size_t *)context;
}

size_t occurrences_sites(const struct occurrences *s, int which)
{
	size_t n = 0;

	each_site(s, which, count_site, &n);
	return n;
}

/* Adds a watch that notes the accesses of a site. */
static void watch_site(void *context, uint32_t number)
{
	struct schedule_watch *w = schedule_add_watch(context);

	w->after = SCHEDULE_ALWAYS;
	w->site = number;
	w->reads = w->writes = true;
	w->stand = w->note = true;
}

/* ---- the run ---- */

static void take(struct occurrences *s, const char *thread, const struct raddle_steer_seen *seen)
{
	const struct trace_site *site = trace_sites_find(s->sites, seen->site);
	struct occurrence now = {.thread = thread,
				 .n = seen->n,
				 .address = seen->address,
				 .size = seen->size,
				 .site = seen->site,
				 .write = seen->write};

	if (!site)
		return;
	for (int i = 0; i < 2; i++)
		now.at[i] = s->at(s->context, site, seen->site, i);
	RD_GROW(s->items, s->capacity, s->count + 1);
	s->items[s->count++] = now;
}

/* Takes what the run has noted.  The program may have written any number, so slots are checked. */
static size_t take_all(void *context, const struct replay_result *result)
{
	struct occurrences *s = context;
	const struct replay_turns *turns = &result->turns;
	const char **names = rd_arena_alloc(s->arena, (turns->name_count + 1) * sizeof *names);

	for (uint32_t i = 0; i < turns->name_count; i++)
		names[i] = rd_arena_strndup(s->arena, turns->names[i], strlen(turns->names[i]));
	for (size_t i = 0; i < turns->seen_count; i++)
		if (turns->seen[i].slot < turns->name_count)
			take(s, names[turns->seen[i].slot], &turns->seen[i]);
	return 0;
}

int occurrences_gather(struct occurrences *s, struct trial_bench *b, uint64_t seed)
{
	struct schedule schedule;
	struct trial t;
	int err;

	s->count = 0;
	schedule_init(&schedule);
	schedule.turns = true;
	schedule.seed = seed;
	for (int i = 0; i < 2; i++)
		each_site(s, i, watch_site, &schedule);
	for (size_t i = 0; i < schedule.watch_count; i++)
		schedule.watches[i].once = !s->all;
	err = trial_run_with(b, &schedule, &(struct trial_hooks){.result = take_all, .context = s}, &t, NULL);
	schedule_release(&schedule);
	return err;
}

/* ---- pairs ---- */

bool occurrences_race(const struct occurrence *a, const struct occurrence *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size &&
	       (a->write || b->write) && ((a->at[0] && b->at[1]) || (a->at[1] && b->at[0])) &&
	       strcmp(a->thread, b->thread) != 0;
}

/* Returns the number of this occurrence among those of the same thread that are at the same site
 * and follow the same operation, counted from 1. */
static uint64_t occurrence_of(const struct occurrences *s, const struct occurrence *at)
{
	uint64_t n = 1;

	for (const struct occurrence *i = s->items; i < at; i++)
		n += i->n == at->n && i->site == at->site && !strcmp(i->thread, at->thread);
	return n;
}

struct schedule_goal occurrences_goal(const struct occurrences *s, const struct occurrence *at,
				      struct schedule *texts)
{
	const struct trace_site *site = trace_sites_find(s->sites, at->site);

	RD_ASSERT(site && at >= s->items && at < s->items + s->count);
	return (struct schedule_goal){.thread = schedule_text(texts, at->thread),
				      .after = at->n,
				      .occurrence = occurrence_of(s, at),
				      .site = at->site,
				      .write = at->write,
				      .object = schedule_text(texts, site->what),
				      .place = schedule_place_of(texts, s->sites, at->site)};
}
