// SPDX-License-Identifier: Apache-2.0
/*
 * libuv: who calls uv_async_send() comes before the callback that it leads to.  libuv tells its loop by an
 * atomic variable and an eventfd; all its other ways to order threads are pthread's.
 *
 * In: handles and their callbacks.  Out: a semaphore for each handle, posted before the real function is
 * called; the callback takes what is there.  Several calls may lead to one callback, and a late one to a
 * callback that finds nothing.  A handle that is initialised again keeps its semaphore.
 */
#include "rt/core/front.h"

void rt_member_uv(void);
void rt_member_uv(void)
{
}

#ifndef RADDLE_STATIC
typedef void async_fn(void *handle);

enum { BUCKETS = 256 };

struct async {
	void *handle;
	async_fn *_Atomic callback;
	sem_t sent;
	_Atomic uint32_t tokens;
	struct async *next;
};

/* Entries are added and stay. */
static struct async *_Atomic buckets[BUCKETS];

static struct async *_Atomic *bucket_of(const void *handle)
{
	return &buckets[((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15ull >> 56 & (BUCKETS - 1)];
}

static struct async *find(const void *handle)
{
	struct async *a = atomic_load_explicit(bucket_of(handle), memory_order_acquire);

	while (a && a->handle != handle)
		a = a->next;
	return a;
}

static struct async *find_or_add(void *handle)
{
	struct async *_Atomic *bucket = bucket_of(handle);
	struct async *a = find(handle);

	if (a)
		return a;
	a = rt_front_allocate(sizeof *a);
	a->handle = handle;
	a->next = atomic_load(bucket);
	while (!atomic_compare_exchange_weak(bucket, &a->next, a))
		;
	return a;
}

static void called_back(void *handle)
{
	struct async *a = find(handle);
	async_fn *callback = atomic_load(&a->callback);

	for (uint32_t n = atomic_exchange(&a->tokens, 0); n; n--)
		sem_wait(&a->sent);
	if (callback)
		callback(handle);
}

FRONT(int, uv_async_init, (void *loop, void *handle, async_fn *callback))
{
	atomic_store(&find_or_add(handle)->callback, callback);
	return BEHIND(int, uv_async_init, (void *, void *, async_fn *))(loop, handle, called_back);
}

FRONT(int, uv_async_send, (void *handle))
{
	struct async *a = find(handle);

	if (a) {
		sem_post(&a->sent);
		atomic_fetch_add(&a->tokens, 1);
	}
	return BEHIND(int, uv_async_send, (void *))(handle);
}
#endif
