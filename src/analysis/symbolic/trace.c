// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the memory that a run of the flavour `shadow` left behind.  Its contents are not trusted,
 * because the program may have overwritten them.
 */
#include "symbolic/trace.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define COPY(t, memory, what, AT, MAX)                                                                       \
	do {                                                                                                 \
		uint32_t n_ = atomic_load(&header->what##_count);                                            \
		(t)->what##_count = n_ < (MAX) ? n_ : (MAX);                                                 \
		(t)->what##s = rd_xcalloc((t)->what##_count + 1, sizeof *(t)->what##s);                      \
		memcpy((t)->what##s, (const char *)(memory) + (AT),                                          \
		       (t)->what##_count * sizeof *(t)->what##s);                                            \
	} while (0)

static void copy_all(struct sym_trace *t, const void *memory)
{
	struct raddle_shadow *header = (struct raddle_shadow *)memory;
	uint32_t n;

	COPY(t, memory, node, RADDLE_SHADOW_NODES_AT, RADDLE_SHADOW_NODES);
	COPY(t, memory, var, RADDLE_SHADOW_VARS_AT, RADDLE_SHADOW_VARS);
	COPY(t, memory, step, RADDLE_SHADOW_STEPS_AT, RADDLE_SHADOW_STEPS);
	n = atomic_load(&header->output_count);
	t->output_count = n < RADDLE_SHADOW_OUTPUT ? n : RADDLE_SHADOW_OUTPUT;
	t->output = rd_xcalloc(t->output_count + 1, sizeof *t->output);
	memcpy(t->output, (const char *)memory + RADDLE_SHADOW_OUTPUT_AT,
	       t->output_count * sizeof *t->output);
	n = atomic_load(&header->table_count);
	t->table_count = n < RADDLE_SHADOW_TABLES ? n : RADDLE_SHADOW_TABLES;
	t->tables = rd_xcalloc(t->table_count * 256 + 1, sizeof *t->tables);
	memcpy(t->tables, (const char *)memory + RADDLE_SHADOW_TABLES_AT,
	       t->table_count * 256 * sizeof *t->tables);
	n = atomic_load(&header->text_used);
	t->text_length = n < RADDLE_SHADOW_TEXT ? n : RADDLE_SHADOW_TEXT;
	t->text = rd_xcalloc(t->text_length + 1, 1);
	memcpy(t->text, (const char *)memory + RADDLE_SHADOW_TEXT_AT, t->text_length);
	n = atomic_load(&header->input_count);
	t->input_count = n < RADDLE_SHADOW_INPUTS ? n : RADDLE_SHADOW_INPUTS;
	memcpy(t->inputs, header->inputs, sizeof t->inputs);
	memcpy(t->lost, header->lost_count, sizeof t->lost);
}

/* ---- checks ---- */

static uint32_t bits_of(const struct sym_trace *t, uint32_t e)
{
	return t->nodes[e].bits;
}

static bool has_operands(const struct raddle_expr *n, size_t at)
{
	uint32_t refs[] = {n->a, n->b, n->c};

	for (uint32_t i = 0; i < 3; i++)
		if (i < raddle_expr_operands(n->op) ? !refs[i] || refs[i] >= at : refs[i] != 0)
			return false;
	return n->bits >= 1 && n->bits <= 64;
}

static bool is_sound_node(const struct sym_trace *t, size_t at)
{
	const struct raddle_expr *n = &t->nodes[at];

	if (!has_operands(n, at))
		return false;
	if (raddle_expr_is_binary(n->op))
		return bits_of(t, n->a) == bits_of(t, n->b) &&
		       n->bits == (raddle_expr_is_compare(n->op) ? 1 : bits_of(t, n->a));
	switch (n->op) {
	case RADDLE_EXPR_VAR: return n->k < t->var_count && t->vars[n->k].bits == n->bits;
	case RADDLE_EXPR_CONST: return !(n->k & ~raddle_expr_mask(n->bits));
	case RADDLE_EXPR_ZEXT:
	case RADDLE_EXPR_SEXT: return bits_of(t, n->a) < n->bits;
	case RADDLE_EXPR_EXTRACT: return n->k < 64 && n->k + n->bits <= bits_of(t, n->a);
	case RADDLE_EXPR_CONCAT: return bits_of(t, n->a) + bits_of(t, n->b) == n->bits;
	case RADDLE_EXPR_ITE:
		return bits_of(t, n->a) == 1 && bits_of(t, n->b) == n->bits && bits_of(t, n->c) == n->bits;
	case RADDLE_EXPR_TABLE: return bits_of(t, n->a) == 8 && n->k < t->table_count;
	default: return false;
	}
}

static bool is_text(const struct sym_trace *t, uint32_t at, uint32_t length)
{
	return at <= t->text_length && length <= t->text_length - at;
}

static bool is_sound_var(const struct sym_trace *t, const struct raddle_shadow_var *v)
{
	return v->sort < RADDLE_VAR_SORTS && v->bits >= 1 && v->bits <= 64 && v->input < t->input_count &&
	       v->offset < RADDLE_SHADOW_BYTES && v->length <= RADDLE_SHADOW_BYTES &&
	       is_text(t, v->text, v->text_length);
}

static bool is_sound_input(const struct sym_trace *t, const struct raddle_shadow_input *i)
{
	return i->kind < RADDLE_INPUT_KINDS && is_text(t, i->name, i->length) &&
	       (i->length != 0) == (i->kind == RADDLE_INPUT_FILE || i->kind == RADDLE_INPUT_ENV) &&
	       !memchr(t->text + i->name, 0, i->length);
}

static bool is_sound(const struct sym_trace *t)
{
	for (size_t i = 0; i < t->input_count; i++)
		if (!is_sound_input(t, &t->inputs[i]))
			return false;
	for (size_t i = 0; i < t->var_count; i++)
		if (!is_sound_var(t, &t->vars[i]))
			return false;
	for (size_t i = 1; i < t->node_count; i++)
		if (!is_sound_node(t, i))
			return false;
	for (size_t i = 0; i < t->var_count; i++)
		if (t->vars[i].node >= t->node_count || t->nodes[t->vars[i].node].op != RADDLE_EXPR_VAR ||
		    t->nodes[t->vars[i].node].k != i)
			return false;
	for (size_t i = 0; i < t->step_count; i++)
		if (!t->steps[i].cond || t->steps[i].cond >= t->node_count ||
		    bits_of(t, t->steps[i].cond) != 1)
			return false;
	for (size_t i = 0; i < t->output_count; i++)
		if (!t->output[i].node || t->output[i].node >= t->node_count ||
		    t->output[i].step > t->step_count)
			return false;
	return true;
}

int sym_trace_read(struct sym_trace *t, const void *memory, size_t size)
{
	const struct raddle_shadow *header = memory;

	*t = (struct sym_trace){0};
	if (size < RADDLE_SHADOW_SIZE || header->version != RADDLE_SHADOW_VERSION || !header->active)
		return rd_fail(RD_ETOOL, "the program has not recorded what it does with its input");
	copy_all(t, memory);
	if (!is_sound(t))
		return rd_fail(RD_EFORMAT, "the program's record of its input is damaged");
	return RD_OK;
}

void sym_trace_release(struct sym_trace *t)
{
	RD_FREE(t->nodes, t->vars, t->steps, t->output, t->tables, t->text);
	*t = (struct sym_trace){0};
}

/* ---- values ---- */

void sym_trace_values(const struct sym_trace *t, uint64_t *values)
{
	for (size_t i = 0; i < t->var_count; i++)
		values[i] = t->vars[i].value & raddle_expr_mask(t->vars[i].bits);
}

static uint64_t value_of(const struct sym_trace *t, const struct raddle_expr *n, const uint64_t *values,
			 const uint64_t *out)
{
	struct raddle_expr_values v = {out[n->a], out[n->b], out[n->c], bits_of(t, n->a), bits_of(t, n->b)};

	if (n->op == RADDLE_EXPR_VAR)
		return values[n->k] & raddle_expr_mask(n->bits);
	if (n->op == RADDLE_EXPR_TABLE)
		return t->tables[n->k * 256 + (v.a & 0xff)] & raddle_expr_mask(n->bits);
	return raddle_expr_apply(n, &v);
}

void sym_evaluate(const struct sym_trace *t, const uint64_t *values, uint64_t *out)
{
	out[0] = 0;
	for (size_t i = 1; i < t->node_count; i++)
		out[i] = value_of(t, &t->nodes[i], values, out);
}

/* ---- dependences ---- */

struct sym_walk {
	const struct sym_trace *trace;
	uint32_t *stamp, now;
	uint32_t *stack;
	size_t count, capacity;
};

struct sym_walk *sym_walk_new(const struct sym_trace *t)
{
	struct sym_walk *w = rd_xcalloc(1, sizeof *w);

	w->trace = t;
	w->stamp = rd_xcalloc(t->node_count + 1, sizeof *w->stamp);
	return w;
}

void sym_walk_free(struct sym_walk *w)
{
	if (!w)
		return;
	RD_FREE(w->stamp, w->stack, w);
}

static void push(struct sym_walk *w, uint32_t node)
{
	if (!node || w->stamp[node] == w->now)
		return;
	w->stamp[node] = w->now;
	RD_GROW(w->stack, w->capacity, w->count + 1);
	w->stack[w->count++] = node;
}

void sym_walk_vars(struct sym_walk *w, uint32_t node, sym_var_fn *fn, void *context)
{
	RD_ASSERT(node < w->trace->node_count);
	w->now++;
	w->count = 0;
	push(w, node);
	while (w->count) {
		const struct raddle_expr *n = &w->trace->nodes[w->stack[--w->count]];

		if (n->op == RADDLE_EXPR_VAR)
			fn(context, (uint32_t)n->k);
		push(w, n->a);
		push(w, n->b);
		push(w, n->c);
	}
}

struct rd_override_part sym_trace_part(const struct sym_trace *t, uint32_t input)
{
	RD_ASSERT(input < t->input_count);
	static const enum rd_override_kind kinds[] = {RD_OVERRIDE_ARGV, RD_OVERRIDE_STDIN, RD_OVERRIDE_FILE,
						      RD_OVERRIDE_ENV};
	const struct raddle_shadow_input *i = &t->inputs[input];

	return (struct rd_override_part){
		.kind = kinds[i->kind],
		.number = i->number,
		.name = i->length ? rd_xasprintf("%.*s", (int)i->length, t->text + i->name) : NULL};
}

uint32_t sym_same_input(const struct sym_trace *t, const struct sym_trace *of, uint32_t input)
{
	const struct raddle_shadow_input *i = &of->inputs[input];

	for (uint32_t k = 0; k < t->input_count; k++)
		if (t->inputs[k].kind == i->kind && t->inputs[k].number == i->number &&
		    t->inputs[k].length == i->length &&
		    !memcmp(t->text + t->inputs[k].name, of->text + i->name, i->length))
			return k;
	return UINT32_MAX;
}
