// SPDX-License-Identifier: Apache-2.0
/*
 * From places to races.  In: pairs of places.  Out: findings with schedules that lead two threads there.
 *
 * The program is run once for each pair; its threads take turns, and it stands at each access at one of the
 * two places.  The first two accesses of different threads that overlap, one of them a write, are the race; a
 * write and a read are preferred to two writes, since the write of x++ has read before.
 * Nothing says that both orders are possible: that is for the classification to find out.
 */
#include "classify/locate.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "classify/bench.h"
#include "trace/sites.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SEEN 300 /* accesses, then the run has shown enough */

/* An access that the program stood at. */
struct sight {
	char thread[128];
	uint64_t n, address, size;
	uint32_t site, occurrence;
	bool write;
	bool at[2]; /* which places it is at */
};

struct search {
	const struct trace_sites *sites;
	const struct classify_pair *pair;
	struct sight seen[MOST_SEEN];
	size_t count;
	bool found;
	size_t first, second; /* positions in `seen` */
};

/* ---- sites ---- */

static bool is_same_file(const char *path, const char *wanted)
{
	size_t length = strlen(path), end = strlen(wanted);

	return length >= end && !strcmp(path + length - end, wanted) &&
	       (length == end || path[length - end - 1] == '/');
}

static bool is_at(const struct trace_sites *sites, const struct trace_site *s,
		  const struct classify_place *place)
{
	const char *file = trace_sites_file(sites, s->file);

	return s->line == place->line && trace_site_accesses(s) &&
	       (is_same_file(file, place->file) || !strcmp(rd_base_name(file), place->file));
}

/* The program is to stand at each access of the place; how many sites that has. */
static size_t watch_place(const struct trace_sites *sites, const struct classify_place *place,
			  struct schedule *s)
{
	size_t n = 0;

	for (size_t u = 0; u < sites->unit_count; u++)
		for (size_t i = 0; i < sites->units[u].site_count; i++) {
			const struct trace_site *site = &sites->sites[sites->units[u].site + i];
			struct schedule_watch *w;

			if (!is_at(sites, site, place))
				continue;
			w = schedule_add_watch(s);
			w->after = SCHEDULE_ALWAYS;
			w->site = trace_sites_number(sites, u, site);
			w->reads = w->writes = true;
			w->stand = true;
			n++;
		}
	return n;
}

/* ---- the run ---- */

static bool overlap(const struct sight *a, const struct sight *b)
{
	return a->address < b->address + b->size && b->address < a->address + a->size;
}

static bool is_race(const struct sight *a, const struct sight *b)
{
	return strcmp(a->thread, b->thread) != 0 && overlap(a, b) && (a->write || b->write) &&
	       ((a->at[0] && b->at[1]) || (a->at[1] && b->at[0]));
}

static void look_for_pair(struct search *l)
{
	const struct sight *now = &l->seen[l->count - 1];

	for (size_t i = 0; i + 1 < l->count; i++) {
		const struct sight *a = &l->seen[i];
		bool better = !l->found || l->seen[l->first].write == l->seen[l->second].write;

		if (!is_race(a, now) || !better || (l->found && a->write == now->write))
			continue;
		l->first = i;
		l->second = l->count - 1;
		l->found = true;
	}
}

/* Only the first record of a site behind an operation is counted the same way while threads are led. */
static bool is_first_of_site(const struct search *l, const struct sight *now)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->seen[i].site == now->site && l->seen[i].n == now->n &&
		    !strcmp(l->seen[i].thread, now->thread))
			return false;
	return true;
}

static bool see(void *context, const struct replay_stand *stand, struct schedule *more, const char **next)
{
	struct search *l = context;
	const struct replay_spot *spot = stand->spot;
	const struct trace_site *site = spot ? trace_sites_find(l->sites, spot->site) : NULL;
	struct sight now = {0};

	(void)more;
	(void)next;
	if (!site)
		return false;
	now = (struct sight){.n = spot->n,
			     .address = spot->address,
			     .size = spot->size,
			     .site = spot->site,
			     .write = spot->write};
	snprintf(now.thread, sizeof now.thread, "%s", spot->thread);
	for (int i = 0; i < 2; i++)
		now.at[i] = is_at(l->sites, site, &l->pair->places[i]);
	if (is_first_of_site(l, &now)) {
		l->seen[l->count++] = now;
		look_for_pair(l);
	}
	if (l->count == MOST_SEEN)
		kill(stand->pid, SIGKILL);
	return false;
}

/* ---- the finding ---- */

static struct schedule_place place_of(struct schedule *s, const struct trace_sites *sites, uint32_t site)
{
	struct trace_frame frame = {.file = "", .function = ""};

	trace_sites_frames(sites, site, &frame, 1);
	return (struct schedule_place){.file = schedule_text(s, frame.file),
				       .function = schedule_text(s, frame.function),
				       .line = frame.line,
				       .column = frame.column};
}

static void add_access(struct finding_set *set, struct finding *f, const struct schedule_goal *g, size_t i)
{
	struct finding_frame *frame = finding_array(set, 1, sizeof *frame);

	*frame = (struct finding_frame){.function = finding_text(set, g->place.function),
					.file = finding_text(set, g->place.file),
					.line = g->place.line,
					.column = g->place.column};
	f->accesses[i] = (struct finding_access){.thread = finding_text(set, g->thread),
						 .what = finding_text(set, g->object),
						 .op = g->write ? FINDING_WRITE : FINDING_READ,
						 .stack = {frame, 1}};
}

static void add_finding(const struct search *l, const struct classify *how, struct finding_set *set)
{
	struct finding *f = finding_add(set, FINDING_RACE);
	struct schedule *s = finding_schedule_add(set, f);
	const struct sight *sights[] = {&l->seen[l->first], &l->seen[l->second]};

	s->program = schedule_text(s, how->program->program->path);
	s->speculative = true;
	f->access_count = 2;
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	for (size_t i = 0; i < 2; i++) {
		const struct trace_site *site = trace_sites_find(l->sites, sights[i]->site);
		struct schedule_goal *g = schedule_add_goal(s);

		*g = (struct schedule_goal){.thread = schedule_text(s, sights[i]->thread),
					    .after = sights[i]->n,
					    .occurrence = 1,
					    .site = sights[i]->site,
					    .write = sights[i]->write,
					    .object = schedule_text(s, site->what),
					    .place = place_of(s, l->sites, sights[i]->site)};
		add_access(set, f, g, i);
		f->object.name = finding_text(set, g->object);
	}
	f->reason = "somebody named its places";
}

/* ---- the whole ---- */

static int locate_one(struct trial_bench *b, const struct classify *how, const struct classify_pair *pair,
		      struct finding_set *set, bool *found)
{
	struct search *l = rd_xcalloc(1, sizeof *l);
	struct schedule s;
	struct trial t;
	int err = RD_OK;

	schedule_init(&s);
	s.turns = true;
	l->sites = b->how.program->sites;
	l->pair = pair;
	for (int i = 0; i < 2 && !err; i++)
		if (!watch_place(l->sites, &pair->places[i], &s))
			err = rd_fail(RD_ENOTFOUND, "classify: the program has no access at %s:%" PRIu32,
				      pair->places[i].file, pair->places[i].line);
	if (!err)
		err = trial_look(b, &s, see, l, &t);
	*found = !err && l->found;
	if (*found)
		add_finding(l, how, set);
	schedule_release(&s);
	free(l);
	return err;
}

int classify_locate(const struct classify *how, const struct classify_pairs *pairs, struct finding_set *set,
		    size_t *missing)
{
	struct trial_how runs = classify_runs(how);
	struct trial_bench b;
	int err = trial_open(&b, &runs, NULL);

	*missing = 0;
	for (size_t i = 0; i < pairs->count && !err; i++) {
		bool found;

		err = locate_one(&b, how, &pairs->items[i], set, &found);
		*missing += !err && !found;
	}
	trial_close(&b);
	finding_set_finish(set);
	return err;
}
