/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a layer that writes records (rt/record/ or rt/full/) offers the others.  A flavour has one
 * of them, and its functions are called directly: a record needs no look-up in a table.
 */
#ifndef RT_WRITER_H
#define RT_WRITER_H

#include "rt/core/thread/thread.h"

#define RT_TAKEN 0x100u /* with a code: the caller has taken the encoder, rt_encoder_take() */
void rt_emit(struct rt_thread *t, const struct rt_record *record);
void rt_event(struct rt_thread *t, uint32_t code, uint32_t count, const uint64_t *operands);

/* The same for the frequent rows, straight on: `q t a` (last is RT_NONE) and `q t a u`; `q a u` (size
 * is RT_NONE) and `q a u u`. */
#define RT_NONE UINT64_MAX
void rt_sync(struct rt_thread *t, uint32_t code, uintptr_t object, uint64_t last);
void rt_heap(struct rt_thread *t, uint32_t code, uintptr_t address, uint64_t size, uint64_t kind);

/* An atomic operation that just happened, as its record has it; false: it needs more care, nothing was done.
 */
bool rt_atomic(struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t flags);

/* What is notified to the outside or heard from there, of class OUTSIDE; full traces, which replays do not
 * read, have none. */
void rt_outside_event(struct rt_thread *t, uint32_t code);
uint32_t rt_encoder_take(struct rt_thread *t); /* keeps handlers out until the event; returns RT_TAKEN or 0 */

void rt_encoder_leave(struct rt_thread *t); /* after rt_encoder_take() where there is no event after all */

/* A releasing operation `q t a result`: the record is written before it, the
 * result is put in after it.  In between the encoder is taken. */
struct rt_release {
	uint8_t *byte;	   /* the result in the buffer, or */
	uint64_t *operand; /* the result of a record that waits */
};
struct rt_release rt_release_begin(struct rt_thread *t, uint32_t code, uintptr_t object);
void rt_release_end(struct rt_thread *t, const struct rt_release *release, uint64_t result);
void rt_forget(struct rt_thread *t, uintptr_t address, size_t size); /* clears marks */
void rt_see_again(struct rt_thread *t);				     /* clears all: a new segment */

/* New memory, of which the program knows the first `known` bytes; returns p. */
void *rt_fresh(void *p, size_t known);

/* The thread that t has just created has this pthread_t. */
void rt_created(struct rt_thread *t, uint64_t handle);

/* The process is about to end: perhaps waits for threads that still run. */
void rt_linger(void);

/* As first and second operand: taken when the encoder is, so that no handler can
 * come between and the stream is in the order of q. */
#define RT_Q UINT64_MAX
#define RT_T (UINT64_MAX - 1)

#define RT_EVENT(t, code, ...)                                                                               \
	rt_event(t, code, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

/* A record that carries a text. */
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
