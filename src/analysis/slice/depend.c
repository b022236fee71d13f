// SPDX-License-Identifier: Apache-2.0
/* Finds dependences (slice/depend.h).  In: facts and an instruction.  Out: the instructions that
 * it depends on. */
#include "slice/depend.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "candidates/path.h"
#include "facts/role.h"

#include <stdlib.h>
#include <string.h>

struct reporter {
	struct depend *d;
	depend_fn *fn;
	void *context;
};

static void report(struct reporter *t, uint32_t operand)
{
	if (!(operand & FACTS_CONSTANT))
		t->fn(operand, t->context);
}

static void report_operands(struct reporter *t, uint32_t value)
{
	struct facts_run run = facts_operands_of(t->d->f, value);
	for (uint32_t i = run.first; i < run.end; i++)
		report(t, t->d->f->operands[i].operand);
}

/* ------------------------------------------------------------------- memory --- */

/* Returns the hash of a path without its last offset and without its index.  Paths with the same
 * hash have the same name. */
static uint64_t name_of(const struct path *p)
{
	uint64_t hash = rd_hash_add(rd_hash_add(p->kind, p->root), p->loads);
	for (uint32_t i = 0; i < p->loads; i++)
		hash = rd_hash_add(hash, (uint64_t)p->offsets[i]);
	return hash;
}

static bool same_name(const struct path *a, const struct path *b)
{
	return a->kind == b->kind && a->root == b->root && a->loads == b->loads &&
	       memcmp(a->offsets, b->offsets, a->loads * sizeof *a->offsets) == 0;
}

static bool is_range(const struct path *p, int64_t size)
{
	return size <= 0 || (p->index != FACTS_NONE && p->index_at == p->loads);
}

/* Returns true if accesses of these sizes at paths of the same name may overlap. */
static bool overlap(const struct path *a, int64_t a_size, const struct path *b, int64_t b_size)
{
	int64_t x = a->offsets[a->loads], y = b->offsets[b->loads];
	return is_range(a, a_size) || is_range(b, b_size) || (x < y + b_size && y < x + a_size);
}

static void add_write(struct depend *d, uint32_t value, uint32_t operand, int64_t size)
{
	struct path p = path_of(d->f, operand);
	bool is_new;
	if (p.kind == PATH_NONE)
		return;
	uint64_t *first = rd_umap_put(&d->names, name_of(&p), &is_new);
	RD_GROW(d->writes, d->write_capacity, d->write_count + 1);
	d->writes[d->write_count] =
		(struct depend_write){value, operand, size, is_new ? FACTS_NONE : (uint32_t)*first};
	*first = d->write_count++;
}

/* Returns the operand that is the address of an access, or FACTS_NONE if there is none because the
 * facts are damaged. */
static uint32_t address_of(const struct facts *f, uint32_t value)
{
	struct facts_run run = facts_operands_of(f, value);
	uint32_t number = f->values[value].kind == FACTS_STORE;
	return number < run.end - run.first ? f->operands[run.first + number].operand : FACTS_NONE;
}

static bool touches_memory(const struct facts_value *v)
{
	return v->kind == FACTS_LOAD || v->kind == FACTS_STORE || v->kind == FACTS_UPDATE ||
	       v->kind == FACTS_EXCHANGE;
}

/* Returns the operand of a call that is the address of one of its accesses, or FACTS_NONE if there
 * is none. */
static uint32_t operand_of(const struct facts *f, const struct facts_access *a)
{
	struct facts_run run = facts_operands_of(f, a->value);
	return a->operand < run.end - run.first ? f->operands[run.first + a->operand].operand : FACTS_NONE;
}

static void find_writes(struct depend *d)
{
	const struct facts *f = d->f;
	for (uint32_t v = 0; v < f->value_count; v++)
		if (touches_memory(&f->values[v]) && f->values[v].kind != FACTS_LOAD &&
		    address_of(f, v) != FACTS_NONE)
			add_write(d, v, address_of(f, v), f->values[v].number);
	for (size_t i = 0; i < f->access_count; i++) {
		const struct facts_access *a = &f->accesses[i];
		uint32_t operand = operand_of(f, a);
		if (f->values[a->value].kind == FACTS_CALL && a->kind != FACTS_READ && operand != FACTS_NONE)
			add_write(d, a->value, operand, a->size);
	}
}

static void report_writes(struct reporter *t, uint32_t value, uint32_t operand, int64_t size)
{
	struct depend *d = t->d;
	struct path p = path_of(d->f, operand);
	const uint64_t *first = p.kind != PATH_NONE ? rd_umap_get(&d->names, name_of(&p)) : NULL;
	for (uint32_t i = first != NULL ? (uint32_t)*first : FACTS_NONE; i != FACTS_NONE;
	     i = d->writes[i].next) {
		const struct depend_write *w = &d->writes[i];
		struct path q = path_of(d->f, w->operand);
		if (w->value != value && same_name(&p, &q) && overlap(&p, size, &q, w->size) &&
		    tflow_comes_before(&d->flow, w->value, value))
			report(t, w->value);
	}
}

/* Reports the writes on which the accesses of a call depend.  Accesses are sorted by value. */
static void report_reads_of_call(struct reporter *t, uint32_t value)
{
	const struct facts *f = t->d->f;
	size_t low = 0;
	RD_BISECT(low, f->access_count, at, f->accesses[at].value < value);
	for (; low < f->access_count && f->accesses[low].value == value; low++)
		if (f->accesses[low].kind != FACTS_WRITE && operand_of(f, &f->accesses[low]) != FACTS_NONE)
			report_writes(t, value, operand_of(f, &f->accesses[low]), f->accesses[low].size);
}

/* ------------------------------------------------------------------ control --- */

static void decide(struct depend *d, uint32_t block, uint32_t branch)
{
	RD_GROW(d->decisions, d->decision_capacity, d->decision_count + 1);
	d->decisions[d->decision_count++] = (struct facts_edge){block, branch};
}

static int by_block(const void *a, const void *b)
{
	const struct facts_edge *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Finds the blocks that each branch controls.  The branch at the end of block n controls the blocks
 * that are reached through some but not all of its edges.  For each edge, these are the blocks on
 * the path from the edge's target up the post-dominator tree, below the parent of n. */
static void find_decisions(struct depend *d, uint32_t function)
{
	const struct facts *f = d->f;
	uint32_t base = facts_blocks_of(f, function).first;
	size_t before = d->decision_count;
	struct facts_graph g, reverse;
	RD_ASSERT(!d->decided[function]);
	facts_flow(f, function, &g);
	facts_graph_reverse(&g, &reverse);
	facts_graph_dominators(&reverse);
	for (uint32_t n = 0; n < g.nodes; n++) {
		struct facts_run run = facts_block_values(f, function, base + n);
		if (g.succ_start[n + 1] - g.succ_start[n] < 2 || run.first == run.end)
			continue;
		for (uint32_t e = g.succ_start[n]; e < g.succ_start[n + 1]; e++)
			for (uint32_t at = g.succ[e] + 1;
			     at != 0 && at != FACTS_NONE && at != reverse.idom[n + 1]; at = reverse.idom[at])
				decide(d, base + at - 1, run.end - 1);
	}
	facts_graph_release(&g);
	facts_graph_release(&reverse);
	if (d->decision_count > before)
		qsort(d->decisions + before, d->decision_count - before, sizeof *d->decisions, by_block);
	for (size_t i = before; i < d->decision_count; i++) {
		uint32_t block = d->decisions[i].from;
		if (d->first_decision[block] == FACTS_NONE)
			d->first_decision[block] = (uint32_t)i;
		d->decision_end[block] = (uint32_t)i + 1;
	}
	d->decided[function] = 1;
}

static void report_callers(struct reporter *t, uint32_t function)
{
	const struct depend *d = t->d;
	for (uint32_t i = d->callers_of[function]; i < d->callers_of[function + 1]; i++)
		report(t, d->f->calls[d->callers[i]].value);
}

/* Reports what decides whether a block is executed.  These are the branches of its function or, if
 * there are none, its callers. */
static void report_control(struct reporter *t, uint32_t function, uint32_t block)
{
	struct depend *d = t->d;
	RD_ASSERT(block < d->f->block_count);
	if (!d->decided[function])
		find_decisions(d, function);
	if (d->first_decision[block] == FACTS_NONE) {
		report_callers(t, function);
		return;
	}
	for (uint32_t i = d->first_decision[block]; i < d->decision_end[block]; i++)
		report(t, d->decisions[i].to);
}

/* -------------------------------------------------------------------- calls --- */

static void report_results(struct reporter *t, uint32_t function)
{
	struct facts_run values = facts_values_of(t->d->f, function);
	for (uint32_t v = values.first; v < values.end; v++)
		if (t->d->f->values[v].kind == FACTS_RETURN)
			report(t, v);
}

static bool takes_lock(const struct facts *f, uint32_t call)
{
	struct facts_run calls = facts_calls_of(f, call);
	for (uint32_t c = calls.first; c < calls.end; c++)
		if (facts_role_takes(f->functions[f->calls[c].function].role))
			return true;
	return false;
}

/* Reports earlier acquisitions of locks in the same function.  How long the thread waits for a lock
 * depends on the thread that holds it, and the holder may itself wait for a lock that this thread
 * acquired earlier. */
static void report_held(struct reporter *t, uint32_t value)
{
	const struct facts *f = t->d->f;
	struct facts_run values = facts_values_of(f, facts_function_at(f, value));
	for (uint32_t v = values.first; v < values.end; v++)
		if (v != value && f->values[v].kind == FACTS_CALL && takes_lock(f, v) &&
		    tflow_comes_before(&t->d->flow, v, value))
			report(t, v);
}

/* Reports the dependences of a call.  If the facts contain the called function, the call depends on
 * the returns of that function.  The result of any other function depends on all its arguments. */
static void report_call(struct reporter *t, uint32_t value, bool whole)
{
	const struct facts *f = t->d->f;
	struct facts_run calls = facts_calls_of(f, value), operands = facts_operands_of(f, value);
	bool outside = calls.first == calls.end;
	for (uint32_t c = calls.first; c < calls.end; c++) {
		uint32_t function = f->calls[c].function;
		if (f->functions[function].flags & FACTS_FUNCTION_EXTERNAL)
			outside = true;
		else if (f->calls[c].kind != FACTS_EDGE_START && f->calls[c].kind != FACTS_EDGE_LATER)
			report_results(t, function);
	}
	if (outside || whole)
		report_operands(t, value);
	else if (operands.first < operands.end) /* the operand that is the called function */
		report(t, f->operands[operands.end - 1].operand);
	report_reads_of_call(t, value);
	if (takes_lock(f, value))
		report_held(t, value);
}

/* Reports the values that callers pass for an argument.  The argument of a thread routine or of a
 * callback is one of the arguments of the call that starts the thread or the callback. */
static void report_given(struct reporter *t, uint32_t value, bool calls)
{
	const struct depend *d = t->d;
	const struct facts *f = d->f;
	uint32_t function = facts_function_at(f, value), number = value - facts_values_of(f, function).first;
	for (uint32_t i = d->callers_of[function]; i < d->callers_of[function + 1]; i++) {
		const struct facts_call *c = &f->calls[d->callers[i]];
		struct facts_run operands = facts_operands_of(f, c->value);
		if (calls)
			report(t, c->value);
		if (c->kind != FACTS_EDGE_CALL && c->kind != FACTS_EDGE_INDIRECT)
			report_operands(t, c->value);
		else if (number + 1 < operands.end - operands.first)
			report(t, f->operands[operands.first + number].operand);
	}
}

/* ---------------------------------------- the dependences of an instruction --- */

/* Reports the branches that lead to the blocks before a phi, because they decide its value. */
static void report_ways(struct reporter *t, uint32_t value)
{
	const struct facts *f = t->d->f;
	struct facts_run run = facts_operands_of(f, value);
	uint32_t function = facts_function_at(f, value);
	for (uint32_t i = run.first; i < run.end; i++) {
		if (f->operands[i].with >= f->block_count)
			continue;
		struct facts_run block = facts_block_values(f, function, f->operands[i].with);
		if (block.first >= block.end)
			continue;
		uint32_t end = block.end - 1;
		if (f->values[end].kind == FACTS_BRANCH || f->values[end].kind == FACTS_SWITCH)
			report(t, end);
		else
			report_control(t, function, f->operands[i].with);
	}
}

void depend_each(struct depend *d, uint32_t value, bool whole, depend_fn *fn, void *context)
{
	struct reporter t = {d, fn, context};
	const struct facts_value *v = &d->f->values[value];
	RD_ASSERT(value < d->f->value_count);
	if (d->block_of[value] == FACTS_NONE) { /* an argument */
		report_given(&t, value, true);
		return;
	}
	if (v->kind == FACTS_CALL)
		report_call(&t, value, whole);
	else
		report_operands(&t, value);
	if (v->kind == FACTS_PHI)
		report_ways(&t, value);
	if (touches_memory(v) && v->kind != FACTS_STORE && address_of(d->f, value) != FACTS_NONE)
		report_writes(&t, value, address_of(d->f, value), v->number);
	if (touches_memory(v) || v->kind == FACTS_CALL || v->kind == FACTS_BRANCH ||
	    v->kind == FACTS_SWITCH || v->kind == FACTS_RETURN || whole)
		report_control(&t, facts_function_at(d->f, value), d->block_of[value]);
}

void depend_control(struct depend *d, uint32_t value, depend_fn *fn, void *context)
{
	if (d->block_of[value] != FACTS_NONE)
		report_control(&(struct reporter){d, fn, context}, facts_function_at(d->f, value),
			       d->block_of[value]);
}

void depend_callers(struct depend *d, uint32_t function, depend_fn *fn, void *context)
{
	report_callers(&(struct reporter){d, fn, context}, function);
}

bool depend_starts_thread(const struct depend *d, uint32_t call)
{
	struct facts_run calls = facts_calls_of(d->f, call);
	for (uint32_t c = calls.first; c < calls.end; c++)
		if (d->f->calls[c].kind == FACTS_EDGE_START || d->f->calls[c].kind == FACTS_EDGE_LATER)
			return true;
	return false;
}

void depend_given(struct depend *d, uint32_t argument, depend_fn *fn, void *context)
{
	report_given(&(struct reporter){d, fn, context}, argument, false);
}

static void find_blocks(struct depend *d)
{
	const struct facts *f = d->f;
	memset(d->block_of, 0xff, f->value_count * sizeof *d->block_of);
	for (uint32_t i = 0; i < f->function_count; i++) {
		struct facts_run blocks = facts_blocks_of(f, i);
		for (uint32_t b = blocks.first; b < blocks.end; b++) {
			struct facts_run run = facts_block_values(f, i, b);
			for (uint32_t v = run.first; v < run.end; v++)
				d->block_of[v] = b;
		}
	}
}

static void find_callers(struct depend *d)
{
	const struct facts *f = d->f;
	for (size_t i = 0; i < f->call_count; i++)
		d->callers_of[f->calls[i].function + 2]++;
	for (size_t i = 0; i + 1 < f->function_count + 2; i++)
		d->callers_of[i + 1] += d->callers_of[i];
	for (uint32_t i = 0; i < f->call_count; i++)
		d->callers[d->callers_of[f->calls[i].function + 1]++] = i;
	RD_ASSERT(d->callers_of[f->function_count] == f->call_count);
}

void depend_init(struct depend *d, const struct facts *f)
{
	*d = (struct depend){.f = f};
	tflow_init(&d->flow, f);
	d->block_of = rd_xcalloc(f->value_count + 1, sizeof *d->block_of);
	d->callers = rd_xcalloc(f->call_count + 1, sizeof *d->callers);
	d->callers_of = rd_xcalloc(f->function_count + 3, sizeof *d->callers_of);
	d->decided = rd_xcalloc(f->function_count + 1, 1);
	d->first_decision = rd_xcalloc(f->block_count + 1, sizeof *d->first_decision);
	d->decision_end = rd_xcalloc(f->block_count + 1, sizeof *d->decision_end);
	memset(d->first_decision, 0xff, (f->block_count + 1) * sizeof *d->first_decision);
	find_blocks(d);
	find_callers(d);
	find_writes(d);
}

void depend_release(struct depend *d)
{
	tflow_release(&d->flow);
	RD_FREE(d->block_of, d->callers, d->callers_of, d->writes, d->decided, d->decisions,
		d->first_decision, d->decision_end);
	rd_umap_release(&d->names);
	*d = (struct depend){0};
}
