// SPDX-License-Identifier: Apache-2.0
/*
 * Implements sets of findings: creates findings, and answers simple queries.  All memory of a set
 * is in one arena, except for the growing arrays and the schedules, which have their own arenas.
 */
#include "finding/pair.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"
#include "finding/schedule.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[FINDING_KINDS] = {
#define FINDING_KIND(constant, name, ...) name,
#include "finding/kind.inc"
#undef FINDING_KIND
};
static const char *const status_names[FINDING_STATUSES] = {"confirmed", "unconfirmed", "candidate",
							   "dropped"};
static const char *const model_names[FINDING_MODELS] = {"sc", "tso", "pso", "weak"};
static const char *const class_names[FINDING_CLASSES] = {NULL, "spec-violated", "output-differs",
							 "k-witness-harmless", "single-ordering"};
static const char *const object_kind_names[FINDING_OBJECT_KINDS] = {"unknown", "global",       "heap",
								    "stack",   "thread_local", "descriptor"};
static const char *const op_names[FINDING_OPS] = {"read", "write", "free", "use", "init", "destroy", "close"};

#define FINDING_NAME(what, count)                                                                            \
	const char *finding_##what##_name(enum finding_##what what)                                          \
	{                                                                                                    \
		RD_ASSERT(what < count);                                                                     \
		return what##_names[what];                                                                   \
	}
FINDING_NAMED(FINDING_NAME)
#undef FINDING_NAME

const char *finding_kind_words(enum finding_kind kind)
{
	static const char *const words[FINDING_KINDS] = {
#define FINDING_KIND(constant, name, words, ...) words,
#include "finding/kind.inc"
#undef FINDING_KIND
	};

	RD_ASSERT(kind < FINDING_KINDS);
	return words[kind];
}

struct finding_set *finding_set_new(void)
{
	struct finding_set *set = rd_xcalloc(1, sizeof *set);

	set->arena = rd_arena_new();
	return set;
}

void finding_set_free(struct finding_set *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->schedule_count; i++) {
		schedule_release(set->schedules[i]);
		free(set->schedules[i]);
	}
	RD_FREE(set->schedules, set->items, set->stats);
	rd_arena_free(set->arena);
	free(set);
}

void finding_set_put(struct finding_set *set, struct finding *f)
{
	RD_ASSERT(f != NULL);
	RD_GROW(set->items, set->capacity, set->count + 1);
	set->items[set->count++] = f;
}

struct finding *finding_add(struct finding_set *set, enum finding_kind kind)
{
	RD_ASSERT(kind < FINDING_KINDS);
	struct finding *f = rd_arena_alloc(set->arena, sizeof *f);

	f->kind = kind;
	f->status = FINDING_UNCONFIRMED;
	f->count = 1;
	finding_set_put(set, f);
	return f;
}

const char *finding_text(struct finding_set *set, const char *text)
{
	return text ? rd_arena_strndup(set->arena, text, strlen(text)) : NULL;
}

const char *finding_textf(struct finding_set *set, const char *format, ...)
{
	struct rd_buf text = RD_BUF_INIT;
	va_list ap;

	va_start(ap, format);
	rd_buf_vaddf(&text, format, ap);
	va_end(ap);
	const char *copy = rd_arena_strndup(set->arena, text.data, text.length);
	rd_buf_release(&text);
	return copy;
}

void *finding_array(struct finding_set *set, size_t count, size_t size)
{
	RD_ASSERT(size && count <= SIZE_MAX / 2 / size);
	return count ? rd_arena_alloc(set->arena, count * size) : NULL;
}

/* Each call copies the whole array.  That is fast enough, because a finding has few notes. */
void finding_note(struct finding_set *set, struct finding *f, const char *text)
{
	RD_ASSERT(text != NULL);
	const char **notes = finding_array(set, f->note_count + 1, sizeof *notes);

	if (f->note_count)
		memcpy(notes, f->notes, f->note_count * sizeof *notes);
	notes[f->note_count++] = finding_text(set, text);
	f->notes = notes;
}

struct schedule *finding_schedule_new(struct finding_set *set)
{
	struct schedule *s = rd_xcalloc(1, sizeof *s);

	schedule_init(s);
	RD_GROW(set->schedules, set->schedule_capacity, set->schedule_count + 1);
	set->schedules[set->schedule_count++] = s;
	return s;
}

struct schedule *finding_schedule_add(struct finding_set *set, struct finding *f)
{
	f->schedule = finding_schedule_new(set);
	return f->schedule;
}

/* ---- classes and witnesses ---- */

enum finding_class finding_worse(enum finding_class a, enum finding_class b)
{
	RD_ASSERT(a < FINDING_CLASSES && b < FINDING_CLASSES);
	if (a == FINDING_NO_CLASS || b == FINDING_NO_CLASS)
		return a == FINDING_NO_CLASS ? b : a;
	return a < b ? a : b;
}

void finding_classify(struct finding *f, enum finding_model model, enum finding_class class)
{
	RD_ASSERT(model < FINDING_MODELS && class < FINDING_CLASSES);
	f->classes[model] = class;
	f->class = FINDING_NO_CLASS;
	for (unsigned i = 0; i < FINDING_MODELS; i++)
		f->class = finding_worse(f->class, f->classes[i]);
}

void finding_unclassify(struct finding *f)
{
	if (f->class != FINDING_NO_CLASS)
		f->consequence = NULL;
	f->class = FINDING_NO_CLASS;
	for (unsigned i = 0; i < FINDING_MODELS; i++)
		f->classes[i] = FINDING_NO_CLASS;
	f->k = 0;
	f->note_count -= f->class_notes < f->note_count ? f->class_notes : f->note_count;
	f->class_notes = 0;
	f->witnesses = NULL;
	f->witness_count = 0;
}

/* Each call copies the whole array.  That is fast enough, because a finding has few witnesses. */
void finding_add_witness(struct finding_set *set, struct finding *f, const struct finding_witness *w)
{
	RD_ASSERT(w->class < FINDING_CLASSES && w->model < FINDING_MODELS);
	struct finding_witness *all = finding_array(set, f->witness_count + 1, sizeof *all);
	size_t at = 0;

	while (at < f->witness_count &&
	       finding_worse(f->witnesses[at].class, w->class) == f->witnesses[at].class)
		at++;
	for (size_t i = 0; i < f->witness_count; i++)
		all[i + (i >= at)] = f->witnesses[i];
	all[at] = *w;
	f->witnesses = all;
	f->witness_count++;
	for (size_t i = 1; i < f->witness_count; i++)
		RD_ASSERT(finding_worse(all[i - 1].class, all[i].class) == all[i - 1].class);
	f->input = all[0].input;
}

/* Whole numbers are written without an exponent: 1000000, not 1e+06. */
void finding_stat(struct finding_set *set, const char *name, double value)
{
	RD_ASSERT(name != NULL);
	const char *json = "null";

	if (isfinite(value))
		json = value == floor(value) && fabs(value) < 1e15 ? finding_textf(set, "%.0f", value)
								   : finding_textf(set, "%.6g", value);
	for (size_t i = 0; i < set->stat_count; i++) {
		if (strcmp(set->stats[i].name, name) == 0) {
			set->stats[i].json = json;
			return;
		}
	}
	RD_GROW(set->stats, set->stat_capacity, set->stat_count + 1);
	set->stats[set->stat_count++] = (struct finding_stat){finding_text(set, name), json};
}

uint64_t finding_stat_value(const struct finding_set *set, const char *name)
{
	for (size_t i = 0; i < set->stat_count; i++)
		if (strcmp(set->stats[i].name, name) == 0)
			return strtoull(set->stats[i].json, NULL, 10);
	return 0;
}

size_t finding_position(const struct finding_set *set, const char *fingerprint)
{
	RD_ASSERT(fingerprint != NULL);
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->items[i]->fingerprint, fingerprint) == 0)
			return i;
	return SIZE_MAX;
}

struct finding *finding_at(const struct finding_set *set, const char *fingerprint)
{
	size_t i = finding_position(set, fingerprint);

	return i < set->count ? set->items[i] : NULL;
}

struct finding *finding_find(const struct finding_set *set, const char *id)
{
	RD_ASSERT(id != NULL);
	size_t length = strlen(id);
	struct finding *found = NULL;

	if (length < FINDING_ID_LEAST || length >= FINDING_ID_SIZE)
		return NULL;
	for (size_t i = 0; i < set->count; i++) {
		if (strncmp(set->items[i]->id, id, length) != 0)
			continue;
		if (found)
			return NULL;
		found = set->items[i];
	}
	return found;
}

/* For a mixed race, returns the access that is not atomic.  The atomic access shows that the object
 * is probably a lock word or a flag, not data. */
const struct finding_access *finding_plain_side(const struct finding *f)
{
	const struct finding_access *a = f->accesses;

	if (f->kind != FINDING_RACE || f->access_count != 2 || a[0].atomic == a[1].atomic)
		return NULL;
	a += a->atomic;
	return a->op == FINDING_READ || a->op == FINDING_WRITE ? a : NULL;
}

/* Returns true if the schedule leads to the confirmed finding.  The detector may have seen the race
 * by chance, while the threads were led to another goal.  Such a race counts as reproduced only if
 * the finding contains the schedule of that run. */
bool finding_is_reproduced(const struct finding *f)
{
	return f->status == FINDING_CONFIRMED && (!f->observed || (f->schedule && f->schedule->nowhere));
}

bool finding_is_fresh(const struct finding *f)
{
	return !f->known && !f->suppressed;
}

size_t finding_pairs_both(const struct finding_set *set)
{
	size_t both = 0;

	for (size_t i = 0; i < set->pair_count; i++)
		both += set->pairs[i].first[0] && set->pairs[i].first[1];
	return both;
}

size_t finding_set_count(const struct finding_set *set, enum finding_status status, bool fresh)
{
	RD_ASSERT(status < FINDING_STATUSES);
	size_t n = 0;

	for (size_t i = 0; i < set->count; i++)
		n += set->items[i]->status == status && (!fresh || finding_is_fresh(set->items[i]));
	return n;
}

const struct finding_frame *finding_top(const struct finding_stack *stack)
{
	static const struct finding_frame nowhere;

	for (size_t i = 0; i < stack->count; i++)
		if (stack->frames[i].file)
			return &stack->frames[i];
	return stack->count ? &stack->frames[0] : &nowhere;
}

bool finding_is_library(const struct finding_frame *frame)
{
	return frame->file && rd_is_library_source(frame->file);
}

const struct finding_frame *finding_own_code_frame(const struct finding_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		if (stack->frames[i].file && !finding_is_library(&stack->frames[i]))
			return &stack->frames[i];
	return finding_top(stack);
}

const struct finding_stack *finding_side(const struct finding *f, size_t i)
{
	static const struct finding_stack none;

	if (i < f->access_count)
		return &f->accesses[i].stack;
	i -= f->access_count;
	return i < f->cycle_count ? &f->cycle[i].stack : &none;
}

const struct finding_thread *finding_thread(const struct finding *f, const char *name)
{
	for (size_t i = 0; name && i < f->thread_count; i++)
		if (f->threads[i].name && strcmp(f->threads[i].name, name) == 0)
			return &f->threads[i];
	return NULL;
}

enum finding_detail finding_detail(const struct finding *f)
{
	size_t ops[FINDING_OPS] = {0};

	for (size_t i = 0; f->kind == FINDING_RACE && i < f->access_count; i++)
		ops[f->accesses[i].op]++;
	if (ops[FINDING_FREE])
		return ops[FINDING_FREE] > 1 ? FINDING_DOUBLE_FREE : FINDING_USE_AFTER_FREE;
	if (ops[FINDING_DESTROY] == 1)
		return FINDING_USE_AFTER_DESTROY;
	return ops[FINDING_CLOSE] == 1 ? FINDING_USE_AFTER_CLOSE : FINDING_PLAIN;
}

const char *finding_detail_name(enum finding_detail detail)
{
	static const char *const names[FINDING_DETAILS] = {NULL, "use-after-free", "double-free",
							   "use-after-destroy", "use-after-close"};

	RD_ASSERT(detail < FINDING_DETAILS);
	return names[detail];
}
