/* SPDX-License-Identifier: Apache-2.0 */
/* Implements sets of locks and of guards (candidates/lock-int.h). */
#include "candidates/lock-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void locks_init(struct locks *l, struct program *p)
{
	*l = (struct locks){.p = p};
	rd_tuples_put(&l->sets, NULL, 0, rd_tuple_hash(NULL, 0), NULL);
	rd_tuples_put(&l->guard_sets, NULL, 0, rd_tuple_hash(NULL, 0), NULL);
}

void locks_release(struct locks *l)
{
	free(l->items);
	rd_tuples_release(&l->known);
	rd_tuples_release(&l->sets);
	rd_tuples_release(&l->guards);
	rd_tuples_release(&l->guard_sets);
}

/* ----------------------------------------------------------------- locks --- */

/* Returns true if the points-to set consists of exactly one place, at a known offset in a unique
 * object.  Stores the path of that place in *out. */
static bool only_place(const struct program *p, uint32_t set, struct path *out)
{
	struct facts_run run = facts_members_of(p->f, set);
	if (run.end - run.first != 1)
		return false;
	const struct facts_place *place = &p->f->places[p->f->members[run.first].place];
	if (place->offset == FACTS_ANYWHERE || !p->once_object[place->object])
		return false;
	*out = (struct path){.kind = PATH_OBJECT, .root = place->object, .index = FACTS_NONE};
	out->offsets[0] = place->offset;
	return true;
}

static uint32_t lock_number(struct locks *l, const struct lock *lock)
{
	uint32_t numbers[PATH_NUMBERS + 2];
	size_t n = path_numbers(&lock->path, numbers);
	bool is_new;
	numbers[n++] = lock->set;
	numbers[n++] = lock->read;
	uint32_t number = rd_tuples_put(&l->known, numbers, n, rd_tuple_hash(numbers, n), &is_new);
	if (is_new) {
		RD_GROW(l->items, l->capacity, l->count + 1);
		l->items[l->count++] = *lock;
	}
	return number;
}

uint32_t lock_at(struct locks *l, uint32_t operand, bool read)
{
	struct lock lock = {
		.path = path_of(l->p->f, operand), .set = facts_operand_set(l->p->f, operand), .read = read};
	uint32_t object =
		lock.path.kind == PATH_GLOBAL ? l->p->f->globals[lock.path.root].object : FACTS_NONE;
	if (object != FACTS_NONE && lock.path.loads == 0 && lock.path.index == FACTS_NONE) {
		/* Identifies the lock by its place, because array elements at constant indices are
		 * different locks. */
		lock.path.kind = PATH_OBJECT;
		lock.path.root = object;
	} else if (lock.path.index == FACTS_NONE) {
		only_place(l->p, lock.set, &lock.path);
	}
	if (lock.path.kind == PATH_NONE)
		lock.path = (struct path){.kind = PATH_VALUE, .root = operand, .index = FACTS_NONE};
	return lock_number(l, &lock);
}

/* ------------------------------------------------------------------ sets --- */

static size_t lockset_items(const struct locks *l, uint32_t set, const uint32_t **items)
{
	const struct rd_tuple *t = &l->sets.items[set];
	*items = l->sets.numbers + t->begin;
	return t->length;
}

size_t lockset_copy(const struct locks *l, uint32_t set, uint32_t items[LOCKS_MAX])
{
	const uint32_t *from;
	size_t count = lockset_items(l, set, &from);
	RD_ASSERT(count <= LOCKS_MAX);
	if (count != 0)
		memcpy(items, from, count * sizeof *items);
	return count;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Returns the number of the set that contains these locks.  Sorts `items`. */
static uint32_t number_set(struct rd_tuples *sets, uint32_t *items, size_t count)
{
	size_t to = 0;
	if (count != 0)
		qsort(items, count, sizeof *items, by_number);
	for (size_t i = 0; i < count; i++)
		if (to == 0 || items[to - 1] != items[i])
			items[to++] = items[i];
	return rd_tuples_put(sets, items, to, rd_tuple_hash(items, to), NULL);
}

uint32_t lockset_add(struct locks *l, uint32_t set, uint32_t lock)
{
	RD_ASSERT(lock < l->count);
	uint32_t items[LOCKS_MAX];
	size_t count = lockset_copy(l, set, items);
	if (count == LOCKS_MAX)
		return set;
	items[count++] = lock;
	return number_set(&l->sets, items, count);
}

uint32_t lockset_unite(struct locks *l, uint32_t a, uint32_t b)
{
	uint32_t items[LOCKS_MAX];
	size_t count = a != b ? lockset_copy(l, b, items) : 0;
	for (size_t i = 0; i < count; i++)
		a = lockset_add(l, a, items[i]);
	return a;
}

bool lockset_has(const struct locks *l, uint32_t set, uint32_t lock)
{
	const uint32_t *items;
	size_t count = lockset_items(l, set, &items);
	for (size_t i = 0; i < count; i++)
		if (path_equal(&l->items[items[i]].path, &l->items[lock].path))
			return true;
	return false;
}

static bool may_be_same(const struct locks *l, const struct lock *a, const struct lock *b)
{
	return a->set == 0 || b->set == 0 || facts_sets_overlap(l->p->f, a->set, 1, b->set, 1);
}

uint32_t lockset_remove(struct locks *l, uint32_t set, uint32_t lock)
{
	RD_ASSERT(lock < l->count);
	uint32_t kept[LOCKS_MAX];
	const uint32_t *items;
	size_t count = lockset_items(l, set, &items), to = 0;
	bool exact = lockset_has(l, set, lock);
	for (size_t i = 0; i < count; i++) {
		const struct lock *held = &l->items[items[i]], *gone = &l->items[lock];
		if (!(exact ? path_equal(&held->path, &gone->path) : may_be_same(l, held, gone)))
			kept[to++] = items[i];
	}
	return to == count ? set : number_set(&l->sets, kept, to);
}

uint32_t lockset_meet(struct locks *l, uint32_t a, uint32_t b)
{
	uint32_t both[LOCKS_MAX];
	const uint32_t *x, *y;
	if (a == b)
		return a;
	size_t xs = lockset_items(l, a, &x), ys = lockset_items(l, b, &y), count = 0;
	for (size_t i = 0, k = 0; i < xs && k < ys;)
		if (x[i] == y[k])
			both[count++] = x[i++], k++;
		else if (x[i] < y[k])
			i++;
		else
			k++;
	return number_set(&l->sets, both, count);
}

bool locksets_overlap(const struct locks *l, uint32_t a, uint32_t b)
{
	const uint32_t *x, *y;
	size_t xs = lockset_items(l, a, &x), ys = lockset_items(l, b, &y);
	for (size_t i = 0; i < xs; i++)
		for (size_t k = 0; k < ys; k++)
			if (may_be_same(l, &l->items[x[i]], &l->items[y[k]]))
				return true;
	return false;
}

/* ----------------------------------------------------------------- calls --- */

static bool is_known_everywhere(const struct path *path)
{
	return path->kind == PATH_OBJECT || path->kind == PATH_GLOBAL;
}

/* Expresses a path of the caller in terms of the callee's arguments: an argument replaces the
 * beginning of the path.  If the path has an index, this beginning must include the index. */
static bool enter_path(const struct facts *f, const struct path *path, uint32_t call, uint32_t callee,
		       struct path *out)
{
	uint32_t first = f->functions[callee].values, count = f->functions[callee].arguments;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t actual = program_argument(f, call, i);
		if (actual == FACTS_NONE)
			break;
		struct path base = path_of(f, actual);
		if (path_rebase(path, &base, PATH_VALUE, first + i, out) && out->index == FACTS_NONE)
			return true;
	}
	return false;
}

uint32_t lockset_enter(struct locks *l, uint32_t set, uint32_t call, uint32_t callee)
{
	uint32_t kept[LOCKS_MAX], from[LOCKS_MAX];
	size_t count = lockset_copy(l, set, from), to = 0;
	for (size_t i = 0; i < count; i++) {
		struct lock lock = l->items[from[i]];
		if (is_known_everywhere(&lock.path) && lock.path.index == FACTS_NONE)
			kept[to++] = from[i];
		else if (enter_path(l->p->f, &lock.path, call, callee, &lock.path))
			kept[to++] = lock_number(l, &lock);
	}
	return number_set(&l->sets, kept, to);
}

bool lock_leave(struct locks *l, uint32_t lock, uint32_t call, uint32_t callee, uint32_t *out)
{
	RD_ASSERT(lock < l->count);
	const struct facts *f = l->p->f;
	struct lock it = l->items[lock];
	uint32_t first = f->functions[callee].values;
	*out = lock;
	if (it.path.index != FACTS_NONE) {
		/* An index that is an argument becomes a value of the caller. */
		uint32_t n = it.path.index & FACTS_CONSTANT ? FACTS_NONE : it.path.index - first;
		uint32_t actual =
			n < f->functions[callee].arguments ? program_argument(f, call, n) : FACTS_NONE;
		if (actual == FACTS_NONE)
			return false;
		it.path.index = program_strip(f, actual);
	}
	if (!is_known_everywhere(&it.path)) {
		uint32_t n = it.path.root - first;
		uint32_t actual =
			n < f->functions[callee].arguments ? program_argument(f, call, n) : FACTS_NONE;
		if (actual == FACTS_NONE)
			return false;
		struct path base = path_of(f, actual);
		if (!path_append(&base, &it.path, &it.path))
			return false;
		it.set =
			base.loads == it.path.loads && it.path.offsets[base.loads] == base.offsets[base.loads]
				? facts_operand_set(f, actual)
				: it.set;
		uint32_t object = it.path.kind == PATH_GLOBAL ? f->globals[it.path.root].object : FACTS_NONE;
		if (object != FACTS_NONE && it.path.loads == 0 && it.path.index == FACTS_NONE) {
			it.path.kind = PATH_OBJECT;
			it.path.root = object;
		} else if (it.path.index == FACTS_NONE) {
			only_place(l->p, it.set, &it.path);
		}
	}
	*out = lock_number(l, &it);
	return true;
}

/* ---------------------------------------------------------------- guards --- */

enum guard_kind { GUARD_SAME, GUARD_NEAR, GUARD_INDEXED };

static uint32_t number_guard(struct locks *l, const uint32_t *numbers, size_t count, bool read)
{
	return rd_tuples_put(&l->guards, numbers, count, rd_tuple_hash(numbers, count), NULL) << 1 | read;
}

/* Makes the guard for a lock in the same object as the data.  Both paths start at the same
 * address, so the distance from the data to the lock is known.  An index in the path of the data
 * does not matter, because it does not lead to another object. */
static bool near_guard(const struct lock *lock, const struct path *data, uint32_t *numbers, size_t *count)
{
	struct path base = *data, rest;
	base.index = FACTS_NONE;
	base.stride = 0;
	if (data->kind == PATH_NONE || data->kind == PATH_OBJECT || lock->path.index != FACTS_NONE ||
	    (data->index != FACTS_NONE && data->index_at < data->loads) ||
	    !path_rebase(&lock->path, &base, PATH_VALUE, 0, &rest))
		return false;
	numbers[0] = GUARD_NEAR;
	*count = 1 + path_numbers(&rest, numbers + 1);
	return true;
}

/* Makes the guard for a lock in an array, if the lock and the data have the same index.  The array
 * must have the same name in all functions. */
static bool indexed_guard(const struct lock *lock, const struct path *data, uint32_t *numbers, size_t *count)
{
	struct path path = lock->path;
	if (path.index == FACTS_NONE || path.index != data->index || !is_known_everywhere(&path))
		return false;
	path.index = 0;
	numbers[0] = GUARD_INDEXED;
	*count = 1 + path_numbers(&path, numbers + 1);
	numbers[(*count)++] = (uint32_t)data->stride;
	return true;
}

uint32_t guards_of(struct locks *l, uint32_t set, const struct path *data)
{
	uint32_t found[3 * LOCKS_MAX], numbers[PATH_NUMBERS + 2];
	const uint32_t *items;
	size_t count = lockset_items(l, set, &items), to = 0, n;
	for (size_t i = 0; i < count; i++) {
		const struct lock *lock = &l->items[items[i]];
		if (is_known_everywhere(&lock->path) && lock->path.index == FACTS_NONE) {
			numbers[0] = GUARD_SAME;
			n = 1 + path_numbers(&lock->path, numbers + 1);
			found[to++] = number_guard(l, numbers, n, lock->read);
		}
		if (near_guard(lock, data, numbers, &n))
			found[to++] = number_guard(l, numbers, n, lock->read);
		if (indexed_guard(lock, data, numbers, &n))
			found[to++] = number_guard(l, numbers, n, lock->read);
	}
	return number_set(&l->guard_sets, found, to);
}

bool guards_exclude(const struct locks *l, uint32_t a, uint32_t b)
{
	const struct rd_tuple *x = &l->guard_sets.items[a], *y = &l->guard_sets.items[b];
	for (size_t i = 0; i < x->length; i++)
		for (size_t k = 0; k < y->length; k++) {
			uint32_t one = l->guard_sets.numbers[x->begin + i],
				 two = l->guard_sets.numbers[y->begin + k];
			if (one >> 1 == two >> 1 && !(one & two & 1))
				return true;
		}
	return false;
}
