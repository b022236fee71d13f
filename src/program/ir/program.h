/* SPDX-License-Identifier: Apache-2.0 */
/* A merged program while tables of facts about it are made (facts/facts.h): the LLVM module, the
 * tables, and the row numbers of the module's values. */
#ifndef IR_PROGRAM_H
#define IR_PROGRAM_H

#include "base/map.h"
#include "facts/facts.h"
#include "ir/debug.h"
#include "ir/extern.h"

#include <llvm-c/Target.h>

/* The attribute of functions that belong to a library of the program. */
#define IR_LIBRARY_ATTRIBUTE "raddle-library"

struct ir_program {
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	struct ir_debug *debug;
	struct facts *facts;
	struct rd_names strings;
	struct rd_umap functions, globals, blocks, values, constants; /* map to row numbers */
	LLVMValueRef *refs; /* the LLVM value of each row of values */
	size_t ref_capacity;
	LLVMValueRef *function_refs, *global_refs, *constant_refs;
	size_t function_capacity, global_capacity, constant_capacity;
};

/* Fills all tables except those of sets and objects, and the calls that depend on them.  The debug
 * information of the module must be in the form of intrinsics. */
void ir_program_init(struct ir_program *p, LLVMModuleRef module);
void ir_program_release(struct ir_program *p);

/* Returns the tables, which then belong to the caller.  Call this after everything is filled in. */
struct facts *ir_program_finish(struct ir_program *p);

uint32_t ir_program_string(struct ir_program *p, const char *s); /* NULL is treated as "" */
uint32_t ir_program_function(const struct ir_program *p, LLVMValueRef function);
/* Returns the row of a value, or FACTS_NONE if the value has no row. */
uint32_t ir_program_value(const struct ir_program *p, LLVMValueRef v);

/* Appends the place of an instruction as "file.c:12", or "?" if it is unknown. */
void ir_program_place(struct ir_program *p, LLVMValueRef inst, struct rd_buf *out);

#endif
