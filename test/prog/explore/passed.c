/* SPDX-License-Identifier: Apache-2.0 */
/* A value passes through three threads; then the last thread writes `data`, which
 * the first one also wrote.  It does so only in the order first, second, third,
 * last, in which the two writes are never adjacent.  If the value is passed with
 * relaxed order ("relaxed") they race; with release and acquire ("ordered") they
 * do not. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static int data;
static atomic_int stage;
static memory_order gives, takes, both;

static void *first(void *none)
{
	data = 1;
	if (gives == memory_order_relaxed)
		atomic_store_explicit(&stage, 1, memory_order_relaxed);
	else
		atomic_store_explicit(&stage, 1, memory_order_release);
	return none;
}

static void pass(int from)
{
	int seen = from;

	if (both == memory_order_relaxed)
		atomic_compare_exchange_strong_explicit(&stage, &seen, from + 1, memory_order_relaxed,
							memory_order_relaxed);
	else
		atomic_compare_exchange_strong_explicit(&stage, &seen, from + 1, memory_order_acq_rel,
							memory_order_acquire);
}

static void *second(void *none)
{
	pass(1);
	return none;
}

static void *third(void *none)
{
	pass(2);
	return none;
}

static void *last(void *none)
{
	int at = takes == memory_order_relaxed ? atomic_load_explicit(&stage, memory_order_relaxed)
					       : atomic_load_explicit(&stage, memory_order_acquire);

	if (at > 2)
		data = 2;
	return none;
}

int main(int argc, char **argv)
{
	static void *(*const all[])(void *) = {first, third, second, last};
	pthread_t threads[4];

	gives = takes = both = memory_order_relaxed;
	if (argc > 1 && strcmp(argv[1], "ordered") == 0) {
		gives = memory_order_release;
		takes = memory_order_acquire;
		both = memory_order_acq_rel;
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, all[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
