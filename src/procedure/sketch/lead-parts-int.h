/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sketch/: what is known of a run while it goes on (lead.c), for who decides how it goes on
 * (intervention.c). */
#ifndef SKETCH_LEAD_PARTS_INT_H
#define SKETCH_LEAD_PARTS_INT_H

#include "sketch/lead-int.h"
#include "sketch/stack-int.h"

#define LEAD_THREADS 256
#define LEAD_NONE UINT32_MAX

/* What a thread is about to do; statement LEAD_NONE: nothing that is tracked. */
struct lead_pending {
	uint32_t statement, second; /* second: of an atomic operation, the write */
	uint64_t address, value;
	uint8_t size;
	uint64_t length; /* of a range of memory that is freed or written as a whole; 0: it is none */
	uint64_t n;	 /* of an operation: its number, so that it is taken once */
	bool inside;	 /* it has done the first of three statements and not the last */
	bool did_first, did_second;
};

/* An event that is about a range of memory. */
struct lead_range {
	size_t at;
	uint64_t address, length;
};

struct lead_now {
	struct lead *lead;
	struct lead_order order;
	struct sketch_run *run;
	struct trial *trial;
	struct sketch_failure *failure;
	struct lead_pending threads[LEAD_THREADS];
	uint64_t seed;
	uint32_t last; /* who stood last; in the end, who had the turn */
	const char *names[LEAD_THREADS];
	struct stack_code code;
	struct lead_range *ranges;
	size_t range_count, range_capacity;
};

/* Who goes on, as the order wants it; NULL: as the plan says. */
const char *lead_choose(struct lead_now *now, const struct replay_stand *stand);

/* The thread has done what it was about to do. */
void lead_did(struct lead_now *now, uint32_t thread, uint32_t statement);

#endif
