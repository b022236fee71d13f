/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as threads, objects and synchronisation objects with names that are the same in every
 * run. Built once, read-only afterwards.
 *
 * Threads are named as in TraceSanitizer: T_0 is the initial thread, and the n-th thread that a
 * thread creates has the creator's name followed by _n, counted from 0.  A heap object is named by
 * the allocating thread, the place, and its number among that thread's allocations there: `heap
 * T_0_1 (queue.c:14)#3` (base/name.h).  Globals have their source names; stacks are named by
 * thread.
 *
 * An address means different objects at different times.  So lookups also take the time: q, the
 * position in the global order (trace_stream.last_q of the event).
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "base/buf.h"
#include "trace/reader.h"

#define MODEL_NONE UINT32_MAX
#define MODEL_FOREVER UINT64_MAX

struct model_thread {
	uint32_t number; /* in the trace */
	uint32_t stream; /* index of the trace's threads; MODEL_NONE: it left no stream */
	uint32_t parent; /* index of model.threads; MODEL_NONE: unknown, or the initial thread */
	uint32_t index;	 /* which of the parent's creations */
	uint32_t tid;
	uint32_t children;	 /* created by it */
	uint32_t create_stack;	 /* where it was created: a model_stack */
	char *name;		 /* T_0_1 */
	char *label;		 /* the name the program gave it, or NULL */
	uint64_t start_q, end_q; /* 0: not in the trace */
	uint64_t start_t, end_t;
	uint64_t stack, stack_size;
	uint64_t frames; /* where the frames of its stack begin, the highest address */
	uint64_t accesses, ranges, atomics, operations; /* events; operations: the others with q */
};

enum model_object_kind {
	MODEL_HEAP,   /* malloc, new, mmap: `thread` and `ordinal` identify it */
	MODEL_STACK,  /* of `thread` */
	MODEL_GLOBAL, /* `info` is an index of trace_sites.placed */
	MODEL_MODULE, /* a module's memory without a known name; `info` is an index of modules */
	MODEL_PAGE,   /* memory of unknown origin, one object for each page */
};

/* What the accesses of an object show; see model_build(). */
enum model_object_flag {
	MODEL_TOUCHED = 1,
	MODEL_WRITTEN = 2,
	MODEL_MULTI = 4,  /* by two threads or more */
	MODEL_SHARED = 8, /* some byte by two threads or more, and written */
};

/* The largest size of an object; memory beyond it is of unknown origin. */
#define MODEL_OBJECT_MAX (1ull << 43)

struct model_object {
	uint64_t base, size;
	uint64_t begin, end; /* lives for begin <= q < end */
	uint32_t thread;     /* index of model.threads, or MODEL_NONE */
	uint32_t ordinal;
	uint32_t stack; /* where it was allocated: a model_stack, 0 unknown */
	uint32_t info;
	uint32_t owner;	 /* the thread that touched it first */
	uint32_t freer;	 /* the thread that released it, or MODEL_NONE; from MODEL_PARTS on */
	uint32_t shadow; /* its index in the byte table; 0: not in it */
	uint8_t kind;	 /* enum model_object_kind */
	uint8_t alloc;	 /* enum raddle_alloc_kind */
	uint8_t flags;	 /* enum model_object_flag */
};

struct model_module {
	char *path;
	uint64_t base, size, bias;
};

/* A call stack: a node of a tree whose node 0 is the empty stack. */
struct model_stack {
	uint32_t parent;
	uint32_t site;
};

/* A lock, condition variable or other synchronisation object: a place in an object. */
struct model_sync {
	uint32_t object;    /* MODEL_NONE: only the address is known */
	uint8_t class;	    /* enum raddle_class */
	bool multi;	    /* used by two threads or more */
	uint32_t owner;	    /* the thread that used it first */
	uint64_t offset;    /* within the object, or the address */
	uint64_t uses;	    /* acquisitions, waits, signals, posts, arrivals */
	uint64_t contended; /* how often a thread found it taken */
	uint64_t wait_ns, hold_ns, hold_max_ns;
};

/* An operation that carries q, and the accesses up to the next one: a segment. */
struct model_operation {
	uint64_t q, t;
	size_t access;	 /* the segment's first one in model_history.accesses */
	uint32_t sync;	 /* index of model.syncs, the first one of the event; or MODEL_NONE.  Of an
			  * atomic load: the once object at its address, such as a C++ guard */
	uint32_t second; /* the mutex of a condition wait, the thread created or joined; or MODEL_NONE */
	uint32_t stack;
	uint32_t value;	  /* the event's last operand; of a fence its site */
	uint32_t counted; /* how many operations of the thread up to it count in schedules */
	uint8_t kind;	  /* enum raddle_event */
};

/* An access to shared bytes.  The release of an object with shared bytes is a write of the whole
 * object.  The use of a lock is a read of its bytes before the operation; its initialisation or
 * destruction is a write.  In these three cases the site is that of the call. */
struct model_access {
	uint32_t object, site, stack;
	uint32_t size : 31, write : 1; /* a longer range is several accesses */
	uint64_t offset;
};

/* What one thread did, by index of model.threads. */
struct model_history {
	struct model_operation *operations;
	struct model_access *accesses;
	size_t operation_count, access_count;
	uint64_t skipped;  /* events with q before the segment of the first access; 0: nothing was left out */
	uint32_t end_site; /* of the last record, if it is an access; 0 otherwise */
	uint32_t end_stack;   /* the call stack there */
	uint64_t end_address; /* what it accesses */
};

/* A part of a run: from <= q < to. */
struct model_part {
	uint64_t from, to;
};
#define MODEL_WHOLE ((struct model_part){0, UINT64_MAX})

struct model {
	struct trace *trace;
	const struct trace_sites *sites; /* may be NULL */
	struct model_thread *threads;	 /* in order of number */
	struct model_object *objects;
	struct model_module *modules;
	struct model_stack *stacks;
	struct model_sync *syncs;
	struct model_history *histories; /* with MODEL_HISTORIES, or after model_load() */
	size_t thread_count, object_count, module_count, stack_count, sync_count;
	uint64_t events;		   /* of all streams, as far as they could be read */
	uint64_t kinds[RADDLE_ACCESS + 1]; /* events by kind */
	uint64_t first_t, last_t;	   /* the smallest and largest time */
	uint64_t last_q;		   /* the largest q */
	struct model_part part;		   /* the part that the histories cover */
	bool ordered; /* every access is recorded and happened directly after its operation (imported traces)
		       */
	int err;      /* the first error of a stream; what could be read is in the model */
	struct model_private *private;
};

/* How much to build. */
enum model_depth {
	MODEL_NAMES,	 /* threads, modules, objects */
	MODEL_SHARING,	 /* and syncs, the flags of objects and the shared bytes */
	MODEL_PARTS,	 /* and everything that model_load() needs; releasing an object counts as a write of
			  * it, using a lock as a read */
	MODEL_HISTORIES, /* and histories of the whole */
};

/* A damaged stream is not a failure: model->err has the code. */
int model_build(struct model **model, struct trace *trace, enum model_depth depth);
void model_free(struct model *model); /* NULL is fine */

/* Replaces the histories by those of a part: its operations and accesses, and the state that it
 * starts from.  An operation before the part is included only if its effect lasts: held locks,
 * created threads, values of semaphores (prefix.c).  Accesses before the part are included only if
 * they follow their thread's last operation before the part, because they may overlap the part in
 * time. */
int model_load(struct model *m, struct model_part part);

/* Cuts the run into parts of about the same size, each with at most about `most` operations and
 * accesses to shared bytes, as far as single segments allow.  If the parts are large, the first and
 * the last one are made smaller.  Returns one part if everything fits.  The caller frees the array.
 * Needs MODEL_PARTS. */
size_t model_cut(struct model *m, uint64_t most, struct model_part **parts);

/* The position of an access in its thread's stream, in the terms of schedules
 * (doc/format/schedule.md): it is the `occurrence`-th record (from 1) of its site after the
 * thread's `after`-th counted operation. */
struct model_spot {
	uint64_t after, occurrence;
};

/* The spots of accesses (indices of the thread's history, ascending), by one scan of its stream. */
int model_locate(const struct model *m, uint32_t thread, const size_t *accesses, size_t count,
		 struct model_spot *spots);

/* The index of the thread with that number, or MODEL_NONE. */
uint32_t model_thread(const struct model *m, uint32_t number);

/* The same, from the index of the trace's streams. */
uint32_t model_thread_of_stream(const struct model *m, size_t stream);

/* The object at an address at time q, or MODEL_NONE.  If no object is alive there at q, returns the
 * next one allocated there (its publication was not synchronised), or else the last one. */
uint32_t model_find(const struct model *m, uint64_t address, uint64_t q);

/* Caches results of model_find() and of site lookups; zeroed is empty. */
struct model_cache {
	struct {
		uint64_t line;
		uint32_t object;
	} entries[4096];
	struct {
		uint32_t number;
		const struct trace_site *site;
	} sites[1024];
};
uint32_t model_find_cached(const struct model *m, struct model_cache *cache, uint64_t address, uint64_t q);

/* As trace_sites_find(). */
static inline const struct trace_site *model_find_site(const struct model *m, struct model_cache *cache,
						       uint32_t number)
{
	unsigned i = number % (sizeof cache->sites / sizeof *cache->sites);

	if (cache->sites[i].number != number) {
		cache->sites[i].number = number;
		cache->sites[i].site = trace_sites_find(m->sites, number);
	}
	return cache->sites[i].site;
}

/* Whether any of these bytes was touched by several threads and written.  The second function
 * returns how many bytes of an object were. */
bool model_is_shared(const struct model *m, uint32_t object, uint64_t offset, uint64_t size);
uint64_t model_shared_bytes(const struct model *m, uint32_t object);

/* The sync of an address at q, or MODEL_NONE. */
uint32_t model_sync(const struct model *m, enum raddle_class class, uint64_t address, uint64_t q);

/* Whether the object represents file descriptors; an imported trace may have anything there. */
static inline bool model_is_descriptors(const struct model *m, uint32_t object)
{
	return !m->ordered && m->objects[object].kind == MODEL_PAGE &&
	       raddle_is_descriptor(m->objects[object].base);
}

/* The same for channels, which are not memory either. */
static inline bool model_is_channels(const struct model *m, uint32_t object)
{
	return !m->ordered && m->objects[object].kind == MODEL_PAGE &&
	       raddle_is_channel(m->objects[object].base);
}

/* A variable on a stack or a thread-local one, known from an access by name. */
struct model_variable {
	const struct trace_site *site; /* of that access */
	uint32_t thread;	       /* that owns the variable */
	uint64_t offset;	       /* after the beginning of that access */
	bool is_thread_local;
};

/* The variable at the offset at q, with MODEL_HISTORIES; false: no access by name shows one. */
bool model_find_variable(const struct model *m, uint32_t object, uint64_t offset, uint64_t q,
			 struct model_variable *out);
/* `main.jobs[].done`, or `cache` for a thread-local variable. */
void model_name_variable(const struct model *m, const struct model_variable *v, struct rd_buf *out);

/* Names, appended to `out`. */
/* `struct conn.refs`, `*counter (malloc at f.c:12)`: a name for the bytes at an offset of a heap
 * object or a stack, derived from accesses that all cover the offset.  False: the object is of
 * another kind, or the accesses show no name. */
bool model_name_pointed(const struct model *m, uint32_t object, uint64_t offset,
			const struct model_access *const *accesses, size_t count, struct rd_buf *out);
void model_name_object(const struct model *m, uint32_t object, struct rd_buf *out);
/* `hits`, `table[3].lock`, `heap T_0 (main.c:33)#4+16`. */
void model_name_place(const struct model *m, uint32_t object, uint64_t offset, struct rd_buf *out);
/* `T_0 (main.c:33)#4`: the thread that made an object, the site, and the object's number among
 * those made there. */
void model_name_maker(const struct trace_sites *sites, const char *thread, uint32_t site, uint64_t number,
		      struct rd_buf *out);
/* "[3].lock": what lies at the offset in a variable of that type and size. */
void model_name_member(const struct trace_sites *sites, const char *type, uint64_t size, uint64_t offset,
		       struct rd_buf *out);
void model_name_address(const struct model *m, uint64_t address, uint64_t q, struct rd_buf *out);
void model_name_sync(const struct model *m, uint32_t sync, struct rd_buf *out);

#endif
