/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what a name in the source means at an instruction, according to debug information.  The
 * name may be that of a local, static or global variable, or of an enumerator.  For a variable,
 * the result is its location and type.  The module must not be optimised yet, because then each
 * local variable is still in memory.
 */
#include "ir/debug-int.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number of scopes between `from` and its enclosing scope `to`, or -1 if `to` does not
 * enclose `from`. */
static int distance(struct ir_debug *d, LLVMMetadataRef from, LLVMMetadataRef to)
{
	for (int n = 0; from != NULL; n++) {
		if (from == to)
			return n;
		LLVMMetadataKind kind = LLVMGetMetadataKind(from);
		if (kind != LLVMDILexicalBlockMetadataKind && kind != LLVMDILexicalBlockFileMetadataKind)
			return -1;
		from = ir_debug_operand(d, from, SCOPE_PARENT);
	}
	return -1;
}

/* Returns true if the intrinsic points to the variable itself, without a further indirection. */
static bool is_plain_declare(struct ir_debug *d, LLVMValueRef call)
{
	char *text = LLVMPrintValueToString(LLVMGetOperand(call, 2));
	bool plain = strstr(text, "DIExpression()") != NULL;
	(void)d;
	LLVMDisposeMessage(text);
	return plain;
}

static bool has_name(struct ir_debug *d, LLVMMetadataRef variable, const char *name)
{
	return strcmp(ir_debug_string(d, ir_debug_operand(d, variable, VARIABLE_NAME)), name) == 0;
}

struct wanted {
	const char *name;
	LLVMMetadataRef scope;
	unsigned line, best_line;
	int best;
};

/* Replaces the best match so far by the variable if the variable is a better match.  A variable
 * that is declared after the place of the instruction is not visible there.  If a scope declares
 * two variables of this name, the later one is visible. */
static void consider(struct ir_debug *d, LLVMValueRef call, struct wanted *w, struct ir_variable *out)
{
	LLVMValueRef storage = ir_debug_described(call);
	LLVMMetadataRef variable = LLVMValueAsMetadata(LLVMGetOperand(call, 1));
	int n = distance(d, w->scope, ir_debug_operand(d, variable, VARIABLE_SCOPE));
	unsigned line = LLVMDIVariableGetLine(variable);
	if (storage == NULL || n < 0 || line > w->line || !has_name(d, variable, w->name) ||
	    !is_plain_declare(d, call))
		return;
	if (w->best >= 0 && (n > w->best || (n == w->best && line < w->best_line)))
		return;
	w->best = n;
	w->best_line = line;
	*out = (struct ir_variable){storage, ir_debug_operand(d, variable, VARIABLE_TYPE), true};
}

/* Searches statics of the function before globals of the unit. */
static bool find_global(struct ir_debug *d, const struct wanted *w, struct ir_variable *out)
{
	LLVMValueRef plain = NULL;
	for (LLVMValueRef g = LLVMGetFirstGlobal(d->module); g != NULL; g = LLVMGetNextGlobal(g)) {
		LLVMMetadataRef variable = ir_debug_global_variable(d, g);
		if (variable == NULL || !has_name(d, variable, w->name))
			continue;
		LLVMMetadataRef scope = ir_debug_operand(d, variable, VARIABLE_SCOPE);
		bool inner = distance(d, w->scope, scope) >= 0;
		LLVMMetadataKind kind = scope != NULL ? LLVMGetMetadataKind(scope) : LLVMDIFileMetadataKind;
		bool outer = kind == LLVMDIFileMetadataKind || kind == LLVMDICompileUnitMetadataKind;
		*out = (struct ir_variable){g, ir_debug_operand(d, variable, VARIABLE_TYPE), false};
		if (inner)
			return true;
		if (outer)
			plain = g;
	}
	if (plain != NULL) {
		*out = (struct ir_variable){
			plain, ir_debug_operand(d, ir_debug_global_variable(d, plain), VARIABLE_TYPE), false};
		return true;
	}
	LLVMValueRef elsewhere = LLVMGetNamedGlobal(d->module, w->name);
	if (elsewhere == NULL || !LLVMIsDeclaration(elsewhere))
		return false;
	*out = (struct ir_variable){elsewhere, NULL, false};
	return true;
}

bool ir_debug_variable(struct ir_debug *d, LLVMValueRef inst, const char *name, struct ir_variable *out)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst));
	struct wanted w = {.name = name, .best = -1};
	if (location == NULL)
		return false;
	w.scope = LLVMDILocationGetScope(location);
	w.line = LLVMDILocationGetLine(location);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
			if (LLVMIsACallInst(i) && d->declare != NULL && LLVMGetCalledValue(i) == d->declare)
				consider(d, i, &w, out);
	return w.best >= 0 || find_global(d, &w, out);
}

static bool read_enumerator(struct ir_debug *d, LLVMMetadataRef node, const char *name, int64_t *value)
{
	char *text = LLVMPrintValueToString(LLVMMetadataAsValue(d->context, node)), *quoted, *at;
	bool found = false;
	quoted = strstr(text, "DIEnumerator(name: \"");
	at = quoted != NULL ? strstr(text, "value: ") : NULL;
	if (at != NULL) {
		quoted += strlen("DIEnumerator(name: \"");
		size_t n = strlen(name);
		found = strncmp(quoted, name, n) == 0 && quoted[n] == '"';
	}
	if (found)
		*value = strtoll(at + strlen("value: "), NULL, 10);
	LLVMDisposeMessage(text);
	return found;
}

static bool find_enumerator(struct ir_debug *d, LLVMMetadataRef types, const char *name, int64_t *value)
{
	enum { TYPE_ELEMENTS = 4 };
	LLVMValueRef *list, *inner;
	unsigned n = types != NULL ? ir_debug_operands(d, types, &list) : 0;
	for (unsigned i = 0; i < n; i++) {
		LLVMMetadataRef elements =
			list[i] != NULL ? ir_debug_operand(d, LLVMValueAsMetadata(list[i]), TYPE_ELEMENTS)
					: NULL;
		unsigned m = elements != NULL ? ir_debug_operands(d, elements, &inner) : 0;
		for (unsigned k = 0; k < m; k++)
			if (inner[k] != NULL &&
			    read_enumerator(d, LLVMValueAsMetadata(inner[k]), name, value))
				return true;
	}
	return false;
}

bool ir_debug_enumerator(struct ir_debug *d, const char *name, int64_t *value)
{
	enum { UNIT_ENUMS = 4 };
	unsigned n = LLVMGetNamedMetadataNumOperands(d->module, "llvm.dbg.cu");
	LLVMValueRef *units = rd_arena_alloc(d->arena, (n + 1) * sizeof *units);
	LLVMGetNamedMetadataOperands(d->module, "llvm.dbg.cu", units);
	for (unsigned i = 0; i < n; i++)
		if (find_enumerator(d, ir_debug_operand(d, LLVMValueAsMetadata(units[i]), UNIT_ENUMS), name,
				    value))
			return true;
	return false;
}

const char *ir_debug_keep(struct ir_debug *d, const char *text)
{
	return rd_arena_strndup(d->arena, text, strlen(text));
}
