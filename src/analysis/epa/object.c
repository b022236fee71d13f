// SPDX-License-Identifier: Apache-2.0
/*
 * Derives the objects of a run from its records.
 *
 * All objects are ranges of one set (epa/extent.h): modules that contain their variables, stacks of
 * threads that contain local variables, and heap blocks.  Each thread has a stack of scopes.  The
 * variables of a scope end with it.  Some addresses lie in memory that no record describes, such as
 * a library's frame or the strings of the environment.  Such addresses are numbered separately for
 * each thread, because the schedule decides which thread is the first to use one.
 */
#include "epa/object-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "raddle/full.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* All sizes are in bytes, and were set by hand.  CONTROL_SIZE is a lower bound and CONTROL_ROOM an
 * upper bound for the size of glibc's control block on x86-64. */
#define DEPTH_MAX (1u << 22) /* largest number of scopes of a thread */
/* The assumed size of a string of the command line, unless another string begins before its end. */
#define ARGUMENT_SIZE 64
#define CONTROL_SIZE 1024 /* least size of the initial thread's control block */
#define CONTROL_ROOM 4096 /* bytes at the upper end of a stack that contain the control block */

/* --- beginning and ending objects ------------------------------------------------------------- */

/* Returns true if the bytes of the object are tracked individually. */
static bool is_tracked(const struct epa_object *e)
{
	return e->kind == EPA_STACK || e->kind == EPA_HEAP;
}

static void report_end(struct epa_objects *o, const struct epa_object *e)
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
		report_end(o, e);
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
	e->name = epa_object_make_name(e);
	return e;
}

static void end_extent(struct epa_objects *o, uint32_t n)
{
	if (o->list[n].live)
		report_end(o, &o->list[n]);
	o->list[n].live = false;
	epa_extents_end(&o->extents, n);
}

static void end_variables(struct epa_objects *o, struct object_thread *t, size_t first)
{
	while (t->variable_count > first) {
		const struct object_variable *v = &t->variables[--t->variable_count];
		if (o->list[v->extent].serial == v->serial)
			end_extent(o, v->extent);
	}
}

static void add_variable(struct epa_objects *o, size_t place, const struct trace_record *r)
{
	RD_ASSERT(place < epa_walk_threads(o->walk));
	struct object_thread *t = &o->threads[place];
	struct epa_object object = {.start = r->address,
				    .size = r->size,
				    .ordinal = epa_objects_count_up(o, place, EPA_STACK, r->site),
				    .thread = t->name,
				    .place = (uint32_t)place,
				    .site = r->site,
				    .kind = EPA_STACK};
	const struct epa_object *e = add(o, &object);
	RD_GROW(t->variables, t->variable_capacity, t->variable_count + 1);
	t->variables[t->variable_count++] = (struct object_variable){(uint32_t)(e - o->list), e->serial};
}

/* Ends those variables of the current scope that lie below the address. */
static void restore_stack(struct epa_objects *o, struct object_thread *t, uint64_t address)
{
	size_t first = t->depth ? t->scopes[t->depth - 1].first : 0;
	while (t->variable_count > first) {
		const struct object_variable *v = &t->variables[t->variable_count - 1];
		if (o->list[v->extent].serial == v->serial && o->list[v->extent].start >= address)
			break;
		end_variables(o, t, t->variable_count - 1);
	}
}

/* Notes that a block was moved.  A call that releases a block and then allocates one is a
 * realloc(). */
static void note_move(struct epa_objects *o, size_t place, const struct epa_object *to)
{
	struct object_thread *t = &o->threads[place];
	if (t->freed && to->kind == EPA_HEAP)
		o->move = (struct epa_move){t->freed, to->start,
					    t->freed_size < to->size ? t->freed_size : to->size};
	t->freed = 0;
}

/* The functions that return memory whose contents are undefined until they are written. */
static const char *const raw_names[] = {
#define LIBC_RAW(name) name,
#include "raddle/libc.inc"
};

static void add_block(struct epa_objects *o, size_t place, const struct trace_record *r)
{
	RD_ASSERT(place < epa_walk_threads(o->walk));
	bool map = r->event->values[3] == RADDLE_ALLOC_MMAP;
	struct epa_object object = {.start = r->address,
				    .size = r->event->values[2],
				    .ordinal =
					    epa_objects_count_up(o, place, map ? EPA_MAP : EPA_HEAP, r->site),
				    .thread = o->threads[place].name,
				    .place = (uint32_t)place,
				    .site = r->site,
				    .kind = map ? EPA_MAP : EPA_HEAP};
	const struct trace_site *site = trace_sites_find(o->sites, r->site);
	/* calloc() and realloc() define the memory, and libraries write what they allocate. */
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
		n = epa_extents_after(&o->extents, start);
	while (n && o->list[n].start - start < size) {
		const struct epa_object *e = &o->list[n];
		if (e->kind == EPA_MAP && e->size <= size - (e->start - start))
			end_extent(o, n);
		n = epa_extents_after(&o->extents, e->start);
	}
}

/* --- modules --- */

/* Returns true if `path`, as in the site table, means this module.  It does if both have the same
 * file name, or if the module is the program itself, which may have been renamed. */
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
	module->name.where = object.ordinal; /* offsets are relative to the file */
	add_placed(o, path, e->values[2]);
	if (o->module_count++ == 0)
		o->program = e->values[0];
	free(path);
}

/* --- threads --- */

/* Adds the control block of a thread, to which its pthread_t points.  It is at the upper end of the
 * thread's stack, after the thread-local variables.  The control block of the initial thread
 * directly follows these variables. */
static void add_control(struct epa_objects *o, size_t place, uint64_t start, uint64_t end)
{
	struct epa_object object = {.start = start,
				    .size = end - start,
				    .thread = o->threads[place].name,
				    .place = (uint32_t)place,
				    .kind = EPA_THREAD};
	if (start < end)
		/* The offset is counted from the end of the block, which is fixed. */
		add(o, &object)->name.where = start - end;
	o->threads[place].control = start;
}

static void add_stack(struct epa_objects *o, size_t place, const struct trace_event *start)
{
	RD_ASSERT(place < epa_walk_threads(o->walk));
	struct object_thread *t = &o->threads[place];
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

/* Adds a child when it is created, because the creator knows the pthread_t before the thread
 * starts.  At that time, other threads may still use the same pthread_t for an earlier thread. */
static void add_child(struct epa_objects *o, size_t place, const struct trace_event *e)
{
	struct object_thread *t = &o->threads[place];
	const struct trace_event *start = epa_walk_start(o->walk, (uint32_t)e->values[2]);
	const char *name = epa_thread_name(o->walk, (uint32_t)e->values[2]);
	struct child_thread child = {.number = (uint32_t)e->values[2]};
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

/* Forgets a child that was joined or detached, because its pthread_t may now be invalid or refer to
 * another thread. */
static void forget_child(struct epa_objects *o, size_t place, const struct trace_event *e)
{
	struct object_thread *t = &o->threads[place];
	for (size_t i = t->child_count; e->values[3] == 0 && i-- > 0;) {
		if (t->children[i].number != e->values[2])
			continue;
		t->child_count--;
		memmove(t->children + i, t->children + i + 1, (t->child_count - i) * sizeof *t->children);
		return;
	}
}

/* Derives the stack of a child from its pthread_t, if the child died with the process before its
 * first record. */
static void find_lost(struct epa_objects *o, size_t place, uint64_t handle)
{
	struct object_thread *t = &o->threads[place];
	struct child_thread *c = t->child_count ? &t->children[t->child_count - 1] : NULL;
	struct epa_object object = {.size = CONTROL_ROOM, .place = (uint32_t)place, .kind = EPA_THREAD};
	if (!c || c->end || handle >> 47)
		return;
	c->end = (handle | (CONTROL_ROOM - 1)) + 1;
	object.start = c->end - CONTROL_ROOM;
	object.thread = c->name;
	add(o, &object)->name.where = -(uint64_t)CONTROL_ROOM;
}

const struct child_thread *epa_child_at(const struct object_thread *t, uint64_t address)
{
	for (size_t i = t->child_count; i-- > 0;)
		if (t->children[i].end - address <= CONTROL_ROOM && address < t->children[i].end)
			return &t->children[i];
	return NULL;
}

static void add_tls(struct epa_objects *o, size_t place, const struct trace_event *e)
{
	struct object_thread *t = &o->threads[place];
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

static void end_thread(struct epa_objects *o, struct object_thread *t)
{
	end_variables(o, t, 0);
	t->depth = 0;
	t->unknown_count = t->deep_count = 0;
}

/* --- scopes --- */

/* Finds argv[], which lies on the stack above main().  The distance to the strings after it
 * varies. */
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
	struct object_thread *t = &o->threads[place];
	if (!o->in_main && r->thread == 0)
		enter_main(o, place, r);
	if (t->depth == DEPTH_MAX)
		return;
	RD_GROW(t->scopes, t->scope_capacity, t->depth + 1);
	t->scopes[t->depth++] = (struct object_scope){r->frame, t->variable_count};
}

static void leave(struct epa_objects *o, struct object_thread *t)
{
	if (!t->depth)
		return;
	end_variables(o, t, t->scopes[--t->depth].first);
}

static void land(struct epa_objects *o, struct object_thread *t, uint64_t frame)
{
	size_t depth = t->depth;
	while (depth > 0 && t->scopes[depth - 1].frame != frame)
		depth--;
	while (depth > 0 && t->depth > depth)
		leave(o, t);
}

/* Forgets the unknown addresses in frames below this one, after a call has returned. */
static void forget_deep(struct object_thread *t)
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

/* --- records of all kinds --------------------------------------------------------------------- */

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
			report_end(o, &o->list[i]);
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

/* Names a string of the command line by its position there. */
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
	/* The string ends before the next known object.  If it begins in the range of an earlier
	 * string, that range is shortened. */
	n = epa_extents_after(&o->extents, r->value);
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
	struct object_thread *t = &o->threads[place];
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
