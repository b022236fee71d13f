/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines what each pointer of a merged program may point to: makes a points-to problem
 * (ir/points.h) from the program, and stores its solution as sets in the program's facts.
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

/* A function in a calling context.  In the first frame of a function, the variables have the
 * numbers of the function's values.  Every other frame is a copy for one call.  Copies are made of
 * functions that wrap an allocator, so that their results are distinguished by the caller. */
struct ir_frame {
	uint32_t function;
	/* The variable of the function's first value.  The variables of the other values follow
	 * it. */
	uint32_t variables;
	uint32_t result; /* the variable of the function's result */
	/* The frame that contains `call`; NULL if this frame is not a copy. */
	const struct ir_frame *up;
	/* The call for which this copy was made; NULL if this frame is not a copy. */
	LLVMValueRef call;
};

/* The origin of an object of the problem. */
struct ir_object {
	enum facts_object_kind kind;
	LLVMValueRef origin; /* a global, a function or an instruction; NULL for memory of a library */
	/* The allocation inside the wrapper that `origin` calls.  NULL if there is no wrapper. */
	LLVMValueRef through;
	const char *name; /* the name of the library function */
	bool array;
};

struct ir_call_site {
	uint32_t value; /* the number of the calling instruction */
	enum facts_edge_kind kind;
};

struct ir_constrain {
	struct ir_program *program;
	struct ir_points_problem problem;
	struct ir_object *objects; /* an entry for each object of the problem */
	size_t object_capacity;
	struct ir_call_site *sites; /* an entry for each call of the problem */
	size_t site_capacity;
	struct ir_frame **frames; /* the frames that are copies */
	size_t frame_count, frame_capacity;
	uint32_t *results; /* the variable of each function's result */
	/* The variable of the first constant.  The variables of the other constants follow it. */
	uint32_t constants;
	/* The object of each function and global; IR_NO_VARIABLE if it is not created yet. */
	uint32_t *function_object, *global_object;
	uint32_t *variadic; /* for each function, the object of its variadic arguments */
	/* The variables of thread results and of thread-specific data. */
	uint32_t thread_result, thread_data;
	struct rd_umap library; /* maps a library function to its object */
	/* What is known about whether each function wraps an allocator: 0 unknown, 1 being analysed,
	 * 2 no, 3 yes. */
	uint8_t *wrapper;
	bool *needed; /* for each function, true if a call uses its first frame */
	/* For each value, true if it is a number that carries a pointer. */
	bool *from_pointer, *to_pointer;
	struct rd_umap unknown; /* maps a library function to the number of its note, plus 1 */
	uint32_t assembler_note, plugin_note;
	/* The object that stands for messages; IR_NO_VARIABLE if it is not created yet. */
	uint32_t messages;
};

/* Adds sets, objects, places, calls and notes to the program's facts.  `budget` is passed to
 * ir_points_solve(); 0 means about a minute.  If the budget is exceeded, the sets are computed by
 * ir_points_unify() instead. */
void ir_constrain(struct ir_program *program, uint64_t budget);

/* constrain.c */
uint32_t ir_constrain_variable(struct ir_constrain *c); /* makes a new variable */
uint32_t ir_constrain_operand(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef v);
void ir_constrain_add(struct ir_constrain *c, enum ir_constraint_kind kind, uint32_t to, uint32_t from);
void ir_constrain_step(struct ir_constrain *c, uint32_t to, uint32_t from, int64_t offset, int64_t stride);
void ir_constrain_copy_bytes(struct ir_constrain *c, uint32_t to, uint32_t from, int64_t size);
void ir_constrain_function(struct ir_constrain *c, const struct ir_frame *f);
void ir_constrain_note(struct ir_constrain *c, const char *text, LLVMValueRef inst, uint32_t *note);

/* constrain-call.c */
void ir_constrain_call(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call);
uint64_t ir_constrain_signature(LLVMTypeRef function_type);
/* Returns true if some call of the function does not use a copy. */
bool ir_constrain_is_entered(struct ir_constrain *c, uint32_t function);

/* object.c */
uint32_t ir_object_of_global(struct ir_constrain *c, LLVMValueRef global);
uint32_t ir_object_of_function(struct ir_constrain *c, LLVMValueRef function);
uint32_t ir_object_of_variable(struct ir_constrain *c, LLVMValueRef alloca);
/* Returns the object that contains the function's variadic arguments. */
uint32_t ir_object_of_arguments(struct ir_constrain *c, LLVMValueRef function);
uint32_t ir_object_of_library(struct ir_constrain *c, const char *name);
/* Returns the object that stands for messages while they are sent through descriptors. */
uint32_t ir_object_of_messages(struct ir_constrain *c);
/* Returns the object of a function of a plug-in.  `function` is its number in the problem. */
uint32_t ir_object_of_plugin(struct ir_constrain *c, uint32_t function);
/* Returns the object that a call in a frame allocates.  If the call is inside a wrapper of an
 * allocator, the origin of the object is the outermost call of a wrapper. */
uint32_t ir_object_of_heap(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call);

/* sets.c */
void ir_constrain_tables(struct ir_constrain *c, const struct ir_solution *s);

#endif
