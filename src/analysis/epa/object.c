// SPDX-License-Identifier: Apache-2.0
/*
 * The objects of a run, as its records tell of them.
 *
 * All are ranges of one set (epa/extent.h): modules with their variables inside, stacks of threads with local
 * variables inside, heap blocks.  Scopes are kept for each thread; the variables of a
 * scope end with it.  What an address is in that no record tells of (a library's frame, the strings of the
 * environment) is kept for each thread apart, because which thread comes first is up to the schedule.
 */
#include "epa/object.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "epa/extent.h"
#include "raddle/full.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX (1u << 22)
#define UNKNOWN_MAX 4096  /* of a thread; further ones share a name */
#define UNKNOWN_SIZE 4096 /* what is that close behind an unknown address belongs to it */
#define ARGUMENT_SIZE                                                                                        \
	64 /* of a string of the command line, if no other begins before; the environment follows */
#define CONTROL_SIZE 1024 /* of the initial thread's control block, at least */
#define CONTROL_ROOM 4096 /* at the upper end of a stack, with the block in it */
#define HEADER_SIZE 16	  /* before a heap block; pointers there are meant for the block behind */

struct scope {
	uint64_t frame;
	size_t first; /* of its variables */
};

struct variable {
	uint32_t extent;
	uint64_t serial;
};

/* An address that is in no object, and those close behind it. */
struct unknown {
	uint64_t start;
	uint64_t ordinal; /* which at its site << 16 | where it lies << 12 | low bits */
	uint32_t site;
	uint32_t depth; /* scopes when it was first seen, if it is on the thread's stack; else 0 */
};

/* A thread that another one created and has not joined. */
struct child {
	uint64_t end; /* of its stack, and of its control block; 0: not known */
	uint32_t number, name;
};

struct thread {
	uint32_t name;
	struct child *children;
	size_t child_count, child_capacity;
	uint64_t freed, freed_size; /* by the last call; 0: nothing */
	struct scope *scopes;
	size_t depth, scope_capacity;
	struct variable *variables;
	size_t variable_count, variable_capacity;
	struct unknown *unknowns;			    /* by start */
	size_t unknown_count, unknown_capacity, deep_count; /* deep: those with a depth */
	uint64_t low, high;				    /* its stack */
	uint64_t control;				    /* its control block */
	uint64_t made;					    /* objects so far */
	uint32_t blocks;				    /* of thread-local variables so far */
};

struct epa_objects {
	struct epa_walk *walk;
	const struct trace_sites *sites;
	struct epa_names *names;
	struct epa_extents extents;
	struct epa_object *list; /* by number of the extent */
	size_t count, capacity;
	uint64_t serial;
	struct rd_umap counters; /* (place, kind, site) to how many */
	struct rd_umap created;	 /* number of a thread to that of its name */
	struct thread *threads;	 /* by place */
	size_t module_count;
	uint64_t program; /* where it is loaded */
	uint64_t argv, argv_size;
	bool in_main;
	uint64_t records;     /* fed so far */
	struct epa_move move; /* the last one, until somebody asks; size 0: none */
	epa_object_fn *watch;
	void *watcher;
};

/* --- names --------------------------------------------------------------------------------- */

static struct epa_name make_name(const struct epa_object *o)
{
	struct epa_name name = epa_name_of(o->kind, o->thread, o->ordinal);
	switch (o->kind) {
	case EPA_VARIABLE:
	case EPA_MODULE: return (struct epa_name){(uint64_t)o->kind << 60 | o->index, 0};
	case EPA_TLS:
	case EPA_THREAD:
	case EPA_ARGUMENT: return name;
	default: name.where = (uint64_t)o->site << EPA_NAME_SITE; return name;
	}
}

static struct epa_name name_in(struct epa_name base, int64_t offset)
{
	enum epa_kind kind = epa_name_kind(base);
	if (kind == EPA_STACK || kind == EPA_HEAP || kind == EPA_MAP || kind == EPA_UNKNOWN)
		base.where |= (uint64_t)offset & ((1ull << EPA_NAME_SITE) - 1);
	else
		base.where += (uint64_t)offset;
	return base;
}

static uint64_t counter_key(size_t place, enum epa_kind kind, uint32_t site)
{
	return (uint64_t)place << 35 | (uint64_t)kind << 31 | site;
}

/* How many the thread has made there before. */
static uint64_t count_up(struct epa_objects *o, size_t place, enum epa_kind kind, uint32_t site)
{
	return (*rd_umap_put(&o->counters, counter_key(place, kind, site), NULL))++;
}

/* --- objects begin and end --------------------------------------------------------------------- */

/* Whose bytes are known one by one. */
static bool is_tracked(const struct epa_object *e)
{
	return e->kind == EPA_STACK || e->kind == EPA_HEAP;
}

static void tell_end(struct epa_objects *o, const struct epa_object *e)
{
	if (o->watch && e->kind != EPA_REGION)
		o->watch(o->watcher, e, o->records);
}

static struct epa_object *add(struct epa_objects *o, const struct epa_object *object)
{
	uint32_t n = epa_extents_add(&o->extents, object->start, object->size);
	struct epa_object *e;
	while (o->count <= n) {
		RD_GROW(o->list, o->capacity, o->count + 1);
		o->list[o->count++] = (struct epa_object){0};
	}
	e = &o->list[n];
	struct epa_defined defined = e->defined;
	struct epa_parts parts = e->parts;
	if (e->live)
		tell_end(o, e);
	*e = *object;
	e->size = o->extents.list[n].size;
	e->defined = defined;
	e->parts = parts;
	epa_parts_begin(&e->parts);
	epa_defined_begin(&e->defined, e->size, object->defined.whole || !is_tracked(e));
	e->begin = o->records;
	e->serial = ++o->serial;
	if (e->kind == EPA_STACK || e->kind == EPA_HEAP || e->kind == EPA_MAP)
		e->local = o->threads[e->place].made++;
	e->live = true;
	e->name = make_name(e);
	return e;
}

static void end_extent(struct epa_objects *o, uint32_t n)
{
	if (o->list[n].live)
		tell_end(o, &o->list[n]);
	o->list[n].live = false;
	epa_extents_end(&o->extents, n);
}

static void end_variables(struct epa_objects *o, struct thread *t, size_t first)
{
	while (t->variable_count > first) {
		const struct variable *v = &t->variables[--t->variable_count];
		if (o->list[v->extent].serial == v->serial)
			end_extent(o, v->extent);
	}
}

static void add_variable(struct epa_objects *o, size_t place, const struct trace_record *r)
{
	struct thread *t = &o->threads[place];
	struct epa_object object = {.start = r->address,
				    .size = r->size,
				    .ordinal = count_up(o, place, EPA_STACK, r->site),
				    .thread = t->name,
				    .place = (uint32_t)place,
				    .site = r->site,
				    .kind = EPA_STACK};
	const struct epa_object *e = add(o, &object);
	RD_GROW(t->variables, t->variable_capacity, t->variable_count + 1);
	t->variables[t->variable_count++] = (struct variable){(uint32_t)(e - o->list), e->serial};
}

/* What the current scope has below the address ends. */
static void restore_stack(struct epa_objects *o, struct thread *t, uint64_t address)
{
	size_t first = t->depth ? t->scopes[t->depth - 1].first : 0;
	while (t->variable_count > first) {
		const struct variable *v = &t->variables[t->variable_count - 1];
		if (o->list[v->extent].serial == v->serial && o->list[v->extent].start >= address)
			break;
		end_variables(o, t, t->variable_count - 1);
	}
}

/* A call that releases a block and then allocates one is realloc(). */
static void note_move(struct epa_objects *o, size_t place, const struct epa_object *to)
{
	struct thread *t = &o->threads[place];
	if (t->freed && to->kind == EPA_HEAP)
		o->move = (struct epa_move){t->freed, to->start,
					    t->freed_size < to->size ? t->freed_size : to->size};
	t->freed = 0;
}

/* Functions whose memory has no value until it is written. */
static const char *const raw_names[] = {
#define LIBC_RAW(name) name,
#include "raddle/libc.inc"
};

static void add_block(struct epa_objects *o, size_t place, const struct trace_record *r)
{
	bool map = r->event->values[3] == RADDLE_ALLOC_MMAP;
	struct epa_object object = {.start = r->address,
				    .size = r->event->values[2],
				    .ordinal = count_up(o, place, map ? EPA_MAP : EPA_HEAP, r->site),
				    .thread = o->threads[place].name,
				    .place = (uint32_t)place,
				    .site = r->site,
				    .kind = map ? EPA_MAP : EPA_HEAP};
	const struct trace_site *site = trace_sites_find(o->sites, r->site);
	/* calloc() and realloc() give them values, and so do libraries to what they allocate. */
	object.defined.whole =
		!site || !rd_is_one_of(site->what, raw_names, sizeof raw_names / sizeof *raw_names);
	add(o, &object);
	note_move(o, place, &object);
}

static void end_block(struct epa_objects *o, size_t place, uint64_t address)
{
	uint32_t n = epa_extents_before(&o->extents, address);
	o->threads[place].freed = n && o->list[n].start == address ? address : 0;
	o->threads[place].freed_size = o->list[n].size;
	if (n && o->list[n].start == address && (o->list[n].kind == EPA_HEAP || o->list[n].kind == EPA_MAP))
		end_extent(o, n);
}

static void end_maps(struct epa_objects *o, uint64_t start, uint64_t size)
{
	uint32_t n = epa_extents_before(&o->extents, start);
	if (!n || o->list[n].start != start)
		n = epa_extents_behind(&o->extents, start);
	while (n && o->list[n].start - start < size) {
		const struct epa_object *e = &o->list[n];
		if (e->kind == EPA_MAP && e->size <= size - (e->start - start))
			end_extent(o, n);
		n = epa_extents_behind(&o->extents, e->start);
	}
}

/* --- modules ----------------------------------------------------------------------------------- */

/* Whether the site table means this module by the path: the same file name, or the program itself, which was
 * renamed. */
static bool is_module(const char *path, const char *module, bool program)
{
	const char *name = rd_base_name(path);
	return strcmp(name, rd_base_name(module)) == 0 || (program && !strstr(name, ".so"));
}

static void add_placed(struct epa_objects *o, const char *module, uint64_t bias)
{
	const char *path = NULL;
	bool match = false;
	for (size_t i = 0; o->sites && i < o->sites->placed_count; i++) {
		const struct trace_placed *p = &o->sites->placed[i];
		struct epa_object object = {.start = bias + p->offset,
					    .size = p->size,
					    .index = (uint32_t)i,
					    .kind = EPA_VARIABLE};
		if (path != p->module) {
			path = p->module;
			match = is_module(path, module, o->module_count == 0);
		}
		if (match && p->size)
			add(o, &object);
	}
}

static void add_module(struct epa_objects *o, const struct trace_event *e)
{
	char *path = rd_xstrndup(e->bytes, e->length);
	const char *name = rd_base_name(path);
	struct epa_object object = {.start = e->values[0],
				    .size = e->values[1],
				    .index = epa_names_put(o->names, name, strlen(name)),
				    .ordinal = e->values[0] - e->values[2],
				    .kind = EPA_MODULE};
	struct epa_object *module = add(o, &object);
	module->name.where = object.ordinal; /* offsets are those of the file */
	add_placed(o, path, e->values[2]);
	if (o->module_count++ == 0)
		o->program = e->values[0];
	free(path);
}

/* --- threads ----------------------------------------------------------------------------------- */

/* What pthread_t points to lies at the upper end of the stack, behind the thread-local variables; that of the
 * initial thread directly behind them. */
static void add_control(struct epa_objects *o, size_t place, uint64_t start, uint64_t end)
{
	struct epa_object object = {.start = start,
				    .size = end - start,
				    .thread = o->threads[place].name,
				    .place = (uint32_t)place,
				    .kind = EPA_THREAD};
	if (start < end)
		add(o, &object)->name.where = start - end; /* counted from the end, which is fixed */
	o->threads[place].control = start;
}

static void add_stack(struct epa_objects *o, size_t place, const struct trace_event *start)
{
	struct thread *t = &o->threads[place];
	struct epa_object object = {.start = start->values[4],
				    .size = start->values[5],
				    .thread = t->name,
				    .place = (uint32_t)place,
				    .kind = EPA_REGION};
	t->low = object.start;
	t->high = object.start + object.size;
	if (object.size)
		add(o, &object);
	if (epa_walk_number(o->walk, place) != 0 && t->high - t->low >= CONTROL_ROOM)
		add_control(o, place, t->high - CONTROL_ROOM, t->high);
}

/* The creator sees the pthread_t before the thread starts, and while the thread that had the same one before
 * may not have ended for all others. */
static void add_child(struct epa_objects *o, size_t place, const struct trace_event *e)
{
	struct thread *t = &o->threads[place];
	const struct trace_event *start = epa_walk_start(o->walk, (uint32_t)e->values[2]);
	const char *name = epa_thread_name(o->walk, (uint32_t)e->values[2]);
	struct child child = {.number = (uint32_t)e->values[2]};
	char *lost = NULL;
	if (e->values[4] != 0)
		return;
	if (start)
		child.end = start->values[4] + start->values[5];
	else
		name = lost = rd_xasprintf("%s_%" PRIu64, epa_walk_name(o->walk, place), e->values[3]);
	child.name = epa_names_put(o->names, name, strlen(name));
	*rd_umap_put(&o->created, child.number, NULL) = child.name;
	if (!start || start->values[5] >= CONTROL_ROOM) {
		RD_GROW(t->children, t->child_capacity, t->child_count + 1);
		t->children[t->child_count++] = child;
	}
	free(lost);
}

/* The thread was joined or detached: its pthread_t means something else, or nothing. */
static void forget_child(struct epa_objects *o, size_t place, const struct trace_event *e)
{
	struct thread *t = &o->threads[place];
	for (size_t i = t->child_count; e->values[3] == 0 && i-- > 0;) {
		if (t->children[i].number != e->values[2])
			continue;
		t->child_count--;
		memmove(t->children + i, t->children + i + 1, (t->child_count - i) * sizeof *t->children);
		return;
	}
}

/* A child that died with the process before its first record has told nobody where its stack is; its
 * pthread_t does. */
static void find_lost(struct epa_objects *o, size_t place, uint64_t handle)
{
	struct thread *t = &o->threads[place];
	struct child *c = t->child_count ? &t->children[t->child_count - 1] : NULL;
	struct epa_object object = {.size = CONTROL_ROOM, .place = (uint32_t)place, .kind = EPA_THREAD};
	if (!c || c->end || handle >> 47)
		return;
	c->end = (handle | (CONTROL_ROOM - 1)) + 1;
	object.start = c->end - CONTROL_ROOM;
	object.thread = c->name;
	add(o, &object)->name.where = -(uint64_t)CONTROL_ROOM;
}

/* The child of this thread that the address is the pthread_t of, or NULL. */
static const struct child *child_at(const struct thread *t, uint64_t address)
{
	for (size_t i = t->child_count; i-- > 0;)
		if (t->children[i].end - address <= CONTROL_ROOM && address < t->children[i].end)
			return &t->children[i];
	return NULL;
}

static void add_tls(struct epa_objects *o, size_t place, const struct trace_event *e)
{
	struct thread *t = &o->threads[place];
	uint64_t start = e->values[0], end = start + e->values[1];
	struct epa_object object = {.start = start,
				    .size = e->values[1],
				    .thread = t->name,
				    .place = (uint32_t)place,
				    .ordinal = t->blocks,
				    .kind = EPA_TLS};
	if (end <= start)
		return;
	add(o, &object);
	if (t->blocks++ == 0 && epa_walk_number(o->walk, place) == 0)
		add_control(o, place, end, end + CONTROL_SIZE);
	else if (start < t->high && end > t->control && end < t->high)
		add_control(o, place, end, t->high);
}

static void end_thread(struct epa_objects *o, struct thread *t)
{
	end_variables(o, t, 0);
	t->depth = 0;
	t->unknown_count = t->deep_count = 0;
}

/* --- scopes ------------------------------------------------------------------------------------ */

/* The array is on the stack above main; what follows it is not always as far away. */
static void enter_main(struct epa_objects *o, size_t place, const struct trace_record *r)
{
	const struct trace_site *site = trace_sites_find(o->sites, r->site);
	uint64_t argc = trace_record_value(r, 0);
	if (!site || strcmp(site->what, "main") != 0)
		return;
	o->in_main = true;
	if (r->value_count < 2 || argc > 1u << 24)
		return;
	o->argv = trace_record_value(r, 1);
	o->argv_size = 8 * (argc + 1);
	struct epa_object object = {.start = o->argv,
				    .size = o->argv_size,
				    .thread = o->threads[place].name,
				    .place = (uint32_t)place,
				    .kind = EPA_ARGUMENT};
	add(o, &object);
}

static void enter(struct epa_objects *o, size_t place, const struct trace_record *r)
{
	struct thread *t = &o->threads[place];
	if (!o->in_main && r->thread == 0)
		enter_main(o, place, r);
	if (t->depth == DEPTH_MAX)
		return;
	RD_GROW(t->scopes, t->scope_capacity, t->depth + 1);
	t->scopes[t->depth++] = (struct scope){r->frame, t->variable_count};
}

static void leave(struct epa_objects *o, struct thread *t)
{
	if (!t->depth)
		return;
	end_variables(o, t, t->scopes[--t->depth].first);
}

static void land(struct epa_objects *o, struct thread *t, uint64_t frame)
{
	size_t depth = t->depth;
	while (depth > 0 && t->scopes[depth - 1].frame != frame)
		depth--;
	while (depth > 0 && t->depth > depth)
		leave(o, t);
}

/* A call has returned: the frames below this one are gone, and what was unknown in them. */
static void forget_deep(struct thread *t)
{
	size_t kept = 0;
	t->deep_count = 0;
	for (size_t i = 0; i < t->unknown_count; i++) {
		if (t->unknowns[i].depth > t->depth)
			continue;
		t->deep_count += t->unknowns[i].depth != 0;
		t->unknowns[kept++] = t->unknowns[i];
	}
	t->unknown_count = kept;
}

/* --- all ------------------------------------------------------------------------------------- */

struct epa_objects *epa_objects_new(struct epa_walk *walk, struct epa_names *names)
{
	struct epa_objects *o = rd_xcalloc(1, sizeof *o);
	o->walk = walk;
	o->sites = epa_source_sites(epa_walk_source(walk));
	o->names = names;
	epa_extents_init(&o->extents);
	RD_GROW(o->list, o->capacity, 1);
	o->list[o->count++] = (struct epa_object){0};
	o->threads = rd_xcalloc(epa_walk_threads(walk) + 1, sizeof *o->threads);
	for (size_t i = 0; i < epa_walk_threads(walk); i++) {
		const char *name = epa_walk_name(walk, i);
		o->threads[i].name = epa_names_put(names, name, strlen(name));
	}
	return o;
}

void epa_objects_free(struct epa_objects *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < epa_walk_threads(o->walk); i++) {
		RD_FREE(o->threads[i].scopes, o->threads[i].variables, o->threads[i].unknowns,
			o->threads[i].children);
	}
	for (size_t i = 0; i < o->count; i++) {
		epa_defined_release(&o->list[i].defined);
		epa_defined_release(&o->list[i].parts.bits);
	}
	free(o->threads);
	free(o->list);
	RD_UMAP_RELEASE(&o->counters, &o->created);
	epa_extents_release(&o->extents);
	free(o);
}

void epa_objects_watch(struct epa_objects *o, epa_object_fn *fn, void *context)
{
	o->watch = fn;
	o->watcher = context;
}

void epa_objects_finish(struct epa_objects *o)
{
	for (size_t i = 1; i < o->count; i++)
		if (o->list[i].live && o->extents.list[i].size)
			tell_end(o, &o->list[i]);
}

static void feed_thread(struct epa_objects *o, size_t place, const struct trace_event *e)
{
	switch (raddle_role(e->kind)) {
	case RADDLE_ROLE_START: add_stack(o, place, e); break;
	case RADDLE_ROLE_CREATE: add_child(o, place, e); break;
	case RADDLE_ROLE_JOIN:
	case RADDLE_ROLE_DETACH: forget_child(o, place, e); break;
	case RADDLE_ROLE_END: end_thread(o, &o->threads[place]); break;
	default: break;
	}
}

static void feed_event(struct epa_objects *o, size_t place, const struct trace_record *r)
{
	const struct trace_event *e = r->event;
	switch (e->kind) {
	case RADDLE_TLS: add_tls(o, place, e); break;
	case RADDLE_HANDLE: find_lost(o, place, e->address); break;
	case RADDLE_MODULE: add_module(o, e); break;
	case RADDLE_ALLOC: add_block(o, place, r); break;
	case RADDLE_FREE: end_block(o, place, e->address); break;
	case RADDLE_UNMAP: end_maps(o, e->address, e->values[2]); break;
	default:
		if (raddle_class(e->kind) == RADDLE_CLASS_THREAD)
			feed_thread(o, place, e);
	}
}

/* A string of the command line is named by its place there. */
static void note_argument(struct epa_objects *o, size_t place, const struct trace_record *r)
{
	uint64_t index = (r->address - o->argv) / 8;
	struct epa_object object = {.start = r->value,
				    .size = ARGUMENT_SIZE,
				    .thread = o->threads[0].name,
				    .place = (uint32_t)place,
				    .ordinal = index + 1,
				    .kind = EPA_ARGUMENT};
	uint64_t high = o->threads[0].high;
	uint32_t n = epa_extents_find(&o->extents, r->value, r->site);
	if (r->size != 8 || r->value < o->argv + o->argv_size || r->value >= high ||
	    (n && o->list[n].kind == EPA_ARGUMENT && o->list[n].start == r->value))
		return;
	/* Up to the next string that is known, which may lie inside an earlier one's range. */
	n = epa_extents_behind(&o->extents, r->value);
	if (n && o->list[n].start - r->value < object.size)
		object.size = o->list[n].start - r->value;
	if (high - r->value < object.size)
		object.size = high - r->value;
	n = epa_extents_before(&o->extents, r->value);
	if (n && o->list[n].kind == EPA_ARGUMENT && epa_extent_has(&o->extents.list[n], r->value)) {
		struct epa_object before = o->list[n];
		epa_extents_remove(&o->extents, n);
		before.size = r->value - before.start;
		add(o, &before);
	}
	add(o, &object);
}

void epa_objects_feed(struct epa_objects *o, const struct trace_record *r)
{
	size_t place = epa_walk_place(o->walk);
	struct thread *t = &o->threads[place];
	switch (r->kind) {
	case TRACE_FULL_LOAD:
		if (r->address - o->argv < o->argv_size && !(r->flags & TRACE_RECORD_UNFINISHED))
			note_argument(o, place, r);
		break;
	case TRACE_FULL_CALL: t->freed = 0; break;
	case TRACE_FULL_ENTRY: enter(o, place, r); break;
	case TRACE_FULL_ALLOCA: add_variable(o, place, r); break;
	case TRACE_FULL_RESTORE: restore_stack(o, t, r->address); break;
	case TRACE_FULL_RETURN:
	case TRACE_FULL_TAIL: leave(o, t); break;
	case TRACE_FULL_RESULT:
		if (t->deep_count)
			forget_deep(t);
		break;
	case TRACE_FULL_LANDING: land(o, t, r->frame); break;
	case TRACE_FULL_EVENT: feed_event(o, place, r); break;
	default: break;
	}
	o->records++;
}

/* --- what lies at an address ----------------------------------------------------------------------- */

const struct epa_object *epa_objects_find(struct epa_objects *o, uint64_t address, uint32_t site)
{
	uint32_t n = epa_extents_find(&o->extents, address, site);
	return n ? &o->list[n] : NULL;
}

static struct unknown *new_unknown(struct epa_objects *o, size_t place, uint32_t site, uint64_t address)
{
	struct thread *t = &o->threads[place];
	bool own = address - t->low < t->high - t->low;
	bool initial = address - o->threads[0].low < o->threads[0].high - o->threads[0].low;
	uint64_t nth = count_up(o, place, EPA_UNKNOWN, site) & 0xffffff;
	struct unknown u = {.start = address, .site = site, .depth = own ? (uint32_t)t->depth : 0};
	size_t at = t->unknown_count;
	/* Memory comes in pages or aligned blocks; what lies on a stack may be strings. */
	u.ordinal = nth << 16 | (own ? 1u : initial ? 2u : 3u) << 12 | (own || initial ? 0 : address & 15);
	RD_GROW(t->unknowns, t->unknown_capacity, t->unknown_count + 1);
	for (; at > 0 && t->unknowns[at - 1].start > address; at--)
		t->unknowns[at] = t->unknowns[at - 1];
	t->unknowns[at] = u;
	t->unknown_count++;
	t->deep_count += u.depth != 0;
	return &t->unknowns[at];
}

static struct epa_name unknown_name(struct epa_objects *o, uint32_t site, uint64_t address)
{
	size_t place = epa_walk_place(o->walk);
	struct thread *t = &o->threads[place];
	size_t next = 0;
	struct epa_object object = {.thread = t->name, .kind = EPA_UNKNOWN};
	const struct unknown *u;
	RD_BISECT(next, t->unknown_count, at, t->unknowns[at].start <= address);
	u = next > 0 ? &t->unknowns[next - 1] : NULL;
	if ((!u || address - u->start >= UNKNOWN_SIZE) && t->unknown_count < UNKNOWN_MAX)
		u = new_unknown(o, place, site, address);
	if (!u || address - u->start >= UNKNOWN_SIZE)
		return (struct epa_name){(uint64_t)EPA_UNKNOWN << 60, 0};
	object.site = u->site;
	object.ordinal = u->ordinal;
	return name_in(make_name(&object), (int64_t)(address - u->start));
}

/* A pointer behind the end of a living object means that object, one into a heap block's header the block. */
static const struct epa_object *near_object(const struct epa_objects *o, uint64_t address)
{
	uint32_t n = address ? epa_extents_before(&o->extents, address - 1) : 0;
	const struct epa_object *e = &o->list[n];
	if (n && e->live && e->start + e->size == address && e->kind != EPA_REGION && e->kind != EPA_MODULE)
		return e;
	n = epa_extents_behind(&o->extents, address);
	e = &o->list[n];
	return n && e->live && e->kind == EPA_HEAP && e->start - address <= HEADER_SIZE ? e : NULL;
}

/* What lies there has ended, or nothing is known of it.  Where a local variable was is something else now,
 * mostly a library's. */
static struct epa_name odd_name(struct epa_objects *o, uint32_t site, uint64_t address, uint32_t n)
{
	const struct epa_object *e = near_object(o, address);
	if (!e && n && o->list[n].kind != EPA_REGION && o->list[n].kind != EPA_STACK)
		e = &o->list[n];
	return e ? name_in(e->name, (int64_t)(address - e->start)) : unknown_name(o, site, address);
}

struct epa_name epa_objects_name(struct epa_objects *o, uint32_t site, uint64_t address)
{
	uint32_t n = epa_extents_find(&o->extents, address, site);
	const struct epa_object *e = &o->list[n];
	if (!e->live || e->kind == EPA_REGION || e->kind == EPA_THREAD) {
		struct thread *t = &o->threads[epa_walk_place(o->walk)];
		const struct child *child = child_at(t, address);
		if (child)
			return name_in(epa_name_of(EPA_THREAD, child->name, 0),
				       (int64_t)(address - child->end));
		if (e->kind != EPA_THREAD)
			return odd_name(o, site, address, n);
	}
	return epa_object_name(e, address);
}

struct epa_object *epa_objects_plain(struct epa_objects *o, uint32_t site, uint64_t address)
{
	struct epa_object *e = &o->list[epa_extents_find(&o->extents, address, site)];
	bool plain = e->live && e->kind != EPA_REGION && e->kind != EPA_THREAD;
	return plain && address - o->argv >= o->argv_size ? e : NULL;
}

struct epa_name epa_object_name(const struct epa_object *e, uint64_t address)
{
	return name_in(e->name, (int64_t)(address - e->start));
}

void epa_objects_skip(struct epa_objects *o, uint64_t records)
{
	o->records += records;
}

/* The first page and what no program may use are no addresses, nor is what the system gives nobody; a program
 * that is loaded at a fixed place has a heap below 4 GB. */
static bool is_number(struct epa_objects *o, uint32_t site, uint64_t value)
{
	if (value < 4096 || value >> 47)
		return true;
	if (raddle_may_be_pointer(value) ||
	    (o->program < UINT32_MAX && value >= o->program && !(value >> 32)))
		return false;
	return !epa_objects_has(o, site, value);
}

struct epa_name epa_objects_value(struct epa_objects *o, uint32_t site, uint64_t value)
{
	if (is_number(o, site, value))
		return epa_plain(value);
	return epa_objects_name(o, site, value);
}

bool epa_objects_has(struct epa_objects *o, uint32_t site, uint64_t value)
{
	uint32_t n = epa_extents_find(&o->extents, value, site);
	struct thread *t = &o->threads[epa_walk_place(o->walk)];
	return n || child_at(t, value);
}

void epa_objects_forget(struct epa_objects *o, size_t place, uint32_t site)
{
	uint64_t *count = rd_umap_get(&o->counters, counter_key(place, EPA_STACK, site));
	if (count && *count)
		--*count;
}

bool epa_objects_take_move(struct epa_objects *o, struct epa_move *move)
{
	*move = o->move;
	o->move.size = 0;
	return move->size != 0;
}

static struct epa_object *tracked(struct epa_objects *o, uint32_t site, uint64_t address)
{
	uint32_t n = epa_extents_find(&o->extents, address, site);
	struct epa_object *e = &o->list[n];
	return n && epa_object_has_gaps(e) ? e : NULL;
}

void epa_objects_define(struct epa_objects *o, const struct trace_record *r, uint64_t size, uint64_t except)
{
	struct epa_object *e = tracked(o, r->site, r->address);
	if (e)
		epa_defined_set(&e->defined, r->address - e->start, size, except);
}

uint8_t epa_objects_undefined(struct epa_objects *o, uint32_t site, uint64_t address, uint64_t size)
{
	const struct epa_object *e = tracked(o, site, address);
	return e ? epa_defined_without(&e->defined, address - e->start, size) : 0;
}

void epa_objects_copy_defined(struct epa_objects *o, uint64_t to, uint64_t from, uint64_t size)
{
	struct epa_object *target = tracked(o, 0, to);
	if (target && size > target->size - (to - target->start))
		size = target->size - (to - target->start);
	for (uint64_t done = 0; target && done < size; done += 8) {
		uint64_t n = size - done < 8 ? size - done : 8;
		uint8_t except = epa_objects_undefined(o, 0, from + done, n);
		epa_defined_set(&target->defined, to + done - target->start, n, except);
	}
}

/* --- bytes of addresses ---------------------------------------------------------------------------- */

static struct epa_object *living(struct epa_objects *o, uint32_t site, uint64_t address)
{
	uint32_t n = epa_extents_find(&o->extents, address, site);
	return n && o->list[n].live && o->list[n].kind != EPA_REGION ? &o->list[n] : NULL;
}

uint8_t epa_objects_parts(struct epa_objects *o, uint32_t site, uint64_t address, uint64_t size)
{
	const struct epa_object *e = living(o, site, address);
	return e ? epa_parts_get(&e->parts, address - e->start, size) : 0;
}

void epa_objects_set_parts(struct epa_objects *o, const struct trace_record *r, uint8_t which)
{
	struct epa_object *e = living(o, r->site, r->address);
	if (e)
		epa_parts_set(&e->parts, e->size, r->address - e->start, r->size, which);
}

void epa_objects_copy_parts(struct epa_objects *o, uint64_t to, uint64_t from, uint64_t size)
{
	struct epa_object *e = living(o, 0, to);
	if (e && size > e->size - (to - e->start))
		size = e->size - (to - e->start);
	for (uint64_t done = 0; e && done < size; done += 8) {
		uint64_t n = size - done < 8 ? size - done : 8;
		epa_parts_set(&e->parts, e->size, to + done - e->start, n,
			      epa_objects_parts(o, 0, from + done, n));
	}
}

uint32_t epa_objects_thread(const struct epa_objects *o, size_t place)
{
	return o->threads[place].name;
}

uint32_t epa_objects_named(struct epa_objects *o, uint32_t number)
{
	const uint64_t *created = rd_umap_get(&o->created, number);
	const char *name = epa_thread_name(o->walk, number);
	return created ? (uint32_t)*created : epa_names_put(o->names, name, strlen(name));
}

size_t epa_objects_parent(const struct epa_objects *o, size_t place)
{
	uint32_t number = epa_walk_number(o->walk, place);
	const struct trace_event *start = epa_walk_start(o->walk, number);
	for (size_t i = 0; start && number != 0 && i < epa_walk_threads(o->walk); i++)
		if (epa_walk_number(o->walk, i) == start->values[2])
			return i;
	return SIZE_MAX;
}

size_t epa_objects_depth(const struct epa_objects *o, size_t place)
{
	return o->threads[place].depth;
}
