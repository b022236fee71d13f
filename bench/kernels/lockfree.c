/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded multi-producer, multi-consumer queue with a sequence number in each cell, a shared
 * counter and a flag, all in C11 atomics with explicit memory orders.  Half of the threads enqueue
 * work.  The other half dequeue it and process plain memory that the queue hands over.  SIZE is the
 * number of items.
 */
#include "kernel.h"
#include <sched.h>

#define CELLS 1024
#define WORDS 256

struct cell {
	atomic_ulong sequence;
	uint64_t *payload;
};

static struct kernel_args args;
static struct cell cell[CELLS];
static atomic_ulong tail, head;
static atomic_long produced, consumed;
static _Atomic uint64_t total;

static bool enqueue(uint64_t *payload)
{
	unsigned long position = atomic_load_explicit(&tail, memory_order_relaxed);
	for (;;) {
		struct cell *c = &cell[position % CELLS];
		unsigned long sequence = atomic_load_explicit(&c->sequence, memory_order_acquire);
		if (sequence < position)
			return false;
		if (sequence > position) {
			position = atomic_load_explicit(&tail, memory_order_relaxed);
		} else if (atomic_compare_exchange_weak_explicit(&tail, &position, position + 1,
								 memory_order_relaxed,
								 memory_order_relaxed)) {
			c->payload = payload;
			atomic_store_explicit(&c->sequence, position + 1, memory_order_release);
			return true;
		}
	}
}

static uint64_t *dequeue(void)
{
	unsigned long position = atomic_load_explicit(&head, memory_order_relaxed);
	for (;;) {
		struct cell *c = &cell[position % CELLS];
		unsigned long sequence = atomic_load_explicit(&c->sequence, memory_order_acquire);
		if (sequence < position + 1)
			return NULL;
		if (sequence > position + 1) {
			position = atomic_load_explicit(&head, memory_order_relaxed);
		} else if (atomic_compare_exchange_weak_explicit(&head, &position, position + 1,
								 memory_order_relaxed,
								 memory_order_relaxed)) {
			uint64_t *payload = c->payload;
			atomic_store_explicit(&c->sequence, position + CELLS, memory_order_release);
			return payload;
		}
	}
}

static void *produce(void *unused)
{
	for (;;) {
		long number = atomic_fetch_add_explicit(&produced, 1, memory_order_relaxed);
		if (number >= args.size)
			return unused;
		uint64_t *payload = kernel_alloc(WORDS, sizeof *payload);
		for (int i = 0; i < WORDS; i++)
			payload[i] = kernel_random(number * WORDS + i);
		while (!enqueue(payload))
			sched_yield();
	}
}

static void *consume(void *unused)
{
	while (atomic_load_explicit(&consumed, memory_order_acquire) < args.size) {
		uint64_t *payload = dequeue();
		if (!payload) {
			sched_yield();
			continue;
		}
		uint64_t sum = 0;
		for (int round = 0; round < 8; round++)
			for (int i = 0; i < WORDS; i++)
				payload[i] = kernel_mix(payload[i], payload[(i + 1) % WORDS]);
		for (int i = 0; i < WORDS; i++)
			sum = kernel_mix(sum, payload[i]);
		free(payload);
		atomic_fetch_add(&total, sum);
		atomic_fetch_add_explicit(&consumed, 1, memory_order_release);
	}
	return unused;
}

static void *work(void *self)
{
	return (intptr_t)self % 2 ? consume(NULL) : produce(NULL);
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 300, 100000);
	for (unsigned long i = 0; i < CELLS; i++)
		atomic_init(&cell[i].sequence, i);
	kernel_run(args.threads + args.threads % 2, work);
	return kernel_report("lockfree", atomic_load(&total));
}
