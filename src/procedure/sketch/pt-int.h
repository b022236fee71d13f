/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control flow from the packets of Intel PT: which of the given places a thread reached, in order.
 *
 * The packets only say which way branches went; the instructions between them are read from the program's
 * code.  libipt does that; it is loaded when it is needed, so nothing else depends on it.
 */
#ifndef SKETCH_PT_INT_H
#define SKETCH_PT_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code as it lay in the memory of the process. */
struct pt_code {
	uint64_t address;
	const unsigned char *bytes;
	size_t size;
};

/* The first instruction of a statement. */
struct pt_place {
	uint64_t address;
	uint32_t number;
};

struct pt_trace {
	const unsigned char *packets; /* of one thread, or one processor; any bytes */
	size_t size;
	const struct pt_code *code;
	size_t code_count;
	const struct pt_place *places; /* by address */
	size_t place_count;
	uint64_t most; /* instructions to follow; 0: PT_MOST */
};
#define PT_MOST (1u << 26) /* a judgement: some seconds of decoding */

struct pt_left {
	uint32_t *numbers; /* of the places that were reached, in order; to be freed by the caller */
	size_t count, capacity;
	uint64_t instructions; /* that were followed */
	size_t gaps;	       /* where packets were lost, damaged, or about code that is not known */
	bool cut;	       /* there is more than was to be followed */
};

/* `left` is valid also after an error, which is that there is no libipt. */
int pt_decode(const struct pt_trace *t, struct pt_left *left);

/* Whether libipt can be loaded. */
bool pt_has_library(void);

#endif
