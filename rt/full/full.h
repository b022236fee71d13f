/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the flavour full share (include/raddle/full.h). */
#ifndef RT_FULL_H
#define RT_FULL_H

#include "raddle/full.h"
#include "rt/core/rt.h"

/* rt/full/full-buffer.c: room that does not fit any more, from a new buffer.  Never NULL: where nothing is
 * recorded it is memory that nobody reads. */
void *rt_full_far_room(struct rt_thread *t, struct raddle_buffer *full, uint32_t size);
void rt_full_stop(struct rt_thread *t);	     /* nothing more is recorded of this thread */
void rt_full_hand_over(struct rt_thread *t); /* at its end: all buffers but the last */

/* rt/inject/inject.c */
void rt_inject_start(struct rt_thread *t); /* at the start of a thread: which fault is due */
/* Code has come to the site that is the target: the value it goes on with.  Bits: the width of the
 * value, integers up to 64 bits, pointers, floats by their bits; 0: it is the function to call. */
uint64_t rt_inject(uint32_t site, uint64_t value, uint32_t bits);
void rt_inject_ready(void); /* rt/inject/inject-x86.c: before there is a target */

static inline void *rt_full_room(struct rt_thread *t, uint32_t size)
{
	struct raddle_buffer *b = t->self.full;
	uint32_t used = (uint32_t)raddle_full_reserve(b, size);

	if (RT_LIKELY(used <= sizeof b->data - size))
		return b->data + used;
	return rt_full_far_room(t, b, size);
}

/* Bytes one behind another; the first one of the record is left for the end. */
static inline uint8_t *rt_full_put(uint8_t *p, uint64_t value, uint32_t bytes)
{
	__builtin_memcpy(p, &value, bytes);
	return p + bytes;
}

static inline void rt_full_finish(uint8_t *record, uint8_t code)
{
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint8_t *)record = code;
	raddle_full_end(record);
}

#endif
