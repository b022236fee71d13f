/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data that the parts of the analysis share: the facts, and data that is computed once for each
 * function.
 *
 * The parts run in this order (README.md lists all files). program.c builds the structures of this
 * file. share.c finds objects that several threads can reach. thread.c and join.c find the threads.
 * flow.c computes the effects of calls. walk.c finds the locks and threads at each access. pair.c
 * and conflict.c find conflicting accesses. rank.c sorts the pairs.
 */
#ifndef CANDIDATES_PROGRAM_H
#define CANDIDATES_PROGRAM_H

#include "base/map.h"
#include "base/tuple.h"
#include "candidates/candidates.h"

/* LLVM's opcode numbers, as in the facts (doc/format/facts.md). */
enum {
	OP_ADD = 8,
	OP_SUB = 10,
	OP_TRUNC = 30,
	OP_ZEXT = 31,
	OP_SEXT = 32,
	OP_PTR_TO_INT = 39,
	OP_INT_TO_PTR = 40,
	OP_BIT_CAST = 41
};
enum { IS_EQUAL = 32, IS_NOT_EQUAL = 33 }; /* LLVMIntEQ and LLVMIntNE */

/* A loop that counts.  Its counter starts at `first` and changes by `step` in each iteration.  The
 * loop's header compares the counter with `bound`. */
struct counting {
	uint32_t variable;     /* the phi instruction */
	uint32_t first, bound; /* operands: the first value, and the value it is compared with */
	int64_t step;
	uint32_t predicate;
};

struct function_info {
	struct facts_graph graph;
	struct facts_loops loops;
	bool *cyclic; /* for each block, true if it may run again during the same call */
	uint32_t first_block;
	bool has_graph;
	bool once; /* true if the function runs at most once */
	bool reached;
};

struct call_edge {
	uint32_t caller, value, callee, kind;
};

/* An access from the facts, or one that represents what a library function does to a lock, an
 * allocation or another object. */
struct access {
	uint32_t value, operand; /* the instruction, and the operand that is the address */
	uint32_t set, kind, flags, site;
	int64_t size;
	const char *what;
	bool use; /* a use of a lock or another synchronisation object; two uses never race */
};

struct program {
	const struct facts *f;
	struct candidates *out;
	struct function_info *functions;
	uint32_t *block_of;	 /* the block of each value of `f`; FACTS_NONE for an argument */
	struct call_edge *edges; /* the edges of the call graph, sorted by callee */
	size_t edge_count;
	uint32_t *edges_of; /* the index of the first edge of each callee */
	struct access *accesses;
	size_t access_count, access_capacity;
	/* The index of each function's first access.  Accesses are sorted by value. */
	uint32_t *accesses_of;
	/* For each object, true if at most one instance of it exists at a time. */
	bool *once_object;
	bool *shared_object; /* for each object, true if several threads can reach it (share.c) */
};

void program_init(struct program *p, const struct facts *f, struct candidates *out);
void program_release(struct program *p);

/* Returns the innermost natural loop that contains a block, or NULL if there is none. */
const struct facts_loop *program_loop(const struct program *p, uint32_t function, uint32_t block);

/* Returns true if the loop is a counting loop, and stores in *c how it counts. */
bool program_counts(const struct program *p, uint32_t function, const struct facts_loop *loop,
		    struct counting *c);

/* Returns true if control may flow from the instruction `from` to the instruction `to` without
 * entering the block `barrier` of the function.  `barrier` may be FACTS_NONE. */
bool program_reaches(const struct program *p, uint32_t function, uint32_t from, uint32_t to,
		     uint32_t barrier);

/* Returns the library function that an instruction calls by name, or NULL if it calls none. */
const struct facts_function *program_library(const struct program *p, uint32_t value);

uint32_t program_argument(const struct facts *f, uint32_t call,
			  uint32_t n); /* returns the operand; FACTS_NONE if there is none */
/* Returns the function that the operand refers to, or FACTS_NONE if it is not a function. */
uint32_t program_constant_function(const struct facts *f, uint32_t operand);

/* Removes the casts from an operand, and returns the value. */
uint32_t program_strip(const struct facts *f, uint32_t operand);

/* Adds a text to the list of what the analysis does not cover. */
void program_unsound(struct program *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* share.c */
void share_find(struct program *p);

#endif
