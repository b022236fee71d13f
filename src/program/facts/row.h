/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the tables of facts, and what their numbers mean (doc/format/facts.md). facts/facts.h
 * explains "string" and "start". */
#ifndef FACTS_ROW_H
#define FACTS_ROW_H

#include <stdint.h>

/* How precise the points-to sets are. */
enum facts_rung {
	FACTS_RUNG_NONE,	/* not computed: sets are empty, indirect calls have no edges */
	FACTS_RUNG_INCLUSION,	/* inclusion-based, with fields */
	FACTS_RUNG_UNIFICATION, /* unification-based, without fields: for huge programs */
};

/* The program.  This table has one row. */
struct facts_program {
	uint32_t name; /* the string of the program's path */
	uint32_t units;
	uint32_t rung;
	uint32_t variables, constraints; /* the size of the points-to problem */
};

enum facts_function_flag {
	FACTS_FUNCTION_EXTERNAL = 1, /* the program does not contain the function's code */
	FACTS_FUNCTION_ADDRESS = 2,  /* the function's address is taken */
	FACTS_FUNCTION_NO_RETURN = 4,
	/* The function is called from outside: main, constructors, exported functions of a
	 * library. */
	FACTS_FUNCTION_ROOT = 8,
	/* The function is external, and its effect on pointers is known. */
	FACTS_FUNCTION_MODELLED = 16,
	FACTS_FUNCTION_INTRINSIC = 32,
	/* The function's code is in a shared library or plug-in of the program. */
	FACTS_FUNCTION_LIBRARY = 64,
};

struct facts_function {
	uint32_t name;	  /* the string of the function's name in the source */
	uint32_t linkage; /* the string of the function's name for the linker */
	uint32_t file;	  /* the string of the source file */
	uint32_t line;
	uint32_t flags;
	uint32_t role;	  /* the function's effect on threads and memory, an enum facts_role */
	uint32_t subject; /* the argument that the role refers to; FACTS_NONE if there is none */
	/* The start of the function's values, which are its arguments and then the instructions of
	 * its blocks. */
	uint32_t values;
	uint32_t arguments;
	uint32_t blocks; /* the start of the function's blocks, of which the first is the entry */
};

struct facts_block {
	/* The start of the block's values.  The values of a function's last block end where the
	 * function's values end. */
	uint32_t values;
	uint32_t successors; /* the start of the block's successors */
};

struct facts_successor {
	uint32_t block;
};

enum facts_kind {
	FACTS_ARGUMENT,
	FACTS_LOAD,	/* operand: address */
	FACTS_STORE,	/* operands: value, address */
	FACTS_UPDATE,	/* an atomic read-modify-write; operands: address, value */
	FACTS_EXCHANGE, /* a compare-and-exchange; operands: address, expected value, new value */
	FACTS_FENCE,
	FACTS_CALL,	/* operands: the arguments, then the callee */
	FACTS_VARIABLE, /* a stack variable; `number` is its size in bytes, or -1 if the size varies */
	/* Operands: the base, then the variable indices, each with its stride.  `number` is the
	 * constant distance. */
	FACTS_ADDRESS,
	FACTS_PHI,    /* operands: values, each with the block that it comes from */
	FACTS_SELECT, /* operands: the condition, the value if true, the value if false */
	FACTS_COMPARE,
	FACTS_CAST,
	FACTS_COMPUTE, /* any other instruction with a value */
	FACTS_BRANCH,  /* operand: the condition */
	FACTS_SWITCH,  /* operand: the condition */
	FACTS_JUMP,
	FACTS_RETURN, /* operand: the value, if there is one */
	FACTS_UNREACHABLE,
	FACTS_KINDS
};

enum facts_value_flag {
	FACTS_VALUE_POINTER = 1,    /* the value's type is a pointer */
	FACTS_VALUE_VOLATILE = 2,   /* a load, store or atomic is volatile */
	FACTS_VALUE_ATOMIC = 4,	    /* a load, store or other access is atomic */
	FACTS_VALUE_INDIRECT = 8,   /* a call through a pointer */
	FACTS_VALUE_ASSEMBLER = 16, /* a call of inline assembler */
	FACTS_VALUE_RELAXED = 32,   /* an atomic access that orders nothing */
};

struct facts_value {
	uint32_t kind;
	/* The number that LLVM assigns to the operation, or to the predicate of an integer
	 * comparison. */
	uint32_t detail;
	uint32_t flags;
	uint32_t file; /* the string of the source file */
	uint32_t line, column;
	/* For calls and fences, the site number in the flavour `record`, mode quick.  0 if there
	 * is no site. */
	uint32_t site;
	/* The string with the name of the variable, or of what a load, store or atomic accesses. */
	uint32_t what;
	uint32_t operands; /* the start of the value's operands */
	uint32_t set;	   /* the set of places that the value may point to */
	/* The meaning depends on the kind (enum facts_kind).  For loads, stores and atomics, it is
	 * the size in bytes. */
	int64_t number;
};

/* An operand is the number of a value or, with FACTS_CONSTANT set, of a constant. */
#define FACTS_CONSTANT 0x80000000u

struct facts_operand {
	uint32_t operand;
	uint32_t with; /* the block or the stride that belongs to the operand (enum facts_kind) */
};

enum facts_constant_kind {
	FACTS_CONSTANT_OTHER, /* a floating-point number, an aggregate or an undefined value */
	FACTS_CONSTANT_INTEGER,
	FACTS_CONSTANT_NULL,
	FACTS_CONSTANT_GLOBAL,	 /* the address of a global variable, and a distance */
	FACTS_CONSTANT_FUNCTION, /* the address of a function */
	FACTS_CONSTANT_KINDS
};

struct facts_constant {
	uint32_t kind;
	uint32_t target; /* the number of the global or function; 0 for other kinds */
	uint32_t set;
	int64_t number; /* the integer, or the distance from the global in bytes */
};

enum facts_object_flag {
	FACTS_OBJECT_CONSTANT = 1,
	FACTS_OBJECT_THREAD_LOCAL = 2,
	FACTS_OBJECT_EXTERNAL = 4, /* the object is defined outside the program */
	/* The object's elements are merged, so its places are those of the first element. */
	FACTS_OBJECT_ARRAY = 8,
	/* Several instances of the object may exist at the same time, as for heap, stack and
	 * thread-local objects. */
	FACTS_OBJECT_MANY = 16,
};

struct facts_global {
	uint32_t name, linkage, type, file; /* numbers of strings */
	uint32_t line;
	uint32_t flags;
	uint32_t object; /* the number of the global's object; FACTS_NONE if nothing points to it */
	int64_t size;
};

enum facts_object_kind {
	FACTS_OBJECT_GLOBAL,
	FACTS_OBJECT_FUNCTION,
	FACTS_OBJECT_STACK,
	FACTS_OBJECT_HEAP,
	FACTS_OBJECT_LIBRARY, /* memory that belongs to a library function */
	FACTS_OBJECT_KINDS
};

struct facts_object {
	uint32_t kind;
	uint32_t name; /* the string of the object's name, such as "counter" or "malloc@queue.c:12" */
	uint32_t flags;
	/* What makes the object: a global, a function, or a value (for stack and heap).
	 * FACTS_NONE for a library. */
	uint32_t origin;
	/* For a heap object that a wrapper allocates, the allocation inside the wrapper that
	 * `origin` calls.  FACTS_NONE if there is no wrapper. */
	uint32_t through;
	int64_t size; /* the size in bytes; -1 if it is unknown */
};

/* A place is an object and an offset in it.  The offset FACTS_ANYWHERE stands for the whole
 * object. */
#define FACTS_ANYWHERE (-1)

struct facts_place {
	uint32_t object;
	uint32_t contents; /* the set of places that a pointer stored here may point to */
	int64_t offset;	   /* the offset in bytes, or FACTS_ANYWHERE */
};

/* A set of places; set 0 is empty. */
struct facts_set {
	uint32_t members; /* the start of the set's members */
};

struct facts_member {
	uint32_t place; /* the number of a place; places ascend within a set */
};

enum facts_access_kind { FACTS_READ, FACTS_WRITE, FACTS_READ_WRITE, FACTS_ACCESS_KINDS };

enum facts_access_flag {
	FACTS_ACCESS_ATOMIC = 1,
	FACTS_ACCESS_VOLATILE = 2,
	FACTS_ACCESS_THREAD_LOCAL = 4, /* the access is to a thread-local variable */
	FACTS_ACCESS_STACK = 8,	       /* the access is to a stack variable whose address escapes */
	/* The value that is read decides whether a loop around a condition wait continues. */
	FACTS_ACCESS_WAIT_LOOP = 16,
	/* The same bytes were accessed before in the same segment, so the access has no site. */
	FACTS_ACCESS_REDUNDANT = 32,
};

/* A memory access that may conflict with accesses of other threads.  The recorder uses the same
 * rules to decide which accesses to record. */
struct facts_access {
	uint32_t value; /* the number of the instruction */
	uint32_t kind;
	uint32_t flags;
	uint32_t operand; /* which operand of the instruction is the address */
	/* The site number in the flavour `record`, mode quick; 0 if there is no site. */
	uint32_t site;
	uint32_t set; /* the set of places that the address may point to */
	int64_t size; /* the number of bytes; 0 if it is known only at run time */
};

enum facts_edge_kind {
	FACTS_EDGE_CALL,     /* a call by name */
	FACTS_EDGE_INDIRECT, /* a call through a pointer */
	FACTS_EDGE_START,    /* the call starts a thread that runs the function */
	FACTS_EDGE_CALLBACK, /* a library function calls the function before it returns */
	/* The function is registered to be called later, as a signal handler, an exit function or
	 * a destructor. */
	FACTS_EDGE_LATER,
	FACTS_EDGE_KINDS
};

/* An edge of the call graph.  Rows ascend by value, then by function. */
struct facts_call {
	uint32_t value; /* the number of the calling instruction */
	uint32_t function;
	uint32_t kind;
};

/* A gap in the points-to sets.  It limits how far they can be trusted. */
struct facts_note {
	uint32_t text; /* the string of the description */
	/* The first instruction with this gap; FACTS_NONE if the gap concerns no instruction. */
	uint32_t value;
	uint32_t count; /* the number of instructions with this gap */
};

#endif
