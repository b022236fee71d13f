// SPDX-License-Identifier: Apache-2.0
/*
 * Takes any bytes as what a program of the flavour `shadow` left in its memory.  The program may
 * write to all of it.  Accepted data must be safe to evaluate, to describe, to merge and to turn
 * into an input.
 *
 * The input is seven counts and an unused byte, then nodes, variables, steps, outputs, inputs, text
 * and tables of 256 bytes each, whose bytes are expanded to numbers.  Missing bytes are 0.
 */
#include "base/alloc.h"
#include "symbolic/join.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *memory;

struct reader {
	const uint8_t *at;
	size_t left;
};

static void take(struct reader *r, void *to, size_t size)
{
	size_t n = size < r->left ? size : r->left;

	memset(to, 0, size);
	memcpy(to, r->at, n);
	r->at += n;
	r->left -= n;
}

static void fill(const uint8_t *counts, struct reader *r)
{
	struct raddle_shadow *s = (struct raddle_shadow *)memory;
	uint8_t table[256];

	memset(s, 0, sizeof *s);
	s->version = RADDLE_SHADOW_VERSION;
	s->active = 1;
	s->node_count = counts[0];
	s->var_count = counts[1];
	s->step_count = counts[2];
	s->output_count = counts[3];
	s->input_count = counts[4];
	s->text_used = counts[5];
	s->table_count = counts[6] % 4;
	take(r, memory + RADDLE_SHADOW_NODES_AT, counts[0] * sizeof(struct raddle_expr));
	take(r, memory + RADDLE_SHADOW_VARS_AT, counts[1] * sizeof(struct raddle_shadow_var));
	take(r, memory + RADDLE_SHADOW_STEPS_AT, counts[2] * sizeof(struct raddle_shadow_step));
	take(r, memory + RADDLE_SHADOW_OUTPUT_AT, counts[3] * sizeof(struct raddle_shadow_byte));
	take(r, s->inputs, (counts[4] % 64u) * sizeof *s->inputs);
	take(r, memory + RADDLE_SHADOW_TEXT_AT, counts[5]);
	for (int i = 0; i < counts[6] % 4; i++) {
		take(r, table, sizeof table);
		for (int k = 0; k < 256; k++)
			((uint64_t *)(memory + RADDLE_SHADOW_TABLES_AT))[i * 256 + k] = table[k];
	}
}

static bool content(void *context, struct rd_override_part *part)
{
	(void)context;
	part->data = rd_xstrdup("12 of them");
	part->length = strlen(part->data);
	return true;
}

static void use(const struct sym_trace *t)
{
	uint64_t *values = rd_xcalloc(t->var_count + 1, sizeof *values);
	uint64_t *nodes = rd_xcalloc(t->node_count + 1, sizeof *nodes);
	struct rd_override none = {0}, given;
	struct rd_buf text = RD_BUF_INIT;
	struct sym_join j;

	sym_trace_values(t, values);
	sym_evaluate(t, values, nodes);
	for (size_t i = 0; i < t->step_count; i++)
		sym_words_condition(t, t->steps[i].cond, t->steps[i].taken, &text);
	for (size_t i = 0; i < t->var_count; i++)
		values[i] += 1;
	sym_input_make(t, values, &none, content, NULL, &given);
	sym_join(&j, t, t);
	sym_join_release(&j);
	rd_override_release(&given);
	rd_buf_release(&text);
	free(values);
	free(nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader r = {data + 8, size > 8 ? size - 8 : 0};
	struct sym_trace t;

	if (size < 8)
		return 0;
	if (!memory)
		memory = rd_xcalloc(1, RADDLE_SHADOW_SIZE);
	fill(data, &r);
	if (!sym_trace_read(&t, memory, RADDLE_SHADOW_SIZE))
		use(&t);
	sym_trace_release(&t);
	return 0;
}
