/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts executed memory accesses.  A program that is compiled with clang -O2 -fsanitize=thread,
 * but linked with this file instead of ThreadSanitizer's runtime, calls these functions.  A load,
 * a store or an atomic operation is one access; memcpy, memmove and memset are one access for each
 * 8 bytes.  At exit the total is written to the file that COUNT_FILE names.
 *
 * These are the accesses that ThreadSanitizer would check: the accesses that remain after
 * optimisation, without locals that do not escape.  Raddle instruments before optimisation and
 * sees more accesses.  So the size of a Raddle trace, divided by this count, is an upper bound of
 * Raddle's bytes per access.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 4096

/* Each thread counts in its own slot.  A slot fills a cache line, so threads do not disturb each
 * other. */
static struct {
	uint64_t count;
	uint64_t pad[7];
} slots[MAX_THREADS];
static atomic_uint slots_used;
static __thread uint64_t *mine;

static void count(uint64_t n)
{
	if (!mine)
		mine = &slots[atomic_fetch_add(&slots_used, 1) % MAX_THREADS].count;
	*mine += n;
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("COUNT_FILE");
	FILE *f = path ? fopen(path, "w") : NULL;
	if (!f)
		return;
	uint64_t total = 0;
	for (int i = 0; i < MAX_THREADS; i++)
		total += slots[i].count;
	fprintf(f, "%llu\n", (unsigned long long)total);
	fclose(f);
}

void __tsan_init(void)
{
}
void __tsan_func_entry(void *pc)
{
	(void)pc;
}
void __tsan_func_exit(void)
{
}
void __tsan_ignore_thread_begin(void)
{
}
void __tsan_ignore_thread_end(void)
{
}

#define ACCESS(name)                                                                                         \
	void name(void *p)                                                                                   \
	{                                                                                                    \
		(void)p;                                                                                     \
		count(1);                                                                                    \
	}

ACCESS(__tsan_read1)
ACCESS(__tsan_read2)
ACCESS(__tsan_read4)
ACCESS(__tsan_read8)
ACCESS(__tsan_read16)
ACCESS(__tsan_write1)
ACCESS(__tsan_write2)
ACCESS(__tsan_write4)
ACCESS(__tsan_write8)
ACCESS(__tsan_write16)
ACCESS(__tsan_unaligned_read2)
ACCESS(__tsan_unaligned_read4)
ACCESS(__tsan_unaligned_read8)
ACCESS(__tsan_unaligned_read16)
ACCESS(__tsan_unaligned_write2)
ACCESS(__tsan_unaligned_write4)
ACCESS(__tsan_unaligned_write8)
ACCESS(__tsan_unaligned_write16)
ACCESS(__tsan_vptr_read)

void __tsan_vptr_update(void **p, void *value)
{
	(void)p;
	(void)value;
	count(1);
}

void *__tsan_memcpy(void *to, const void *from, size_t n)
{
	count(n / 4);
	return memcpy(to, from, n);
}

void *__tsan_memmove(void *to, const void *from, size_t n)
{
	count(n / 4);
	return memmove(to, from, n);
}

void *__tsan_memset(void *to, int value, size_t n)
{
	count(n / 8);
	return memset(to, value, n);
}

#define ATOMIC_OP(bits, type, op)                                                                            \
	type __tsan_atomic##bits##_fetch_##op(volatile type *p, type v, int order)                           \
	{                                                                                                    \
		(void)order;                                                                                 \
		count(1);                                                                                    \
		return __atomic_fetch_##op(p, v, __ATOMIC_SEQ_CST);                                          \
	}

#define ATOMIC_COMPARE(bits, type, kind)                                                                     \
	int __tsan_atomic##bits##_compare_exchange_##kind(volatile type *p, type *expected, type v,          \
							  int order, int failure)                            \
	{                                                                                                    \
		(void)order;                                                                                 \
		(void)failure;                                                                               \
		count(1);                                                                                    \
		return __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
	}

#define ATOMIC(bits, type)                                                                                   \
	type __tsan_atomic##bits##_load(const volatile type *p, int order)                                   \
	{                                                                                                    \
		(void)order;                                                                                 \
		count(1);                                                                                    \
		return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                 \
	}                                                                                                    \
	void __tsan_atomic##bits##_store(volatile type *p, type v, int order)                                \
	{                                                                                                    \
		(void)order;                                                                                 \
		count(1);                                                                                    \
		__atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                    \
	}                                                                                                    \
	type __tsan_atomic##bits##_exchange(volatile type *p, type v, int order)                             \
	{                                                                                                    \
		(void)order;                                                                                 \
		count(1);                                                                                    \
		return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                          \
	}                                                                                                    \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type v, int order,  \
							int failure)                                         \
	{                                                                                                    \
		(void)order;                                                                                 \
		(void)failure;                                                                               \
		count(1);                                                                                    \
		__atomic_compare_exchange_n(p, &expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
		return expected;                                                                             \
	}                                                                                                    \
	ATOMIC_COMPARE(bits, type, strong)                                                                   \
	ATOMIC_COMPARE(bits, type, weak)                                                                     \
	ATOMIC_OP(bits, type, add)                                                                           \
	ATOMIC_OP(bits, type, sub)                                                                           \
	ATOMIC_OP(bits, type, and)                                                                           \
	ATOMIC_OP(bits, type, or)                                                                            \
	ATOMIC_OP(bits, type, xor)                                                                           \
	ATOMIC_OP(bits, type, nand)

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	count(1);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}
