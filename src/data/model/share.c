/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the objects, and the bytes in them, that several threads touch.
 *
 * A byte is shared if two threads touched it and one of them wrote it.  Keeping the state of every
 * byte of every object would take more memory than the program had, and most objects belong to one
 * thread.  So the streams are read twice.  The first scan finds the objects that several threads
 * touch and some thread writes, and counts the uses of locks.  The second scan marks the bytes of
 * those objects only, in 64-byte blocks.
 *
 * Releasing an object is treated as a write of all its bytes that any thread touched.  These bytes
 * are marked in the last step, so that releasing a large object with few used bytes costs nothing.
 * Using a lock is treated as a read of its bytes, and initialising or destroying it as a write.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 64 /* number of bytes of an object that share an entry */
/* The number of bytes of a large object that a long range marks at once. */
#define CHUNK (64u << 10)
/* The size of the largest object, in bytes, that has a plain table.  Larger objects have maps. */
#define DIRECT_MAX (16u << 20)
/* The largest number of bytes in a range.  No program copies more at once. */
#define RANGE_MAX (1ull << 30)
/* The largest number of unknown pages that one range may introduce.  Set by hand. */
#define RANGE_PAGES 16

/* A scan of all streams. */
struct sharing_scan {
	struct model *model;
	struct model_cache *cache;
	void (*touch)(struct model *m, uint32_t object, uint32_t thread, const struct model_access *a);
	bool locks, frees, handled;
	struct held {
		uint32_t sync;
		uint64_t since;
		bool wanted; /* requested but not yet acquired */
	} * held;
	size_t held_count, held_capacity;
};

/* Notes, in the first scan, which threads touch an object at all. */
static void touch_object(struct model *m, uint32_t object, uint32_t thread, const struct model_access *a)
{
	RD_ASSERT(object < m->object_count);
	struct model_object *o = &m->objects[object];
	o->flags |= a->write ? MODEL_TOUCHED | MODEL_WRITTEN : MODEL_TOUCHED;
	if (o->owner == MODEL_NONE)
		o->owner = thread;
	else if (o->owner != thread)
		o->flags |= MODEL_MULTI;
}

static struct model_shadow *shadow_of(struct model *m, struct model_object *o)
{
	struct model_private *x = m->private;
	if (!o->shadow) {
		if (x->shadow_count == 0)
			x->shadow_count = 1; /* index 0 means that an object has no shadow */
		RD_GROW(x->shadows, x->shadow_capacity, x->shadow_count + 1);
		memset(&x->shadows[0], 0, sizeof x->shadows[0]);
		struct model_shadow *s = &x->shadows[x->shadow_count];
		memset(s, 0, sizeof *s);
		if (o->size <= DIRECT_MAX)
			s->direct = rd_xcalloc(o->size / BLOCK + 1, sizeof *s->direct);
		o->shadow = (uint32_t)x->shadow_count++;
	}
	return &x->shadows[o->shadow];
}

/* Returns the index of a block or chunk, and creates it if necessary. */
static uint64_t new_index(struct model_private *x, uint64_t index)
{
	if (index == 0) {
		index = x->block_count > 0 ? x->block_count : 1;
		x->block_count = index + 1;
		RD_GROW(x->blocks, x->block_capacity, x->block_count);
		x->blocks[index] = (struct model_block){.owner = MODEL_NONE, .latest = MODEL_NONE};
	}
	return index;
}

static struct model_block *block_of(struct model *m, struct model_object *o, uint64_t number)
{
	struct model_private *x = m->private;
	struct model_shadow *s = shadow_of(m, o);
	if (s->direct) {
		s->direct[number] = (uint32_t)new_index(x, s->direct[number]);
		return &x->blocks[s->direct[number]];
	}
	uint64_t *mapped = rd_umap_put(&s->map, number, NULL);
	*mapped = new_index(x, *mapped);
	return &x->blocks[*mapped];
}

/* Returns the block that represents a whole chunk of a large object.  Bit 0 of its masks describes
 * all bytes of the chunk, and the other bits are not used. */
static struct model_block *chunk_of(struct model *m, struct model_object *o, uint64_t number)
{
	uint64_t *mapped = rd_umap_put(&shadow_of(m, o)->chunks, number, NULL);
	*mapped = new_index(m->private, *mapped);
	return &m->private->blocks[*mapped];
}

/* Assigns a separate owner to each byte of a block, when a second thread touches the block. */
static uint32_t *owners_of(struct model *m, struct model_block *b)
{
	struct model_private *x = m->private;
	if (!b->owners) {
		if (x->owner_count == 0)
			x->owner_count = 1;
		RD_GROW(x->owners, x->owner_capacity, x->owner_count + 1);
		b->owners = (uint32_t)x->owner_count++;
		for (unsigned i = 0; i < BLOCK; i++)
			x->owners[b->owners][i] = b->owner;
	}
	return x->owners[b->owners];
}

/* Marks bytes of a block as touched by a thread.  Threads touch the same bytes again and again,
 * and streams are read one after another.  `marked` contains the bytes that the current thread has
 * already touched, so that repetitions are skipped. */
static void mark_block(struct model *m, struct model_block *b, uint64_t mask, uint32_t thread)
{
	RD_ASSERT(mask != 0);
	if (b->latest != thread) {
		b->latest = thread;
		b->marked = 0;
	}
	mask &= ~b->marked;
	if (!mask)
		return;
	b->marked |= mask;
	if (b->owner == MODEL_NONE)
		b->owner = thread;
	if (b->owners || b->owner != thread) {
		uint32_t *owners = owners_of(m, b);
		for (uint64_t bits = mask & ~b->multi; bits; bits &= bits - 1) {
			unsigned i = (unsigned)__builtin_ctzll(bits);
			if (!(b->touched >> i & 1))
				owners[i] = thread;
			else if (owners[i] != thread)
				b->multi |= 1ull << i;
		}
	}
	b->touched |= mask;
}

static uint64_t mask_of(uint64_t offset, uint64_t size)
{
	uint64_t first = offset % BLOCK;
	uint64_t n = size < BLOCK - first ? size : BLOCK - first;
	return (n == BLOCK ? UINT64_MAX : (1ull << n) - 1) << first;
}

/* Marks, in the second scan, the bytes that a thread touches. */
static void touch_bytes(struct model *m, uint32_t object, uint32_t thread, const struct model_access *a)
{
	const uint8_t both = MODEL_MULTI | MODEL_WRITTEN;
	struct model_object *o = &m->objects[object];
	uint64_t end = a->offset + a->size;
	if ((o->flags & both) != both)
		return;
	for (uint64_t at = a->offset, next; at < end; at = next) {
		bool whole = o->size > DIRECT_MAX && at % CHUNK == 0 && end - at >= CHUNK;
		struct model_block *b = whole ? chunk_of(m, o, at / CHUNK) : block_of(m, o, at / BLOCK);
		uint64_t mask = whole ? 1 : mask_of(at, end - at);
		mark_block(m, b, mask, thread);
		if (a->write)
			b->written |= mask;
		next = whole ? at + CHUNK : (at / BLOCK + 1) * BLOCK;
	}
}

/* Splits an access at the borders of objects. */
static void touch_range(struct sharing_scan *s, uint32_t thread, uint64_t place[2], struct model_access *a,
			uint64_t size)
{
	struct model *m = s->model;
	unsigned pages = 0;
	if (size > RANGE_MAX)
		size = RANGE_MAX;
	while (size > 0 && pages < RANGE_PAGES) {
		uint32_t object = model_find_or_page(m, s->cache, place[0], place[1]);
		const struct model_object *o = &m->objects[object];
		uint64_t room = o->size - (place[0] - o->base);
		pages += o->kind == MODEL_PAGE;
		a->offset = place[0] - o->base;
		a->size = (uint32_t)(size < room ? size : room) & INT32_MAX;
		s->touch(m, object, thread, a);
		place[0] += a->size;
		size -= a->size;
	}
}

static void scan_access(struct sharing_scan *s, uint32_t thread, const struct trace_event *e, uint64_t q)
{
	const struct trace_site *site = model_find_site(s->model, s->cache, e->site);
	struct model_access a = {.site = e->site};
	uint64_t size = e->size;
	uint64_t place[2] = {e->address, q};
	if (e->kind != RADDLE_RANGE)
		size = site && site->size > 0 ? site->size : 1;
	a.write = e->kind == RADDLE_ATOMIC ? e->values[3] & 1 : site && trace_site_writes(site);
	touch_range(s, thread, place, &a, size);
}

uint32_t model_freed(const struct model *m, struct model_cache *cache, const struct trace_event *e)
{
	uint32_t object = model_find_cached(m, cache, e->address, e->q - 1);
	bool is = object != MODEL_NONE && m->objects[object].kind == MODEL_HEAP &&
		  m->objects[object].end == e->q && m->objects[object].base == e->address;
	return is ? object : MODEL_NONE;
}

static void scan_free(struct sharing_scan *s, uint32_t thread, const struct trace_event *e)
{
	uint32_t object = model_freed(s->model, s->cache, e);
	if (object == MODEL_NONE)
		return;
	s->model->objects[object].freer = thread;
	touch_object(s->model, object, thread, &(struct model_access){.write = 1});
}

/* Returns a mask of the bytes that a thread other than this one touched. */
static uint64_t foreign_bits(const struct model *m, const struct model_block *b, uint32_t thread)
{
	uint64_t foreign = b->multi;
	for (uint64_t bits = b->touched; bits; bits &= bits - 1) {
		unsigned i = (unsigned)__builtin_ctzll(bits);
		if ((b->owners ? m->private->owners[b->owners][i] : b->owner) != thread)
			foreign |= 1ull << i;
	}
	return foreign;
}

static void free_block(struct model *m, struct model_block *b, uint32_t freer)
{
	uint64_t foreign = foreign_bits(m, b, freer);
	b->multi |= foreign;
	b->written |= foreign;
}

static void free_mapped(struct model *m, const struct rd_umap *map, uint32_t freer)
{
	for (size_t i = 0; i < map->capacity; i++) {
		if (map->used[i])
			free_block(m, &m->private->blocks[map->values[i]], freer);
	}
}

static void free_bytes(struct model *m, const struct model_object *o)
{
	struct model_private *x = m->private;
	const struct model_shadow *s = &x->shadows[o->shadow];
	for (uint64_t i = 0; s->direct && i <= o->size / BLOCK; i++) {
		if (s->direct[i] != 0)
			free_block(m, &x->blocks[s->direct[i]], o->freer);
	}
	free_mapped(m, &s->map, o->freer);
	free_mapped(m, &s->chunks, o->freer);
}

static struct held *find_held(struct sharing_scan *s, uint32_t sync, bool wanted)
{
	for (size_t i = s->held_count; i-- > 0;) {
		if (s->held[i].sync == sync && s->held[i].wanted == wanted)
			return &s->held[i];
	}
	return NULL;
}

static void drop_held(struct sharing_scan *s, struct held *h)
{
	*h = s->held[--s->held_count];
}

static void add_held(struct sharing_scan *s, uint32_t sync, uint64_t t, bool wanted)
{
	RD_GROW(s->held, s->held_capacity, s->held_count + 1);
	s->held[s->held_count++] = (struct held){.sync = sync, .since = t, .wanted = wanted};
}

static uint64_t since(uint64_t t, uint64_t then)
{
	return t > then ? t - then : 0;
}

static void acquire(struct sharing_scan *s, uint32_t sync, uint64_t t)
{
	struct held *wanted = find_held(s, sync, true);
	if (wanted) {
		s->model->syncs[sync].wait_ns += since(t, wanted->since);
		drop_held(s, wanted);
	}
	add_held(s, sync, t, false);
}

static void release(struct sharing_scan *s, uint32_t sync, uint64_t t)
{
	struct held *h = find_held(s, sync, false);
	if (!h)
		return;
	struct model_sync *m = &s->model->syncs[sync];
	uint64_t ns = since(t, h->since);
	m->hold_ns += ns;
	if (ns > m->hold_max_ns)
		m->hold_max_ns = ns;
	drop_held(s, h);
}

/* Returns true if the event is a use of its object. */
static bool is_use(const struct trace_event *e)
{
	switch (raddle_role(e->kind)) {
	case RADDLE_ROLE_WAIT:
	case RADDLE_ROLE_NOTIFY:
	case RADDLE_ROLE_PASS: return true;
	case RADDLE_ROLE_RELEASE: return raddle_class(e->kind) == RADDLE_CLASS_SEM;
	default: return raddle_is_lock(e->kind) ? trace_lock_change(e) > 0 : raddle_takes(e->kind);
	}
}

/* Returns true if the event shows that a thread begins to wait for its object.  Waits for a
 * one-time initialisation are not measured. */
static bool begins_wait(enum raddle_event kind)
{
	return raddle_role(kind) == RADDLE_ROLE_WAIT ||
	       (raddle_role(kind) == RADDLE_ROLE_REQUEST && raddle_class(kind) != RADDLE_CLASS_ONCE);
}

static void scan_times(struct sharing_scan *s, uint32_t sync, const struct trace_event *e)
{
	struct model_sync *m = &s->model->syncs[sync];
	int change = trace_lock_change(e);
	bool ends_wait = raddle_is(e->kind, RADDLE_CLASS_SEM, RADDLE_ROLE_ACQUIRE) ||
			 raddle_role(e->kind) == RADDLE_ROLE_WAKE;
	struct held *wanted = ends_wait ? find_held(s, sync, true) : NULL;
	if (wanted) {
		m->wait_ns += since(e->t, wanted->since);
		drop_held(s, wanted);
	}
	if (begins_wait(e->kind)) {
		m->contended += raddle_role(e->kind) == RADDLE_ROLE_REQUEST;
		add_held(s, sync, e->t, true);
	}
	if (change > 0)
		acquire(s, sync, e->t);
	else if (change < 0)
		release(s, sync, e->t);
}

static void scan_sync(struct sharing_scan *s, uint32_t thread, const struct trace_event *e)
{
	enum raddle_class class = raddle_class(e->kind);
	if (!raddle_is_sync(e->kind))
		return;
	uint32_t sync = model_sync_intern(s->model, s->cache, class, (uint64_t[]){e->address, e->q});
	struct model_sync *m = &s->model->syncs[sync];
	if (m->owner == MODEL_NONE)
		m->owner = thread;
	else if (m->owner != thread)
		m->multi = true;
	m->uses += is_use(e);
	scan_times(s, sync, e);
	if (!raddle_is_cond_wait(e->kind))
		return;
	uint32_t mutex =
		model_sync_intern(s->model, s->cache, RADDLE_CLASS_MUTEX, (uint64_t[]){e->values[3], e->q});
	if (e->kind == RADDLE_COND_WAIT) {
		release(s, mutex, e->t);
	} else {
		s->model->syncs[mutex].uses++;
		acquire(s, mutex, e->t);
	}
}

static void scan_handled(struct sharing_scan *s, uint32_t thread, const struct trace_event *e,
			 const struct trace_stream *in)
{
	enum raddle_handling handling = model_handling(s->model, e, &in->decoder);
	struct model_access a = {.write = handling != RADDLE_USES};

	if (handling != RADDLE_HANDLES_NOT)
		touch_range(s, thread, (uint64_t[]){e->address, e->q}, &a, raddle_object_size(e->kind));
}

static void scan_stream(struct sharing_scan *s, size_t stream)
{
	struct model *m = s->model;
	uint32_t thread = model_thread_of_stream(m, stream);
	struct trace_stream in;
	struct trace_event e;
	if (trace_open_thread(m->trace, stream, &in) != RD_OK)
		return;
	s->held_count = 0;
	while (trace_stream_next(&in, &e) > 0) {
		if (s->frees)
			model_note_store(m, &e);
		if (raddle_is_access(e.kind))
			scan_access(s, thread, &e, in.last_q);
		else if (e.kind == RADDLE_FREE && s->frees)
			scan_free(s, thread, &e);
		else if (s->locks)
			scan_sync(s, thread, &e);
		if (s->handled)
			scan_handled(s, thread, &e, &in);
	}
	trace_stream_close(&in);
}

static void scan_all(struct sharing_scan *s)
{
	for (size_t i = 0; i < trace_thread_count(s->model->trace); i++)
		scan_stream(s, i);
}

int model_scan_sharing(struct model *m, bool handled)
{
	struct model_cache *cache = rd_xcalloc(1, sizeof *cache);
	struct sharing_scan s = {.model = m, .cache = cache, .touch = touch_object, .locks = true};
	s.frees = s.handled = handled;
	scan_all(&s);
	model_sort_stores(m);
	s.touch = touch_bytes;
	s.locks = s.frees = false;
	scan_all(&s);
	for (size_t i = 0; i < m->object_count; i++) {
		if (m->objects[i].freer != MODEL_NONE && m->objects[i].shadow)
			free_bytes(m, &m->objects[i]);
		if (model_shared_bytes(m, (uint32_t)i) > 0)
			m->objects[i].flags |= MODEL_SHARED;
	}
	free(s.held);
	free(cache);
	return RD_OK;
}

static const struct model_block *mapped_block(const struct model *m, const struct rd_umap *map,
					      uint64_t number)
{
	const uint64_t *index = rd_umap_get(map, number);
	return index ? &m->private->blocks[*index] : NULL;
}

/* Returns a mask of the shared bytes of a block.  `b` is the block's own entry, and `chunk` is the
 * entry of the chunk that contains the block.  Both may be NULL. */
static uint64_t shared_of(const struct model *m, const struct model_block *b, const struct model_block *chunk)
{
	uint64_t multi = b ? b->multi : 0, written = b ? b->written : 0;
	if (chunk && b && !chunk->multi)
		multi |= foreign_bits(m, b, chunk->owner);
	if (chunk && chunk->multi)
		multi = UINT64_MAX;
	if (chunk && chunk->written)
		written = UINT64_MAX;
	return multi & written;
}

/* Returns a mask in which bit i is set if byte offset + i was touched by several threads and
 * written.  It covers at most the bytes from `offset` to the end of its 64-byte block. */
static uint64_t model_shared_bits(const struct model *m, uint32_t object, uint64_t offset)
{
	const struct model_object *o = &m->objects[object];
	const struct model_block *b, *chunk = NULL;
	if (!o->shadow || offset >= o->size)
		return 0;
	const struct model_shadow *s = &m->private->shadows[o->shadow];
	if (s->direct) {
		uint32_t index = s->direct[offset / BLOCK];
		b = index ? &m->private->blocks[index] : NULL;
	} else {
		b = mapped_block(m, &s->map, offset / BLOCK);
		chunk = mapped_block(m, &s->chunks, offset / CHUNK);
	}
	return shared_of(m, b, chunk) >> (offset % BLOCK);
}

/* Does the same as model_is_shared() for an object with maps.  Considers only the blocks and chunks
 * that were touched. */
static bool is_shared_sparsely(const struct model *m, const struct model_shadow *s, uint64_t offset,
			       uint64_t end)
{
	for (size_t i = 0; i < s->map.capacity; i++) {
		uint64_t from = s->map.keys[i] * BLOCK, to = from + BLOCK;
		if (!s->map.used[i] || to <= offset || from >= end)
			continue;
		const struct model_block *b = &m->private->blocks[s->map.values[i]];
		const struct model_block *chunk = mapped_block(m, &s->chunks, from / CHUNK);
		from = from < offset ? offset : from;
		if (shared_of(m, b, chunk) & mask_of(from, end - from))
			return true;
	}
	for (size_t i = 0; i < s->chunks.capacity; i++) {
		uint64_t from = s->chunks.keys[i] * CHUNK;
		if (s->chunks.used[i] && from + CHUNK > offset && from < end &&
		    shared_of(m, NULL, &m->private->blocks[s->chunks.values[i]]))
			return true;
	}
	return false;
}

bool model_is_shared(const struct model *m, uint32_t object, uint64_t offset, uint64_t size)
{
	RD_ASSERT(object < m->object_count);
	uint64_t end = offset + size;
	if (!(m->objects[object].flags & MODEL_SHARED))
		return false;
	const struct model_shadow *s = &m->private->shadows[m->objects[object].shadow];
	if (!s->direct && size / BLOCK > s->map.capacity + s->chunks.capacity)
		return is_shared_sparsely(m, s, offset, end);
	for (uint64_t at = offset; at < end; at = (at / BLOCK + 1) * BLOCK) {
		if (model_shared_bits(m, object, at) & mask_of(at, end - at) >> (at % BLOCK))
			return true;
	}
	return false;
}

/* Returns the number of shared bytes of an object whose touched blocks are stored in maps.  If a
 * whole chunk is shared, all of its bytes count. */
static uint64_t shared_mapped(const struct model *m, const struct model_shadow *s)
{
	uint64_t count = 0;
	for (size_t i = 0; i < s->chunks.capacity; i++) {
		if (s->chunks.used[i] && shared_of(m, NULL, &m->private->blocks[s->chunks.values[i]]))
			count += CHUNK;
	}
	for (size_t i = 0; i < s->map.capacity; i++) {
		if (!s->map.used[i])
			continue;
		const struct model_block *chunk = mapped_block(m, &s->chunks, s->map.keys[i] * BLOCK / CHUNK);
		if (!chunk || !shared_of(m, NULL, chunk))
			count += (uint64_t)__builtin_popcountll(
				shared_of(m, &m->private->blocks[s->map.values[i]], chunk));
	}
	return count;
}

uint64_t model_shared_bytes(const struct model *m, uint32_t object)
{
	RD_ASSERT(object < m->object_count);
	const struct model_object *o = &m->objects[object];
	uint64_t count = 0;
	if (!o->shadow)
		return 0;
	const struct model_shadow *s = &m->private->shadows[o->shadow];
	if (!s->direct)
		return shared_mapped(m, s);
	for (uint64_t at = 0; at < o->size; at += BLOCK)
		count += (uint64_t)__builtin_popcountll(model_shared_bits(m, object, at));
	return count;
}
