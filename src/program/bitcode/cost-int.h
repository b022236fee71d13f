/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of instrumented code.  Code that is not optimised ("quick" code) takes little time to
 * generate but runs slowly.  Optimised ("fast") code takes long to generate.  Which of them costs
 * less depends on how long the program will run, which is unknown.  The first time, Raddle
 * guesses.  After that it records how long quick code has run, and generates fast code as soon as
 * fast code would have saved time.  The total cost is therefore at most about twice the minimum.
 *
 * In the cache, DIR/cost/KEY contains the CPU seconds that the flavour KEY has run so far, as
 * text.
 */
#ifndef BITCODE_COST_INT_H
#define BITCODE_COST_INT_H

#include "bitcode/cache-int.h"

#include <stdbool.h>
#include <stdint.h>

struct bitcode_cost {
	/* CPU seconds to generate the objects that are not in the cache. */
	double make_fast, make_quick;
	double spent;	 /* CPU seconds that quick code has run so far */
	double expected; /* CPU seconds that quick code is expected to run in future */
	double most;	 /* largest number of CPU seconds for generating code; 0 for no limit */
};

bool bitcode_cost_wants_fast(const struct bitcode_cost *c);

/* Estimates the CPU seconds to generate code from `bytes` bytes of bitcode. */
double bitcode_cost_to_make(uint64_t bytes, bool fast);

/* Returns the recorded CPU seconds of a flavour, or a negative number if nothing is recorded. */
double bitcode_cost_spent(const struct bitcode_cache *c, const char *key);

/* Adds to the recorded CPU seconds of a flavour.  A failure is not reported, because it only means
 * that fast code is generated later. */
void bitcode_cost_spend(const struct bitcode_cache *c, const char *key, double seconds);

#endif
