/* SPDX-License-Identifier: Apache-2.0 */
/* Computes data about each function once: its flow graph, loops, callers and accesses, and whether
 * it runs at most once. */
#include "candidates/program.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/compare.h"
#include "base/error.h"
#include "facts/role.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void program_unsound(struct program *p, const char *format, ...)
{
	struct candidates *c = p->out;
	struct rd_buf text = RD_BUF_INIT;
	va_list args;
	va_start(args, format);
	rd_buf_vaddf(&text, format, args);
	va_end(args);
	RD_GROW(c->unsound, c->unsound_capacity, c->unsound_count + 1);
	c->unsound[c->unsound_count++] = rd_xstrdup(text.data);
	rd_buf_release(&text);
}

uint32_t program_argument(const struct facts *f, uint32_t call, uint32_t n)
{
	struct facts_run run = facts_operands_of(f, call);
	return n != FACTS_NONE && run.first + n + 1 < run.end ? f->operands[run.first + n].operand
							      : FACTS_NONE;
}

uint32_t program_constant_function(const struct facts *f, uint32_t operand)
{
	if (operand == FACTS_NONE || !(operand & FACTS_CONSTANT))
		return FACTS_NONE;
	const struct facts_constant *c = &f->constants[operand & ~FACTS_CONSTANT];
	return c->kind == FACTS_CONSTANT_FUNCTION ? c->target : FACTS_NONE;
}

uint32_t program_strip(const struct facts *f, uint32_t operand)
{
	for (int steps = 0;
	     steps < 16 && !(operand & FACTS_CONSTANT) && f->values[operand].kind == FACTS_CAST; steps++) {
		uint32_t op = f->values[operand].detail;
		if (op != OP_TRUNC && op != OP_ZEXT && op != OP_SEXT && op != OP_PTR_TO_INT &&
		    op != OP_INT_TO_PTR && op != OP_BIT_CAST)
			break;
		operand = f->operands[f->values[operand].operands].operand;
	}
	return operand;
}

const struct facts_function *program_library(const struct program *p, uint32_t value)
{
	const struct facts *f = p->f;
	if (f->values[value].kind != FACTS_CALL)
		return NULL;
	struct facts_run run = facts_operands_of(f, value);
	uint32_t callee = program_constant_function(f, f->operands[run.end - 1].operand);
	return callee != FACTS_NONE && f->functions[callee].flags & FACTS_FUNCTION_EXTERNAL
		       ? &f->functions[callee]
		       : NULL;
}

/* ------------------------------------------------------------------ flow --- */

/* Marks cyclic blocks.  A block is cyclic if a path leads from it back to itself. */
static void find_cyclic(struct function_info *info)
{
	const struct facts_graph *g = &info->graph;
	uint32_t *work = rd_xcalloc((size_t)g->nodes + 1, sizeof *work);
	bool *seen = rd_xcalloc((size_t)g->nodes + 1, sizeof *seen);
	info->cyclic = rd_xcalloc((size_t)g->nodes + 1, sizeof *info->cyclic);
	bool loops = false;
	for (uint32_t n = 0; n < g->nodes; n++)
		for (uint32_t s = g->succ_start[n]; s < g->succ_start[n + 1]; s++)
			loops |= g->number[n] != FACTS_NONE && g->number[g->succ[s]] <= g->number[n];
	for (uint32_t start = 0; start < g->nodes && loops; start++) {
		uint32_t count = 0;
		memset(seen, 0, g->nodes * sizeof *seen);
		work[count++] = start;
		while (count != 0 && !info->cyclic[start]) {
			uint32_t n = work[--count];
			for (uint32_t s = g->succ_start[n]; s < g->succ_start[n + 1]; s++) {
				uint32_t to = g->succ[s];
				info->cyclic[start] |= to == start;
				if (!seen[to]) {
					seen[to] = true;
					work[count++] = to;
				}
			}
		}
	}
	free(work);
	free(seen);
}

static void find_flow(struct program *p, uint32_t function)
{
	struct function_info *info = &p->functions[function];
	struct facts_run blocks = facts_blocks_of(p->f, function);
	info->first_block = blocks.first;
	if (blocks.first == blocks.end)
		return;
	info->has_graph = true;
	facts_flow(p->f, function, &info->graph);
	facts_graph_dominators(&info->graph);
	facts_loops_init(&info->loops, &info->graph);
	find_cyclic(info);
	for (uint32_t b = blocks.first; b < blocks.end; b++) {
		struct facts_run values = facts_block_values(p->f, function, b);
		for (uint32_t v = values.first; v < values.end; v++)
			p->block_of[v] = b - blocks.first;
	}
}

static bool in_cycle(const struct program *p, uint32_t value)
{
	const struct function_info *info = &p->functions[facts_function_at(p->f, value)];
	return p->block_of[value] != FACTS_NONE && info->cyclic[p->block_of[value]];
}

const struct facts_loop *program_loop(const struct program *p, uint32_t function, uint32_t block)
{
	const struct facts_loops *l = &p->functions[function].loops;
	return l->count != 0 && l->innermost[block] != FACTS_NONE ? &l->items[l->innermost[block]] : NULL;
}

/* Returns true if the operand is the loop variable plus a constant, which is then stored in
 * *step. */
static bool next_value(const struct facts *f, uint32_t operand, uint32_t phi, int64_t *step)
{
	if (operand & FACTS_CONSTANT || f->values[operand].kind != FACTS_COMPUTE)
		return false;
	struct facts_run run = facts_operands_of(f, operand);
	uint32_t op = f->values[operand].detail;
	if (run.end - run.first != 2 || f->operands[run.first].operand != phi ||
	    (op != OP_ADD && op != OP_SUB))
		return false;
	uint32_t by = f->operands[run.first + 1].operand;
	if (!(by & FACTS_CONSTANT) || f->constants[by & ~FACTS_CONSTANT].kind != FACTS_CONSTANT_INTEGER)
		return false;
	*step = f->constants[by & ~FACTS_CONSTANT].number * (op == OP_SUB ? -1 : 1);
	return *step != 0;
}

static bool is_counter(const struct program *p, uint32_t function, const struct facts_loop *loop,
		       uint32_t phi, struct counting *c)
{
	const struct facts *f = p->f;
	struct facts_run run = facts_operands_of(f, phi);
	if (run.end - run.first != 2)
		return false;
	*c = (struct counting){.variable = phi, .first = FACTS_NONE};
	for (uint32_t i = run.first; i < run.end; i++) {
		uint32_t from = f->operands[i].with - p->functions[function].first_block;
		if (!facts_loop_has(loop, from))
			c->first = f->operands[i].operand;
		else if (!next_value(f, f->operands[i].operand, phi, &c->step))
			return false;
	}
	return c->first != FACTS_NONE && c->step != 0;
}

bool program_counts(const struct program *p, uint32_t function, const struct facts_loop *loop,
		    struct counting *c)
{
	const struct facts *f = p->f;
	uint32_t block = p->functions[function].first_block + loop->header;
	struct facts_run values = facts_block_values(f, function, block);
	uint32_t end = values.end - 1;
	uint32_t condition = f->values[end].kind == FACTS_BRANCH
				     ? program_strip(f, f->operands[f->values[end].operands].operand)
				     : FACTS_NONE;
	if (condition == FACTS_NONE || condition & FACTS_CONSTANT ||
	    f->values[condition].kind != FACTS_COMPARE)
		return false;
	struct facts_run compared = facts_operands_of(f, condition);
	for (uint32_t v = values.first; v < values.end && f->values[v].kind == FACTS_PHI; v++) {
		if (program_strip(f, f->operands[compared.first].operand) != v ||
		    !is_counter(p, function, loop, v, c))
			continue;
		c->bound = f->operands[compared.first + 1].operand;
		c->predicate = f->values[condition].detail;
		return true;
	}
	return false;
}

bool program_reaches(const struct program *p, uint32_t function, uint32_t from, uint32_t to, uint32_t barrier)
{
	RD_ASSERT(function < p->f->function_count);
	const struct facts_graph *g = &p->functions[function].graph;
	uint32_t start = p->block_of[from], end = p->block_of[to], count = 0;
	if (start == end && from < to)
		return true;
	uint32_t *work = rd_xcalloc((size_t)g->nodes + 1, sizeof *work);
	bool *seen = rd_xcalloc((size_t)g->nodes + 1, sizeof *seen), found = false;
	work[count++] = start;
	while (count != 0 && !found) {
		uint32_t n = work[--count];
		for (uint32_t s = g->succ_start[n]; s < g->succ_start[n + 1]; s++) {
			uint32_t next = g->succ[s];
			if (next == barrier || seen[next])
				continue;
			found |= next == end;
			seen[next] = true;
			work[count++] = next;
		}
	}
	free(work);
	free(seen);
	return found;
}

/* --------------------------------------------------------------- callers --- */

RD_COMPARISON(by_callee, struct call_edge, callee, value)

static void find_edges(struct program *p)
{
	const struct facts *f = p->f;
	p->edges = rd_xcalloc(f->call_count + 1, sizeof *p->edges);
	for (size_t i = 0; i < f->call_count; i++)
		if (!(f->functions[f->calls[i].function].flags & FACTS_FUNCTION_EXTERNAL))
			p->edges[p->edge_count++] =
				(struct call_edge){facts_function_at(f, f->calls[i].value), f->calls[i].value,
						   f->calls[i].function, f->calls[i].kind};
	if (p->edge_count != 0)
		qsort(p->edges, p->edge_count, sizeof *p->edges, by_callee);
	p->edges_of = rd_xcalloc(f->function_count + 2, sizeof *p->edges_of);
	size_t at = 0;
	for (uint32_t i = 0; i <= f->function_count; i++) {
		while (at < p->edge_count && p->edges[at].callee < i)
			at++;
		p->edges_of[i] = (uint32_t)at;
	}
}

/* Marks the functions that some chain of calls from a root can reach. */
static void find_reached(struct program *p)
{
	const struct facts *f = p->f;
	uint32_t *work = rd_xcalloc(f->function_count + 1, sizeof *work), count = 0;
	for (uint32_t i = 0; i < f->function_count; i++)
		if (f->functions[i].flags & FACTS_FUNCTION_ROOT) {
			p->functions[i].reached = true;
			work[count++] = i;
		}
	while (count != 0) {
		struct facts_run values = facts_values_of(f, work[--count]);
		uint32_t row = facts_calls_of(f, values.first).first;
		for (; row < f->call_count && f->calls[row].value < values.end; row++) {
			uint32_t callee = f->calls[row].function;
			if (!p->functions[callee].reached) {
				p->functions[callee].reached = true;
				work[count++] = callee;
			}
		}
	}
	free(work);
}

/* Finds the functions that run at most once.  Such a function has only one call.  The call is not
 * in a loop, and is in a function that itself runs at most once.  Therefore a recursive function
 * is never among them. */
static void find_once(struct program *p)
{
	const struct facts *f = p->f;
	bool changed = true;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < f->function_count; i++) {
			const struct call_edge *only = NULL;
			uint32_t callers = 0;
			if (p->functions[i].once || !p->functions[i].has_graph)
				continue;
			for (uint32_t e = p->edges_of[i]; e < p->edges_of[i + 1]; e++)
				if (p->functions[p->edges[e].caller].reached) {
					only = &p->edges[e];
					callers++;
				}
			bool root = f->functions[i].flags & FACTS_FUNCTION_ROOT;
			bool once = root ? callers == 0
					 : callers == 1 && only->kind != FACTS_EDGE_CALLBACK &&
						    only->kind != FACTS_EDGE_LATER &&
						    p->functions[only->caller].once &&
						    !in_cycle(p, only->value);
			p->functions[i].once = once;
			changed |= once;
		}
	}
}

static void find_once_objects(struct program *p)
{
	const struct facts *f = p->f;
	p->once_object = rd_xcalloc(f->object_count + 1, sizeof *p->once_object);
	for (uint32_t i = 0; i < f->object_count; i++) {
		const struct facts_object *o = &f->objects[i];
		if (o->kind == FACTS_OBJECT_GLOBAL)
			p->once_object[i] = !(o->flags & (FACTS_OBJECT_THREAD_LOCAL | FACTS_OBJECT_ARRAY));
		else if ((o->kind == FACTS_OBJECT_HEAP || o->kind == FACTS_OBJECT_STACK) &&
			 !(o->flags & FACTS_OBJECT_ARRAY))
			p->once_object[i] =
				p->functions[facts_function_at(f, o->origin)].once && !in_cycle(p, o->origin);
	}
}

/* -------------------------------------------------------------- accesses --- */

static struct access *add_access(struct program *p, uint32_t value, uint32_t operand)
{
	RD_ASSERT(value < p->f->value_count);
	RD_GROW(p->accesses, p->access_capacity, p->access_count + 1);
	struct access *a = &p->accesses[p->access_count++];
	*a = (struct access){
		.value = value, .operand = operand, .set = facts_operand_set(p->f, operand), .what = ""};
	return a;
}

/* Returns true if a call with this role creates, destroys or replaces the object. */
static bool changes(uint32_t role)
{
	return role == FACTS_ROLE_FREE || role == FACTS_ROLE_RESIZE || role == FACTS_ROLE_LOCK_INIT ||
	       role == FACTS_ROLE_LOCK_DESTROY || role == FACTS_ROLE_THREAD_CREATE;
}

/* Adds an access for a library function that creates, destroys or synchronises with an object. */
static void add_library_access(struct program *p, uint32_t value, const struct facts_function *called)
{
	uint32_t operand = program_argument(p->f, value, called->subject);
	if (operand == FACTS_NONE || facts_operand_set(p->f, operand) == 0)
		return;
	bool use = facts_role_synchronises(called->role);
	if (!use && !changes(called->role))
		return;
	struct access *a = add_access(p, value, operand);
	bool whole = called->role == FACTS_ROLE_FREE || called->role == FACTS_ROLE_RESIZE;
	a->kind = use ? FACTS_READ : FACTS_WRITE;
	a->use = use;
	a->site = p->f->values[value].site;
	a->size = whole ? 0 : 8;
	a->what = facts_string(p->f, called->name);
}

static void find_accesses(struct program *p)
{
	const struct facts *f = p->f;
	size_t next = 0;
	p->accesses_of = rd_xcalloc(f->function_count + 2, sizeof *p->accesses_of);
	for (uint32_t i = 0; i < f->function_count; i++) {
		struct facts_run values = facts_values_of(f, i);
		p->accesses_of[i] = (uint32_t)p->access_count;
		for (uint32_t v = values.first; v < values.end; v++) {
			const struct facts_function *called = program_library(p, v);
			for (; next < f->access_count && f->accesses[next].value == v; next++) {
				const struct facts_access *row = &f->accesses[next];
				uint32_t operand = f->operands[f->values[v].operands + row->operand].operand;
				struct access *a = add_access(p, v, operand);
				a->kind = row->kind;
				a->flags = row->flags;
				a->site = row->site;
				a->size = row->size;
				a->what = called != NULL ? facts_string(f, called->name)
							 : facts_string(f, f->values[v].what);
			}
			if (called != NULL && called->role != FACTS_ROLE_NONE)
				add_library_access(p, v, called);
		}
	}
	p->accesses_of[f->function_count] = (uint32_t)p->access_count;
}

void program_init(struct program *p, const struct facts *f, struct candidates *out)
{
	*p = (struct program){.f = f, .out = out};
	p->functions = rd_xcalloc(f->function_count + 1, sizeof *p->functions);
	p->block_of = rd_xmalloc((f->value_count + 1) * sizeof *p->block_of);
	memset(p->block_of, 0xff, (f->value_count + 1) * sizeof *p->block_of);
	for (uint32_t i = 0; i < f->function_count; i++)
		find_flow(p, i);
	find_edges(p);
	find_reached(p);
	find_once(p);
	find_once_objects(p);
	find_accesses(p);
	share_find(p);
}

void program_release(struct program *p)
{
	for (size_t i = 0; i < p->f->function_count; i++)
		if (p->functions[i].has_graph) {
			facts_graph_release(&p->functions[i].graph);
			facts_loops_release(&p->functions[i].loops);
			free(p->functions[i].cyclic);
		}
	RD_FREE(p->functions, p->block_of, p->edges, p->edges_of, p->accesses, p->accesses_of, p->once_object,
		p->shared_object);
}
