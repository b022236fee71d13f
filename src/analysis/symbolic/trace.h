/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of a run of the flavour `shadow` (raddle/shadow.h), copied and checked.  Every node
 * refers only to earlier nodes, widths match, and names lie within the text.
 */
#ifndef SYMBOLIC_TRACE_H
#define SYMBOLIC_TRACE_H

#include "base/buf.h"
#include "base/override.h"
#include "raddle/shadow.h"

#include <stdbool.h>
#include <stddef.h>

struct sym_trace {
	struct raddle_expr *nodes;
	struct raddle_shadow_var *vars;
	struct raddle_shadow_step *steps;
	struct raddle_shadow_byte *output;
	uint64_t *tables;
	char *text;
	struct raddle_shadow_input inputs[RADDLE_SHADOW_INPUTS];
	size_t node_count, var_count, step_count, output_count, table_count, text_length, input_count;
	uint64_t lost[RADDLE_LOSSES];
};

/* Reads the shared memory of the program into a trace.  Fails if the program recorded nothing or
 * damaged the memory.  The caller must release the trace, even after a failure. */
int sym_trace_read(struct sym_trace *t, const void *memory, size_t size);
void sym_trace_release(struct sym_trace *t);

/* Computes the value of each node from the values of the variables.  `out` must have node_count
 * elements. */
void sym_evaluate(const struct sym_trace *t, const uint64_t *values, uint64_t *out);

/* Copies the values that the variables had in the run. */
void sym_trace_values(const struct sym_trace *t, uint64_t *values);

typedef void sym_var_fn(void *context, uint32_t var);
/* sym_walk_vars() calls `fn` once for each variable that a node depends on. */
struct sym_walk; /* scratch memory for many calls of sym_walk_vars() with one trace */
struct sym_walk *sym_walk_new(const struct sym_trace *t);
void sym_walk_free(struct sym_walk *w);
void sym_walk_vars(struct sym_walk *w, uint32_t node, sym_var_fn *fn, void *context);

/* Returns the number of the input of `t` that corresponds to input number `input` of the trace
 * `of`.  Returns UINT32_MAX if there is none. */
uint32_t sym_same_input(const struct sym_trace *t, const struct sym_trace *of, uint32_t input);

/* Returns an input as a part of an override, without data.  The caller frees the name. */
struct rd_override_part sym_trace_part(const struct sym_trace *t, uint32_t input);

/* ---- symbolic/words.c ---- */

/* Appends a condition in the form in which a user would write it.  Returns false if it is too long
 * or has no such form. */
bool sym_words_condition(const struct sym_trace *t, uint32_t node, bool holds, struct rd_buf *out);
extern const char *const sym_loss_text[RADDLE_LOSSES];

/* ---- symbolic/input.c ---- */

/* Reads the bytes of an input of the run.  The caller must free them.  Returns false if they are
 * not available. */
typedef bool sym_content_fn(void *context, struct rd_override_part *part);

/* Makes the input for the next run from `base`, with the changes that `values` require. */
int sym_input_make(const struct sym_trace *t, const uint64_t *values, const struct rd_override *base,
		   sym_content_fn *content, void *context, struct rd_override *out);

#endif
