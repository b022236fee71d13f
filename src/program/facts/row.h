/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the tables of facts, and what their numbers mean (doc/format/facts.md). */
#ifndef FACTS_ROW_H
#define FACTS_ROW_H

#include <stdint.h>

/* How precise the points-to sets are. */
enum facts_rung {
	FACTS_RUNG_NONE,	/* not computed: sets are empty, indirect calls have no edges */
	FACTS_RUNG_INCLUSION,	/* inclusion-based, with fields */
	FACTS_RUNG_UNIFICATION, /* unification-based, without fields: for huge programs */
};

/* There is one row. */
struct facts_program {
	uint32_t name; /* string: path of the program */
	uint32_t units;
	uint32_t rung;
	uint32_t variables, constraints; /* of the points-to problem */
};

enum facts_function_flag {
	FACTS_FUNCTION_EXTERNAL = 1, /* its code is elsewhere */
	FACTS_FUNCTION_ADDRESS = 2,  /* its address is taken */
	FACTS_FUNCTION_NO_RETURN = 4,
	FACTS_FUNCTION_ROOT =
		8, /* called from outside: main, constructors, exported functions of a library */
	FACTS_FUNCTION_MODELLED = 16, /* external, and its effect on pointers is known */
	FACTS_FUNCTION_INTRINSIC = 32,
	FACTS_FUNCTION_LIBRARY = 64, /* its code is in a shared library or plug-in of the program */
};

struct facts_function {
	uint32_t name;	  /* string: as in the source */
	uint32_t linkage; /* string */
	uint32_t file;	  /* string */
	uint32_t line;
	uint32_t flags;
	uint32_t role;	  /* enum facts_role: its effect on threads and memory */
	uint32_t subject; /* the argument that the role refers to; FACTS_NONE: no argument */
	uint32_t values;  /* start in values: its arguments, then the instructions of its blocks */
	uint32_t arguments;
	uint32_t blocks; /* start in blocks; the entry is the first */
};

struct facts_block {
	uint32_t values;     /* start in values; the last block of a function ends where the function does */
	uint32_t successors; /* start in successors */
};

struct facts_successor {
	uint32_t block;
};

enum facts_kind {
	FACTS_ARGUMENT,
	FACTS_LOAD,	/* operands: address */
	FACTS_STORE,	/* value, address */
	FACTS_UPDATE,	/* atomic read-modify-write: address, value */
	FACTS_EXCHANGE, /* compare-and-exchange: address, expected, new */
	FACTS_FENCE,
	FACTS_CALL,	/* arguments, then the callee */
	FACTS_VARIABLE, /* a stack variable; number: bytes, -1 if they vary */
	FACTS_ADDRESS,	/* base, then variable indices, each with its stride; number: constant distance */
	FACTS_PHI,	/* values, each with the block that it comes from */
	FACTS_SELECT,	/* condition, value if true, value if false */
	FACTS_COMPARE,
	FACTS_CAST,
	FACTS_COMPUTE, /* any other instruction with a value */
	FACTS_BRANCH,  /* condition */
	FACTS_SWITCH,  /* condition */
	FACTS_JUMP,
	FACTS_RETURN, /* value, if there is one */
	FACTS_UNREACHABLE,
	FACTS_KINDS
};

enum facts_value_flag {
	FACTS_VALUE_POINTER = 1,    /* its type is a pointer */
	FACTS_VALUE_VOLATILE = 2,   /* of loads, stores and atomics */
	FACTS_VALUE_ATOMIC = 4,	    /* likewise */
	FACTS_VALUE_INDIRECT = 8,   /* a call through a pointer */
	FACTS_VALUE_ASSEMBLER = 16, /* a call of inline assembler */
	FACTS_VALUE_RELAXED = 32,   /* an atomic access that orders nothing */
};

struct facts_value {
	uint32_t kind;
	uint32_t detail; /* LLVM's number of the operation, or of an integer comparison's predicate */
	uint32_t flags;
	uint32_t file; /* string */
	uint32_t line, column;
	uint32_t site;	   /* of calls and fences, as numbered in the flavour `record`, quick; 0: no site */
	uint32_t what;	   /* string: the variable, or what a load, store or atomic accesses */
	uint32_t operands; /* start in operands */
	uint32_t set;	   /* what it may point to */
	int64_t number;	   /* see enum facts_kind; of loads, stores and atomics the size in bytes */
};

/* An operand is the number of a value or, with FACTS_CONSTANT set, of a constant. */
#define FACTS_CONSTANT 0x80000000u

struct facts_operand {
	uint32_t operand;
	uint32_t with; /* see enum facts_kind */
};

enum facts_constant_kind {
	FACTS_CONSTANT_OTHER, /* floating point, aggregates, undefined */
	FACTS_CONSTANT_INTEGER,
	FACTS_CONSTANT_NULL,
	FACTS_CONSTANT_GLOBAL,	 /* the address of a global variable, and a distance */
	FACTS_CONSTANT_FUNCTION, /* the address of a function */
	FACTS_CONSTANT_KINDS
};

struct facts_constant {
	uint32_t kind;
	uint32_t target; /* number of the global or function, else 0 */
	uint32_t set;
	int64_t number; /* the integer, or the distance */
};

enum facts_object_flag {
	FACTS_OBJECT_CONSTANT = 1,
	FACTS_OBJECT_THREAD_LOCAL = 2,
	FACTS_OBJECT_EXTERNAL = 4, /* defined elsewhere */
	FACTS_OBJECT_ARRAY = 8,	   /* its elements are merged: places are those of the first */
	FACTS_OBJECT_MANY = 16,	   /* several may exist at a time: heap, stack, thread-local variables */
};

struct facts_global {
	uint32_t name, linkage, type, file; /* strings */
	uint32_t line;
	uint32_t flags;
	uint32_t object; /* FACTS_NONE: nothing points to it */
	int64_t size;
};

enum facts_object_kind {
	FACTS_OBJECT_GLOBAL,
	FACTS_OBJECT_FUNCTION,
	FACTS_OBJECT_STACK,
	FACTS_OBJECT_HEAP,
	FACTS_OBJECT_LIBRARY, /* memory of a library function */
	FACTS_OBJECT_KINDS
};

struct facts_object {
	uint32_t kind;
	uint32_t name; /* string: "counter", "malloc@queue.c:12" */
	uint32_t flags;
	uint32_t origin; /* global, function, or the value that makes it (stack, heap); FACTS_NONE: library */
	uint32_t through; /* heap: the allocation inside the wrapper that origin calls; FACTS_NONE: no wrapper
			   */
	int64_t size;	  /* bytes; -1: unknown */
};

/* A place is an object and an offset in it, or the whole object. */
#define FACTS_ANYWHERE (-1)

struct facts_place {
	uint32_t object;
	uint32_t contents; /* set: what the pointer stored there may point to */
	int64_t offset;	   /* FACTS_ANYWHERE: any */
};

/* A set of places; set 0 is empty. */
struct facts_set {
	uint32_t members; /* start in members */
};

struct facts_member {
	uint32_t place; /* ascending within a set */
};

enum facts_access_kind { FACTS_READ, FACTS_WRITE, FACTS_READ_WRITE, FACTS_ACCESS_KINDS };

enum facts_access_flag {
	FACTS_ACCESS_ATOMIC = 1,
	FACTS_ACCESS_VOLATILE = 2,
	FACTS_ACCESS_THREAD_LOCAL = 4, /* of a thread-local variable */
	FACTS_ACCESS_STACK = 8,	       /* of a stack variable whose address escapes */
	FACTS_ACCESS_WAIT_LOOP = 16,   /* decides a loop around a condition wait */
	FACTS_ACCESS_REDUNDANT =
		32, /* the same bytes were accessed before in the same segment: it has no site */
};

/* A memory access that other threads may conflict with, as the recorder sees it. */
struct facts_access {
	uint32_t value; /* the instruction */
	uint32_t kind;
	uint32_t flags;
	uint32_t operand; /* of the instruction: the address */
	uint32_t site;	  /* of the flavour `record`, quick; 0: no site */
	uint32_t set;	  /* what the address may point to */
	int64_t size;	  /* bytes; 0: known only at run time */
};

enum facts_edge_kind {
	FACTS_EDGE_CALL,     /* by name */
	FACTS_EDGE_INDIRECT, /* through a pointer */
	FACTS_EDGE_START,    /* the call starts a thread that runs the function */
	FACTS_EDGE_CALLBACK, /* a library function calls it before it returns */
	FACTS_EDGE_LATER,    /* it is registered: a signal handler, an exit function, a destructor */
	FACTS_EDGE_KINDS
};

/* The call graph.  Ascending by value, then function. */
struct facts_call {
	uint32_t value; /* the calling instruction */
	uint32_t function;
	uint32_t kind;
};

/* What the points-to sets do not cover; it limits how far they can be trusted. */
struct facts_note {
	uint32_t text;	/* string */
	uint32_t value; /* the first such instruction; FACTS_NONE: none in particular */
	uint32_t count; /* how many */
};

#endif
