/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the flavour `shadow` and its driver.  It tells which values of the program
 * derive from its input, and which branches depended on them.  The memory follows the other parts
 * of the session (session.h: shadow_offset).  The runtime only appends to it.  The driver reads it
 * after the program has ended, and does not trust its content (symbolic/trace.h).
 *
 *   struct raddle_shadow
 *   struct raddle_expr           RADDLE_SHADOW_NODES: expressions; number 0 is not used
 *   struct raddle_shadow_var     RADDLE_SHADOW_VARS
 *   struct raddle_shadow_step    RADDLE_SHADOW_STEPS: the path, in the order of execution
 *   struct raddle_shadow_byte    RADDLE_SHADOW_OUTPUT: the output, in the order of the writes
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

#define RADDLE_SHADOW_VERSION 1 /* the version of this layout */

/* Sizes of the parts of the shared memory, in entries.  Chosen by hand: unused pages take no
 * memory, and entries that do not fit are counted as losses. */
#define RADDLE_SHADOW_NODES (1u << 20)
#define RADDLE_SHADOW_VARS 65536u
#define RADDLE_SHADOW_STEPS (1u << 18)
#define RADDLE_SHADOW_OUTPUT (1u << 18)
#define RADDLE_SHADOW_TABLES 1024u
#define RADDLE_SHADOW_TEXT (1u << 20)
#define RADDLE_SHADOW_INPUTS 64u
#define RADDLE_SHADOW_BYTES 4096u /* how many bytes at the start of an input are symbolic */

#define RADDLE_SHADOW_PAGES 0x200000000000ull /* the address of the map of pages */
#define RADDLE_SHADOW_PAGE_SHIFT 12	      /* log2 of the size of a page: 4 KiB */
#define RADDLE_SHADOW_ADDRESS_BITS 47	      /* the bits of a user address on x86-64 */

enum raddle_shadow_kind {
	RADDLE_INPUT_ARGV,
	RADDLE_INPUT_STDIN,
	RADDLE_INPUT_FILE,
	RADDLE_INPUT_ENV,
	RADDLE_INPUT_KINDS
};

/* A source of input bytes. */
struct raddle_shadow_input {
	uint32_t kind;	 /* enum raddle_shadow_kind */
	uint32_t number; /* the number of an argument; otherwise 0 */
	/* The offset and length, in RADDLE_SHADOW_TEXT, of the path of a file or of the name of an
	 * environment variable. */
	uint32_t name, length;
};

/* What a variable represents.  NUMBER, LENGTH and EQUAL describe a slot, which is a range of bytes
 * of an input.  The driver gives such a variable a value by changing the slot.  For NUMBER it
 * writes digits, for LENGTH it truncates or pads the slot, and for EQUAL it writes the text into
 * the slot. */
enum raddle_shadow_sort {
	RADDLE_VAR_BYTE,   /* the byte at `offset` */
	RADDLE_VAR_NUMBER, /* the number written in the slot */
	RADDLE_VAR_LENGTH, /* the length of the slot, up to the end of the string */
	RADDLE_VAR_EQUAL,  /* one bit: 1 if the slot equals the text */
	RADDLE_VAR_SORTS,
};

struct raddle_shadow_var {
	uint8_t sort, bits;
	uint8_t base;	     /* the base of a number: 8, 10 or 16 */
	uint8_t is_unsigned; /* 1 if a number is unsigned */
	uint32_t input;
	uint64_t offset;	    /* where the byte or slot starts in the input */
	uint32_t length;	    /* the length of the slot */
	uint32_t text, text_length; /* of EQUAL: the offset and length of the text in RADDLE_SHADOW_TEXT */
	uint32_t node;		    /* the expression that is this variable */
	uint64_t value;		    /* the value in this run */
};

enum raddle_shadow_step_kind {
	RADDLE_STEP_BRANCH, /* a branch, which the driver may negate */
	/* An address, length or size that depends on input was fixed to its value in this run. */
	RADDLE_STEP_ADDRESS,
	RADDLE_STEP_ASSUME, /* a condition under which a function model is valid */
};

/* One step of the path: the condition `cond`, an expression, had the value `taken`. */
struct raddle_shadow_step {
	uint32_t site, thread;
	uint32_t cond;
	uint8_t taken, kind;
	uint8_t met; /* 1 if the threads of the race had met before */
	uint8_t unused;
};

/* A piece of output: a byte, or a number before its conversion to digits. */
struct raddle_shadow_byte {
	uint32_t fd; /* the descriptor that the output went to */
	uint32_t node;
	uint64_t offset; /* the position in the list of output */
	uint32_t step;	 /* the number of steps before it */
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
	uint32_t active; /* 1 if the runtime was initialised */
	_Atomic uint32_t node_count, var_count, step_count, output_count, table_count, text_used, input_count;
	uint64_t lost_count[RADDLE_LOSSES];
	struct raddle_shadow_input inputs[RADDLE_SHADOW_INPUTS];
};

/* The offsets of the parts in the shared memory. */
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

/* Passes the expressions of arguments and results between caller and callee.  The caller may have
 * called code that is not instrumented, which then calls another function.  So a function uses the
 * expressions only if it is the `callee`. */
#define RADDLE_SHADOW_ARGUMENTS 16
struct raddle_shadow_call {
	const void *callee; /* the function that the arguments are for; NULL if there are none */
	const void *from;   /* the function that the result is from */
	uint32_t result;
	uint32_t count;
	uint32_t argument[RADDLE_SHADOW_ARGUMENTS];
};
extern __thread struct raddle_shadow_call __raddle_shadow_call __attribute__((tls_model("initial-exec")));

/* The functions that instrumented code calls for values that depend on the input (rt/shadow/).
 * Parameters whose names start with e are expressions, and the others are their values.  `what`
 * combines the operator and the width of the operands: op << 8 | bits.  For an index, it has the
 * size of an element in place of the operator.  For a select, bit 31 is the condition. */
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
