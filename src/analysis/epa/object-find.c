/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the object at an address, its canonical name, and the state of its bytes.  The objects are
 * those that object.c tracks.  All results apply to the current position of the walk over the
 * trace.
 */
#include "epa/object-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "raddle/full.h"

#include <string.h>

/* All three of these constants were set by hand. */

/* The largest number of unknown addresses of a thread.  Further ones share a name. */
#define UNKNOWN_MAX 4096
/* An access within this many bytes after an unknown address belongs to that address. */
#define UNKNOWN_SIZE 4096
#define HEADER_SIZE 16 /* bytes of a heap block's header; pointers into it refer to the block */

const struct epa_object *epa_objects_find(struct epa_objects *o, uint64_t address, uint32_t site)
{
	uint32_t n = epa_extents_find(&o->extents, address, site);
	return n ? &o->list[n] : NULL;
}

static struct unknown_address *new_unknown(struct epa_objects *o, size_t place, uint32_t site,
					   uint64_t address)
{
	struct object_thread *t = &o->threads[place];
	bool own = address - t->low < t->high - t->low;
	bool initial = address - o->threads[0].low < o->threads[0].high - o->threads[0].low;
	uint64_t nth = epa_objects_count_up(o, place, EPA_UNKNOWN, site) & 0xffffff;
	struct unknown_address u = {.start = address, .site = site, .depth = own ? (uint32_t)t->depth : 0};
	size_t at = t->unknown_count;
	/* The name contains the low four bits of the address, except on a stack.  Libraries
	 * allocate pages or aligned blocks, so these bits are the same in every run.  On a stack
	 * they may vary, because strings there can have any alignment. */
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
	struct object_thread *t = &o->threads[place];
	size_t next = 0;
	struct epa_object object = {.thread = t->name, .kind = EPA_UNKNOWN};
	const struct unknown_address *u;
	RD_BISECT(next, t->unknown_count, at, t->unknowns[at].start <= address);
	u = next > 0 ? &t->unknowns[next - 1] : NULL;
	if ((!u || address - u->start >= UNKNOWN_SIZE) && t->unknown_count < UNKNOWN_MAX)
		u = new_unknown(o, place, site, address);
	if (!u || address - u->start >= UNKNOWN_SIZE)
		return (struct epa_name){(uint64_t)EPA_UNKNOWN << 60, 0};
	object.site = u->site;
	object.ordinal = u->ordinal;
	return epa_name_in(epa_object_make_name(&object), (int64_t)(address - u->start));
}

/* For an address that lies in no object: returns the object next to it, or NULL.  A pointer to the
 * end of a live object refers to that object, and a pointer into the header of a heap block refers
 * to the block. */
static const struct epa_object *near_object(const struct epa_objects *o, uint64_t address)
{
	uint32_t n = address ? epa_extents_before(&o->extents, address - 1) : 0;
	const struct epa_object *e = &o->list[n];
	if (n && e->live && e->start + e->size == address && e->kind != EPA_REGION && e->kind != EPA_MODULE)
		return e;
	n = epa_extents_after(&o->extents, address);
	e = &o->list[n];
	return n && e->live && e->kind == EPA_HEAP && e->start - address <= HEADER_SIZE ? e : NULL;
}

/* Returns the name of an address whose object no longer exists or is unknown.  If the object was a
 * local variable, its memory now contains something else, usually a stack frame of a library. */
static struct epa_name ended_or_unknown_name(struct epa_objects *o, uint32_t site, uint64_t address,
					     uint32_t n)
{
	const struct epa_object *e = near_object(o, address);
	if (!e && n && o->list[n].kind != EPA_REGION && o->list[n].kind != EPA_STACK)
		e = &o->list[n];
	return e ? epa_name_in(e->name, (int64_t)(address - e->start)) : unknown_name(o, site, address);
}

struct epa_name epa_objects_name(struct epa_objects *o, uint32_t site, uint64_t address)
{
	uint32_t n = epa_extents_find(&o->extents, address, site);
	const struct epa_object *e = &o->list[n];
	if (!e->live || e->kind == EPA_REGION || e->kind == EPA_THREAD) {
		struct object_thread *t = &o->threads[epa_walk_place(o->walk)];
		const struct child_thread *child = epa_child_at(t, address);
		if (child)
			return epa_name_in(epa_name_of(EPA_THREAD, child->name, 0),
					   (int64_t)(address - child->end));
		if (e->kind != EPA_THREAD)
			return ended_or_unknown_name(o, site, address, n);
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
	return epa_name_in(e->name, (int64_t)(address - e->start));
}

void epa_objects_skip(struct epa_objects *o, uint64_t records)
{
	o->records += records;
}

/* Returns true if a value cannot be an address of the program.  Such a value lies in the first
 * page, in the kernel's address range, or in no mapping.  Values below 4 GB may be addresses of
 * the heap if the program is loaded at a fixed address. */
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
	struct object_thread *t = &o->threads[epa_walk_place(o->walk)];
	return n || epa_child_at(t, value);
}

void epa_objects_forget(struct epa_objects *o, size_t place, uint32_t site)
{
	RD_ASSERT(place < epa_walk_threads(o->walk));
	uint64_t *count = rd_umap_get(&o->counters, epa_counter_key(place, EPA_STACK, site));
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

/* Returns how many of the `size` bytes from `address` on belong to the object. */
static uint64_t within(const struct epa_object *e, uint64_t address, uint64_t size)
{
	uint64_t left = e->size - (address - e->start);

	return size < left ? size : left;
}

void epa_objects_copy_defined(struct epa_objects *o, uint64_t to, uint64_t from, uint64_t size)
{
	struct epa_object *target = tracked(o, 0, to);
	uint64_t whole = target ? within(target, to, size) : 0;

	for (uint64_t done = 0; done < whole; done += 8) {
		uint64_t n = whole - done < 8 ? whole - done : 8;
		uint8_t except = epa_objects_undefined(o, 0, from + done, n);
		epa_defined_set(&target->defined, to + done - target->start, n, except);
	}
}

/* --- which bytes are part of an address --- */

static struct epa_object *live_object(struct epa_objects *o, uint32_t site, uint64_t address)
{
	uint32_t n = epa_extents_find(&o->extents, address, site);
	return n && o->list[n].live && o->list[n].kind != EPA_REGION ? &o->list[n] : NULL;
}

uint8_t epa_objects_parts(struct epa_objects *o, uint32_t site, uint64_t address, uint64_t size)
{
	const struct epa_object *e = live_object(o, site, address);
	return e ? epa_parts_get(&e->parts, address - e->start, size) : 0;
}

void epa_objects_set_parts(struct epa_objects *o, const struct trace_record *r, uint8_t which)
{
	struct epa_object *e = live_object(o, r->site, r->address);
	if (e)
		epa_parts_set(&e->parts, e->size, r->address - e->start, r->size, which);
}

void epa_objects_copy_parts(struct epa_objects *o, uint64_t to, uint64_t from, uint64_t size)
{
	struct epa_object *e = live_object(o, 0, to);
	uint64_t whole = e ? within(e, to, size) : 0;

	for (uint64_t done = 0; done < whole; done += 8) {
		uint64_t n = whole - done < 8 ? whole - done : 8;
		epa_parts_set(&e->parts, e->size, to + done - e->start, n,
			      epa_objects_parts(o, 0, from + done, n));
	}
}

uint32_t epa_objects_thread(const struct epa_objects *o, size_t place)
{
	RD_ASSERT(place < epa_walk_threads(o->walk));
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
	RD_ASSERT(place < epa_walk_threads(o->walk));
	return o->threads[place].depth;
}
