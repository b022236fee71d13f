/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which object lies at an address now, and its canonical name (algorithm 1 of the TraceSanitizer paper).
 *
 *	struct epa_objects *o = epa_objects_new(walk, &names);
 *	while (epa_walk_next(walk, &r) > 0) {
 *		epa_objects_feed(o, &r);
 *		... epa_objects_find(o, r.address), epa_objects_name(o, r.site, r.address) ...
 *	}
 *
 * Every record of the walk is fed, in order.  Memory grows with what is alive at once and with sites and
 * threads, not with the length of the trace.  An object that has ended is still found until another one takes
 * its place.
 */
#ifndef EPA_OBJECT_H
#define EPA_OBJECT_H

#include "epa/defined.h"
#include "epa/name.h"
#include "epa/walk.h"

struct epa_object {
	uint64_t start, size;
	uint64_t begin;	      /* which record of the walk, from 0 */
	uint64_t serial;      /* objects of a walk are numbered as they begin, from 1 */
	uint64_t ordinal;     /* which one of its thread and site, from 0 */
	uint64_t local;	      /* local, heap and mapped ones: which of all that its thread made, from 0 */
	struct epa_name name; /* of its first byte; unused for EPA_REGION */
	uint32_t thread;      /* number of the name of the thread that made it */
	uint32_t place;	      /* that thread in the walk */
	uint32_t site;	      /* where it was made, 0 if there is none */
	uint32_t index;	      /* variables: of trace_sites.placed */
	uint8_t kind;	      /* enum epa_kind */
	bool live;
	struct epa_defined defined; /* local and heap objects */
	struct epa_parts parts;	    /* if the program moves bytes one by one */
};

struct epa_objects;
/* Walk and names must outlive it. */
struct epa_objects *epa_objects_new(struct epa_walk *walk, struct epa_names *names);
void epa_objects_free(struct epa_objects *o); /* NULL is fine */

/* To be told of each object when its life is over, with the number of the record that ended it; those that
 * are alive when epa_objects_finish() is called are told of then. */
typedef void epa_object_fn(void *context, const struct epa_object *object, uint64_t end);
void epa_objects_watch(struct epa_objects *o, epa_object_fn *fn, void *context);
void epa_objects_finish(struct epa_objects *o);

/* The record that epa_walk_next() has just returned. */
void epa_objects_feed(struct epa_objects *o, const struct trace_record *r);

/* The smallest object at an address, living or the last that was; NULL: nothing is known of it.  It lives
 * until the next record is fed.  `site` is a hint only: the same site mostly finds the same object. */
const struct epa_object *epa_objects_find(struct epa_objects *o, uint64_t address, uint32_t site);

/* The canonical name of an address for the thread of the last record.  What is in no object gets a name of
 * its own when that thread asks for the first time; `site` is where. */
struct epa_name epa_objects_name(struct epa_objects *o, uint32_t site, uint64_t address);

/* The same for a value that may be a number as well: numbers that cannot be addresses are plain. */
struct epa_name epa_objects_value(struct epa_objects *o, uint32_t site, uint64_t value);

/* The living object at an address, if its name and the offset are the name of the address whoever asks, and
 * an access there tells nothing new; NULL otherwise.  For many records of one thread: */
struct epa_object *epa_objects_plain(struct epa_objects *o, uint32_t site, uint64_t address);

/* The name of an address in an object. */
struct epa_name epa_object_name(const struct epa_object *object, uint64_t address);

/* ... whose loads and stores need not be fed; that many were not. */
void epa_objects_skip(struct epa_objects *o, uint64_t records);

/* Whether the bytes of an object are known one by one, and not all have a value. */
static inline bool epa_object_has_gaps(const struct epa_object *object)
{
	return (object->kind == EPA_STACK || object->kind == EPA_HEAP) && !object->defined.whole;
}

/* Whether something lies there or did, for the thread of the last record: then a large number of unknown type
 * is an address, wherever the system puts things. */
bool epa_objects_has(struct epa_objects *o, uint32_t site, uint64_t value);

/* A local variable of the site does not count: the next one has its ordinal (a wait that is left out). */
void epa_objects_forget(struct epa_objects *o, size_t place, uint32_t site);

/* The number of the name of the thread with that number, also of one that has told nothing of itself. */
uint32_t epa_objects_named(struct epa_objects *o, uint32_t number);

/* The number of a thread's name, by place. */
uint32_t epa_objects_thread(const struct epa_objects *o, size_t place);

/* The place of the thread that created it; SIZE_MAX: unknown, or the initial one. */
size_t epa_objects_parent(const struct epa_objects *o, size_t place);

/* A block that realloc() moved, with what it held; false: none since the last time. */
struct epa_move {
	uint64_t from, to, size;
};
bool epa_objects_take_move(struct epa_objects *o, struct epa_move *move);

/* Memory of a living local or heap object gets a value; the bytes in `except` do not (epa/defined.h). */
void epa_objects_define(struct epa_objects *o, const struct trace_record *r, uint64_t size, uint64_t except);

/* Copies which bytes have one. */
void epa_objects_copy_defined(struct epa_objects *o, uint64_t to, uint64_t from, uint64_t size);

/* Of at most eight bytes, those that have none. */
uint8_t epa_objects_undefined(struct epa_objects *o, uint32_t site, uint64_t address, uint64_t size);

/* Of at most eight bytes at an address in a living object, those that are part of an address (epa/defined.h).
 */
uint8_t epa_objects_parts(struct epa_objects *o, uint32_t site, uint64_t address, uint64_t size);
void epa_objects_set_parts(struct epa_objects *o, const struct trace_record *r, uint8_t which);
void epa_objects_copy_parts(struct epa_objects *o, uint64_t to, uint64_t from, uint64_t size);

/* How many scopes the thread stands in. */
size_t epa_objects_depth(const struct epa_objects *o, size_t place);

#endif
