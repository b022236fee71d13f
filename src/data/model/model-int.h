/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of model/ share. */
#ifndef MODEL_MODEL_INT_H
#define MODEL_MODEL_INT_H

#include "base/map.h"
#include "model/model.h"

/*
 * An index of the addresses of all heap objects and stacks that ever existed.  For each size class
 * (the powers of four), there is a grid of cells.  An object is entered in the level at which it
 * covers at most five cells.  A cell lists its objects in the order of their birth.
 */
#define MODEL_GRID_LEVELS 22
struct model_grid {
	struct rd_umap cells; /* maps (level, cell number) to an index in starts */
	uint32_t *starts;     /* the entries of cell i are starts[i] to starts[i + 1] - 1 */
	uint32_t *entries;    /* indices of objects */
	uint32_t levels;      /* a mask of the levels that are used */
};

/* A block of 64 bytes of an object, with the state of the bytes that several threads touched. */
struct model_block {
	uint64_t touched, written, multi;
	uint32_t owner; /* the thread that touched the block first */
	/* The index of its owner table, or 0 if `owner` was the first to touch every byte. */
	uint32_t owners;
	/* A mask of the bytes whose state cannot be changed by further accesses of `latest`. */
	uint64_t marked;
	uint32_t latest;
};

struct model_shadow {
	uint32_t *direct; /* maps a block number to an index in blocks; NULL if the maps are used */
	struct rd_umap map;
	/* Maps the number of a chunk that a range covered completely to an index in blocks. */
	struct rd_umap chunks;
};

struct model_private {
	struct rd_umap by_number; /* maps the number of a thread to its index */
	uint32_t *by_stream;
	struct model_grid grid;
	uint32_t *fixed; /* the globals, sorted by address */
	size_t fixed_count;
	uint32_t *module_objects; /* the modules, sorted by address */
	size_t module_object_count;
	struct rd_umap pages;	 /* maps the number of a page to its object */
	struct rd_umap stack_of; /* maps (parent, site) to a node */
	struct rd_pmap sync_of;	 /* maps (object, class) and offset to a synchronisation object */
	struct model_block *blocks;
	uint32_t (*owners)[64];
	struct model_shadow *shadows;
	size_t block_count, block_capacity, owner_count, owner_capacity, shadow_count, shadow_capacity;
	struct model_store { /* an atomic write */
		uint64_t place, q;
	} * stores; /* sorted by place and q (spin.c) */
	size_t store_count, store_capacity;
	/* For each stream, the number of the last operation before reached_q that ends a
	 * segment. */
	uint64_t *reached;
	uint64_t reached_q;	   /* the end of the part that was loaded last */
	struct model_marks *marks; /* indexed by stream (mark.c); NULL if there are no marks yet */
	size_t mark_bytes;
	size_t object_capacity, module_capacity, stack_capacity, sync_capacity, thread_capacity;
};

/* Turns call stacks into numbers.  A path keeps the last call stack of a stream. */
struct model_path {
	uint32_t *sites, *nodes;
	size_t depth, capacity;
	uint64_t version;
};
uint32_t model_stack_intern(struct model *m, struct model_path *path, const struct trace_decoder *d);
void model_path_release(struct model_path *path);

uint32_t model_add_object(struct model *m, const struct model_object *object);
void model_index_objects(struct model *m); /* call this after all objects were added */
uint32_t model_find_or_page(struct model *m, struct model_cache *cache, uint64_t address, uint64_t q);

uint32_t model_sync_intern(struct model *m, struct model_cache *cache, enum raddle_class class,
			   const uint64_t place[2]); /* `place` contains the address and q */

/* Returns the object that a FREE event releases, or MODEL_NONE if there is none. */
uint32_t model_freed(const struct model *m, struct model_cache *cache, const struct trace_event *e);

void model_name_threads(struct model *m);
int model_scan_sharing(struct model *m, bool handled);

/* Returns the effect of the event on the memory of a lock or other object.  Named semaphores are
 * excluded, because other processes may have them open. */
enum raddle_handling model_handling(const struct model *m, const struct trace_event *e,
				    const struct trace_decoder *d);

/* The state of a thread that may be spinning.  It is zeroed at the start of the thread. */
struct model_spin {
	uint32_t site;
	uint64_t address, until; /* the address that it reads, and the q of the next write there */
	uint64_t reads;		 /* number of consecutive reads so far */
};

/* Records an atomic write.  All of them must be recorded and sorted before the first
 * model_spins(). */
void model_note_store(struct model *m, const struct trace_event *e);
void model_sort_stores(struct model *m);

/* Call this for each event of a stream.  Returns true if the event is at least the third
 * consecutive read of a thread that spins.  Such a read can replace the read before it. */
bool model_spins(const struct model *m, struct model_spin *s, const struct trace_event *e);

/* A position in a stream at which a scan for a later part can start (mark.c). */
struct model_mark {
	struct trace_place place;
	uint64_t q, operations, ended; /* as in struct history_scan */
	uint32_t counted;
	struct model_operation *prefix; /* the remaining operations before the mark */
	size_t prefix_count;
	/* The q of the first operation after the mark that ends a segment, or UINT64_MAX if not
	 * known yet. */
	uint64_t ends_q;
	/* The number of the first operation after the mark that counts in schedules, or UINT64_MAX
	 * if not known yet. */
	uint64_t counts;
};
struct model_marks {
	struct model_mark *items;
	size_t count, capacity;
};

/* Returns the last mark (a saved position in a stream) from which a part that begins at q can be
 * scanned.  Returns NULL if there is no such mark. */
const struct model_mark *model_mark_before(const struct model *m, size_t stream, uint64_t q);
/* Returns the last mark (a saved position in a stream) from which accesses after operation number
 * `skipped` can be located.  Returns NULL if there is no such mark. */
const struct model_mark *model_mark_at(const struct model *m, size_t stream, uint64_t skipped);

/* Returns true if the place comes after all marks of the stream. */
bool model_mark_wanted(struct model *m, size_t stream, struct trace_place place);
/* Adds a mark, unless it would take too much memory. */
void model_mark_add(struct model *m, size_t stream, const struct model_mark *mark);

/* Call this for operation number `number` of the stream. */
void model_mark_pass(struct model *m, size_t stream, uint64_t number, const struct trace_event *e);
void model_marks_free(struct model *m);

void model_unload(struct model *m);

/* Call this before adding another operation that precedes the part.  It examines the operation
 * that was added last.  If that operation has no lasting effect, it is removed.  Operations that
 * it makes obsolete are also removed (prefix.c). */
void model_prefix_trim(struct model_history *h);

#endif
