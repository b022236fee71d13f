/* SPDX-License-Identifier: Apache-2.0 */
/* Queries about LLVM values that the C API does not offer. */
#ifndef IR_VALUE_H
#define IR_VALUE_H

#include "base/map.h"
#include "facts/graph.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>

/* Returns the function that a call or invoke names, or NULL for indirect calls and inline
 * assembler.  Aliases are resolved. */
LLVMValueRef ir_callee(LLVMValueRef call);
const char *ir_name(LLVMValueRef v); /* terminated by NUL; "" if the value has no name */
bool ir_starts(const char *s, const char *prefix);
/* Returns true if the instruction is a call or invoke, even of assembler. */
bool ir_is_call(LLVMValueRef inst);
/* Returns true if the module does not contain the function's code. */
bool ir_is_external(LLVMValueRef function);
bool ir_has_attribute(LLVMValueRef function, const char *name); /* an enum or string attribute */

/* Returns true if the function is used in any other way than being called by name. */
bool ir_address_taken(LLVMValueRef function);

/* Returns the object that a pointer points into.  Follows casts, address computations, aliases and
 * the thread-local address intrinsic. */
LLVMValueRef ir_base(LLVMValueRef pointer);

/* One step of ir_base(): the pointer from which `pointer` is derived, and the offset between them
 * in bytes, as far as it is constant.  ir_derive() returns false if `pointer` is itself a base. */
struct ir_derived {
	LLVMValueRef from;
	int64_t offset;
	bool constant; /* true if all indices were constant, so that the offset is exact */
	/* The stride of a variable index that steps over whole pointees.  0 if there is no such
	 * index. */
	uint64_t stride;
};
bool ir_derive(LLVMTargetDataRef layout, LLVMValueRef pointer, struct ir_derived *out);

/* Iterates over the indices of a getelementptr.  Initialise it with {.gep = gep}. */
struct ir_gep {
	LLVMValueRef gep, index;
	/* The type whose elements `index` counts, or the struct whose field it selects. */
	LLVMTypeRef type;
	bool field;
	unsigned at;	   /* the operand number of `index` */
	LLVMTypeRef inner; /* the type that the next index selects from */
};
bool ir_gep_next(struct ir_gep *g); /* returns false at the end */

/* Returns true if the callee keeps no copy of the argument. */
typedef bool ir_harmless_fn(void *context, LLVMValueRef call, unsigned argument);
/* Returns true if code that does not access an object by name may know its address: the address is
 * stored, passed on, or converted to a number. */
bool ir_escapes(LLVMValueRef object, ir_harmless_fn *harmless, void *context);

/* Makes the edges from `from` to `old` lead to `to` instead.  Phi nodes are not updated. */
void ir_redirect(LLVMBasicBlockRef from, LLVMBasicBlockRef old, LLVMBasicBlockRef to);

/* A function's blocks as a graph.  Blocks are numbered in layout order. */
struct ir_cfg {
	LLVMBasicBlockRef *blocks;
	struct rd_umap index; /* maps a block to its number */
	struct facts_graph graph;
};
void ir_cfg_init(struct ir_cfg *cfg, LLVMValueRef function);
void ir_cfg_release(struct ir_cfg *cfg);
uint32_t ir_cfg_number(const struct ir_cfg *cfg, LLVMBasicBlockRef block);

#endif
