// SPDX-License-Identifier: Apache-2.0
/*
 * Buffers of the flavour `full`.  Reserves space for pieces and records, and hands buffers over.
 *
 * When a buffer is full, the thread takes a new one, with all signals blocked.  It hands the old
 * buffer over to the collector, unless a piece in the buffer is open.  In that case a signal
 * handler has interrupted the code that writes the piece, and this code will continue later.  Such
 * a buffer, and the ones after it, are kept until the piece is closed.  If the piece is still open
 * after the handler has returned or was left by longjmp, they are handed over as well.
 *
 * Invariants:
 * 1. no thread writes into a buffer that was handed over;
 * 2. the buffers of a thread are handed over in the order in which they were taken;
 * 3. a new buffer is all zero except for its RESET.
 */
#include "rt/full/full.h"

#include "rt/common/bug.h"

#include <errno.h>
#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_ROOM 0x40000000u /* the value of `used` in struct rt_no_buffer */

/* Memory for pieces that are not recorded, and for pieces of threads without a state. */
static struct {
	uint8_t room[2 * RADDLE_BUFFER_SIZE];
	struct raddle_buffer *buffer; /* an aligned address in `room` */
	struct rt_no_buffer head;
} unread;

/* Weak, because mallopt() must not bring libc's malloc() into a static program that defines
 * malloc() itself. */
extern __typeof__(mallopt) mallopt __attribute__((weak));

/* By default, once the program has freed a large block, glibc allocates blocks of up to that size
 * in the heap, even blocks of 32 MiB.  rt_fresh() would then touch all pages of such a block. */
static void make_large_blocks_mappings(void)
{
	if (mallopt)
		mallopt(M_MMAP_THRESHOLD, RT_FULL_FRESH_MAX);
}

bool rt_full_setup(void)
{
	make_large_blocks_mappings();
	unread.buffer = raddle_full_buffer(unread.room + RADDLE_BUFFER_SIZE - 1);
	unread.head.used = NO_ROOM;
	rt_placeholder.full = (struct raddle_buffer *)(void *)&unread.head;
	return true;
}

/* Does not wait.  To find out whether threads still run, it would have to open files.  Then the
 * program's own files would get different descriptors. */
void rt_linger(void)
{
}

void rt_full_reset(struct rt_thread *t)
{
	rt_full(t)->none = (struct rt_no_buffer){.used = NO_ROOM};
	t->self.full = (struct raddle_buffer *)(void *)&rt_full(t)->none;
	t->self.target = 0;
}

/* Gives back room that was reserved beyond the end of the buffer. */
static void give_back(struct raddle_buffer *b, uint32_t size)
{
	uint64_t n = 1ull << 32 | size;

	if (atomic_load_explicit(&b->used, memory_order_relaxed) >= NO_ROOM / 2)
		atomic_store_explicit(&b->used, NO_ROOM, memory_order_relaxed);
	else
		__asm__ volatile("subq %0, (%1)" : : "r"(n), "r"(&b->used) : "memory", "cc");
}

/* --- handing over ---------------------------------------------------------------- */

static bool on_stack(const struct rt_thread *t, uintptr_t frame)
{
	return frame >= t->stack_low && frame < t->stack_high;
}

/* Returns true if the handler that ran at this frame has returned or was left by longjmp. */
static bool is_gone(const struct rt_thread *t, uintptr_t then)
{
	uintptr_t now = (uintptr_t)__builtin_frame_address(0);

	if (on_stack(t, then) != on_stack(t, now))
		return on_stack(t, now); /* the handler's alternate stack has been left */
	return now > then;
}

static void hand_over(struct rt_thread *t, bool all)
{
	struct rt_full *f = rt_full(t);
	uint32_t n = 0;

	RT_ASSERT(f->waiting_count <= RT_WAITING);
	for (; n < f->waiting_count; n++) {
		struct rt_waiting *w = &f->waiting[n];
		if (!all && (int32_t)w->buffer->open > 0 && !is_gone(t, w->frame))
			break;
		t->buffer = w->buffer;
		t->events = 0;
		rt_buffer_seal(t);
	}
	f->waiting_count -= n;
	for (uint32_t i = 0; i < f->waiting_count; i++)
		f->waiting[i] = f->waiting[i + n];
}

static void set_aside(struct rt_thread *t)
{
	struct rt_full *f = rt_full(t);

	if (!t->buffer)
		return;
	if (f->waiting_count == RT_WAITING)
		hand_over(t, true);
	RT_ASSERT(f->waiting_count < RT_WAITING);
	f->waiting[f->waiting_count++] =
		(struct rt_waiting){t->buffer, (uintptr_t)__builtin_frame_address(0)};
	t->buffer = NULL;
}

void rt_full_hand_over(struct rt_thread *t)
{
	struct raddle_buffer *last = t->buffer;

	hand_over(t, true);
	t->buffer = last;
}

void rt_full_stop(struct rt_thread *t)
{
	set_aside(t);
	hand_over(t, true);
	t->recording = false;
	t->self.full = unread.buffer;
	t->self.target = 0;
}

/* --- taking ------------------------------------------------------------------------ */

static void fresh(struct rt_thread *t)
{
	struct raddle_buffer *b = t->buffer;

	RT_ASSERT((uintptr_t)b % RADDLE_BUFFER_SIZE == 0);
	b->open = 0;
	__builtin_memset(b->data + 1, 0, sizeof b->data - 1);
	t->self.full = b;
}

static void take(struct rt_thread *t)
{
	if (!rt_guard.alive) { /* the child of a fork by a bare system call */
		t->recording = false;
		t->buffer = NULL;
		rt_full(t)->waiting_count = 0;
	}
	if (!t->recording || !rt.session || rt_unread()) {
		unread.buffer->open = 0;
		atomic_store_explicit(&unread.buffer->used, 0, memory_order_relaxed);
		t->self.full = unread.buffer;
		return;
	}
	set_aside(t);
	hand_over(t, false);
	t->buffer = NULL;
	if (rt_buffer_switch(t))
		fresh(t);
	else
		rt_full_stop(t);
}

void *rt_full_far_room(struct rt_thread *t, struct raddle_buffer *full, uint32_t size)
{
	int saved = errno;
	uint64_t signals;

	for (;;) {
		uint32_t used;
		give_back(full, size);
		rt_block_signals(&signals);
		if (t->self.full == full) /* otherwise a handler has taken a new buffer */
			take(t);
		rt_restore_signals(&signals);
		full = t->self.full;
		used = (uint32_t)raddle_full_reserve(full, size);
		if (used <= sizeof full->data - size) {
			errno = saved;
			return full->data + used;
		}
	}
}

__attribute__((visibility("default"))) RADDLE_COLD void *
__raddle_piece_room(struct raddle_self *self, struct raddle_buffer *full, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;

	if (RT_LIKELY(self != &rt_placeholder))
		return rt_full_far_room(t, full, size);
	give_back(full, size);
	t = (struct rt_thread *)__raddle_self;
	if (&t->self == &rt_placeholder)
		t = rt_thread_adopt();
	if (t)
		return rt_full_room(t, size);
	unread.buffer->open = 0;
	atomic_store_explicit(&unread.buffer->used, 0, memory_order_relaxed);
	return unread.buffer->data;
}
