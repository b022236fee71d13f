// SPDX-License-Identifier: Apache-2.0
/*
 * In the flavour `led`, inserts tests of whether an access stays within the variable or array to which
 * its pointer should point.  In: an access and the code that computed its address.  Out: a call of a
 * hook before the access, if that variable or array is known, but not whether the access stays within
 * it.
 *
 * It is known in two cases:
 *
 *  - The address is computed from a local or global variable of known size, and from no other
 *    pointer.  The access must stay within the variable.  This is what AddressSanitizer checks.
 *  - The address is that of an element of an array in a structure, and the array is not the
 *    structure's last member.  The access must stay within the array.  This is what
 *    -fsanitize=bounds checks.  An array that is the last member may be longer than its type states.
 *    The rows of a matrix count as one array.
 *
 * Pointers may point elsewhere as long as they are not used for an access.  A variable has no known size
 * if the linker may replace it by a larger one or if it is in a section that the program names.  The
 * first case does not include pointers that were loaded, passed as arguments or returned by calls.
 */
#include "instr/full/full.h"

#include "raddle/full.h"

/* The memory within which an access must stay. */
struct extent {
	LLVMValueRef start;
	LLVMValueRef size; /* NULL if no extent is known */
};

/* The number of phi nodes and selects that are followed to find a variable.  Code rarely has more
 * than two nested loops over one pointer. */
enum { MOST_MERGED = 8 };

struct search {
	LLVMValueRef found; /* the variable; NULL before one is found */
	LLVMValueRef merged[MOST_MERGED];
	unsigned count;
	bool failed; /* true if the address may be computed from more than one variable */
};

static LLVMValueRef const64(struct full_function *x, uint64_t n)
{
	return LLVMConstInt(x->u->i64, n, false);
}

/* ---- variables ---- */

/* Returns true if this local variable exists only once in each call of its function.  Otherwise a
 * pointer may point to the variable of an earlier iteration of a loop. */
static bool is_single(LLVMValueRef v)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(v));

	return LLVMIsAConstantInt(LLVMGetOperand(v, 0)) &&
	       LLVMGetInstructionParent(v) == LLVMGetEntryBasicBlock(function);
}

static bool has_known_size(LLVMValueRef global)
{
	LLVMLinkage linkage = LLVMGetLinkage(global);
	const char *section = LLVMGetSection(global);

	return !LLVMIsDeclaration(global) && (section == NULL || *section == '\0') &&
	       (linkage == LLVMExternalLinkage || linkage == LLVMInternalLinkage ||
		linkage == LLVMPrivateLinkage);
}

static void find(struct search *s, LLVMValueRef pointer);

static bool was_merged(const struct search *s, LLVMValueRef v)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->merged[i] == v)
			return true;
	return false;
}

/* Follows all values that a phi node or a select may have. */
static void find_in_all(struct search *s, LLVMValueRef v)
{
	if (was_merged(s, v))
		return;
	s->failed |= s->count == MOST_MERGED;
	if (s->failed)
		return;
	s->merged[s->count++] = v;
	if (LLVMIsASelectInst(v)) {
		find(s, LLVMGetOperand(v, 1));
		find(s, LLVMGetOperand(v, 2));
		return;
	}
	for (unsigned i = 0; i < LLVMCountIncoming(v); i++)
		find(s, LLVMGetIncomingValue(v, i));
}

static void find(struct search *s, LLVMValueRef pointer)
{
	LLVMValueRef base = ir_base(pointer);

	if (LLVMIsAPHINode(base) || LLVMIsASelectInst(base)) {
		find_in_all(s, base);
		return;
	}
	s->failed |= s->found != NULL && s->found != base;
	s->found = base;
}

/* Returns the variable from which the address is computed, or NULL. */
static LLVMValueRef variable_of(LLVMValueRef pointer)
{
	struct search s = {0};

	find(&s, pointer);
	if (s.failed || s.found == NULL)
		return NULL;
	if (LLVMIsAAllocaInst(s.found))
		return s.count == 0 || is_single(s.found) ? s.found : NULL;
	return LLVMIsAGlobalVariable(s.found) && has_known_size(s.found) ? s.found : NULL;
}

static struct extent extent_of_variable(struct full_function *x, LLVMValueRef pointer)
{
	LLVMValueRef v = variable_of(pointer), n;
	uint64_t one;

	if (v == NULL)
		return (struct extent){0};
	if (LLVMIsAGlobalVariable(v))
		return (struct extent){
			v, const64(x, LLVMABISizeOfType(x->u->layout, LLVMGlobalGetValueType(v)))};
	one = LLVMABISizeOfType(x->u->layout, LLVMGetAllocatedType(v));
	n = LLVMBuildIntCast2(x->u->builder, LLVMGetOperand(v, 0), x->u->i64, false, "");
	return (struct extent){v, LLVMBuildMul(x->u->builder, n, const64(x, one), "")};
}

/* ---- arrays in structures ---- */

static bool is_gep(LLVMValueRef v)
{
	return (LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMGetElementPtr) ||
	       (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* Skips the placeholders of tests for faults (inject.c).  Returns the value that is tested. */
static LLVMValueRef real(LLVMValueRef v)
{
	while (LLVMIsAInstruction(v) && LLVMGetInstructionOpcode(v) == LLVMFreeze)
		v = LLVMGetOperand(v, 0);
	return v;
}

static bool is_zero(LLVMValueRef v)
{
	return LLVMIsAConstantInt(v) && LLVMConstIntGetZExtValue(v) == 0;
}

/* Returns the type whose element or member a GEP computes, or NULL if it computes something else. */
static LLVMTypeRef container(LLVMValueRef gep)
{
	if (!is_gep(gep) || LLVMGetNumIndices(gep) != 2 || !is_zero(LLVMGetOperand(gep, 1)))
		return NULL;
	return LLVMGetGEPSourceElementType(gep);
}

static bool is_of_kind(LLVMTypeRef type, LLVMTypeKind kind)
{
	return type != NULL && LLVMGetTypeKind(type) == kind;
}

/* Returns true if the GEP computes the address of a member that is not the last one. */
static bool is_inner_member(LLVMValueRef gep)
{
	LLVMTypeRef type = container(gep);

	return is_of_kind(type, LLVMStructTypeKind) &&
	       LLVMConstIntGetZExtValue(LLVMGetOperand(gep, 2)) + 1 < LLVMCountStructElementTypes(type);
}

/* Finds the array in a structure that contains what the pointer points to, if the expression that
 * computes the pointer names the array. */
static struct extent extent_of_array(struct full_function *x, LLVMValueRef pointer)
{
	LLVMTypeRef array = NULL;

	pointer = real(pointer);
	while (is_of_kind(container(pointer), LLVMStructTypeKind))
		pointer = real(LLVMGetOperand(pointer, 0));
	while (is_of_kind(container(pointer), LLVMArrayTypeKind)) {
		array = container(pointer);
		pointer = real(LLVMGetOperand(pointer, 0));
	}
	if (array == NULL || !is_inner_member(pointer) || LLVMGetArrayLength2(array) <= 1)
		return (struct extent){0};
	return (struct extent){pointer, const64(x, LLVMABISizeOfType(x->u->layout, array))};
}

/* ---- tests ---- */

/* Returns true if the access is certainly within the extent. */
static bool is_inside(struct full_function *x, LLVMValueRef pointer, LLVMValueRef n, const struct extent *e)
{
	int64_t offset = 0;
	struct ir_derived d;

	if (!LLVMIsAConstantInt(n) || !LLVMIsAConstantInt(e->size))
		return false;
	while (pointer != e->start && ir_derive(x->u->layout, pointer, &d)) {
		if (!d.constant)
			return false;
		offset += d.offset;
		pointer = d.from;
	}
	return pointer == e->start && offset >= 0 &&
	       (uint64_t)offset + LLVMConstIntGetZExtValue(n) <= LLVMConstIntGetZExtValue(e->size);
}

static void test(struct full_function *x, const struct full_access *a, const struct extent *e)
{
	if (e->size == NULL || is_inside(x, a->pointer, a->size, e))
		return;
	instr_hook_call(x->u, HOOK_WITHIN,
			(LLVMValueRef[]){full_self(x), a->pointer, a->size, e->start, e->size, a->site});
}

void full_bounds(struct full_function *x, const struct full_access *a)
{
	struct extent e = {0};

	if (!x->u->stops)
		return;
	if (!a->crosses_members)
		e = extent_of_array(x, a->pointer);
	if (e.size == NULL)
		e = extent_of_variable(x, a->pointer);
	test(x, a, &e);
}

/* ---- calls ---- */

/* Inserts a hook before a copy of a string.  Returns the size that the hook returns: how many bytes the
 * copy will use.  The hook also tests whether they fit into a block of the heap. */
static LLVMValueRef copied_size(struct full_function *x, const struct instr_event *event, LLVMValueRef site)
{
	const struct instr_libc *row = event->libc;
	uint64_t mark = row->length == LENGTH_APPENDED ? RADDLE_COPIES_APPENDS : 0;
	LLVMValueRef most = row->b < 0 ? const64(x, UINT64_MAX)
				       : LLVMBuildIntCast2(x->u->builder,
							   LLVMGetArgOperand(event->inst, (unsigned)row->b),
							   x->u->i64, false, "");

	return instr_hook_call(x->u, HOOK_COPIES,
			       (LLVMValueRef[]){full_self(x), event->pointer,
						LLVMGetArgOperand(event->inst, (unsigned)row->a), most,
						const64(x, LLVMConstIntGetZExtValue(site) | mark)});
}

/* Returns how many bytes the call will access, or NULL if the number is unknown or only an upper
 * limit. */
static LLVMValueRef range_size(struct full_function *x, const struct instr_event *event, LLVMValueRef site)
{
	const struct instr_libc *row = event->libc;

	if (row == NULL)
		return event->size != 0
			       ? const64(x, event->size)
			       : LLVMBuildIntCast2(x->u->builder, event->length, x->u->i64, false, "");
	if (row->is_checked || !row->write)
		return NULL;
	if (row->length == LENGTH_COPIED || row->length == LENGTH_APPENDED)
		return copied_size(x, event, site);
	return row->length == LENGTH_FIXED || row->length == LENGTH_ARG
		       ? instr_libc_length_before(x->u, event)
		       : NULL;
}

void full_bounds_of_range(struct full_function *x, const struct instr_event *event, LLVMValueRef site)
{
	LLVMValueRef size = range_size(x, event, site);
	bool copies = event->libc != NULL && event->libc->length != LENGTH_ARG;

	if (size != NULL)
		full_bounds(x, &(struct full_access){.pointer = event->pointer,
						     .size = size,
						     .site = site,
						     .crosses_members = !copies});
}
