/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a flavour's code costs: quick code is soon made and runs slowly, fast code takes long to make.  Which
 * of them costs less altogether depends on how long the program will be run, which nobody knows.  The first
 * time a guess has to do; after that what the runs of quick code took is remembered, and fast code is made as
 * soon as it would have paid.  So nobody ever waits for more than about twice what was necessary.
 *
 * In the cache, DIR/cost/KEY holds the CPU seconds that the flavour KEY has run so far, as text.
 */
#ifndef BITCODE_COST_H
#define BITCODE_COST_H

#include "bitcode/cache.h"

#include <stdbool.h>
#include <stdint.h>

struct bitcode_cost {
	double make_fast, make_quick; /* CPU seconds to make what the cache lacks of each */
	double spent;		      /* CPU seconds that quick code has run */
	double expected;	      /* and that it is expected to run */
	double most;		      /* CPU seconds that making it may take; 0: any */
};

bool bitcode_cost_wants_fast(const struct bitcode_cost *c);

/* CPU seconds to make that many bytes of bitcode into code. */
double bitcode_cost_to_make(uint64_t bytes, bool fast);

/* What was remembered of a flavour; less than 0: nothing. */
double bitcode_cost_spent(const struct bitcode_cache *c, const char *key);

/* Adds to it.  Not being able to is no error: then fast code comes later. */
void bitcode_cost_spend(const struct bitcode_cache *c, const char *key, double seconds);

#endif
