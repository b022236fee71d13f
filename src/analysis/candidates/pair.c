/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds pairs of accesses that conflict (candidates/pair-int.h).
 *
 * An instance is an access by one thread.  Instances in the same function form one *atom* if they
 * have the same kind (conflict-int.h), touch the same bytes, and name the same member in the
 * source.  If the pointer of an atom has few targets, the atom is compared with others at each
 * target that both have.  If the pointer may point nearly anywhere, its points-to set does not
 * show which member is accessed.  The atom is then compared only with atoms that name the same
 * member in the source.  The number of such atoms is reported.
 */
#include "candidates/pair-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "candidates/conflict-int.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* All four constants were set by hand.  They bound the number of pairs and the time. */
	/* The largest number of pairs of one struct member in a group.  Pairs of an access with
	 * itself may exceed this limit. */
	PAIRS_MAX = 16,
	WIDE = 48,	   /* a pointer to more places than this "may point nearly anywhere" */
	EXAMPLES = 3,	   /* number of instances that are kept as examples of an atom */
	BUCKET_MAX = 4000, /* largest number of atoms with the same member */
};

struct atom {
	uint32_t set, kind, function, member;
	int64_t size;
	/* `wide` is true if the pointer may point to more than WIDE places, and `named` if the
	 * source names a member. */
	bool write, wide, named;
	/* Some instances of the atom as examples, and their number. */
	uint32_t examples[EXAMPLES], count;
};

/* A list of atoms; those that write come first. */
struct atom_list {
	uint32_t *items;
	size_t count, capacity, writers;
};

struct pair_group {
	uint32_t pairs[PAIRS_MAX];
	uint32_t count;
};

struct pair_search {
	struct pairs *out;
	const struct access_walk *w;
	struct atom *atoms;
	size_t atom_count, atom_capacity;
	struct rd_tuples known, kinds, group_keys;
	uint32_t *kind_example; /* one instance of each kind */
	size_t kind_capacity;
	/* The result for each pair of kinds: 0 if unknown, 1 if they cannot race, 2 if they can. */
	uint8_t *races;
	uint32_t *first_place;	   /* the first place of each object */
	struct atom_list *cells;   /* the atoms that access each place */
	struct atom_list *buckets; /* the atoms that name each member */
	struct rd_pmap pairs;	   /* the pairs of accesses that were compared */
	/* Maps two points-to sets and access sizes to 1 + the number of a place that both accesses
	 * may touch, or to 0 if there is no such place. */
	struct rd_pmap overlaps;
	struct rd_names members;
	struct pair_group *groups;
	size_t group_capacity;
	/* Pairs of an access with itself that did not fit into their group. */
	struct access_pair *selves;
	size_t self_count, self_capacity;
};

const char *pair_member(const char *what, size_t *length)
{
	const char *end = what + strlen(what), *start;
	while (end > what && end[-1] == ']') {
		while (end > what && end[-1] != '[')
			end--;
		end -= end > what;
	}
	for (start = end; start > what && start[-1] != '.' && start[-1] != '>'; start--)
		;
	*length = (size_t)(end - start);
	return start;
}

/* ------------------------------------------------------------------------ atoms --- */

static uint32_t kind_of(struct pair_search *s, uint32_t instance)
{
	uint32_t numbers[CONFLICT_NUMBERS];
	size_t n = conflict_kind(s->w, &s->w->instances[instance], numbers);
	bool is_new;
	uint32_t kind = rd_tuples_put(&s->kinds, numbers, n, rd_tuple_hash(numbers, n), &is_new);
	RD_GROW(s->kind_example, s->kind_capacity, (size_t)kind + 1);
	if (is_new)
		s->kind_example[kind] = instance;
	return kind;
}

static bool is_shared_place(const struct program *p, const struct facts_place *place)
{
	const struct facts_object *o = &p->f->objects[place->object];
	return p->shared_object[place->object] && !(o->flags & FACTS_OBJECT_CONSTANT) &&
	       o->kind != FACTS_OBJECT_FUNCTION;
}

static bool is_wide(const struct program *p, uint32_t set)
{
	struct facts_run run = facts_members_of(p->f, set);
	uint32_t count = 0;
	for (uint32_t i = run.first; i < run.end && count <= WIDE; i++)
		count += is_shared_place(p, &p->f->places[p->f->members[i].place]);
	return count > WIDE;
}

static void add_instance(struct pair_search *s, uint32_t number)
{
	RD_ASSERT(number < s->w->count);
	const struct instance *x = &s->w->instances[number];
	const struct access *a = &s->w->p->accesses[x->access];
	size_t length;
	const char *member = pair_member(a->what, &length);
	bool call = s->w->p->f->values[a->value].kind == FACTS_CALL, is_new;
	struct atom atom = {.set = a->set,
			    .size = a->size,
			    .kind = kind_of(s, number),
			    .function = facts_function_at(s->w->p->f, a->value),
			    .member = call ? 0 : rd_names_put(&s->members, member, length),
			    .named = !call && member != a->what && length != 0,
			    .write = a->kind != FACTS_READ};
	uint32_t key[] = {atom.set, (uint32_t)atom.size, atom.kind, atom.function, atom.member, atom.named};
	uint32_t known = rd_tuples_put(&s->known, key, 6, rd_tuple_hash(key, 6), &is_new);
	if (is_new) {
		RD_GROW(s->atoms, s->atom_capacity, s->atom_count + 1);
		atom.wide = is_wide(s->w->p, atom.set);
		s->atoms[s->atom_count++] = atom;
	}
	struct atom *at = &s->atoms[known];
	if (at->count < EXAMPLES)
		at->examples[at->count++] = number;
}

static bool may_race(struct pair_search *s, const struct atom *a, const struct atom *b)
{
	uint32_t x = a->kind < b->kind ? a->kind : b->kind, y = a->kind < b->kind ? b->kind : a->kind;
	uint8_t *known = &s->races[(size_t)x * s->kinds.count + y];
	if (*known == 0)
		*known = conflict_may_race(s->w, &s->w->instances[s->kind_example[x]],
					   &s->w->instances[s->kind_example[y]])
				 ? 2
				 : 1;
	return *known == 2;
}

/* ------------------------------------------------------------------------ groups --- */

/* Returns the part of a group that contains the pairs of one member.  Only the best of these pairs
 * are kept.  Stores the number of the group, which is that of the object, in *number. */
static struct pair_group *group_of(struct pair_search *s, const struct atom *a, const struct atom *b,
				   uint32_t place, uint32_t *number)
{
	const struct atom *named = a->write && a->named ? a : b->named ? b : a;
	uint32_t object = s->w->p->f->places[place].object;
	uint32_t key[] = {named->wide && named->named ? FACTS_NONE : object,
			  named->named ? named->member : FACTS_NONE};
	bool is_new;
	uint32_t part = rd_tuples_put(&s->group_keys, key, 2, rd_tuple_hash(key, 2), &is_new);
	RD_GROW(s->groups, s->group_capacity, (size_t)part + 1);
	if (is_new)
		s->groups[part].count = 0;
	*number = object;
	return &s->groups[part];
}

static void leave_out(struct pair_search *s, const struct access_pair *pair)
{
	s->out->left_out++;
	if (s->w->instances[pair->x].access != s->w->instances[pair->y].access)
		return;
	RD_GROW(s->selves, s->self_capacity, s->self_count + 1);
	s->selves[s->self_count++] = *pair;
}

/* Keeps the pair if its group has room for it or contains a worse pair, which is then replaced. */
static void keep(struct pair_search *s, struct pair_group *g, const struct access_pair *pair)
{
	RD_ASSERT(g->count <= PAIRS_MAX);
	struct pairs *out = s->out;
	if (g->count < PAIRS_MAX) {
		RD_GROW(out->items, out->capacity, out->count + 1);
		g->pairs[g->count++] = (uint32_t)out->count;
		out->items[out->count++] = *pair;
		return;
	}
	uint32_t worst = 0;
	for (uint32_t i = 1; i < PAIRS_MAX; i++)
		if (out->items[g->pairs[i]].score < out->items[g->pairs[worst]].score)
			worst = i;
	struct access_pair *last = &out->items[g->pairs[worst]], left = *pair;
	if (last->score < pair->score) {
		left = *last;
		*last = *pair;
	}
	leave_out(s, &left);
}

/* Keeps each pair of an access with itself if another kept pair contains the access.  The access
 * then needs a guard anyway, so the pair needs no further guard. */
static void keep_selves(struct pair_search *s)
{
	struct pairs *out = s->out;
	size_t kept = out->count;
	bool *guarded = rd_xcalloc(s->w->p->access_count + 1, sizeof *guarded);
	for (size_t i = 0; i < kept; i++) {
		guarded[s->w->instances[out->items[i].x].access] = true;
		guarded[s->w->instances[out->items[i].y].access] = true;
	}
	for (size_t i = 0; i < s->self_count; i++) {
		if (!guarded[s->w->instances[s->selves[i].x].access])
			continue;
		RD_GROW(out->items, out->capacity, out->count + 1);
		out->items[out->count++] = s->selves[i];
		out->left_out--;
	}
	free(guarded);
}

static void add_pair(struct pair_search *s, const struct atom *a, const struct atom *b,
		     struct access_pair pair)
{
	uint32_t x = s->w->instances[pair.x].access, y = s->w->instances[pair.y].access;
	bool is_new;
	if (x > y) {
		uint32_t first = pair.y;
		pair.y = pair.x;
		pair.x = first;
	}
	rd_pmap_put(&s->pairs, x < y ? x : y, x < y ? y : x, &is_new);
	if (!is_new)
		return;
	struct pair_group *g = group_of(s, a, b, pair.place, &pair.group);
	pair.score = pair_weigh(s->w, &pair, &pair.reason);
	keep(s, g, &pair);
}

static void add_pairs(struct pair_search *s, const struct atom *a, const struct atom *b, uint32_t place)
{
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t k = 0; k < b->count; k++)
			add_pair(s, a, b,
				 (struct access_pair){.x = a->examples[i],
						      .y = b->examples[k],
						      .place = place,
						      .wide = a->wide || b->wide});
}

/* ------------------------------------------------------------------------- places --- */

static void put(struct atom_list *l, uint32_t atom)
{
	if (l->count != 0 && l->items[l->count - 1] == atom)
		return;
	RD_GROW(l->items, l->capacity, l->count + 1);
	l->items[l->count++] = atom;
}

/* Returns true if an access at the place `by` touches the place `p`.  An access at an unknown
 * offset touches all places of its object. */
static bool is_covered(const struct facts_place *by, int64_t size, const struct facts_place *p)
{
	if (by->offset == FACTS_ANYWHERE)
		return true;
	return p->offset >= by->offset && (size == 0 || p->offset < by->offset + size);
}

static void enter_places(struct pair_search *s, uint32_t number)
{
	const struct program *p = s->w->p;
	const struct facts *f = p->f;
	const struct atom *a = &s->atoms[number];
	struct facts_run run = facts_members_of(f, a->set);
	for (uint32_t i = run.first; i < run.end; i++) {
		const struct facts_place *place = &f->places[f->members[i].place];
		if (!is_shared_place(p, place))
			continue;
		for (uint32_t q = s->first_place[place->object]; q < s->first_place[place->object + 1]; q++)
			if (is_covered(place, a->size, &f->places[q]))
				put(&s->cells[q], number);
	}
}

/* Compares each atom that writes with itself and with all atoms after it. */
static void compare_at(struct pair_search *s, const struct atom_list *l, uint32_t place)
{
	for (size_t i = 0; i < l->writers; i++)
		for (size_t k = i; k < l->count; k++) {
			const struct atom *a = &s->atoms[l->items[i]], *b = &s->atoms[l->items[k]];
			if (may_race(s, a, b))
				add_pairs(s, a, b, place);
		}
}

/* ------------------------------------------------------------------------ members --- */

/* Returns a shared place that both atoms may touch, or FACTS_NONE if there is none. */
static uint32_t find_common(const struct program *p, const struct atom *a, const struct atom *b)
{
	const struct facts *f = p->f;
	struct facts_run x = facts_members_of(f, a->set), y = facts_members_of(f, b->set);
	while (x.first < x.end && y.first < y.end) {
		const struct facts_place *one = &f->places[f->members[x.first].place],
					 *two = &f->places[f->members[y.first].place];
		if (one->object > two->object || !is_shared_place(p, two)) {
			y.first++;
			continue;
		}
		for (uint32_t i = y.first; one->object == two->object && i < y.end; i++) {
			const struct facts_place *q = &f->places[f->members[i].place];
			if (q->object != one->object)
				break;
			if (is_covered(one, a->size, q) || is_covered(q, b->size, one))
				return f->members[i].place;
		}
		x.first++;
	}
	return FACTS_NONE;
}

static uint32_t common_place(struct pair_search *s, const struct atom *a, const struct atom *b)
{
	bool is_new;
	uint64_t one = (uint64_t)a->set << 32 | (uint32_t)a->size,
		 two = (uint64_t)b->set << 32 | (uint32_t)b->size;
	uint64_t *known = rd_pmap_put(&s->overlaps, one, two, &is_new);
	if (is_new) {
		uint32_t place = find_common(s->w->p, a, b);
		*known = place != FACTS_NONE ? (uint64_t)place + 1 : 0;
	}
	return *known != 0 ? (uint32_t)(*known - 1) : FACTS_NONE;
}

static void compare_members(struct pair_search *s, const struct atom_list *l)
{
	size_t end = l->count < BUCKET_MAX ? l->count : BUCKET_MAX;
	s->out->unrelated += l->count - end;
	for (size_t i = 0; i < l->writers && i < end; i++)
		for (size_t k = i; k < end; k++) {
			const struct atom *a = &s->atoms[l->items[i]], *b = &s->atoms[l->items[k]];
			if ((!a->wide && !b->wide) || !may_race(s, a, b))
				continue;
			uint32_t place = common_place(s, a, b);
			if (place != FACTS_NONE)
				add_pairs(s, a, b, place);
		}
}

/* ------------------------------------------------------------------ the list of pairs --- */

/* Adds each atom to the lists in which it is compared: the list of its member and, if its pointer
 * has few targets, the lists of these places.  Atoms that name no member use the list of member
 * 0. */
static void enter(struct pair_search *s, bool writers)
{
	for (uint32_t i = 0; i < s->atom_count; i++) {
		const struct atom *a = &s->atoms[i];
		if (a->write != writers)
			continue;
		if (!a->wide)
			enter_places(s, i);
		else
			s->out->unrelated++;
		put(&s->buckets[a->named ? a->member : 0], i);
	}
	for (size_t i = 0; writers && i < s->w->p->f->place_count; i++)
		s->cells[i].writers = s->cells[i].count;
	for (size_t i = 0; writers && i < s->members.count; i++)
		s->buckets[i].writers = s->buckets[i].count;
}

static void start(struct pair_search *s)
{
	const struct facts *f = s->w->p->f;
	rd_names_put(&s->members, "", 0);
	for (uint32_t i = 0; i < s->w->count; i++)
		add_instance(s, i);
	s->races = rd_xcalloc(s->kinds.count * s->kinds.count + 1, 1);
	s->cells = rd_xcalloc(f->place_count + 1, sizeof *s->cells);
	s->buckets = rd_xcalloc(s->members.count + 1, sizeof *s->buckets);
	s->first_place = rd_xcalloc(f->object_count + 2, sizeof *s->first_place);
	for (uint32_t i = 0, at = 0; i <= f->object_count; i++) {
		while (at < f->place_count && f->places[at].object < i)
			at++;
		s->first_place[i] = at;
	}
}

static void finish(struct pair_search *s)
{
	RD_FREE_EACH(s->cells, s->w->p->f->place_count, .items);
	RD_FREE_EACH(s->buckets, s->members.count, .items);
	RD_FREE(s->cells, s->buckets, s->first_place, s->atoms, s->races, s->kind_example, s->groups,
		s->selves);
	rd_tuples_release(&s->known);
	rd_tuples_release(&s->kinds);
	rd_tuples_release(&s->group_keys);
	RD_UMAP_RELEASE(&s->pairs.map, &s->overlaps.map);
	rd_names_release(&s->members);
}

void pairs_find(struct pairs *pairs, const struct access_walk *w)
{
	struct pair_search s = {.out = pairs, .w = w};
	*pairs = (struct pairs){0};
	start(&s);
	enter(&s, true);
	enter(&s, false);
	for (uint32_t i = 0; i < w->p->f->place_count; i++)
		compare_at(&s, &s.cells[i], i);
	for (size_t i = 0; i < s.members.count; i++)
		compare_members(&s, &s.buckets[i]);
	keep_selves(&s);
	finish(&s);
}

void pairs_release(struct pairs *pairs)
{
	free(pairs->items);
}
