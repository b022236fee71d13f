/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduces the number of hooks after optimisation (fast mode).  Once instrumented code has been
 * inlined and simplified, more is known than when the hooks were inserted.  It is enough to record
 * one access of a byte per segment, so this rule is applied again, to the hook calls themselves:
 *
 * 1. One load of the thread's state serves a whole function.
 * 2. Redundant hooks are removed (ir_redundant()).
 * 3. Hooks are moved out of loops (loop.c).
 * 4. Accesses of an unrolled loop to adjacent bytes become one range again.
 * 5. A read and then a write of the same bytes (`x += y`) become one hook, which tests once.
 *    Nothing between them may end the segment or keep the write from happening.
 * 6. Two hooks of one kind for adjacent bytes, such as fields of a struct, become one (pair.c).
 *
 * This may change the order of records within a segment, but never the set of bytes read and
 * written.
 */
#include "instr/record/late.h"

#include "base/alloc.h"
#include "base/error.h"
#include "instr/scan/event.h"
#include "instr/scan/number.h"

#include <stdlib.h>
#include <string.h>

/* The positions of the arguments of access hooks. */
enum { ARGUMENT_POINTER = 1, ARGUMENT_SITE = 2 };

enum { REACH = 16 }; /* the number of steps after a hook that are examined */
/* The largest and the smallest number of accesses that become one range. */
enum { ROW = 16, SHORTEST_ROW = 3 };

/* Sets the size and the direction of an access hook.  Returns false for other hooks. */
static bool access_of(enum instr_hook hook, struct late_hook *out)
{
	out->hook = hook;
	out->write = (hook >= HOOK_WRITE1 && hook <= HOOK_WRITE16) || hook == HOOK_WRITE_RANGE;
	if (hook >= HOOK_READ1 && hook <= HOOK_READ16)
		out->size = 1u << (hook - HOOK_READ1);
	else if (hook >= HOOK_WRITE1 && hook <= HOOK_WRITE16)
		out->size = 1u << (hook - HOOK_WRITE1);
	else
		out->size = 0;
	return out->size != 0 || hook == HOOK_READ_RANGE || hook == HOOK_WRITE_RANGE;
}

bool instr_late_which(const struct instr_unit *u, LLVMValueRef inst, enum instr_hook *hook)
{
	if (LLVMGetInstructionOpcode(inst) != LLVMCall)
		return false;
	LLVMValueRef callee = LLVMGetCalledValue(inst);
	for (int i = 0; i < HOOK_COUNT; i++)
		if (u->hooks[i] != NULL && u->hooks[i] == callee) {
			*hook = i;
			return true;
		}
	return false;
}

void instr_late_drop(struct late_hook *hook)
{
	RD_ASSERT(hook->call != NULL);
	LLVMInstructionEraseFromParent(hook->call);
	hook->call = NULL;
}

static void collect(struct late *l)
{
	l->count = 0;
	for (uint32_t b = 0; b < l->cfg.graph.nodes; b++) {
		l->forgets[b] = false;
		for (LLVMValueRef i = LLVMGetFirstInstruction(l->cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i)) {
			struct late_hook hook = {.call = i, .block = b};
			enum instr_hook which;
			l->forgets[b] |= ir_effects_synchronises(l->effects, i);
			if (!instr_late_which(l->unit, i, &which) || !access_of(which, &hook))
				continue;
			RD_GROW(l->hooks, l->capacity, l->count + 1);
			l->hooks[l->count++] = hook;
		}
	}
}

/* Replaces all loads of the pointer to the thread's state by one load at the entry of the
 * function.  The pointer does not change while a function runs. */
static void share_self(struct late *l)
{
	struct instr_unit *u = l->unit;
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(l->function));
	while (LLVMIsAAllocaInst(first))
		first = LLVMGetNextInstruction(first);
	LLVMPositionBuilderBefore(u->builder, first);
	l->self = instr_hook_call(u, HOOK_ENTER, NULL);
	for (uint32_t b = 0; b < l->cfg.graph.nodes; b++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(l->cfg.blocks[b]), next; i != NULL; i = next) {
			enum instr_hook which;
			next = LLVMGetNextInstruction(i);
			if (i == l->self || !instr_late_which(u, i, &which) || which != HOOK_ENTER)
				continue;
			LLVMReplaceAllUsesWith(i, l->self);
			LLVMInstructionEraseFromParent(i);
		}
	if (LLVMGetFirstUse(l->self) == NULL) {
		LLVMInstructionEraseFromParent(l->self);
		l->self = NULL;
	}
}

/* The input of ir_redundant(): the hooks of a function, and the instructions between them that end
 * a segment. */
struct steps {
	struct ir_step *items;
	struct late_hook **hooks; /* the hook of each step; NULL for a FORGET step */
	size_t count, capacity, hook_capacity;
};

static void add_step(struct steps *s, struct ir_step step, struct late_hook *hook)
{
	RD_GROW(s->items, s->capacity, s->count + 1);
	RD_GROW(s->hooks, s->hook_capacity, s->count + 1);
	s->items[s->count] = step;
	s->hooks[s->count++] = hook;
}

/* Makes a step for each access hook and each instruction that may end the segment, in order. */
static void make_steps(struct late *l, struct instr_numbering *n, struct steps *s)
{
	size_t next = 0;
	for (uint32_t b = 0; b < l->cfg.graph.nodes; b++) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(l->cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i)) {
			while (next < l->count && l->hooks[next].call == NULL)
				next++;
			if (next < l->count && l->hooks[next].call == i) {
				struct late_hook *hook = &l->hooks[next++];
				LLVMValueRef pointer = LLVMGetArgOperand(i, ARGUMENT_POINTER);
				struct ir_step step = {.block = b};
				step.kind = hook->write ? IR_STEP_WRITE : IR_STEP_READ;
				if (hook->size == 0)
					continue;
				step.key = instr_numbering_key(n, pointer, hook->size);
				add_step(s, step, hook);
			} else if (ir_effects_synchronises(l->effects, i)) {
				add_step(s, (struct ir_step){.block = b, .kind = IR_STEP_FORGET}, NULL);
			}
		}
	}
}

static void drop_redundant(struct late *l)
{
	struct instr_numbering *n = instr_numbering_new(l->unit->layout);
	struct steps s = {0};
	make_steps(l, n, &s);
	bool *redundant = rd_xcalloc(s.count + 1, sizeof *redundant);
	struct ir_steps all = {.items = s.items, .count = s.count};
	all.keys = instr_numbering_keys(n, &all.key_count);
	ir_redundant(&l->cfg.graph, &all, redundant);
	for (size_t i = 0; i < s.count; i++)
		if (redundant[i] && s.hooks[i] != NULL &&
		    !instr_keeps_redundant(l->unit, &l->loops, s.items[i].block))
			instr_late_drop(s.hooks[i]);
	RD_FREE(redundant, s.items, s.hooks);
	instr_numbering_free(n);
}

/* Returns true if the site of a hook is a constant.  If the optimiser has merged two hooks into
 * one, that hook may choose the site at run time.  Such a hook must not be merged with an earlier
 * one, because the choice may not have been made yet at the earlier place. */
static bool has_fixed_site(const struct late_hook *hook)
{
	return LLVMIsAConstantInt(LLVMGetArgOperand(hook->call, ARGUMENT_SITE)) != NULL;
}

static void merge(struct late *l, struct late_hook *read, struct late_hook *write)
{
	RD_ASSERT(read->hook >= HOOK_READ1 && read->hook <= HOOK_READ16 && read->size == write->size);
	static const enum instr_hook updates[] = {HOOK_UPDATE1, HOOK_UPDATE2, HOOK_UPDATE4, HOOK_UPDATE8,
						  HOOK_UPDATE16};
	LLVMValueRef arguments[] = {l->self, LLVMGetArgOperand(read->call, ARGUMENT_POINTER),
				    LLVMGetArgOperand(read->call, ARGUMENT_SITE),
				    LLVMGetArgOperand(write->call, ARGUMENT_SITE)};
	LLVMPositionBuilderBefore(l->unit->builder, read->call);
	instr_hook_call(l->unit, updates[read->hook - HOOK_READ1], arguments);
	instr_late_drop(read);
	instr_late_drop(write);
}

static void merge_updates(struct late *l)
{
	struct instr_numbering *n = instr_numbering_new(l->unit->layout);
	struct steps s = {0};
	make_steps(l, n, &s);
	for (size_t i = 0; i < s.count; i++) {
		if (s.hooks[i] == NULL || s.hooks[i]->call == NULL || s.items[i].kind != IR_STEP_READ)
			continue;
		for (size_t k = i + 1; k < s.count && k < i + REACH; k++) {
			if (s.items[k].kind == IR_STEP_FORGET || s.items[k].block != s.items[i].block)
				break;
			if (s.hooks[k]->call == NULL || s.items[k].kind != IR_STEP_WRITE ||
			    s.items[k].key != s.items[i].key || !has_fixed_site(s.hooks[k]))
				continue;
			merge(l, s.hooks[i], s.hooks[k]);
			break;
		}
	}
	free(s.items);
	free(s.hooks);
	instr_numbering_free(n);
}

/* A row consists of adjacent accesses of one site in one block, as an unrolled loop makes them. */
struct row {
	struct steps *steps;
	const struct ir_key *keys;
	struct late_hook *first;      /* the hook before which the range is inserted */
	struct late_hook *parts[ROW]; /* all hooks of the row, including the first */
	size_t count;
	/* The offsets of the first byte of the row, of its end, and of its first access. */
	int64_t low, high, at;
};

static bool joins(const struct row *row, const struct ir_key *key, const struct late_hook *hook)
{
	return hook->write == row->first->write && row->count < ROW &&
	       LLVMGetArgOperand(hook->call, ARGUMENT_SITE) ==
		       LLVMGetArgOperand(row->first->call, ARGUMENT_SITE) &&
	       (key->offset == row->high || key->offset + (int64_t)key->size == row->low);
}

/* Collects the hooks that follow a hook in its block and whose bytes are adjacent. */
static void find_row(struct row *row, size_t from)
{
	const struct steps *s = row->steps;
	const struct ir_key *key = &row->keys[s->items[from].key];
	uint32_t base = key->base;
	row->first = row->parts[0] = s->hooks[from];
	row->count = 1;
	row->low = row->at = key->offset;
	row->high = key->offset + (int64_t)key->size;
	for (size_t k = from + 1; k < s->count && k < from + REACH; k++) {
		if (s->items[k].kind == IR_STEP_FORGET || s->items[k].block != s->items[from].block)
			break;
		key = &row->keys[s->items[k].key];
		if (s->hooks[k]->call == NULL || key->base != base || !joins(row, key, s->hooks[k]))
			continue;
		row->parts[row->count++] = s->hooks[k];
		if (key->offset < row->low)
			row->low = key->offset;
		else
			row->high = key->offset + (int64_t)key->size;
	}
}

static void merge_row(struct late *l, struct row *row)
{
	RD_ASSERT(row->low <= row->at && row->at < row->high);
	struct instr_unit *u = l->unit;
	LLVMValueRef pointer = LLVMGetArgOperand(row->first->call, ARGUMENT_POINTER);
	LLVMValueRef back = LLVMConstInt(u->i64, (uint64_t)(row->low - row->at), true);
	LLVMPositionBuilderBefore(u->builder, row->first->call);
	if (row->low != row->at)
		pointer = LLVMBuildGEP2(u->builder, LLVMInt8TypeInContext(u->context), pointer, &back, 1, "");
	instr_hook_call(u, row->first->write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE,
			(LLVMValueRef[]){l->self, pointer, LLVMGetArgOperand(row->first->call, ARGUMENT_SITE),
					 LLVMConstInt(u->i64, (uint64_t)(row->high - row->low), false)});
	for (size_t i = 0; i < row->count; i++)
		instr_late_drop(row->parts[i]);
}

static void merge_rows(struct late *l)
{
	struct instr_numbering *n = instr_numbering_new(l->unit->layout);
	struct steps s = {0};
	make_steps(l, n, &s);
	uint32_t key_count;
	struct row row = {.steps = &s, .keys = instr_numbering_keys(n, &key_count)};
	for (size_t i = 0; i < s.count; i++) {
		if (s.hooks[i] == NULL || s.hooks[i]->call == NULL || !has_fixed_site(s.hooks[i]))
			continue;
		find_row(&row, i);
		if (row.count >= SHORTEST_ROW)
			merge_row(l, &row);
	}
	free(s.items);
	free(s.hooks);
	instr_numbering_free(n);
}

static void late_function(struct late *l)
{
	ir_cfg_init(&l->cfg, l->function);
	share_self(l);
	if (l->self != NULL) {
		facts_graph_dominators(&l->cfg.graph);
		facts_loops_init(&l->loops, &l->cfg.graph);
		l->forgets = rd_xcalloc(l->cfg.graph.nodes + 1, sizeof *l->forgets);
		collect(l);
		drop_redundant(l);
		collect(l);
		instr_late_loops(l);
		collect(l);
		drop_redundant(l);
		merge_rows(l);
		merge_updates(l);
		instr_late_pairs(l);
		facts_loops_release(&l->loops);
		free(l->forgets);
	}
	ir_cfg_release(&l->cfg);
}

void instr_late(struct instr_unit *u)
{
	instr_hook_refresh(u);
	if (u->hooks[HOOK_ENTER] == NULL)
		return;
	struct late l = {.unit = u, .effects = ir_effects_new(u->module)};
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		if (ir_is_external(f))
			continue;
		l.function = f;
		late_function(&l);
	}
	free(l.hooks);
	ir_effects_free(l.effects);
}
