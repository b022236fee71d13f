/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds source names in debug information: the place of an instruction, the target of a pointer as
 * it is written in the source, the name of its type, and the members of a struct.  The module must
 * have its debug records as intrinsics (LLVMSetIsNewDbgInfoFormat(m, 0)).
 */
#ifndef IR_DEBUG_H
#define IR_DEBUG_H

#include "base/buf.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <stdint.h>

struct ir_debug;
struct ir_debug *ir_debug_new(LLVMModuleRef module);
void ir_debug_free(struct ir_debug *d);

/* Reads the local variables of a function.  Call this before calling ir_debug_what() for the
 * function's instructions. */
void ir_debug_function(struct ir_debug *d, LLVMValueRef function);

/* Returns the path of the file of a scope or location, or NULL if it is unknown.  The text is
 * valid as long as d. */
const char *ir_debug_file(struct ir_debug *d, LLVMMetadataRef scope);

/* Returns the source name of the function that contains a scope, with its classes and namespaces,
 * or "" if it is unknown.  The text is valid as long as d. */
const char *ir_debug_scope_name(struct ir_debug *d, LLVMMetadataRef scope);
/* Returns the source name of a function, or its linkage name if there is no debug information. */
const char *ir_debug_function_name(struct ir_debug *d, LLVMValueRef function);

/* The target of a pointer: its name as in the source, and the name of its type.  Either may be
 * empty. */
struct ir_what {
	struct rd_buf text, type;
};
#define IR_WHAT_INIT                                                                                         \
	{                                                                                                    \
		RD_BUF_INIT, RD_BUF_INIT                                                                     \
	}
void ir_debug_what(struct ir_debug *d, LLVMValueRef pointer, uint64_t size, struct ir_what *out);
void ir_debug_what_release(struct ir_what *what);

/* Finds the largest struct or union that contains the target of a pointer and that is itself the
 * target of another pointer.  For `&c->list.next`, this is the type of *c.  Appends its name, and
 * stores the offset of the target in that type in *offset.  Returns false if the type is
 * unknown. */
bool ir_debug_holder(struct ir_debug *d, LLVMValueRef pointer, struct rd_buf *type, uint64_t *offset);

/* Appends the name of the variable that receives the result of a call, or nothing if it is
 * unknown. */
void ir_debug_result(struct ir_debug *d, LLVMValueRef call, struct rd_buf *out);

/* The debug information of a global variable. ir_debug_global() returns false if there is none. */
struct ir_global {
	struct rd_buf name, type;
	const char *file;
	unsigned line;
};
bool ir_debug_global(struct ir_debug *d, LLVMValueRef global, struct ir_global *out);

/* A member of a struct or union type.  ir_debug_members() calls `fn` for each member of each type
 * whose name has been returned so far.  The types are in the order of first use, and their members
 * in the order of their offsets. */
struct ir_member {
	const char *type, *name, *member_type;
	uint64_t size, offset, member_size;
};
typedef void ir_member_fn(void *context, const struct ir_member *member);
void ir_debug_members(struct ir_debug *d, ir_member_fn *fn, void *context);

/* The variable that a name refers to at a location.  It is the innermost local variable of that
 * name, or else a global one.  ir_debug_variable() returns false if there is none. */
struct ir_variable {
	LLVMValueRef storage; /* an alloca, a parameter that points to the variable, or a global */
	LLVMMetadataRef type; /* NULL if unknown, as for a global that is defined elsewhere */
	bool local;
};
bool ir_debug_variable(struct ir_debug *d, LLVMValueRef inst, const char *name, struct ir_variable *out);

/* Returns a copy of the text.  The copy lives as long as d. */
const char *ir_debug_keep(struct ir_debug *d, const char *text);

/* Finds the value of an enumerator of the unit.  Returns false if no enumerator has this name. */
bool ir_debug_enumerator(struct ir_debug *d, const char *name, int64_t *value);

/* The kind of a type, as far as expressions distinguish it. */
enum ir_shape {
	IR_SHAPE_NONE,
	IR_SHAPE_INTEGER,
	IR_SHAPE_REAL,
	IR_SHAPE_POINTER,
	IR_SHAPE_RECORD,
	IR_SHAPE_ARRAY
};
struct ir_view {
	enum ir_shape shape;
	unsigned bits;	/* the size of a number or pointer in bits */
	bool is_signed; /* true if an integer is signed */
	/* The type that a pointer points to, or the type of an array's elements. */
	LLVMMetadataRef to;
	unsigned dimensions; /* the number of dimensions of an array */
};
void ir_type_view(struct ir_debug *d, LLVMMetadataRef type, struct ir_view *out);
uint64_t ir_type_bytes(struct ir_debug *d, LLVMMetadataRef type);
/* Returns the number of elements that one step in a dimension skips.  Dimensions count from 0. */
uint64_t ir_type_step(struct ir_debug *d, LLVMMetadataRef array, unsigned dimension);

struct ir_found_member {
	LLVMMetadataRef type;
	uint64_t offset; /* the offset of the member in bits */
	unsigned bits;	 /* the width of a bit-field in bits; 0 for other members */
};
/* Finds a member of a struct or union.  Members of anonymous members are found too. */
bool ir_type_member(struct ir_debug *d, LLVMMetadataRef record, const char *name,
		    struct ir_found_member *out);

#endif
