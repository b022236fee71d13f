/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that say nothing new.  doc/format/trace.md lets one read and one write of
 * a byte in a segment stand for all; the runtime drops the rest, and here those
 * are found that it would drop in every run.  The rule is in ir/graph.h
 * (ir_redundant); this file says which accesses are of the same bytes.
 *
 * Bytes are named by a base and a constant distance.  The base is a value
 * number: two values get the same number if they compute the same from the same
 * operands without looking at memory.  A value that is computed anew in each round
 * of a loop does no harm: on the way to its first computation nothing has
 * been accessed through it, so nothing is known of it on all paths.
 */
#include "instr/event.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 8, MAX_DEPTH = 12 };

/* An expression over value numbers. */
struct expression {
	uint64_t operation; /* opcode, or opcode and type */
	uint64_t type;
	uint32_t operands[MAX_OPERANDS];
	uint32_t count;
	uint32_t next; /* with the same hash, IR_NONE ends */
};

struct numbering {
	LLVMTargetDataRef layout;
	struct rd_umap values;	  /* value to number */
	struct rd_umap hashes;	  /* hash to 1 + newest expression */
	struct expression *items; /* by number; leaves have count 0 */
	size_t count, capacity;
};

static uint32_t new_number(struct numbering *n, const struct expression *e)
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

static uint32_t find(struct numbering *n, struct expression *e)
{
	uint64_t *slot = rd_umap_put(&n->hashes, hash_of(e), NULL);
	for (uint32_t i = *slot == 0 ? IR_NONE : *slot - 1; i != IR_NONE; i = n->items[i].next)
		if (same(&n->items[i], e))
			return i;
	e->next = *slot == 0 ? IR_NONE : *slot - 1;
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
	case LLVMGetElementPtr:
		return true;
	default:
		return false;
	}
}

static uint32_t number_of(struct numbering *n, LLVMValueRef v, int depth)
{
	const uint64_t *known = rd_umap_get(&n->values, (uintptr_t)v);
	if (known != NULL)
		return *known;
	struct expression e = {0};
	LLVMOpcode op = LLVMIsAInstruction(v) ? LLVMGetInstructionOpcode(v) : 0;
	uint32_t number;
	bool address = op == LLVMCall && ir_base(v) != v; /* the address of a thread-local variable */
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

static struct ir_key key_of(struct numbering *n, const struct instr_event *event)
{
	struct ir_derived derived;
	LLVMValueRef pointer = event->pointer;
	struct ir_key key = {.size = event->size};
	while (ir_derive(n->layout, pointer, &derived) && derived.constant) {
		key.offset += derived.offset;
		pointer = derived.from;
	}
	key.base = number_of(n, pointer, 0);
	return key;
}

static bool is_plain(const struct instr_event *event)
{
	return event->size != 0 && event->libc == NULL &&
	       (event->kind == EVENT_READ || event->kind == EVENT_WRITE || event->kind == EVENT_RANGE_READ ||
		event->kind == EVENT_RANGE_WRITE);
}

static bool forgets(const struct instr_event *event)
{
	switch (event->kind) {
	case EVENT_ATOMIC_LOAD:
	case EVENT_ATOMIC_STORE:
	case EVENT_ATOMIC_RMW:
	case EVENT_ATOMIC_CAS:
	case EVENT_FENCE:
	case EVENT_FORGET:
		return true;
	case EVENT_CALL:
		return event->flags & EVENT_SYNCS;
	default:
		return false;
	}
}

/* Keys are numbered by content. */
struct keys {
	struct ir_key *items;
	size_t count, capacity;
	struct rd_umap hashes; /* hash to 1 + key; collisions just miss an opportunity */
};

static uint32_t key_number(struct keys *k, const struct ir_key *key)
{
	uint64_t hash =
		key->base * 0x9e3779b97f4a7c15ull ^ (uint64_t)key->offset * 0xff51afd7ed558ccdull ^ key->size;
	bool is_new;
	uint64_t *slot = rd_umap_put(&k->hashes, hash, &is_new);
	if (!is_new) {
		const struct ir_key *known = &k->items[*slot];
		if (known->base == key->base && known->offset == key->offset && known->size == key->size)
			return *slot;
	}
	RD_GROW(k->items, k->capacity, k->count + 1);
	k->items[k->count] = *key;
	*slot = k->count;
	return k->count++;
}

void instr_eliminate(struct instr_function *f)
{
	struct numbering n = {.layout = f->unit->layout};
	struct keys keys = {0};
	struct ir_step *steps = rd_xcalloc(f->count + 1, sizeof *steps);
	struct instr_event **events = rd_xcalloc(f->count + 1, sizeof *events);
	bool *redundant = rd_xcalloc(f->count + 1, sizeof *redundant);
	size_t count = 0;
	for (size_t i = 0; i < f->count; i++) {
		struct instr_event *event = &f->events[i];
		struct ir_step step = {.block = event->block, .kind = IR_STEP_FORGET};
		if (is_plain(event)) {
			struct ir_key key = key_of(&n, event);
			step.key = key_number(&keys, &key);
			bool read = event->kind == EVENT_READ || event->kind == EVENT_RANGE_READ;
			step.kind = read ? IR_STEP_READ : IR_STEP_WRITE;
		} else if (!forgets(event)) {
			continue;
		}
		steps[count] = step;
		events[count++] = event;
	}
	struct ir_steps all = {steps, count, keys.items, keys.count};
	ir_redundant(&f->cfg.graph, &all, redundant);
	for (size_t i = 0; i < count; i++)
		if (redundant[i] && !(events[i]->flags & EVENT_WAIT_LOOP))
			events[i]->flags |= EVENT_REDUNDANT;
	free(steps);
	free(events);
	free(redundant);
	free(keys.items);
	rd_umap_release(&keys.hashes);
	free(n.items);
	rd_umap_release(&n.values);
	rd_umap_release(&n.hashes);
}
