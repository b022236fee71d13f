/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns a key to the bytes that each access of a function touches.  Accesses to the same bytes
 * get the same key. */
#ifndef INSTR_NUMBER_H
#define INSTR_NUMBER_H

#include "ir/redundant.h"
#include "ir/value.h"

struct instr_numbering;
struct instr_numbering *instr_numbering_new(LLVMTargetDataRef layout);
void instr_numbering_free(struct instr_numbering *n);

/* Returns the key (for ir_redundant()) of `size` bytes at a pointer. */
uint32_t instr_numbering_key(struct instr_numbering *n, LLVMValueRef pointer, uint64_t size);

/* Returns all keys that were made.  They are valid until the next key is made. */
const struct ir_key *instr_numbering_keys(const struct instr_numbering *n, uint32_t *count);

#endif
