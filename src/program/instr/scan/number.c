/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds accesses that touch the same bytes.  Bytes are identified by a base and a constant
 * distance from the base.  The base is a value number: two values get the same number if they are
 * computed by the same operation from the same operands, without reading memory.
 *
 * A value may be recomputed in each iteration of a loop. ir_redundant() is still correct, because
 * it requires an earlier access on every path.  On the path to the first computation of the value,
 * no access through the value has happened.
 */
#include "instr/scan/number.h"

#include "base/error.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* The largest number of operands; an instruction with more counts as a leaf. */
	MAX_OPERANDS = 8,
	MAX_DEPTH = 12, /* largest depth of an expression; addresses are seldom deeper */
};

/* An expression over value numbers. */
struct expression {
	uint64_t operation; /* the opcode */
	uint64_t type;
	uint32_t operands[MAX_OPERANDS];
	uint32_t count;
	uint32_t next; /* the next expression with the same hash; FACTS_NONE at the end */
};

struct instr_numbering {
	LLVMTargetDataRef layout;
	struct rd_umap values;	  /* maps a value to its number */
	struct rd_umap hashes;	  /* maps a hash to 1 + the newest expression with that hash */
	struct expression *items; /* the expressions, by number; leaves have count 0 */
	size_t count, capacity;
	struct ir_key *keys;
	size_t key_count, key_capacity;
	/* Maps a hash to a key.  After a collision, equal bytes may have different keys. */
	struct rd_umap key_hashes;
};

static uint32_t new_number(struct instr_numbering *n, const struct expression *e)
{
	RD_GROW(n->items, n->capacity, n->count + 1);
	n->items[n->count] = *e;
	return n->count++;
}

static uint64_t hash_of(const struct expression *e)
{
	uint64_t h = e->operation * 0x9e3779b97f4a7c15ull ^ e->type;
	for (uint32_t i = 0; i < e->count; i++)
		h = (h ^ e->operands[i]) * 0xff51afd7ed558ccdull + (h >> 29);
	return h;
}

static bool same(const struct expression *a, const struct expression *b)
{
	return a->operation == b->operation && a->type == b->type && a->count == b->count &&
	       memcmp(a->operands, b->operands, a->count * sizeof *a->operands) == 0;
}

static uint32_t find(struct instr_numbering *n, struct expression *e)
{
	uint64_t *slot = rd_umap_put(&n->hashes, hash_of(e), NULL);
	for (uint32_t i = *slot == 0 ? FACTS_NONE : *slot - 1; i != FACTS_NONE; i = n->items[i].next)
		if (same(&n->items[i], e))
			return i;
	e->next = *slot == 0 ? FACTS_NONE : *slot - 1;
	uint32_t number = new_number(n, e);
	*slot = number + 1;
	return number;
}

static bool is_pure(LLVMOpcode op)
{
	switch (op) {
	case LLVMAdd:
	case LLVMSub:
	case LLVMMul:
	case LLVMShl:
	case LLVMLShr:
	case LLVMAShr:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
	case LLVMTrunc:
	case LLVMZExt:
	case LLVMSExt:
	case LLVMBitCast:
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMGetElementPtr: return true;
	default: return false;
	}
}

static uint32_t number_of(struct instr_numbering *n, LLVMValueRef v, int depth)
{
	const uint64_t *known = rd_umap_get(&n->values, (uintptr_t)v);
	if (known != NULL)
		return *known;
	struct expression e = {0};
	LLVMOpcode op = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : 0;
	uint32_t number;
	/* True if the call returns the address of a thread-local variable. */
	bool address = op == LLVMCall && ir_base(v) != v;
	if (address) {
		number = number_of(n, LLVMGetArgOperand(v, 0), depth + 1);
	} else if (depth < MAX_DEPTH && is_pure(op) && LLVMGetNumOperands(v) <= MAX_OPERANDS) {
		e.operation = op;
		e.type =
			(uintptr_t)(op == LLVMGetElementPtr ? LLVMGetGEPSourceElementType(v) : LLVMTypeOf(v));
		e.count = LLVMGetNumOperands(v);
		for (uint32_t i = 0; i < e.count; i++)
			e.operands[i] = number_of(n, LLVMGetOperand(v, i), depth + 1);
		number = find(n, &e);
	} else {
		number = new_number(n, &e);
	}
	*rd_umap_put(&n->values, (uintptr_t)v, NULL) = number;
	return number;
}

void instr_numbering_free(struct instr_numbering *n)
{
	free(n->items);
	free(n->keys);
	RD_UMAP_RELEASE(&n->values, &n->hashes, &n->key_hashes);
	free(n);
}

struct instr_numbering *instr_numbering_new(LLVMTargetDataRef layout)
{
	struct instr_numbering *n = rd_xcalloc(1, sizeof *n);
	n->layout = layout;
	return n;
}

static uint32_t key_number(struct instr_numbering *n, const struct ir_key *key)
{
	uint64_t hash =
		key->base * 0x9e3779b97f4a7c15ull ^ (uint64_t)key->offset * 0xff51afd7ed558ccdull ^ key->size;
	bool is_new;
	uint64_t *slot = rd_umap_put(&n->key_hashes, hash, &is_new);
	if (!is_new) {
		const struct ir_key *known = &n->keys[*slot];
		if (known->base == key->base && known->offset == key->offset && known->size == key->size)
			return *slot;
	}
	RD_GROW(n->keys, n->key_capacity, n->key_count + 1);
	n->keys[n->key_count] = *key;
	*slot = n->key_count;
	return n->key_count++;
}

uint32_t instr_numbering_key(struct instr_numbering *n, LLVMValueRef pointer, uint64_t size)
{
	RD_ASSERT(pointer != NULL);
	RD_ASSERT(size != 0);
	struct ir_derived derived;
	struct ir_key key = {.size = size};
	while (ir_derive(n->layout, pointer, &derived) && derived.constant) {
		key.offset += derived.offset;
		pointer = derived.from;
	}
	key.base = number_of(n, pointer, 0);
	return key_number(n, &key);
}

const struct ir_key *instr_numbering_keys(const struct instr_numbering *n, uint32_t *count)
{
	*count = n->key_count;
	return n->keys;
}
