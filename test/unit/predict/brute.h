/* SPDX-License-Identifier: Apache-2.0 */
/* The slow twin of predict/, which enumerates every interleaving of a tiny execution. */
#ifndef TEST_PREDICT_BRUTE_H
#define TEST_PREDICT_BRUTE_H

#include "order/exec.h"

#define BRUTE_EVENTS 32
#define BRUTE_THREADS 6
#define BRUTE_VARIABLES 4
#define BRUTE_SETS 256

struct brute {
	uint32_t races[BRUTE_EVENTS];	/* races[b]: the events a < b that race with b, as bits */
	uint32_t deadlocks[BRUTE_SETS]; /* minimal sets of stops, each as bits of events */
	uint32_t deadlock_count;
	uint64_t states;
};

/* Finds all races and deadlocks.  The execution has at most BRUTE_EVENTS events. */
void brute_run(const struct exec *x, bool sound, struct brute *b);

/* Makes a random well-formed execution of at most BRUTE_EVENTS events.  Every event has its own
 * site. */
void random_exec(struct exec *x, uint64_t seed);

#endif
