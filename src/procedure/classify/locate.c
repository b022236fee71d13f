// SPDX-License-Identifier: Apache-2.0
/*
 * Finds races at given places.  In: pairs of places.  Out: findings with schedules that lead two
 * threads to these places.
 *
 * The program is run once for each pair, with its threads taking turns.  After each operation of a
 * thread, the program is stopped at the first access that the thread makes at one of the two
 * places.  If no race is found, the program is run again and stopped at all accesses there.  The
 * race consists of the first two accesses by different threads that overlap, at least one of them a
 * write.  A write and a read are preferred to two writes, because in x++ the read comes before the
 * write.  Classification finds out later whether both orders are possible.
 */
#include "classify/locate.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "trial/trial.h"
#include "classify/occurrences-int.h"
#include "finding/place.h"
#include "trace/sites.h"

#include <inttypes.h>
#include <string.h>

struct search {
	const struct classify_pair *pair;
	struct occurrences occurrences;
};

/* ---- sites ---- */

static bool is_same_file(const char *path, const char *wanted)
{
	size_t length = strlen(path), end = strlen(wanted);

	return length >= end && !strcmp(path + length - end, wanted) &&
	       (length == end || path[length - end - 1] == '/');
}

/* An occurrences_at_fn.  Returns true if the site is at the first (`which` 0) or the second (1)
 * place of the pair. */
static bool is_at(const void *context, const struct trace_site *site, uint32_t number, int which)
{
	const struct search *l = context;
	const struct classify_place *place = &l->pair->places[which];
	const char *file = trace_sites_file(l->occurrences.sites, site->file);

	(void)number;
	return site->line == place->line && trace_site_accesses(site) &&
	       (is_same_file(file, place->file) || !strcmp(rd_base_name(file), place->file));
}

static bool has_function(const struct trace_sites *sites, const char *name)
{
	for (size_t i = 0; i < sites->site_count; i++)
		if (sites->sites[i].function && !strcmp(sites->sites[i].function, name))
			return true;
	return false;
}

/* If no thread can reach a place, writes the reason to `why` and returns true.  For instance, a
 * report that does not know the line of an access may name the line at which the function is
 * called. */
static bool is_nowhere(const struct search *l, int which, struct rd_buf *why)
{
	const struct classify_place *place = &l->pair->places[which];

	if (place->within && has_function(l->occurrences.sites, place->within))
		rd_buf_addf(why, "the report has no line for the access in %s", place->within);
	else if (!occurrences_sites(&l->occurrences, which))
		rd_buf_addf(why, "the program has no access at %s:%" PRIu32, place->file, place->line);
	return why->length != 0;
}

/* ---- choosing the race ---- */

/* Finds the first two occurrences that race; a write and a read are preferred. */
static bool find_pair(const struct occurrences *s, const struct occurrence *found[2])
{
	found[0] = found[1] = NULL;
	for (size_t i = 0; i < s->count; i++)
		for (size_t k = 0; k < i; k++) {
			const struct occurrence *a = &s->items[k], *b = &s->items[i];

			if (!occurrences_race(a, b) || (found[0] && a->write == b->write))
				continue;
			found[0] = a;
			found[1] = b;
			if (a->write != b->write)
				return true;
		}
	return found[0] != NULL;
}

/* ---- making the finding ---- */

static void add_access(struct finding_set *set, struct finding *f, const struct schedule_goal *g, size_t i)
{
	f->accesses[i] = (struct finding_access){.thread = finding_text(set, g->thread),
						 .what = finding_text(set, g->object),
						 .op = g->write ? FINDING_WRITE : FINDING_READ,
						 .stack = finding_stack_of(set, &g->place)};
}

static void add_finding(const struct occurrences *seen, const struct occurrence *const found[2],
			const struct classify *how, struct finding_set *set)
{
	struct finding *f = finding_add(set, FINDING_RACE);
	struct schedule *s = finding_schedule_add(set, f);

	s->program = schedule_text(s, how->runs.program->program->path);
	s->speculative = true;
	f->access_count = 2;
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	for (size_t i = 0; i < 2; i++) {
		struct schedule_goal *g = schedule_add_goal(s);

		*g = occurrences_goal(seen, found[i], s);
		add_access(set, f, g, i);
		f->object.name = finding_text(set, g->object);
	}
	f->reason = "its two places were given by the user";
}

/* ---- the search for each pair of places ---- */

/* Looks for the race at the first access after each operation.  If that fails, looks again at all
 * accesses, because the threads may touch the same memory only in a later iteration of a loop. */
static int look_for_pair(struct search *l, struct trial_bench *b, const struct occurrence *race[2],
			 bool *found)
{
	int err = occurrences_gather(&l->occurrences, b, 0);

	*found = !err && find_pair(&l->occurrences, race);
	if (err || *found)
		return err;
	l->occurrences.all = true;
	err = occurrences_gather(&l->occurrences, b, 0);
	*found = !err && find_pair(&l->occurrences, race);
	return err;
}

/* Finds the race of one pair.  If there is no access at one of its places, this is an error if the
 * pair is the only one, and a warning if there are several pairs. */
static int locate_one(struct trial_bench *b, const struct classify *how, const struct classify_pair *pair,
		      bool alone, struct finding_set *set, bool *found)
{
	struct search l = {.pair = pair};
	struct rd_buf why = RD_BUF_INIT;
	const struct occurrence *race[2];
	int err = RD_OK;

	*found = false;
	occurrences_init(&l.occurrences, b->conditions.program->sites, is_at, &l);
	if (is_nowhere(&l, 0, &why) || is_nowhere(&l, 1, &why)) {
		if (alone)
			err = rd_fail(RD_ENOTFOUND, "classify: %s", why.data);
		else
			rd_warn("%s", why.data);
	} else {
		err = look_for_pair(&l, b, race, found);
	}
	rd_buf_release(&why);
	if (!err && *found)
		add_finding(&l.occurrences, race, how, set);
	occurrences_release(&l.occurrences);
	return err;
}

int classify_locate(const struct classify *how, const struct classify_pairs *pairs, struct finding_set *set,
		    size_t *missing)
{
	struct trial_bench b;
	int err = trial_open(&b, &how->runs, NULL);

	*missing = 0;
	for (size_t i = 0; i < pairs->count && !err; i++) {
		bool found;

		err = locate_one(&b, how, &pairs->items[i], pairs->count == 1, set, &found);
		*missing += !err && !found;
	}
	trial_close(&b);
	finding_set_finish(set);
	return err;
}
