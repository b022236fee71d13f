// SPDX-License-Identifier: Apache-2.0
/*
 * Joins two traces into one, to compare the output of both orders of a race under the conditions of
 * both paths.  The two traces are of the same program with the same input.  The result contains the
 * nodes of both, with equal variables merged, and a condition that is true if some output differs.
 */
#include "symbolic/join.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The largest number of output bytes that are compared.  It was set by hand, to keep the formula
 * small. */
#define ITEMS_MAX 4096

static bool is_same_var(const struct sym_trace *t, const struct raddle_shadow_var *a,
			const struct sym_trace *of, const struct raddle_shadow_var *b)
{
	return a->sort == b->sort && a->bits == b->bits && a->base == b->base && a->offset == b->offset &&
	       a->length == b->length && a->is_unsigned == b->is_unsigned &&
	       a->text_length == b->text_length &&
	       !memcmp(t->text + a->text, of->text + b->text, b->text_length);
}

static uint32_t find_var(const struct sym_trace *t, const struct sym_trace *of,
			 const struct raddle_shadow_var *v)
{
	uint32_t input = sym_same_input(t, of, v->input);

	for (uint32_t k = 0; k < t->var_count && input != UINT32_MAX; k++)
		if (t->vars[k].input == input && is_same_var(t, &t->vars[k], of, v))
			return k;
	return UINT32_MAX;
}

static void copy_trace(struct sym_trace *to, const struct sym_trace *from, size_t more)
{
	*to = *from;
	to->nodes = rd_xcalloc(from->node_count + more, sizeof *to->nodes);
	memcpy(to->nodes, from->nodes, from->node_count * sizeof *to->nodes);
	to->vars = rd_xcalloc(from->var_count + 1, sizeof *to->vars);
	memcpy(to->vars, from->vars, from->var_count * sizeof *to->vars);
	to->steps = NULL;
	to->output = NULL;
	to->step_count = to->output_count = 0;
	to->text = rd_xcalloc(from->text_length + 1, 1);
	memcpy(to->text, from->text, from->text_length);
}

static void join_tables(struct sym_trace *to, const struct sym_trace *a, const struct sym_trace *b)
{
	to->tables = rd_xcalloc((a->table_count + b->table_count) * 256 + 1, sizeof *to->tables);
	memcpy(to->tables, a->tables, a->table_count * 256 * sizeof *to->tables);
	memcpy(to->tables + a->table_count * 256, b->tables, b->table_count * 256 * sizeof *to->tables);
	to->table_count = a->table_count + b->table_count;
}

/* Adds a node of the second trace.  Returns false if it depends on a variable that the first trace
 * does not have. */
static bool add_node(struct sym_join *j, const struct sym_trace *a, const struct sym_trace *b, uint32_t at)
{
	RD_ASSERT(at < b->node_count);
	struct raddle_expr n = b->nodes[at];
	uint32_t var;

	n.a = j->node[n.a];
	n.b = j->node[n.b];
	n.c = j->node[n.c];
	if (n.op == RADDLE_EXPR_VAR) {
		var = find_var(a, b, &b->vars[n.k]);
		j->node[at] = var == UINT32_MAX ? 0 : a->vars[var].node;
		return var != UINT32_MAX;
	}
	if (n.op == RADDLE_EXPR_TABLE)
		n.k += a->table_count;
	n.inputs = j->trace.nodes[n.a].inputs | j->trace.nodes[n.b].inputs | j->trace.nodes[n.c].inputs;
	j->node[at] = (uint32_t)j->trace.node_count;
	j->trace.nodes[j->trace.node_count++] = n;
	return true;
}

static bool is_known(const struct sym_join *j, const struct raddle_expr *n)
{
	uint32_t refs[] = {n->a, n->b, n->c};

	for (uint32_t i = 0; i < raddle_expr_operands(n->op); i++)
		if (!j->node[refs[i]])
			return false;
	return true;
}

static uint32_t add(struct sym_trace *t, struct raddle_expr n)
{
	n.inputs = t->nodes[n.a].inputs | t->nodes[n.b].inputs | t->nodes[n.c].inputs;
	t->nodes[t->node_count] = n;
	return (uint32_t)t->node_count++;
}

/* Adds the condition that the two nodes differ.  Returns 0 if they are the same node or cannot be
 * compared. */
static uint32_t differ(struct sym_trace *t, uint32_t x, uint32_t y)
{
	RD_ASSERT(x < t->node_count && y < t->node_count);
	uint32_t is;

	if (!x || !y || x == y || t->nodes[x].bits != t->nodes[y].bits)
		return 0;
	if (t->nodes[x].op == RADDLE_EXPR_CONST && t->nodes[y].op == RADDLE_EXPR_CONST)
		return 0; /* constant output was already compared when the program ran */
	is = add(t, (struct raddle_expr){.op = RADDLE_EXPR_EQ, .bits = 1, .a = x, .b = y});
	return add(t, (struct raddle_expr){
			      .op = RADDLE_EXPR_XOR,
			      .bits = 1,
			      .a = is,
			      .b = add(t, (struct raddle_expr){.op = RADDLE_EXPR_CONST, .bits = 1, .k = 1})});
}

static void compare_output(struct sym_join *j, const struct sym_trace *a, const struct sym_trace *b)
{
	size_t n = a->output_count < b->output_count ? a->output_count : b->output_count;

	j->complete &= a->output_count == b->output_count && n <= ITEMS_MAX;
	for (size_t i = 0; i < n && i < ITEMS_MAX; i++) {
		uint32_t one = j->node[b->output[i].node], other;

		j->complete &= one != 0 && a->output[i].fd == b->output[i].fd;
		other = differ(&j->trace, a->output[i].node, one);
		if (other && j->differs)
			other = add(&j->trace,
				    (struct raddle_expr){
					    .op = RADDLE_EXPR_OR, .bits = 1, .a = j->differs, .b = other});
		j->differs = other ? other : j->differs;
	}
}

static void add_facts(struct sym_join *j, const struct sym_trace *a, const struct sym_trace *b)
{
	j->facts = rd_xcalloc(a->step_count + b->step_count + 2, sizeof *j->facts);
	for (size_t i = 0; i < a->step_count; i++)
		j->facts[j->fact_count++] = (struct sym_fact){a->steps[i].cond, a->steps[i].taken};
	for (size_t i = 0; i < b->step_count; i++) {
		uint32_t node = j->node[b->steps[i].cond];

		j->complete &= node != 0;
		if (node)
			j->facts[j->fact_count++] = (struct sym_fact){node, b->steps[i].taken};
	}
	if (j->differs)
		j->facts[j->fact_count++] = (struct sym_fact){j->differs, true};
}

void sym_join(struct sym_join *j, const struct sym_trace *a, const struct sym_trace *b)
{
	*j = (struct sym_join){.complete = true};
	copy_trace(&j->trace, a, b->node_count + 4 * ITEMS_MAX + 1);
	join_tables(&j->trace, a, b);
	j->node = rd_xcalloc(b->node_count + 1, sizeof *j->node);
	for (uint32_t i = 1; i < b->node_count; i++)
		if (!is_known(j, &b->nodes[i]) || !add_node(j, a, b, i))
			j->complete = false;
	compare_output(j, a, b);
	add_facts(j, a, b);
}

void sym_join_release(struct sym_join *j)
{
	sym_trace_release(&j->trace);
	RD_FREE(j->node, j->facts);
	*j = (struct sym_join){0};
}
