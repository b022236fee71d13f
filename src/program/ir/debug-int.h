/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that ir/debug.c (places and variables) and ir/type.c (types) share. */
#ifndef IR_DEBUG_INT_H
#define IR_DEBUG_INT_H

#include "base/alloc.h"
#include "base/map.h"
#include "ir/debug.h"

#include <llvm-c/Target.h>

/* A type of the debug information, read once. */
struct ir_type;

struct ir_used_type {
	const char *name;
	struct ir_type *type; /* the struct, class or union */
};

struct ir_debug {
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	/* The functions llvm.dbg.declare and llvm.dbg.value; NULL if absent. */
	LLVMValueRef declare, value;
	struct rd_arena *arena;
	/* Map a debug node to the path of its file and to the name of its scope. */
	struct rd_umap files, scopes;
	struct rd_umap types;	    /* maps a debug node to its struct ir_type */
	struct rd_umap locals;	    /* maps a value of the current function to its DILocalVariable */
	struct rd_umap globals;	    /* maps a global to its DIGlobalVariable, or to NULL */
	struct rd_names used_names; /* the names of the types whose members will be listed */
	struct ir_used_type *used;
	size_t used_capacity;
};

/* Operand numbers of scopes: 1 is the enclosing scope, 2 the name. */
enum { SCOPE_PARENT = 1, SCOPE_NAME = 2 };
/* Operand numbers of local and global variables. */
enum { VARIABLE_SCOPE = 0, VARIABLE_NAME = 1, VARIABLE_TYPE = 3 };

const char *ir_debug_string(struct ir_debug *d, LLVMMetadataRef string); /* "" if the string is NULL */
/* Returns the DIGlobalVariable of a global, or NULL if the global has no debug information. */
LLVMMetadataRef ir_debug_global_variable(struct ir_debug *d, LLVMValueRef global);
/* Returns the value that a debug intrinsic describes, or NULL if it describes several values or
 * none. */
LLVMValueRef ir_debug_described(LLVMValueRef call);

/* Stores all operands of a node in *list and returns their number.  The list lives in the arena. */
unsigned ir_debug_operands(struct ir_debug *d, LLVMMetadataRef node, LLVMValueRef **list);
LLVMMetadataRef ir_debug_operand(struct ir_debug *d, LLVMMetadataRef node, unsigned k);
void ir_debug_qualify(struct ir_debug *d, LLVMMetadataRef scope, struct rd_buf *out);

/* Types may be NULL (void). */
uint64_t ir_type_size(struct ir_debug *d, LLVMMetadataRef type); /* in bytes */
/* Returns true if the last member of the type is a flexible array. */
bool ir_type_is_open(struct ir_debug *d, LLVMMetadataRef type);
bool ir_type_is_pointer(struct ir_debug *d, LLVMMetadataRef type);
/* Returns the type that a pointer points to, or NULL if `type` is not a pointer. */
LLVMMetadataRef ir_type_pointee(struct ir_debug *d, LLVMMetadataRef type);
LLVMMetadataRef ir_type_result(struct ir_debug *d, LLVMMetadataRef subprogram);
void ir_type_name(struct ir_debug *d, LLVMMetadataRef type, struct rd_buf *out);

/* Appends the name of a struct or union without qualifiers.  The name of a typedef is used only if
 * the type has no other.  Returns false if the type is not a struct or union. */
bool ir_type_record_name(struct ir_debug *d, LLVMMetadataRef type, struct rd_buf *out);

/* Appends the path from an object of this type to the byte at `offset`, such as ".state" or
 * "[].next".  The path descends into members as long as `size` bytes fit.  If `size` is 0, it
 * descends only as far as the offset requires.  Returns the type at the end of the path. */
LLVMMetadataRef ir_type_path(struct ir_debug *d, LLVMMetadataRef type, uint64_t offset, uint64_t size,
			     struct rd_buf *out);

#endif
