// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions that allocate and free memory.  ALLOC is written after the allocation, and
 * FREE before the release.  So the records that allocate and free an address are in the right order
 * of q.  An allocation removes the thread's marks for this memory in the current segment, because
 * the memory is a new object now.
 *
 * Allocations and releases inside pthread_create() and pthread_join() are not recorded, because
 * they depend on libc's cache of stacks, not on the program.
 *
 * The dynamic linker calls these functions before any constructor, and libc calls them after
 * everything else.  At those times rt_self() is NULL, and they only call the real function.
 */
#include "rt/core/layer.h"
#include "rt/core/real.h"

#define A(p) ((uintptr_t)(p))

void *__raddle_interpose_memory(void);
__attribute__((visibility("default"))) void *__raddle_interpose_memory(void)
{
	return (void *)__raddle_interpose_memory;
}

size_t rt_usable_size(void *p)
{
	return REAL(malloc_usable_size)(p);
}

static uint64_t kind_of(const struct rt_thread *t, enum raddle_alloc_kind kind)
{
	return t->new_kind ? t->new_kind - 1 : kind;
}

/* Layers are notified of the usable size, because free() will report that size too. */
static __attribute__((noinline, cold)) void *notified_allocated(void *p, size_t size,
								enum raddle_alloc_kind kind)
{
	struct rt_thread *t = p ? rt_self() : NULL;

	if (!p && size)
		rt_refused(ENOMEM);
	if (t)
		RT_NOTIFY(forget, t, A(p), rt_usable_size(p));
	if (t && !t->internal) {
		if (!rt_has_own_allocator())
			RT_NOTIFY(allocates, A(p), size);
		rt_forget(t, A(p), size);
		if (!rt_unread())
			rt_heap(t, RADDLE_ALLOC, A(p), size, kind_of(t, kind));
	}
	return p;
}

static void *allocated(void *p, size_t size, enum raddle_alloc_kind kind)
{
	struct rt_thread *t = p ? rt_plain() : NULL;

	if (RT_UNLIKELY(!t))
		return notified_allocated(p, size, kind);
	if (!t->internal) {
		rt_forget(t, A(p), size);
		rt_heap(t, RADDLE_ALLOC, A(p), size, kind_of(t, kind));
	}
	return p;
}

static void note_free(struct rt_thread *t, const void *p)
{
	rt_heap(t, RADDLE_FREE, A(p), RT_NONE, kind_of(t, RADDLE_ALLOC_MALLOC));
}

/* To layers, freeing memory is like writing to it.  A layer may make the thread wait here. */
static __attribute__((noinline, cold)) void notified_released(void *p)
{
	struct rt_thread *t = p ? rt_self() : NULL;

	if (!t || t->internal)
		return;
	if (!rt_unread())
		note_free(t, p);
	RT_NOTIFY(access, t, A(p), rt_usable_size(p), rt_call_site(t), RT_ACCESS_WRITE);
	RT_NOTIFY(freeing, t);
}

static void released(void *p)
{
	struct rt_thread *t = p ? rt_plain() : NULL;

	if (RT_UNLIKELY(!t))
		notified_released(p);
	else if (!t->internal)
		note_free(t, p);
}

/*
 * Operations inside an allocator other than libc's are not reported, because its locks would seem
 * to order the program's threads.  libc's allocator calls no interposed function.
 */
struct inside {
	struct rt_thread *t;
	uint8_t recording;
};

static inline struct inside go_inside(void)
{
	struct rt_thread *t = (struct rt_thread *)__raddle_self;
	struct inside in = {0};

	if (rt_has_own_allocator() && &t->self != &rt_placeholder) {
		in = (struct inside){t, t->recording};
		t->recording = 0;
	}
	return in;
}

static inline void come_out(const struct inside *in)
{
	if (RT_UNLIKELY(in->t))
		in->t->recording = in->recording;
}

#define INSIDE(call)                                                                                         \
	({                                                                                                   \
		struct inside in_ __attribute__((cleanup(come_out))) = go_inside();                          \
		call;                                                                                        \
	})

/* Frees the block, unless a layer keeps it. */
static void give_back(void *p)
{
	struct rt_thread *t = RT_UNLIKELY(rt.callbacks.frees != NULL) && p ? rt_self() : NULL;
	bool kept = false;

	if (t && t->recording == RT_LISTENED && !t->internal)
		RT_NOTIFY(frees, t, p, &kept);
	if (kept)
		return;
	RT_NOTIFY(leaves, A(p));
	INSIDE(REAL(free)(p));
}

INTERPOSE(void *, malloc, (size_t size))
{
	return allocated(rt_fresh(INSIDE(REAL(malloc)(size)), 0), size, RADDLE_ALLOC_MALLOC);
}

INTERPOSE(void *, calloc, (size_t count, size_t size))
{
	return allocated(INSIDE(REAL(calloc)(count, size)), count * size, RADDLE_ALLOC_MALLOC);
}

/* If realloc() fails, the old block remains valid.  Its release was already recorded, so it is
 * recorded as a new object of its usable size. */
static void *reallocated(void *old, void *p, size_t size)
{
	if (!p && old && size)
		allocated(old, rt_usable_size(old), RADDLE_ALLOC_MALLOC);
	return allocated(p, size, RADDLE_ALLOC_MALLOC);
}

/* Copies a block that the allocator does not know (rt_is_early()) to a newly allocated one. */
static __attribute__((noinline, cold)) void *adopted(const void *old, size_t size)
{
	size_t known = rt_early_size(old);
	void *p = INSIDE(REAL(malloc)(size));

	if (p)
		__builtin_memcpy(p, old, known < size ? known : size);
	return allocated(p, size, RADDLE_ALLOC_MALLOC);
}

/* A layer may keep the old block in quarantine, so the block cannot grow in place. */
static __attribute__((noinline, cold)) void *moved(void *old, size_t size, size_t before)
{
	void *p = INSIDE(REAL(malloc)(size));

	if (!p)
		return NULL;
	__builtin_memcpy(p, old, before < size ? before : size);
	give_back(old);
	return p;
}

static void *resize(void *old, size_t size)
{
	size_t before;

	if (RT_UNLIKELY(rt_is_early(old)))
		return adopted(old, size);
	before = old ? rt_usable_size(old) : 0;
	released(old);
	if (RT_UNLIKELY(rt.callbacks.frees != NULL) && old && size)
		return reallocated(old, rt_fresh(moved(old, size, before), before), size);
	RT_NOTIFY(leaves, A(old));
	return reallocated(old, rt_fresh(INSIDE(REAL(realloc)(old, size)), before), size);
}

INTERPOSE(void *, realloc, (void *old, size_t size))
{
	return resize(old, size);
}

INTERPOSE(void *, reallocarray, (void *old, size_t count, size_t size))
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(old, total);
}

INTERPOSE(void, free, (void *p))
{
	if (RT_UNLIKELY(rt_is_early(p)))
		return;
	released(p);
	give_back(p);
}

INTERPOSE(void *, memalign, (size_t alignment, size_t size))
{
	return allocated(rt_fresh(INSIDE(REAL(memalign)(alignment, size)), 0), size, RADDLE_ALLOC_ALIGNED);
}

INTERPOSE(void *, aligned_alloc, (size_t alignment, size_t size))
{
	return allocated(rt_fresh(INSIDE(REAL(aligned_alloc)(alignment, size)), 0), size,
			 RADDLE_ALLOC_ALIGNED);
}

INTERPOSE(int, posix_memalign, (void **p, size_t alignment, size_t size))
{
	int r = INSIDE(REAL(posix_memalign)(p, alignment, size));

	if (!r)
		allocated(rt_fresh(*p, 0), size, RADDLE_ALLOC_ALIGNED);
	else
		rt_refused(r);
	return r;
}

INTERPOSE(void *, valloc, (size_t size))
{
	return allocated(rt_fresh(INSIDE(REAL(valloc)(size)), 0), size, RADDLE_ALLOC_ALIGNED);
}

INTERPOSE(void *, pvalloc, (size_t size))
{
	return allocated(rt_fresh(INSIDE(REAL(pvalloc)(size)), 0), (size + rt.page - 1) & -rt.page,
			 RADDLE_ALLOC_ALIGNED);
}

/* Programs that ask for the usable size also use what they did not request. */
INTERPOSE(size_t, malloc_usable_size, (void *p))
{
	size_t size = rt_usable_size(p);

	if (p)
		RT_NOTIFY(sized, A(p), size);
	return size;
}
