/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves hooks out of loops.  In a loop that cannot end the segment,
 *
 *	for (i = 0; i < n; i++)
 *		sum += a[i] * *p;
 *
 * the hook of `*p` may be placed before the loop, and one hook for the range a[0] to a[n - 1] may
 * replace the hooks of `a[i]`.  The condition is that these hooks are executed whenever the loop
 * is entered.  That is known if the loop is in the form that optimisers produce: there is a block
 * before it (the preheader) that leads nowhere else, and no exit before the hook.  For a range or
 * a series of equally spaced accesses, the number of iterations must be known too.  The loop must
 * then have one exit, at the end of an iteration, when a counter reaches a bound that does not
 * change.  If a loop-invariant branch decides whether the hook is executed, the range is made
 * empty when the hook is not executed.
 *
 * Inner loops come first, so that a hook may be moved out of several loops, even as a range.
 */
#include "instr/record/late.h"

#include "base/error.h"

/* The largest stride in bytes; the hook's argument has only 32 bits. */
enum { MAX_STRIDE = 1 << 30 };
enum {
	MAX_DEPTH = 8,	   /* largest depth of an expression that is computed before the loop */
	MAX_GUARDS = 2,	   /* largest number of conditions that decide whether an access happens */
	MAX_OPERANDS = 16, /* largest number of operands of an instruction of such an expression */
};
/* The positions of the arguments of a hook. */
enum { ARGUMENT_POINTER = 1, ARGUMENT_SITE = 2, ARGUMENT_AMOUNT = 3 };

static bool in_loop(const struct late_shape *s, LLVMValueRef v)
{
	if (!LLVMIsAInstruction(v))
		return false;
	return facts_loop_has(s->loop, ir_cfg_number(&s->late->cfg, LLVMGetInstructionParent(v)));
}

/* Finds the preheader (the block before the loop) and the latch (the block that ends an
 * iteration).  Returns false if the loop has no preheader.  If the loop has several latches, the
 * latch is FACTS_NONE. */
static bool find_shape(struct late_shape *s)
{
	const struct facts_graph *g = &s->late->cfg.graph;
	uint32_t header = s->loop->header;
	unsigned outside = 0, inside = 0;
	s->latch = FACTS_NONE;
	for (uint32_t e = g->pred_start[header]; e < g->pred_start[header + 1]; e++) {
		uint32_t p = g->pred[e];
		if (g->number[p] == FACTS_NONE)
			continue;
		if (facts_loop_has(s->loop, p)) {
			s->latch = p;
			inside++;
		} else {
			s->preheader = p;
			outside++;
		}
	}
	if (inside != 1)
		s->latch = FACTS_NONE;
	if (outside != 1 || g->succ_start[s->preheader + 1] - g->succ_start[s->preheader] != 1)
		return false;
	s->end = LLVMGetBasicBlockTerminator(s->late->cfg.blocks[s->preheader]);
	return LLVMIsABranchInst(s->end) != NULL;
}

static bool leaves(const struct late_shape *s, uint32_t block)
{
	RD_ASSERT(block < s->late->cfg.graph.nodes);
	const struct facts_graph *g = &s->late->cfg.graph;
	bool ends = g->succ_start[block] == g->succ_start[block + 1];
	for (uint32_t e = g->succ_start[block]; e < g->succ_start[block + 1]; e++)
		ends |= !facts_loop_has(s->loop, g->succ[e]);
	return ends;
}

static bool is_latch(const struct late_shape *s, uint32_t block)
{
	RD_ASSERT(block < s->late->cfg.graph.nodes);
	const struct facts_graph *g = &s->late->cfg.graph;
	for (uint32_t e = g->succ_start[block]; e < g->succ_start[block + 1]; e++)
		if (g->succ[e] == s->loop->header)
			return true;
	return false;
}

/* Returns true if the block is executed in each iteration, before any exit of the loop. */
static bool is_certain(const struct late_shape *s, uint32_t block)
{
	RD_ASSERT(block < s->late->cfg.graph.nodes);
	for (uint32_t i = 0; i < s->loop->size; i++) {
		uint32_t b = s->loop->body[i];
		if ((leaves(s, b) || is_latch(s, b)) && !facts_graph_dominates(&s->late->cfg.graph, block, b))
			return false;
	}
	return true;
}

static bool has_other_exit(const struct late_shape *s)
{
	for (uint32_t i = 0; i < s->loop->size; i++)
		if (s->loop->body[i] != s->latch && leaves(s, s->loop->body[i]))
			return true;
	return false;
}

/* Returns true if the exit condition at the end of an iteration determines the number of
 * iterations, or at least an upper bound. */
static bool ends_at_latch(const struct late_shape *s)
{
	return s->latch != FACTS_NONE && leaves(s, s->latch) && (s->at_most || !has_other_exit(s));
}

/* A counter: a PHI of the header that grows by a constant in each iteration. */
struct counter {
	LLVMValueRef start, next;
	int64_t step;
	bool no_signed_wrap, no_unsigned_wrap;
};

static bool find_counter(const struct late_shape *s, LLVMValueRef phi, struct counter *c)
{
	const struct ir_cfg *cfg = &s->late->cfg;
	if (!LLVMIsAPHINode(phi) || s->latch == FACTS_NONE || LLVMCountIncoming(phi) != 2 ||
	    ir_cfg_number(cfg, LLVMGetInstructionParent(phi)) != s->loop->header)
		return false;
	for (unsigned i = 0; i < 2; i++)
		if (ir_cfg_number(cfg, LLVMGetIncomingBlock(phi, i)) == s->latch)
			c->next = LLVMGetIncomingValue(phi, i);
		else
			c->start = LLVMGetIncomingValue(phi, i);
	if (!LLVMIsAInstruction(c->next) || in_loop(s, c->start))
		return false;
	c->no_signed_wrap = c->no_unsigned_wrap = true;
	if (LLVMGetInstructionOpcode(c->next) == LLVMAdd) {
		LLVMValueRef by = LLVMGetOperand(c->next, 1);
		c->no_signed_wrap = LLVMGetNSW(c->next);
		c->no_unsigned_wrap = LLVMGetNUW(c->next);
		if (LLVMGetOperand(c->next, 0) != phi || !LLVMIsAConstantInt(by))
			return false;
		c->step = LLVMConstIntGetSExtValue(by);
		return c->step != 0;
	}
	struct ir_derived derived;
	if (LLVMGetInstructionOpcode(c->next) != LLVMGetElementPtr ||
	    !ir_derive(s->late->unit->layout, c->next, &derived) || !derived.constant || derived.from != phi)
		return false;
	c->step = derived.offset;
	return c->step != 0;
}

/* The counter that the latch compares with a bound. */
struct test {
	struct counter counter;
	LLVMValueRef bound;
	/* The loop continues while the counter has this relation to the bound. */
	LLVMIntPredicate stays;
	bool before; /* true if the counter is compared before it is increased */
};

static LLVMIntPredicate negated(LLVMIntPredicate p)
{
	switch (p) {
	case LLVMIntEQ: return LLVMIntNE;
	case LLVMIntUGE: return LLVMIntULT;
	case LLVMIntUGT: return LLVMIntULE;
	case LLVMIntSGE: return LLVMIntSLT;
	case LLVMIntSGT: return LLVMIntSLE;
	default: return LLVMIntEQ; /* a form that count_rounds() does not know */
	}
}

static bool find_test(struct late_shape *s, struct test *t)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(s->late->cfg.blocks[s->latch]);
	if (!ends_at_latch(s) || !LLVMIsABranchInst(end) || !LLVMIsConditional(end))
		return false;
	LLVMValueRef condition = LLVMGetCondition(end);
	if (!LLVMIsAICmpInst(condition))
		return false;
	LLVMValueRef tested = LLVMGetOperand(condition, 0);
	t->bound = LLVMGetOperand(condition, 1);
	t->stays = LLVMGetICmpPredicate(condition);
	if (LLVMGetSuccessor(end, 0) != s->late->cfg.blocks[s->loop->header])
		t->stays = negated(t->stays);
	if (in_loop(s, t->bound) || !LLVMIsAInstruction(tested) ||
	    LLVMGetTypeKind(LLVMTypeOf(tested)) != LLVMIntegerTypeKind)
		return false;
	t->before = find_counter(s, tested, &t->counter);
	return t->before ||
	       (LLVMGetInstructionOpcode(tested) == LLVMAdd &&
		find_counter(s, LLVMGetOperand(tested, 0), &t->counter) && t->counter.next == tested);
}

/* Returns the number of iterations of a loop that continues while its counter is below (or not
 * above) the bound.  The counter grows by `step` and does not wrap.  If the test precedes the
 * addition, the first value that is tested is `start`, and otherwise start + step.  The loop body
 * runs at least once. */
static LLVMValueRef rounds_below(struct late_shape *s, const struct test *t)
{
	RD_ASSERT(t->counter.step > 0);
	LLVMBuilderRef b = s->late->unit->builder;
	LLVMTypeRef type = LLVMTypeOf(t->bound);
	bool is_signed = t->stays == LLVMIntSLT || t->stays == LLVMIntSLE;
	bool inclusive = t->stays == LLVMIntSLE || t->stays == LLVMIntULE;
	uint64_t step = t->counter.step;
	LLVMValueRef first = t->before
				     ? t->counter.start
				     : LLVMBuildAdd(b, t->counter.start, LLVMConstInt(type, step, false), "");
	/* The distance is bound - first, plus 1 if the loop continues at the bound.  If it is
	 * positive, the number of further iterations is ceil(distance / step). */
	LLVMValueRef distance = LLVMBuildSub(b, t->bound, first, "");
	distance = LLVMBuildAdd(b, distance, LLVMConstInt(type, inclusive ? step : step - 1, false), "");
	LLVMValueRef further = LLVMBuildUDiv(b, distance, LLVMConstInt(type, step, false), "");
	LLVMIntPredicate enters =
		is_signed ? (inclusive ? LLVMIntSLE : LLVMIntSLT) : (inclusive ? LLVMIntULE : LLVMIntULT);
	LLVMValueRef any = LLVMBuildICmp(b, enters, first, t->bound, "");
	further = LLVMBuildSelect(b, any, further, LLVMConstNull(type), "");
	return LLVMBuildAdd(b, further, LLVMConstInt(type, 1, false), "");
}

/* Generates code in the preheader that computes the number of iterations.  Returns the number as a
 * value, or NULL if the exit condition does not determine it. */
static LLVMValueRef count_rounds(struct late_shape *s)
{
	LLVMBuilderRef b = s->late->unit->builder;
	struct test t;
	LLVMValueRef n;
	if (!find_test(s, &t))
		return NULL;
	bool below = t.stays == LLVMIntSLT || t.stays == LLVMIntULT || t.stays == LLVMIntSLE ||
		     t.stays == LLVMIntULE;
	LLVMPositionBuilderBefore(b, s->end);
	if (t.stays == LLVMIntNE && (t.counter.step == 1 || t.counter.step == -1)) {
		n = t.counter.step > 0 ? LLVMBuildSub(b, t.bound, t.counter.start, "")
				       : LLVMBuildSub(b, t.counter.start, t.bound, "");
		if (t.before)
			n = LLVMBuildAdd(b, n, LLVMConstInt(LLVMTypeOf(n), 1, false), "");
	} else if (below && t.counter.step > 0 && (t.counter.no_signed_wrap || t.counter.no_unsigned_wrap)) {
		n = rounds_below(s, &t);
	} else {
		return NULL;
	}
	return LLVMTypeOf(n) == s->late->unit->i64 ? n
						   : LLVMBuildIntCast2(b, n, s->late->unit->i64, false, "");
}

/* Returns true if a value can be computed before the loop.  The value must be defined before the
 * loop, or be computed from such values by instructions that may be executed at any time. */
static bool is_invariant(const struct late_shape *s, LLVMValueRef v, int depth)
{
	if (!in_loop(s, v))
		return true;
	if (depth == MAX_DEPTH)
		return false;
	switch (LLVMGetInstructionOpcode(v)) {
	case LLVMUDiv:
		/* Only divisions by a constant other than 0 may be executed at any time.
		 * rounds_below() makes such divisions. */
		if (!LLVMIsAConstantInt(LLVMGetOperand(v, 1)) || LLVMIsNull(LLVMGetOperand(v, 1)))
			return false;
		break;
	case LLVMAdd:
	case LLVMSub:
	case LLVMMul:
	case LLVMShl:
	case LLVMAnd:
	case LLVMOr:
	case LLVMICmp:
	case LLVMSelect:
	case LLVMSExt:
	case LLVMZExt:
	case LLVMTrunc:
	case LLVMGetElementPtr: break;
	default: return false;
	}
	unsigned n = LLVMGetNumOperands(v);
	bool is = n <= MAX_OPERANDS;
	for (unsigned i = 0; i < n && is; i++)
		is = is_invariant(s, LLVMGetOperand(v, i), depth + 1);
	return is;
}

/* Determines by how much a value grows in each iteration.  Returns false if the amount is not
 * constant. */
static bool growth(const struct late_shape *s, LLVMValueRef v, int depth, int64_t *by)
{
	struct counter c;
	int64_t x, y;
	*by = 0;
	if (is_invariant(s, v, depth))
		return true;
	if (depth == MAX_DEPTH)
		return false;
	if (find_counter(s, v, &c)) {
		*by = c.step;
		return true;
	}
	LLVMOpcode op = LLVMGetInstructionOpcode(v);
	switch (op) {
	case LLVMAdd:
	case LLVMSub:
		if (!growth(s, LLVMGetOperand(v, 0), depth + 1, &x) ||
		    !growth(s, LLVMGetOperand(v, 1), depth + 1, &y))
			return false;
		*by = op == LLVMAdd ? x + y : x - y;
		return true;
	case LLVMMul:
	case LLVMShl: {
		LLVMValueRef factor = LLVMGetOperand(v, 1);
		if (!LLVMIsAConstantInt(factor) || !growth(s, LLVMGetOperand(v, 0), depth + 1, &x))
			return false;
		int64_t f = LLVMConstIntGetSExtValue(factor);
		if (op == LLVMShl && (f < 0 || f > 62))
			return false;
		*by = op == LLVMShl ? x * ((int64_t)1 << f) : x * f;
		return true;
	}
	case LLVMSExt:
	case LLVMZExt: {
		/* Only a counter that does not wrap grows by the same amount in a wider type. */
		LLVMValueRef narrow = LLVMGetOperand(v, 0);
		if (!find_counter(s, narrow, &c) || !(op == LLVMSExt ? c.no_signed_wrap : c.no_unsigned_wrap))
			return false;
		*by = c.step;
		return true;
	}
	default: return false;
	}
}

/* Does the same as growth() for an address.  The amount is in bytes. */
static bool address_growth(const struct late_shape *s, LLVMValueRef v, int depth, int64_t *by)
{
	LLVMTargetDataRef layout = s->late->unit->layout;
	if (!in_loop(s, v) || LLVMGetInstructionOpcode(v) != LLVMGetElementPtr || depth == MAX_DEPTH)
		return growth(s, v, depth, by);
	int64_t total, part;
	if (!address_growth(s, LLVMGetOperand(v, 0), depth + 1, &total))
		return false;
	for (struct ir_gep g = {.gep = v}; ir_gep_next(&g);) {
		if (g.field)
			continue;
		if (!growth(s, g.index, depth + 1, &part))
			return false;
		if (part != 0 && LLVMGetIntTypeWidth(LLVMTypeOf(g.index)) < 64)
			return false;
		total += part * (int64_t)LLVMABISizeOfType(layout, g.type);
	}
	*by = total;
	return true;
}

/* Generates code in the preheader that computes the value of `v` in the first iteration. growth()
 * or is_invariant() must have accepted `v`, so that all its operands can be computed there. */
static LLVMValueRef first_value(const struct late_shape *s, LLVMValueRef v)
{
	struct counter c;
	if (!in_loop(s, v))
		return v;
	if (find_counter(s, v, &c))
		return c.start;
	unsigned n = LLVMGetNumOperands(v);
	LLVMValueRef parts[MAX_OPERANDS];
	RD_ASSERT(n <= MAX_OPERANDS);
	for (unsigned i = 0; i < n; i++)
		parts[i] = first_value(s, LLVMGetOperand(v, i));
	LLVMValueRef copy = LLVMInstructionClone(v);
	for (unsigned i = 0; i < n; i++)
		LLVMSetOperand(copy, i, parts[i]);
	LLVMPositionBuilderBefore(s->late->unit->builder, s->end);
	LLVMInsertIntoBuilder(s->late->unit->builder, copy);
	return copy;
}

/* The branches that decide whether a block is executed.  The outcome of each is the same in all
 * iterations. */
struct loop_guard {
	LLVMValueRef conditions[MAX_GUARDS];
	bool taken[MAX_GUARDS]; /* for each branch, the outcome that leads to the block */
	unsigned count;
};

/* Returns the only block that leads to this one, or FACTS_NONE if there are several. */
static uint32_t only_predecessor(const struct late_shape *s, uint32_t block)
{
	RD_ASSERT(block < s->late->cfg.graph.nodes);
	const struct facts_graph *g = &s->late->cfg.graph;
	uint32_t found = FACTS_NONE;
	for (uint32_t e = g->pred_start[block]; e < g->pred_start[block + 1]; e++) {
		if (g->number[g->pred[e]] == FACTS_NONE)
			continue;
		if (found != FACTS_NONE)
			return FACTS_NONE;
		found = g->pred[e];
	}
	return found;
}

/* Returns true if the block is executed either in every iteration, before any exit of the loop, or
 * in no iteration.  Stores the branches that decide between the two cases. */
static bool find_guard(const struct late_shape *s, uint32_t block, struct loop_guard *guard)
{
	RD_ASSERT(block < s->late->cfg.graph.nodes);
	for (guard->count = 0; !is_certain(s, block); guard->count++) {
		uint32_t before = only_predecessor(s, block);
		if (guard->count == MAX_GUARDS || before == FACTS_NONE || !facts_loop_has(s->loop, before))
			return false;
		LLVMValueRef end = LLVMGetBasicBlockTerminator(s->late->cfg.blocks[before]);
		if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end) || in_loop(s, LLVMGetCondition(end)) ||
		    LLVMGetSuccessor(end, 0) == LLVMGetSuccessor(end, 1))
			return false;
		guard->conditions[guard->count] = LLVMGetCondition(end);
		guard->taken[guard->count] = LLVMGetSuccessor(end, 0) == s->late->cfg.blocks[block];
		block = before;
	}
	return true;
}

/* Returns `amount`, or 0 if the guarded block is not executed. */
static LLVMValueRef guarded(const struct late_shape *s, const struct loop_guard *guard, LLVMValueRef amount)
{
	LLVMBuilderRef b = s->late->unit->builder;
	LLVMValueRef none = LLVMConstNull(LLVMTypeOf(amount));
	for (unsigned i = 0; i < guard->count; i++)
		amount = guard->taken[i] ? LLVMBuildSelect(b, guard->conditions[i], amount, none, "")
					 : LLVMBuildSelect(b, guard->conditions[i], none, amount, "");
	return amount;
}

/* Replaces the hook by `call`, which may itself be moved out of further loops. */
static void replace(struct late_shape *s, struct late_hook *hook, LLVMValueRef call)
{
	instr_late_drop(hook);
	hook->call = call;
	hook->block = s->preheader;
	hook->size = 0;
}

static void hoist_stride(struct late_shape *s, struct late_hook *hook, const struct loop_guard *guard,
			 int64_t by)
{
	RD_ASSERT(s->rounds != NULL && hook->size != 0 && by % (int64_t)hook->size == 0);
	struct instr_unit *u = s->late->unit;
	LLVMValueRef site = LLVMGetArgOperand(hook->call, ARGUMENT_SITE);
	LLVMValueRef first = first_value(s, LLVMGetArgOperand(hook->call, ARGUMENT_POINTER));
	LLVMValueRef packed = LLVMConstInt(u->i64, (uint64_t)by * 256 + hook->size, true);
	LLVMPositionBuilderBefore(u->builder, s->end);
	LLVMValueRef arguments[] = {s->late->self, first, site, guarded(s, guard, s->rounds), packed};
	hook->hook = hook->write ? HOOK_WRITE_STRIDE : HOOK_READ_STRIDE;
	replace(s, hook, instr_hook_call(u, hook->hook, arguments));
}

static void hoist_range(struct late_shape *s, struct late_hook *hook, const struct loop_guard *guard,
			int64_t by)
{
	RD_ASSERT(s->rounds != NULL && hook->size != 0 && (by < 0 ? -by : by) == (int64_t)hook->size);
	struct instr_unit *u = s->late->unit;
	LLVMValueRef site = LLVMGetArgOperand(hook->call, ARGUMENT_SITE);
	LLVMValueRef first = first_value(s, LLVMGetArgOperand(hook->call, ARGUMENT_POINTER));
	LLVMPositionBuilderBefore(u->builder, s->end);
	LLVMValueRef bytes = LLVMBuildMul(u->builder, s->rounds, LLVMConstInt(u->i64, hook->size, false), "");
	if (by < 0) {
		/* The addresses descend, so the range starts at the last one. */
		LLVMValueRef back =
			LLVMBuildSub(u->builder, LLVMConstInt(u->i64, hook->size, false), bytes, "");
		first = LLVMBuildGEP2(u->builder, LLVMInt8TypeInContext(u->context), first, &back, 1, "");
	}
	LLVMValueRef arguments[] = {s->late->self, first, site, guarded(s, guard, bytes)};
	hook->hook = hook->write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE;
	replace(s, hook, instr_hook_call(u, hook->hook, arguments));
}

/* Returns true if all arguments of the hook are the same in each iteration. */
static bool is_constant(const struct late_shape *s, const struct late_hook *hook)
{
	unsigned n = LLVMGetNumArgOperands(hook->call);
	for (unsigned i = 0; i < n; i++)
		if (!is_invariant(s, LLVMGetArgOperand(hook->call, i), 0))
			return false;
	return true;
}

/* Moves a hook with constant arguments out of the loop, into the preheader.  If a branch decides
 * whether the access happens, only a hook for a range or series is moved, because its amount can
 * be set to 0.  For a single access, a conditional call before the loop would cost more than the
 * hook in the loop. */
static void hoist_constant(struct late_shape *s, struct late_hook *hook, const struct loop_guard *guard)
{
	LLVMBuilderRef b = s->late->unit->builder;
	if (hook->size != 0 && guard->count != 0)
		return;
	LLVMInstructionRemoveFromParent(hook->call);
	unsigned n = LLVMGetNumArgOperands(hook->call);
	for (unsigned i = 0; i < n; i++)
		LLVMSetOperand(hook->call, i, first_value(s, LLVMGetArgOperand(hook->call, i)));
	LLVMPositionBuilderBefore(b, s->end);
	if (guard->count != 0)
		LLVMSetOperand(hook->call, ARGUMENT_AMOUNT,
			       guarded(s, guard, LLVMGetArgOperand(hook->call, ARGUMENT_AMOUNT)));
	LLVMInsertIntoBuilder(b, hook->call);
	hook->block = s->preheader;
}

static void hoist(struct late_shape *s, struct late_hook *hook)
{
	int64_t by;
	struct loop_guard guard;
	if (!find_guard(s, hook->block, &guard))
		return;
	if (is_constant(s, hook)) {
		hoist_constant(s, hook, &guard);
		return;
	}
	LLVMValueRef pointer = LLVMGetArgOperand(hook->call, ARGUMENT_POINTER);
	if (hook->size == 0 || s->rounds == NULL ||
	    in_loop(s, LLVMGetArgOperand(hook->call, ARGUMENT_SITE)) || !address_growth(s, pointer, 0, &by))
		return;
	if (by == (int64_t)hook->size || by == -(int64_t)hook->size)
		hoist_range(s, hook, &guard, by);
	else if (by % (int64_t)hook->size == 0 && by > -MAX_STRIDE && by < MAX_STRIDE)
		hoist_stride(s, hook, &guard, by);
}

bool instr_late_shape(struct late_shape *s)
{
	if (!find_shape(s))
		return false;
	s->rounds = s->latch != FACTS_NONE ? count_rounds(s) : NULL;
	s->at_most = s->at_most && has_other_exit(s);
	return true;
}

bool instr_late_extent(struct late_shape *s, LLVMValueRef pointer, struct late_extent *out)
{
	LLVMBuilderRef b = s->late->unit->builder;
	if (!address_growth(s, pointer, 0, &out->by) || out->by <= -MAX_STRIDE || out->by >= MAX_STRIDE ||
	    (out->by != 0 && s->rounds == NULL))
		return false;
	out->first = first_value(s, pointer);
	LLVMPositionBuilderBefore(b, s->end);
	/* The access may never happen, and then its address may be invalid. */
	out->first = LLVMBuildFreeze(b, out->first, "");
	out->rounds = out->by != 0 ? s->rounds : LLVMConstInt(s->late->unit->i64, 1, false);
	return true;
}

void instr_late_loops(struct late *l)
{
	for (size_t i = l->loops.count; i-- > 0;) {
		struct late_shape s = {.late = l, .loop = &l->loops.items[i]};
		bool forgets = false, any = false;
		for (uint32_t k = 0; k < s.loop->size; k++)
			forgets |= l->forgets[s.loop->body[k]];
		for (size_t k = 0; k < l->count && !any && !forgets; k++)
			any = l->hooks[k].call != NULL && facts_loop_has(s.loop, l->hooks[k].block);
		if (!any || !instr_late_shape(&s))
			continue;
		for (size_t k = 0; k < l->count; k++)
			if (l->hooks[k].call != NULL && facts_loop_has(s.loop, l->hooks[k].block))
				hoist(&s, &l->hooks[k]);
	}
}
