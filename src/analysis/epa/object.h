/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the object that currently lies at an address, and its canonical name (algorithm 1 of the
 * TraceSanitizer paper).
 *
 * 	struct epa_objects *o = epa_objects_new(walk, &names);
 * 	while (epa_walk_next(walk, &r) > 0) {
 * 		epa_objects_feed(o, &r);
 * 		... epa_objects_find(o, r.address), epa_objects_name(o, r.site, r.address) ...
 * 	}
 *
 * Every record of the walk must be fed, in order.  Memory use grows with the number of sites, of
 * threads, and of objects that are alive at the same time, but not with the length of the trace.
 * An object that has ended can be found until another one replaces it.
 */
#ifndef EPA_OBJECT_H
#define EPA_OBJECT_H

#include "epa/defined.h"
#include "epa/name.h"
#include "epa/walk.h"

struct epa_object {
	uint64_t start, size;
	uint64_t begin; /* the number, in the walk, of the record that began the object, from 0 */
	/* The number of the object, in the order in which objects begin, from 1. */
	uint64_t serial;
	uint64_t ordinal; /* its number among the objects of its thread and site, from 0 */
	/* For local, heap and mapped objects: the number among all objects of the thread, from
	 * 0. */
	uint64_t local;
	struct epa_name name; /* name of its first byte; unused for EPA_REGION */
	uint32_t thread;      /* number of the name of the thread that made the object */
	uint32_t place;	      /* place (epa/walk.h) of the thread that made the object */
	uint32_t site;	      /* where it was made; 0 if unknown */
	/* For variables, the index in trace_sites.placed.  For modules, the number of the name. */
	uint32_t index;
	uint8_t kind; /* enum epa_kind */
	bool live;
	struct epa_defined defined; /* for local and heap objects: which bytes are defined */
	/* Which bytes are parts of addresses, if the program moves bytes individually. */
	struct epa_parts parts;
};

struct epa_objects;
/* Makes the objects of a walk.  Walk and names must outlive them. */
struct epa_objects *epa_objects_new(struct epa_walk *walk, struct epa_names *names);
void epa_objects_free(struct epa_objects *o); /* `o` may be NULL */

typedef void epa_object_fn(void *context, const struct epa_object *object, uint64_t end);
/* Calls `fn` for each object at the end of its lifetime, with the number of the record that ended
 * it.  epa_objects_finish() calls it for objects that are still alive. */
void epa_objects_watch(struct epa_objects *o, epa_object_fn *fn, void *context);
void epa_objects_finish(struct epa_objects *o);

/* Processes the record that epa_walk_next() has just returned. */
void epa_objects_feed(struct epa_objects *o, const struct trace_record *r);

/* Returns the smallest object at an address.  If no object is alive there, returns the last object
 * that was alive there, or NULL if there never was one.  The pointer is valid until the next record
 * is fed.  `site` is a hint, because the same site usually finds the same object. */
const struct epa_object *epa_objects_find(struct epa_objects *o, uint64_t address, uint32_t site);

/* Returns the canonical name of an address for the thread of the last record.  An address in no
 * object gets a new name when that thread first asks for it, at `site`. */
struct epa_name epa_objects_name(struct epa_objects *o, uint32_t site, uint64_t address);

/* Does the same as epa_objects_name() for a value that may also be a number.  Values that cannot be
 * addresses become plain numbers. */
struct epa_name epa_objects_value(struct epa_objects *o, uint32_t site, uint64_t value);

/* Returns the live object at an address, provided that all threads have the same name for that
 * address and that accesses to it change no names.  Otherwise returns NULL.  Loads and stores of
 * such an object need not be fed. */
struct epa_object *epa_objects_plain(struct epa_objects *o, uint32_t site, uint64_t address);

/* Returns the name of an address inside an object. */
struct epa_name epa_object_name(const struct epa_object *object, uint64_t address);

/* Counts records that were not fed: loads and stores of plain objects, and branches. */
void epa_objects_skip(struct epa_objects *o, uint64_t records);

/* Returns true if the bytes of an object are tracked individually, and some are undefined. */
static inline bool epa_object_has_gaps(const struct epa_object *object)
{
	return (object->kind == EPA_STACK || object->kind == EPA_HEAP) && !object->defined.whole;
}

/* Returns true if the thread of the last record knows an object at the address `value`, whether
 * alive or ended.  In that case, a large number of unknown type is treated as an address. */
bool epa_objects_has(struct epa_objects *o, uint32_t site, uint64_t value);

/* Decrements the number of local variables that the thread has made at the site, so that the next
 * variable gets the same ordinal.  The caller does this if it leaves out a loop iteration that
 * ended in a wait. */
void epa_objects_forget(struct epa_objects *o, size_t place, uint32_t site);

/* Returns the number that the name of thread `number` has in `names`, even if the thread has no
 * records. */
uint32_t epa_objects_named(struct epa_objects *o, uint32_t number);

/* Returns the number that the name of the thread at a place of the walk has in `names`. */
uint32_t epa_objects_thread(const struct epa_objects *o, size_t place);

/* Returns the index of the thread that created the thread with the index `place`.  Returns
 * SIZE_MAX for the initial thread, or if the creator is unknown. */
size_t epa_objects_parent(const struct epa_objects *o, size_t place);

/* A block that realloc() moved with its contents. */
struct epa_move {
	uint64_t from, to, size;
};
/* Returns false if no block was moved since the last call. */
bool epa_objects_take_move(struct epa_objects *o, struct epa_move *move);

/* Marks memory of a local or heap object as defined, except the bytes in `except`
 * (epa/defined.h). */
void epa_objects_define(struct epa_objects *o, const struct trace_record *r, uint64_t size, uint64_t except);

/* Copies the state of bytes (defined or not) from one range to another. */
void epa_objects_copy_defined(struct epa_objects *o, uint64_t to, uint64_t from, uint64_t size);

/* Returns a bit mask of the undefined bytes in a range of at most eight bytes. */
uint8_t epa_objects_undefined(struct epa_objects *o, uint32_t site, uint64_t address, uint64_t size);

/* For a range of at most eight bytes of a live object, epa_objects_parts() returns a bit mask of
 * the bytes that are part of an address (epa/defined.h). epa_objects_set_parts() sets that
 * mask. */
uint8_t epa_objects_parts(struct epa_objects *o, uint32_t site, uint64_t address, uint64_t size);
void epa_objects_set_parts(struct epa_objects *o, const struct trace_record *r, uint8_t which);
void epa_objects_copy_parts(struct epa_objects *o, uint64_t to, uint64_t from, uint64_t size);

/* Returns the number of scopes that the thread is in. */
size_t epa_objects_depth(const struct epa_objects *o, size_t place);

#endif
