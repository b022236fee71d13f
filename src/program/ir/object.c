/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the objects of a points-to problem and their layouts.  A variable has the layout of its
 * type.  Heap memory has no type, so its layout is guessed from the requested size and from its
 * first uses.  For instance, if the size is a multiple of 24, the memory is assumed to be an array
 * of 24-byte elements.  The uses may show that each element is a struct of some type.  A wrong
 * guess makes the sets larger, but never incomplete, because a step that does not match the layout
 * may lead anywhere in the object.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "ir/constrain.h"
#include "ir/value.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* All limits were set by hand; they bound time and memory. */
	MAX_RANGES = 64, /* largest number of arrays in an object with fields */
	MAX_USES = 64,	 /* largest number of uses on which a guess is based */
	/* The next two limit the number of places in an object, because a pointer may be advanced
	 * without end. */
	PLAIN_PLACES = 16,  /* for an object without a known layout */
	TYPED_PLACES = 512, /* for an object with a type; fewer if the type has fewer members */
};

struct object_ranges {
	LLVMTargetDataRef layout;
	struct ir_range items[MAX_RANGES];
	uint32_t count;
	uint32_t members; /* the number of members of all types that were walked */
	bool too_many;
};

static void add_range(struct object_ranges *r, int64_t start, int64_t end, int64_t element)
{
	RD_ASSERT(start <= end);
	if (element <= 0 || end <= start)
		return;
	if (r->count == MAX_RANGES)
		r->too_many = true;
	else
		r->items[r->count++] = (struct ir_range){start, end, element};
}

/* Finds the arrays inside a type that is located at offset `start` of an object.  An array without
 * a length extends to the end of the object. */
static void walk_type(struct object_ranges *r, LLVMTypeRef type, int64_t start)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMStructTypeKind:
		for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++)
			walk_type(r, LLVMStructGetTypeAtIndex(type, i),
				  start + (int64_t)LLVMOffsetOfElement(r->layout, type, i));
		break;
	case LLVMArrayTypeKind: {
		LLVMTypeRef element = LLVMGetElementType(type);
		int64_t size = (int64_t)LLVMABISizeOfType(r->layout, element);
		uint64_t count = LLVMGetArrayLength2(type);
		add_range(r, start, count == 0 ? INT64_MAX : start + size * (int64_t)count, size);
		walk_type(r, element, start);
		break;
	}
	default: r->members++;
	}
}

static uint32_t add_object(struct ir_constrain *c, const struct ir_object *object,
			   const struct object_ranges *r, int64_t size)
{
	struct ir_points_problem *p = &c->problem;
	uint32_t number = (uint32_t)p->object_count++;
	RD_GROW(p->objects, p->object_capacity, p->object_count);
	RD_GROW(c->objects, c->object_capacity, p->object_count);
	c->objects[number] = *object;
	struct ir_points_object *o = &p->objects[number];
	*o = (struct ir_points_object){.size = size, .places = PLAIN_PLACES, .function = IR_NO_VARIABLE};
	if (r != NULL && r->members != 0)
		o->places = r->members < TYPED_PLACES ? r->members + 1 : TYPED_PLACES;
	if (r == NULL || (r->count == 0 && !r->too_many))
		return number;
	const struct ir_range all = {0, INT64_MAX, 1};
	o->range_count = r->too_many ? 1 : r->count;
	o->ranges = rd_xcalloc(o->range_count, sizeof *o->ranges);
	memcpy(o->ranges, r->too_many ? &all : r->items, o->range_count * sizeof *o->ranges);
	c->objects[number].array = o->ranges[0].start == 0;
	return number;
}

static uint32_t add_typed(struct ir_constrain *c, const struct ir_object *object, LLVMTypeRef type, bool many)
{
	struct object_ranges r = {.layout = c->program->layout};
	if (!LLVMTypeIsSized(type))
		return add_object(c, object, NULL, -1);
	int64_t size = (int64_t)LLVMABISizeOfType(r.layout, type);
	if (many)
		add_range(&r, 0, INT64_MAX, size);
	walk_type(&r, type, 0);
	return add_object(c, object, &r, many || size == 0 ? -1 : size);
}

/* Returns true if the size of a variable is not known.  This is the case if the variable is
 * defined elsewhere, or if its initialiser is longer than its type (a flexible array member). */
static bool outgrows(const struct ir_constrain *c, LLVMValueRef global)
{
	LLVMValueRef value = LLVMGetInitializer(global);
	LLVMTypeRef type = LLVMGlobalGetValueType(global);
	return LLVMIsDeclaration(global) ||
	       (value != NULL && LLVMABISizeOfType(c->program->layout, LLVMTypeOf(value)) >
					 LLVMABISizeOfType(c->program->layout, type));
}

uint32_t ir_object_of_global(struct ir_constrain *c, LLVMValueRef global)
{
	const uint64_t *row = rd_umap_get(&c->program->globals, (uintptr_t)global);
	if (row == NULL)
		return IR_NO_VARIABLE;
	uint32_t *known = &c->global_object[*row];
	if (*known == IR_NO_VARIABLE) {
		struct ir_object object = {.kind = FACTS_OBJECT_GLOBAL, .origin = global};
		LLVMTypeRef type = LLVMGlobalGetValueType(global);
		*known = add_typed(c, &object, type, false);
		if (LLVMTypeIsSized(type) && outgrows(c, global))
			c->problem.objects[*known].size = -1;
	}
	return *known;
}

uint32_t ir_object_of_function(struct ir_constrain *c, LLVMValueRef function)
{
	uint32_t row = ir_program_function(c->program, function);
	uint32_t *known = &c->function_object[row];
	if (*known == IR_NO_VARIABLE) {
		struct ir_object object = {.kind = FACTS_OBJECT_FUNCTION, .origin = function};
		*known = add_object(c, &object, NULL, 1);
		c->problem.objects[*known].function = row;
	}
	return *known;
}

uint32_t ir_object_of_variable(struct ir_constrain *c, LLVMValueRef alloca)
{
	struct ir_object object = {.kind = FACTS_OBJECT_STACK, .origin = alloca};
	LLVMValueRef count = LLVMIsAConstantInt(LLVMGetOperand(alloca, 0));
	bool many = count == NULL || LLVMConstIntGetZExtValue(count) != 1;
	return add_typed(c, &object, LLVMGetAllocatedType(alloca), many);
}

uint32_t ir_object_of_arguments(struct ir_constrain *c, LLVMValueRef function)
{
	struct ir_object object = {.kind = FACTS_OBJECT_LIBRARY, .name = ir_name(function)};
	struct object_ranges r = {.layout = c->program->layout};
	add_range(&r, 0, INT64_MAX, 1);
	return add_object(c, &object, &r, -1);
}

uint32_t ir_object_of_library(struct ir_constrain *c, const char *name)
{
	bool is_new;
	LLVMValueRef function = LLVMGetNamedFunction(c->program->module, name);
	uint64_t *known = rd_umap_put(&c->library, (uintptr_t)function, &is_new);
	if (is_new) {
		struct ir_object object = {.kind = FACTS_OBJECT_LIBRARY, .name = name};
		*known = add_object(c, &object, NULL, -1);
	}
	return (uint32_t)*known;
}

uint32_t ir_object_of_messages(struct ir_constrain *c)
{
	if (c->messages == IR_NO_VARIABLE) {
		struct ir_object object = {.kind = FACTS_OBJECT_LIBRARY, .name = "messages"};
		c->messages = add_object(c, &object, NULL, -1);
	}
	return c->messages;
}

uint32_t ir_object_of_plugin(struct ir_constrain *c, uint32_t function)
{
	struct ir_object object = {.kind = FACTS_OBJECT_LIBRARY, .name = "plug-in"};
	uint32_t number = add_object(c, &object, NULL, -1);
	c->problem.objects[number].function = function;
	return number;
}

/* ------------------------------------------------------------------ heap --- */

/* The size that an allocation requests, as far as it is known. */
struct requested_size {
	int64_t size;	 /* the whole size in bytes; -1 if it is variable */
	int64_t element; /* a number of bytes that divides the size; 0 if unknown */
};

static void look_at_size(LLVMValueRef v, struct requested_size *requested)
{
	if (LLVMIsAConstantInt(v)) {
		requested->size = LLVMConstIntGetSExtValue(v);
		return;
	}
	if (!LLVMIsAInstruction(v) ||
	    (LLVMGetInstructionOpcode(v) != LLVMMul && LLVMGetInstructionOpcode(v) != LLVMShl))
		return;
	LLVMValueRef right = LLVMIsAConstantInt(LLVMGetOperand(v, 1)),
		     left = LLVMIsAConstantInt(LLVMGetOperand(v, 0));
	if (LLVMGetInstructionOpcode(v) == LLVMShl)
		requested->element = right != NULL ? 1ll << (LLVMConstIntGetZExtValue(right) & 31) : 0;
	else if (right != NULL || left != NULL)
		requested->element = LLVMConstIntGetSExtValue(right != NULL ? right : left);
}

/* Returns the size of the memory that a call in the source allocates, computed from the call's
 * integer arguments.  Examples are malloc(n), calloc(n, size) and wrap(n). */
static struct requested_size requested_by(LLVMValueRef call)
{
	struct requested_size requested = {.size = -1};
	int64_t product = 1;
	unsigned numbers = 0, known = 0;
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
		LLVMValueRef v = LLVMGetArgOperand(call, i);
		if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMIntegerTypeKind ||
		    LLVMGetIntTypeWidth(LLVMTypeOf(v)) < 32)
			continue;
		struct requested_size one = {.size = -1};
		look_at_size(v, &one);
		numbers++;
		known += one.size >= 0;
		product = one.size >= 0 ? product * one.size : product;
		if (one.element > requested.element)
			requested.element = one.element;
		if (one.size > 0 && numbers == 2 && known == 1)
			requested.element = one.size; /* the call is calloc(n, size) */
	}
	if (numbers == 1 && known == 1)
		requested.size = product;
	if (numbers == 2 && known == 2 && ir_callee(call) != NULL &&
	    strcmp(ir_name(ir_callee(call)), "calloc") == 0)
		requested.size = product;
	return requested;
}

/* The known uses of the memory: the largest struct type with which it is accessed, and whether it
 * is accessed with an index other than 0. */
struct usage {
	LLVMTypeRef type;
	int64_t size, stride;
	bool indexed;
};

static void look_at_use(struct ir_constrain *c, LLVMValueRef gep, struct usage *u)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
	if (!LLVMTypeIsSized(type))
		return;
	int64_t size = (int64_t)LLVMABISizeOfType(c->program->layout, type);
	LLVMValueRef index = LLVMGetNumOperands(gep) > 1 ? LLVMGetOperand(gep, 1) : NULL;
	bool moves = index != NULL && (!LLVMIsAConstantInt(index) || LLVMConstIntGetSExtValue(index) != 0);
	if (LLVMGetTypeKind(type) != LLVMStructTypeKind) {
		if (index != NULL && !LLVMIsAConstantInt(index) && (u->stride == 0 || size < u->stride))
			u->stride = size;
		return;
	}
	if (size > u->size) {
		u->type = type;
		u->size = size;
		u->indexed = false;
	}
	u->indexed |= moves && size == u->size;
}

static void look_at_uses(struct ir_constrain *c, LLVMValueRef memory, struct usage *u)
{
	LLVMValueRef work[MAX_USES];
	unsigned count = 1;
	work[0] = memory;
	for (unsigned done = 0; done < count; done++)
		for (LLVMUseRef use = LLVMGetFirstUse(work[done]); use != NULL; use = LLVMGetNextUse(use)) {
			LLVMValueRef user = LLVMGetUser(use);
			if (!LLVMIsAInstruction(user))
				continue;
			LLVMOpcode op = LLVMGetInstructionOpcode(user);
			if (op == LLVMGetElementPtr && LLVMGetOperand(user, 0) == work[done])
				look_at_use(c, user, u);
			if ((op != LLVMPHI && op != LLVMSelect && op != LLVMBitCast) || count == MAX_USES)
				continue;
			unsigned k = 0;
			while (k < count && work[k] != user)
				k++;
			if (k == count)
				work[count++] = user;
		}
}

/* Makes a layout from the size and the use.  A struct with a trailing buffer gets fields, followed
 * by one array of bytes. */
static void guess(struct object_ranges *r, const struct requested_size *requested, const struct usage *u)
{
	if (u->type == NULL) {
		int64_t element = requested->element != 0 ? requested->element
				  : requested->size < 0	  ? u->stride
							  : 0;
		add_range(r, 0, INT64_MAX, element);
		return;
	}
	bool whole =
		requested->size >= 0 ? requested->size % u->size == 0 : requested->element % u->size == 0;
	if (requested->size != u->size &&
	    (u->indexed || (whole && (requested->size >= 0 || requested->element != 0))))
		add_range(r, 0, INT64_MAX, u->size);
	else if (requested->size != u->size)
		add_range(r, u->size, INT64_MAX, 1);
	walk_type(r, u->type, 0);
}

uint32_t ir_object_of_heap(struct ir_constrain *c, const struct ir_frame *f, LLVMValueRef call)
{
	LLVMValueRef outer = call;
	for (; f->up != NULL; f = f->up)
		outer = f->call;
	struct ir_object object = {
		.kind = FACTS_OBJECT_HEAP, .origin = outer, .through = outer != call ? call : NULL};
	struct requested_size requested = requested_by(outer);
	struct usage usage = {0};
	struct object_ranges r = {.layout = c->program->layout};
	look_at_uses(c, outer, &usage);
	guess(&r, &requested, &usage);
	/* The integer argument of a wrapper is not necessarily the size. */
	return add_object(c, &object, &r, outer == call && requested.size > 0 ? requested.size : -1);
}
