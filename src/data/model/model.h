/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Represents a trace as threads, objects and synchronisation objects, with names that are the same
 * in every run.  A model is built once, and is read-only afterwards.
 *
 * Threads are named as in TraceSanitizer.  T_0 is the initial thread.  The n-th thread that a
 * thread creates, counted from 0, has the creator's name followed by _n.  A heap object is named by
 * the allocating thread, the place, and its number among that thread's allocations there: `heap
 * T_0_1 (queue.c:14)#3` (base/name.h).  Globals have their source names; stacks are named by
 * thread.
 *
 * An address refers to different objects at different times.  So lookups also need the time.  It is
 * given as q, the position in the global order (trace_stream.last_q of the event).
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include "base/buf.h"
#include "trace/reader.h"

#define MODEL_NONE UINT32_MAX
#define MODEL_FOREVER UINT64_MAX

struct model_thread {
	uint32_t number; /* number of the thread in the trace */
	uint32_t stream; /* index of its stream in the trace; MODEL_NONE if it has no stream */
	uint32_t parent; /* index of model.threads; MODEL_NONE if unknown or for the initial thread */
	uint32_t index;	 /* number of the thread among those that its parent created */
	uint32_t tid;
	uint32_t children;	 /* number of threads that this thread created */
	uint32_t create_stack;	 /* where it was created: an index of model_stack */
	char *name;		 /* canonical name, such as T_0_1 */
	char *label;		 /* the name that the program gave it, or NULL */
	uint64_t start_q, end_q; /* 0 if not in the trace */
	uint64_t start_t, end_t;
	uint64_t stack, stack_size;
	uint64_t frames; /* highest address of the frames on its stack */
	uint64_t accesses, ranges, atomics,
		operations; /* numbers of events; `operations` are the other events with q */
};

enum model_object_kind {
	MODEL_HEAP,   /* memory from malloc, new or mmap; `thread` and `ordinal` identify it */
	MODEL_STACK,  /* the stack of `thread` */
	MODEL_GLOBAL, /* `info` is an index of trace_sites.placed */
	MODEL_MODULE, /* memory of a module without a known name; `info` is an index of modules */
	MODEL_PAGE,   /* memory of unknown origin, one object for each page */
};

/* What the accesses to an object show.  These flags are set by model_build(). */
enum model_object_flag {
	MODEL_TOUCHED = 1,
	MODEL_WRITTEN = 2,
	MODEL_MULTI = 4,  /* touched by two threads or more */
	MODEL_SHARED = 8, /* at least two threads touched the same byte, and one of them wrote it */
};

/* The largest size of an object in bytes.  Memory beyond it is of unknown origin. */
#define MODEL_OBJECT_MAX (1ull << 43)

struct model_object {
	uint64_t base, size;
	uint64_t begin, end; /* the object is alive for begin <= q < end */
	uint32_t thread;     /* index of model.threads, or MODEL_NONE */
	uint32_t ordinal;
	uint32_t stack; /* where it was allocated: an index of model_stack; 0 if unknown */
	uint32_t info;
	uint32_t owner;	 /* the thread that touched the object first */
	uint32_t freer;	 /* the thread that released it, or MODEL_NONE; set from MODEL_PARTS on */
	uint32_t shadow; /* index of the object in the byte table; 0 if it is not there */
	uint8_t kind;	 /* enum model_object_kind */
	uint8_t alloc;	 /* enum raddle_alloc_kind */
	uint8_t flags;	 /* enum model_object_flag */
};

struct model_module {
	char *path;
	uint64_t base, size, bias;
};

/* A call stack, as a node of a tree whose node 0 is the empty stack. */
struct model_stack {
	uint32_t parent;
	uint32_t site;
};

/* A lock, condition variable or other synchronisation object, which is a place in an object. */
struct model_sync {
	uint32_t object;    /* MODEL_NONE if only the address is known */
	uint8_t class;	    /* enum raddle_class */
	bool multi;	    /* used by two threads or more */
	uint32_t owner;	    /* the thread that used the object first */
	uint64_t offset;    /* offset within the object, or the address if there is no object */
	uint64_t uses;	    /* number of acquisitions, waits, signals, posts and arrivals */
	uint64_t contended; /* number of times that a thread had to wait for it */
	uint64_t wait_ns, hold_ns, hold_max_ns;
};

/* A segment, which consists of an operation that has a q, and the accesses up to the next
 * operation. */
struct model_operation {
	uint64_t q, t;
	size_t access; /* index of the segment's first access in model_history.accesses */
	/* The index in model.syncs of the event's first object, or MODEL_NONE if the event has no
	 * object.  For an atomic load, this is the once control at its address, such as a C++
	 * guard. */
	uint32_t sync;
	/* The mutex of a condition wait, or the created or joined thread; else MODEL_NONE. */
	uint32_t second;
	uint32_t stack;
	uint32_t value;	  /* the event's last operand; for a fence, its site */
	uint32_t counted; /* number of the thread's operations, up to this one, that schedules count */
	uint8_t kind;	  /* enum raddle_event */
};

/* An access to shared bytes.  Some calls are also represented as accesses, with the site of the
 * call.  The release of an object with shared bytes is a write of the whole object.  The use of a
 * lock is a read of its bytes, which comes before the operation.  The initialisation or
 * destruction of a lock is a write. */
struct model_access {
	uint32_t object, site, stack;
	uint32_t size : 31, write : 1; /* a longer range is split into several accesses */
	uint64_t offset;
};

/* What one thread did. */
struct model_history {
	struct model_operation *operations;
	struct model_access *accesses;
	size_t operation_count, access_count;
	/* The accesses before the thread's event number `skipped` are left out; 0 if none are.
	 * Only events with q (a position in the order of the run) are counted. */
	uint64_t skipped;
	uint32_t end_site;    /* site of the last record if it is an access; else 0 */
	uint32_t end_stack;   /* call stack of the last record */
	uint64_t end_address; /* address that the last record accesses */
};

/* A part of a run: the events with from <= q < to. */
struct model_part {
	uint64_t from, to;
};
#define MODEL_WHOLE ((struct model_part){0, UINT64_MAX})

struct model {
	struct trace *trace;
	const struct trace_sites *sites; /* may be NULL */
	struct model_thread *threads;	 /* sorted by number */
	struct model_object *objects;
	struct model_module *modules;
	struct model_stack *stacks;
	struct model_sync *syncs;
	struct model_history *histories; /* by thread; with MODEL_HISTORIES, or after model_load() */
	size_t thread_count, object_count, module_count, stack_count, sync_count;
	uint64_t events;		   /* number of events of all streams that could be read */
	uint64_t kinds[RADDLE_ACCESS + 1]; /* number of events by kind */
	uint64_t first_t, last_t;	   /* the smallest and largest time */
	uint64_t last_q;		   /* the largest q */
	struct model_part part;		   /* the part that the histories cover */
	/* True for imported traces, in which every access was recorded and happened directly after
	 * its operation. */
	bool ordered;
	int err; /* the first error of a stream; the model contains what could be read */
	struct model_private *private;
};

/* How much of the model to build.  Each depth includes those before it. */
enum model_depth {
	MODEL_NAMES,   /* threads, modules, objects */
	MODEL_SHARING, /* synchronisation objects, the flags of objects, the shared bytes */
	/* Everything that model_load() needs.  Releasing an object counts as a write, and using a
	 * lock as a read. */
	MODEL_PARTS,
	MODEL_HISTORIES, /* histories of the whole run */
};

/* Builds a model.  A damaged stream is not a failure, but model->err is set to its error. */
int model_build(struct model **model, struct trace *trace, enum model_depth depth);
void model_free(struct model *model); /* `model` may be NULL */

/* Replaces the histories by those of one part of the run.  They contain the operations and
 * accesses of the part, and its initial state.  An operation before the part is included only if
 * its effect lasts, for example if it acquires a lock that is still held (prefix.c).  An access
 * before the part is included only if it follows the last operation of its thread before the part,
 * because it may overlap the part in time. */
int model_load(struct model *m, struct model_part part);

/* Cuts the run into parts of about the same size.  Each part has at most about `most` operations
 * and accesses to shared bytes, unless one segment has more.  If the parts are large, the first
 * and the last one are made smaller.  Returns one part if everything fits.  The caller must free
 * the array.  The model must have been built with MODEL_PARTS. */
size_t model_cut(struct model *m, uint64_t most, struct model_part **parts);

/* The position of an access in the stream of its thread, as schedules express it
 * (doc/format/schedule.md).  The access is the `occurrence`-th record (from 1) of its site after
 * the thread's `after`-th counted operation. */
struct model_spot {
	uint64_t after, occurrence;
};

/* Finds the spots of accesses by one scan of the stream.  `accesses` contains indices of accesses
 * in the thread's history, in ascending order. */
int model_locate(const struct model *m, uint32_t thread, const size_t *accesses, size_t count,
		 struct model_spot *spots);

/* Returns the index of the thread with that number, or MODEL_NONE if there is none. */
uint32_t model_thread(const struct model *m, uint32_t number);

/* Returns the index of the thread with that stream of the trace. */
uint32_t model_thread_of_stream(const struct model *m, size_t stream);

/* Returns the object at an address at time q, or MODEL_NONE.  If no object is alive there at q,
 * returns the object that is allocated there next, because another thread may have passed its
 * address on without synchronisation.  If no object is allocated there later, returns the last
 * object that was alive there. */
uint32_t model_find(const struct model *m, uint64_t address, uint64_t q);

/* Caches results of model_find() and of site lookups.  A zeroed cache is empty. */
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

/* Does the same as trace_sites_find(). */
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

/* Returns true if at least one of these bytes was touched by several threads and was written. */
bool model_is_shared(const struct model *m, uint32_t object, uint64_t offset, uint64_t size);
/* Returns the number of bytes of an object that several threads touched and that were written. */
uint64_t model_shared_bytes(const struct model *m, uint32_t object);

/* Returns the synchronisation object at an address at time q, or MODEL_NONE. */
uint32_t model_sync(const struct model *m, enum raddle_class class, uint64_t address, uint64_t q);

/* Returns true if the object represents file descriptors.  An imported trace has no such object. */
static inline bool model_is_descriptors(const struct model *m, uint32_t object)
{
	return !m->ordered && m->objects[object].kind == MODEL_PAGE &&
	       raddle_is_descriptor(m->objects[object].base);
}

/* Returns true if the object represents channels.  Like file descriptors, they are not memory. */
static inline bool model_is_channels(const struct model *m, uint32_t object)
{
	return !m->ordered && m->objects[object].kind == MODEL_PAGE &&
	       raddle_is_channel(m->objects[object].base);
}

/* A stack variable or thread-local variable that is known because it was accessed by name. */
struct model_variable {
	const struct trace_site *site; /* site of the access by name */
	uint32_t thread;	       /* the thread that owns the variable */
	uint64_t offset;	       /* distance from the beginning of the access by name */
	bool is_thread_local;
};

/* Finds the variable at an offset of the object at time q.  Needs MODEL_HISTORIES.  Returns false
 * if no access by name shows that there is a variable. */
bool model_find_variable(const struct model *m, uint32_t object, uint64_t offset, uint64_t q,
			 struct model_variable *out);
/* Appends a name such as `main.jobs[].done`, or `cache` for a thread-local variable. */
void model_name_variable(const struct model *m, const struct model_variable *v, struct rd_buf *out);

/* Appends a name for the bytes at an offset of a heap object or stack, such as `struct conn.refs`
 * or `*counter (malloc at f.c:12)`.  The name is derived from the given accesses, all of which
 * cover the offset.  Returns false if the object is neither of these, or if the accesses show no
 * name. */
bool model_name_pointed(const struct model *m, uint32_t object, uint64_t offset,
			const struct model_access *const *accesses, size_t count, struct rd_buf *out);
void model_name_object(const struct model *m, uint32_t object, struct rd_buf *out);
/* Appends the name of a place: `hits`, `table[3].lock`, `heap T_0 (main.c:33)#4+16`. */
void model_name_place(const struct model *m, uint32_t object, uint64_t offset, struct rd_buf *out);
/* Appends the thread and the site that made an object, and the object's number there: `T_0
 * (main.c:33)#4`. */
void model_name_maker(const struct trace_sites *sites, const char *thread, uint32_t site, uint64_t number,
		      struct rd_buf *out);
/* Appends the path to an offset in a variable of that type and size, such as "[3].lock". */
void model_name_member(const struct trace_sites *sites, const char *type, uint64_t size, uint64_t offset,
		       struct rd_buf *out);
void model_name_address(const struct model *m, uint64_t address, uint64_t q, struct rd_buf *out);
void model_name_sync(const struct model *m, uint32_t sync, struct rd_buf *out);

#endif
