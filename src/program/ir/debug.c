/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds source names in debug information.  LLVM's C API has few getters for it, so nodes are read
 * by operand number.  The results are kept, so each node is read once.
 *
 * The name of an access is found in two steps.  A walk from the pointer to its object adds up
 * constant offsets.  Then a walk down the object's type finds the member at that offset.  For
 * instance, global `table` at offset 24 is `table[].next`.  If the pointer was itself loaded, the
 * place that it was loaded from is named first, in the same way, and then followed:
 * `c->next->state`.  Without debug information the name is left empty, because a wrong name would
 * be worse than none.
 *
 * ir/type.c handles the types.
 */
#include "ir/debug-int.h"

#include "base/error.h"
#include "ir/value.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 6 }; /* largest number of loads that are followed for one name; set by hand */

void ir_debug_free(struct ir_debug *d)
{
	if (d == NULL)
		return;
	RD_UMAP_RELEASE(&d->files, &d->scopes, &d->types, &d->locals, &d->globals);
	rd_names_release(&d->used_names);
	free(d->used);
	rd_arena_free(d->arena);
	free(d);
}

struct ir_debug *ir_debug_new(LLVMModuleRef module)
{
	struct ir_debug *d = rd_xcalloc(1, sizeof *d);
	d->context = LLVMGetModuleContext(module);
	d->layout = LLVMGetModuleDataLayout(module);
	d->module = module;
	d->arena = rd_arena_new();
	d->declare = LLVMGetNamedFunction(module, "llvm.dbg.declare");
	d->value = LLVMGetNamedFunction(module, "llvm.dbg.value");
	return d;
}

unsigned ir_debug_operands(struct ir_debug *d, LLVMMetadataRef node, LLVMValueRef **list)
{
	LLVMValueRef v = LLVMMetadataAsValue(d->context, node);
	unsigned n = LLVMGetMDNodeNumOperands(v);
	*list = rd_arena_alloc(d->arena, (n + 1) * sizeof **list);
	LLVMGetMDNodeOperands(v, *list);
	return n;
}

LLVMMetadataRef ir_debug_operand(struct ir_debug *d, LLVMMetadataRef node, unsigned k)
{
	LLVMValueRef small[24], *list = small;
	LLVMMetadataRef result = NULL;
	if (node == NULL)
		return NULL;
	LLVMValueRef v = LLVMMetadataAsValue(d->context, node);
	unsigned n = LLVMGetMDNodeNumOperands(v);
	if (k >= n)
		return NULL;
	if (n > sizeof small / sizeof *small)
		list = rd_xcalloc(n, sizeof *list);
	LLVMGetMDNodeOperands(v, list);
	if (list[k] != NULL)
		result = LLVMValueAsMetadata(list[k]);
	if (list != small)
		free(list);
	return result;
}

const char *ir_debug_string(struct ir_debug *d, LLVMMetadataRef string)
{
	unsigned n;
	if (string == NULL || LLVMGetMetadataKind(string) != LLVMMDStringMetadataKind)
		return "";
	const char *s = LLVMGetMDString(LLVMMetadataAsValue(d->context, string), &n);
	return rd_arena_strndup(d->arena, s, n);
}

const char *ir_debug_file(struct ir_debug *d, LLVMMetadataRef scope)
{
	LLVMMetadataRef file = scope != NULL ? LLVMDIScopeGetFile(scope) : NULL;
	bool is_new;
	unsigned n, m;
	if (file == NULL)
		return NULL;
	uint64_t *slot = rd_umap_put(&d->files, (uintptr_t)file, &is_new);
	if (is_new) {
		struct rd_buf path = RD_BUF_INIT;
		const char *name = LLVMDIFileGetFilename(file, &n);
		const char *directory = LLVMDIFileGetDirectory(file, &m);
		if (m != 0 && n != 0 && name[0] != '/') {
			rd_buf_add(&path, directory, m);
			rd_buf_addc(&path, '/');
		}
		rd_buf_add(&path, name, n);
		*slot = (uintptr_t)rd_arena_strndup(d->arena, path.data, path.length);
		rd_buf_release(&path);
	}
	return (const char *)(uintptr_t)*slot;
}

/* Appends the prefix "ns::class::" of a function or variable. */
void ir_debug_qualify(struct ir_debug *d, LLVMMetadataRef scope, struct rd_buf *out)
{
	if (scope == NULL)
		return;
	switch (LLVMGetMetadataKind(scope)) {
	case LLVMDICompositeTypeMetadataKind:
	case LLVMDINamespaceMetadataKind: break;
	default: return;
	}
	ir_debug_qualify(d, ir_debug_operand(d, scope, SCOPE_PARENT), out);
	const char *name = ir_debug_string(d, ir_debug_operand(d, scope, SCOPE_NAME));
	rd_buf_addf(out, "%s::", *name != '\0' ? name : "(anonymous)");
}

const char *ir_debug_scope_name(struct ir_debug *d, LLVMMetadataRef scope)
{
	bool is_new;
	while (scope != NULL && LLVMGetMetadataKind(scope) != LLVMDISubprogramMetadataKind) {
		LLVMMetadataKind kind = LLVMGetMetadataKind(scope);
		if (kind != LLVMDILexicalBlockMetadataKind && kind != LLVMDILexicalBlockFileMetadataKind)
			return "";
		scope = ir_debug_operand(d, scope, SCOPE_PARENT);
	}
	if (scope == NULL)
		return "";
	uint64_t *slot = rd_umap_put(&d->scopes, (uintptr_t)scope, &is_new);
	if (!is_new)
		return (const char *)(uintptr_t)*slot;
	struct rd_buf name = RD_BUF_INIT;
	ir_debug_qualify(d, ir_debug_operand(d, scope, SCOPE_PARENT), &name);
	rd_buf_adds(&name, ir_debug_string(d, ir_debug_operand(d, scope, SCOPE_NAME)));
	char *copy = rd_arena_strndup(d->arena, name.data, name.length);
	*slot = (uintptr_t)copy;
	rd_buf_release(&name);
	return copy;
}

const char *ir_debug_function_name(struct ir_debug *d, LLVMValueRef function)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	const char *name = subprogram != NULL ? ir_debug_scope_name(d, subprogram) : "";
	return *name != '\0' ? name : ir_name(function);
}

LLVMValueRef ir_debug_described(LLVMValueRef call)
{
	LLVMValueRef operand = LLVMGetOperand(call, 0), value;
	LLVMMetadataKind kind = LLVMGetMetadataKind(LLVMValueAsMetadata(operand));
	if (kind != LLVMLocalAsMetadataMetadataKind)
		return NULL;
	LLVMGetMDNodeOperands(operand, &value);
	return value;
}

static uint64_t pointee_size(struct ir_debug *d, LLVMMetadataRef variable)
{
	LLVMMetadataRef type = ir_type_pointee(d, ir_debug_operand(d, variable, VARIABLE_TYPE));
	return type != NULL ? ir_type_size(d, type) : 0;
}

/* Returns true if `variable` is a better name than `other` for the value that both have.  For
 * example, a thread function often begins by assigning its parameter `void *argument` to a `struct
 * job *`, which is the better name. */
static bool is_more_specific(struct ir_debug *d, LLVMMetadataRef variable, LLVMMetadataRef other)
{
	return ir_type_is_pointer(d, ir_debug_operand(d, other, VARIABLE_TYPE)) &&
	       pointee_size(d, other) == 0 && pointee_size(d, variable) != 0;
}

void ir_debug_function(struct ir_debug *d, LLVMValueRef function)
{
	rd_umap_release(&d->locals);
	if (d->declare == NULL && d->value == NULL)
		return;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i)) {
			if (LLVMGetInstructionOpcode(i) != LLVMCall)
				continue;
			LLVMValueRef callee = LLVMGetCalledValue(i);
			if (callee != d->declare && callee != d->value)
				continue;
			LLVMValueRef value = ir_debug_described(i);
			if (value == NULL || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind)
				continue;
			bool is_new;
			uint64_t *slot = rd_umap_put(&d->locals, (uintptr_t)value, &is_new);
			LLVMMetadataRef variable = LLVMValueAsMetadata(LLVMGetOperand(i, 1));
			if (is_new || is_more_specific(d, variable, (LLVMMetadataRef)(uintptr_t)*slot))
				*slot = (uintptr_t)variable;
		}
}

LLVMMetadataRef ir_debug_global_variable(struct ir_debug *d, LLVMValueRef global)
{
	bool is_new;
	uint64_t *slot = rd_umap_put(&d->globals, (uintptr_t)global, &is_new);
	if (!is_new)
		return (LLVMMetadataRef)(uintptr_t)*slot;
	size_t n;
	LLVMValueMetadataEntry *entries = LLVMGlobalCopyAllMetadata(global, &n);
	LLVMMetadataRef variable = NULL;
	for (size_t i = 0; i < n && variable == NULL; i++) {
		LLVMMetadataRef m = LLVMValueMetadataEntriesGetMetadata(entries, i);
		if (LLVMGetMetadataKind(m) == LLVMDIGlobalVariableExpressionMetadataKind)
			variable = LLVMDIGlobalVariableExpressionGetVariable(m);
	}
	if (entries != NULL)
		LLVMDisposeValueMetadataEntries(entries);
	*slot = (uintptr_t)variable;
	return variable;
}

/* Appends `function.variable` for a static variable of a function, and `ns::variable` for
 * others. */
static void variable_name(struct ir_debug *d, LLVMMetadataRef variable, bool global, struct rd_buf *out)
{
	LLVMMetadataRef scope = global ? ir_debug_operand(d, variable, VARIABLE_SCOPE) : NULL;
	const char *function = scope != NULL ? ir_debug_scope_name(d, scope) : "";
	if (*function != '\0')
		rd_buf_addf(out, "%s.", function);
	else
		ir_debug_qualify(d, scope, out);
	rd_buf_adds(out, ir_debug_string(d, ir_debug_operand(d, variable, VARIABLE_NAME)));
}

/* The target of a pointer, as far as it is known.  `text` is the name of an object or, if `follow`
 * is set, of a pointer to it.  `type` is the object's type, or NULL. */
struct pointed_place {
	struct rd_buf text;
	LLVMMetadataRef type;
	int64_t offset;
	/* The stride of the variable index with the largest steps; 0 if there is no variable
	 * index. */
	uint64_t stride;
	bool follow;
};

static void render(struct ir_debug *d, const struct pointed_place *p, uint64_t size, struct rd_buf *what,
		   LLVMMetadataRef *type)
{
	struct rd_buf path = RD_BUF_INIT;
	int64_t offset = p->offset;
	uint64_t whole = p->type != NULL ? ir_type_size(d, p->type) : 0;
	bool indexed = p->follow && p->stride != 0 && (whole == 0 || p->stride >= whole);
	if (p->follow &&
	    (offset < 0 || (whole != 0 && (uint64_t)offset >= whole) || (whole == 0 && offset != 0))) {
		indexed = true;
		offset = whole != 0 ? ((offset % (int64_t)whole) + (int64_t)whole) % (int64_t)whole : 0;
	}
	*type = p->type;
	if (p->type != NULL && offset >= 0)
		*type = ir_type_path(d, p->type, offset, size, &path);
	if (!p->follow)
		rd_buf_addf(what, "%s%s", p->text.data, path.data);
	else if (indexed)
		rd_buf_addf(what, "%s[]%s", p->text.data, path.data);
	else if (path.data[0] == '.')
		rd_buf_addf(what, "%s->%s", p->text.data, path.data + 1);
	else if (path.data[0] == '[')
		rd_buf_addf(what, "%s%s", p->text.data, path.data);
	else
		rd_buf_addf(what, "*%s", p->text.data);
	rd_buf_release(&path);
}

static bool find_place(struct ir_debug *d, LLVMValueRef pointer, struct pointed_place *p, int depth);

/* Handles a base pointer that was itself loaded from memory.  It is named after the place from
 * which it was loaded. */
static bool loaded_place(struct ir_debug *d, LLVMValueRef load, struct pointed_place *p, int depth)
{
	struct pointed_place from = {.text = RD_BUF_INIT};
	LLVMMetadataRef type = NULL;
	bool found = find_place(d, LLVMGetOperand(load, 0), &from, depth + 1);
	if (found) {
		render(d, &from, LLVMStoreSizeOfType(d->layout, LLVMTypeOf(load)), &p->text, &type);
		p->type = ir_type_pointee(d, type);
		p->follow = true;
	}
	rd_buf_release(&from.text);
	return found;
}

static bool call_place(struct ir_debug *d, LLVMValueRef call, struct pointed_place *p)
{
	LLVMValueRef callee = ir_callee(call);
	if (callee == NULL || ir_starts(ir_name(callee), "llvm."))
		return false;
	rd_buf_addf(&p->text, "%s()", ir_debug_function_name(d, callee));
	p->type = ir_type_pointee(d, ir_type_result(d, LLVMGetSubprogram(callee)));
	p->follow = true;
	return true;
}

static bool base_place(struct ir_debug *d, LLVMValueRef base, struct pointed_place *p, int depth)
{
	LLVMMetadataRef variable = NULL;
	if (LLVMIsAGlobalVariable(base)) {
		variable = ir_debug_global_variable(d, base);
		if (variable == NULL) {
			rd_buf_adds(&p->text, ir_name(base));
			return p->text.length != 0;
		}
		variable_name(d, variable, true, &p->text);
		p->type = ir_debug_operand(d, variable, VARIABLE_TYPE);
		return true;
	}
	const uint64_t *local = rd_umap_get(&d->locals, (uintptr_t)base);
	if (local != NULL) {
		variable = (LLVMMetadataRef)(uintptr_t)*local;
		LLVMMetadataRef type = ir_debug_operand(d, variable, VARIABLE_TYPE);
		bool object = LLVMIsAAllocaInst(base) != NULL;
		/* If a register contains a fragment of a struct, the name is that of the struct. */
		if (object || ir_type_is_pointer(d, type)) {
			variable_name(d, variable, false, &p->text);
			p->type = object ? type : ir_type_pointee(d, type);
			p->follow = !object;
			return p->text.length != 0;
		}
	}
	if (LLVMIsALoadInst(base) && depth < MAX_DEPTH)
		return loaded_place(d, base, p, depth);
	if (LLVMIsACallInst(base) || LLVMIsAInvokeInst(base))
		return call_place(d, base, p);
	return false;
}

static bool find_place(struct ir_debug *d, LLVMValueRef pointer, struct pointed_place *p, int depth)
{
	struct ir_derived derived;
	for (;;) {
		if (rd_umap_get(&d->locals, (uintptr_t)pointer) != NULL && !LLVMIsAAllocaInst(pointer) &&
		    base_place(d, pointer, p, depth))
			return true;
		if (!ir_derive(d->layout, pointer, &derived))
			break;
		p->offset += derived.offset;
		if (derived.stride > p->stride)
			p->stride = derived.stride;
		pointer = derived.from;
	}
	return base_place(d, pointer, p, depth);
}

void ir_debug_what(struct ir_debug *d, LLVMValueRef pointer, uint64_t size, struct ir_what *out)
{
	struct pointed_place place = {.text = RD_BUF_INIT};
	LLVMMetadataRef node = NULL;
	if (find_place(d, pointer, &place, 0)) {
		render(d, &place, size, &out->text, &node);
		if (node != NULL)
			ir_type_name(d, node, &out->type);
	}
	rd_buf_release(&place.text);
}

void ir_debug_what_release(struct ir_what *what)
{
	rd_buf_release(&what->text);
	rd_buf_release(&what->type);
}

/* Returns the struct or union that `base` points to, or NULL if it is unknown.  *offset is a
 * distance from `base`, and may lead to another element of an array.  It is changed to the offset
 * in that element. */
static LLVMMetadataRef holder_at(struct ir_debug *d, LLVMValueRef base, int64_t *offset)
{
	struct pointed_place place = {.text = RD_BUF_INIT};
	LLVMMetadataRef type = base_place(d, base, &place, 0) && place.follow ? place.type : NULL;
	int64_t size = type != NULL ? (int64_t)ir_type_size(d, type) : 0;
	rd_buf_release(&place.text);
	if (size <= 0)
		return NULL;
	if (!ir_type_is_open(d, type))
		*offset = (*offset % size + size) % size;
	return *offset >= 0 ? type : NULL;
}

bool ir_debug_holder(struct ir_debug *d, LLVMValueRef pointer, struct rd_buf *type, uint64_t *offset)
{
	struct ir_derived derived = {.from = pointer};
	struct rd_buf name = RD_BUF_INIT;
	int64_t distance = 0;
	bool more = true, found = false;
	while (more) {
		LLVMValueRef at = derived.from;
		int64_t within = distance;
		more = ir_derive(d->layout, at, &derived);
		if (more && rd_umap_get(&d->locals, (uintptr_t)at) == NULL) {
			distance += derived.offset;
			continue;
		}
		LLVMMetadataRef holder = holder_at(d, at, &within);
		rd_buf_clear(&name);
		if (holder != NULL && ir_type_record_name(d, holder, &name)) {
			rd_buf_clear(type);
			rd_buf_adds(type, name.data);
			*offset = (uint64_t)within;
			found = true;
		}
		distance += more ? derived.offset : 0;
	}
	rd_buf_release(&name);
	return found;
}

void ir_debug_result(struct ir_debug *d, LLVMValueRef call, struct rd_buf *out)
{
	const uint64_t *local = rd_umap_get(&d->locals, (uintptr_t)call);
	if (local != NULL) {
		variable_name(d, (LLVMMetadataRef)(uintptr_t)*local, false, out);
		return;
	}
	/* LLVM lists uses from the last to the first. */
	LLVMValueRef store = NULL;
	for (LLVMUseRef use = LLVMGetFirstUse(call); use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) == call)
			store = user;
	}
	if (store == NULL)
		return;
	struct ir_what what = IR_WHAT_INIT;
	ir_debug_what(d, LLVMGetOperand(store, 1), LLVMStoreSizeOfType(d->layout, LLVMTypeOf(call)), &what);
	rd_buf_adds(out, what.text.data);
	ir_debug_what_release(&what);
}

bool ir_debug_global(struct ir_debug *d, LLVMValueRef global, struct ir_global *out)
{
	LLVMMetadataRef variable = ir_debug_global_variable(d, global);
	if (variable == NULL)
		return false;
	*out = (struct ir_global){.name = RD_BUF_INIT, .type = RD_BUF_INIT};
	variable_name(d, variable, true, &out->name);
	ir_type_name(d, ir_debug_operand(d, variable, VARIABLE_TYPE), &out->type);
	out->line = LLVMDIVariableGetLine(variable);
	out->file = ir_debug_file(d, LLVMDIVariableGetFile(variable));
	return true;
}
