/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layer `full`, which writes records with values, in pieces (raddle/full.h).  It implements
 * rt/core/buffer/writer.h.  Other layers of its flavour may use this header to write records of
 * their own.
 */
#ifndef RT_FULL_H
#define RT_FULL_H

#include "raddle/full.h"
#include "rt/core/layer.h"

/* A full buffer is kept back while it contains a piece that a signal handler has interrupted.
 * This is the maximum number of such buffers of a thread.  If there are more, all are handed over
 * to the collector as they are. */
#define RT_WAITING 16

/* The layer's state of a thread. */
struct rt_full {
	/* The head of a buffer that never has room.  self.full points to it while there is no real
	 * buffer. */
	struct rt_no_buffer {
		uint32_t head[6];
		uint32_t used, open; /* as in struct raddle_buffer */
	} none;
	/* Full buffers that contain an interrupted piece, with the frame of the signal handler that
	 * interrupted it. */
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

/* rt/full/full-buffer.c: reserves room in a new buffer when the current one is full.  Never returns
 * NULL; if nothing is recorded, it returns memory that is never read. */
void *rt_full_far_room(struct rt_thread *t, struct raddle_buffer *full, uint32_t size);
void rt_full_stop(struct rt_thread *t); /* ends the recording of this thread */
/* Hands over all buffers but the last; called at the thread's end. */
void rt_full_hand_over(struct rt_thread *t);

bool rt_full_setup(void);
#define RT_FULL_FRESH_MAX (64u << 10) /* bytes, chosen by hand: larger blocks are mapped */
void rt_full_reset(struct rt_thread *t);

static inline void *rt_full_room(struct rt_thread *t, uint32_t size)
{
	struct raddle_buffer *b = t->self.full;
	uint32_t used = (uint32_t)raddle_full_reserve(b, size);

	if (RT_LIKELY(used <= sizeof b->data - size))
		return b->data + used;
	return rt_full_far_room(t, b, size);
}

/* Stores the lowest `bytes` bytes of the value and returns the position after them.  The first byte
 * of a record, its code, is stored last by rt_full_finish(). */
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
