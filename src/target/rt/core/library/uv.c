// SPDX-License-Identifier: Apache-2.0
/*
 * Orders a thread that calls libuv's uv_async_send() before the callback that the call triggers.
 * libuv notifies its loop through an atomic variable and an eventfd, which are not recorded.  All
 * other order among its threads is created by pthread functions.
 *
 * In: handles and their callbacks.  Out: a semaphore for each handle.  It is posted before the real
 * function is called, and the callback takes all tokens.  Several calls may trigger only one
 * callback, and a late call may trigger a callback that finds no token.  A handle that is
 * initialised again keeps its semaphore.
 */
#include "rt/core/library/front.h"

void rt_member_uv(void);
void rt_member_uv(void)
{
}

#ifndef RADDLE_STATIC
typedef void async_fn(void *handle);

struct async {
	struct rt_front_entry entry;
	async_fn *_Atomic callback;
	sem_t sent;
	_Atomic uint32_t tokens;
};

static struct async *find(const void *handle)
{
	return rt_front_find(&rt_tables.asyncs, (uintptr_t)handle);
}

static struct async *find_or_add(void *handle)
{
	return rt_front_add(&rt_tables.asyncs, (uintptr_t)handle, sizeof(struct async));
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
