// SPDX-License-Identifier: Apache-2.0
/*
 * Builds the propagation graph while the threads are aligned.
 *
 * The aligners pass pairs of records, which may be equal or not, and records that only one of the
 * two runs has.  A deviation becomes a new node or is added to an existing one.  Its cause is first
 * looked for in wrong memory.  A deviating store makes memory wrong; an equal store makes it right
 * again.  If a store of the golden run was made elsewhere in this run, or not at all, the memory
 * that the store should have changed is also wrong.  That memory is identified by its canonical
 * name.
 */
#include "epa/propagate.h"

#include "base/alloc.h"
#include "base/error.h"
#include "epa/cell-int.h"
#include "epa/rename-int.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* The largest number of words that are examined for one access or copy.  It was set by hand, to
 * limit the time. */
#define COPY_MAX (1u << 16)

struct propagate_thread {
	uint32_t *last; /* the last node of the scope at each depth, or NONE */
	size_t last_count, last_capacity;
	uint32_t depth;	   /* call depth of the last record */
	uint32_t control;  /* the node at which the thread last diverged */
	uint32_t returned; /* the node of a return whose result has not been used yet */
	uint32_t newest;   /* the newest node of the thread */
	uint64_t number;   /* number of the golden record at which the thread last diverged */
	uint32_t before;   /* site of the last pair of records */
	uint8_t before_kind;
	struct epa_thread_counts counts;
};

struct epa_propagator {
	struct epa_objects *objects;
	struct epa_propagation *out;
	struct propagate_thread *threads;
	size_t thread_count;
	struct rd_pmap nodes; /* maps (place, site) and (kind, operation) to an index in nodes */
	struct rd_pmap edges; /* maps (from, to) and `through` to an index in edges */
	struct rd_umap masks; /* maps (node, freed) to an index in masks */
	/* Maps the name of memory to 1 + the node that should have stored a value there but did
	 * not, or to 0 if another store has written it since. */
	struct rd_pmap omitted;
	struct epa_cells cells;
	struct epa_renames renames;
	bool parted; /* true if any thread has diverged */
	bool stopped;
	struct {
		size_t place;
		uint64_t index;
		uint32_t node;
	} * missing; /* creations of threads that only the golden run has */
	size_t missing_count, missing_capacity;
	/* The node of the last creation that epa_propagator_missing() returned, or NONE. */
	uint32_t creation;
};

const char *epa_deviation_name(enum epa_deviation_kind kind)
{
	RD_ASSERT(kind <= EPA_EXTRA);
	static const char *const names[] = {"none", "data", "address", "control", "missing", "extra"};
	return names[kind];
}

const char *epa_through_name(enum epa_through through)
{
	RD_ASSERT(through < EPA_THROUGHS);
	static const char *const names[] = {"memory", "register", "call", "return", "control", "thread"};
	return names[through];
}

enum epa_deviation_kind epa_classify(const struct epa_record *golden, const struct epa_record *run,
				     unsigned *slot)
{
	*slot = 0;
	if (golden->site != run->site || golden->kind != run->kind || golden->event != run->event)
		return EPA_CONTROL;
	for (unsigned i = 0; i < golden->count && i < run->count; i++) {
		if (epa_name_same(golden->slots[i], run->slots[i]))
			continue;
		*slot = i;
		return i == 0 && epa_record_has_address(run) ? EPA_ADDRESS : EPA_DATA;
	}
	/* Only one run finished the access, or the sizes of the values differ. */
	if (run->unfinished != golden->unfinished)
		return EPA_MISSING;
	*slot = golden->count < run->count ? golden->count : run->count;
	return golden->count == run->count ? EPA_SAME : EPA_DATA;
}

void epa_propagation_release(struct epa_propagation *p)
{
	RD_FREE(p->nodes, p->edges, p->masks);
	*p = (struct epa_propagation){0};
}

void epa_propagator_free(struct epa_propagator *p)
{
	if (!p)
		return;
	RD_FREE_EACH(p->threads, p->thread_count, .last);
	free(p->threads);
	RD_UMAP_RELEASE(&p->nodes.map, &p->edges.map, &p->masks, &p->omitted.map);
	epa_cells_release(&p->cells);
	epa_renames_release(&p->renames);
	free(p->missing);
	free(p);
}

struct epa_propagator *epa_propagator_new(struct epa_objects *objects, struct epa_propagation *out,
					  size_t threads)
{
	struct epa_propagator *p = rd_xcalloc(1, sizeof *p);
	p->objects = objects;
	p->out = out;
	p->thread_count = threads;
	p->creation = NONE;
	p->threads = rd_xcalloc(threads + 1, sizeof *p->threads);
	for (size_t i = 0; i <= threads; i++) {
		p->threads[i].control = p->threads[i].returned = p->threads[i].newest = NONE;
		p->threads[i].counts.first = UINT64_MAX;
	}
	return p;
}

const struct epa_thread_counts *epa_propagator_counts(const struct epa_propagator *p, size_t place)
{
	RD_ASSERT(place < p->thread_count);
	return &p->threads[place].counts;
}

/* --- scopes --- */

static uint32_t *last_of(struct propagate_thread *t, uint32_t depth)
{
	while (t->last_count <= depth) {
		RD_GROW(t->last, t->last_capacity, t->last_count + 1);
		t->last[t->last_count++] = NONE;
	}
	return &t->last[depth];
}

/* Begins a scope, and forgets the nodes of an earlier scope at this depth. */
static void note_scope(struct propagate_thread *t, const struct epa_record *r)
{
	if (r->kind == TRACE_FULL_ENTRY)
		*last_of(t, r->depth) = NONE;
	t->depth = r->depth;
}

/* --- nodes and edges --- */

static void count(struct epa_propagator *p, struct propagate_thread *t, enum epa_deviation_kind kind,
		  uint64_t number)
{
	p->out->counts[kind]++;
	t->counts.counts[kind]++;
	if (t->counts.first == UINT64_MAX)
		t->counts.first = number;
}

/* Returns the node with these properties, creates it if necessary, and counts one more deviation
 * there. */
static uint32_t node_of(struct epa_propagator *p, size_t place, const struct epa_node *like)
{
	struct epa_propagation *out = p->out;
	bool is_new;
	uint64_t *index = rd_pmap_put(&p->nodes, (uint64_t)place << 32 | like->site,
				      (uint64_t)like->kind << 8 | like->operation, &is_new);
	if (is_new) {
		*index = out->node_count;
		RD_GROW(out->nodes, out->node_capacity, out->node_count + 1);
		out->nodes[out->node_count++] = *like;
	}
	out->nodes[*index].count++;
	p->threads[place].newest = (uint32_t)*index;
	return (uint32_t)*index;
}

static void add_edge(struct epa_propagator *p, uint32_t from, uint32_t to, enum epa_through through,
		     const struct epa_name *object)
{
	RD_ASSERT((from == NONE || from < p->out->node_count) && to < p->out->node_count);
	struct epa_propagation *out = p->out;
	bool is_new;
	uint64_t *index;
	if (from == NONE || from == to)
		return;
	index = rd_pmap_put(&p->edges, (uint64_t)from << 32 | to, through, &is_new);
	if (is_new) {
		*index = out->edge_count;
		RD_GROW(out->edges, out->edge_capacity, out->edge_count + 1);
		out->edges[out->edge_count++] = (struct epa_edge){.from = from,
								  .to = to,
								  .through = (uint8_t)through,
								  .first = out->nodes[to].count == 1,
								  .has_object = object != NULL,
								  .object = object ? *object : epa_plain(0)};
	}
	out->edges[*index].count++;
}

/* --- wrong memory --- */

static uint64_t serial_at(struct epa_propagator *p, uint64_t address)
{
	const struct epa_object *o = epa_objects_find(p->objects, address, 0);
	return o ? o->serial : 0;
}

static void mask(struct epa_propagator *p, const struct epa_cell *cell, const struct epa_record *by,
		 uint32_t thread)
{
	struct epa_propagation *out = p->out;
	bool is_new;
	uint64_t *index = rd_umap_put(&p->masks, (uint64_t)cell->node << 1 | !by, &is_new);
	if (is_new) {
		*index = out->mask_count;
		RD_GROW(out->masks, out->mask_capacity, out->mask_count + 1);
		out->masks[out->mask_count++] = (struct epa_mask){.node = cell->node,
								  .freed = !by,
								  .thread = thread,
								  .site = by ? by->site : 0,
								  .object = cell->name};
	}
	out->masks[*index].count++;
}

/* Returns the cell of a wrong word, or NULL if the word is not wrong or its object has ended. */
static struct epa_cell *wrong_cell(struct epa_propagator *p, uint64_t word)
{
	struct epa_cell *cell = epa_cells_find(&p->cells, word);
	if (!cell)
		return NULL;
	if (cell->serial == serial_at(p, word * EPA_CELL))
		return cell;
	mask(p, cell, NULL, 0);
	epa_cells_clear(&p->cells, cell, 0xff);
	return NULL;
}

static void make_wrong(struct epa_propagator *p, const struct epa_record *r, uint64_t size, uint32_t node)
{
	uint64_t words = epa_cell_words(r->address, size);
	for (uint64_t i = 0; i < words && i < COPY_MAX; i++) {
		uint64_t word = r->address / EPA_CELL + i;
		struct epa_cell *cell = epa_cells_put(&p->cells, word);
		if (!cell)
			return;
		cell->node = node;
		cell->serial = serial_at(p, word * EPA_CELL);
		cell->name = r->slots[0];
		cell->bytes |= epa_cell_bytes(r->address, size, word);
	}
}

/* Returns the entry of `omitted` for `name`, or NULL if no store is missing there. */
static uint64_t *omitted_at(const struct epa_propagator *p, const struct epa_name *name)
{
	return rd_pmap_get(&p->omitted, name->who, name->where);
}

static void omit(struct epa_propagator *p, const struct epa_name *name, uint64_t node)
{
	*rd_pmap_put(&p->omitted, name->who, name->where, NULL) = node;
}

static void make_right(struct epa_propagator *p, const struct epa_record *r, uint64_t size)
{
	uint64_t words = epa_cell_words(r->address, size);
	for (uint64_t i = 0; p->cells.wrong && i < words && i < COPY_MAX; i++) {
		uint64_t word = r->address / EPA_CELL + i;
		struct epa_cell *cell = wrong_cell(p, word);
		uint8_t bytes = epa_cell_bytes(r->address, size, word);
		if (!cell || !(cell->bytes & bytes))
			continue;
		mask(p, cell, r, epa_objects_thread(p->objects, r->place));
		epa_cells_clear(&p->cells, cell, bytes);
	}
	uint64_t *node = omitted_at(p, &r->slots[0]);
	if (node)
		*node = 0;
}

/* Returns the node that left the memory of this access wrong, or NONE if the memory is not
 * wrong. */
static uint32_t blame(struct epa_propagator *p, uint64_t address, uint64_t size, const struct epa_name *name)
{
	uint64_t words = epa_cell_words(address, size);
	const uint64_t *node;
	for (uint64_t i = 0; p->cells.wrong && i < words && i < COPY_MAX; i++) {
		const struct epa_cell *cell = wrong_cell(p, address / EPA_CELL + i);
		if (cell && (cell->bytes & epa_cell_bytes(address, size, address / EPA_CELL + i)))
			return cell->node;
	}
	node = name ? omitted_at(p, name) : NULL;
	return node && *node ? (uint32_t)*node - 1 : NONE;
}

/* --- causes --- */

/* Returns the last node of the thread that created the thread at `place`. */
static uint32_t creators_node(struct epa_propagator *p, size_t place)
{
	size_t parent = epa_objects_parent(p->objects, place);
	return parent < p->thread_count ? p->threads[parent].newest : NONE;
}

static void explain_by_scope(struct epa_propagator *p, size_t place, uint32_t depth, uint32_t node)
{
	struct propagate_thread *t = &p->threads[place];
	for (uint32_t d = depth + 1; d-- > 0;) {
		if (d >= t->last_count || t->last[d] == NONE)
			continue;
		add_edge(p, t->last[d], node, d == depth ? EPA_REGISTER : EPA_CALL, NULL);
		return;
	}
	if (t->control != NONE)
		add_edge(p, t->control, node, EPA_BRANCH, NULL);
	else if (!p->stopped)
		add_edge(p, creators_node(p, place), node, EPA_CREATION, NULL);
}

static bool reads_memory(const struct epa_record *r)
{
	return r->kind == TRACE_FULL_LOAD || r->kind == TRACE_FULL_ATOMIC || r->kind == TRACE_FULL_RANGE;
}

static void explain(struct epa_propagator *p, const struct epa_record *r, enum epa_deviation_kind kind,
		    uint32_t node)
{
	struct propagate_thread *t = &p->threads[r->place];
	uint32_t from;
	if (kind == EPA_DATA && reads_memory(r)) {
		from = blame(p, r->address, r->size, &r->slots[0]);
		if (from != NONE) {
			add_edge(p, from, node, EPA_MEMORY, &r->slots[0]);
			return;
		}
	}
	if (r->kind == TRACE_FULL_RESULT && t->returned != NONE) {
		add_edge(p, t->returned, node, EPA_RETURN, NULL);
		return;
	}
	/* The record of a function entry already belongs to the new scope, which has no nodes
	 * yet. */
	explain_by_scope(p, r->place, r->depth, node);
}

/* --- pairs --- */

static bool writes_memory(const struct epa_record *r)
{
	return r->kind == TRACE_FULL_STORE || r->kind == TRACE_FULL_FILL ||
	       (r->kind == TRACE_FULL_ATOMIC && r->count > 1 && r->slots[1].where);
}

/* Matches objects of the two runs.  After a divergence, a thread may have made more or fewer
 * objects than in the golden run.  The objects that both runs now make at the same record are
 * treated as the same object. */
static void match_objects(struct epa_propagator *p, const struct epa_record *golden, struct epa_record *run)
{
	bool makes = run->kind == TRACE_FULL_ALLOCA || run->kind == TRACE_FULL_RESULT;
	if (makes && golden->count && run->count)
		epa_renames_match(&p->renames, run->slots[0], golden->slots[0]);
	for (unsigned i = 0; i < run->count; i++)
		run->slots[i] = epa_renames_apply(&p->renames, run->slots[i]);
}

/* Makes the target of a copy wrong where its source is wrong. */
static void copy_cells(struct epa_propagator *p, const struct epa_record *run, uint32_t node)
{
	uint64_t words = epa_cell_words(run->value, run->size), first = run->value / EPA_CELL;
	for (uint64_t i = 0; i < words && i < COPY_MAX; i++) {
		const struct epa_cell *cell = wrong_cell(p, first + i);
		uint8_t bytes = cell ? cell->bytes & epa_cell_bytes(run->value, run->size, first + i) : 0;
		for (unsigned k = 0; k < EPA_CELL && bytes; k++) {
			struct epa_record byte = *run;
			byte.address = run->address + ((first + i) * EPA_CELL + k - run->value);
			if (bytes >> k & 1)
				make_wrong(p, &byte, 1, node);
		}
	}
}

/* Returns true if a copy transferred wrong bytes. */
static bool copy_wrong(struct epa_propagator *p, const struct epa_record *golden,
		       const struct epa_record *run, uint64_t number)
{
	struct epa_node like = {.thread = epa_objects_thread(p->objects, run->place),
				.site = run->site,
				.kind = EPA_DATA,
				.operation = run->kind,
				.has_golden = true,
				.has_run = true,
				.slot = 1,
				.number = number,
				.golden = *golden,
				.run = *run};
	uint32_t from = run->value ? blame(p, run->value, run->size, NULL) : NONE, node;
	if (from == NONE)
		return false;
	count(p, &p->threads[run->place], EPA_DATA, number);
	node = node_of(p, run->place, &like);
	add_edge(p, from, node, EPA_MEMORY, &run->slots[1]);
	make_right(p, run, run->size);
	copy_cells(p, run, node);
	return true;
}

static void equal_pair(struct epa_propagator *p, const struct epa_record *golden,
		       const struct epa_record *run, uint64_t number)
{
	struct propagate_thread *t = &p->threads[run->place];
	if (writes_memory(run))
		make_right(p, run, run->size);
	else if (run->kind == TRACE_FULL_COPY && p->cells.wrong && !copy_wrong(p, golden, run, number))
		make_right(p, run, run->size);
	else if (run->kind == TRACE_FULL_RETURN)
		t->returned = NONE;
}

static void deviating_pair(struct epa_propagator *p, const struct epa_record *golden,
			   const struct epa_record *run, struct epa_node *like)
{
	struct propagate_thread *t = &p->threads[run->place];
	uint32_t node;
	count(p, t, like->kind, like->number);
	node = node_of(p, run->place, like);
	explain(p, run, like->kind, node);
	if ((writes_memory(run) || run->kind == TRACE_FULL_COPY) && !run->unfinished)
		make_wrong(p, run, run->size, node);
	if (like->kind == EPA_ADDRESS && (writes_memory(golden) || run->kind == TRACE_FULL_COPY))
		omit(p, &golden->slots[0], (uint64_t)node + 1);
	t->returned = run->kind == TRACE_FULL_RETURN ? node : NONE;
	*last_of(t, run->depth) = node;
}

static void on_pair(void *context, const struct epa_record *golden, const struct epa_record *r,
		    uint64_t number)
{
	struct epa_propagator *p = context;
	struct propagate_thread *t = &p->threads[r->place];
	struct epa_record run = *r;
	struct epa_node like = {.operation = r->kind, .number = number, .has_golden = true, .has_run = true};
	note_scope(t, r);
	if (p->parted)
		match_objects(p, golden, &run);
	like.kind = (uint8_t)epa_classify(golden, &run, &like.slot);
	t->before = r->site;
	t->before_kind = r->kind;
	if (like.kind == EPA_SAME) {
		equal_pair(p, golden, &run, number);
	} else {
		like.thread = epa_objects_thread(p->objects, r->place);
		like.site = r->site;
		like.golden = *golden;
		like.run = run;
		deviating_pair(p, golden, &run, &like);
	}
	if (r->kind == TRACE_FULL_RESULT)
		t->returned = NONE;
}

/* --- divergence --- */

/* Makes a node where the two runs diverge.  If one of the runs ends there, the node stands for the
 * first record that only the other run has. */
static void on_part(void *context, size_t place, const struct epa_record *golden,
		    const struct epa_record *run, uint64_t number)
{
	struct epa_propagator *p = context;
	struct propagate_thread *t = &p->threads[place];
	uint32_t node = NONE;
	if (golden && run) {
		struct epa_node like = {.thread = epa_objects_thread(p->objects, place),
					.kind = EPA_CONTROL,
					.operation = t->before ? t->before_kind : run->kind,
					.site = t->before ? t->before : run->site,
					.number = number,
					.has_golden = true,
					.has_run = true,
					.golden = *golden,
					.run = *run};
		count(p, t, EPA_CONTROL, number);
		node = node_of(p, place, &like);
		explain_by_scope(p, place, t->depth, node);
		*last_of(t, t->depth) = node;
	}
	t->control = node;
	t->number = number;
	p->parted = true;
}

/* Returns true if the record gets a separate node. */
static bool is_notable(const struct epa_record *r)
{
	return r->kind == TRACE_FULL_ENTRY || r->kind == TRACE_FULL_CALL || r->kind == TRACE_FULL_EVENT ||
	       writes_memory(r) || r->kind == TRACE_FULL_COPY;
}

static void note_creation(struct epa_propagator *p, size_t place, const struct epa_record *r, uint32_t node)
{
	if (r->event != RADDLE_THREAD_CREATE || r->count < 2 || r->slots[1].where)
		return;
	RD_GROW(p->missing, p->missing_capacity, p->missing_count + 1);
	p->missing[p->missing_count].place = place;
	p->missing[p->missing_count].index = r->slots[0].where;
	p->missing[p->missing_count++].node = node;
}

static void on_only(void *context, size_t place, const struct epa_record *r, bool golden)
{
	struct epa_propagator *p = context;
	struct propagate_thread *t = &p->threads[place];
	enum epa_deviation_kind kind = golden ? EPA_MISSING : EPA_EXTRA;
	struct epa_node like = {.thread = epa_objects_thread(p->objects, place),
				.site = r->site,
				.kind = (uint8_t)kind,
				.operation = r->kind,
				.has_golden = golden,
				.has_run = !golden};
	uint32_t node;
	like.number = t->number;
	count(p, t, kind, like.number);
	if (!golden)
		note_scope(t, r);
	/* If the process died, nothing is reported about what a thread would have done after
	 * that. */
	if (t->control != NONE && (!is_notable(r) || (p->stopped && golden)))
		return;
	*(golden ? &like.golden : &like.run) = *r;
	node = node_of(p, place, &like);
	if (t->control == NONE) {
		explain_by_scope(p, place, t->depth, node);
		t->control = node;
	} else {
		add_edge(p, t->control, node, EPA_BRANCH, NULL);
	}
	if (golden && r->count && (writes_memory(r) || r->kind == TRACE_FULL_COPY))
		omit(p, &r->slots[0], (uint64_t)node + 1);
	else if (!golden && !r->unfinished && (writes_memory(r) || r->kind == TRACE_FULL_COPY))
		make_wrong(p, r, r->size, node);
	if (golden)
		note_creation(p, place, r, node);
}

struct epa_align_sink epa_propagator_sink(struct epa_propagator *p)
{
	return (struct epa_align_sink){p, on_pair, on_part, on_only};
}

void epa_propagator_begin(struct epa_propagator *p, const struct epa_record *last)
{
	struct propagate_thread *t = &p->threads[last->place];
	t->before = last->site;
	t->before_kind = last->kind;
	t->depth = last->depth;
}

bool epa_propagator_missing(struct epa_propagator *p, size_t *place, uint64_t *index)
{
	if (!p->missing_count)
		return false;
	*place = p->missing[--p->missing_count].place;
	*index = p->missing[p->missing_count].index;
	p->creation = p->missing[p->missing_count].node;
	return true;
}

void epa_propagator_lost_thread(struct epa_propagator *p, uint32_t thread, const struct epa_record *first)
{
	struct epa_propagation *out = p->out;
	RD_GROW(out->nodes, out->node_capacity, out->node_count + 1);
	out->nodes[out->node_count++] = (struct epa_node){.thread = thread,
							  .site = first->site,
							  .kind = EPA_MISSING,
							  .operation = first->kind,
							  .has_golden = true,
							  .count = 1,
							  .golden = *first};
	add_edge(p, p->creation, (uint32_t)out->node_count - 1, EPA_CREATION, NULL);
	p->creation = NONE;
}

/* The run does not have the record, so the memory that the record stores to has a wrong value. */
void epa_propagator_lost_record(struct epa_propagator *p, const struct epa_record *r)
{
	p->out->counts[EPA_MISSING]++;
	if (r->count && (writes_memory(r) || r->kind == TRACE_FULL_COPY))
		omit(p, &r->slots[0], p->out->node_count);
}

void epa_propagator_move(struct epa_propagator *p, const struct epa_move *move)
{
	uint64_t words = epa_cell_words(move->from, move->size);
	for (uint64_t i = 0; p->cells.wrong && i < words && i < COPY_MAX; i++) {
		struct epa_cell *old = epa_cells_find(&p->cells, move->from / EPA_CELL + i), was, *cell;
		if (!old)
			continue;
		was = *old;
		epa_cells_clear(&p->cells, old, 0xff);
		cell = epa_cells_put(&p->cells, move->to / EPA_CELL + i);
		if (!cell)
			return;
		was.word = cell->word;
		was.serial = serial_at(p, was.word * EPA_CELL);
		*cell = was;
	}
}

void epa_propagator_stop(struct epa_propagator *p)
{
	p->stopped = true;
}

void epa_propagator_finish(struct epa_propagator *p)
{
	for (size_t i = 0; i < p->cells.capacity; i++) {
		const struct epa_cell *cell = &p->cells.list[i];
		if (!cell->used || !cell->bytes)
			continue;
		const struct epa_object *o = epa_objects_find(p->objects, cell->word * EPA_CELL, 0);
		if (o && o->live && o->serial == cell->serial)
			p->out->corrupted++;
		else
			mask(p, cell, NULL, 0);
	}
}
