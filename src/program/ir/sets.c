/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the solution of a points-to problem as tables of facts: objects, places in order, each
 * distinct set once, the set of every value and constant, and the calls through pointers.  If a
 * function was copied for its callers, each of its values gets the places of all copies.
 */
#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/name.h"
#include "ir/constrain.h"
#include "ir/value.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A set that has been written, as a bitmap of the solver's places. */
struct known_set {
	struct ir_bits bits;
	uint32_t next; /* 1 + the previous set with the same hash; 0 if there is none */
};

struct tables {
	struct ir_constrain *c;
	const struct ir_solution *s;
	struct facts *f;
	uint32_t *place;     /* for each place of the solution, its number in the facts */
	struct rd_umap sets; /* maps a hash to 1 + the newest set with that hash */
	struct known_set *known;
	size_t known_capacity;
	uint32_t *of_variable; /* for each variable that owns a set, 1 + the number of the set */
	uint32_t *members;
	size_t member_capacity;
};

/* ------------------------------------------------------------------ objects --- */

static void name_object(struct ir_constrain *c, const struct ir_object *o, struct rd_buf *out)
{
	struct ir_program *p = c->program;
	switch (o->kind) {
	case FACTS_OBJECT_GLOBAL: rd_buf_adds(out, ir_name(o->origin)); break;
	case FACTS_OBJECT_FUNCTION: rd_buf_adds(out, ir_debug_function_name(p->debug, o->origin)); break;
	case FACTS_OBJECT_STACK: {
		LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(o->origin));
		uint32_t what = p->facts->values[ir_program_value(p, o->origin)].what;
		rd_buf_addf(out, "%s.%s", ir_debug_function_name(p->debug, function),
			    what != 0 ? p->strings.items[what] : RD_UNKNOWN);
		break;
	}
	case FACTS_OBJECT_HEAP: {
		LLVMValueRef callee = ir_callee(o->origin);
		rd_buf_addf(out, "%s@",
			    callee != NULL ? ir_debug_function_name(p->debug, callee) : RD_UNKNOWN);
		ir_program_place(p, o->origin, out);
		break;
	}
	default: rd_buf_addf(out, "%s()", o->name);
	}
}

static uint32_t flags_of(const struct ir_object *o)
{
	uint32_t flags = o->array ? FACTS_OBJECT_ARRAY : 0;
	if (o->kind == FACTS_OBJECT_GLOBAL)
		flags |= (LLVMIsGlobalConstant(o->origin) ? FACTS_OBJECT_CONSTANT : 0) |
			 (LLVMIsThreadLocal(o->origin) ? FACTS_OBJECT_THREAD_LOCAL | FACTS_OBJECT_MANY : 0) |
			 (LLVMIsDeclaration(o->origin) ? FACTS_OBJECT_EXTERNAL : 0);
	if (o->kind == FACTS_OBJECT_HEAP || o->kind == FACTS_OBJECT_STACK)
		flags |= FACTS_OBJECT_MANY;
	return flags;
}

static uint32_t origin_of(struct ir_program *p, const struct ir_object *o)
{
	switch (o->kind) {
	case FACTS_OBJECT_GLOBAL: return (uint32_t)*rd_umap_get(&p->globals, (uintptr_t)o->origin);
	case FACTS_OBJECT_FUNCTION: return ir_program_function(p, o->origin);
	case FACTS_OBJECT_LIBRARY: return FACTS_NONE;
	default: return ir_program_value(p, o->origin);
	}
}

static void write_objects(struct tables *t)
{
	struct ir_program *p = t->c->program;
	for (uint32_t i = 0; i < t->c->problem.object_count; i++) {
		const struct ir_object *o = &t->c->objects[i];
		struct rd_buf name = RD_BUF_INIT;
		name_object(t->c, o, &name);
		uint32_t string = ir_program_string(p, name.data);
		*facts_add_object(t->f) = (struct facts_object){
			.kind = o->kind,
			.name = string,
			.flags = flags_of(o),
			.origin = origin_of(p, o),
			.through = o->through != NULL ? ir_program_value(p, o->through) : FACTS_NONE,
			.size = t->c->problem.objects[i].size,
		};
		if (o->kind == FACTS_OBJECT_GLOBAL)
			t->f->globals[origin_of(p, o)].object = i;
		rd_buf_release(&name);
	}
}

/* ------------------------------------------------------------ places, sets --- */

static int by_object(const void *a, const void *b, void *solution)
{
	const struct ir_solution *s = solution;
	const struct ir_place *x = &s->places[*(const uint32_t *)a], *y = &s->places[*(const uint32_t *)b];
	RD_BY(x->object, y->object);
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void write_places(struct tables *t)
{
	size_t count = t->s->place_count;
	uint32_t *order = rd_xcalloc(count + 1, sizeof *order);
	t->place = rd_xcalloc(count + 1, sizeof *t->place);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof *order, by_object, (void *)t->s);
	for (uint32_t i = 0; i < count; i++) {
		t->place[order[i]] = i;
		*facts_add_place(t->f) = (struct facts_place){.object = t->s->places[order[i]].object,
							      .offset = t->s->places[order[i]].offset};
	}
	free(order);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* Returns the number of the set with these places, creating it if necessary.  Sets are compared in
 * the solver's form, in which equal sets have equal bytes.  So only new sets have to be sorted. */
static uint32_t write_set(struct tables *t, const struct ir_bits *bits)
{
	RD_ASSERT(t->s != NULL && bits != NULL);
	struct ir_bits_iterator i = {0};
	size_t count = 0, bytes = bits->count * sizeof *bits->words;
	if (bits->count == 0)
		return 0;
	uint64_t *slot = rd_umap_put(&t->sets, XXH64(bits->words, bytes, 0), NULL);
	for (uint32_t set = (uint32_t)*slot; set != 0; set = t->known[set - 1].next)
		if (t->known[set - 1].bits.count == bits->count &&
		    memcmp(t->known[set - 1].bits.words, bits->words, bytes) == 0)
			return set - 1;
	RD_GROW(t->members, t->member_capacity, ir_bits_size(bits) + 1);
	for (uint32_t n; ir_bits_next(bits, &i, &n);)
		t->members[count++] = t->place[n];
	qsort(t->members, count, sizeof *t->members, by_number);
	uint32_t set = (uint32_t)t->f->set_count;
	facts_add_set(t->f)->members = (uint32_t)t->f->member_count;
	for (size_t k = 0; k < count; k++)
		facts_add_member(t->f)->place = t->members[k];
	RD_GROW(t->known, t->known_capacity, set + 1);
	t->known[set] = (struct known_set){.next = (uint32_t)*slot};
	ir_bits_copy(&t->known[set].bits, bits);
	*slot = set + 1;
	return set;
}

static uint32_t set_of_variable(struct tables *t, uint32_t variable)
{
	RD_ASSERT(variable < t->s->variables);
	uint32_t *known = &t->of_variable[t->s->owner[variable]];
	if (*known == 0)
		*known = 1 + write_set(t, ir_solution_set(t->s, variable));
	return *known - 1;
}

/* ------------------------------------------------------------------- values --- */

/* Unites the sets of a value over all copies of its function. */
static void unite_copies(struct tables *t, struct ir_bits **united)
{
	for (size_t i = 0; i < t->c->frame_count; i++) {
		const struct ir_frame *frame = t->c->frames[i];
		struct facts_run run = facts_values_of(t->f, frame->function);
		for (uint32_t v = run.first; v < run.end; v++) {
			const struct ir_bits *set = ir_solution_set(t->s, frame->variables + (v - run.first));
			if (set->count == 0)
				continue;
			if (united[v] == NULL) {
				united[v] = rd_xcalloc(1, sizeof **united);
				ir_bits_copy(united[v], ir_solution_set(t->s, v));
			}
			ir_bits_unite(united[v], set);
		}
	}
}

static void write_values(struct tables *t)
{
	size_t count = t->f->value_count;
	struct ir_bits **united = rd_xcalloc(count + 1, sizeof *united);
	unite_copies(t, united);
	for (uint32_t v = 0; v < count; v++) {
		t->f->values[v].set = united[v] != NULL ? write_set(t, united[v]) : set_of_variable(t, v);
		if (united[v] != NULL)
			ir_bits_release(united[v]);
		free(united[v]);
	}
	free(united);
	for (uint32_t i = 0; i < t->f->constant_count; i++)
		t->f->constants[i].set = set_of_variable(t, t->c->constants + i);
	for (size_t i = 0; i < t->f->access_count; i++) {
		struct facts_access *a = &t->f->accesses[i];
		struct facts_run run = facts_operands_of(t->f, a->value);
		RD_ASSERT(a->operand < run.end - run.first);
		a->set = facts_operand_set(t->f, t->f->operands[run.first + a->operand].operand);
	}
	for (uint32_t i = 0; i < t->s->place_count; i++) {
		uint32_t set = write_set(t, &t->s->places[i].contents);
		t->f->places[t->place[i]].contents = set;
	}
}

/* -------------------------------------------------------------------- calls --- */

static int by_value(const void *a, const void *b)
{
	const struct facts_call *x = a, *y = b;
	RD_BY(x->value, y->value);
	RD_BY(x->function, y->function);
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Writes the calls.  If a call is in several copies of a function, it is written once. */
static void write_calls(struct tables *t)
{
	size_t to = 0;
	for (size_t i = 0; i < t->s->edge_count; i++) {
		const struct ir_edge_found *e = &t->s->edges[i];
		const struct ir_call_site *site = &t->c->sites[e->call];
		if (e->function < t->f->function_count) /* functions of plug-ins have no row */
			*facts_add_call(t->f) = (struct facts_call){site->value, e->function, site->kind};
	}
	if (t->f->call_count != 0)
		qsort(t->f->calls, t->f->call_count, sizeof *t->f->calls, by_value);
	for (size_t i = 0; i < t->f->call_count; i++)
		if (to == 0 || by_value(&t->f->calls[to - 1], &t->f->calls[i]) != 0)
			t->f->calls[to++] = t->f->calls[i];
	t->f->call_count = to;
}

void ir_constrain_tables(struct ir_constrain *c, const struct ir_solution *s)
{
	struct tables t = {.c = c, .s = s, .f = c->program->facts};
	t.of_variable = rd_xcalloc(s->variables + 1, sizeof *t.of_variable);
	write_objects(&t);
	write_places(&t);
	write_values(&t);
	write_calls(&t);
	free(t.place);
	for (size_t i = 1; i < t.f->set_count && t.known != NULL; i++)
		ir_bits_release(&t.known[i].bits);
	RD_FREE(t.known, t.of_variable, t.members);
	rd_umap_release(&t.sets);
}
