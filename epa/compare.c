// SPDX-License-Identifier: Apache-2.0
/*
 * The comparison of a run with a reference.
 *
 * Each record of the run is packed into words and compared with those at the cursor of its thread;
 * only if they differ is anything unpacked.
 */
#include "epa/compare.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

const char *epa_deviation_name(enum epa_deviation_kind kind)
{
	static const char *const names[] = {"none", "data", "address", "control", "missing", "extra"};
	return names[kind];
}

uint32_t epa_deviation_site(const struct epa_deviation *d)
{
	return d->has_run ? d->run.site : d->golden.site;
}

enum epa_deviation_kind epa_classify(const struct epa_record *golden, const struct epa_record *run,
				     unsigned *slot)
{
	*slot = 0;
	if (golden->site != run->site || golden->kind != run->kind || golden->event != run->event)
		return EPA_CONTROL;
	for (unsigned i = 0; i < golden->count && i < run->count; i++) {
		if (epa_name_same(golden->slots[i], run->slots[i]))
			continue;
		*slot = i;
		return i == 0 && epa_record_has_address(run) ? EPA_ADDRESS : EPA_DATA;
	}
	/* The thread died in it, or values of another number of bytes. */
	if (run->unfinished != golden->unfinished)
		return EPA_MISSING;
	*slot = golden->count < run->count ? golden->count : run->count;
	return golden->count == run->count ? EPA_SAME : EPA_DATA;
}

/* --- one run ---------------------------------------------------------------------------------------- */

struct run_thread {
	size_t reference; /* SIZE_MAX: the golden run has no such thread */
	struct epa_cursor cursor;
	bool ended, seen;
	uint32_t *calls; /* by depth: the site of the last call there */
	size_t call_count, call_capacity;
};

struct comparing {
	const struct epa_reference *ref;
	struct epa_walk *walk;
	struct epa_sanitizer *sanitizer;
	struct epa_comparison *out;
	struct run_thread *threads; /* by place */
	bool *met;		    /* by index of the reference's threads */
	bool exited;		    /* the process, by itself */
	int err;
};

static struct run_thread *thread_of(struct comparing *c, size_t place)
{
	struct run_thread *t = &c->threads[place];
	if (t->seen)
		return t;
	t->seen = true;
	t->reference =
		epa_reference_find(c->ref, epa_objects_thread(epa_sanitizer_objects(c->sanitizer), place));
	if (t->reference != SIZE_MAX) {
		c->met[t->reference] = true;
		epa_cursor_open(&t->cursor, c->ref, t->reference);
	}
	return t;
}

static void set_thread(struct comparing *c, struct epa_deviation *d, size_t place)
{
	d->thread = rd_xstrdup(epa_walk_name(c->walk, place));
	d->number = c->threads[place].cursor.number;
}

/* The call sites of the scopes around the record, innermost first. */
static void set_stack(struct epa_deviation *d, const struct run_thread *t, const struct epa_record *r)
{
	d->depth = 0;
	for (size_t i = r->depth; i-- > 1;) {
		if (d->depth < EPA_STACK_MAX)
			d->stack[d->depth] = i < t->call_count ? t->calls[i] : 0;
		d->depth++;
	}
}

static void note_call(struct run_thread *t, const struct epa_record *r)
{
	while (t->call_count <= r->depth) {
		RD_GROW(t->calls, t->call_capacity, t->call_count + 1);
		t->calls[t->call_count++] = 0;
	}
	t->calls[r->depth] = r->site;
}

/* The run's record is not the golden one, whose words are given; NULL: there is none. */
static void deviate(struct comparing *c, const struct epa_record *r, const uint64_t *golden)
{
	struct epa_deviation *d = &c->out->first;
	c->out->deviated = true;
	d->kind = EPA_EXTRA;
	d->has_run = true;
	d->run = *r;
	if (golden) {
		epa_record_unpack(&d->golden, golden);
		d->golden.op = d->golden.site == r->site ? r->op : NULL;
		d->has_golden = true;
		d->kind = epa_classify(&d->golden, &d->run, &d->slot);
	}
	set_thread(c, d, r->place);
	set_stack(d, &c->threads[r->place], r);
}

/* 1: the record is as in the golden run, or the end of a thread that the exit cut off. */
static bool agrees(struct comparing *c, const struct epa_record *r, const uint64_t **golden)
{
	struct run_thread *t = thread_of(c, r->place);
	uint64_t words[EPA_WORDS];
	size_t n = epa_record_pack(r, words);
	*golden = t->reference == SIZE_MAX ? NULL : epa_cursor_peek(&t->cursor);
	if (*golden && (*golden)[0] == words[0] && memcmp(words, *golden, n * sizeof *words) == 0) {
		epa_cursor_skip(&t->cursor);
		return true;
	}
	/* The exit of the golden run cut this thread off where it happened to be, before its first record
	 * maybe: if there was none its creator tells. */
	return !*golden && !t->cursor.err && (t->reference == SIZE_MAX || !t->cursor.thread->ended);
}

static void note_end(struct comparing *c, const struct epa_record *r)
{
	if (r->event == RADDLE_EXIT)
		c->exited = true;
	if (r->event == RADDLE_EXIT || r->event == RADDLE_THREAD_END)
		c->threads[r->place].ended = true;
}

static void compare_records(struct comparing *c)
{
	struct epa_record r;
	while (epa_sanitizer_next(c->sanitizer, &r) > 0) {
		const uint64_t *golden;
		c->out->records++;
		if (!agrees(c, &r, &golden)) {
			deviate(c, &r, golden);
			return;
		}
		if (r.kind == TRACE_FULL_CALL)
			note_call(&c->threads[r.place], &r);
		else if (r.kind == TRACE_FULL_EVENT)
			note_end(c, &r);
	}
}

/* What the golden run has behind the last record of a thread. */
static bool find_missing(struct comparing *c, size_t place)
{
	struct run_thread *t = &c->threads[place];
	struct epa_deviation *d = &c->out->first;
	const uint64_t *golden = t->seen && t->reference != SIZE_MAX ? epa_cursor_peek(&t->cursor) : NULL;
	if (!golden || (c->exited && !t->ended && !t->cursor.thread->ended))
		return false;
	c->out->deviated = true;
	d->kind = EPA_MISSING;
	d->has_golden = true;
	epa_record_unpack(&d->golden, golden);
	d->golden.op = NULL;
	set_thread(c, d, place);
	return true;
}

/* A thread that the run does not have at all. */
static bool find_missing_thread(struct comparing *c, size_t index)
{
	struct epa_deviation *d = &c->out->first;
	const struct epa_reference_thread *thread = epa_reference_thread(c->ref, index);
	struct epa_cursor cursor;
	const uint64_t *golden;
	/* It may have been created, and the exit came before its first record. */
	if (c->met[index] || (c->exited && !thread->ended))
		return false;
	epa_cursor_open(&cursor, c->ref, index);
	golden = epa_cursor_peek(&cursor);
	if (golden) {
		c->out->deviated = true;
		d->kind = EPA_MISSING;
		d->has_golden = true;
		epa_record_unpack(&d->golden, golden);
		d->golden.op = NULL;
		d->thread = rd_xstrdup(epa_names_text(epa_reference_names(c->ref), thread->name));
	}
	epa_cursor_close(&cursor);
	return golden != NULL;
}

static void compare_ends(struct comparing *c)
{
	/* Where several threads stop short, a death is one of them and the others are its consequences. */
	for (size_t i = 0; i < epa_walk_threads(c->walk) && !c->out->deviated; i++)
		find_missing(c, i);
	for (size_t i = 0; i < epa_reference_threads(c->ref) && !c->out->deviated; i++)
		find_missing_thread(c, i);
}

static int check_same_program(const struct epa_reference *ref, const struct epa_source *run)
{
	const struct trace_sites *a = epa_source_sites(epa_reference_source(ref)), *b = epa_source_sites(run);
	if (a == b || (a->site_count == b->site_count && a->unit_count == b->unit_count &&
		       a->piece_count == b->piece_count && a->placed_count == b->placed_count))
		return RD_OK;
	return rd_fail(RD_EUSAGE, "%s and %s are not runs of the same program",
		       epa_source_name(epa_reference_source(ref)), epa_source_name(run));
}

static void close_threads(struct comparing *c)
{
	for (size_t i = 0; i < epa_walk_threads(c->walk); i++) {
		if (c->threads[i].cursor.err && !c->err)
			c->err = c->threads[i].cursor.err;
		epa_cursor_close(&c->threads[i].cursor);
		free(c->threads[i].calls);
	}
	free(c->threads);
	free(c->met);
}

int epa_compare(const struct epa_reference *ref, struct epa_source *run,
		const struct epa_compare_options *options, struct epa_comparison *out)
{
	struct comparing c = {.ref = ref, .out = out};
	int err = check_same_program(ref, run);
	(void)options;
	if (err)
		return err;
	err = epa_walk_open(&c.walk, run);
	if (err)
		return err;
	*out = (struct epa_comparison){0};
	epa_names_init(&out->names, epa_reference_names(ref));
	c.sanitizer = epa_sanitizer_new(c.walk, &out->names);
	c.threads = rd_xcalloc(epa_walk_threads(c.walk) + 1, sizeof *c.threads);
	c.met = rd_xcalloc(epa_reference_threads(ref) + 1, sizeof *c.met);
	compare_records(&c);
	if (!out->deviated)
		compare_ends(&c);
	close_threads(&c);
	epa_sanitizer_free(c.sanitizer);
	epa_walk_close(c.walk);
	if (c.err)
		epa_comparison_release(out);
	return c.err;
}

void epa_comparison_release(struct epa_comparison *c)
{
	free(c->first.thread);
	epa_names_release(&c->names);
	*c = (struct epa_comparison){0};
}
