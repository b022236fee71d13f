/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the flavour `shadow` and its driver: which values of the program derive
 * from its input, and which branches depended on them.
 * The memory lies after the other parts of the session (session.h: shadow_offset).  The runtime
 * only appends to it.  The driver reads it after the program has ended, and does not trust its
 * content (symbolic/trace.h).
 *
 *   struct raddle_shadow
 *   struct raddle_expr           RADDLE_SHADOW_NODES: expressions; number 0 is not used
 *   struct raddle_shadow_var     RADDLE_SHADOW_VARS
 *   struct raddle_shadow_step    RADDLE_SHADOW_STEPS: the path, in the order in which it was taken
 *   struct raddle_shadow_byte    RADDLE_SHADOW_OUTPUT: what was written, in that order
 *   uint64_t[256]                RADDLE_SHADOW_TABLES
 *   char                         RADDLE_SHADOW_TEXT: names and strings
 *
 * The program also has a map at a fixed address, with one byte for each page of 4 KiB.  The byte
 * is set if a byte of this page or of the next page may have an expression.  So the test before an
 * access is a shift and a load.
 */
#ifndef RADDLE_SHADOW_H
#define RADDLE_SHADOW_H

#include "raddle/expr.h"

#include <stdatomic.h>

#define RADDLE_SHADOW_VERSION 1 /* of this layout */

/* Sizes of the parts of the shared memory, in entries.  Judgements: unused pages take no memory,
 * and entries that do not fit are counted as losses. */
#define RADDLE_SHADOW_NODES (1u << 20)
#define RADDLE_SHADOW_VARS 65536u
#define RADDLE_SHADOW_STEPS (1u << 18)
#define RADDLE_SHADOW_OUTPUT (1u << 18)
#define RADDLE_SHADOW_TABLES 1024u
#define RADDLE_SHADOW_TEXT (1u << 20)
#define RADDLE_SHADOW_INPUTS 64u
#define RADDLE_SHADOW_BYTES 4096u /* the first bytes of an input are symbolic */

#define RADDLE_SHADOW_PAGES 0x200000000000ull /* address of the page bytes */
#define RADDLE_SHADOW_PAGE_SHIFT 12	      /* pages of 4 KiB */
#define RADDLE_SHADOW_ADDRESS_BITS 47	      /* of a user address on x86-64 */

enum raddle_shadow_kind {
	RADDLE_INPUT_ARGV,
	RADDLE_INPUT_STDIN,
	RADDLE_INPUT_FILE,
	RADDLE_INPUT_ENV,
	RADDLE_INPUT_KINDS
};

/* Where bytes come from. */
struct raddle_shadow_input {
	uint32_t kind;
	uint32_t number;       /* of an argument */
	uint32_t name, length; /* in the text: the path of a file, the name of a variable */
};

/* What a variable represents.  A number, a length and an equality describe a slot of an input.  To
 * realise a value, the driver writes digits, truncates or pads the slot, or writes the text. */
enum raddle_shadow_sort {
	RADDLE_VAR_BYTE,   /* the byte at `offset` */
	RADDLE_VAR_NUMBER, /* the number written in the slot */
	RADDLE_VAR_LENGTH, /* the length of the slot, up to the end of the string */
	RADDLE_VAR_EQUAL,  /* one bit: whether the slot equals the text */
	RADDLE_VAR_SORTS,
};

struct raddle_shadow_var {
	uint8_t sort, bits;
	uint8_t base;	     /* of a number: 8, 10, 16 */
	uint8_t is_unsigned; /* of a number */
	uint32_t input;
	uint64_t offset;
	uint32_t length; /* of the slot */
	uint32_t text, text_length;
	uint32_t node;
	uint64_t value; /* in this run */
};

enum raddle_shadow_step_kind {
	RADDLE_STEP_BRANCH,  /* can be negated */
	RADDLE_STEP_ADDRESS, /* an address, length or size that depends on input was fixed to its value
			      * in this run */
	RADDLE_STEP_ASSUME,  /* the model of a function holds only under this condition */
};

/* `cond` was `taken`. */
struct raddle_shadow_step {
	uint32_t site, thread;
	uint32_t cond;
	uint8_t taken, kind;
	uint8_t met; /* the threads of the race had met */
	uint8_t unused;
};

/* What was written: a byte, or a number before it became digits. */
struct raddle_shadow_byte {
	uint32_t fd; /* the descriptor it was written to */
	uint32_t node;
	uint64_t offset; /* in this list */
	uint32_t step;	 /* how many steps came before */
	uint32_t unused;
};

/* What could not be tracked; counted in `lost_count`. */
#define RADDLE_SHADOW_LOSSES(X)                                                                              \
	X(NODES, "the store of expressions was full")                                                        \
	X(VARS, "there were too many variables")                                                             \
	X(STEPS, "the path was too long")                                                                    \
	X(INPUT, "only the first bytes of an input were followed")                                           \
	X(ADDRESS, "addresses that depend on input were taken as they were")                                 \
	X(FLOAT, "floating point numbers were taken as they were")                                           \
	X(CALL, "calls of library functions without a model were taken as they were")                        \
	X(OUTPUT, "output beyond what can be listed was compared as it was")                                 \
	X(ATOMIC, "atomic updates were taken as they were")

enum raddle_shadow_loss {
#define RADDLE_SHADOW_LOSS(name, text) RADDLE_LOST_##name,
	RADDLE_SHADOW_LOSSES(RADDLE_SHADOW_LOSS)
#undef RADDLE_SHADOW_LOSS
		RADDLE_LOSSES
};

struct raddle_shadow {
	uint32_t version;
	uint32_t active; /* the runtime was initialised */
	_Atomic uint32_t node_count, var_count, step_count, output_count, table_count, text_used, input_count;
	uint64_t lost_count[RADDLE_LOSSES];
	struct raddle_shadow_input inputs[RADDLE_SHADOW_INPUTS];
};

/* Where the parts lie, from the start. */
#define RADDLE_SHADOW_HEADER 8192u
#define RADDLE_SHADOW_NODES_AT ((uint64_t)RADDLE_SHADOW_HEADER)
#define RADDLE_SHADOW_VARS_AT (RADDLE_SHADOW_NODES_AT + RADDLE_SHADOW_NODES * sizeof(struct raddle_expr))
#define RADDLE_SHADOW_STEPS_AT (RADDLE_SHADOW_VARS_AT + RADDLE_SHADOW_VARS * sizeof(struct raddle_shadow_var))
#define RADDLE_SHADOW_OUTPUT_AT                                                                              \
	(RADDLE_SHADOW_STEPS_AT + RADDLE_SHADOW_STEPS * sizeof(struct raddle_shadow_step))
#define RADDLE_SHADOW_TABLES_AT                                                                              \
	(RADDLE_SHADOW_OUTPUT_AT + RADDLE_SHADOW_OUTPUT * sizeof(struct raddle_shadow_byte))
#define RADDLE_SHADOW_TEXT_AT (RADDLE_SHADOW_TABLES_AT + RADDLE_SHADOW_TABLES * 256 * sizeof(uint64_t))
#define RADDLE_SHADOW_SIZE (RADDLE_SHADOW_TEXT_AT + RADDLE_SHADOW_TEXT)

_Static_assert(sizeof(struct raddle_expr) == 32, "nodes tile the store");
_Static_assert(sizeof(struct raddle_shadow) <= RADDLE_SHADOW_HEADER, "the header fits");

/* Passed between caller and callee: the expressions of the arguments and of the result.  The
 * caller may have called code that is not instrumented, which then calls the callee.  So the
 * callee uses the expressions only if they are meant for it. */
#define RADDLE_SHADOW_ARGUMENTS 16
struct raddle_shadow_call {
	const void *callee; /* the function that the arguments are for; NULL: none */
	const void *from;   /* the function that the result is from */
	uint32_t result;
	uint32_t count;
	uint32_t argument[RADDLE_SHADOW_ARGUMENTS];
};
extern __thread struct raddle_shadow_call __raddle_shadow_call __attribute__((tls_model("initial-exec")));

/* What instrumented code calls for values that are not concrete (rt/shadow/).  `what` combines
 * the operator and the width of the operands: op << 8 | bits.  For a select, bit 31 is the
 * condition. */
uint32_t __raddle_shadow_bin(uint32_t what, uint32_t ea, uint32_t eb, uint64_t a, uint64_t b);
uint32_t __raddle_shadow_index(uint64_t what, uint32_t ea, uint32_t ei, uint64_t a, uint64_t i);
uint32_t __raddle_shadow_cast(uint32_t what, uint32_t e, uint32_t from);
uint32_t __raddle_shadow_choose(uint32_t what, uint32_t ec, uint64_t refs, uint64_t a, uint64_t b);
uint32_t __raddle_shadow_read(const void *p, uint32_t size, uint32_t ea);
void __raddle_shadow_write(void *p, uint32_t size, uint32_t e, uint32_t ea);
uint32_t __raddle_shadow_extent(const void *p, uint64_t rounds, int64_t by, uint32_t what);
void __raddle_shadow_turn(uint32_t site, uint32_t cond, uint32_t taken);
void __raddle_shadow_cases(uint32_t what, uint32_t site, uint32_t e, uint64_t v, const uint64_t *cases);
void __raddle_shadow_copied(void *to, const void *from, uint64_t size);
void __raddle_shadow_filled(void *p, uint32_t e, uint64_t size);
void __raddle_shadow_fresh(const void *p, uint64_t size);
void __raddle_shadow_lose(uint32_t loss);

#endif
