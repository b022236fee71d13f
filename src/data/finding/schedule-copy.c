// SPDX-License-Identifier: Apache-2.0
/*
 * Copies schedules.  In: a schedule that borrows its strings from elsewhere.  Out: the same
 * schedule with strings of its own, as if it had been written and read.
 *
 * A run can have tens of thousands of decisions with few different strings.  So each string is
 * copied once, not once for each record.  A table finds the copy by the address of the original.
 */
#include "base/alloc.h"
#include "base/map.h"
#include "finding/schedule.h"

#include <string.h>

/* The number of entries of the table.  If the addresses of two strings lead to the same entry, one
 * displaces the other, which is then copied again.  Chosen by hand: most runs have fewer than 100
 * different strings. */
#define KEPT 256

struct kept {
	const char *from, *copy;
};

struct copier {
	struct schedule *to;
	struct kept kept[KEPT];
};

/* Returns a copy that the new schedule owns.  Schedule files do not distinguish an empty string
 * from a missing one, so the copy does not, either. */
static const char *copy(struct copier *c, const char *text)
{
	struct kept *k;

	if (!text || !*text)
		return NULL;
	k = &c->kept[rd_hash_add(0, (uintptr_t)text) % KEPT];
	if (k->from != text)
		*k = (struct kept){text, schedule_text(c->to, text)};
	return k->copy;
}

static struct schedule_place copy_place(struct copier *c, const struct schedule_place *p)
{
	bool known = p->file && *p->file;

	return (struct schedule_place){.file = copy(c, p->file),
				       .function = copy(c, p->function),
				       .line = known ? p->line : 0,
				       .column = known ? p->column : 0};
}

static void *copy_records(const void *from, size_t count, size_t size)
{
	void *to = count ? rd_xcalloc(count, size) : NULL;

	if (count)
		memcpy(to, from, count * size);
	return to;
}

/* Gives the copy its own list instead of the list that it shares with the original. */
#define COPY_LIST(s, list, what)                                                                             \
	((s)->list = copy_records((s)->list, (s)->what##_count, sizeof *(s)->list),                          \
	 (s)->what##_capacity = (s)->what##_count)

static void copy_lists(struct schedule *s)
{
	COPY_LIST(s, ops, op);
	COPY_LIST(s, limits, limit);
	COPY_LIST(s, goals, goal);
	COPY_LIST(s, stops, stop);
	COPY_LIST(s, watches, watch);
	COPY_LIST(s, decisions, decision);
	COPY_LIST(s, tracks, track);
	COPY_LIST(s, choices, choice);
}

/* ---- records that lead threads ---- */

/* Replaces the borrowed strings of a record by copies: the name of a thread, two more texts (or
 * NULL), and the strings of a place. */
static void own(struct copier *c, const char **thread, const char **kind, const char **object,
		struct schedule_place *place)
{
	*thread = copy(c, *thread);
	if (kind)
		*kind = copy(c, *kind);
	if (object)
		*object = copy(c, *object);
	*place = copy_place(c, place);
}

static void copy_lead(struct copier *c, struct schedule *s)
{
	for (size_t i = 0; i < s->op_count; i++)
		own(c, &s->ops[i].thread, &s->ops[i].kind, &s->ops[i].object, &s->ops[i].place);
	for (size_t i = 0; i < s->limit_count; i++)
		s->limits[i].thread = copy(c, s->limits[i].thread);
	for (size_t i = 0; i < s->goal_count; i++)
		own(c, &s->goals[i].thread, NULL, &s->goals[i].object, &s->goals[i].place);
	for (size_t i = 0; i < s->stop_count; i++)
		own(c, &s->stops[i].thread, &s->stops[i].kind, &s->stops[i].object, &s->stops[i].place);
}

/* ---- records for turns ---- */

/* The copy does not have the members for a stopped program, which files do not contain. */
static struct schedule_watch copy_watch(struct copier *c, const struct schedule_watch *w)
{
	return (struct schedule_watch){.thread = copy(c, w->thread),
				       .after = w->after,
				       .occurrence = w->occurrence,
				       .site = w->site,
				       .reads = w->reads,
				       .writes = w->writes,
				       .object = copy(c, w->object),
				       .place = copy_place(c, &w->place)};
}

static void copy_turns(struct copier *c, struct schedule *s)
{
	for (size_t i = 0; i < s->watch_count; i++)
		s->watches[i] = copy_watch(c, &s->watches[i]);
	for (size_t i = 0; i < s->decision_count; i++)
		own(c, &s->decisions[i].thread, &s->decisions[i].point, &s->decisions[i].next,
		    &s->decisions[i].place);
	for (size_t i = 0; i < s->track_count; i++)
		s->tracks[i].place = copy_place(c, &s->tracks[i].place);
	for (size_t i = 0; i < s->choice_count; i++)
		own(c, &s->choices[i].thread, NULL, NULL, &s->choices[i].place);
}

void schedule_copy(struct schedule *to, const struct schedule *from)
{
	struct copier c = {.to = to};

	*to = *from;
	to->arena = rd_arena_new();
	to->finding = copy(&c, from->finding);
	to->program = copy(&c, from->program);
	to->trace = copy(&c, from->trace);
	to->front = copy(&c, from->front);
	to->input = copy(&c, from->input);
	to->edits = copy(&c, from->edits);
	to->first = copy(&c, from->first);
	to->flavour = copy(&c, from->flavour);
	to->memory = copy(&c, from->memory);
	to->notes = to->looks = false;
	copy_lists(to);
	copy_lead(&c, to);
	copy_turns(&c, to);
}
