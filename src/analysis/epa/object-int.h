/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the objects of a run, for object.c (which processes the records) and object-find.c
 * (which looks up objects). */
#ifndef EPA_OBJECT_INT_H
#define EPA_OBJECT_INT_H

#include "base/map.h"
#include "epa/extent.h"
#include "epa/object.h"

struct object_scope {
	uint64_t frame;
	size_t first; /* of its variables */
};

struct object_variable {
	uint32_t extent;
	uint64_t serial;
};

/* An address that is in no object, and those shortly after it. */
struct unknown_address {
	uint64_t start;
	uint64_t ordinal; /* number at its site << 16 | where it lies << 12 | low bits */
	uint32_t site;
	uint32_t depth; /* scopes when it was first seen, if it is on the thread's stack; else 0 */
};

/* A thread that another one created and has not joined or detached. */
struct child_thread {
	uint64_t end; /* of its stack, and of its control block; 0: unknown */
	uint32_t number, name;
};

struct object_thread {
	uint32_t name;
	struct child_thread *children;
	size_t child_count, child_capacity;
	uint64_t freed, freed_size; /* by the last call; 0: nothing */
	struct object_scope *scopes;
	size_t depth, scope_capacity;
	struct object_variable *variables;
	size_t variable_count, variable_capacity;
	struct unknown_address *unknowns;		    /* by start */
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
	struct rd_umap counters;       /* (place, kind, site) to the number of objects */
	struct rd_umap created;	       /* number of a thread to that of its name */
	struct object_thread *threads; /* by place */
	size_t module_count;
	uint64_t program; /* load address */
	uint64_t argv, argv_size;
	bool in_main;
	uint64_t records;     /* fed so far */
	struct epa_move move; /* the last one, until it is taken; size 0: there is none */
	epa_object_fn *watch;
	void *watcher;
};

static inline struct epa_name epa_object_make_name(const struct epa_object *o)
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

static inline struct epa_name epa_name_in(struct epa_name base, int64_t offset)
{
	enum epa_kind kind = epa_name_kind(base);
	if (kind == EPA_STACK || kind == EPA_HEAP || kind == EPA_MAP || kind == EPA_UNKNOWN)
		base.where |= (uint64_t)offset & ((1ull << EPA_NAME_SITE) - 1);
	else
		base.where += (uint64_t)offset;
	return base;
}

static inline uint64_t epa_counter_key(size_t place, enum epa_kind kind, uint32_t site)
{
	return (uint64_t)place << 35 | (uint64_t)kind << 31 | site;
}

/* Returns how many the thread has made there before, and counts one more. */
static inline uint64_t epa_objects_count_up(struct epa_objects *o, size_t place, enum epa_kind kind,
					    uint32_t site)
{
	return (*rd_umap_put(&o->counters, epa_counter_key(place, kind, site), NULL))++;
}

/* The child of this thread whose pthread_t is the address, or NULL. */
const struct child_thread *epa_child_at(const struct object_thread *t, uint64_t address);

#endif
