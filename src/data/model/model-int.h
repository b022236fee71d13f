/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of model/ share. */
#ifndef MODEL_MODEL_INT_H
#define MODEL_MODEL_INT_H

#include "base/map.h"
#include "model/model.h"

/*
 * The positions of all heap objects and stacks that ever existed: a grid of cells for each size
 * class (the powers of four).  An object is entered in the level at which it covers at most five
 * cells.  A cell lists its objects in the order of their birth.
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
	uint32_t owner;	 /* the thread that touched it first */
	uint32_t owners; /* index of owner tables; 0: `owner` touched all bytes first */
	uint64_t marked; /* bytes whose state a further access of `latest` cannot change */
	uint32_t latest;
};

struct model_shadow {
	uint32_t *direct; /* block numbers to index of blocks; NULL: the maps are used */
	struct rd_umap map;
	struct rd_umap chunks; /* chunks that ranges covered as a whole, to index of blocks */
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
	struct model_marks *marks; /* by stream (mark.c); NULL: no marks yet */
	size_t mark_bytes;
	size_t object_capacity, module_capacity, stack_capacity, sync_capacity, thread_capacity;
};

/* Interns a call stack.  A path keeps the last stack of a stream. */
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

/* The effect of the event on the memory of a lock or other object.  Named semaphores are excluded,
 * because other processes may have them open. */
enum raddle_handling model_handling(const struct model *m, const struct trace_event *e,
				    const struct trace_decoder *d);

/* The state of a thread that may be spinning; zero at its start. */
struct model_spin {
	uint32_t site;
	uint64_t address, until; /* where it reads, and the q of the next write there */
	uint64_t reads;		 /* number of reads so far */
};

/* Atomic writes must be recorded and sorted before the first model_spins(). */
void model_note_store(struct model *m, const struct trace_event *e);
void model_sort_stores(struct model *m);

/* Call this for each event of a stream.  True: the event is at least the third read of a spin, so
 * it can replace the read before it. */
bool model_spins(const struct model *m, struct model_spin *s, const struct trace_event *e);

/* A position in a stream at which a scan for a later part can start (mark.c). */
struct model_mark {
	struct trace_place place;
	uint64_t q, operations, ended; /* as in the scan */
	uint32_t counted;
	struct model_operation *prefix; /* the remaining operations before it */
	size_t prefix_count;
	uint64_t ends_q; /* q of the first operation after it that ends a segment; UINT64_MAX: not seen yet */
	uint64_t counts; /* number of the first operation after it that counts in schedules; likewise */
};
struct model_marks {
	struct model_mark *items;
	size_t count, capacity;
};

/* The first returns the last mark of a stream from which a part that begins at q can be scanned.
 * The second returns the last mark from which accesses after operation number `skipped` can be
 * located.  NULL: there is no such mark. */
const struct model_mark *model_mark_before(const struct model *m, size_t stream, uint64_t q);
const struct model_mark *model_mark_at(const struct model *m, size_t stream, uint64_t skipped);

/* Whether the place comes after all marks of the stream. model_mark_add() ignores a mark that
 * would take too much memory. */
bool model_mark_wanted(struct model *m, size_t stream, struct trace_place place);
void model_mark_add(struct model *m, size_t stream, const struct model_mark *mark);

/* Call this for operation number `number` of the stream. */
void model_mark_pass(struct model *m, size_t stream, uint64_t number, const struct trace_event *e);
void model_marks_free(struct model *m);

/* Frees the histories. */
void model_unload(struct model *m);

/* Call this before adding an operation that lies before the part.  Processes the operation that
 * was added last: removes it if it has no lasting effect, and removes what it makes obsolete
 * (prefix.c). */
void model_prefix_trim(struct model_history *h);

#endif
