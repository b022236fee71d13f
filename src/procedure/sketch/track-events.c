// SPDX-License-Identifier: Apache-2.0
/*
 * Turns the reports of gates and watchpoints into the events of a run.  An event of a gate outside
 * the slice is used only if a statement of the slice touched the same word of memory.  Freeing a
 * block counts as a write to all of its addresses that the run touched.  Watchpoints show accesses
 * by code without gates.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "sketch/track-int.h"
#include "sketch/track.h"

#include <stdlib.h>
#include <string.h>

struct events {
	struct track *t;
	const struct track_left *left;
	struct sketch_runs *runs;
	struct sketch_run *run;
	uint32_t sigma;
	struct rd_umap slice; /* the words of 8 bytes that statements of the slice touched */
};

static const struct sketch_gate *gate_of(const struct events *e, const struct track_raw *raw)
{
	RD_ASSERT(raw->gate == RADDLE_TRACK_HARDWARE || raw->gate < e->t->gates.count);
	return raw->gate != RADDLE_TRACK_HARDWARE ? &e->t->gates.items[raw->gate] : NULL;
}

/* Returns true if a gate is open only because it may touch the same memory as a tracked statement
 * of the slice. */
static bool is_other(const struct events *e, const struct sketch_gate *gate)
{
	return sketch_gate_flag(gate, e->sigma) != RADDLE_TRACK_SLICE;
}

/* Stores the first and the last word of 8 bytes that an access touches. */
static void each_word(const struct track_raw *raw, uint64_t *first, uint64_t *last)
{
	*first = raw->address >> 3;
	*last = (raw->address + (raw->size != 0 ? raw->size - 1 : 0)) >> 3;
}

static void find_addresses(struct events *e)
{
	for (size_t i = 0; i < e->left->count; i++) {
		const struct track_raw *raw = &e->left->items[i];
		const struct sketch_gate *gate = gate_of(e, raw);
		uint64_t first, last;
		if (gate == NULL || is_other(e, gate) || raw->address == 0)
			continue;
		each_word(raw, &first, &last);
		for (uint64_t w = first; w <= last; w++)
			rd_umap_put(&e->slice, w, NULL);
	}
}

static bool is_of_slice(const struct events *e, const struct track_raw *raw)
{
	uint64_t first, last;
	each_word(raw, &first, &last);
	for (uint64_t w = first; w <= last; w++)
		if (rd_umap_get(&e->slice, w) != NULL)
			return true;
	return false;
}

/* Returns the number of the statement to which an event of that kind at the gate belongs. */
static uint32_t statement_of(struct events *e, const struct sketch_gate *gate, enum slice_kind kind)
{
	struct slice_statement s = sketch_gate_statement(gate, e->t->slice, kind);
	return sketch_statement(e->runs, &s);
}

static void add(struct events *e, const struct track_raw *raw, uint32_t statement, uint64_t value)
{
	struct sketch_event event = {
		.thread = raw->thread, .statement = statement, .address = raw->address, .value = value};
	bool known = raw->state == RADDLE_TRACK_DONE || raw->what == RADDLE_TRACK_WRITE ||
		     raw->what == RADDLE_TRACK_CALL;
	event.size = known ? raw->size : 0;
	sketch_event_add(e->run, &event);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Returns a sorted array of the addresses within the freed block that events of the run touched.
 * Events that are not used do not count.  The caller must free the array. */
static uint64_t *touched_in(const struct events *e, const struct track_raw *raw, size_t *count)
{
	uint64_t *all = NULL;
	size_t capacity = 0;
	*count = 0;
	for (size_t i = 0; i < e->left->count; i++) {
		const struct track_raw *other = &e->left->items[i];
		const struct sketch_gate *gate = gate_of(e, other);
		if (other->address - raw->address >= raw->more || other->what == RADDLE_TRACK_FREE ||
		    gate == NULL || (is_other(e, gate) && !is_of_slice(e, other)))
			continue;
		RD_GROW(all, capacity, *count + 1);
		all[(*count)++] = other->address;
	}
	if (*count != 0)
		qsort(all, *count, sizeof *all, by_number);
	return all;
}

static void add_free(struct events *e, const struct track_raw *raw, const struct sketch_gate *gate)
{
	size_t count;
	uint64_t *all = touched_in(e, raw, &count);
	for (size_t i = 0; i < count; i++) {
		struct track_raw at = *raw;
		if (i != 0 && all[i] == all[i - 1])
			continue;
		at.address = all[i];
		at.size = 0;
		add(e, &at, statement_of(e, gate, gate->kind), 0);
	}
	if (count == 0 && !is_other(e, gate))
		add(e, raw, statement_of(e, gate, gate->kind), raw->value);
	free(all);
}

static void add_gate_event(struct events *e, const struct track_raw *raw, const struct sketch_gate *gate)
{
	if (raw->what == RADDLE_TRACK_FREE) {
		add_free(e, raw, gate);
		return;
	}
	if (is_other(e, gate) && !is_of_slice(e, raw) && !sketch_gate_creates(gate, e->t->slice->facts))
		return;
	if (raw->what != RADDLE_TRACK_UPDATE) {
		add(e, raw, statement_of(e, gate, gate->kind), raw->value);
		return;
	}
	add(e, raw, statement_of(e, gate, SLICE_READ), raw->value);
	if (raw->more != raw->value || e->t->slice->facts->values[gate->value].kind != FACTS_EXCHANGE)
		add(e, raw, statement_of(e, gate, SLICE_WRITE), raw->more);
}

/* ------------------------------------------------------------------ watchpoints --- */

/* Finds out whether the code of a line reads memory, writes it, or both, according to the facts. */
static void kinds_at(const struct facts *f, const struct sketch_place *place, bool *reads, bool *writes)
{
	*reads = *writes = false;
	for (size_t v = 0; v < f->value_count; v++) {
		const struct facts_value *row = &f->values[v];
		if (row->line != place->line || strcmp(facts_string(f, row->file), place->file) != 0)
			continue;
		*reads |= row->kind == FACTS_LOAD || row->kind == FACTS_UPDATE || row->kind == FACTS_EXCHANGE;
		*writes |=
			row->kind == FACTS_STORE || row->kind == FACTS_UPDATE || row->kind == FACTS_EXCHANGE;
	}
}

/* Returns true if a gate reported the same access, that is, if a gate reported an event of the same
 * thread at the same word of memory shortly before or after event `i`. */
static bool has_gate(const struct events *e, size_t i)
{
	enum { NEAR = 16 };
	const struct track_raw *hit = &e->left->items[i];
	size_t first = i > NEAR ? i - NEAR : 0, end = i + NEAR < e->left->count ? i + NEAR : e->left->count;
	for (size_t k = first; k < end; k++) {
		const struct track_raw *other = &e->left->items[k];
		if (other->gate != RADDLE_TRACK_HARDWARE && other->thread == hit->thread &&
		    other->address >> 3 == hit->address >> 3)
			return true;
	}
	return false;
}

/* Adds a hit of a watchpoint.  The hit shows where an access happened, but not whether it was a
 * read or a write.  If the code of the line only reads or only writes, that decides.  Otherwise the
 * access is treated as a write if the value has changed since the last hit. */
static void add_hit(struct events *e, size_t i, struct rd_umap *values)
{
	const struct track_raw *raw = &e->left->items[i];
	const struct sketch_place *place =
		sketch_place(&e->t->places, e->t->program.flavour.executable, raw->more);
	bool reads, writes, is_new;
	uint64_t *last = rd_umap_put(values, raw->address, &is_new);
	bool changed = !is_new && *last != raw->value;
	*last = raw->value;
	if (place->file == NULL || has_gate(e, i))
		return;
	kinds_at(e->t->slice->facts, place, &reads, &writes);
	bool write = reads == writes ? changed : writes;
	struct slice_statement s = {.file = place->file,
				    .function = place->function,
				    .line = place->line,
				    .distance = 2 * e->t->slice->statements,
				    .kind = write ? SLICE_WRITE : SLICE_READ,
				    .role = write ? SLICE_WRITES : SLICE_READS,
				    .found = true};
	add(e, raw, sketch_statement(e->runs, &s), raw->value);
}

void track_events(struct track *t, const struct track_left *left, struct sketch_runs *runs, uint32_t sigma)
{
	struct events e = {
		.t = t, .left = left, .runs = runs, .run = &runs->items[runs->count - 1], .sigma = sigma};
	struct rd_umap values = {0};
	RD_ASSERT(runs->count > 0 && e.run->count == 0);
	find_addresses(&e);
	for (size_t i = 0; i < left->count; i++) {
		const struct sketch_gate *gate = gate_of(&e, &left->items[i]);
		if (gate != NULL)
			add_gate_event(&e, &left->items[i], gate);
		else
			add_hit(&e, i, &values);
	}
	RD_UMAP_RELEASE(&e.slice, &values);
}
