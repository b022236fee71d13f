// SPDX-License-Identifier: Apache-2.0
/*
 * States why a bug exists.  In: the findings of a bug, with the locks that were held.  Out: one or
 * two sentences about locks and order.  They repeat what was recorded, and contain no guess about
 * what the programmer wanted.
 *
 * Invariant: a lock counts as held at a place only if it was held in every finding that names the
 * place.
 */
#include "finding/bug.h"

#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/name.h"
#include "finding/timeline.h"

#include <stdlib.h>
#include <string.h>

/* Places that one sentence names; others are counted.  Chosen by hand, so that it stays readable. */
#define PLACES_NAMED 3

/* A place at which the object is accessed. */
struct place {
	const struct finding_frame *frame;
	bool *held; /* by lock */
};

struct places {
	struct place *items;
	size_t count, capacity;
	struct rd_names locks; /* the normalised names of all locks that are held at any place */
};

static bool is_same(const struct finding_frame *a, const struct finding_frame *b)
{
	return a->line == b->line && a->file && b->file && !strcmp(a->file, b->file);
}

static struct place *place_of(struct places *p, const struct finding_access *a, bool *is_new)
{
	const struct finding_frame *frame = finding_own_code_frame(&a->stack);

	*is_new = false;
	for (size_t i = 0; i < p->count; i++)
		if (is_same(p->items[i].frame, frame))
			return &p->items[i];
	*is_new = true;
	RD_GROW(p->items, p->capacity, p->count + 1);
	p->items[p->count] = (struct place){.frame = frame};
	return &p->items[p->count++];
}

static uint32_t lock_number(struct places *p, const struct finding_lock *lock)
{
	struct rd_buf name = RD_BUF_INIT;
	uint32_t number;

	rd_name_normal(&name, lock->name ? lock->name : "");
	number = rd_names_put(&p->locks, name.data, name.length);
	rd_buf_release(&name);
	return number;
}

/* Returns which locks the access holds; the caller frees it. */
static bool *locks_of(struct places *p, const struct finding_access *a, size_t count)
{
	bool *held = rd_xcalloc(count + 1, sizeof *held);

	for (size_t i = 0; i < a->lock_count; i++)
		held[lock_number(p, &a->locks[i])] = true;
	return held;
}

static bool is_same_object(const struct finding *a, const struct finding *b)
{
	return a == b || (b->status == FINDING_CONFIRMED && a->object.name && b->object.name &&
			  !strcmp(a->object.name, b->object.name) && !finding_detail(b));
}

/* Calls `visit` for each access of the races on the object that stands for the bug. */
static void each_access(struct places *p, const struct finding_bug *bug,
			void (*visit)(struct places *p, const struct finding_access *a))
{
	const struct finding *lead = bug->findings[0];

	for (size_t i = 0; i < bug->count; i++) {
		const struct finding *f = bug->findings[i];

		if (!is_same_object(lead, f))
			continue;
		for (size_t k = 0; k < f->access_count; k++)
			if (f->accesses[k].stack.count)
				visit(p, &f->accesses[k]);
	}
}

static void note_locks(struct places *p, const struct finding_access *a)
{
	for (size_t i = 0; i < a->lock_count; i++)
		lock_number(p, &a->locks[i]);
}

static void note_place(struct places *p, const struct finding_access *a)
{
	bool is_new, *held = locks_of(p, a, p->locks.count);
	struct place *place = place_of(p, a, &is_new);

	if (is_new) {
		place->held = held;
		return;
	}
	for (size_t i = 0; i < p->locks.count; i++)
		place->held[i] &= held[i];
	free(held);
}

static void collect(struct places *p, const struct finding_bug *bug)
{
	each_access(p, bug, note_locks);
	each_access(p, bug, note_place);
}

static void release(struct places *p)
{
	RD_FREE_EACH(p->items, p->count, .held);
	free(p->items);
	rd_names_release(&p->locks);
}

/* ---- words ---- */

static void add_place(struct rd_buf *out, const struct finding_frame *f, const struct finding_frame *near)
{
	bool here = near && near->file && f->file && !strcmp(near->file, f->file);

	if (here || !f->file)
		rd_buf_addf(out, "line %u", f->line);
	else
		rd_buf_addf(out, "%s:%u", rd_base_name(f->file), f->line);
}

static void add_separator(struct rd_buf *out, size_t i, size_t count)
{
	rd_buf_adds(out, !i ? "" : i + 1 < count ? ", " : " and ");
}

static size_t held_at(const struct places *p, uint32_t lock)
{
	size_t n = 0;

	for (size_t i = 0; i < p->count; i++)
		n += p->items[i].held[lock];
	return n;
}

/* Lists the places at which the lock is not held, or all places if `lock` is UINT32_MAX. */
static void list_places(struct rd_buf *out, const struct places *p, uint32_t lock)
{
	size_t total = lock == UINT32_MAX ? p->count : p->count - held_at(p, lock), shown = 0;
	size_t named = total > PLACES_NAMED ? PLACES_NAMED : total, items = named + (total > named);

	for (size_t i = 0; i < p->count && shown < named; i++) {
		const struct finding_frame *f = p->items[i].frame;

		if (lock != UINT32_MAX && p->items[i].held[lock])
			continue;
		add_separator(out, shown++, items);
		rd_buf_addf(out, "%s:%u in %s", f->file ? rd_base_name(f->file) : RD_UNKNOWN, f->line,
			    f->function ? f->function : RD_UNKNOWN);
	}
	if (total > named)
		rd_buf_addf(out, " and %zu other%s", total - named, total - named == 1 ? "" : "s");
}

/* ---- races ---- */

/* Returns the lock that is held at most places; UINT32_MAX if no lock is held anywhere. */
static uint32_t usual_lock(const struct places *p)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < p->locks.count; i++)
		if (held_at(p, i) && (best == UINT32_MAX || held_at(p, i) > held_at(p, best)))
			best = i;
	return best;
}

static void say_locks(struct rd_buf *out, const struct places *p, const char *what)
{
	uint32_t lock = usual_lock(p);

	if (lock == UINT32_MAX && p->count == 1) {
		rd_buf_adds(out, "Several threads execute ");
		add_place(out, p->items[0].frame, NULL);
		rd_buf_addf(out, " without a lock, and nothing else orders them.");
	} else if (lock == UINT32_MAX) {
		rd_buf_addf(out, "No lock protects %s at ", what);
		list_places(out, p, UINT32_MAX);
		rd_buf_adds(out, ", and nothing else orders these accesses.");
	} else if (held_at(p, lock) < p->count) {
		rd_buf_addf(out, "The lock %s is held at %zu of the %zu places that access %s, but not at ",
			    p->locks.items[lock], held_at(p, lock), p->count, what);
		list_places(out, p, lock);
		rd_buf_addc(out, '.');
	}
	/* If a lock of this name is held everywhere, nothing is known: it may be that of other objects. */
}

/* If one access is atomic and the other is not, states that. */
static void say_mixed(struct rd_buf *out, const struct finding *f)
{
	const struct finding_access *plain = finding_plain_side(f);

	if (!plain)
		return;
	rd_buf_adds(out, out->length ? " The " : "The ");
	rd_buf_addf(out, "%s at ", finding_op_name(plain->op));
	add_place(out, finding_own_code_frame(&plain->stack), NULL);
	rd_buf_adds(out, " is not atomic, but the other access is.");
}

/* Appends a sentence about two accesses, one of which ends the life of the object. */
static bool say_end_of_life(struct rd_buf *out, const struct finding *f)
{
	static const char *const ends[FINDING_OPS] = {
		[FINDING_FREE] = "freed",
		[FINDING_DESTROY] = "destroyed",
		[FINDING_CLOSE] = "closed",
	};
	const struct finding_access *end = NULL, *use = NULL;

	for (size_t i = 0; i < f->access_count; i++)
		*(ends[f->accesses[i].op] && !end ? &end : &use) = &f->accesses[i];
	if (!end || !use)
		return false;
	rd_buf_addf(out, "Nothing prevents the object from being %s at ", ends[end->op]);
	add_place(out, finding_own_code_frame(&end->stack), NULL);
	rd_buf_addf(out, " before %s at ", ends[use->op] ? "the same happens" : "it is used");
	add_place(out, finding_own_code_frame(&use->stack), finding_own_code_frame(&end->stack));
	rd_buf_addc(out, '.');
	return true;
}

/* Returns the name of the object for a sentence. */
static void add_object(struct rd_buf *out, const struct finding *f)
{
	if (f->object.kind != FINDING_HEAP && f->object.name &&
	    !finding_is_library(finding_top(&f->accesses[0].stack)))
		rd_buf_adds(out, f->object.name);
	else if (f->accesses[0].what && f->accesses[0].op < FINDING_FREE &&
		 !finding_is_library(finding_top(&f->accesses[0].stack)))
		rd_buf_adds(out, f->accesses[0].what);
	else
		rd_buf_adds(out, "the object");
}

/* Returns true if it is known which locks the accesses hold, and each lock has a name.  Only
 * predictions describe threads and locks.  A lock that is held for reading is a case of its own, about
 * which nothing is said. */
static bool are_locks_known(const struct finding_bug *bug)
{
	const struct finding *lead = bug->findings[0];

	for (size_t i = 0; i < bug->count; i++) {
		const struct finding *f = bug->findings[i];

		for (size_t k = 0; is_same_object(lead, f) && k < f->access_count; k++)
			for (size_t l = 0; l < f->accesses[k].lock_count; l++)
				if (!f->accesses[k].locks[l].name || f->accesses[k].locks[l].shared)
					return false;
		if (is_same_object(lead, f) && !f->thread_count)
			return false;
	}
	return true;
}

static void say_race(struct rd_buf *out, const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];
	struct places p = {.locks = RD_NAMES_INIT};
	struct rd_buf what = RD_BUF_INIT;

	/* If only one order is possible, the class and not a lock explains the race. */
	if (!f->access_count || f->class == FINDING_SINGLE_ORDERING || say_end_of_life(out, f))
		return;
	collect(&p, bug);
	add_object(&what, f);
	if (p.count && are_locks_known(bug))
		say_locks(out, &p, what.data);
	say_mixed(out, f);
	rd_buf_release(&what);
	release(&p);
}

/* ---- deadlocks ---- */

static bool is_lock(const struct finding_wait *w)
{
	return w->kind &&
	       (!strcmp(w->kind, "mutex") || !strcmp(w->kind, "rwlock") || !strcmp(w->kind, "spin"));
}

/* Returns the lock that the thread holds and another thread of the cycle waits for, or NULL.  The
 * thread may hold further locks, which are no part of the cycle. */
static const struct finding_lock *wanted_hold(const struct finding *f, const struct finding_wait *w)
{
	for (size_t i = 0; i < f->cycle_count; i++)
		for (size_t k = 0; k < w->hold_count; k++)
			if (&f->cycle[i] != w && f->cycle[i].wants && w->holds[k].name &&
			    !strcmp(f->cycle[i].wants, w->holds[k].name))
				return &w->holds[k];
	return NULL;
}

/* Returns true if each thread waits for a lock, and holds another one that is part of the cycle. */
static bool are_locks(const struct finding *f)
{
	for (size_t i = 0; i < f->cycle_count; i++) {
		const struct finding_lock *held = wanted_hold(f, &f->cycle[i]);

		if (!is_lock(&f->cycle[i]) || !held || !f->cycle[i].wants ||
		    !strcmp(held->name, f->cycle[i].wants))
			return false;
	}
	return f->cycle_count > 1 && f->cycle_count <= PLACES_NAMED;
}

/* States the two or more orders in which the locks are taken. */
static void say_lock_order(struct rd_buf *out, const struct finding *f)
{
	rd_buf_adds(out, "The locks are taken in different orders: ");
	for (size_t i = 0; i < f->cycle_count; i++) {
		const struct finding_wait *w = &f->cycle[i];

		add_separator(out, i, f->cycle_count);
		finding_thread_name(out, f, w->thread);
		rd_buf_addf(out, " takes %s before %s", wanted_hold(f, w)->name, w->wants);
	}
	rd_buf_addc(out, '.');
}

static void say_wait(struct rd_buf *out, const struct finding *f, const struct finding_wait *w)
{
	static const struct {
		const char *kind, *words;
	} table[] = {
		{"join", "waits for the end of a thread"}, {"cond", "waits for a signal on"},
		{"barrier", "waits for other threads at"}, {"sem", "waits for a post of"},
		{"once", "waits for the routine of"},
	};
	const char *words = "waits for";

	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (w->kind && !strcmp(table[i].kind, w->kind))
			words = table[i].words;
	rd_buf_adds(out, "thread ");
	finding_thread_name(out, f, w->thread);
	rd_buf_addf(out, " %s", words);
	if (w->wants && (!w->kind || strcmp(w->kind, "join") != 0))
		rd_buf_addf(out, " %s", w->wants);
	if (w->hold_count) {
		const struct finding_lock *held = wanted_hold(f, w);
		const char *name = held ? held->name : w->holds[0].name;

		rd_buf_addf(out, " while it holds %s", name ? name : "a lock");
	}
}

static void say_deadlock(struct rd_buf *out, const struct finding *f)
{
	size_t shown = f->cycle_count > PLACES_NAMED ? PLACES_NAMED : f->cycle_count;

	if (are_locks(f)) {
		say_lock_order(out, f);
		return;
	}
	for (size_t i = 0; i < shown; i++) {
		rd_buf_adds(out, i ? "; " : "");
		say_wait(out, f, &f->cycle[i]);
	}
	if (shown)
		rd_buf_adds(out, ". No thread is left that can end this.");
}

void finding_why(struct rd_buf *out, const struct finding_bug *bug)
{
	RD_ASSERT(bug->count > 0);
	const struct finding *f = bug->findings[0];

	if (f->status != FINDING_CONFIRMED)
		return; /* nothing was proved that could be explained */
	if (f->kind == FINDING_RACE)
		say_race(out, bug);
	else if (f->kind == FINDING_DEADLOCK)
		say_deadlock(out, f);
}
