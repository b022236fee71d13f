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
	size_t first; /* index of the scope's first variable */
};

struct object_variable {
	uint32_t extent;
	uint64_t serial;
};

/* An address outside all objects.  It also represents the addresses shortly after it. */
struct unknown_address {
	uint64_t start;
	/* The ordinal packs three numbers: (number at its site) << 16 | (kind of memory) << 12 |
	 * low bits of the address. */
	uint64_t ordinal;
	uint32_t site;
	/* The number of scopes when the address was first used, if it is on the thread's stack;
	 * else 0. */
	uint32_t depth;
};

/* A thread that another thread created and has neither joined nor detached. */
struct child_thread {
	uint64_t end; /* end of the thread's stack and of its control block; 0 if unknown */
	uint32_t number, name;
};

struct object_thread {
	uint32_t name;
	struct child_thread *children;
	size_t child_count, child_capacity;
	uint64_t freed, freed_size; /* the block that the last call freed; 0 if there is none */
	struct object_scope *scopes;
	size_t depth, scope_capacity;
	struct object_variable *variables;
	size_t variable_count, variable_capacity;
	struct unknown_address *unknowns; /* sorted by start */
	/* `deep_count` is the number of unknowns whose depth is not 0. */
	size_t unknown_count, unknown_capacity, deep_count;
	uint64_t low, high; /* bounds of its stack */
	uint64_t control;   /* address of its control block */
	uint64_t made;	    /* number of objects that the thread has made */
	/* The number of the thread's blocks of thread-local variables. */
	uint32_t blocks;
};

struct epa_objects {
	struct epa_walk *walk;
	const struct trace_sites *sites;
	struct epa_names *names;
	struct epa_extents extents;
	struct epa_object *list; /* the objects, indexed by the number of their extent */
	size_t count, capacity;
	uint64_t serial;
	/* Maps (place, kind, site) to the number of objects made there. */
	struct rd_umap counters;
	struct rd_umap created;	       /* maps the number of a thread to the number of its name */
	struct object_thread *threads; /* the states of the threads, indexed by place in the walk */
	size_t module_count;
	uint64_t program; /* load address of the program */
	uint64_t argv, argv_size;
	bool in_main;
	uint64_t records; /* number of records fed so far */
	/* The last move by realloc(), until it is fetched; size 0 if there is none. */
	struct epa_move move;
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

/* Returns how many objects of this kind the thread has made at the site before, and counts one
 * more. */
static inline uint64_t epa_objects_count_up(struct epa_objects *o, size_t place, enum epa_kind kind,
					    uint32_t site)
{
	return (*rd_umap_put(&o->counters, epa_counter_key(place, kind, site), NULL))++;
}

/* Returns the child of this thread whose pthread_t has the value `address`, or NULL if there is
 * none. */
const struct child_thread *epa_child_at(const struct object_thread *t, uint64_t address);

#endif
