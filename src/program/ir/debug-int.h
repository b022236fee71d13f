/* SPDX-License-Identifier: Apache-2.0 */
/* What ir/debug.c (places and variables) and ir/type.c (types) share. */
#ifndef IR_DEBUG_INT_H
#define IR_DEBUG_INT_H

#include "base/alloc.h"
#include "base/map.h"
#include "ir/debug.h"

#include <llvm-c/Target.h>

/* A type node, read once. */
struct ir_type;

struct ir_used_type {
	const char *name;
	struct ir_type *type; /* a struct, class or union */
};

struct ir_debug {
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	LLVMValueRef declare, value; /* the debug intrinsics, NULL if absent */
	struct rd_arena *arena;
	struct rd_umap files, scopes; /* node to path, to name */
	struct rd_umap types;	      /* node to struct ir_type */
	struct rd_umap locals;	      /* value to DILocalVariable, of one function */
	struct rd_umap globals;	      /* global to DIGlobalVariable or NULL */
	struct rd_names used_names;   /* types whose members will be listed */
	struct ir_used_type *used;
	size_t used_capacity;
};

/* Operand numbers of scopes: 1 is the enclosing scope, 2 the name. */
enum { SCOPE_PARENT = 1, SCOPE_NAME = 2 };
/* Of variables, local and global. */
enum { VARIABLE_SCOPE = 0, VARIABLE_NAME = 1, VARIABLE_TYPE = 3 };

const char *ir_debug_string(struct ir_debug *d, LLVMMetadataRef string); /* "" for none */
LLVMMetadataRef ir_debug_global_variable(struct ir_debug *d,
					 LLVMValueRef global); /* NULL: it has no debug information */
/* The value that a debug intrinsic describes, if it is a single one; else NULL. */
LLVMValueRef ir_debug_described(LLVMValueRef call);

/* All operands of a node; the list lives in the arena. */
unsigned ir_debug_operands(struct ir_debug *d, LLVMMetadataRef node, LLVMValueRef **list);
LLVMMetadataRef ir_debug_operand(struct ir_debug *d, LLVMMetadataRef node, unsigned k);
void ir_debug_qualify(struct ir_debug *d, LLVMMetadataRef scope, struct rd_buf *out);

/* Types may be NULL (void). */
uint64_t ir_type_size(struct ir_debug *d, LLVMMetadataRef type); /* bytes */
bool ir_type_is_open(struct ir_debug *d, LLVMMetadataRef type);	 /* its last member is a flexible array */
bool ir_type_is_pointer(struct ir_debug *d, LLVMMetadataRef type);
LLVMMetadataRef ir_type_pointee(struct ir_debug *d, LLVMMetadataRef type); /* NULL if it is not a pointer */
LLVMMetadataRef ir_type_result(struct ir_debug *d, LLVMMetadataRef subprogram);
void ir_type_name(struct ir_debug *d, LLVMMetadataRef type, struct rd_buf *out);

/* The same for a struct or union without qualifiers; a typedef's name is used only if the type has
 * no other.  False: the type is not a struct or union. */
bool ir_type_record_name(struct ir_debug *d, LLVMMetadataRef type, struct rd_buf *out);

/* Appends the path from an object of this type to the byte at `offset`, such as ".state" or
 * "[].next".  The path goes as deep as `size` bytes fit (size 0: no deeper than the offset
 * requires).  Returns the type at its end. */
LLVMMetadataRef ir_type_path(struct ir_debug *d, LLVMMetadataRef type, uint64_t offset, uint64_t size,
			     struct rd_buf *out);

#endif
