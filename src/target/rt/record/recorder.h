/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's recorder: its encoder, its buffer, and the records that signal handlers left for it.
 *
 * Every call of the recorder takes the encoder, prepares it (makes room in the buffer and writes
 * the current call stack), encodes and publishes the record, and releases the encoder.  A call that
 * finds the encoder taken runs in a signal handler that interrupted another call.  Its record is
 * stored in t->pending, together with the handler's frames, and is appended when the encoder is
 * released.  Such a call changes neither the encoder nor the marks.
 *
 * What hooks do on each call is inline here; the rest is in rt/record/recorder.c.
 */
#ifndef RT_RECORD_RECORDER_H
#define RT_RECORD_RECORDER_H

#include "rt/core/layer.h"

#define RT_COLD __attribute__((noinline, cold))
#define RT_COLD_KEEPS __attribute__((noinline, cold, preserve_most))
#define RT_BARRIER() atomic_signal_fence(memory_order_seq_cst)

/* Makes room for `need` bytes and writes the current call stack if the decoder does not know
 * it. */
RT_COLD_KEEPS bool rt_recorder_prepare(struct rt_thread *t, size_t need);

/* Returns true in the child of a fork by a bare system call, which is not interposed.  In that
 * case also stops using the parent's buffer. */
RT_COLD bool rt_recorder_is_orphan(struct rt_thread *t);

/* Appends a record for which there is room. */
void rt_recorder_encode(struct rt_thread *t, const struct rt_record *r);

/* Append the records that handlers left.  drain() appends all of them, and drain_before() only
 * those with a lower number than `q`. */
RT_COLD_KEEPS void rt_recorder_drain(struct rt_thread *t);
RT_COLD void rt_recorder_drain_before(struct rt_thread *t, uint64_t q);

/* Called by code that found the encoder taken.  Returns true if this code may take the encoder,
 * because a longjmp left the code that had taken it. */
RT_COLD bool rt_recorder_recover(struct rt_thread *t);

/* Stores the record of a handler that interrupted the encoder. */
RT_COLD void rt_recorder_defer(struct rt_thread *t, const struct rt_record *r);

static inline void rt_recorder_publish(struct rt_thread *t)
{
	struct raddle_buffer *b = t->buffer;

	atomic_store_explicit(&b->used, (uint32_t)(t->cursor - b->data), memory_order_release);
}

static inline bool rt_recorder_ready(struct rt_thread *t)
{
	return RT_LIKELY(t->cursor <= t->limit && rt_guard.alive &&
			 !rt_stack_changed(&t->encoder, t->self.stack_top)) ||
	       rt_recorder_prepare(t, 0);
}

/* Like rt_recorder_ready(), for callers that have already checked rt_guard. */
static inline bool rt_recorder_ready_alive(struct rt_thread *t)
{
	return RT_LIKELY(t->cursor <= t->limit && !rt_stack_changed(&t->encoder, t->self.stack_top)) ||
	       rt_recorder_prepare(t, 0);
}

static inline void rt_recorder_take(struct rt_thread *t)
{
#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %0" : "=m"(t->busy)); /* so that the hooks need no frame pointer */
#else
	t->busy = (uintptr_t)__builtin_frame_address(0);
#endif
	t->busy_top = t->self.stack_top;
	RT_BARRIER();
}

static inline bool rt_recorder_has_pending(const struct rt_thread *t)
{
	return RT_UNLIKELY(atomic_load_explicit(&t->pending_count, memory_order_relaxed));
}

static inline void rt_recorder_leave(struct rt_thread *t)
{
	RT_BARRIER();
	if (rt_recorder_has_pending(t))
		rt_recorder_drain(t);
	t->busy = 0;
	RT_BARRIER();
	if (rt_recorder_has_pending(t))
		rt_recorder_drain(t);
}

#endif
