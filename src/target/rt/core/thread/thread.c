// SPDX-License-Identifier: Apache-2.0
/*
 * Creates, reuses and ends the states of threads, and maps each pthread_t to a thread number.
 *
 * The creating thread allocates the state, so that a lack of memory is noticed before the new
 * thread runs.  Threads that libc starts for itself, and those of a bare clone(), are adopted when
 * they first enter the runtime.
 *
 * A thread ends in the destructor of rt.key.  The destructor sets the key again until the last
 * round of destructors, so that the program's destructors are recorded.  After that round, the
 * thread uses the placeholder instead of a state and is not adopted again (`rt_local.ended`).
 *
 * When a state has ended, its memory goes to the idle list, except that the pages of its table of
 * blocks are returned to the system.
 */
#include "rt/common/bug.h"
#include "rt/core/layer.h"
#include "rt/core/tables.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_MAX (1ull << 30) /* bytes; an unlimited stack is treated as this size */
#define SHADOW_MIN (64 * 1024) /* the minimum size of a shadow stack, in bytes */
#define FRAME_BYTES 16	       /* the minimum size of a machine stack frame, in bytes */
#define END_ROUNDS PTHREAD_DESTRUCTOR_ITERATIONS

/* The tables have no initialisers, so they take no room in the executable.  No instrumented code
 * runs before rt_placeholder_setup(). */
struct rt_tables rt_tables;
struct raddle_self rt_placeholder;

void rt_placeholder_setup(void)
{
	rt_placeholder.stack_top = rt_tables.placeholder_stack;
}

__attribute__((visibility("default"))) __thread struct raddle_self *__raddle_self = &rt_placeholder;
__thread struct rt_local rt_local __attribute__((tls_model("initial-exec")));

static void link_live(struct rt_thread *t)
{
	t->next = rt.live;
	if (t->next)
		t->next->link = &t->next;
	t->link = &rt.live;
	rt.live = t;
}

static void unlink_live(struct rt_thread *t)
{
	RT_ASSERT(*t->link == t);
	*t->link = t->next;
	if (t->next)
		t->next->link = t->link;
}

/* Maps the shadow stack.  Its last page is a guard page. */
static bool make_shadow(struct rt_thread *t, uintptr_t stack_size)
{
	size_t size = stack_size / FRAME_BYTES * sizeof *t->shadow;

	size = (size + rt.page - 1) / rt.page * rt.page + rt.page;
	if (size < SHADOW_MIN)
		size = SHADOW_MIN;
	if (t->shadow && t->shadow_size >= size)
		return true;
	if (t->shadow)
		rt_unmap(t->shadow, t->shadow_size);
	for (t->shadow = NULL; size >= SHADOW_MIN; size = size / 2 / rt.page * rt.page) {
		t->shadow = rt_map(size);
		if (t->shadow)
			break;
	}
	t->shadow_size = size;
	if (!t->shadow)
		return false;
	RT_ASSERT(size >= SHADOW_MIN && size % rt.page == 0);
	syscall(SYS_mprotect, (char *)t->shadow + size - rt.page, rt.page, PROT_NONE);
	return true;
}

/* Returns the size of a thread's mapping.  The states of layers follow the core's state in it. */
static size_t state_size(void)
{
	size_t size = sizeof(struct rt_thread);

	for (const struct rt_layer *const *layer = rt.present; *layer; layer++)
		size += ((*layer)->thread_size + 63) & -(size_t)64;
	return size;
}

static void reset_layers(struct rt_thread *t, bool fresh)
{
	char *next = (char *)(t + 1);

	t->each = 0;
	t->gather = NULL;
	t->notified = NULL;
	__builtin_memset(t->layer, 0, sizeof t->layer);
	for (const struct rt_layer *const *layer = rt.present; *layer; layer++) {
		size_t size = (*layer)->thread_size;

		if (size)
			t->layer[(*layer)->number] = fresh ? next : __builtin_memset(next, 0, size);
		next += (size + 63) & -(size_t)64;
	}
	RT_ASSERT(next == (char *)t + state_size());
	RT_NOTIFY_ALL(reset, t);
}

/* `fresh` is true if the memory is newly mapped and therefore zero.  It is not cleared then,
 * because most of its pages may never be used. */
static void reset_state(struct rt_thread *t, bool fresh)
{
	struct rt_encoder *e = &t->encoder;

	t->shadow[0] = RT_STACK_EMITTED;
	e->stack_base = t->shadow + 1;
	t->self.stack_top = e->stack_base;
	t->self.epoch = 1ull << RADDLE_EPOCH_SHIFT;
	t->cursor = (uint8_t *)1;
	t->limit = NULL;
	t->buffer = NULL;
	t->buffers = t->busy = t->pending_count = t->pending_done = t->pending_lost = 0;
	t->steps = t->lazy = 0;
	t->fenced = t->every = false;
	t->children = t->end_rounds = t->new_kind = t->internal = t->forking = t->fork_prepared = 0;
	t->atomic_lock = NULL;
	t->once = NULL;
	t->handle = t->prepared = 0; /* until the thread begins */
	t->result = PTHREAD_CANCELED;
	t->recording = !rt.session ? RT_OFF : rt.listening[0] ? RT_LISTENED : RT_PLAIN;
	reset_layers(t, fresh);
}

static struct rt_thread *take_idle(void)
{
	uint64_t signals;
	struct rt_thread *t;

	rt_lock(&signals);
	t = rt.idle;
	if (t)
		rt.idle = t->next;
	rt_unlock(&signals);
	return t;
}

struct rt_thread *rt_thread_new(uintptr_t stack_size)
{
	struct rt_thread *t = take_idle();
	bool fresh = !t;
	int saved = errno;

	if (fresh)
		t = rt_map(state_size());
	if (t && !make_shadow(t, stack_size < STACK_MAX ? stack_size : STACK_MAX)) {
		rt_unmap(t, state_size());
		t = NULL;
	}
	if (t)
		reset_state(t, fresh);
	else
		rt_stop(RADDLE_STOP_MEMORY);
	errno = saved;
	return t;
}

/* Whole pages of the table are returned to the system.  Blocks that share a page with other data
 * are cleared one by one. */
void rt_clear_blocks(struct rt_thread *t)
{
	struct raddle_block *b = t->self.blocks, *end = b + RADDLE_BLOCKS;
	uintptr_t first = ((uintptr_t)b + rt.page - 1) & -rt.page, last = (uintptr_t)end & -rt.page;
	int saved = errno;

	if (syscall(SYS_madvise, first, last - first, MADV_DONTNEED))
		first = last = (uintptr_t)end;
	for (; (uintptr_t)b < first && b < end; b++)
		b->tag = 0;
	b = t->self.blocks + (last - (uintptr_t)t->self.blocks) / sizeof *b;
	for (; b < end; b++)
		b->tag = 0;
	errno = saved;
}

void rt_thread_idle(struct rt_thread *t)
{
	uint64_t signals;
	int saved = errno;

	rt_clear_blocks(t);
	rt_lock(&signals);
	t->next = rt.idle;
	rt.idle = t;
	rt_unlock(&signals);
	errno = saved;
}

void rt_thread_begin(struct rt_thread *t)
{
	uint64_t signals;

	RT_ASSERT(t->shadow && !t->buffer && t->cursor > t->limit);
	t->handle = (uint64_t)pthread_self();
	if (t->number == 0 || t->parent == UINT32_MAX)
		t->tid = (uint32_t)syscall(SYS_gettid);
	rt_lock(&signals);
	link_live(t);
	rt_unlock(&signals);
	__raddle_self = &t->self;
	pthread_setspecific(rt.key, t);
	if (!t->recording)
		return;
	RT_NOTIFY_ALL(begins, t);
	RT_OP(op, RADDLE_THREAD_START, 0);
	RT_EVENT(t, RADDLE_THREAD_START, RT_Q, RT_T, t->parent, t->index, t->stack_low,
		 t->stack_high - t->stack_low, t->tid);
	rt_op_end(&op);
	RT_NOTIFY_ALL(started, t);
}

/* The bounds of the stack are guessed from the current frame, because libc would have to allocate
 * memory to determine them. */
struct rt_thread *rt_thread_adopt(void)
{
	struct rt_thread *t = NULL;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uintptr_t size = 8u << 20;

	if (!atomic_load_explicit(&rt.ready, memory_order_acquire) || rt_local.ended || rt_local.adopting)
		return NULL;
	rt_local.adopting = true;
	t = rt_thread_new(size);
	if (t) {
		t->stack_high = (frame + 65536) & -(uintptr_t)rt.page;
		t->stack_low = t->stack_high - size;
		t->parent = UINT32_MAX;
		/* the first adopted thread is T_1, beside T_0 */
		t->index = 1 + atomic_fetch_add(&rt.adopted, 1);
		atomic_fetch_add(&rt.others, 1);
		t->number = rt.session ? atomic_fetch_add(&rt.session->processes[rt.process].threads, 1) : 0;
		rt_handle_add((uint64_t)pthread_self(), t->number);
		rt_thread_begin(t);
	} else {
		rt_local.ended = true;
	}
	rt_local.adopting = false;
	return t;
}

/* Signals stay blocked until the thread has ended; libc would block them itself a moment later. */
static void end_thread(struct rt_thread *t)
{
	uint64_t signals;

	rt_defer_signals(&signals);
	if (t->recording) {
		RT_OP(op, RADDLE_THREAD_END, 0);
		RT_NOTIFY_ALL(ends, t);
		RT_EVENT(t, RADDLE_THREAD_END, RT_Q, RT_T);
		rt_buffer_seal(t);
		rt_op_end(&op);
		RT_NOTIFY_ALL(ended, t);
	}
	t->recording = false;
	rt_local.ended = true;
	__raddle_self = &rt_placeholder;
	rt_lock(&signals);
	unlink_live(t);
	rt_unlock(&signals);
	rt_thread_idle(t);
}

void rt_thread_end_key(void *value)
{
	struct rt_thread *t = value;
	int saved = errno;

	RT_ASSERT(t->end_rounds < END_ROUNDS);
	t->self.stack_top = t->encoder.stack_base;
	if (++t->end_rounds < END_ROUNDS)
		pthread_setspecific(rt.key, t);
	else
		end_thread(t);
	errno = saved;
}

/* Called in the child of a fork, where only the calling thread exists. */
void rt_thread_after_fork(struct rt_thread *t)
{
	uint32_t *top = t->self.stack_top;
	struct rt_thread *other = rt.live;

	t->tid = (uint32_t)syscall(SYS_gettid);
	while (other) {
		struct rt_thread *next = other->next;
		if (other != t) {
			rt_clear_blocks(other);
			other->next = rt.idle;
			rt.idle = other;
		}
		other = next;
	}
	rt.live = NULL;
	rt.handle_count = 0;
	link_live(t);
	rt_clear_blocks(t);
	reset_state(t, false);
	t->self.stack_top = top;
	t->number = 0;
}

/* Handles. */

static struct rt_handle *find_handle(uint64_t handle)
{
	for (size_t i = 0; i < rt.handle_count; i++)
		if (rt.handles[i].handle == handle)
			return &rt.handles[i];
	return NULL;
}

static bool grow_handles(void)
{
	size_t capacity = rt.handle_capacity ? 2 * rt.handle_capacity : 256;
	struct rt_handle *bigger;

	if (rt.handle_count < rt.handle_capacity)
		return true;
	bigger = rt_map(capacity * sizeof *bigger);
	if (!bigger)
		return false;
	if (rt.handles) {
		__builtin_memcpy(bigger, rt.handles, rt.handle_count * sizeof *bigger);
		rt_unmap(rt.handles, rt.handle_capacity * sizeof *bigger);
	}
	rt.handles = bigger;
	rt.handle_capacity = capacity;
	return true;
}

/* A thread adds its own handle, or its creator does if the thread has not begun yet.  Either way,
 * the pthread_t now belongs to that thread.  Any earlier thread with the same pthread_t has ended,
 * even if the thread that joined it has not reported that yet.  (Numbers do not show which thread
 * is younger, because they are assigned before the thread exists.) */
void rt_handle_add(uint64_t handle, uint32_t number)
{
	uint64_t signals;
	struct rt_handle *h;

	RT_ASSERT(rt.handle_count <= rt.handle_capacity);
	rt_lock(&signals);
	h = find_handle(handle);
	if (h)
		h->number = number;
	else if (grow_handles())
		rt.handles[rt.handle_count++] = (struct rt_handle){handle, number};
	rt_unlock(&signals);
}

uint32_t rt_handle_find(uint64_t handle)
{
	uint64_t signals;
	const struct rt_handle *h;
	uint32_t number;

	rt_lock(&signals);
	h = find_handle(handle);
	number = h ? h->number : UINT32_MAX;
	rt_unlock(&signals);
	return number;
}

void rt_handle_remove(uint64_t handle, uint32_t number)
{
	uint64_t signals;
	struct rt_handle *h;

	rt_lock(&signals);
	h = find_handle(handle);
	if (h && h->number == number)
		*h = rt.handles[--rt.handle_count];
	rt_unlock(&signals);
}
