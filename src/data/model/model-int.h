/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of model/ share and nobody else sees. */
#ifndef MODEL_MODEL_INT_H
#define MODEL_MODEL_INT_H

#include "base/map.h"
#include "model/model.h"

/*
 * Where heap objects and stacks of all times lie: a grid of cells for each
 * power of four of size.  An object is entered in the level where it covers at
 * most five cells; a cell lists its objects in order of their birth.
 */
#define MODEL_GRID_LEVELS 22
struct model_grid {
	struct rd_umap cells; /* (level, cell number) to index of starts */
	uint32_t *starts;     /* cell i has entries starts[i] .. starts[i + 1] */
	uint32_t *entries;    /* object indices */
	uint32_t levels;      /* bit n: level n is used */
};

/* The bytes of an object that several threads touched: 64-byte blocks. */
struct model_block {
	uint64_t touched, written, multi;
	uint32_t owner;	 /* who touched it first */
	uint32_t owners; /* index of owner tables, 0: all bytes are `owner`'s */
	uint64_t marked; /* by `latest`: nothing new is learnt about them */
	uint32_t latest;
};

struct model_shadow {
	uint32_t *direct; /* block numbers to index of blocks; NULL: the maps are used */
	struct rd_umap map;
	struct rd_umap chunks; /* those that ranges covered as a whole, to index of blocks */
};

struct model_private {
	struct rd_umap by_number; /* thread number to index */
	uint32_t *by_stream;
	struct model_grid grid;
	uint32_t *fixed; /* globals by address */
	size_t fixed_count;
	uint32_t *module_objects; /* modules by address */
	size_t module_object_count;
	struct rd_umap pages;	 /* page number to object */
	struct rd_umap stack_of; /* (parent, site) to node */
	struct rd_pmap sync_of;	 /* (object, class), offset to sync */
	struct model_block *blocks;
	uint32_t (*owners)[64];
	struct model_shadow *shadows;
	size_t block_count, block_capacity, owner_count, owner_capacity, shadow_count, shadow_capacity;
	struct model_store { /* an atomic write */
		uint64_t place, q;
	} * stores; /* by place and q (spin.c) */
	size_t store_count, store_capacity;
	uint64_t *reached;  /* by stream: number of the last operation before reached_q that ends a segment */
	uint64_t reached_q; /* the end of the part that was loaded last */
	struct model_marks *marks; /* by stream (mark.c); NULL: none yet */
	size_t mark_bytes;
	size_t object_capacity, module_capacity, stack_capacity, sync_capacity, thread_capacity;
};

/* Interns a call stack.  A path remembers the last one of a stream. */
struct model_path {
	uint32_t *sites, *nodes;
	size_t depth, capacity;
	uint64_t version;
};
uint32_t model_stack_intern(struct model *m, struct model_path *path, const struct trace_decoder *d);
void model_path_release(struct model_path *path);

uint32_t model_add_object(struct model *m, const struct model_object *object);
void model_index_objects(struct model *m); /* after the last dynamic or fixed object */
uint32_t model_find_or_page(struct model *m, struct model_cache *cache, uint64_t address, uint64_t q);

uint32_t model_sync_intern(struct model *m, struct model_cache *cache, enum raddle_class class,
			   const uint64_t place[2]); /* address and q */

/* The object that a FREE event releases, or MODEL_NONE. */
uint32_t model_freed(const struct model *m, struct model_cache *cache, const struct trace_event *e);

void model_name_threads(struct model *m);
int model_scan_sharing(struct model *m, bool handled);

/* What the event does to the memory of a lock and so on; not of a named semaphore, which others may have
 * open. */
enum raddle_handling model_handling(const struct model *m, const struct trace_event *e,
				    const struct trace_decoder *d);

/* What a thread that may be spinning does; zeroed at its start. */
struct model_spin {
	uint32_t site;
	uint64_t address, until; /* where it looks, and the q of the next write there */
	uint64_t looks;		 /* so far */
};

/* Atomic writes are noted and sorted before. */
void model_note_store(struct model *m, const struct trace_event *e);
void model_sort_stores(struct model *m);

/* Takes each event of a stream; true: the look before it says as much, unless it is the first one, and can be
 * left out. */
bool model_spins(const struct model *m, struct model_spin *s, const struct trace_event *e);

/* A place in a stream from which a scan for a part behind it can go on (mark.c). */
struct model_mark {
	struct trace_place place;
	uint64_t q, operations, ended; /* as in the scan; */
	uint32_t counted;
	struct model_operation *prefix; /* what is left of the operations before it */
	size_t prefix_count;
	uint64_t ends_q; /* of the first operation behind it that ends a segment; UINT64_MAX: not seen yet */
	uint64_t counts; /* number of the first one behind it that counts in schedules, likewise */
};
struct model_marks {
	struct model_mark *items;
	size_t count, capacity;
};

/* The last mark of a stream that a part which begins at q can be scanned from; or that accesses can be
 * located from which stand behind operation number `skipped`.  NULL: there is none. */
const struct model_mark *model_mark_before(const struct model *m, size_t stream, uint64_t q);
const struct model_mark *model_mark_at(const struct model *m, size_t stream, uint64_t skipped);

/* A chunk begins behind all marks of the stream: makes one, unless that would be too much. */
bool model_mark_wanted(struct model *m, size_t stream, struct trace_place place);
void model_mark_add(struct model *m, size_t stream, const struct model_mark *mark);

/* Operation number `number` of the stream was seen. */
void model_mark_pass(struct model *m, size_t stream, uint64_t number, const struct trace_event *e);
void model_marks_free(struct model *m);

/* Forgets the histories. */
void model_unload(struct model *m);

/* An operation before the part comes: leaves out what is over with it (prefix.c).  The last one stays, since
 * accesses may stand behind it. */
void model_prefix_settle(struct model_history *h);

#endif
