/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a merged program to a points-to problem (ir/points.h), and from its solution to sets in the
 * program's facts.
 *
 *	constrain.c       instructions and initial values
 *	constrain-call.c  calls: of functions, of wrappers of allocators, of library functions
 *	object.c          objects and their layouts
 *	sets.c            the solution as tables
 */
#ifndef IR_CONSTRAIN_H
#define IR_CONSTRAIN_H

#include "ir/points.h"
#include "ir/program.h"

/* A function in a context.  The first frame of a function uses the numbers of its values as
 * variables.  The other frames are copies, each for one call, so that the result of an allocator's
 * wrapper is distinguished by its caller. */
struct ir_frame {
	uint32_t function;
	uint32_t variables;	   /* of its first value; the others follow */
	uint32_t result;	   /* variable */
	const struct ir_frame *up; /* the frame whose call made this copy; NULL: not a copy */
	LLVMValueRef call;	   /* that call */
};

/* The origin of an object of the problem. */
struct ir_object {
	enum facts_object_kind kind;
	LLVMValueRef origin;  /* global, function, or instruction; NULL: memory of a library */
	LLVMValueRef through; /* the allocation inside the wrapper that origin calls, or NULL */
	const char *name;     /* of the library function */
	bool array;
};

struct ir_call_site {
	uint32_t value; /* the instruction */
	enum facts_edge_kind kind;
};

struct ir_constrain {
	struct ir_program *program;
	struct ir_points_problem problem;
	struct ir_object *objects; /* one for each object of the problem */
	size_t object_capacity;
	struct ir_call_site *sites; /* one for each call of the problem */
	size_t site_capacity;
	struct ir_frame **frames; /* the copies */
	size_t frame_count, frame_capacity;
	uint32_t *results;			   /* variable of each function's result */
	uint32_t constants;			   /* variable of the first constant; the others follow */
	uint32_t *function_object, *global_object; /* by number; IR_NO_VARIABLE: not created yet */
	uint32_t *variadic;			   /* object that holds a function's further arguments */
	uint32_t thread_result, thread_data;	   /* variables: results of threads, thread-specific data */
	struct rd_umap library;			   /* library function to its object */
	uint8_t *wrapper;		 /* of functions: 0 unknown, 1 being analysed, 2 no, 3 yes */
	bool *needed;			 /* functions whose own frame is called */
	bool *from_pointer, *to_pointer; /* values that are numbers and carry pointers */
	struct rd_umap unknown;		 /* library function to 1 + note */
	uint32_t assembler_note, plugin_note;
	uint32_t messages; /* object; IR_NO_VARIABLE: not created yet */
};

/* Adds sets, objects, places, calls and notes to the program's facts.  `budget` is that of
 * ir_points_solve(); 0: about a minute.  If the budget is exceeded, the sets come from
 * ir_points_unify(). */
void ir_constrain(struct ir_program *program, uint64_t budget);

/* constrain.c */
uint32_t ir_constrain_variable(struct ir_constrain *c); /* a new one */
uint32_t ir_constrain_operand(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef v);
void ir_constrain_add(struct ir_constrain *c, enum ir_constraint_kind kind, uint32_t to, uint32_t from);
void ir_constrain_step(struct ir_constrain *c, uint32_t to, uint32_t from, int64_t offset, int64_t stride);
void ir_constrain_copy_bytes(struct ir_constrain *c, uint32_t to, uint32_t from, int64_t size);
void ir_constrain_function(struct ir_constrain *c, const struct ir_frame *f);
void ir_constrain_note(struct ir_constrain *c, const char *text, LLVMValueRef inst, uint32_t *note);

/* constrain-call.c */
void ir_constrain_call(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call);
uint64_t ir_constrain_signature(LLVMTypeRef function_type);
bool ir_constrain_is_entered(struct ir_constrain *c, uint32_t function); /* not only as copies */

/* object.c */
uint32_t ir_object_of_global(struct ir_constrain *c, LLVMValueRef global);
uint32_t ir_object_of_function(struct ir_constrain *c, LLVMValueRef function);
uint32_t ir_object_of_variable(struct ir_constrain *c, LLVMValueRef alloca);
uint32_t ir_object_of_arguments(struct ir_constrain *c, LLVMValueRef function); /* the variadic ones */
uint32_t ir_object_of_library(struct ir_constrain *c, const char *name);
uint32_t ir_object_of_messages(struct ir_constrain *c); /* messages in transit through descriptors */
/* A function of a plug-in; `function` is its number in the problem. */
uint32_t ir_object_of_plugin(struct ir_constrain *c, uint32_t function);
/* The memory that a call allocates, in a frame: the outermost call of a wrapper is its origin. */
uint32_t ir_object_of_heap(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call);

/* sets.c */
void ir_constrain_tables(struct ir_constrain *c, const struct ir_solution *s);

#endif
