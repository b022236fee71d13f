/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns pairs into candidates.  It names them, rates how likely each one is, and sorts and groups
 * them.
 *
 * It also lists what the analysis does not cover, because races may hide there.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/compare.h"
#include "base/error.h"
#include "candidates/pair-int.h"
#include "facts/role.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static bool holds(const struct instance *x)
{
	return x->held != 0;
}

/* Rates the locks that the two accesses hold. */
static int weigh_locks(const struct access_walk *w, const struct instance *x, const struct instance *y,
		       const char **reason)
{
	if (holds(x) != holds(y)) {
		*reason = "one side holds a lock, the other none";
		return 40;
	}
	if (!holds(x)) {
		*reason = "no lock is held";
		return 30;
	}
	if (!locksets_overlap(w->locks, x->held, y->held)) {
		*reason = "different locks are held";
		return 35;
	}
	*reason = "the locks held may be the same";
	return 5;
}

int pair_weigh(const struct access_walk *w, const struct access_pair *pair, const char **reason)
{
	RD_ASSERT(pair->x < w->count && pair->y < w->count);
	const struct program *p = w->p;
	const struct instance *x = &w->instances[pair->x], *y = &w->instances[pair->y];
	const struct access *a = &p->accesses[x->access], *b = &p->accesses[y->access];
	const struct facts_object *o = &p->f->objects[p->f->places[pair->place].object];
	int score = weigh_locks(w, x, y, reason);
	if (a->kind != FACTS_READ && b->kind != FACTS_READ)
		score += 5;
	if ((p->f->values[a->value].flags | p->f->values[b->value].flags) & FACTS_VALUE_POINTER)
		score += 3;
	if (o->kind == FACTS_OBJECT_GLOBAL)
		score += 4;
	if (o->kind == FACTS_OBJECT_LIBRARY)
		score -= 20;
	if (pair->wide)
		score -= 12;
	if ((a->flags | b->flags) & FACTS_ACCESS_VOLATILE)
		score -= 8;
	if (a->use || b->use)
		score -= 15;
	else if ((a->flags | b->flags) & FACTS_ACCESS_ATOMIC)
		score -= 8;
	if (w->threads->items[w->instances[pair->x].thread].handler ||
	    w->threads->items[w->instances[pair->y].thread].handler)
		score -= 15;
	return score;
}

/* ------------------------------------------------------------------------ names --- */

/* Returns the name of the object, followed by the member if the source names one, such as
 * "queue.head". */
static char *name_object(const struct access_walk *w, const struct access_pair *pair)
{
	const struct program *p = w->p;
	const struct facts_object *o = &p->f->objects[p->f->places[pair->place].object];
	const struct access *a = &p->accesses[w->instances[pair->x].access],
			    *b = &p->accesses[w->instances[pair->y].access];
	bool second = (p->f->values[a->value].kind == FACTS_CALL || *a->what == '\0') && *b->what != '\0';
	const char *what = second ? b->what : a->what;
	const char *object = o->kind == FACTS_OBJECT_GLOBAL
				     ? facts_string(p->f, p->f->globals[o->origin].name)
				     : facts_string(p->f, o->name);
	size_t length;
	const char *member = pair_member(what, &length);
	bool called = program_library(p, (second ? b : a)->value) != NULL;
	if (o->kind == FACTS_OBJECT_GLOBAL && strncmp(what, object, strlen(object)) == 0 && !called)
		return rd_xstrdup(what); /* the expression in the source */
	if (member == what || length == 0 || called)
		return rd_xstrdup(object);
	return rd_xasprintf("%s.%.*s", object, (int)length, member);
}

/* The accesses of a function that have the same source text and kind are numbered.  Returns the
 * number of this access.  A change of the source elsewhere does not change the number. */
static uint32_t ordinal(const struct program *p, uint32_t access)
{
	const struct access *a = &p->accesses[access];
	uint32_t n = 0;
	for (uint32_t i = p->accesses_of[facts_function_at(p->f, a->value)]; i < access; i++)
		n += p->accesses[i].kind == a->kind && strcmp(p->accesses[i].what, a->what) == 0;
	return n;
}

static uint64_t key_of(const struct program *p, uint32_t access)
{
	const struct access *a = &p->accesses[access];
	struct rd_buf text = RD_BUF_INIT;
	rd_buf_addf(&text, "%s\n%s\n%u %u",
		    facts_string(p->f, p->f->functions[facts_function_at(p->f, a->value)].linkage), a->what,
		    a->kind, ordinal(p, access));
	uint64_t hash = XXH64(text.data, text.length, 0);
	rd_buf_release(&text);
	return hash;
}

static void identify(const struct access_walk *w, const struct access_pair *pair, char id[CANDIDATE_ID_SIZE])
{
	uint64_t keys[2] = {key_of(w->p, w->instances[pair->x].access),
			    key_of(w->p, w->instances[pair->y].access)};
	if (keys[0] > keys[1]) {
		uint64_t first = keys[1];
		keys[1] = keys[0];
		keys[0] = first;
	}
	snprintf(id, CANDIDATE_ID_SIZE, "%016llx", (unsigned long long)XXH64(keys, sizeof keys, 0));
}

static struct candidate_access describe(const struct access_walk *w, uint32_t instance)
{
	RD_ASSERT(instance < w->count);
	const struct access *a = &w->p->accesses[w->instances[instance].access];
	return (struct candidate_access){
		.value = a->value,
		.site = a->site,
		.op = a->kind == FACTS_READ ? "read" : "write",
		.what = a->what,
		.atomic = a->use || a->flags & FACTS_ACCESS_ATOMIC,
		.locked = holds(&w->instances[instance]),
	};
}

/* --------------------------------------------------------------- order, groups --- */

static int by_score(const void *a, const void *b, void *facts)
{
	const struct candidate *x = a, *y = b;
	const struct facts *f = facts;
	RD_BY(y->score, x->score);
	for (int i = 0; i < 2; i++) {
		const struct facts_value *v = &f->values[x->accesses[i].value],
					 *w = &f->values[y->accesses[i].value];
		int order = strcmp(facts_string(f, v->file), facts_string(f, w->file));
		if (order != 0)
			return order;
		RD_BY(v->line, w->line);
		RD_BY(x->accesses[i].value, y->accesses[i].value);
	}
	return 0;
}

static struct candidate make(const struct access_walk *w, const struct access_pair *pair)
{
	struct candidate c = {.object = w->p->f->places[pair->place].object,
			      .name = name_object(w, pair),
			      .group = pair->group,
			      .score = pair->score,
			      .reason = pair->reason,
			      .wide = pair->wide,
			      .accesses = {describe(w, pair->x), describe(w, pair->y)}};
	identify(w, pair, c.id);
	return c;
}

/* Ranks the candidates.  Groups are numbered in the order of their best candidates. */
static void rank(struct candidates *out, const struct access_walk *w, const struct pairs *pairs)
{
	uint32_t *groups = rd_xcalloc(w->p->f->object_count + 1, sizeof *groups);
	for (size_t i = 0; i < pairs->count; i++) {
		RD_GROW(out->items, out->capacity, out->count + 1);
		out->items[out->count++] = make(w, &pairs->items[i]);
	}
	if (out->count != 0)
		qsort_r(out->items, out->count, sizeof *out->items, by_score, (void *)w->p->f);
	for (size_t i = 0; i < out->count; i++) {
		struct candidate *c = &out->items[i];
		c->rank = (uint32_t)i + 1;
		if (groups[c->group] == 0)
			groups[c->group] = (uint32_t)++out->groups;
		c->group = groups[c->group] - 1;
	}
	out->left_out = pairs->left_out;
	free(groups);
}

/* --- what the analysis does not cover --- */

static void list_limits_of_flow(struct program *p, const struct flow *w)
{
	const struct facts_value *first = &p->f->values[w->cut_call];
	if (w->cut_calls != 0)
		program_unsound(p,
				"locks and threads of further functions, where a call may run more than %d "
				"functions (%u, the first at %s:%u)",
				FLOW_CALLEES, w->cut_calls, facts_string(p->f, first->file), first->line);
	if (w->unfinished)
		program_unsound(p, "locks and threads of recursive functions: the analysis of their effects "
				   "was stopped before it was complete");
}

static void list_limits(struct program *p, const struct access_walk *w, const struct pairs *pairs)
{
	const struct facts *f = p->f;
	if (f->programs[0].rung != FACTS_RUNG_INCLUSION)
		program_unsound(p, "pointers were followed without telling members apart (points-to by "
				   "unification), because the program is huge");
	for (size_t i = 0; i < f->note_count; i++) {
		const struct facts_note *n = &f->notes[i];
		uint32_t at = n->value != FACTS_NONE ? n->value : 0;
		if (n->value != FACTS_NONE)
			program_unsound(p, "%s (%u, the first at %s:%u)", facts_string(f, n->text), n->count,
					facts_string(f, f->values[at].file), f->values[at].line);
		else
			program_unsound(p, "%s (%u)", facts_string(f, n->text), n->count);
	}
	if (pairs->unrelated != 0)
		program_unsound(
			p,
			"%zu accesses through pointers that may point nearly anywhere were compared with "
			"accesses of the same member only",
			pairs->unrelated);
	list_limits_of_flow(p, &w->flow);
	if (w->threads->overflow)
		program_unsound(p, "more than %d kinds of threads: the others are treated as one",
				THREADS_MAX - 1);
	if (w->threads->items[0].many)
		program_unsound(p, "there is no main: any thread is assumed to call any exported function");
}

void candidates_find(struct candidates *c, const struct facts *f)
{
	struct program p;
	struct threads threads;
	struct locks locks;
	struct access_walk walk;
	struct pairs pairs;
	*c = (struct candidates){.facts = f};
	program_init(&p, f, c);
	locks_init(&locks, &p);
	threads_init(&threads, &p);
	walk_program(&walk, &p, &threads, &locks);
	pairs_find(&pairs, &walk);
	rank(c, &walk, &pairs);
	list_limits(&p, &walk, &pairs);
	c->threads = (uint32_t)threads.count;
	c->accesses = (uint32_t)p.access_count;
	pairs_release(&pairs);
	walk_release(&walk);
	threads_release(&threads);
	locks_release(&locks);
	program_release(&p);
}

void candidates_release(struct candidates *c)
{
	RD_FREE_EACH(c->items, c->count, .name);
	RD_FREE_EACH(c->unsound, c->unsound_count);
	RD_FREE(c->items, c->unsound);
}
