// SPDX-License-Identifier: Apache-2.0
/*
 * Compares a run with a reference, which is the golden run (epa/compare.h).
 *
 * Each record of the run is packed into words and compared with the golden words at its thread's
 * cursor.  Nothing is unpacked until the words of a record differ, which is the first deviation.
 * If the caller wants the propagation, this file then creates an aligner for every thread.  The
 * aligner passes pairs of records to the propagator.
 */
#include "epa/compare.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

uint32_t epa_deviation_site(const struct epa_deviation *d)
{
	return d->has_run ? d->run.site : d->golden.site;
}

/* Returns true if the code of a site, or a function that it was inlined into, belongs to the
 * program itself. */
static bool is_own(const struct trace_sites *sites, uint32_t site)
{
	struct trace_frame frames[8];
	size_t count = trace_sites_frames(sites, site, frames, 8);
	for (size_t i = 0; i < count && i < 8; i++)
		if (*frames[i].file && !rd_is_library_source(frames[i].file))
			return true;
	return false;
}

uint32_t epa_deviation_own_site(const struct epa_deviation *d, const struct trace_sites *sites)
{
	uint32_t site = epa_deviation_site(d);
	if (is_own(sites, site))
		return site;
	for (size_t i = 0; i < d->depth && i < EPA_STACK_MAX; i++)
		if (is_own(sites, d->stack[i]))
			return d->stack[i];
	return site;
}

struct run_thread {
	/* The index of the thread in the reference, or SIZE_MAX if the golden run has no such
	 * thread. */
	size_t reference;
	struct epa_cursor cursor;
	struct epa_aligner *aligner; /* NULL until the first deviation */
	bool ended, seen;
	/* Another thread joined this one, so it has ended, even if its records do not show that. */
	bool joined;
	uint64_t records;
	uint32_t site, depth; /* site and call depth of the last record */
	uint8_t kind;
	uint32_t *calls; /* the site of the last call at each call depth */
	size_t call_count, call_capacity;
};

struct comparison_state {
	const struct epa_reference *ref;
	struct epa_walk *walk;
	struct epa_sanitizer *sanitizer;
	struct epa_comparison *out;
	/* NULL until the first deviation, or if propagation is not requested. */
	struct epa_propagator *propagator;
	/* The states of the run's threads, indexed by place in the walk. */
	struct run_thread *threads;
	/* `met` and `lost` are indexed by the thread's index in the reference.  `met` is true if
	 * the thread was handled, and `lost` if the run does not have it. */
	bool *met, *lost;
	bool exited; /* the process exited by itself */
	struct cut_access {
		/* `found` means that only one of the runs finished some access; `died` means that
		 * neither run finished some access. */
		bool found, died;
		struct epa_record run;
		uint64_t golden[EPA_WORDS];
	} cut;
	/* The place of a thread that deviated before the fault was reached.  Its deviation counts
	 * as the first one, unless the faulty thread deviates too. */
	size_t held;
	struct epa_compare_options options;
	bool propagation;
	int err;
};

static struct run_thread *thread_of(struct comparison_state *c, size_t place)
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

/* --- the first deviation --- */

static void set_thread(struct comparison_state *c, struct epa_deviation *d, size_t place)
{
	d->thread = rd_xstrdup(epa_walk_name(c->walk, place));
	d->number = c->threads[place].cursor.number;
	d->previous_site = c->threads[place].site;
}

/* Stores the call sites of the scopes around a record, innermost first. */
static void set_stack(struct epa_deviation *d, const struct run_thread *t, uint32_t depth)
{
	d->depth = 0;
	for (size_t i = depth; i-- > 1;) {
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

/* Stores the deviation of a record from the golden record, whose words are given.  `golden` is NULL
 * if there is no golden record. */
static void deviate(struct comparison_state *c, const struct epa_record *r, const uint64_t *golden)
{
	struct epa_deviation *d = &c->out->first;
	c->out->deviated = true;
	d->kind = EPA_EXTRA;
	d->has_run = true;
	d->run = *r;
	if (golden) {
		epa_reference_unpack(c->ref, &d->golden, golden);
		d->has_golden = true;
		d->kind = epa_classify(&d->golden, &d->run, &d->slot);
	}
	set_thread(c, d, r->place);
	set_stack(d, &c->threads[r->place], r->depth);
}

/* Stores a deviation that consists of a missing record: the run has no more records, but there is a
 * golden one. */
static void deviate_missing(struct comparison_state *c, const uint64_t *golden)
{
	struct epa_deviation *d = &c->out->first;
	c->out->deviated = true;
	d->kind = EPA_MISSING;
	d->has_golden = true;
	epa_reference_unpack(c->ref, &d->golden, golden);
}

/* Compares packed records.  The first word determines the number of words. */
static bool same_words(const uint64_t *a, const uint64_t *b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* Returns true if both records are the same access, and only one of the runs finished it.  In the
 * other run, the thread died during the access, or was cut off because the process exited or
 * another thread died.  Which of these is the reason is known only after the last record. */
static bool is_cut_within(const struct epa_record *r, const uint64_t *golden)
{
	struct epa_record g;
	if (epa_packed_key(golden[0]) != epa_record_key(r))
		return false;
	epa_record_unpack(&g, golden);
	return g.unfinished != r->unfinished && g.count && r->count && g.slots[0].who == r->slots[0].who &&
	       g.slots[0].where == r->slots[0].where;
}

/* Returns true if the thread ended only because its run exited. */
static bool is_cut_by_exit(const struct comparison_state *c, const struct epa_record *r)
{
	return r->unfinished ? c->exited : !epa_reference_was_killed(c->ref);
}

static void note_cut(struct comparison_state *c, const struct epa_record *r, const uint64_t *golden)
{
	const char *struck = c->options.faulty_thread;
	if (c->cut.found && (!struck || strcmp(epa_walk_name(c->walk, r->place), struck) != 0))
		return;
	c->cut.found = true;
	c->cut.run = *r;
	memcpy(c->cut.golden, golden, epa_packed_size(golden[0]) * sizeof *golden);
}

/* Returns true if the record equals the golden one.  Also returns true if the golden run's exit cut
 * the thread off before this point, so that there is no golden record. */
static bool agrees(struct comparison_state *c, const struct epa_record *r, const uint64_t **golden)
{
	struct run_thread *t = thread_of(c, r->place);
	uint64_t words[EPA_WORDS];
	size_t n = epa_record_pack(r, words);
	*golden = t->reference == SIZE_MAX ? NULL : epa_cursor_peek(&t->cursor);
	if (*golden && same_words(words, *golden, n)) {
		epa_cursor_skip(&t->cursor);
		c->cut.died |= r->unfinished;
		return true;
	}
	if (*golden && is_cut_within(r, *golden)) {
		/* If the record is unfinished, only compare_ends() knows whether the run exited. */
		if (r->unfinished || !is_cut_by_exit(c, r))
			note_cut(c, r, *golden);
		if (!r->unfinished)
			epa_cursor_skip(&t->cursor);
		return true;
	}
	/* The exit of the golden run cut this thread off at an arbitrary point, perhaps before its
	 * first record.  If it has no record, only the records of its creator show that it
	 * existed. */
	return !*golden && !t->cursor.err && (t->reference == SIZE_MAX || !t->cursor.thread->ended);
}

/* --- the propagation --- */

static void start_propagation(struct comparison_state *c)
{
	c->propagator = epa_propagator_new(epa_sanitizer_objects(c->sanitizer), &c->out->propagation,
					   epa_walk_threads(c->walk));
}

/* Handles a golden thread that the run does not have. */
static void report_missing_thread(struct comparison_state *c, size_t index)
{
	const struct epa_reference_thread *thread = epa_reference_thread(c->ref, index);
	struct epa_cursor cursor;
	const uint64_t *golden;
	struct epa_record r;
	c->met[index] = c->lost[index] = true;
	epa_cursor_open(&cursor, c->ref, index);
	golden = epa_cursor_peek(&cursor);
	if (golden && !c->out->deviated) {
		deviate_missing(c, golden);
		c->out->first.thread = rd_xstrdup(epa_names_text(epa_reference_names(c->ref), thread->name));
	}
	if (golden && c->propagation) {
		if (!c->propagator)
			start_propagation(c);
		epa_reference_unpack(c->ref, &r, golden);
		epa_propagator_lost_thread(c->propagator, thread->name, &r);
	}
	for (; golden && c->propagation; golden = epa_cursor_peek(&cursor)) {
		epa_reference_unpack(c->ref, &r, golden);
		epa_propagator_lost_record(c->propagator, &r);
		epa_cursor_skip(&cursor);
	}
	if (cursor.err && !c->err)
		c->err = cursor.err;
	epa_cursor_close(&cursor);
}

/* Handles the threads that only the golden run created, as far as they are already known. */
static void report_missing_threads(struct comparison_state *c)
{
	size_t place, reference;
	uint64_t index;
	while (epa_propagator_missing(c->propagator, &place, &index)) {
		char *name = rd_xasprintf("%s_%" PRIu64, epa_walk_name(c->walk, place), index);
		reference = epa_reference_find(c->ref, epa_names_put(&c->out->names, name, strlen(name)));
		if (reference != SIZE_MAX && !c->met[reference])
			report_missing_thread(c, reference);
		free(name);
	}
}

static void align(struct comparison_state *c, const struct epa_record *r)
{
	struct run_thread *t = thread_of(c, r->place);
	if (!t->aligner) {
		struct epa_align_sink sink = epa_propagator_sink(c->propagator);
		struct epa_record last = {
			.site = t->site, .kind = t->kind, .depth = t->depth, .place = r->place};
		t->aligner = epa_aligner_new(&sink, &last, t->reference == SIZE_MAX ? NULL : &t->cursor);
		epa_propagator_begin(c->propagator, &last);
	}
	epa_aligner_feed(t->aligner, r);
	report_missing_threads(c);
}

/* Returns true if the golden run did not create the thread. */
static bool is_extra(struct comparison_state *c, size_t place)
{
	const struct trace_event *start = epa_walk_start(c->walk, epa_walk_number(c->walk, place));
	size_t parent = epa_objects_parent(epa_sanitizer_objects(c->sanitizer), place);
	if (!start || parent == SIZE_MAX)
		return false;
	const struct run_thread *t = thread_of(c, parent);
	return t->reference == SIZE_MAX ? is_extra(c, parent) : start->values[3] >= t->cursor.thread->created;
}

/* Returns true if the golden run's exit cut the thread off before this point, perhaps even before
 * its first record. */
static bool is_beyond(struct comparison_state *c, size_t place)
{
	const struct run_thread *t = thread_of(c, place);
	if (t->reference == SIZE_MAX)
		return !is_extra(c, place);
	return !t->cursor.thread->ended && t->cursor.number == t->cursor.thread->records;
}

/* --- comparing all records --- */

static void note_join(struct comparison_state *c, const struct epa_record *r)
{
	const struct epa_objects *objects = epa_sanitizer_objects(c->sanitizer);
	for (size_t i = 0; i < epa_walk_threads(c->walk); i++)
		if (epa_objects_thread(objects, i) == epa_name_thread(r->slots[0]))
			c->threads[i].joined |= r->slots[1].where == 0;
}

static void note_end(struct comparison_state *c, const struct epa_record *r)
{
	if (r->event == RADDLE_THREAD_JOIN)
		note_join(c, r);
	if (r->event == RADDLE_EXIT)
		c->exited = true;
	if (raddle_role(r->event) == RADDLE_ROLE_END)
		c->threads[r->place].ended = true;
}

static void end_thread(struct comparison_state *c, size_t place);

static void note(struct comparison_state *c, const struct epa_record *r)
{
	struct run_thread *t = &c->threads[r->place];
	t->site = r->site;
	t->kind = r->kind;
	t->depth = r->depth;
	t->records++;
	if (r->kind == TRACE_FULL_CALL)
		note_call(t, r);
	else if (r->kind == TRACE_FULL_EVENT)
		note_end(c, r);
	/* Missing records must be known before other threads use their effects. */
	if (c->propagator && r->kind == TRACE_FULL_EVENT && r->event == RADDLE_THREAD_END)
		end_thread(c, r->place);
}

/* Returns true if the caller wants to ignore this deviation.  Only different values and calls that
 * were not made can be ignored. */
static bool is_ignored(struct comparison_state *c, const struct epa_record *r)
{
	struct epa_deviation *d = &c->out->first;
	bool more = r->kind == TRACE_FULL_FAULT;
	if (!c->options.ignore || (d->kind != EPA_DATA && !more) || !c->options.ignore(c->options.context, d))
		return false;
	free(d->thread);
	*d = (struct epa_deviation){0};
	c->out->deviated = false;
	if (!more)
		epa_cursor_skip(&c->threads[r->place].cursor);
	return true;
}

/* Returns true if a thread other than the faulty one deviates before the walk has reached the
 * fault.  The walk also orders records that are unordered: a record without q follows directly
 * after its thread's last record with q.  So the fault may still lie ahead, among such records of
 * the faulty thread, although its effects have already reached this thread. */
static bool is_before_fault(const struct comparison_state *c, const struct epa_record *r)
{
	size_t count;
	(void)epa_sanitizer_faults(c->sanitizer, &count);
	return c->options.faulty_thread && count == 0 &&
	       strcmp(epa_walk_name(c->walk, r->place), c->options.faulty_thread) != 0;
}

/* Compares records after another thread has deviated, to find a deviation of the faulty thread.
 * Returns false when the search can stop: a deviation was found, or the thread that deviated first
 * did something for which other threads may have waited. */
static bool await_faulty_thread(struct comparison_state *c, const struct epa_record *r)
{
	const uint64_t *golden;
	if (r->place == c->held)
		return r->kind != TRACE_FULL_EVENT && r->kind != TRACE_FULL_ATOMIC &&
		       r->kind != TRACE_FULL_FENCE;
	if (strcmp(epa_walk_name(c->walk, r->place), c->options.faulty_thread) != 0 || agrees(c, r, &golden))
		return true;
	free(c->out->first.thread);
	c->out->first = (struct epa_deviation){0};
	deviate(c, r, golden);
	return false;
}

/* Compares the next record.  Returns false if the comparison can stop. */
static bool compare_record(struct comparison_state *c, const struct epa_record *r)
{
	const uint64_t *golden;
	struct epa_move move;
	if (c->held != SIZE_MAX)
		return await_faulty_thread(c, r);
	c->out->records++;
	if (c->propagator) {
		if (epa_objects_take_move(epa_sanitizer_objects(c->sanitizer), &move))
			epa_propagator_move(c->propagator, &move);
		if (!is_beyond(c, r->place))
			align(c, r);
		return true;
	}
	if (agrees(c, r, &golden))
		return true;
	deviate(c, r, golden);
	if (c->propagation) {
		start_propagation(c);
		align(c, r);
		return true;
	}
	if (is_ignored(c, r))
		return true;
	if (!is_before_fault(c, r))
		return false;
	c->held = r->place;
	return true;
}

/* Skips the following records, without unpacking them, as long as they equal the golden ones.
 * After an equal record, usually many more are equal. */
static void pass_equal(struct comparison_state *c, size_t place)
{
	struct run_thread *t = &c->threads[place];
	struct epa_cursor *cursor = &t->cursor;
	struct epa_passed passed;
	while (t->seen && t->reference != SIZE_MAX && epa_cursor_peek(cursor)) {
		epa_sanitizer_pass(c->sanitizer, cursor->words + cursor->at, cursor->words + cursor->used,
				   &passed);
		if (!passed.records)
			return;
		cursor->at += passed.words;
		cursor->number += passed.records;
		c->out->records += passed.records;
		t->records += passed.records;
		t->site = passed.site;
		t->kind = passed.kind;
		t->depth = (uint32_t)epa_objects_depth(epa_sanitizer_objects(c->sanitizer), place);
		if (cursor->at < cursor->used)
			return;
	}
}

static void compare_records(struct comparison_state *c)
{
	struct epa_record r;
	while (epa_sanitizer_next(c->sanitizer, &r) > 0) {
		if (!compare_record(c, &r))
			return;
		note(c, &r);
		if (!c->propagator && !c->options.slow && c->held == SIZE_MAX)
			pass_equal(c, epa_walk_place(c->walk));
	}
}

/* --- the ends of threads and runs --- */

/* Returns true if the end of the run cut the thread off at an arbitrary point, as in the golden
 * run.  Either both runs exited, or both were killed. */
static bool is_cut_off(const struct comparison_state *c, const struct run_thread *t)
{
	return (c->exited || epa_reference_was_killed(c->ref)) && !t->ended && !t->joined;
}

/* Returns the golden record that follows the thread's last record.  Returns NULL if there is none,
 * or if the thread was cut off there. */
static const uint64_t *missing_of(struct comparison_state *c, struct run_thread *t)
{
	const uint64_t *golden = t->seen && t->reference != SIZE_MAX ? epa_cursor_peek(&t->cursor) : NULL;
	return golden && !is_cut_off(c, t) ? golden : NULL;
}

static void end_thread(struct comparison_state *c, size_t place)
{
	struct run_thread *t = &c->threads[place];
	const uint64_t *golden;
	struct epa_align_sink sink;
	struct epa_record r;
	if (t->aligner)
		epa_aligner_end(t->aligner);
	golden = missing_of(c, t);
	if (!golden)
		return;
	if (!c->out->deviated) {
		deviate_missing(c, golden);
		set_thread(c, &c->out->first, place);
		set_stack(&c->out->first, t, t->depth);
	}
	if (!c->propagation)
		return;
	if (!c->propagator)
		start_propagation(c);
	if (!t->aligner)
		epa_propagator_begin(c->propagator, &(struct epa_record){.site = t->site,
									 .kind = t->kind,
									 .depth = t->depth,
									 .place = place});
	sink = epa_propagator_sink(c->propagator);
	epa_reference_unpack(c->ref, &r, golden);
	sink.part(sink.context, place, &r, NULL, t->cursor.number);
	for (; golden; golden = epa_cursor_peek(&t->cursor)) {
		epa_reference_unpack(c->ref, &r, golden);
		sink.only(sink.context, place, &r, true);
		epa_cursor_skip(&t->cursor);
	}
}

/* Handles a golden thread that is missing from the run.  If the run ended by exit(), or if both
 * runs were killed, the thread may have been created without having written a record.  In that
 * case, the records of its creator show it. */
static void end_reference(struct comparison_state *c, size_t index)
{
	if (!c->met[index] && !c->exited && !epa_reference_was_killed(c->ref))
		report_missing_thread(c, index);
}

static void compare_ends(struct comparison_state *c)
{
	bool goes_on = true;
	if (c->propagator)
		epa_propagator_stop(c->propagator);
	/* If several threads stop early, one of them died and the others were cut off.  The thread
	 * that died has not finished its last record. */
	if (!c->out->deviated && c->cut.found && !c->cut.died && !is_cut_by_exit(c, &c->cut.run)) {
		deviate(c, &c->cut.run, c->cut.golden);
		if (c->propagation) {
			start_propagation(c);
			align(c, &c->cut.run);
		}
		goes_on = c->propagation;
	}
	for (size_t i = 0; i < epa_walk_threads(c->walk) && goes_on; i++) {
		end_thread(c, i);
		goes_on = !c->out->deviated || c->propagation;
	}
	for (size_t i = 0; i < epa_reference_threads(c->ref) && goes_on; i++) {
		end_reference(c, i);
		goes_on = !c->out->deviated || c->propagation;
	}
	if (c->propagator)
		epa_propagator_finish(c->propagator);
}

/* --- results --- */

static void list_threads(struct comparison_state *c)
{
	struct epa_comparison *out = c->out;
	size_t threads = epa_walk_threads(c->walk), golden = epa_reference_threads(c->ref);
	out->threads = rd_xcalloc(threads + golden + 1, sizeof *out->threads);
	for (size_t i = 0; i < threads; i++) {
		struct run_thread *t = &c->threads[i];
		struct epa_compared_thread *r = &out->threads[out->thread_count];
		if (!t->seen)
			continue;
		out->thread_count++;
		r->name = epa_objects_thread(epa_sanitizer_objects(c->sanitizer), i);
		r->run = t->records;
		r->golden = t->reference == SIZE_MAX ? 0 : t->cursor.thread->records;
		r->counts = *epa_propagator_counts(c->propagator, i);
	}
	for (size_t i = 0; i < golden; i++) {
		const struct epa_reference_thread *t = epa_reference_thread(c->ref, i);
		struct epa_compared_thread *r = &out->threads[out->thread_count];
		if (!c->lost[i])
			continue;
		out->thread_count++;
		r->name = t->name;
		r->golden = t->records;
		r->counts.counts[EPA_MISSING] = t->records;
	}
}

static void take_faults(struct comparison_state *c)
{
	const struct epa_fault *list = epa_sanitizer_faults(c->sanitizer, &c->out->fault_count);
	memcpy(c->out->faults, list, c->out->fault_count * sizeof *list);
}

size_t epa_node_fault(const struct epa_comparison *c, size_t node)
{
	RD_ASSERT(node < c->propagation.node_count);
	const struct epa_propagation *p = &c->propagation;
	for (size_t i = 0; i < p->edge_count; i++)
		if (p->edges[i].to == node && p->edges[i].first)
			return SIZE_MAX;
	for (size_t i = 0; i < c->fault_count; i++)
		if (c->faults[i].thread == p->nodes[node].thread)
			return i;
	return SIZE_MAX;
}

static void close_all(struct comparison_state *c)
{
	for (size_t i = 0; i < epa_walk_threads(c->walk); i++) {
		struct run_thread *t = &c->threads[i];
		if (t->cursor.err && !c->err)
			c->err = t->cursor.err;
		epa_aligner_free(t->aligner);
		epa_cursor_close(&t->cursor);
		free(t->calls);
	}
	RD_FREE(c->threads, c->met, c->lost);
	epa_propagator_free(c->propagator);
	epa_sanitizer_free(c->sanitizer);
	epa_walk_close(c->walk);
}

/* Returns true if both traces have the same sites.  Comparing slots is enough, because the slot of
 * a unit is derived from its content. */
static bool same_sites(const struct trace_sites *a, const struct trace_sites *b)
{
	if (a->site_count != b->site_count || a->unit_count != b->unit_count ||
	    a->piece_count != b->piece_count || a->placed_count != b->placed_count)
		return false;
	for (size_t i = 0; i < a->unit_count; i++)
		if (a->units[i].slot != b->units[i].slot || a->units[i].site_count != b->units[i].site_count)
			return false;
	return true;
}

static int check_same_program(const struct epa_reference *ref, const struct epa_source *run)
{
	const struct trace_sites *a = epa_source_sites(epa_reference_source(ref)), *b = epa_source_sites(run);
	if (a == b || same_sites(a, b))
		return RD_OK;
	return rd_fail(RD_EUSAGE, "%s and %s are not runs of the same program",
		       epa_source_name(epa_reference_source(ref)), epa_source_name(run));
}

static int compare_once(const struct epa_reference *ref, struct epa_source *run,
			const struct epa_compare_options *options, struct epa_comparison *out)
{
	struct comparison_state c = {.ref = ref,
				     .out = out,
				     .held = SIZE_MAX,
				     .options = options ? *options : (struct epa_compare_options){0},
				     .propagation = options && options->propagation};
	int err = check_same_program(ref, run);
	if (!err)
		err = epa_walk_open(&c.walk, run);
	if (err)
		return err;
	*out = (struct epa_comparison){0};
	epa_names_init(&out->names, epa_reference_names(ref));
	c.sanitizer = epa_sanitizer_new(c.walk, &out->names);
	c.threads = rd_xcalloc(epa_walk_threads(c.walk) + 1, sizeof *c.threads);
	c.met = rd_xcalloc(epa_reference_threads(ref) + 1, sizeof *c.met);
	c.lost = rd_xcalloc(epa_reference_threads(ref) + 1, sizeof *c.lost);
	compare_records(&c);
	if (!out->deviated || c.propagation)
		compare_ends(&c);
	if (c.propagator)
		list_threads(&c);
	take_faults(&c);
	out->damage = epa_walk_error(c.walk);
	close_all(&c);
	if (c.err)
		epa_comparison_release(out);
	return c.err;
}

/* Determines the first deviation again.  The faulty thread is known now, so another deviation may
 * turn out to be the first. */
static int settle_first(const struct epa_reference *ref, struct epa_source *run, struct epa_comparison *out)
{
	const char *struck = epa_names_text(&out->names, out->faults[0].thread);
	struct epa_compare_options quick = {.faulty_thread = struck};
	struct epa_comparison again;
	int err;
	if (!out->first.thread || !strcmp(out->first.thread, struck))
		return 0;
	err = compare_once(ref, run, &quick, &again);
	if (!err && again.deviated) {
		free(out->first.thread);
		out->first = again.first;
		again.first.thread = NULL;
	}
	if (!err)
		epa_comparison_release(&again);
	return err;
}

int epa_compare(const struct epa_reference *ref, struct epa_source *run,
		const struct epa_compare_options *options, struct epa_comparison *out)
{
	RD_ASSERT(ref != NULL && run != NULL && out != NULL);
	int err = compare_once(ref, run, options, out);
	if (!err && options && options->propagation && out->deviated && out->fault_count)
		err = settle_first(ref, run, out);
	return err;
}

void epa_comparison_release(struct epa_comparison *c)
{
	free(c->first.thread);
	free(c->threads);
	epa_propagation_release(&c->propagation);
	epa_names_release(&c->names);
	*c = (struct epa_comparison){0};
}
