/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges two hooks into one if they are of the same kind, are in the same block, and are for
 * adjacent bytes, such as two fields of a struct:
 *
 *	p->re = a;
 *	p->im = b;
 *
 * The merged hook needs only one test.  If one of the accesses is new in the segment (the events
 * between two operations), it calls the runtime once.  The second hook is moved to the place of
 * the first, so no instruction between them may end the segment.  Both accesses keep their sites.
 */
#include "instr/record/late.h"
#include "base/error.h"

#include "base/alloc.h"
#include "instr/scan/number.h"

#include <stdlib.h>

/* The positions of the arguments of a hook. */
enum { ARGUMENT_POINTER = 1, ARGUMENT_SITE = 2, ARGUMENT_WRITE = 3 };
enum { REACH = 16 }; /* the number of hooks after a hook that are examined */
/* The largest size of an access whose hook is merged: eight bytes, as a power of two.  Two
 * adjacent accesses of sixteen bytes would too often be in different blocks (raddle/abi.h). */
enum { LARGEST_POWER = 3 };

struct half {
	LLVMValueRef call;    /* the call; NULL once it has been removed */
	enum instr_hook kind; /* READ1, WRITE1 or UPDATE1 */
	/* `key` stands for the bytes.  If two hooks have the same `stretch`, nothing between them
	 * ends the segment. */
	uint32_t key, stretch;
	uint32_t size;
};

struct halves {
	struct half *items;
	size_t count, capacity;
};

static bool half_of(const struct instr_unit *u, LLVMValueRef inst, struct half *h)
{
	static const enum instr_hook kinds[] = {HOOK_READ1, HOOK_WRITE1, HOOK_UPDATE1};
	enum instr_hook hook;
	if (!instr_late_which(u, inst, &hook))
		return false;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (hook < kinds[i] || hook > kinds[i] + LARGEST_POWER)
			continue;
		h->call = inst;
		h->kind = kinds[i];
		h->size = 1u << (hook - kinds[i]);
		return LLVMIsAConstantInt(LLVMGetArgOperand(inst, ARGUMENT_SITE)) != NULL &&
		       (h->kind != HOOK_UPDATE1 ||
			LLVMIsAConstantInt(LLVMGetArgOperand(inst, ARGUMENT_WRITE)) != NULL);
	}
	return false;
}

static void collect(const struct late *l, struct instr_numbering *n, struct halves *all)
{
	uint32_t stretch = 0;
	for (uint32_t b = 0; b < l->cfg.graph.nodes; b++, stretch++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(l->cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i)) {
			struct half h = {0};
			if (half_of(l->unit, i, &h)) {
				h.key = instr_numbering_key(n, LLVMGetArgOperand(i, ARGUMENT_POINTER),
							    h.size);
				h.stretch = stretch;
				RD_GROW(all->items, all->capacity, all->count + 1);
				all->items[all->count++] = h;
			} else if (ir_effects_synchronises(l->effects, i)) {
				stretch++;
			}
		}
}

static uint64_t site_at(const struct half *h, unsigned argument)
{
	return LLVMConstIntGetZExtValue(LLVMGetArgOperand(h->call, argument)) & UINT32_MAX;
}

static LLVMValueRef both(struct instr_unit *u, uint64_t low, uint64_t high)
{
	return LLVMConstInt(u->i64, high << 32 | low, false);
}

/* Inserts the merged hook before `first`.  `low` and `high` are the two hooks in the order of
 * their addresses. */
static void merge(struct late *l, struct half *first, struct half *low, struct half *high)
{
	RD_ASSERT(low != high && low->size == high->size && (first == low || first == high));
	struct instr_unit *u = l->unit;
	LLVMValueRef pointer = LLVMGetArgOperand(first->call, ARGUMENT_POINTER);
	LLVMValueRef back = LLVMConstInt(u->i64, -(uint64_t)first->size, true);
	LLVMValueRef size = LLVMConstInt(u->i32, first->size, false);
	LLVMPositionBuilderBefore(u->builder, first->call);
	if (first == high)
		pointer = LLVMBuildGEP2(u->builder, LLVMInt8TypeInContext(u->context), pointer, &back, 1, "");
	if (first->kind == HOOK_UPDATE1)
		instr_hook_call(
			u, HOOK_UPDATE_TWO,
			(LLVMValueRef[]){l->self, pointer,
					 both(u, site_at(low, ARGUMENT_SITE), site_at(low, ARGUMENT_WRITE)),
					 both(u, site_at(high, ARGUMENT_SITE), site_at(high, ARGUMENT_WRITE)),
					 size});
	else
		instr_hook_call(
			u, first->kind == HOOK_READ1 ? HOOK_READ_TWO : HOOK_WRITE_TWO,
			(LLVMValueRef[]){l->self, pointer,
					 both(u, site_at(low, ARGUMENT_SITE), site_at(high, ARGUMENT_SITE)),
					 size});
	LLVMInstructionEraseFromParent(low->call);
	LLVMInstructionEraseFromParent(high->call);
	low->call = high->call = NULL;
}

/* Merges a hook with the nearest later hook that fits. */
static void pair(struct late *l, const struct ir_key *keys, struct half *first, const struct half *end)
{
	const struct ir_key *key = &keys[first->key];
	for (struct half *h = first + 1; h < end && h->stretch == first->stretch; h++) {
		const struct ir_key *other = &keys[h->key];
		if (h->call == NULL || h->kind != first->kind || h->size != first->size ||
		    other->base != key->base)
			continue;
		if (other->offset == key->offset + (int64_t)first->size) {
			merge(l, first, first, h);
			return;
		}
		if (other->offset + (int64_t)first->size == key->offset) {
			merge(l, first, h, first);
			return;
		}
	}
}

void instr_late_pairs(struct late *l)
{
	struct instr_numbering *n = instr_numbering_new(l->unit->layout);
	struct halves all = {0};
	uint32_t key_count;
	collect(l, n, &all);
	const struct ir_key *keys = instr_numbering_keys(n, &key_count);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].call != NULL)
			pair(l, keys, &all.items[i],
			     &all.items[all.count < i + REACH ? all.count : i + REACH]);
	free(all.items);
	instr_numbering_free(n);
}
