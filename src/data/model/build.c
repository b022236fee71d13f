/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a model.  The first scan, in this file, reads every stream once, thread by thread.  It
 * collects threads, modules, allocations and releases.  Allocations and releases are then replayed
 * in the order of q and become objects with a lifetime.  Further scans (share.c, history.c) find
 * objects by address and q, so no scan has to merge the threads.
 *
 * A stream that ends early is not an error.  The model then contains what could be read.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "trace/std.h"

#include <stdlib.h>
#include <string.h>

enum memory_kind { MEMORY_ALLOC, MEMORY_FREE, MEMORY_UNMAP, MEMORY_STACK, MEMORY_STACK_END };

/* An operation that begins or ends an object. */
struct memory_event {
	uint64_t q, address, size;
	uint32_t thread, stack;
	uint8_t kind, alloc;
};

struct creation {
	/* The index of the creator, and the number of the created thread. */
	uint32_t creator, child;
	uint32_t index, stack;
};

/* The first scan. */
struct first_scan {
	struct model *model;
	struct memory_event *memory;
	struct creation *creations;
	size_t memory_count, memory_capacity, creation_count, creation_capacity;
	struct model_path path;
};

static uint32_t add_thread(struct model *m, uint32_t number, uint32_t stream)
{
	bool is_new;
	uint64_t *index = rd_umap_put(&m->private->by_number, number, &is_new);
	if (!is_new)
		return (uint32_t)*index;
	*index = m->thread_count;
	RD_GROW(m->threads, m->private->thread_capacity, m->thread_count + 1);
	m->threads[m->thread_count] =
		(struct model_thread){.number = number, .stream = stream, .parent = MODEL_NONE};
	return (uint32_t)m->thread_count++;
}

uint32_t model_thread(const struct model *m, uint32_t number)
{
	uint64_t *index = rd_umap_get(&m->private->by_number, number);
	return index ? (uint32_t)*index : MODEL_NONE;
}

uint32_t model_thread_of_stream(const struct model *m, size_t stream)
{
	RD_ASSERT(stream < trace_thread_count(m->trace));
	return m->private->by_stream[stream];
}

static void note_memory(struct first_scan *s, const struct memory_event *memory)
{
	RD_GROW(s->memory, s->memory_capacity, s->memory_count + 1);
	s->memory[s->memory_count++] = *memory;
}

static void note_start(struct first_scan *s, uint32_t thread, const struct trace_event *e)
{
	RD_ASSERT(thread < s->model->thread_count);
	struct model_thread *t = &s->model->threads[thread];
	t->start_q = e->q;
	t->start_t = e->t;
	/* This is the number of the thread, until link_threads() turns it into an index. */
	t->parent = (uint32_t)e->values[2];
	t->index = (uint32_t)e->values[3];
	t->stack = e->values[4];
	t->stack_size = e->values[5];
	t->frames = t->stack + t->stack_size;
	t->tid = (uint32_t)e->values[6];
	if (t->stack_size > 0) {
		struct memory_event stack = {.q = e->q,
					     .address = t->stack,
					     .size = t->stack_size,
					     .thread = thread,
					     .kind = MEMORY_STACK};
		note_memory(s, &stack);
	}
}

static void note_end(struct first_scan *s, uint32_t thread, const struct trace_event *e)
{
	RD_ASSERT(thread < s->model->thread_count);
	struct model_thread *t = &s->model->threads[thread];
	struct memory_event end = {
		.q = e->q, .address = t->stack, .thread = thread, .kind = MEMORY_STACK_END};
	t->end_q = e->q;
	t->end_t = e->t;
	if (t->stack_size > 0)
		note_memory(s, &end);
}

static void note_module(struct model *m, const struct trace_event *e)
{
	RD_GROW(m->modules, m->private->module_capacity, m->module_count + 1);
	m->modules[m->module_count++] = (struct model_module){.path = rd_xstrndup(e->bytes, e->length),
							      .base = e->values[0],
							      .size = e->values[1],
							      .bias = e->values[2]};
}

/* Handles all kinds of events except the most frequent ones. */
static void scan_event(struct first_scan *s, uint32_t thread, const struct trace_event *e,
		       const struct trace_decoder *d)
{
	struct model *m = s->model;
	struct model_thread *t = &m->threads[thread];
	struct memory_event memory = {.q = e->q, .address = e->address, .thread = thread};
	switch (e->kind) {
	case RADDLE_THREAD_START: note_start(s, thread, e); break;
	case RADDLE_THREAD_END: note_end(s, thread, e); break;
	case RADDLE_THREAD_CREATE:
		if (e->values[4] != 0)
			break;
		RD_GROW(s->creations, s->creation_capacity, s->creation_count + 1);
		s->creations[s->creation_count++] =
			(struct creation){.creator = thread,
					  .child = (uint32_t)e->values[2],
					  .index = (uint32_t)e->values[3],
					  .stack = model_stack_intern(m, &s->path, d)};
		break;
	case RADDLE_FRAMES: t->frames = e->address; break;
	case RADDLE_ALLOC:
		memory.kind = MEMORY_ALLOC;
		memory.size = e->values[2];
		memory.alloc = (uint8_t)e->values[3];
		memory.stack = model_stack_intern(m, &s->path, d);
		note_memory(s, &memory);
		break;
	case RADDLE_FREE:
		memory.kind = MEMORY_FREE;
		note_memory(s, &memory);
		break;
	case RADDLE_UNMAP:
		memory.kind = MEMORY_UNMAP;
		memory.size = e->values[2];
		note_memory(s, &memory);
		break;
	case RADDLE_EXIT:
		/* The thread that calls exit() has no end event. */
		if (t->end_t == 0)
			t->end_t = e->t;
		break;
	case RADDLE_MODULE: note_module(m, e); break;
	case RADDLE_THREAD_NAME:
		free(t->label);
		t->label = rd_xstrndup(e->bytes, e->length);
		break;
	default: break;
	}
}

static void note_time(struct model *m, const struct trace_event *e)
{
	if (raddle_has_q(e->kind) && e->q > m->last_q)
		m->last_q = e->q;
	if (e->t == 0)
		return;
	if (m->first_t == 0 || e->t < m->first_t)
		m->first_t = e->t;
	if (e->t > m->last_t)
		m->last_t = e->t;
}

static void count_event(struct model_thread *t, enum raddle_event kind)
{
	if (kind == RADDLE_RANGE)
		t->ranges++;
	else if (kind == RADDLE_ATOMIC)
		t->atomics++;
	else if (raddle_has_q(kind))
		t->operations++;
}

static int scan_stream(struct first_scan *s, size_t stream)
{
	struct model *m = s->model;
	uint32_t thread = m->private->by_stream[stream];
	struct trace_stream in;
	struct trace_event e;
	int got = trace_open_thread(m->trace, stream, &in);
	if (got < 0)
		return got;
	s->path.version = 0;
	s->path.depth = 0;
	uint64_t accesses = 0;
	for (got = trace_stream_next(&in, &e); got > 0; got = trace_stream_next(&in, &e)) {
		if (e.kind == RADDLE_ACCESS) {
			accesses++;
			continue;
		}
		m->kinds[e.kind]++;
		count_event(&m->threads[thread], e.kind);
		if (e.kind != RADDLE_RANGE)
			note_time(m, &e);
		scan_event(s, thread, &e, &in.decoder);
	}
	m->threads[thread].accesses = accesses;
	m->kinds[RADDLE_ACCESS] += accesses;
	trace_stream_close(&in);
	return got;
}

/* Turns the thread numbers of parents into indices.  Creation events add what start events do not
 * contain. */
static void link_threads(struct first_scan *s)
{
	RD_ASSERT(s->creation_count <= s->creation_capacity);
	struct model *m = s->model;
	for (size_t i = 0; i < m->thread_count; i++) {
		struct model_thread *t = &m->threads[i];
		if (t->parent != MODEL_NONE)
			t->parent = t->number == 0 ? MODEL_NONE : model_thread(m, t->parent);
	}
	for (size_t i = 0; i < s->creation_count; i++) {
		const struct creation *c = &s->creations[i];
		uint32_t child = add_thread(m, c->child, MODEL_NONE);
		struct model_thread *t = &m->threads[child];
		m->threads[c->creator].children++;
		t->create_stack = c->stack;
		if (t->parent == MODEL_NONE && t->number != 0 && child != c->creator) {
			t->parent = c->creator;
			t->index = c->index;
		}
	}
}

static int compare_memory(const void *a, const void *b)
{
	const struct memory_event *x = a, *y = b;
	RD_BY(x->q, y->q);
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* The replay of memory operations. */
struct memory_replay {
	struct model *model;
	struct rd_umap live; /* maps a base address to 1 + its object, or to 0 if it was freed */
	/* Maps (thread, site, kind) to the number of allocations so far.  The kind is heap or
	 * mmap. */
	struct rd_pmap ordinals;
	uint32_t *stacks; /* 1 + the stack object of each thread */
	uint32_t *maps;	  /* the live objects that mmap() created */
	size_t map_count, map_capacity;
};

static void end_object(struct memory_replay *r, uint64_t base, uint64_t q)
{
	uint64_t *live = rd_umap_get(&r->live, base);
	if (!live || !*live)
		return;
	r->model->objects[*live - 1].end = q;
	*live = 0;
}

static uint32_t count_up(struct memory_replay *r, const struct memory_event *op)
{
	uint64_t site = r->model->stacks[op->stack].site;
	uint64_t mapped = op->alloc == RADDLE_ALLOC_MMAP;
	return (uint32_t)(*rd_pmap_put(&r->ordinals, op->thread, site << 1 | mapped, NULL))++;
}

static void begin_object(struct memory_replay *r, const struct memory_event *op)
{
	bool stack = op->kind == MEMORY_STACK;
	struct model_object o = {.base = op->address,
				 .size = op->size,
				 .begin = op->q,
				 .end = MODEL_FOREVER,
				 .thread = op->thread,
				 .stack = op->stack,
				 .kind = stack ? MODEL_STACK : MODEL_HEAP,
				 .alloc = op->alloc};
	if (!stack)
		o.ordinal = count_up(r, op);
	/* A new object usually ends an older object at the same address.  A stack does not,
	 * because it may lie inside memory that the program allocated for it. */
	if (!stack)
		end_object(r, op->address, op->q);
	uint32_t object = model_add_object(r->model, &o);
	if (stack)
		r->stacks[op->thread] = object + 1;
	else
		*rd_umap_put(&r->live, op->address, NULL) = (uint64_t)object + 1;
	if (!stack && op->alloc == RADDLE_ALLOC_MMAP) {
		RD_GROW(r->maps, r->map_capacity, r->map_count + 1);
		r->maps[r->map_count++] = object;
	}
}

static void unmap(struct memory_replay *r, const struct memory_event *op)
{
	for (size_t i = 0; i < r->map_count; i++) {
		struct model_object *o = &r->model->objects[r->maps[i]];
		if (o->end != MODEL_FOREVER || o->base - op->address >= op->size)
			continue;
		end_object(r, o->base, op->q);
		o->end = op->q;
		r->maps[i--] = r->maps[--r->map_count];
	}
}

static void make_dynamic(struct first_scan *s)
{
	struct model *m = s->model;
	struct memory_replay r = {.model = m};
	r.stacks = rd_xcalloc(m->thread_count + 1, sizeof *r.stacks);
	if (s->memory_count > 0)
		qsort(s->memory, s->memory_count, sizeof *s->memory, compare_memory);
	for (size_t i = 0; i < s->memory_count; i++) {
		const struct memory_event *op = &s->memory[i];
		switch ((enum memory_kind)op->kind) {
		case MEMORY_ALLOC:
		case MEMORY_STACK: begin_object(&r, op); break;
		case MEMORY_FREE: end_object(&r, op->address, op->q); break;
		case MEMORY_UNMAP: unmap(&r, op); break;
		case MEMORY_STACK_END:
			/* In a damaged trace, a thread may end before it starts. */
			if (r.stacks[op->thread])
				m->objects[r.stacks[op->thread] - 1].end = op->q;
			break;
		}
	}
	rd_pmap_release(&r.ordinals);
	free(r.stacks);
	free(r.maps);
	rd_umap_release(&r.live);
}

/* Returns the loaded module to which a path in the site table refers.  This is the module with that
 * path, a module with the same file name elsewhere, or the program itself if it was renamed. */
static const struct model_module *find_module(const struct model *m, const char *path)
{
	for (size_t i = 0; i < m->module_count; i++) {
		if (strcmp(m->modules[i].path, path) == 0)
			return &m->modules[i];
	}
	for (size_t i = 0; i < m->module_count; i++) {
		if (strcmp(rd_base_name(m->modules[i].path), rd_base_name(path)) == 0)
			return &m->modules[i];
	}
	return m->module_count > 0 ? &m->modules[0] : NULL;
}

static void make_fixed(struct model *m)
{
	const char *path = NULL;
	const struct model_module *module = NULL;
	for (size_t i = 0; i < m->module_count; i++) {
		struct model_object o = {.base = m->modules[i].base,
					 .size = m->modules[i].size,
					 .end = MODEL_FOREVER,
					 .thread = MODEL_NONE,
					 .kind = MODEL_MODULE,
					 .info = (uint32_t)i};
		model_add_object(m, &o);
	}
	for (size_t i = 0; m->sites && i < m->sites->placed_count; i++) {
		const struct trace_placed *p = &m->sites->placed[i];
		if (!path || strcmp(path, p->module) != 0) {
			path = p->module;
			module = find_module(m, path);
		}
		if (!module)
			continue;
		struct model_object o = {.base = module->bias + p->offset,
					 .size = p->size,
					 .end = MODEL_FOREVER,
					 .thread = MODEL_NONE,
					 .kind = MODEL_GLOBAL,
					 .info = (uint32_t)i};
		model_add_object(m, &o);
	}
}

static void scan_names(struct model *m)
{
	struct first_scan s = {.model = m};
	m->private->by_stream = rd_xcalloc(trace_thread_count(m->trace) + 1, sizeof *m->private->by_stream);
	for (size_t i = 0; i < trace_thread_count(m->trace); i++)
		m->private->by_stream[i] = add_thread(m, trace_thread_number(m->trace, i), (uint32_t)i);
	for (size_t i = 0; i < trace_thread_count(m->trace); i++) {
		int err = scan_stream(&s, i);
		if (err && !m->err)
			m->err = err;
	}
	for (int kind = 0; kind <= RADDLE_ACCESS; kind++)
		m->events += m->kinds[kind];
	link_threads(&s);
	make_dynamic(&s);
	make_fixed(m);
	model_index_objects(m);
	model_name_threads(m);
	free(s.memory);
	free(s.creations);
	model_path_release(&s.path);
}

int model_build(struct model **out, struct trace *trace, enum model_depth depth)
{
	RD_ASSERT(depth <= MODEL_HISTORIES);
	struct model *m = rd_xcalloc(1, sizeof *m);
	m->private = rd_xcalloc(1, sizeof *m->private);
	m->trace = trace;
	m->sites = trace_get_sites(trace);
	m->ordered = trace_is_std(trace);
	RD_GROW(m->stacks, m->private->stack_capacity, 1);
	m->stacks[m->stack_count++] = (struct model_stack){0};
	scan_names(m);
	int err = depth >= MODEL_SHARING ? model_scan_sharing(m, depth >= MODEL_PARTS) : RD_OK;
	if (!err && depth >= MODEL_HISTORIES)
		err = model_load(m, MODEL_WHOLE);
	if (err)
		model_free(m);
	else
		*out = m;
	return err;
}

static void free_private(struct model_private *x)
{
	for (size_t i = 0; i < x->shadow_count; i++) {
		free(x->shadows[i].direct);
		RD_UMAP_RELEASE(&x->shadows[i].map, &x->shadows[i].chunks);
	}
	RD_UMAP_RELEASE(&x->by_number, &x->grid.cells, &x->pages, &x->stack_of, &x->sync_of.map);
	RD_FREE(x->by_stream, x->grid.starts, x->grid.entries, x->fixed, x->module_objects, x->blocks,
		x->owners, x->shadows, x->stores, x->reached, x);
}

void model_free(struct model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->thread_count; i++) {
		free(m->threads[i].name);
		free(m->threads[i].label);
	}
	model_unload(m);
	RD_FREE_EACH(m->modules, m->module_count, .path);
	model_marks_free(m);
	free_private(m->private);
	RD_FREE(m->threads, m->objects, m->modules, m->stacks, m->syncs, m);
}
