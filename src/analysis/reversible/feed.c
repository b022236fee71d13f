// SPDX-License-Identifier: Apache-2.0
/*
 * Determines the effects of records on memory.  The records are processed in the order of the run.
 * An effect is an access to memory, or the beginning or end of the lifetime of a range of memory.
 *
 * Memory that is reused counts as new memory: malloc, mmap and the start of a thread clear what was
 * known about it.  A release is treated as a write, because it must not be reordered with a use.  A
 * new local variable that takes the place of an older one of the same thread is also treated as a
 * write, but it conflicts only with accesses of other threads.
 *
 * An operation reads its object; initialisation and destruction write it.  So a use of a lock must
 * not be reordered with its initialisation or destruction.
 */
#include "reversible/feed-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "reversible/source.h"

#include <stdlib.h>
#include <string.h>

/* At most this many bytes of an access are considered.  Otherwise, an access with a damaged size
 * would take forever to process.  Set by hand. */
#define TOUCH_MAX (64u << 20)

void rev_feed_init(struct rev_feed *f, const struct rev_run *run, const struct trace_sites *sites)
{
	*f = (struct rev_feed){
		.run = run, .sites = sites, .segment = rd_xcalloc(run->thread_count + 1, sizeof *f->segment)};
}

void rev_feed_release(struct rev_feed *f)
{
	free(f->segment);
	rd_umap_release(&f->sizes);
}

static struct rev_touch *add(struct rev_feed *f, struct rev_effects *e, enum rev_effect effect,
			     uint32_t thread)
{
	RD_ASSERT(e->count < REV_EFFECTS);
	struct rev_touch *t = &e->list[e->count].touch;

	e->list[e->count++].effect = effect;
	*t = (struct rev_touch){.u = thread, .r = f->segment[thread]};
	return t;
}

static void touch(struct rev_feed *f, struct rev_effects *e, uint32_t thread, const struct rev_touch *what)
{
	RD_ASSERT(thread < f->run->thread_count);
	struct rev_touch *t = add(f, e, REV_TOUCH, thread);

	t->address = what->address;
	t->size = what->size < TOUCH_MAX ? what->size : TOUCH_MAX;
	f->shortened |= what->size > TOUCH_MAX;
	t->access = what->access;
	t->ops = what->ops;
	f->accesses++;
}

/* ---- events ---- */

/* Sets the range of a touch.  In a damaged trace, the range may extend beyond the last possible
 * address.  It is cut off there. */
static void set_range(struct rev_touch *t, uint64_t address, uint64_t size)
{
	t->address = address;
	t->size = size < UINT64_MAX - address ? size : UINT64_MAX - address;
}

static void clear(struct rev_feed *f, struct rev_effects *e, uint32_t thread, uint64_t address, uint64_t size)
{
	set_range(add(f, e, REV_CLEAR, thread), address, size);
}

static void release(struct rev_feed *f, struct rev_effects *e, uint32_t thread, uint64_t address,
		    uint64_t size)
{
	struct rev_touch *t = add(f, e, REV_FREES, thread);

	set_range(t, address, size);
	t->access = REV_RELEASED;
	f->accesses++;
}

static void memory_event(struct rev_feed *f, struct rev_effects *e, uint32_t thread,
			 const struct trace_event *event)
{
	uint64_t *size;

	switch (event->kind) {
	case RADDLE_ALLOC:
		*rd_umap_put(&f->sizes, event->address, NULL) = event->values[2];
		clear(f, e, thread, event->address, event->values[2]);
		break;
	case RADDLE_FREE:
		size = rd_umap_get(&f->sizes, event->address);
		if (size && *size)
			release(f, e, thread, event->address, *size);
		if (size)
			*size = 0;
		break;
	case RADDLE_UNMAP: release(f, e, thread, event->address, event->values[2]); break;
	case RADDLE_TLS: clear(f, e, thread, event->address, event->values[1]); break;
	case RADDLE_THREAD_START: clear(f, e, thread, event->values[4], event->values[5]); break;
	default: break;
	}
}

/* Treats a channel as memory: the first sender decides what is received first, and the first
 * receiver gets it. */
static void channel_event(struct rev_feed *f, struct rev_effects *e, uint32_t thread,
			  const struct trace_event *event)
{
	uint32_t at = rev_run_find(f->run, event->address);
	bool sends = event->kind == RADDLE_CHANNEL_SEND;

	if (at != REV_NONE && f->run->objects[at].used)
		touch(f, e, thread,
		      &(struct rev_touch){.address = event->address + (sends ? 0 : RADDLE_CHANNEL_BYTES / 2),
					  .size = 1,
					  .access = REV_CALLED});
}

static void event_record(struct rev_feed *f, struct rev_effects *e, uint32_t thread,
			 const struct trace_event *event)
{
	bool counted = rev_is_operation(event->kind);
	struct rev_touch t = {.address = event->address, .size = 1, .access = REV_READ};

	if (counted && f->segment[thread] < f->run->threads[thread].count)
		f->segment[thread]++;
	memory_event(f, e, thread, event);
	if (raddle_class(event->kind) == RADDLE_CLASS_CHANNEL) {
		channel_event(f, e, thread, event);
		return;
	}
	if (!raddle_is_sync(event->kind))
		return;
	if (raddle_role(event->kind) == RADDLE_ROLE_INIT || raddle_role(event->kind) == RADDLE_ROLE_DESTROY) {
		t.access = REV_SYNC;
	} else if (counted) {
		/* Other threads read the guard of a C++ static without an operation, so the end of
		 * its initialisation is a write. */
		t.access = event->kind == RADDLE_ONCE_DONE ? REV_SYNC : REV_READ;
		t.ops = 2;
	} else {
		return;
	}
	touch(f, e, thread, &t);
}

/* --- other records --- */

static bool range_writes(const struct rev_feed *f, uint32_t site)
{
	const struct trace_site *s = trace_sites_find(f->sites, site);

	return s && (trace_site_writes(s) || s->kind == TRACE_SITE_COPY);
}

/* Handles the call of a library function with a hidden state.  For pthread_create(), also handles
 * the write of the new thread's pthread_t, which happens before the thread runs. */
static void call_record(struct rev_feed *f, struct rev_effects *e, uint32_t thread,
			const struct trace_record *r, const char *call)
{
	unsigned state = rev_hidden_state(call);

	if (r->value_count && !strcmp(call, "pthread_create"))
		touch(f, e, thread,
		      &(struct rev_touch){
			      .address = trace_record_value(r, 0), .size = 8, .access = REV_CALLED});
	if (state)
		touch(f, e, thread,
		      &(struct rev_touch){.address = REV_HIDDEN(state), .size = 8, .access = REV_CALLED});
}

void rev_feed_record(struct rev_feed *f, uint32_t thread, const struct trace_record *r, const char *call,
		     struct rev_effects *e)
{
	RD_ASSERT(thread < f->run->thread_count);
	struct rev_touch t = {.address = r->address, .size = r->size, .access = REV_READ};

	e->count = 0;
	switch (r->kind) {
	case TRACE_FULL_LOAD: touch(f, e, thread, &t); break;
	case TRACE_FULL_COPY:
		t.address = trace_record_value(r, 0);
		touch(f, e, thread, &t);
		t.address = r->address;
		/* fall through */
	case TRACE_FULL_STORE:
	case TRACE_FULL_FILL:
		t.access = REV_WRITE;
		touch(f, e, thread, &t);
		break;
	case TRACE_FULL_RANGE:
		t.access = range_writes(f, r->site) ? REV_WRITE : REV_READ;
		touch(f, e, thread, &t);
		break;
	case TRACE_FULL_ATOMIC:
		t.access = r->flags & TRACE_RECORD_STORED ? REV_ATOMIC_WRITE : REV_ATOMIC_READ;
		touch(f, e, thread, &t);
		break;
	case TRACE_FULL_ALLOCA:
		*add(f, e, REV_ENDS, thread) =
			(struct rev_touch){thread, f->segment[thread], r->address, r->size, REV_REUSED, 0};
		break;
	case TRACE_FULL_CALL:
	case TRACE_FULL_TAIL: call_record(f, e, thread, r, call); break;
	case TRACE_FULL_EVENT: event_record(f, e, thread, r->event); break;
	default: break;
	}
}
