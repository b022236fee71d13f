/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the layer that writes records (rt/record/ or rt/full/), which other layers
 * call.  A flavour has only one such layer, so they are called directly, without a table.
 */
#ifndef RT_WRITER_H
#define RT_WRITER_H

#include "rt/core/thread/thread.h"

#define RT_TAKEN 0x100u /* added to a code if the caller has taken the encoder */
void rt_emit(struct rt_thread *t, const struct rt_record *record);
void rt_event(struct rt_thread *t, uint32_t code, uint32_t count, const uint64_t *operands);

/* These functions write events with common operands, and are faster than rt_event().  rt_sync()
 * writes the operands `q t a u`, or `q t a` if `last` is RT_NONE.  rt_heap() writes `q a u u`, or
 * `q a u` if `size` is RT_NONE. */
#define RT_NONE UINT64_MAX
void rt_sync(struct rt_thread *t, uint32_t code, uintptr_t object, uint64_t last);
void rt_heap(struct rt_thread *t, uint32_t code, uintptr_t address, uint64_t size, uint64_t kind);

/* Writes the record of an atomic operation that has just happened.  Returns false, and writes
 * nothing, if the general path must be used instead. */
bool rt_atomic(struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t flags);

/* Writes an event of class OUTSIDE: something was sent outside the program, or received from
 * there.  Full traces contain no such events. */
void rt_outside_event(struct rt_thread *t, uint32_t code);

/* rt_encoder_take() keeps signal handlers from using the encoder until the thread's next event is
 * written.  It returns RT_TAKEN or 0, which the caller adds to the code of that event.  If no
 * event follows after all, the caller must call rt_encoder_leave(). */
uint32_t rt_encoder_take(struct rt_thread *t);

void rt_encoder_leave(struct rt_thread *t);

/* A release, whose record has the operands `q t a result`.  The record is written before the
 * release takes effect, and the result is added afterwards.  No other record is written in
 * between. */
struct rt_release {
	uint8_t *byte; /* where to store the result in the buffer; or NULL */
	/* Where to store the result if the record is not yet in the buffer; or NULL. */
	uint64_t *operand;
};
struct rt_release rt_release_begin(struct rt_thread *t, uint32_t code, uintptr_t object);
void rt_release_end(struct rt_thread *t, const struct rt_release *release, uint64_t result);
/* rt_forget() clears the marks of this memory.  After rt_see_again(), layers are notified again of
 * accesses to bytes that the thread has already accessed in this segment. */
void rt_forget(struct rt_thread *t, uintptr_t address, size_t size);
void rt_see_again(struct rt_thread *t);

/* Prepares new memory whose first `known` bytes already have a defined value; returns p. */
void *rt_fresh(void *p, size_t known);

/* Records the pthread_t of the thread that t has just created. */
void rt_created(struct rt_thread *t, uint64_t handle);

/* Called when the process is about to end.  May wait for threads that still run. */
void rt_linger(void);

/* Placeholders for the operands q and t.  The writer determines their values when no signal
 * handler can write a record in between, so that the stream stays sorted by q. */
#define RT_Q UINT64_MAX
#define RT_T (UINT64_MAX - 1)

#define RT_EVENT(t, code, ...)                                                                               \
	rt_event(t, code, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

/* Writes a record that carries a text. */
static inline void rt_text(struct rt_thread *t, uint32_t code, const char *text)
{
	struct rt_record r = {.code = code, .bytes = text};

	while (r.length < RT_BYTES_MAX && text[r.length])
		r.length++;
	if (code == RADDLE_EXEC) {
		r.operand[0] = RT_Q;
		r.operand[1] = RT_T;
	}
	rt_emit(t, &r);
}

#endif
