/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline of producer, workers and consumer, connected by bounded queues with condition
 * variables (PARSEC dedup-like).  The producer generates blocks.  The workers run-length encode
 * and hash them, and the consumer restores their order.  SIZE is the number of blocks.
 */
#include "kernel.h"

#define QUEUE 16
#define BLOCK 16384

struct item {
	long number;
	size_t packed;
	uint64_t hash;
	uint8_t *raw, *pack;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t room, filled;
	struct item *item[QUEUE];
	int first, count;
	bool closed;
};

#define QUEUE_INIT                                                                                           \
	{                                                                                                    \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0,    \
			false                                                                                \
	}

static struct kernel_args args;
static struct queue raw_queue = QUEUE_INIT, done_queue = QUEUE_INIT;
static uint64_t result;

static void put(struct queue *q, struct item *item)
{
	pthread_mutex_lock(&q->lock);
	while (q->count == QUEUE)
		pthread_cond_wait(&q->room, &q->lock);
	q->item[(q->first + q->count++) % QUEUE] = item;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

static struct item *get(struct queue *q)
{
	struct item *item = NULL;
	pthread_mutex_lock(&q->lock);
	while (!q->count && !q->closed)
		pthread_cond_wait(&q->filled, &q->lock);
	if (q->count) {
		item = q->item[q->first];
		q->first = (q->first + 1) % QUEUE;
		q->count--;
		pthread_cond_signal(&q->room);
	}
	pthread_mutex_unlock(&q->lock);
	return item;
}

static void close_queue(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = true;
	pthread_cond_broadcast(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

static void *produce(void *unused)
{
	for (long n = 0; n < args.size; n++) {
		struct item *item = kernel_alloc(1, sizeof *item);
		item->number = n;
		item->raw = kernel_alloc(BLOCK, 1);
		uint64_t seed = kernel_random(n);
		for (int i = 0; i < BLOCK;) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			for (int run = 1 + (int)(seed >> 61); run && i < BLOCK; run--)
				item->raw[i++] = (uint8_t)(seed >> 40 & 15);
		}
		put(&raw_queue, item);
	}
	close_queue(&raw_queue);
	return unused;
}

static void pack(struct item *item)
{
	item->pack = kernel_alloc(2 * BLOCK, 1);
	for (int i = 0; i < BLOCK;) {
		int run = 1;
		while (i + run < BLOCK && run < 255 && item->raw[i + run] == item->raw[i])
			run++;
		item->pack[item->packed++] = (uint8_t)run;
		item->pack[item->packed++] = item->raw[i];
		i += run;
	}
	for (size_t i = 0; i < item->packed; i++)
		item->hash = kernel_mix(item->hash, item->pack[i]);
}

static void *transform(void *unused)
{
	struct item *item;
	while ((item = get(&raw_queue))) {
		pack(item);
		put(&done_queue, item);
	}
	return unused;
}

static void *consume(void *unused)
{
	uint64_t *hashes = kernel_alloc(args.size, sizeof *hashes);
	struct item *item;
	while ((item = get(&done_queue))) {
		hashes[item->number] = item->hash;
		free(item->raw);
		free(item->pack);
		free(item);
	}
	for (long n = 0; n < args.size; n++)
		result = kernel_mix(result, hashes[n]);
	free(hashes);
	return unused;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 40, 5000);
	pthread_t producer, consumer;
	pthread_create(&producer, NULL, produce, NULL);
	pthread_create(&consumer, NULL, consume, NULL);
	kernel_run(args.threads, transform);
	close_queue(&done_queue);
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	return kernel_report("pipeline", result);
}
