// SPDX-License-Identifier: Apache-2.0
/*
 * GLib's one-bit locks, g_bit_lock() and g_pointer_bit_lock(), which libglib implements with
 * atomics and futexes.
 *
 * In: the address of a word and the number of a bit.  Out: a pthread mutex for each such bit.  A
 * thread takes the mutex before the bit and releases it after the bit, so no thread ever waits for
 * the bit itself.  GLib still sets the bit in the word.  No call destroys such a lock, so mutexes
 * are never freed.  If the memory of a word is reused, the mutex of a new bit may be locked
 * although the bit is clear; then the bit gets a new mutex.
 */
#include "rt/core/library/front.h"

void rt_member_glib_bit(void);
void rt_member_glib_bit(void)
{
}

#ifndef RADDLE_STATIC
struct bit {
	struct rt_front_entry entry;
	pthread_mutex_t *_Atomic mutex;
	_Atomic bool held; /* set after the bit is set, cleared before the bit is cleared */
};

/* The addresses of words are multiples of 4, and bits are numbered below 32, so no two bits have
 * the same key. */
static struct bit *bit_of(const volatile void *word, int number)
{
	struct bit *b =
		rt_front_add(&rt_tables.lock_bits, (uintptr_t)word << 3 | (uintptr_t)number, sizeof *b);
	pthread_mutex_t *mutex = atomic_load(&b->mutex), *fresh;
	bool is_clear = !(__atomic_load_n((const volatile unsigned *)word, __ATOMIC_RELAXED) & 1u << number);

	if (mutex && !(is_clear && atomic_load(&b->held)))
		return b;
	fresh = rt_front_allocate(sizeof *fresh);
	if (atomic_compare_exchange_strong(&b->mutex, &mutex, fresh))
		atomic_store(&b->held, false);
	else
		REAL(free)(fresh);
	return b;
}

typedef int lock_fn(volatile void *word, int number);
typedef void void_fn(volatile void *word, int number);

static void lock(volatile void *word, int number, void_fn *real)
{
	struct bit *b = bit_of(word, number);

	pthread_mutex_lock(atomic_load(&b->mutex));
	real(word, number);
	atomic_store(&b->held, true);
}

static int try_lock(volatile void *word, int number, lock_fn *real)
{
	struct bit *b = bit_of(word, number);
	pthread_mutex_t *mutex = atomic_load(&b->mutex);

	if (pthread_mutex_trylock(mutex))
		return 0;
	if (!real(word, number)) {
		pthread_mutex_unlock(mutex);
		return 0;
	}
	atomic_store(&b->held, true);
	return 1;
}

/* The mutex is not locked if the program set the bit without a lock function. */
static void unlock(volatile void *word, int number, void_fn *real)
{
	struct bit *b = bit_of(word, number);
	bool held = atomic_exchange(&b->held, false);

	real(word, number);
	if (held)
		pthread_mutex_unlock(atomic_load(&b->mutex));
}

/* GLib has separate functions for bits of integers and bits of pointers, which work in the same
 * way. */
#define BIT_LOCKS(prefix)                                                                                    \
	FRONT(void, prefix##_lock, (volatile void *word, int number))                                        \
	{                                                                                                    \
		lock(word, number, BEHIND(void, prefix##_lock, (volatile void *, int)));                     \
	}                                                                                                    \
	FRONT(int, prefix##_trylock, (volatile void *word, int number))                                      \
	{                                                                                                    \
		return try_lock(word, number, BEHIND(int, prefix##_trylock, (volatile void *, int)));        \
	}                                                                                                    \
	FRONT(void, prefix##_unlock, (volatile void *word, int number))                                      \
	{                                                                                                    \
		unlock(word, number, BEHIND(void, prefix##_unlock, (volatile void *, int)));                 \
	}
BIT_LOCKS(g_bit)
BIT_LOCKS(g_pointer_bit)
#undef BIT_LOCKS
#endif
