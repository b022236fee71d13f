/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Analyses what calls may do, based on the code of one unit alone: whether a call may synchronise
 * with other threads, whether it waits on a condition variable, and whether it keeps a pointer
 * argument.
 */
#ifndef IR_EFFECTS_H
#define IR_EFFECTS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

struct ir_effects;
struct ir_effects *ir_effects_new(LLVMModuleRef module);
void ir_effects_free(struct ir_effects *e);

/* Returns true if raddle/libc.inc lists this library function as quiet.  A quiet function only
 * computes, and accesses only the memory that its arguments point to.  It neither synchronises nor
 * calls back. */
bool ir_effects_is_quiet(struct ir_effects *e, const char *name);

/* Returns true if a call of the function by name certainly runs the body in this unit, because no
 * other definition can replace that body. */
bool ir_effects_is_final(struct ir_effects *e, LLVMValueRef function);

/* Returns true if executing this instruction may end the segment. */
bool ir_effects_synchronises(struct ir_effects *e, LLVMValueRef inst);

/* Returns true if this call waits on a condition variable, or calls a function of the unit that
 * does so outside its own loops. */
bool ir_effects_waits(struct ir_effects *e, LLVMValueRef call);

/* Returns true if the body of the function has a call for which ir_effects_waits() is true. */
bool ir_effects_has_wait(struct ir_effects *e, LLVMValueRef function);

/* Returns true if the callee keeps no copy of this argument (an ir_harmless_fn). */
bool ir_effects_harmless(void *effects, LLVMValueRef call, unsigned argument);

/* Returns true if the function runs before the program is relocated.  Such functions are ifunc
 * resolvers and their callees. */
bool ir_effects_is_early(struct ir_effects *e, LLVMValueRef function);

#endif
