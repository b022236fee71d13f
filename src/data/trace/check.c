/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whole traces.  It reads all streams, merged into one order, and reports what it notices.
 * It keeps one entry for each lock address and a small state for each thread.  Locks are
 * identified by address.  An initialisation event resets the state of its lock, because another
 * lock may have been at that address.
 */
#include "trace/check.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of the owner map are 0 for a free lock, or else (thread index + 1) << OWNER_SHIFT plus
 * the recursion depth. */
#define OWNER_SHIFT 24

struct trace_checker {
	struct trace *trace;
	const struct trace_sites *sites;
	trace_check_note *note;
	void *context;
	struct trace_check_result *result;
	struct rd_umap owners; /* maps the address of an exclusive lock to its owner */
	/* Maps the address of a read-write lock to the number of its readers. */
	struct rd_umap readers;
	struct thread_state {
		uint64_t q;
		bool started, ended, any;
	} * threads;
	uint64_t last_q;
};

static void remark(struct trace_checker *c, const struct trace_lane *lane, const char *format, uint64_t value)
{
	char text[160];
	c->result->notes++;
	snprintf(text, sizeof text, format, (unsigned long long)value);
	c->note(c->context, lane, text);
}

static void check_site(struct trace_checker *c, const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	if (e->site == 0 || !c->sites || trace_sites_find(c->sites, e->site))
		return;
	if (c->result->unknown_sites++ == 0)
		remark(c, lane, "the site table has no site 0x%llx", e->site);
}

static void check_order(struct trace_checker *c, const struct trace_lane *lane)
{
	struct thread_state *t = &c->threads[lane->index];
	uint64_t q = lane->event.q;
	if (t->any && q <= t->q)
		remark(c, lane, "q does not increase within the thread: %llu", q);
	else if (q == c->last_q && q != 0)
		remark(c, lane, "two threads have q %llu", q);
	t->q = q;
	t->any = true;
	c->last_q = q;
}

static void check_life(struct trace_checker *c, const struct trace_lane *lane)
{
	struct thread_state *t = &c->threads[lane->index];
	enum raddle_event kind = lane->event.kind;
	if (t->ended)
		remark(c, lane, "an event after the thread's end%.0llu", 0);
	if (kind == RADDLE_THREAD_START && t->started)
		remark(c, lane, "the thread starts twice%.0llu", 0);
	t->started |= kind == RADDLE_THREAD_START;
	t->ended |= kind == RADDLE_THREAD_END;
}

static void acquire(struct trace_checker *c, const struct trace_lane *lane, uint64_t address)
{
	uint64_t *owner = rd_umap_put(&c->owners, address, NULL);
	uint64_t self = (uint64_t)(lane->index + 1) << OWNER_SHIFT;
	if (*owner != 0 && *owner >> OWNER_SHIFT != lane->index + 1)
		remark(c, lane, "the thread acquires a lock that another thread holds: 0x%llx", address);
	if (*owner >> OWNER_SHIFT != lane->index + 1)
		*owner = self;
	++*owner;
}

static void release(struct trace_checker *c, const struct trace_lane *lane, uint64_t address)
{
	uint64_t *owner = rd_umap_put(&c->owners, address, NULL);
	if (*owner == 0) {
		remark(c, lane, "the thread releases a lock that no thread holds: 0x%llx", address);
		return;
	}
	if (*owner >> OWNER_SHIFT != lane->index + 1)
		remark(c, lane, "the thread releases a lock that another thread holds: 0x%llx", address);
	if ((--*owner & ((1u << OWNER_SHIFT) - 1)) == 0)
		*owner = 0;
}

static void check_rwlock(struct trace_checker *c, const struct trace_lane *lane, int change)
{
	uint64_t *holders = rd_umap_put(&c->readers, lane->event.address, NULL);
	if (change > 0)
		++*holders;
	else if (*holders == 0)
		remark(c, lane, "the thread releases a lock that no thread holds: 0x%llx",
		       lane->event.address);
	else
		--*holders;
}

static void check_locks(struct trace_checker *c, const struct trace_lane *lane)
{
	const struct trace_event *e = &lane->event;
	int change = trace_lock_change(e);
	bool rwlock = raddle_class(e->kind) == RADDLE_CLASS_RWLOCK;
	if (change != 0 && rwlock)
		check_rwlock(c, lane, change);
	else if (change > 0) {
		if (trace_result(e) == EOWNERDEAD)
			*rd_umap_put(&c->owners, e->address, NULL) = 0;
		acquire(c, lane, e->address);
	} else if (change < 0)
		release(c, lane, e->address);
	else if (e->kind == RADDLE_COND_WAIT)
		release(c, lane, e->values[3]);
	else if (e->kind == RADDLE_COND_WAKE)
		acquire(c, lane, e->values[3]);
	else if (raddle_is_lock(e->kind) && raddle_role(e->kind) == RADDLE_ROLE_INIT)
		*rd_umap_put(rwlock ? &c->readers : &c->owners, e->address, NULL) = 0;
}

static void check_event(struct trace_checker *c, const struct trace_lane *lane)
{
	enum raddle_event kind = lane->event.kind;
	c->result->events++;
	check_site(c, lane);
	if (c->threads[lane->index].ended || raddle_class(kind) == RADDLE_CLASS_THREAD)
		check_life(c, lane);
	if (!raddle_has_q(kind))
		return;
	check_order(c, lane);
	check_locks(c, lane);
}

int trace_check(struct trace *trace, trace_check_note *note, void *context, struct trace_check_result *result)
{
	RD_ASSERT(note != NULL && result != NULL);
	struct trace_checker c = {
		.trace = trace, .sites = trace_get_sites(trace), .note = note, .context = context};
	struct trace_merge m;
	memset(result, 0, sizeof *result);
	c.result = result;
	c.threads = rd_xcalloc(trace_thread_count(trace) + 1, sizeof *c.threads);
	int err = trace_merge_open(&m, trace);
	if (!err) {
		for (struct trace_lane *lane = trace_merge_next(&m); lane; lane = trace_merge_next(&m))
			check_event(&c, lane);
		for (size_t i = 0; i < m.lane_count; i++) {
			result->truncated += m.lanes[i].stream.damage == TRACE_TRUNCATED;
			result->broken += m.lanes[i].stream.damage == TRACE_BROKEN;
		}
		result->err = m.err;
		trace_merge_close(&m);
	}
	free(c.threads);
	RD_UMAP_RELEASE(&c.owners, &c.readers);
	return err;
}

int trace_check_counts(const struct trace *trace, uint64_t events)
{
	const struct trace_meta *meta = trace_get_meta(trace);
	size_t threads = trace_thread_count(trace);

	if (!meta->complete)
		return RD_OK;
	if (threads != meta->threads)
		return rd_fail(RD_EFORMAT, "%s: the trace has %zu streams, but meta.json counts %llu",
			       trace_path(trace), threads, (unsigned long long)meta->threads);
	/* The two numbers may differ in some traces.  In an import, meta.json counts lines of the
	 * text, not events.  A crash, or a signal handler in a full trace, may cut off a
	 * record. */
	if (meta->key && meta->events && !trace_is_full(trace) && meta->end == TRACE_EXITED &&
	    events != meta->events)
		return rd_fail(RD_EFORMAT, "%s: the trace has %llu events, but meta.json counts %llu",
			       trace_path(trace), (unsigned long long)events,
			       (unsigned long long)meta->events);
	return RD_OK;
}
