/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a model as RAPID's STD text.  Each line is an event, in the merged order:
 * `thread|op(operand)|location`.
 *
 * STD has variables, not bytes.  The bytes of an object are cut into granules wherever an access
 * begins or ends, so that two accesses share a variable if and only if they overlap.  STD has only
 * mutexes. doc/format/std.md describes how the other synchronisation objects are exported.
 *
 * A trace that was imported from STD is written with its original names and locations, so the text
 * is the same as the imported one.
 */
#include "model/export.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "model/model.h"
#include "trace/std-line.h"
#include "trace/std.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The binary logarithm of the number of bits in a word of the maps of cuts.  In these maps, each
 * bit stands for a unit in which a granule may begin. */
#define BLOCK_BITS 6
/* The number of levels of the maps of cuts.  On level 0, a unit is a byte.  On every other level,
 * a unit is a word of the level below. */
#define CUT_LEVELS 4
/* The largest number of bytes in a range.  No program copies more at once. */
#define RANGE_MAX (1ull << 30)
#define WRITER 1 /* value in the map of holds for a lock that is held for writing */

/* The threads that, at some time, lock a read-write lock for reading. */
struct readers {
	uint32_t *threads;
	size_t count, capacity;
};

struct std_export {
	struct model *model;
	FILE *out;
	const struct model_std_opts *opts;
	bool imported;
	struct model_cache *cache;
	/* Maps (object, offset >> 32) to a number for this 4 GiB part of the object.  These
	 * numbers are larger than all numbers of objects. */
	struct rd_umap parts;
	/* Maps (object, word) to a bit mask of the units in which a granule begins. */
	struct rd_umap cuts[CUT_LEVELS];
	/* Maps (thread, sync) to the recursion depth.  For a read-write lock, maps it to WRITER, or
	 * to twice the number of times that the thread holds it for reading. */
	struct rd_umap holds;
	struct readers *readers; /* indexed by synchronisation object */
	struct rd_umap granules; /* maps (object, offset) to an index in names */
	struct rd_names names, object_names;
	char **objects; /* the unique name of each object, made when it is needed */
	char **syncs;
	/* For each synchronisation object, true if some thread took it over from a dead owner. */
	bool *robust;
	struct rd_names places;	 /* maps "file:line" to its location - 1 */
	struct rd_umap place_of; /* maps a site to its location */
};

/* The thread and place of an event. */
struct event_place {
	const char *thread;
	uint32_t thread_index;
	uint32_t location;
	uint64_t q;
};

static uint64_t pair(uint32_t high, uint64_t low)
{
	return (uint64_t)high << 32 | (low & UINT32_MAX);
}

/* Returns a key for a place in an object.  The key consists of the number of the object and the
 * low 32 bits of the offset.  In a large object, each 4 GiB part after the first has its own
 * number, which replaces that of the object. */
static uint64_t place_key(struct std_export *x, uint32_t object, uint64_t at)
{
	if (at > UINT32_MAX) {
		bool is_new;
		uint64_t *part = rd_umap_put(&x->parts, pair(object, at >> 32), &is_new);
		if (is_new)
			*part = x->model->object_count + x->parts.count;
		object = (uint32_t)*part;
	}
	return pair(object, at);
}

/* Replaces characters that STD names must not contain: blanks, bars and parentheses. */
static void sanitise(char *s)
{
	for (; *s; s++) {
		if (*s == ' ' || *s == '\t' || *s == '\n')
			*s = '_';
		else if (*s == '|')
			*s = '!';
		else if (*s == '(' || *s == ')')
			*s = *s == '(' ? '[' : ']';
	}
}

/* Returns the unique name of an object.  If two static variables have the same name, a number is
 * added to the later one. */
static const char *object_name(struct std_export *x, uint32_t object)
{
	struct rd_buf b = RD_BUF_INIT;
	uint32_t number;
	if (x->objects[object])
		return x->objects[object];
	model_name_object(x->model, object, &b);
	/* The names of an imported trace are unique for each kind of object, which is enough. */
	if (!x->imported && rd_names_find(&x->object_names, b.data, b.length, &number))
		rd_buf_addf(&b, "@%u", object);
	rd_names_put(&x->object_names, b.data, b.length);
	x->objects[object] = rd_buf_detach(&b);
	sanitise(x->objects[object]);
	return x->objects[object];
}

/* Returns the name of a place, which consists of the object's unique name and the path to the byte.
 * A place that is not named after its object, such as a file descriptor, has only its own name. */
static char *place_name(struct std_export *x, uint32_t object, uint64_t offset)
{
	struct rd_buf plain = RD_BUF_INIT, place = RD_BUF_INIT;
	const char *name = object_name(x, object);
	model_name_object(x->model, object, &plain);
	model_name_place(x->model, object, offset, &place);
	bool inside = plain.length == 0 || strncmp(place.data, plain.data, plain.length) == 0;
	const char *way = x->imported ? "" : inside ? place.data + plain.length : place.data;
	char *whole = rd_xasprintf("%s%s", x->imported || inside ? name : "", way);
	sanitise(whole);
	rd_buf_release(&plain);
	rd_buf_release(&place);
	return whole;
}

static const char *granule_name(struct std_export *x, uint32_t object, uint64_t offset)
{
	bool is_new;
	uint64_t *index = rd_umap_put(&x->granules, place_key(x, object, offset), &is_new);
	if (is_new) {
		char *name = place_name(x, object, offset);
		*index = rd_names_put(&x->names, name, strlen(name));
		free(name);
	}
	return x->names.items[*index];
}

static const char *sync_name(struct std_export *x, uint32_t sync)
{
	const struct model_sync *s = &x->model->syncs[sync];
	if (!x->syncs[sync])
		x->syncs[sync] = place_name(x, s->object, s->offset);
	return x->syncs[sync];
}

static uint32_t location_of(struct std_export *x, uint32_t site)
{
	const struct trace_sites *sites = x->model->sites;
	const struct trace_site *s = trace_sites_find(sites, site);
	bool is_new;
	if (!s)
		return 0;
	if (x->imported && s->file == 0)
		return s->line;
	uint64_t *location = rd_umap_put(&x->place_of, site, &is_new);
	if (is_new) {
		char *place = rd_xasprintf("%s:%u", trace_sites_file(sites, s->file), s->line);
		size_t before = x->places.count;
		*location = rd_names_put(&x->places, place, strlen(place)) + 1;
		if (x->places.count > before && x->opts->locations)
			fprintf(x->opts->locations, "%u\t%s\t%s\n", (unsigned)*location, place, s->function);
		free(place);
	}
	return (uint32_t)*location;
}

static void emit(struct std_export *x, const struct event_place *at, const char *op, const char *operand)
{
	if (operand)
		fprintf(x->out, "%s|%s(%s)|%u\n", at->thread, op, operand, at->location);
	else
		fprintf(x->out, "%s|%s|%u\n", at->thread, op, at->location);
}

/* Writes an access to a variable that represents the order of other events.  The access is made
 * under a lock, so that it orders threads without being a race. */
static void emit_exclusive(struct std_export *x, const struct event_place *at, const char *name,
			   const char *ops)
{
	emit(x, at, "acq", name);
	for (const char *op = ops; *op; op++)
		emit(x, at, (char[]){*op, '\0'}, name);
	emit(x, at, "rel", name);
}

/* --- granules --- */

static void cut(struct std_export *x, uint32_t object, uint64_t offset)
{
	bool is_new = true;

	for (unsigned level = 0; level < CUT_LEVELS && is_new; level++) {
		uint64_t unit = offset >> level * BLOCK_BITS;
		uint64_t key = place_key(x, object, unit >> BLOCK_BITS);
		*rd_umap_put(&x->cuts[level], key, &is_new) |= 1ull << (unit & 63);
	}
}

/* Returns the end of the granule (range of bytes that is exported as one variable) that contains
 * `offset`, or `end` if that is smaller.  The search walks the levels of the maps of cuts.  After
 * an empty word, it continues one level higher, so that long ranges take few steps.  At a bit that
 * is set, it continues one level lower, inside that unit. */
static uint64_t next_cut(struct std_export *x, uint32_t object, uint64_t offset, uint64_t end)
{
	RD_ASSERT(offset < end);
	unsigned level = 0;
	uint64_t at = offset + 1;

	while (at < end) {
		unsigned shift = level * BLOCK_BITS;
		uint64_t unit = at >> shift;
		uint64_t *bits = rd_umap_get(&x->cuts[level], place_key(x, object, unit >> BLOCK_BITS));
		uint64_t rest = bits ? *bits >> (unit & 63) : 0;
		uint64_t next = (rest ? unit + (uint64_t)__builtin_ctzll(rest) : (unit | 63) + 1) << shift;
		if (rest && level == 0)
			return next < end ? next : end;
		if (!rest && next < at)
			return end; /* the search has reached the end of the address space */
		if (next > at)
			at = next;
		if (rest)
			level--;
		else if (level < CUT_LEVELS - 1)
			level++;
	}
	return end;
}

/* The part of an access that lies in one object. */
struct access_part {
	uint32_t object;
	uint64_t offset, size;
};

static bool first_part(struct std_export *x, uint64_t address, uint64_t size, uint64_t q,
		       struct access_part *p)
{
	p->object = model_find_cached(x->model, x->cache, address, q);
	if (p->object == MODEL_NONE || size == 0)
		return false;
	const struct model_object *o = &x->model->objects[p->object];
	p->offset = address - o->base;
	p->size = size < o->size - p->offset ? size : o->size - p->offset;
	return true;
}

static bool matters(const struct std_export *x, uint32_t object)
{
	return x->opts->all || x->model->objects[object].flags & MODEL_SHARED;
}

static uint64_t access_size(const struct trace_event *e, const struct trace_site *site)
{
	uint64_t size = e->kind == RADDLE_RANGE ? e->size : site && site->size > 0 ? site->size : 1;
	return size < RANGE_MAX ? size : RANGE_MAX;
}

static void cut_access(struct std_export *x, const struct trace_event *e, uint64_t q)
{
	uint64_t size = access_size(e, trace_sites_find(x->model->sites, e->site));
	struct access_part p;
	for (uint64_t address = e->address; first_part(x, address, size, q, &p);
	     address += p.size, size -= p.size) {
		if (!matters(x, p.object))
			continue;
		cut(x, p.object, p.offset);
		if (p.offset + p.size < x->model->objects[p.object].size)
			cut(x, p.object, p.offset + p.size);
	}
}

static void emit_part(struct std_export *x, const struct event_place *at, const struct access_part *p,
		      const char *ops, bool atomic)
{
	uint64_t end = p->offset + p->size;
	uint64_t next;
	for (uint64_t from = p->offset; from < end; from = next) {
		next = next_cut(x, p->object, from, end);
		if (!x->opts->all && !model_is_shared(x->model, p->object, from, next - from))
			continue;
		const char *name = granule_name(x, p->object, from);
		if (atomic) {
			emit_exclusive(x, at, name, ops);
			continue;
		}
		emit(x, at, ops, name);
	}
}

/* Returns the STD word of an imported access. */
static const char *imported_access(const struct trace_site *site)
{
	if (!site)
		return "r";
	bool relaxed = site->order == 'x';
	switch (site->kind) {
	case TRACE_SITE_ATOMIC_LOAD: return relaxed ? "ar" : "ara";
	case TRACE_SITE_ATOMIC_STORE: return relaxed ? "aw" : "awr";
	case TRACE_SITE_ATOMIC_RMW: return relaxed ? "au" : "aua";
	case TRACE_SITE_WRITE: return "w";
	default: return site->flags & TRACE_SITE_WAIT_LOOP ? "lr" : "r";
	}
}

static void export_access(struct std_export *x, const struct event_place *at, const struct trace_event *e)
{
	const struct trace_site *site = trace_sites_find(x->model->sites, e->site);
	uint64_t size = access_size(e, site);
	bool atomic = e->kind == RADDLE_ATOMIC && !x->imported;
	const char *ops = x->imported ? imported_access(site) : site && trace_site_writes(site) ? "w" : "r";
	struct access_part p;
	if (atomic)
		ops = !(e->values[3] & 1) ? "r" : site && site->kind == TRACE_SITE_ATOMIC_STORE ? "w" : "rw";
	for (uint64_t address = e->address; first_part(x, address, size, at->q, &p);
	     address += p.size, size -= p.size) {
		if (matters(x, p.object))
			emit_part(x, at, &p, ops, atomic);
	}
}

/* --- synchronisation --- */

static uint32_t sync_of(const struct std_export *x, const struct trace_event *e)
{
	return model_sync(x->model, raddle_class(e->kind), e->address, e->q);
}

/* Exports a lock or unlock.  Only the outermost lock and unlock of a recursive mutex are events. */
static void export_mutex(struct std_export *x, const struct event_place *at, uint32_t sync, int change)
{
	RD_ASSERT(sync < x->model->sync_count);
	uint64_t *depth = rd_umap_put(&x->holds, pair(at->thread_index, sync), NULL);
	bool outermost = change > 0 ? ++*depth == 1 : *depth == 1;
	if (change < 0 && *depth > 0)
		--*depth;
	if (outermost)
		emit(x, at, change > 0 ? "acq" : "rel", sync_name(x, sync));
}

/* Exports a wait, which releases the mutex completely, however often it is held. */
static void export_wait(struct std_export *x, const struct event_place *at, const struct trace_event *e)
{
	uint32_t mutex = model_sync(x->model, RADDLE_CLASS_MUTEX, e->values[3], e->q);
	uint32_t cond = sync_of(x, e);
	bool wake = e->kind == RADDLE_COND_WAKE;
	if (mutex == MODEL_NONE || cond == MODEL_NONE)
		return;
	uint64_t *depth = rd_umap_put(&x->holds, pair(at->thread_index, mutex), NULL);
	*depth = wake;
	emit(x, at, wake ? "acq" : "rel", sync_name(x, mutex));
	if (wake && e->values[4] == 0)
		emit_exclusive(x, at, sync_name(x, cond), "r");
}

static const char *reader_lock(struct std_export *x, uint32_t sync, uint32_t thread, struct rd_buf *b)
{
	rd_buf_clear(b);
	rd_buf_addf(b, "%s~%s", sync_name(x, sync), x->model->threads[thread].name);
	return b->data;
}

/* Writes an acquisition or release of a read-write lock by a writer.  A read-write lock is
 * exported as one lock for each reader.  A writer acquires all of these locks, and releases them
 * in reverse order. */
static void emit_writer(struct std_export *x, const struct event_place *at, uint32_t sync, int change)
{
	RD_ASSERT(change == 1 || change == -1);
	const struct readers *r = &x->readers[sync];
	struct rd_buf name = RD_BUF_INIT;
	if (r->count == 0)
		emit(x, at, change > 0 ? "acq" : "rel", sync_name(x, sync));
	for (size_t i = 0; i < r->count; i++) {
		size_t n = change > 0 ? i : r->count - 1 - i;
		emit(x, at, change > 0 ? "acq" : "rel", reader_lock(x, sync, r->threads[n], &name));
	}
	rd_buf_release(&name);
}

static void export_rwlock(struct std_export *x, const struct event_place *at, uint32_t sync,
			  const struct trace_event *e)
{
	int change = trace_lock_change(e);
	uint64_t *hold = rd_umap_put(&x->holds, pair(at->thread_index, sync), NULL);
	struct rd_buf name = RD_BUF_INIT;
	if (change > 0 && raddle_role(e->kind) != RADDLE_ROLE_SHARE) {
		*hold = WRITER;
		emit_writer(x, at, sync, change);
	} else if (change < 0 && *hold == WRITER) {
		*hold = 0;
		emit_writer(x, at, sync, change);
	} else if (change > 0) {
		*hold += 2;
		if (*hold == 2)
			emit(x, at, "acq", reader_lock(x, sync, at->thread_index, &name));
	} else if (*hold >= 2) {
		*hold -= 2;
		if (*hold == 0)
			emit(x, at, "rel", reader_lock(x, sync, at->thread_index, &name));
	}
	rd_buf_release(&name);
}

static const char *thread_name(const struct std_export *x, uint32_t thread)
{
	const struct model_thread *t = &x->model->threads[thread];
	return x->imported && t->label ? t->label : t->name;
}

/* Exports the releases of the robust mutexes that a dying thread holds.  Without these events no
 * other thread could acquire them. */
static void release_robust(struct std_export *x, const struct event_place *at)
{
	for (size_t i = 0; i < x->model->sync_count; i++) {
		uint64_t *depth = x->robust[i] ? rd_umap_get(&x->holds, pair(at->thread_index, i)) : NULL;
		if (!depth || *depth == 0)
			continue;
		*depth = 0;
		emit(x, at, "rel", sync_name(x, (uint32_t)i));
	}
}

static void export_thread(struct std_export *x, const struct event_place *at, const struct trace_event *e)
{
	uint32_t other = model_thread(x->model, (uint32_t)e->values[2]);
	switch (raddle_role(e->kind)) {
	case RADDLE_ROLE_START: emit(x, at, "begin", NULL); break;
	case RADDLE_ROLE_END:
		release_robust(x, at);
		emit(x, at, "end", NULL);
		break;
	default:
		if (other != MODEL_NONE && trace_result(e) == 0)
			emit(x, at, e->kind == RADDLE_THREAD_CREATE ? "fork" : "join", thread_name(x, other));
	}
}

/* Returns true if the operation creates, joins, begins or ends a thread.  Other operations on
 * threads order nothing. */
static bool is_of_threads(enum raddle_event kind)
{
	return raddle_class(kind) == RADDLE_CLASS_THREAD && raddle_role(kind) != RADDLE_ROLE_DETACH &&
	       raddle_role(kind) != RADDLE_ROLE_REQUEST;
}

/* Exports an operation on an object that orders threads but is not a lock.  Such an object becomes
 * a variable that is read and written under a lock of the same name. */
static void export_ordering(struct std_export *x, const struct event_place *at, uint32_t sync,
			    const struct trace_event *e)
{
	const char *name = sync_name(x, sync);
	bool once = raddle_class(e->kind) == RADDLE_CLASS_ONCE;
	switch (raddle_role(e->kind)) {
	case RADDLE_ROLE_WAIT:
	case RADDLE_ROLE_NOTIFY: emit_exclusive(x, at, name, "rw"); break;
	case RADDLE_ROLE_ACQUIRE:
	case RADDLE_ROLE_RELEASE:
		if (once && e->kind == RADDLE_ONCE_DONE)
			emit_exclusive(x, at, name, "w");
		else if (!once && trace_result(e) == 0)
			emit_exclusive(x, at, name, "rw");
		break;
	case RADDLE_ROLE_WAKE:
	case RADDLE_ROLE_PASS: emit_exclusive(x, at, name, "r"); break;
	default: break;
	}
}

/* Exports a wait of an imported trace: a wait on a monitor, or a wait for a condition that has a
 * separate name. */
static void export_imported_wait(struct std_export *x, const struct event_place *at, uint32_t cond,
				 const struct trace_event *e)
{
	uint32_t mutex = model_sync(x->model, RADDLE_CLASS_MUTEX, e->values[3], e->q);
	if (mutex == MODEL_NONE)
		return;
	const char *name = sync_name(x, mutex), *condition = sync_name(x, cond);
	if (e->kind == RADDLE_COND_WAKE) {
		emit(x, at, "acq", name);
	} else if (strcmp(name, condition) == 0) {
		emit(x, at, "rel", name);
		emit(x, at, "wait", name);
	} else {
		char *both = rd_xasprintf("%s,%s", condition, name);
		emit(x, at, "cwait", both);
		free(both);
	}
}

/* Exports an event of an imported trace, which corresponds to one STD word. */
static void export_imported(struct std_export *x, const struct event_place *at, uint32_t sync,
			    const struct trace_event *e)
{
	const char *name = sync_name(x, sync);
	if (raddle_is_cond_wait(e->kind)) {
		export_imported_wait(x, at, sync, e);
	} else if (e->kind == RADDLE_SEM_INIT) {
		char *both = rd_xasprintf("%s,%u", name, (unsigned)e->values[3]);
		emit(x, at, "seminit", both);
		free(both);
	} else if (e->kind != RADDLE_ONCE_DONE) {
		emit(x, at, std_word(e->kind, e->kind == RADDLE_MUTEX_TRYLOCK && e->values[3]), name);
	}
}

static void export_sync(struct std_export *x, const struct event_place *at, const struct trace_event *e)
{
	uint32_t sync = sync_of(x, e);
	int change = trace_lock_change(e);
	if (sync == MODEL_NONE)
		return;
	if (x->imported)
		export_imported(x, at, sync, e);
	else if (raddle_is_cond_wait(e->kind))
		export_wait(x, at, e);
	else if (change != 0 && x->model->syncs[sync].class == RADDLE_CLASS_RWLOCK)
		export_rwlock(x, at, sync, e);
	else if (change != 0)
		export_mutex(x, at, sync, change);
	else
		export_ordering(x, at, sync, e);
}

static void export_event(void *context, const struct trace_lane *lane)
{
	struct std_export *x = context;
	const struct trace_event *e = &lane->event;
	const struct trace_decoder *d = &lane->stream.decoder;
	uint32_t thread = model_thread_of_stream(x->model, lane->index);
	uint32_t site = e->site ? e->site : d->depth > 0 ? d->stack[d->depth - 1] : 0;
	struct event_place at = {
		.thread = thread_name(x, thread), .thread_index = thread, .q = lane->stream.last_q};
	if (!is_of_threads(e->kind) && !raddle_is_access(e->kind) && !raddle_is_sync(e->kind))
		return;
	at.location = location_of(x, site);
	if (is_of_threads(e->kind))
		export_thread(x, &at, e);
	else if (raddle_is_access(e->kind))
		export_access(x, &at, e);
	else
		export_sync(x, &at, e);
}

static void note_reader(struct std_export *x, uint32_t thread, const struct trace_event *e)
{
	uint32_t sync = sync_of(x, e);
	if (sync == MODEL_NONE)
		return;
	struct readers *r = &x->readers[sync];
	if (r->count > 0 && r->threads[r->count - 1] == thread)
		return; /* already noted, because this pass reads the threads one after another */
	RD_GROW(r->threads, r->capacity, r->count + 1);
	r->threads[r->count++] = thread;
}

/* The first pass over a stream.  It finds where granules begin, which threads acquire which
 * read-write lock for reading, and which mutexes a thread acquired after their owner had died. */
static void prepare(struct std_export *x, size_t stream)
{
	struct trace_stream in;
	struct trace_event e;
	uint32_t thread = model_thread_of_stream(x->model, stream);
	if (trace_open_thread(x->model->trace, stream, &in) != RD_OK)
		return;
	while (trace_stream_next(&in, &e) > 0) {
		if (raddle_is_access(e.kind))
			cut_access(x, &e, in.last_q);
		else if (raddle_role(e.kind) == RADDLE_ROLE_SHARE && trace_lock_change(&e) > 0)
			note_reader(x, thread, &e);
		else if (trace_lock_change(&e) > 0 && e.values[3] == EOWNERDEAD &&
			 sync_of(x, &e) != MODEL_NONE)
			x->robust[sync_of(x, &e)] = true;
	}
	trace_stream_close(&in);
}

static void release(struct std_export *x)
{
	const struct model *m = x->model;
	RD_FREE_EACH(x->objects, m->object_count);
	for (size_t i = 0; i < m->sync_count; i++)
		RD_FREE(x->syncs[i], x->readers[i].threads);
	for (unsigned level = 0; level < CUT_LEVELS; level++)
		rd_umap_release(&x->cuts[level]);
	struct rd_umap *maps[] = {&x->parts, &x->holds, &x->granules, &x->place_of};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		rd_umap_release(maps[i]);
	rd_names_release(&x->names);
	rd_names_release(&x->object_names);
	rd_names_release(&x->places);
	RD_FREE(x->objects, x->syncs, x->robust, x->readers, x->cache);
}

int model_export_std(struct trace *trace, FILE *out, const struct model_std_opts *opts)
{
	struct std_export x = {.out = out, .opts = opts};
	struct model_std_opts all = *opts;
	int err = model_build(&x.model, trace, MODEL_SHARING);
	if (err)
		return err;
	x.imported = trace_is_std(trace);
	all.all |= x.imported;
	x.opts = &all;
	x.cache = rd_xcalloc(1, sizeof *x.cache);
	x.objects = rd_xcalloc(x.model->object_count + 1, sizeof *x.objects);
	x.syncs = rd_xcalloc(x.model->sync_count + 1, sizeof *x.syncs);
	x.robust = rd_xcalloc(x.model->sync_count + 1, sizeof *x.robust);
	x.readers = rd_xcalloc(x.model->sync_count + 1, sizeof *x.readers);
	for (size_t i = 0; i < trace_thread_count(trace); i++)
		prepare(&x, i);
	err = trace_each(trace, export_event, &x);
	if (!err)
		err = x.model->err;
	release(&x);
	model_free(x.model);
	return err;
}
