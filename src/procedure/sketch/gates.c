// SPDX-License-Identifier: Apache-2.0
/*
 * Gates (sketch/gates.h).  In: a slice.  Out: the instructions that get a gate.
 *
 * Outside the slice, every access that may touch the same memory as a statement of the slice also
 * gets a gate.  To find these accesses, this file stores, for each memory object and each offset in
 * it, the nearest statement of the slice that touches it.  Then it looks up all objects and offsets
 * to which the address of an access may point.  Superfluous gates do no harm, because events are
 * matched by the address that was accessed.
 */
#include "sketch/gates.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/map.h"
#include "facts/role.h"
#include "raddle/track.h"

#include <stdlib.h>
#include <string.h>

enum { WIDEST = 16 }; /* bytes of the widest access */

/* ---------------------------------------------------------------------- names --- */

/* Returns the letter by which instr/track/track.c knows the kind of instruction, or 0 if the
 * instruction cannot have a gate. */
static char letter_of(const struct facts *f, uint32_t value)
{
	switch (f->values[value].kind) {
	case FACTS_LOAD: return 'r';
	case FACTS_STORE: return 'w';
	case FACTS_UPDATE: return 'u';
	case FACTS_EXCHANGE: return 'x';
	case FACTS_BRANCH: return 'b';
	case FACTS_SWITCH: return 's';
	case FACTS_RETURN: return 't';
	case FACTS_CALL: {
		const struct facts_function *library = slice_library(f, value);
		const char *name = library != NULL ? facts_string(f, library->linkage) : "";
		return strncmp(name, "llvm.", 5) != 0 || strncmp(name, "llvm.mem", 8) == 0 ? 'c' : 0;
	}
	default: return 0;
	}
}

/* Stores the name of a gate in `name`, without the number that distinguishes instructions at the
 * same place. */
static void name_of(const struct facts *f, uint32_t value, struct rd_buf *name)
{
	const struct facts_value *v = &f->values[value];
	RD_ASSERT(letter_of(f, value) != 0);
	rd_buf_clear(name);
	rd_buf_addf(name, "%c %u %u %s\t%s", letter_of(f, value), v->line, v->column,
		    facts_string(f, f->functions[facts_function_at(f, value)].name),
		    facts_string(f, v->file));
}

static uint32_t ordinal_of(const struct facts *f, uint32_t value)
{
	const struct facts_value *v = &f->values[value];
	uint32_t count = 0;
	for (uint32_t other = facts_values_of(f, facts_function_at(f, value)).first; other < value; other++) {
		const struct facts_value *w = &f->values[other];
		if (w->line == v->line && w->column == v->column && w->file == v->file &&
		    letter_of(f, other) == letter_of(f, value))
			count++;
	}
	return count;
}

void sketch_gates_text(const struct sketch_gates *g, const struct facts *f, struct rd_buf *text)
{
	struct rd_buf name = RD_BUF_INIT;
	for (size_t i = 0; i < g->count; i++) {
		name_of(f, g->items[i].value, &name);
		rd_buf_addf(text, "%s\t%u\n", name.data, ordinal_of(f, g->items[i].value));
	}
	rd_buf_release(&name);
}

/* --------------------------------------------------------------------- memory --- */

/* For each place and for each object, the nearest statement of the slice that touches it. */
struct touched {
	const struct facts *f;
	uint32_t *places, *objects;
	uint32_t *first_place; /* by object: its first place; one more entry marks the end */
};

/* Finds what an instruction touches: the points-to set of its address, and the number of bytes.
 * Returns false if it touches no memory, or unknown memory. */
static bool touch_of(const struct facts *f, uint32_t value, uint32_t *set, int64_t *size)
{
	const struct facts_value *v = &f->values[value];
	struct facts_run run = facts_operands_of(f, value);
	uint32_t number = v->kind == FACTS_STORE;
	*size = v->number;
	if (v->kind == FACTS_CALL) {
		const struct facts_function *library = slice_library(f, value);
		if (library == NULL || letter_of(f, value) == 0)
			return false;
		number = library->flags & FACTS_FUNCTION_INTRINSIC ? 0 : library->subject;
		*size = 1;
	} else if (v->kind != FACTS_LOAD && v->kind != FACTS_STORE && v->kind != FACTS_UPDATE &&
		   v->kind != FACTS_EXCHANGE) {
		return false;
	}
	if (number == FACTS_NONE || number >= run.end - run.first)
		return false;
	*set = facts_operand_set(f, f->operands[run.first + number].operand);
	return true;
}

static void lower(uint32_t *to, uint32_t statement)
{
	if (statement < *to)
		*to = statement;
}

static void touch(struct touched *t, const struct facts_place *p, int64_t size, uint32_t statement)
{
	lower(&t->objects[p->object], statement);
	for (uint32_t i = t->first_place[p->object]; i < t->first_place[p->object + 1]; i++) {
		int64_t offset = t->f->places[i].offset;
		if (offset == FACTS_ANYWHERE || p->offset == FACTS_ANYWHERE ||
		    (offset > p->offset - WIDEST && offset < p->offset + (size > 0 ? size : WIDEST)))
			lower(&t->places[i], statement);
	}
}

static void touch_all(struct touched *t, const struct slice *s)
{
	const struct facts *f = t->f;
	for (size_t i = 0; i < s->count; i++) {
		uint32_t set;
		int64_t size;
		if (!touch_of(f, s->items[i].value, &set, &size))
			continue;
		struct facts_run members = facts_members_of(f, set);
		for (uint32_t m = members.first; m < members.end; m++)
			touch(t, &f->places[f->members[m].place], size, s->items[i].statement);
	}
}

/* Initialises the tables.  Places are in the order of their objects. */
static void touched_init(struct touched *t, const struct facts *f)
{
	*t = (struct touched){.f = f};
	t->places = rd_xmalloc((f->place_count + 1) * sizeof *t->places);
	t->objects = rd_xmalloc((f->object_count + 1) * sizeof *t->objects);
	t->first_place = rd_xcalloc(f->object_count + 2, sizeof *t->first_place);
	memset(t->places, 0xff, (f->place_count + 1) * sizeof *t->places);
	memset(t->objects, 0xff, (f->object_count + 1) * sizeof *t->objects);
	for (size_t i = 0; i < f->place_count; i++)
		t->first_place[f->places[i].object + 1]++;
	for (size_t i = 0; i < f->object_count; i++)
		t->first_place[i + 1] += t->first_place[i];
}

static void touched_release(struct touched *t)
{
	RD_FREE(t->places, t->objects, t->first_place);
}

/* Returns the nearest statement of the slice that touches the same memory, or FACTS_NONE if there
 * is none. */
static uint32_t nearest_to(const struct touched *t, uint32_t value)
{
	const struct facts *f = t->f;
	uint32_t set, near = FACTS_NONE;
	int64_t size;
	if (!touch_of(f, value, &set, &size))
		return FACTS_NONE;
	const struct facts_function *library =
		f->values[value].kind == FACTS_CALL ? slice_library(f, value) : NULL;
	bool whole =
		library != NULL && (library->role == FACTS_ROLE_FREE || library->role == FACTS_ROLE_RESIZE);
	struct facts_run members = facts_members_of(f, set);
	for (uint32_t m = members.first; m < members.end; m++) {
		uint32_t place = f->members[m].place;
		lower(&near, whole ? t->objects[f->places[place].object] : t->places[place]);
	}
	return near;
}

/* ---------------------------------------------------------------------- gates --- */

static void add(struct sketch_gates *g, const struct sketch_gate *gate)
{
	RD_GROW(g->items, g->capacity, g->count + 1);
	g->items[g->count++] = *gate;
}

RD_COMPARISON(by_nearness, struct sketch_gate, near, value)

static void add_others(struct sketch_gates *g, const struct touched *t, const struct rd_umap *known)
{
	for (uint32_t v = 0; v < t->f->value_count; v++) {
		struct sketch_gate gate = {.value = v, .statement = FACTS_NONE};
		if (rd_umap_get(known, v) != NULL || !slice_kind_of(t->f, v, &gate.kind) ||
		    letter_of(t->f, v) == 0)
			continue;
		gate.near = nearest_to(t, v);
		if (gate.near != FACTS_NONE)
			add(g, &gate);
	}
}

uint32_t sketch_gate_flag(const struct sketch_gate *gate, uint32_t sigma)
{
	uint32_t end = sigma != 0 ? sigma : FACTS_NONE;
	return gate->statement < end ? RADDLE_TRACK_SLICE : gate->near < end ? RADDLE_TRACK_OTHER : 0;
}

/* Removes gates that stay shut in runs that track the first `sigma` statements. */
static void keep(struct sketch_gates *g, uint32_t sigma)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->count; i++)
		if (sketch_gate_flag(&g->items[i], sigma) != 0)
			g->items[kept++] = g->items[i];
	g->count = kept;
}

void sketch_gates_find(struct sketch_gates *g, const struct slice *s, uint32_t sigma, size_t max)
{
	struct rd_umap known = {0};
	struct touched t;
	*g = (struct sketch_gates){0};
	for (size_t i = 0; i < s->count; i++) {
		struct sketch_gate gate = {.value = s->items[i].value,
					   .statement = s->items[i].statement,
					   .kind = s->items[i].kind};
		if (letter_of(s->facts, gate.value) == 0)
			continue;
		rd_umap_put(&known, gate.value, NULL);
		add(g, &gate);
	}
	size_t own = g->count;
	touched_init(&t, s->facts);
	touch_all(&t, s);
	for (size_t i = 0; i < own; i++)
		g->items[i].near = nearest_to(&t, g->items[i].value);
	add_others(g, &t, &known);
	if (g->count > own)
		qsort(g->items + own, g->count - own, sizeof *g->items, by_nearness);
	keep(g, sigma);
	g->left_out = g->count > max ? g->count - max : 0;
	g->count -= g->left_out;
	RD_ASSERT(g->count <= max);
	touched_release(&t);
	rd_umap_release(&known);
}

/* Treats functions with the same name as one, because the instrumenter cannot distinguish their
 * gates. */
void sketch_gates_beside(const struct sketch_gates *g, const struct facts *f, uint8_t *flags)
{
	struct rd_umap open = {0};
	for (size_t i = 0; i < g->count; i++)
		if (flags[i] & RADDLE_TRACK_OPEN)
			rd_umap_put(&open, f->functions[facts_function_at(f, g->items[i].value)].name, NULL);
	for (size_t i = 0; i < g->count; i++)
		if (flags[i] == 0 &&
		    rd_umap_get(&open, f->functions[facts_function_at(f, g->items[i].value)].name) != NULL)
			flags[i] = RADDLE_TRACK_BESIDE;
	rd_umap_release(&open);
}

void sketch_gates_release(struct sketch_gates *g)
{
	free(g->items);
	*g = (struct sketch_gates){0};
}

struct slice_statement sketch_gate_statement(const struct sketch_gate *gate, struct slice *s,
					     enum slice_kind kind)
{
	RD_ASSERT(gate->statement != FACTS_NONE || gate->near != FACTS_NONE);
	struct slice_statement out = slice_statement_of(s, gate->value, kind);
	out.found = gate->statement == FACTS_NONE;
	out.distance = out.found ? s->statements + gate->near : gate->statement;
	return out;
}

void sketch_gate_statements(const struct sketch_gate *gate, struct slice *s, struct sketch_runs *runs)
{
	uint32_t kind = s->facts->values[gate->value].kind;
	struct slice_statement it;
	if (kind == FACTS_UPDATE || kind == FACTS_EXCHANGE) {
		it = sketch_gate_statement(gate, s, SLICE_READ);
		sketch_statement(runs, &it);
		it = sketch_gate_statement(gate, s, SLICE_WRITE);
	} else {
		it = sketch_gate_statement(gate, s, gate->kind);
	}
	sketch_statement(runs, &it);
}

bool sketch_gate_creates(const struct sketch_gate *gate, const struct facts *f)
{
	const struct facts_function *library =
		f->values[gate->value].kind == FACTS_CALL ? slice_library(f, gate->value) : NULL;
	return library != NULL && library->role == FACTS_ROLE_THREAD_CREATE;
}
