/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns instructions and initial values into constraints.
 *
 * Pointers flow through values of pointer type, and through aggregates with pointers, which are
 * treated as a whole.  They also flow through numbers that the code converts from or to pointers.
 * Such flows are followed forwards from a ptrtoint through arithmetic, and backwards from an
 * inttoptr.  Numbers that are loaded or stored carry pointers only if such a conversion is nearby.
 * The result contains a note with the number of conversions whose source is unknown.
 */
#include "ir/constrain.h"

#include "base/alloc.h"
#include "base/error.h"
#include "ir/value.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* The limits were set by hand to bound the number of constraints. */
	/* The largest number of bytes that are copied word by word.  Larger copies are made as a
	 * whole. */
	MAX_COPY = 256,
	WORD = 8, /* the size of a pointer in bytes */
	/* An array with at most this many elements is treated element by element when it is loaded
	 * or stored as a whole.  In a larger array, the offset of a pointer is unknown. */
	MAX_ELEMENTS = 4096,
};

/* The default budget of the solver: the number of words in sets that it may access.  That many
 * accesses take about a minute. */
static const uint64_t BUDGET = 30ull << 30;

uint32_t ir_constrain_variable(struct ir_constrain *c)
{
	return c->problem.variables++;
}

static struct ir_constraint *add(struct ir_constrain *c)
{
	struct ir_points_problem *p = &c->problem;
	RD_GROW(p->constraints, p->constraint_capacity, p->constraint_count + 1);
	return &p->constraints[p->constraint_count++];
}

void ir_constrain_add(struct ir_constrain *c, enum ir_constraint_kind kind, uint32_t to, uint32_t from)
{
	RD_ASSERT(kind <= IR_STORE);
	if (to != IR_NO_VARIABLE && from != IR_NO_VARIABLE)
		*add(c) = (struct ir_constraint){.kind = kind, .to = to, .from = from};
}

void ir_constrain_step(struct ir_constrain *c, uint32_t to, uint32_t from, int64_t offset, int64_t stride)
{
	if (to == IR_NO_VARIABLE || from == IR_NO_VARIABLE)
		return;
	if (offset == 0 && stride == 0)
		ir_constrain_add(c, IR_COPY, to, from);
	else
		*add(c) = (struct ir_constraint){IR_STEP, to, from, offset, stride};
}

/* Makes a variable that points to the place. */
static uint32_t place_of(struct ir_constrain *c, uint32_t object, int64_t offset)
{
	uint32_t variable = ir_constrain_variable(c);
	*add(c) = (struct ir_constraint){IR_ADDRESS, variable, object, offset, 0};
	return variable;
}

/* Returns the variable of a value in a frame, or IR_NO_VARIABLE if it cannot point anywhere. */
uint32_t ir_constrain_operand(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef v)
{
	uint32_t value = ir_program_value(c->program, v);
	if (value != FACTS_NONE)
		return f->variables + (value - c->program->facts->functions[f->function].values);
	const uint64_t *constant = rd_umap_get(&c->program->constants, (uintptr_t)v);
	return constant != NULL ? c->constants + (uint32_t)*constant : IR_NO_VARIABLE;
}

void ir_constrain_note(struct ir_constrain *c, const char *text, LLVMValueRef inst, uint32_t *note)
{
	struct facts *f = c->program->facts;
	if (*note == 0) {
		uint32_t string = ir_program_string(c->program, text);
		*facts_add_note(f) = (struct facts_note){
			string, inst != NULL ? ir_program_value(c->program, inst) : FACTS_NONE, 0};
		*note = (uint32_t)f->note_count;
	}
	f->notes[*note - 1].count++;
}

/* ---------------------------------------------------------------- types --- */

static bool is_pointer(LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

static bool has_pointer(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMPointerTypeKind: return true;
	case LLVMArrayTypeKind:
	case LLVMVectorTypeKind: return has_pointer(LLVMGetElementType(type));
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			if (has_pointer(LLVMStructGetTypeAtIndex(type, i)))
				return true;
		return false;
	default: return false;
	}
}

/* Called for each pointer in a value of a type, with the pointer's offset.  For a huge array,
 * there is one call, with IR_ANYWHERE. */
typedef void pointer_fn(struct ir_constrain *c, int64_t offset, void *context);

static void each_pointer(struct ir_constrain *c, LLVMTypeRef type, int64_t at, pointer_fn *fn, void *context)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMPointerTypeKind: fn(c, at, context); break;
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			each_pointer(c, LLVMStructGetTypeAtIndex(type, i),
				     at + (int64_t)LLVMOffsetOfElement(c->program->layout, type, i), fn,
				     context);
		break;
	case LLVMArrayTypeKind:
	case LLVMVectorTypeKind: {
		LLVMTypeRef element = LLVMGetElementType(type);
		uint64_t count = LLVMGetTypeKind(type) == LLVMArrayTypeKind ? LLVMGetArrayLength2(type)
									    : LLVMGetVectorSize(type);
		if (has_pointer(element) && count > MAX_ELEMENTS) {
			fn(c, IR_ANYWHERE, context);
			break;
		}
		for (uint64_t i = 0; has_pointer(element) && i < count; i++)
			each_pointer(c, element,
				     at + (int64_t)(i * LLVMABISizeOfType(c->program->layout, element)), fn,
				     context);
		break;
	}
	default: break;
	}
}

/* -------------------------------------------------- pointers as numbers --- */

static bool is_arithmetic(LLVMValueRef v)
{
	if (!LLVMIsAInstruction(v))
		return false;
	switch (LLVMGetInstructionOpcode(v)) {
	case LLVMAdd:
	case LLVMSub:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
	case LLVMPHI:
	case LLVMSelect:
	case LLVMFreeze:
	case LLVMZExt:
	case LLVMTrunc: return true;
	default: return false;
	}
}

/* Values that are marked, and a list of those whose neighbours have not been visited yet. */
struct marks {
	const struct ir_constrain *c;
	bool *marked;
	uint32_t *work;
	size_t count, capacity;
};

static void mark(struct marks *m, LLVMValueRef v)
{
	uint32_t value = ir_program_value(m->c->program, v);
	if (value == FACTS_NONE || m->marked[value])
		return;
	m->marked[value] = true;
	RD_GROW(m->work, m->capacity, m->count + 1);
	m->work[m->count++] = value;
}

/* Marks numbers that come from a pointer, by following arithmetic on the results of ptrtoint. */
static void mark_from(struct marks *m)
{
	while (m->count != 0) {
		LLVMValueRef v = m->c->program->refs[m->work[--m->count]];
		for (LLVMUseRef u = LLVMGetFirstUse(v); u != NULL; u = LLVMGetNextUse(u))
			if (is_arithmetic(LLVMGetUser(u)))
				mark(m, LLVMGetUser(u));
	}
}

/* Marks numbers that become a pointer, by following the operands of arithmetic back from an
 * inttoptr. */
static void mark_to(struct marks *m)
{
	while (m->count != 0) {
		LLVMValueRef v = m->c->program->refs[m->work[--m->count]];
		for (int i = 0; is_arithmetic(v) && i < LLVMGetNumOperands(v); i++)
			mark(m, LLVMGetOperand(v, (unsigned)i));
	}
}

static void find_numbers(struct ir_constrain *c)
{
	const struct facts *f = c->program->facts;
	struct marks from = {.c = c, .marked = c->from_pointer}, to = {.c = c, .marked = c->to_pointer};
	for (uint32_t v = 0; v < f->value_count; v++) {
		LLVMValueRef ref = c->program->refs[v];
		if (f->values[v].kind != FACTS_CAST)
			continue;
		if (LLVMGetInstructionOpcode(ref) == LLVMPtrToInt)
			mark(&from, ref);
		if (LLVMGetInstructionOpcode(ref) == LLVMIntToPtr)
			mark(&to, LLVMGetOperand(ref, 0));
	}
	mark_from(&from);
	mark_to(&to);
	free(from.work);
	free(to.work);
}

static bool comes_from_pointer(const struct ir_constrain *c, LLVMValueRef v)
{
	uint32_t value = ir_program_value(c->program, v);
	if (value == FACTS_NONE)
		return LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMPtrToInt;
	return c->from_pointer[value];
}

static bool becomes_pointer(const struct ir_constrain *c, LLVMValueRef v)
{
	uint32_t value = ir_program_value(c->program, v);
	return value != FACTS_NONE && c->to_pointer[value];
}

static bool is_word(const struct ir_constrain *c, LLVMTypeRef type)
{
	return LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
	       LLVMABISizeOfType(c->program->layout, type) == WORD;
}

/* --------------------------------------------------------- instructions --- */

struct transfer {
	uint32_t pointer, value;
	bool store;
};

static void transfer_word(struct ir_constrain *c, int64_t offset, void *context)
{
	const struct transfer *t = context;
	uint32_t place = t->pointer;
	if (offset != 0) {
		place = ir_constrain_variable(c);
		ir_constrain_step(c, place, t->pointer, offset == IR_ANYWHERE ? 0 : offset,
				  offset == IR_ANYWHERE ? IR_ANYWHERE : 0);
	}
	if (t->store)
		ir_constrain_add(c, IR_STORE, place, t->value);
	else
		ir_constrain_add(c, IR_LOAD, t->value, place);
}

/* Adds the constraints of a load or store of a value of this type. */
static void transfer(struct ir_constrain *c, struct transfer t, LLVMTypeRef type, bool number)
{
	if (number && is_word(c, type))
		transfer_word(c, 0, &t);
	else if (has_pointer(type))
		each_pointer(c, type, 0, transfer_word, &t);
}

void ir_constrain_copy_bytes(struct ir_constrain *c, uint32_t to, uint32_t from, int64_t size)
{
	if (to == IR_NO_VARIABLE || from == IR_NO_VARIABLE || (size >= 0 && size < WORD))
		return;
	bool whole = size < 0 || size > MAX_COPY;
	for (int64_t at = 0; whole ? at == 0 : at + WORD <= size; at += WORD) {
		uint32_t source = ir_constrain_variable(c), target = ir_constrain_variable(c),
			 word = ir_constrain_variable(c);
		ir_constrain_step(c, source, from, at, whole ? IR_ANYWHERE : 0);
		ir_constrain_step(c, target, to, at, whole ? IR_ANYWHERE : 0);
		ir_constrain_add(c, IR_LOAD, word, source);
		ir_constrain_add(c, IR_STORE, target, word);
	}
}

static void constrain_address(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef gep, uint32_t to)
{
	uint32_t value = ir_program_value(c->program, gep), from;
	struct ir_derived derived;
	if (!is_pointer(LLVMTypeOf(gep)) || !ir_derive(c->program->layout, gep, &derived))
		return;
	from = ir_constrain_operand(c, f, LLVMGetOperand(gep, 0));
	const struct facts *facts = c->program->facts;
	struct facts_run run = facts_operands_of(facts, value);
	int64_t stride = 0;
	for (uint32_t i = run.first + 1; i < run.end; i++)
		stride = ir_common_divisor(facts->operands[i].with, stride);
	if (run.end - run.first > 1 && stride == 0)
		stride = IR_ANYWHERE;
	ir_constrain_step(c, to, from, derived.offset, stride);
}

static void copy_operands(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef inst, uint32_t to)
{
	bool number = !has_pointer(LLVMTypeOf(inst));
	for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
		LLVMValueRef v = LLVMGetOperand(inst, (unsigned)i);
		if (!LLVMValueIsBasicBlock(v) && !LLVMIsAConstantInt(v))
			ir_constrain_step(c, to, ir_constrain_operand(c, f, v), 0,
					  number && !LLVMIsAPHINode(inst) && !LLVMIsASelectInst(inst)
						  ? IR_ANYWHERE
						  : 0);
	}
}

static void constrain_memory(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef inst, uint32_t to)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(inst);
	bool store = op == LLVMStore;
	LLVMValueRef value = op == LLVMLoad ? inst
					    : LLVMGetOperand(inst, op == LLVMAtomicCmpXchg ? 2
								   : store		   ? 0
											   : 1);
	LLVMTypeRef type = LLVMTypeOf(value);
	uint32_t pointer = ir_constrain_operand(c, f, LLVMGetOperand(inst, store ? 1 : 0));
	if (op != LLVMLoad)
		transfer(c, (struct transfer){pointer, ir_constrain_operand(c, f, value), true}, type,
			 comes_from_pointer(c, value));
	if (op != LLVMStore)
		transfer(c, (struct transfer){pointer, to, false}, type, becomes_pointer(c, inst));
}

/* Returns true if the instruction's value is derived from its operands and may contain a
 * pointer. */
static bool carries_pointer(const struct ir_constrain *c, LLVMValueRef inst)
{
	bool part = LLVMIsAExtractValueInst(inst) || LLVMIsAInsertValueInst(inst) ||
		    LLVMIsAExtractElementInst(inst) || LLVMIsAInsertElementInst(inst) ||
		    LLVMIsAShuffleVectorInst(inst);
	if (!part && !is_arithmetic(inst))
		return false;
	return has_pointer(LLVMTypeOf(inst)) || comes_from_pointer(c, inst) || becomes_pointer(c, inst);
}

static void constrain_instruction(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef inst)
{
	uint32_t to = ir_constrain_operand(c, f, inst);
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMAlloca: {
		uint32_t object = ir_object_of_variable(c, inst);
		*add(c) = (struct ir_constraint){.kind = IR_ADDRESS, .to = to, .from = object};
		break;
	}
	case LLVMGetElementPtr: constrain_address(c, f, inst, to); break;
	case LLVMLoad:
	case LLVMStore:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg: constrain_memory(c, f, inst, to); break;
	case LLVMPtrToInt:
	case LLVMIntToPtr:
	case LLVMBitCast:
	case LLVMAddrSpaceCast:
		ir_constrain_add(c, IR_COPY, to, ir_constrain_operand(c, f, LLVMGetOperand(inst, 0)));
		break;
	case LLVMRet:
		if (LLVMGetNumOperands(inst) != 0)
			ir_constrain_add(c, IR_COPY, f->result,
					 ir_constrain_operand(c, f, LLVMGetOperand(inst, 0)));
		break;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr: ir_constrain_call(c, f, inst); break;
	default:
		if (carries_pointer(c, inst))
			copy_operands(c, f, inst, to);
	}
}

void ir_constrain_function(struct ir_constrain *c, const struct ir_frame *f)
{
	struct facts_run run = facts_values_of(c->program->facts, f->function);
	uint32_t arguments = c->program->facts->functions[f->function].arguments;
	for (uint32_t v = run.first + arguments; v < run.end; v++)
		constrain_instruction(c, f, c->program->refs[v]);
}

/* ---------------------------------------------------------------- constants --- */

static uint32_t object_of_base(struct ir_constrain *c, LLVMValueRef base)
{
	if (LLVMIsAFunction(base))
		return ir_object_of_function(c, base);
	if (LLVMIsAGlobalVariable(base))
		return ir_object_of_global(c, base);
	return IR_NO_VARIABLE;
}

/* Returns the object that a constant points to, and stores the offset within the object.  This
 * works even if the address was converted to a number. */
static uint32_t object_of_constant(struct ir_constrain *c, LLVMValueRef v, int64_t *offset)
{
	struct ir_derived derived;
	*offset = 0;
	for (;;) {
		if (LLVMIsAConstantExpr(v) &&
		    (LLVMGetConstOpcode(v) == LLVMPtrToInt || LLVMGetConstOpcode(v) == LLVMIntToPtr)) {
			v = LLVMGetOperand(v, 0);
			continue;
		}
		if (!ir_derive(c->program->layout, v, &derived))
			break;
		*offset += derived.offset;
		v = derived.from;
	}
	return object_of_base(c, v);
}

static void constrain_constants(struct ir_constrain *c)
{
	for (uint32_t i = 0; i < c->program->facts->constant_count; i++) {
		int64_t offset;
		uint32_t object = object_of_constant(c, c->program->constant_refs[i], &offset);
		if (object != IR_NO_VARIABLE)
			*add(c) = (struct ir_constraint){IR_ADDRESS, c->constants + i, object, offset, 0};
	}
}

/* Adds constraints for the pointers in an initial value. */
static void constrain_initial(struct ir_constrain *c, uint32_t object, LLVMValueRef value, int64_t at)
{
	LLVMTypeRef type = LLVMTypeOf(value);
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	if (LLVMIsAConstantAggregateZero(value) || LLVMIsUndef(value) || LLVMIsAConstantDataSequential(value))
		return;
	if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind) {
		for (int i = 0; i < LLVMGetNumOperands(value); i++) {
			int64_t inside =
				kind == LLVMStructTypeKind
					? (int64_t)LLVMOffsetOfElement(c->program->layout, type, (unsigned)i)
					: (int64_t)LLVMABISizeOfType(c->program->layout,
								     LLVMGetElementType(type)) *
						  i;
			constrain_initial(c, object, LLVMGetOperand(value, (unsigned)i), at + inside);
		}
		return;
	}
	int64_t offset;
	uint32_t target = object_of_constant(c, value, &offset);
	if (target == IR_NO_VARIABLE)
		return;
	uint32_t pointer = place_of(c, target, offset);
	ir_constrain_add(c, IR_STORE, place_of(c, object, at), pointer);
}

static void constrain_globals(struct ir_constrain *c)
{
	for (uint32_t i = 0; i < c->program->facts->global_count; i++) {
		LLVMValueRef g = c->program->global_refs[i];
		LLVMValueRef value = LLVMIsDeclaration(g) ? NULL : LLVMGetInitializer(g);
		if (value != NULL)
			constrain_initial(c, ir_object_of_global(c, g), value, 0);
	}
}

/* Adds constraints for the arguments of main(). */
static void constrain_main(struct ir_constrain *c)
{
	LLVMValueRef function = LLVMGetNamedFunction(c->program->module, "main");
	if (function == NULL || LLVMIsDeclaration(function))
		return;
	uint32_t object = ir_object_of_library(c, "main"), self = place_of(c, object, 0);
	uint32_t anywhere = ir_constrain_variable(c);
	ir_constrain_step(c, anywhere, self, 0, IR_ANYWHERE);
	ir_constrain_add(c, IR_STORE, anywhere, anywhere);
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		if (is_pointer(LLVMTypeOf(LLVMGetParam(function, i))))
			ir_constrain_add(c, IR_COPY, ir_program_value(c->program, LLVMGetParam(function, i)),
					 anywhere);
}

/* --------------------------------------------------------- the constraints --- */

static uint32_t *none(size_t count)
{
	uint32_t *list = rd_xmalloc((count + 1) * sizeof *list);
	memset(list, 0xff, (count + 1) * sizeof *list);
	return list;
}

static void start(struct ir_constrain *c, struct ir_program *program)
{
	struct facts *f = program->facts;
	struct ir_points_problem *p = &c->problem;
	memset(c, 0, sizeof *c);
	c->program = program;
	p->variables = (uint32_t)f->value_count;
	c->constants = p->variables;
	p->variables += (uint32_t)f->constant_count;
	c->thread_result = ir_constrain_variable(c);
	c->thread_data = ir_constrain_variable(c);
	c->messages = IR_NO_VARIABLE;
	c->results = none(f->function_count);
	c->function_object = none(f->function_count);
	c->global_object = none(f->global_count);
	c->variadic = none(f->function_count);
	c->wrapper = rd_xcalloc(f->function_count + 1, 1);
	c->from_pointer = rd_xcalloc(f->value_count + 1, sizeof *c->from_pointer);
	c->to_pointer = rd_xcalloc(f->value_count + 1, sizeof *c->to_pointer);
	c->needed = rd_xcalloc(f->function_count + 1, sizeof *c->needed);
	p->functions = rd_xcalloc(f->function_count + 1, sizeof *p->functions);
	p->function_count = p->function_capacity = f->function_count;
	for (uint32_t i = 0; i < f->function_count; i++) {
		c->results[i] = ir_constrain_variable(c);
		p->functions[i] = (struct ir_points_function){
			f->functions[i].values, f->functions[i].arguments, c->results[i],
			ir_constrain_signature(LLVMGlobalGetValueType(program->function_refs[i]))};
	}
}

/* Adds constraints for all functions.  Some functions are copied for each of their calls.  If
 * every call uses a copy, the original needs no frame. */
static void constrain_functions(struct ir_constrain *c)
{
	const struct facts *f = c->program->facts;
	bool *done = rd_xcalloc(f->function_count + 1, sizeof *done), changed = true;
	for (uint32_t i = 0; i < f->function_count; i++)
		c->needed[i] = ir_constrain_is_entered(c, i);
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < f->function_count; i++) {
			if (!c->needed[i] || done[i])
				continue;
			done[i] = changed = true;
			struct ir_frame frame = {
				.function = i, .variables = f->functions[i].values, .result = c->results[i]};
			ir_constrain_function(c, &frame);
		}
	}
	free(done);
}

static void release(struct ir_constrain *c)
{
	ir_points_problem_release(&c->problem);
	RD_FREE_EACH(c->frames, c->frame_count);
	RD_FREE(c->frames, c->objects, c->sites, c->results, c->function_object, c->global_object,
		c->variadic, c->wrapper, c->needed, c->from_pointer, c->to_pointer);
	RD_UMAP_RELEASE(&c->library, &c->unknown);
}

/* Adds a note about numbers of unknown origin that are converted to pointers.  The points-to sets
 * do not cover these pointers. */
static void note_numbers(struct ir_constrain *c)
{
	const struct facts *f = c->program->facts;
	uint32_t note = 0;
	for (uint32_t v = 0; v < f->value_count; v++)
		if (f->values[v].kind == FACTS_CAST && f->values[v].detail == LLVMIntToPtr &&
		    f->values[v].set == 0)
			ir_constrain_note(c, "number converted to a pointer with an unknown target",
					  c->program->refs[v], &note);
}

void ir_constrain(struct ir_program *program, uint64_t budget)
{
	struct ir_constrain c;
	struct ir_solution s;
	struct facts_program *row = &program->facts->programs[0];
	start(&c, program);
	find_numbers(&c);
	constrain_constants(&c);
	constrain_globals(&c);
	constrain_main(&c);
	constrain_functions(&c);
	ir_points_repeat(&c.problem);
	row->variables = c.problem.variables;
	row->constraints = (uint32_t)c.problem.constraint_count;
	row->rung = FACTS_RUNG_INCLUSION;
	if (!ir_points_solve(&c.problem, budget != 0 ? budget : BUDGET, &s)) {
		row->rung = FACTS_RUNG_UNIFICATION;
		ir_points_unify(&c.problem, &s);
	}
	ir_constrain_tables(&c, &s);
	note_numbers(&c);
	ir_solution_release(&s);
	release(&c);
}
