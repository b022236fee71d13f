/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer full: records with values, in pieces (raddle/full.h).  It writes records
 * (rt/core/buffer/writer.h).  Other layers of its flavour may use this header to write records of
 * their own.
 */
#ifndef RT_FULL_H
#define RT_FULL_H

#include "raddle/full.h"
#include "rt/core/layer.h"

#define RT_WAITING 16 /* buffers with an interrupted piece; with more, all are handed over as they are */

/* What it knows of a thread. */
struct rt_full {
	/* The head of a buffer that never has room: what self.full is while there is no other. */
	struct rt_no_buffer {
		uint32_t head[6];
		uint32_t used, open; /* as in struct raddle_buffer */
	} none;
	/* Full buffers with a piece that a handler interrupted, and the frame of the handler. */
	struct rt_waiting {
		struct raddle_buffer *buffer;
		uintptr_t frame;
	} waiting[RT_WAITING];
	uint32_t waiting_count;
};

static inline struct rt_full *rt_full(const struct rt_thread *t)
{
	return t->layer[RT_LAYER_FULL];
}

/* rt/full/full-buffer.c: room that does not fit any more, from a new buffer.  Never NULL: where nothing is
 * recorded it is memory that is not read. */
void *rt_full_far_room(struct rt_thread *t, struct raddle_buffer *full, uint32_t size);
void rt_full_stop(struct rt_thread *t);	     /* nothing more is recorded of this thread */
void rt_full_hand_over(struct rt_thread *t); /* at its end: all buffers but the last */

bool rt_full_setup(void);
void rt_full_reset(struct rt_thread *t);

static inline void *rt_full_room(struct rt_thread *t, uint32_t size)
{
	struct raddle_buffer *b = t->self.full;
	uint32_t used = (uint32_t)raddle_full_reserve(b, size);

	if (RT_LIKELY(used <= sizeof b->data - size))
		return b->data + used;
	return rt_full_far_room(t, b, size);
}

/* Bytes one after another; the first one of the record is left for the end. */
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
