// SPDX-License-Identifier: Apache-2.0
/*
 * Decides when two findings are the same.
 *
 * The fingerprint means "the same two statements".  It consists of the kind, the object, and the
 * file, function, line and subject of each side.  Predictions with the same fingerprint become one
 * finding with a count.  For example, this happens to the pairs of a loop, to the read and the
 * write of x++, and to the many fields of a struct that is copied.
 *
 * The id means "the same error in the next version of the source".  It must not change when lines
 * move, when other code is added, or when the program gets other input or is built elsewhere.  So
 * it is made from the kind, the file name without its directory, the function, and the subject of
 * the statement (or the call that waits).  It also contains the statement's ordinal among the lines
 * of the function that access the same subject.  Lines, addresses, threads and paths are not part
 * of it.  The subject does not depend on which of a statement's accesses were caught in this run.
 * The direction (read or write) is left out as well: for x++, sometimes the read and sometimes the
 * write is caught, but the error is the same.  Findings may have equal ids if their producer did
 * not set ordinals.  They are distinguished by their order in the source.
 *
 * Names of objects are normalised: `table[3].lock` and `table[4].lock` are the same object, and so
 * are all objects allocated at one place.  For races, the position of an access in its object is
 * ignored, because a copy accesses the whole object, and the subject is more precise anyway.  A
 * variable on a stack is identified by its subjects alone, because it has a name only if its thread
 * accessed it by name.
 *
 * Invariant: after finding_set_finish() ids are unique in the set.
 */
#include "finding/bug.h"

#include "base/buf.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "finding/schedule.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* EXACT is the scope of the fingerprint, and STABLE is the scope of the id. */
enum scope { EXACT, STABLE };

static const char *base_name(const char *path)
{
	return path ? rd_base_name(path) : "";
}

static void add_field(struct rd_buf *b, const char *text)
{
	rd_buf_adds(b, text ? text : "");
	rd_buf_addc(b, '\x1f');
}

static void add_normal(struct rd_buf *b, const char *name)
{
	rd_name_normal(b, name ? name : "");
	rd_buf_addc(b, '\x1f');
}

static void add_place(struct rd_buf *b, const struct finding_stack *stack, enum scope scope)
{
	const struct finding_frame *top = finding_top(stack);

	add_field(b, base_name(top->file));
	add_field(b, top->function);
	if (scope == EXACT)
		rd_buf_addf(b, "%u\x1f", top->line);
}

/* Adds the object.  A heap object is identified by the place of its allocation. */
static void add_object(struct rd_buf *b, const struct finding_object *o)
{
	if (o->kind == FINDING_HEAP) {
		add_place(b, &o->stack, STABLE);
	} else if (o->kind == FINDING_STACK || o->kind == FINDING_DESCRIPTOR) {
		add_field(b, finding_object_kind_name(o->kind));
	} else {
		rd_name_root(b, o->name ? o->name : "");
		rd_buf_addc(b, '\x1f');
	}
}

static void add_access(struct rd_buf *b, const struct finding_access *a, enum scope scope)
{
	add_place(b, &a->stack, scope);
	add_normal(b, a->subject ? a->subject : a->what);
	if (scope == STABLE)
		rd_buf_addf(b, "%u\x1f", a->ordinal);
}

static void add_wait(struct rd_buf *b, const struct finding_wait *w, enum scope scope)
{
	add_place(b, &w->stack, scope);
	add_field(b, w->kind);
	add_normal(b, w->wants);
	for (size_t i = 0; i < w->hold_count; i++)
		add_normal(b, w->holds[i].name);
	if (scope == STABLE && w->ordinal)
		rd_buf_addf(b, "%u\x1f", w->ordinal);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the sides in sorted order, because it does not matter which of them came first. */
static void add_sides(struct rd_buf *b, const struct finding *f, enum scope scope)
{
	size_t count = f->access_count + f->cycle_count;
	char **sides = rd_xcalloc(count + 1, sizeof *sides);
	struct rd_buf side = RD_BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		if (i < f->access_count)
			add_access(&side, &f->accesses[i], scope);
		else
			add_wait(&side, &f->cycle[i - f->access_count], scope);
		sides[i] = rd_buf_detach(&side);
	}
	qsort(sides, count, sizeof *sides, compare_texts);
	for (size_t i = 0; i < count; i++) {
		rd_buf_adds(b, sides[i]);
		rd_buf_addc(b, '\x1e');
		free(sides[i]);
	}
	free(sides);
}

static void identify(const struct finding *f, enum scope scope, size_t serial, char out[FINDING_ID_SIZE])
{
	struct rd_buf b = RD_BUF_INIT;

	add_field(&b, finding_kind_name(f->kind));
	add_object(&b, &f->object);
	if (f->kind == FINDING_FAILURE && f->cycle_count > 1)
		/* Only this thread is added, because the other threads of a failure differ from run
		 * to run. */
		add_field(&b, f->cycle[0].wants);
	else
		add_sides(&b, f, scope);
	if (serial)
		rd_buf_addf(&b, "%zu", serial);
	snprintf(out, FINDING_ID_SIZE, "%016llx", (unsigned long long)XXH64(b.data, b.length, 0));
	rd_buf_release(&b);
}

static size_t writes(const struct finding *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->access_count; i++)
		n += f->accesses[i].op != FINDING_READ && f->accesses[i].op != FINDING_USE;
	return n;
}

static size_t steps(const struct finding *f)
{
	return f->schedule ? f->schedule->op_count : SIZE_MAX;
}

/* Compares two predictions of the same error.  The result is negative if `a` is better suited for
 * the report. */
static int compare_worth(const struct finding *a, const struct finding *b)
{
	RD_ASSERT(a != NULL && b != NULL);
	RD_BY(a->status, b->status);
	if (a->sound != b->sound)
		return a->sound ? -1 : 1;
	if (a->class != b->class)
		return finding_worse(a->class, b->class) == a->class ? -1 : 1;
	if (writes(a) != writes(b))
		return writes(a) > writes(b) ? -1 : 1;
	return (steps(a) > steps(b)) - (steps(a) < steps(b));
}

int finding_compare_places(const struct finding *a, const struct finding *b)
{
	size_t na = a->access_count + a->cycle_count, nb = b->access_count + b->cycle_count;
	int order = 0;

	for (size_t i = 0; i < na && i < nb && !order; i++) {
		const struct finding_frame *p = finding_top(
			i < a->access_count ? &a->accesses[i].stack : &a->cycle[i - a->access_count].stack);
		const struct finding_frame *q = finding_top(
			i < b->access_count ? &b->accesses[i].stack : &b->cycle[i - b->access_count].stack);

		order = strcmp(p->file ? p->file : "", q->file ? q->file : "");
		if (!order)
			order = (p->line > q->line) - (p->line < q->line);
	}
	return order ? order : (na > nb) - (na < nb);
}

static int compare_ids(const void *a, const void *b)
{
	const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
	int order = strcmp(x->id, y->id);

	if (!order)
		order = finding_compare_places(x, y);
	return order ? order : strcmp(x->fingerprint, y->fingerprint);
}

static int compare_fingerprints(const void *a, const void *b)
{
	const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;
	int order = strcmp(x->fingerprint, y->fingerprint);

	return order ? order : compare_worth(x, y);
}

static int compare_rank(const void *a, const void *b)
{
	const struct finding *x = *(struct finding *const *)a, *y = *(struct finding *const *)b;

	RD_BY(x->status, y->status);
	if (x->sound != y->sound)
		return x->sound ? -1 : 1;
	RD_BY(x->kind, y->kind);
	int order = finding_compare_places(x, y);
	return order ? order : strcmp(x->id, y->id);
}

/* Merges another prediction of the same error into a finding. */
static void absorb(struct finding_set *set, struct finding *f, const struct finding *other)
{
	enum finding_class class = finding_worse(f->class, other->class);

	f->count += other->count;
	f->sound |= other->sound;
	f->firm = f->firm ? f->firm : other->firm;
	for (unsigned i = 0; i < FINDING_MODELS; i++)
		if (other->classes[i] != FINDING_NO_CLASS)
			finding_classify(f, i, finding_worse(f->classes[i], other->classes[i]));
	for (size_t i = 0; i < other->witness_count; i++)
		finding_add_witness(set, f, &other->witnesses[i]);
	f->class = class;
}

/* Keeps the first finding of each fingerprint, which is the best one. */
static void merge(struct finding_set *set)
{
	size_t kept = 0;

	qsort(set->items, set->count, sizeof *set->items, compare_fingerprints);
	for (size_t i = 0; i < set->count; i++) {
		struct finding *f = set->items[i], *last = kept ? set->items[kept - 1] : NULL;

		if (last && strcmp(last->fingerprint, f->fingerprint) == 0) {
			absorb(set, last, f);
		} else {
			set->items[kept++] = f;
		}
	}
	set->count = kept;
}

/* Numbers the findings that differ only in lines, in the order of the source. */
static void separate(struct finding_set *set)
{
	size_t first = 0;

	qsort(set->items, set->count, sizeof *set->items, compare_ids);
	for (size_t i = 1; i < set->count; i++) {
		struct finding *f = set->items[i];

		if (strcmp(f->id, set->items[first]->id) == 0)
			identify(f, STABLE, i - first, f->id);
		else
			first = i;
	}
}

static void name_schedule(struct schedule *s, const char *id)
{
	if (s && (!s->finding || strcmp(s->finding, id) != 0))
		s->finding = schedule_text(s, id);
}

static void name_schedules(struct finding_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];

		name_schedule(f->schedule, f->id);
		for (size_t k = 0; k < f->witness_count; k++)
			name_schedule(f->witnesses[k].schedule, f->id);
	}
}

void finding_identify(struct finding *f)
{
	identify(f, EXACT, 0, f->fingerprint);
}

void finding_set_finish(struct finding_set *set)
{
	if (!set->count)
		return;
	for (size_t i = 0; i < set->count; i++)
		finding_identify(set->items[i]);
	merge(set);
	for (size_t i = 0; i < set->count; i++)
		identify(set->items[i], STABLE, 0, set->items[i]->id);
	separate(set);
	name_schedules(set);
	finding_group(set);
	qsort(set->items, set->count, sizeof *set->items, compare_rank);
}
