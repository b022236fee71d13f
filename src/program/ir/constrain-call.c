/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns calls into constraints of a points-to problem.
 *
 * A wrapper is a function that returns memory from an allocator.  Each call of a wrapper by name
 * gets its own copy of the analysis of the wrapper.  In this way, memory is distinguished by the
 * caller that requested it.
 *
 * raddle/libc.inc lists the effects of library functions.  If a library function is unknown, a
 * note is added, and the function's result is a memory object that belongs to this function.  If
 * an argument of such a call is a function, the library function is assumed to call it with the
 * other pointer arguments.  This is how callbacks get their data.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "ir/constrain.h"
#include "ir/value.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* The largest number of values in a function that is copied for each call.  All limits
	 * here were set by hand to bound the time. */
	MAX_WRAPPER = 400,
	MAX_DEPTH = 3, /* largest depth of nested copies */
	MAX_COPIES = 1 << 16,
	MAX_SOURCES = 64,  /* largest number of values through which a result is followed back */
	MAX_ARGUMENTS = 8, /* largest number of arguments of a callback */
};

uint64_t ir_constrain_signature(LLVMTypeRef function_type)
{
	unsigned count = LLVMCountParamTypes(function_type);
	LLVMTypeRef *types = rd_xcalloc(count + 1, sizeof *types);
	uint64_t hash = rd_hash_add(1, count);
	LLVMGetParamTypes(function_type, types);
	for (unsigned i = 0; i < count; i++)
		hash = rd_hash_add(hash, (uintptr_t)types[i]);
	free(types);
	return LLVMIsFunctionVarArg(function_type) ? 0 : hash | 1;
}

static bool is_pointer(LLVMValueRef v)
{
	return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/* -------------------------------------------------------------- wrappers --- */

static bool is_wrapper(struct ir_constrain *c, uint32_t function);

static bool allocates(struct ir_constrain *c, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	if (callee == NULL)
		return false;
	if (!ir_is_external(callee))
		return is_wrapper(c, ir_program_function(c->program, callee));
	const struct ir_extern *known = ir_extern_find(ir_name(callee));
	return known != NULL && known->effects[0] == 'f';
}

/* Returns true if a value may be fresh memory, that is, if the result of an allocation reaches it
 * through casts, selects, phis and address computations. */
static bool is_fresh(struct ir_constrain *c, LLVMValueRef v)
{
	LLVMValueRef work[MAX_SOURCES];
	unsigned count = 1;
	work[0] = v;
	for (unsigned done = 0; done < count; done++) {
		LLVMValueRef inst = LLVMIsAInstruction(work[done]);
		if (inst == NULL)
			continue;
		if (ir_is_call(inst) && allocates(c, inst))
			return true;
		if (!LLVMIsAPHINode(inst) && !LLVMIsASelectInst(inst) && !LLVMIsACastInst(inst) &&
		    !LLVMIsAGetElementPtrInst(inst))
			continue;
		for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
			LLVMValueRef from = LLVMGetOperand(inst, (unsigned)i);
			unsigned k = 0;
			while (k < count && work[k] != from)
				k++;
			if (k == count && count < MAX_SOURCES)
				work[count++] = from;
		}
	}
	return false;
}

static bool returns_fresh(struct ir_constrain *c, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
		if (LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) != 0 &&
		    is_pointer(LLVMGetOperand(end, 0)) && is_fresh(c, LLVMGetOperand(end, 0)))
			return true;
	}
	return false;
}

static bool is_wrapper(struct ir_constrain *c, uint32_t function)
{
	RD_ASSERT(function < c->program->facts->function_count);
	enum { UNKNOWN, LOOKING, NO, YES };
	struct facts_run values = facts_values_of(c->program->facts, function);
	LLVMValueRef ref = c->program->function_refs[function];
	if (c->wrapper[function] == UNKNOWN) {
		c->wrapper[function] = LOOKING;
		bool yes = !ir_is_external(ref) && values.end - values.first <= MAX_WRAPPER &&
			   !LLVMIsFunctionVarArg(LLVMGlobalGetValueType(ref)) && returns_fresh(c, ref);
		c->wrapper[function] = yes ? YES : NO;
	}
	return c->wrapper[function] == YES;
}

bool ir_constrain_is_entered(struct ir_constrain *c, uint32_t function)
{
	const struct facts_function *row = &c->program->facts->functions[function];
	if (row->flags & FACTS_FUNCTION_EXTERNAL)
		return false;
	return row->flags & (FACTS_FUNCTION_ADDRESS | FACTS_FUNCTION_ROOT) || !is_wrapper(c, function);
}

static bool may_copy(struct ir_constrain *c, const struct ir_frame *f, uint32_t function)
{
	int depth = 0;
	if (!is_wrapper(c, function) || c->frame_count >= MAX_COPIES)
		return false;
	for (; f != NULL; f = f->up, depth++)
		if (f->function == function)
			return false;
	return depth <= MAX_DEPTH;
}

/* ---------------------------------------------------- functions of the program --- */

/* Returns the object that contains the variadic arguments of a function; va_start() returns its
 * address. */
static uint32_t variadic_of(struct ir_constrain *c, uint32_t function)
{
	uint32_t *known = &c->variadic[function];
	if (*known == IR_NO_VARIABLE) {
		*known = ir_constrain_variable(c);
		uint32_t object = ir_object_of_arguments(c, c->program->function_refs[function]);
		ir_constrain_add(c, IR_ADDRESS, *known, object);
	}
	return *known;
}

static void pass_arguments(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call,
			   const struct ir_frame *to)
{
	uint32_t named = c->program->facts->functions[to->function].arguments;
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
		uint32_t argument = ir_constrain_operand(c, f, LLVMGetArgOperand(call, i));
		if (i < named)
			ir_constrain_add(c, IR_COPY, to->variables + i, argument);
		else if (is_pointer(LLVMGetArgOperand(call, i)))
			ir_constrain_add(c, IR_STORE, variadic_of(c, to->function), argument);
	}
	ir_constrain_add(c, IR_COPY, ir_constrain_operand(c, f, call), to->result);
}

static void call_function(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call,
			  uint32_t function)
{
	struct facts_run values = facts_values_of(c->program->facts, function);
	if (!may_copy(c, f, function)) {
		c->needed[function] = true;
		struct ir_frame own = {
			.function = function, .variables = values.first, .result = c->results[function]};
		pass_arguments(c, f, call, &own);
		return;
	}
	struct ir_frame *copy = rd_xcalloc(1, sizeof *copy);
	RD_GROW(c->frames, c->frame_capacity, c->frame_count + 1);
	c->frames[c->frame_count++] = copy;
	*copy = (struct ir_frame){function, c->problem.variables, 0, f, call};
	c->problem.variables += values.end - values.first;
	copy->result = ir_constrain_variable(c);
	pass_arguments(c, f, call, copy);
	ir_constrain_function(c, copy);
}

/* Adds a call through a pointer.  `from` contains the variables of its arguments. */
static void call_pointer(struct ir_constrain *c, const struct ir_points_call *call, const uint32_t *from,
			 const struct ir_call_site *site)
{
	struct ir_points_problem *p = &c->problem;
	if (call->callee == IR_NO_VARIABLE)
		return;
	RD_GROW(p->arguments, p->argument_capacity, p->argument_count + call->argument_count + 1);
	RD_GROW(p->calls, p->call_capacity, p->call_count + 1);
	RD_GROW(c->sites, c->site_capacity, p->call_count + 1);
	p->calls[p->call_count] = *call;
	p->calls[p->call_count].arguments = (uint32_t)p->argument_count;
	c->sites[p->call_count++] = *site;
	for (uint32_t i = 0; i < call->argument_count; i++)
		p->arguments[p->argument_count++] = from[i];
}

static void call_indirect(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call)
{
	unsigned n = LLVMGetNumArgOperands(call);
	uint32_t *from = rd_xcalloc(n + 1, sizeof *from);
	for (unsigned i = 0; i < n; i++)
		from[i] = ir_constrain_operand(c, f, LLVMGetArgOperand(call, i));
	struct ir_points_call row = {
		.callee = ir_constrain_operand(c, f, LLVMGetCalledValue(call)),
		.argument_count = n,
		.result = ir_constrain_operand(c, f, call),
		.signature = ir_constrain_signature(LLVMGetCalledFunctionType(call)),
	};
	struct ir_call_site site = {ir_program_value(c->program, call), FACTS_EDGE_INDIRECT};
	call_pointer(c, &row, from, &site);
	free(from);
}

/* ------------------------------------------------------- library functions --- */

/* The effects of one call, while they are parsed. */
struct effect {
	struct ir_constrain *c;
	const struct ir_frame *f;
	LLVMValueRef call;
	const char *at;
};

/* Reads the number of an argument and returns the variable of that argument. */
static uint32_t next_argument(struct effect *e)
{
	unsigned n = (unsigned)(*e->at++ - '0');
	return n < LLVMGetNumArgOperands(e->call)
		       ? ir_constrain_operand(e->c, e->f, LLVMGetArgOperand(e->call, n))
		       : IR_NO_VARIABLE;
}

static uint32_t anywhere_in(struct ir_constrain *c, uint32_t pointer)
{
	if (pointer == IR_NO_VARIABLE)
		return pointer;
	uint32_t variable = ir_constrain_variable(c);
	ir_constrain_step(c, variable, pointer, 0, IR_ANYWHERE);
	return variable;
}

static uint32_t address_of(struct ir_constrain *c, uint32_t object)
{
	uint32_t variable = ir_constrain_variable(c);
	ir_constrain_add(c, IR_ADDRESS, variable, object);
	return variable;
}

/* Adds a call of `callee`, whose arguments are described by a text such as "(03-)".  A digit is
 * the number of an argument of the call, and '-' stands for an unknown argument. */
static void callback(struct effect *e, uint32_t callee, enum facts_edge_kind kind, uint32_t result)
{
	uint32_t from[MAX_ARGUMENTS], count = 0;
	if (*e->at == '(') {
		for (e->at++; *e->at != ')'; count++) {
			RD_ASSERT(count < MAX_ARGUMENTS);
			if (*e->at == '-')
				from[count] = IR_NO_VARIABLE, e->at++;
			else
				from[count] = next_argument(e);
		}
		e->at++;
	}
	struct ir_points_call row = {.callee = callee, .argument_count = count, .result = result};
	struct ir_call_site site = {ir_program_value(e->c->program, e->call), kind};
	call_pointer(e->c, &row, from, &site);
}

static void copy_memory(struct effect *e)
{
	uint32_t to = next_argument(e), from = next_argument(e);
	unsigned n = (unsigned)(*e->at++ - '0');
	LLVMValueRef length =
		n < LLVMGetNumArgOperands(e->call) ? LLVMIsAConstantInt(LLVMGetArgOperand(e->call, n)) : NULL;
	ir_constrain_copy_bytes(e->c, to, from,
				length != NULL ? (int64_t)LLVMConstIntGetZExtValue(length) : -1);
}

/* Adds calls of the functions that are stored in the memory that an argument points to. */
static void handlers_in(struct effect *e, uint32_t pointer)
{
	uint32_t stored = ir_constrain_variable(e->c);
	ir_constrain_add(e->c, IR_LOAD, stored, anywhere_in(e->c, pointer));
	callback(e, stored, FACTS_EDGE_LATER, IR_NO_VARIABLE);
}

/* Data that one thread sends to another may contain pointers if its length is a constant.  Other
 * data is assumed to contain none. */
static void send_or_get(struct effect *e, bool sends)
{
	uint32_t memory = next_argument(e);
	unsigned n = (unsigned)(*e->at++ - '0');
	LLVMValueRef length =
		n < LLVMGetNumArgOperands(e->call) ? LLVMIsAConstantInt(LLVMGetArgOperand(e->call, n)) : NULL;
	if (length == NULL || LLVMConstIntGetZExtValue(length) < sizeof(void *))
		return;
	uint32_t messages = address_of(e->c, ir_object_of_messages(e->c));
	ir_constrain_copy_bytes(e->c, sends ? messages : memory, sends ? memory : messages,
				(int64_t)LLVMConstIntGetZExtValue(length));
}

/* Handles a call of a function of a plug-in.  The function may keep its arguments.  Threads of the
 * plug-in may call functions that are passed as arguments, or that are in memory to which the
 * arguments point. */
static void plugin(struct effect *e)
{
	struct ir_constrain *c = e->c;
	struct ir_points_problem *p = &c->problem;
	uint32_t given = ir_constrain_variable(c), stored = ir_constrain_variable(c), from[MAX_ARGUMENTS];
	struct ir_points_function function = {.parameters = p->variables, .parameter_count = MAX_ARGUMENTS};
	for (unsigned i = 0; i < MAX_ARGUMENTS; i++) {
		from[i] = given;
		ir_constrain_add(c, IR_COPY, given, ir_constrain_variable(c));
	}
	function.result = address_of(c, ir_object_of_library(c, ir_name(ir_callee(e->call))));
	RD_GROW(p->functions, p->function_capacity, p->function_count + 1);
	p->functions[p->function_count] = function;
	uint32_t object = ir_object_of_plugin(c, (uint32_t)p->function_count++);
	uint32_t self = address_of(c, object);
	ir_constrain_add(c, IR_COPY, ir_constrain_operand(c, e->f, e->call), self);
	ir_constrain_add(c, IR_STORE, self, given);
	ir_constrain_add(c, IR_LOAD, stored, anywhere_in(c, given));
	struct ir_call_site site = {ir_program_value(c->program, e->call), FACTS_EDGE_LATER};
	for (int i = 0; i < 2; i++) {
		struct ir_points_call row = {.callee = i == 0 ? given : stored,
					     .argument_count = MAX_ARGUMENTS,
					     .result = IR_NO_VARIABLE};
		call_pointer(c, &row, from, &site);
	}
	ir_constrain_note(c, "functions of plug-ins, what they access and which threads they start", e->call,
			  &c->plugin_note);
}

/* std::thread passes a pointer to an object, and the new thread runs a virtual function of that
 * object. */
static void start_virtual(struct effect *e)
{
	struct ir_constrain *c = e->c;
	uint32_t object = ir_constrain_variable(c), table = ir_constrain_variable(c),
		 function = ir_constrain_variable(c);
	ir_constrain_add(c, IR_LOAD, object, next_argument(e));
	ir_constrain_add(c, IR_LOAD, table, object);
	ir_constrain_add(c, IR_LOAD, function, anywhere_in(c, table));
	struct ir_points_call row = {.callee = function, .argument_count = 1, .result = c->thread_result};
	struct ir_call_site site = {ir_program_value(c->program, e->call), FACTS_EDGE_START};
	call_pointer(c, &row, &object, &site);
}

static void thread_effect(struct effect *e, char letter)
{
	struct ir_constrain *c = e->c;
	uint32_t result = ir_constrain_operand(c, e->f, e->call);
	switch (letter) {
	case 't': callback(e, next_argument(e), FACTS_EDGE_START, c->thread_result); break;
	case 'h': callback(e, next_argument(e), FACTS_EDGE_LATER, IR_NO_VARIABLE); break;
	case 'H': handlers_in(e, next_argument(e)); break;
	case 'j': ir_constrain_add(c, IR_STORE, next_argument(e), c->thread_result); break;
	case 'x': ir_constrain_add(c, IR_COPY, c->thread_result, next_argument(e)); break;
	case 'S': ir_constrain_add(c, IR_COPY, c->thread_data, next_argument(e)); break;
	case 'G': ir_constrain_add(c, IR_COPY, result, c->thread_data); break;
	case 'V': start_virtual(e); break;
	case 'D': {
		struct ir_points_call row = {
			.callee = next_argument(e), .argument_count = 1, .result = IR_NO_VARIABLE};
		struct ir_call_site site = {ir_program_value(c->program, e->call), FACTS_EDGE_LATER};
		call_pointer(c, &row, &c->thread_data, &site);
		break;
	}
	default: RD_BUG("unknown letter in raddle/libc.inc");
	}
}

static void pointer_effect(struct effect *e)
{
	struct ir_constrain *c = e->c;
	uint32_t result = ir_constrain_operand(c, e->f, e->call), to;
	const char *name = ir_name(ir_callee(e->call));
	char letter = *e->at++;
	switch (letter) {
	case 'f': ir_constrain_add(c, IR_ADDRESS, result, ir_object_of_heap(c, e->f, e->call)); break;
	case 'l': ir_constrain_add(c, IR_ADDRESS, result, ir_object_of_library(c, name)); break;
	case '=': ir_constrain_add(c, IR_COPY, result, next_argument(e)); break;
	case 'r': ir_constrain_step(c, result, next_argument(e), 0, IR_ANYWHERE); break;
	case 'n':
		to = next_argument(e);
		ir_constrain_add(c, IR_STORE, to, address_of(c, ir_object_of_heap(c, e->f, e->call)));
		break;
	case 'o':
		to = next_argument(e);
		ir_constrain_add(c, IR_STORE, to, address_of(c, ir_object_of_library(c, name)));
		break;
	case 's':
		to = next_argument(e);
		ir_constrain_add(c, IR_STORE, to, anywhere_in(c, next_argument(e)));
		break;
	case 'm': copy_memory(e); break;
	case 'c':
		to = next_argument(e);
		ir_constrain_copy_bytes(c, to, next_argument(e), -1);
		break;
	case 'k': callback(e, next_argument(e), FACTS_EDGE_CALLBACK, IR_NO_VARIABLE); break;
	case 'w': send_or_get(e, true); break;
	case 'g': send_or_get(e, false); break;
	case 'p': plugin(e); break;
	default: thread_effect(e, letter);
	}
}

/* Returns the variable of the data that the library passes to a callback.  It is usually the
 * argument after the callback, as in event_set(event, fd, what, callback, data).  If the next
 * argument is not a pointer, it may be any of the other pointers. */
static uint32_t data_of(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call,
			unsigned callback)
{
	uint32_t all = ir_constrain_variable(c);
	unsigned count = LLVMGetNumArgOperands(call), found = 0;
	for (unsigned i = callback + 1; i < count; i++)
		if (is_pointer(LLVMGetArgOperand(call, i)) && !LLVMIsNull(LLVMGetArgOperand(call, i))) {
			ir_constrain_add(c, IR_COPY, all,
					 ir_constrain_operand(c, f, LLVMGetArgOperand(call, i)));
			found++;
		}
	for (unsigned i = 0; i < callback && found == 0; i++)
		if (is_pointer(LLVMGetArgOperand(call, i)))
			ir_constrain_add(c, IR_COPY, all,
					 ir_constrain_operand(c, f, LLVMGetArgOperand(call, i)));
	return all;
}

static void call_unknown(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call,
			 LLVMValueRef callee)
{
	struct rd_buf text = RD_BUF_INIT;
	uint64_t *note = rd_umap_put(&c->unknown, (uintptr_t)callee, NULL);
	uint32_t number = (uint32_t)*note, from[MAX_ARGUMENTS];
	rd_buf_addf(&text, "library function without a model: %s", ir_name(callee));
	ir_constrain_note(c, text.data, call, &number);
	*note = number;
	rd_buf_release(&text);
	if (is_pointer(call))
		ir_constrain_add(c, IR_ADDRESS, ir_constrain_operand(c, f, call),
				 ir_object_of_library(c, ir_name(callee)));
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
		LLVMValueRef v = LLVMGetArgOperand(call, i);
		if (!is_pointer(v) || LLVMIsNull(v))
			continue;
		uint32_t data = data_of(c, f, call, i);
		for (unsigned k = 0; k < MAX_ARGUMENTS; k++)
			from[k] = data;
		struct ir_points_call row = {.callee = ir_constrain_operand(c, f, v),
					     .argument_count = MAX_ARGUMENTS,
					     .result = IR_NO_VARIABLE};
		struct ir_call_site site = {ir_program_value(c->program, call), FACTS_EDGE_LATER};
		call_pointer(c, &row, from, &site);
	}
}

static void call_library(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call,
			 LLVMValueRef callee)
{
	const struct ir_extern *known = ir_extern_find(ir_name(callee));
	if (known == NULL) {
		call_unknown(c, f, call, callee);
		return;
	}
	struct effect e = {c, f, call, known->effects};
	while (*e.at != '\0')
		pointer_effect(&e);
}

static void call_intrinsic(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call,
			   const char *name)
{
	struct ir_derived derived;
	if (ir_starts(name, "llvm.memcpy.") || ir_starts(name, "llvm.memmove.")) {
		struct effect e = {c, f, call, "012"};
		copy_memory(&e);
	} else if (ir_starts(name, "llvm.va_start")) {
		uint32_t list = ir_constrain_operand(c, f, LLVMGetArgOperand(call, 0));
		ir_constrain_add(c, IR_STORE, anywhere_in(c, list), variadic_of(c, f->function));
	} else if (ir_starts(name, "llvm.va_copy")) {
		uint32_t to = ir_constrain_operand(c, f, LLVMGetArgOperand(call, 0));
		ir_constrain_copy_bytes(c, to, ir_constrain_operand(c, f, LLVMGetArgOperand(call, 1)), -1);
	} else if (ir_derive(c->program->layout, call, &derived)) {
		ir_constrain_add(c, IR_COPY, ir_constrain_operand(c, f, call),
				 ir_constrain_operand(c, f, derived.from));
	}
}

static void call_assembler(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call)
{
	size_t length;
	LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &length);
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
		ir_constrain_step(c, ir_constrain_operand(c, f, call),
				  ir_constrain_operand(c, f, LLVMGetArgOperand(call, i)), 0, IR_ANYWHERE);
	if (length != 0)
		ir_constrain_note(c, "inline assembler", call, &c->assembler_note);
}

void ir_constrain_call(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	if (LLVMIsAInlineAsm(LLVMGetCalledValue(call)))
		call_assembler(c, f, call);
	else if (callee == NULL)
		call_indirect(c, f, call);
	else if (LLVMGetIntrinsicID(callee) != 0)
		call_intrinsic(c, f, call, ir_name(callee));
	else if (ir_is_external(callee))
		call_library(c, f, call, callee);
	else
		call_function(c, f, call, ir_program_function(c->program, callee));
}
