/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes tables of facts from a merged module.  The first walk assigns rows to functions, blocks
 * and values, so that the second walk can refer to values that come later.  Rows are in the order
 * of the module.
 */
#include "ir/program.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "facts/role.h"
#include "ir/mark.h"
#include "ir/value.h"

#include <stdlib.h>
#include <string.h>

uint32_t ir_program_string(struct ir_program *p, const char *s)
{
	return s != NULL ? rd_names_put(&p->strings, s, strlen(s)) : 0;
}

static uint32_t row_of(const struct rd_umap *map, const void *key)
{
	const uint64_t *row = rd_umap_get(map, (uintptr_t)key);
	return row != NULL ? (uint32_t)*row : FACTS_NONE;
}

uint32_t ir_program_function(const struct ir_program *p, LLVMValueRef function)
{
	return row_of(&p->functions, function);
}

uint32_t ir_program_value(const struct ir_program *p, LLVMValueRef v)
{
	return row_of(&p->values, v);
}

/* Returns true if the instruction gets a row.  Instructions that only inform the compiler get
 * none. */
static bool ir_program_counts(LLVMValueRef inst)
{
	static const char *const silent[] = {"llvm.dbg.", "llvm.lifetime.", "llvm.assume", "llvm.invariant.",
					     "llvm.experimental.noalias"};
	if (LLVMGetInstructionOpcode(inst) != LLVMCall || ir_callee(inst) == NULL)
		return true;
	const char *name = ir_name(ir_callee(inst));
	for (size_t i = 0; ir_starts(name, "llvm.") && i < sizeof silent / sizeof *silent; i++)
		if (ir_starts(name, silent[i]))
			return false;
	return true;
}

/* ------------------------------------------------------------ first walk --- */

static struct facts_value *add_value(struct ir_program *p, LLVMValueRef v)
{
	struct facts *f = p->facts;
	RD_GROW(p->refs, p->ref_capacity, f->value_count + 1);
	p->refs[f->value_count] = v;
	*rd_umap_put(&p->values, (uintptr_t)v, NULL) = f->value_count;
	return facts_add_value(f);
}

static void add_blocks(struct ir_program *p, LLVMValueRef function)
{
	struct facts *f = p->facts;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL;
	     b = LLVMGetNextBasicBlock(b)) {
		*rd_umap_put(&p->blocks, (uintptr_t)b, NULL) = f->block_count;
		facts_add_block(f)->values = (uint32_t)f->value_count;
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
			if (ir_program_counts(i))
				add_value(p, i);
	}
}

static void add_function(struct ir_program *p, LLVMValueRef function)
{
	struct facts *f = p->facts;
	RD_GROW(p->function_refs, p->function_capacity, f->function_count + 1);
	p->function_refs[f->function_count] = function;
	*rd_umap_put(&p->functions, (uintptr_t)function, NULL) = f->function_count;
	struct facts_function *row = facts_add_function(f);
	row->values = (uint32_t)f->value_count;
	row->blocks = (uint32_t)f->block_count;
	row->arguments = LLVMCountParams(function);
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		add_value(p, LLVMGetParam(function, i));
	if (!ir_is_external(function))
		add_blocks(p, function);
}

static void add_global(struct ir_program *p, LLVMValueRef g)
{
	struct ir_global known = {.name = RD_BUF_INIT, .type = RD_BUF_INIT};
	struct facts *f = p->facts;
	RD_GROW(p->global_refs, p->global_capacity, f->global_count + 1);
	p->global_refs[f->global_count] = g;
	*rd_umap_put(&p->globals, (uintptr_t)g, NULL) = f->global_count;
	bool is_known = ir_debug_global(p->debug, g, &known);
	LLVMTypeRef type = LLVMGlobalGetValueType(g);
	struct facts_global *row = facts_add_global(f);
	row->name = ir_program_string(p, is_known ? known.name.data : ir_name(g));
	row->linkage = ir_program_string(p, ir_name(g));
	row->type = ir_program_string(p, known.type.data);
	row->file = ir_program_string(p, known.file);
	row->line = known.line;
	row->object = FACTS_NONE;
	row->size = LLVMTypeIsSized(type) ? (int64_t)LLVMABISizeOfType(p->layout, type) : -1;
	row->flags = (LLVMIsGlobalConstant(g) ? FACTS_OBJECT_CONSTANT : 0) |
		     (LLVMIsThreadLocal(g) ? FACTS_OBJECT_THREAD_LOCAL : 0) |
		     (LLVMIsDeclaration(g) ? FACTS_OBJECT_EXTERNAL : 0);
	rd_buf_release(&known.name);
	rd_buf_release(&known.type);
}

/* ------------------------------------------------------------- constants --- */

static void describe_address(struct ir_program *p, LLVMValueRef v, struct facts_constant *c)
{
	struct ir_derived derived;
	while (ir_derive(p->layout, v, &derived)) {
		c->number += derived.offset;
		v = derived.from;
	}
	uint32_t function = row_of(&p->functions, v), global = row_of(&p->globals, v);
	if (function != FACTS_NONE) {
		c->kind = FACTS_CONSTANT_FUNCTION;
		c->target = function;
	} else if (global != FACTS_NONE) {
		c->kind = FACTS_CONSTANT_GLOBAL;
		c->target = global;
	} else {
		c->kind = LLVMIsNull(v) ? FACTS_CONSTANT_NULL : FACTS_CONSTANT_OTHER;
	}
}

static uint32_t constant_row(struct ir_program *p, LLVMValueRef v)
{
	bool is_new;
	uint64_t *row = rd_umap_put(&p->constants, (uintptr_t)v, &is_new);
	if (!is_new)
		return (uint32_t)*row;
	struct facts *f = p->facts;
	*row = f->constant_count;
	RD_GROW(p->constant_refs, p->constant_capacity, f->constant_count + 1);
	p->constant_refs[f->constant_count] = v;
	struct facts_constant *c = facts_add_constant(f);
	if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind) {
		describe_address(p, v, c);
	} else if (LLVMIsAConstantInt(v) && LLVMGetIntTypeWidth(LLVMTypeOf(v)) <= 64) {
		c->kind = FACTS_CONSTANT_INTEGER;
		c->number = LLVMConstIntGetSExtValue(v);
	}
	return (uint32_t)f->constant_count - 1;
}

/* Returns the operand that stands for a value or a constant. */
static uint32_t ir_program_operand(struct ir_program *p, LLVMValueRef v)
{
	uint32_t value = ir_program_value(p, v);
	return value != FACTS_NONE ? value : constant_row(p, v) | FACTS_CONSTANT;
}

/* ----------------------------------------------------------- second walk --- */

static uint32_t kind_of(LLVMValueRef inst)
{
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMLoad: return FACTS_LOAD;
	case LLVMStore: return FACTS_STORE;
	case LLVMAtomicRMW: return FACTS_UPDATE;
	case LLVMAtomicCmpXchg: return FACTS_EXCHANGE;
	case LLVMFence: return FACTS_FENCE;
	case LLVMCall:
	case LLVMInvoke:
	case LLVMCallBr: return FACTS_CALL;
	case LLVMAlloca: return FACTS_VARIABLE;
	case LLVMGetElementPtr:
		return LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMPointerTypeKind ? FACTS_ADDRESS
										: FACTS_COMPUTE;
	case LLVMPHI: return FACTS_PHI;
	case LLVMSelect: return FACTS_SELECT;
	case LLVMICmp:
	case LLVMFCmp: return FACTS_COMPARE;
	case LLVMBr: return LLVMIsConditional(inst) ? FACTS_BRANCH : FACTS_JUMP;
	case LLVMSwitch:
	case LLVMIndirectBr: return FACTS_SWITCH;
	case LLVMRet:
	case LLVMResume: return FACTS_RETURN;
	case LLVMUnreachable: return FACTS_UNREACHABLE;
	default: return LLVMIsACastInst(inst) ? FACTS_CAST : FACTS_COMPUTE;
	}
}

static void add_operand(struct ir_program *p, LLVMValueRef v, uint32_t with)
{
	uint32_t operand = ir_program_operand(p, v);
	*facts_add_operand(p->facts) = (struct facts_operand){operand, with};
}

/* Adds the operands of an address: the base, then the variable indices, each with its stride in
 * bytes. */
static void address_operands(struct ir_program *p, LLVMValueRef gep)
{
	add_operand(p, LLVMGetOperand(gep, 0), 0);
	for (struct ir_gep g = {.gep = gep}; ir_gep_next(&g);)
		if (!g.field && !LLVMIsAConstantInt(g.index))
			add_operand(p, g.index, (uint32_t)LLVMABISizeOfType(p->layout, g.type));
}

static void add_operands(struct ir_program *p, LLVMValueRef inst, uint32_t kind)
{
	unsigned n = LLVMGetNumOperands(inst);
	switch (kind) {
	case FACTS_ADDRESS: address_operands(p, inst); return;
	case FACTS_PHI:
		for (unsigned i = 0; i < LLVMCountIncoming(inst); i++)
			add_operand(p, LLVMGetIncomingValue(inst, i),
				    row_of(&p->blocks, LLVMGetIncomingBlock(inst, i)));
		return;
	case FACTS_CALL:
		for (unsigned i = 0; i < LLVMGetNumArgOperands(inst); i++)
			add_operand(p, LLVMGetArgOperand(inst, i), 0);
		add_operand(p, LLVMGetCalledValue(inst), 0);
		return;
	case FACTS_BRANCH:
	case FACTS_SWITCH: add_operand(p, LLVMGetOperand(inst, 0), 0); return;
	case FACTS_JUMP: return;
	default:
		for (unsigned i = 0; i < n; i++)
			if (!LLVMValueIsBasicBlock(LLVMGetOperand(inst, i)))
				add_operand(p, LLVMGetOperand(inst, i), 0);
	}
}

static LLVMValueRef address_of(LLVMValueRef inst, uint32_t kind)
{
	switch (kind) {
	case FACTS_LOAD:
	case FACTS_UPDATE:
	case FACTS_EXCHANGE: return LLVMGetOperand(inst, 0);
	case FACTS_STORE: return LLVMGetOperand(inst, 1);
	case FACTS_VARIABLE: return inst;
	default: return NULL;
	}
}

/* Returns the number of bytes that a value of the type takes in memory, or -1 if it varies. */
static int64_t size_of(struct ir_program *p, LLVMTypeRef type)
{
	return LLVMTypeIsSized(type) ? (int64_t)LLVMStoreSizeOfType(p->layout, type) : -1;
}

static int64_t number_of(struct ir_program *p, LLVMValueRef inst, uint32_t kind)
{
	struct ir_derived derived;
	switch (kind) {
	case FACTS_LOAD: return size_of(p, LLVMTypeOf(inst));
	case FACTS_STORE: return size_of(p, LLVMTypeOf(LLVMGetOperand(inst, 0)));
	case FACTS_UPDATE:
	case FACTS_EXCHANGE: return size_of(p, LLVMTypeOf(LLVMGetOperand(inst, 1)));
	case FACTS_VARIABLE: {
		LLVMValueRef count = LLVMIsAConstantInt(LLVMGetOperand(inst, 0));
		LLVMTypeRef type = LLVMGetAllocatedType(inst);
		return count != NULL && LLVMTypeIsSized(type) ? (int64_t)(LLVMConstIntGetZExtValue(count) *
									  LLVMABISizeOfType(p->layout, type))
							      : -1;
	}
	case FACTS_ADDRESS: return ir_derive(p->layout, inst, &derived) ? derived.offset : 0;
	default: return 0;
	}
}

static bool is_relaxed(LLVMValueRef inst, uint32_t kind)
{
	LLVMAtomicOrdering order =
		kind == FACTS_EXCHANGE ? LLVMGetCmpXchgSuccessOrdering(inst) : LLVMGetOrdering(inst);
	return order == LLVMAtomicOrderingUnordered || order == LLVMAtomicOrderingMonotonic;
}

static uint32_t flags_of(LLVMValueRef inst, uint32_t kind)
{
	uint32_t flags = LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMPointerTypeKind ? FACTS_VALUE_POINTER : 0;
	bool access = kind == FACTS_LOAD || kind == FACTS_STORE;
	if ((access || kind == FACTS_UPDATE || kind == FACTS_EXCHANGE) && LLVMGetVolatile(inst))
		flags |= FACTS_VALUE_VOLATILE;
	if (kind == FACTS_UPDATE || kind == FACTS_EXCHANGE ||
	    (access && LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic))
		flags |= FACTS_VALUE_ATOMIC | (is_relaxed(inst, kind) ? FACTS_VALUE_RELAXED : 0);
	if (kind == FACTS_CALL && LLVMIsAInlineAsm(LLVMGetCalledValue(inst)))
		flags |= FACTS_VALUE_ASSEMBLER;
	else if (kind == FACTS_CALL && ir_callee(inst) == NULL)
		flags |= FACTS_VALUE_INDIRECT;
	return flags;
}

static void locate(struct ir_program *p, LLVMValueRef inst, struct facts_value *row)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
	if (location == NULL)
		return;
	row->file = ir_program_string(p, ir_debug_file(p->debug, LLVMDILocationGetScope(location)));
	row->line = LLVMDILocationGetLine(location);
	row->column = LLVMDILocationGetColumn(location);
}

static void apply_marks(struct ir_program *p, LLVMValueRef inst, uint32_t value)
{
	struct ir_mark marks[IR_MARKS_MAX];
	unsigned count = ir_marks_get(inst, marks);
	for (unsigned i = 0; i < count; i++) {
		if (!marks[i].access) {
			p->facts->values[value].site = marks[i].site;
			continue;
		}
		*facts_add_access(p->facts) = (struct facts_access){
			.value = value,
			.kind = marks[i].kind,
			.flags = marks[i].flags,
			.operand = marks[i].operand,
			.site = marks[i].site,
			.size = (int64_t)marks[i].size,
		};
	}
}

static void fill_instruction(struct ir_program *p, uint32_t value)
{
	RD_ASSERT(value < p->facts->value_count);
	LLVMValueRef inst = p->refs[value];
	struct ir_what what = IR_WHAT_INIT;
	uint32_t kind = kind_of(inst);
	struct facts_value row = {
		.kind = kind,
		.detail = kind == FACTS_COMPARE && LLVMGetInstructionOpcode(inst) == LLVMICmp
				  ? LLVMGetICmpPredicate(inst)
				  : LLVMGetInstructionOpcode(inst),
		.flags = flags_of(inst, kind),
		.number = number_of(p, inst, kind),
		.operands = (uint32_t)p->facts->operand_count,
	};
	LLVMValueRef address = address_of(inst, kind);
	if (address != NULL)
		ir_debug_what(p->debug, address, kind != FACTS_VARIABLE ? (uint64_t)row.number : 0, &what);
	row.what = ir_program_string(p, what.text.data);
	locate(p, inst, &row);
	p->facts->values[value] = row;
	add_operands(p, inst, kind);
	apply_marks(p, inst, value);
	LLVMValueRef callee = kind == FACTS_CALL ? ir_callee(inst) : NULL;
	if (callee != NULL)
		*facts_add_call(p->facts) =
			(struct facts_call){value, ir_program_function(p, callee), FACTS_EDGE_CALL};
	ir_debug_what_release(&what);
}

static void fill_argument(struct ir_program *p, uint32_t value)
{
	RD_ASSERT(value < p->facts->value_count);
	struct facts_value *row = &p->facts->values[value];
	row->operands = (uint32_t)p->facts->operand_count;
	if (LLVMGetTypeKind(LLVMTypeOf(p->refs[value])) == LLVMPointerTypeKind)
		row->flags = FACTS_VALUE_POINTER;
}

static void fill_successors(struct ir_program *p, uint32_t function)
{
	struct facts *f = p->facts;
	uint32_t block = facts_blocks_of(f, function).first;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(p->function_refs[function]);
	     b != NULL && !ir_is_external(p->function_refs[function]);
	     b = LLVMGetNextBasicBlock(b), block++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
		f->blocks[block].successors = (uint32_t)f->successor_count;
		for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
			uint32_t to = row_of(&p->blocks, LLVMGetSuccessor(end, i));
			facts_add_successor(f)->block = to;
		}
	}
}

static void fill_function(struct ir_program *p, uint32_t function)
{
	RD_ASSERT(function < p->facts->function_count);
	LLVMValueRef ref = p->function_refs[function];
	LLVMMetadataRef subprogram = LLVMGetSubprogram(ref);
	struct facts_function *row = &p->facts->functions[function];
	const struct ir_extern *known = ir_is_external(ref) ? ir_extern_find(ir_name(ref)) : NULL;
	row->name = ir_program_string(p, ir_debug_function_name(p->debug, ref));
	row->linkage = ir_program_string(p, ir_name(ref));
	row->file = subprogram != NULL ? ir_program_string(p, ir_debug_file(p->debug, subprogram)) : 0;
	row->line = subprogram != NULL ? LLVMDISubprogramGetLine(subprogram) : 0;
	row->subject = known != NULL && known->subject >= 0 ? (uint32_t)known->subject : FACTS_NONE;
	row->role = known != NULL ? known->role : FACTS_ROLE_NONE;
	row->flags = (ir_is_external(ref) ? FACTS_FUNCTION_EXTERNAL : 0) |
		     (known != NULL ? FACTS_FUNCTION_MODELLED : 0) |
		     (LLVMGetIntrinsicID(ref) != 0 ? FACTS_FUNCTION_INTRINSIC : 0) |
		     (ir_address_taken(ref) ? FACTS_FUNCTION_ADDRESS : 0) |
		     (ir_has_attribute(ref, "noreturn") ? FACTS_FUNCTION_NO_RETURN : 0) |
		     (ir_has_attribute(ref, IR_LIBRARY_ATTRIBUTE) ? FACTS_FUNCTION_LIBRARY : 0) |
		     (strcmp(ir_name(ref), "main") == 0 ? FACTS_FUNCTION_ROOT : 0);
	fill_successors(p, function);
	ir_debug_function(p->debug, ref);
	struct facts_run values = facts_values_of(p->facts, function);
	for (uint32_t v = values.first; v < values.end; v++)
		if (v - values.first < LLVMCountParams(ref))
			fill_argument(p, v);
		else
			fill_instruction(p, v);
}

/* ------------------------------------------------------------------ roots --- */

static void mark_list(struct ir_program *p, const char *list)
{
	LLVMValueRef g = LLVMGetNamedGlobal(p->module, list);
	LLVMValueRef entries = g != NULL ? LLVMGetInitializer(g) : NULL;
	if (entries == NULL || LLVMIsAConstantArray(entries) == NULL)
		return;
	for (int i = 0; i < LLVMGetNumOperands(entries); i++) {
		LLVMValueRef function = ir_base(LLVMGetOperand(LLVMGetOperand(entries, (unsigned)i), 1));
		uint32_t row = ir_program_function(p, function);
		if (row != FACTS_NONE)
			p->facts->functions[row].flags |= FACTS_FUNCTION_ROOT;
	}
}

/* Marks functions that are called from outside the program. */
static void mark_roots(struct ir_program *p)
{
	struct facts *f = p->facts;
	bool has_main = LLVMGetNamedFunction(p->module, "main") != NULL;
	mark_list(p, "llvm.global_ctors");
	mark_list(p, "llvm.global_dtors");
	for (uint32_t i = 0; i < f->function_count && !has_main; i++)
		if (!ir_is_external(p->function_refs[i]) &&
		    LLVMGetLinkage(p->function_refs[i]) == LLVMExternalLinkage)
			f->functions[i].flags |= FACTS_FUNCTION_ROOT;
}

/* ------------------------------------------------------------- the tables --- */

void ir_program_release(struct ir_program *p)
{
	ir_debug_free(p->debug);
	facts_free(p->facts);
	rd_names_release(&p->strings);
	RD_UMAP_RELEASE(&p->functions, &p->globals, &p->blocks, &p->values, &p->constants);
	RD_FREE(p->refs, p->function_refs, p->global_refs, p->constant_refs);
	memset(p, 0, sizeof *p);
}

void ir_program_init(struct ir_program *p, LLVMModuleRef module)
{
	memset(p, 0, sizeof *p);
	p->module = module;
	p->layout = LLVMGetModuleDataLayout(module);
	p->debug = ir_debug_new(module);
	p->facts = facts_new();
	ir_program_string(p, "");
	facts_add_set(p->facts);
	facts_add_program(p->facts);
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g != NULL; g = LLVMGetNextGlobal(g))
		if (!ir_starts(ir_name(g), "llvm."))
			add_global(p, g);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
		add_function(p, f);
	for (uint32_t i = 0; i < p->facts->function_count; i++)
		fill_function(p, i);
	mark_roots(p);
}

struct facts *ir_program_finish(struct ir_program *p)
{
	struct facts *f = p->facts;
	for (size_t i = 1; i < p->strings.count; i++)
		facts_add_string(f, p->strings.items[i]);
	p->facts = NULL;
	return f;
}

void ir_program_place(struct ir_program *p, LLVMValueRef inst, struct rd_buf *out)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
	const char *file =
		location != NULL ? ir_debug_file(p->debug, LLVMDILocationGetScope(location)) : NULL;
	if (file == NULL)
		rd_buf_adds(out, RD_UNKNOWN);
	else
		rd_buf_addf(out, "%s:%u", rd_base_name(file), LLVMDILocationGetLine(location));
}
