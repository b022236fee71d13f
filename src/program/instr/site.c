/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the site table of a unit (doc/format/sites.md).  S records are written while sites are
 * made.  The other records (unit, files, globals, types) are known only at the end, and are added
 * before and after the S records.
 */
#include "instr/site-int.h"

#include "base/field.h"
#include "base/error.h"
#include "ir/value.h"
#include "raddle/event.h"

#include <llvm-c/Target.h>
#include <string.h>

void instr_sites_init(struct instr_sites *s, uint64_t slot, LLVMModuleRef module)
{
	*s = (struct instr_sites){.slot = slot, .text = RD_BUF_INIT, .files = RD_NAMES_INIT};
	s->debug = ir_debug_new(module);
}

void instr_sites_release(struct instr_sites *s)
{
	ir_debug_free(s->debug);
	rd_names_release(&s->files);
	rd_buf_release(&s->text);
	s->debug = NULL;
}

/* Returns true if the instruction calls a function that returns a pointer and that this unit does
 * not define.  Functions that the unit defines do not count, because the calls inside them are
 * recorded. */
static bool makes_object(LLVMValueRef inst)
{
	LLVMValueRef callee = ir_callee(inst);
	return callee != NULL && LLVMIsDeclaration(callee) &&
	       LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMPointerTypeKind;
}

static long file_number(struct instr_sites *s, const char *path)
{
	return path != NULL ? (long)rd_names_put(&s->files, path, strlen(path)) : -1;
}

static void add_chain(struct instr_sites *s, LLVMMetadataRef location)
{
	LLVMMetadataRef at = location;
	while ((at = LLVMDILocationGetInlinedAt(at)) != NULL) {
		LLVMMetadataRef scope = LLVMDILocationGetScope(at);
		rd_buf_addf(&s->text, "\t%ld\t%u", file_number(s, ir_debug_file(s->debug, scope)),
			    LLVMDILocationGetLine(at));
		rd_field_add(&s->text, ir_debug_scope_name(s->debug, scope));
	}
}

/* Returns the only pointer argument of a library function, such as a lock or memory to be freed.
 * Returns NULL if the function has no pointer argument, or several. */
static LLVMValueRef handled_pointer(LLVMValueRef inst)
{
	LLVMValueRef callee = ir_callee(inst), pointer = NULL;
	if (callee == NULL || !LLVMIsDeclaration(callee))
		return NULL;
	for (unsigned i = 0; i < LLVMGetNumArgOperands(inst); i++) {
		LLVMValueRef argument = LLVMGetOperand(inst, i);
		if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind || LLVMIsNull(argument))
			continue;
		if (pointer != NULL)
			return NULL;
		pointer = argument;
	}
	return pointer;
}

/* Adds records that may show the name of a heap object. */
static void add_object(struct instr_sites *s, const struct instr_site *site)
{
	struct rd_buf name = RD_BUF_INIT;
	uint64_t offset = 0;
	bool called = site->pointer == NULL && site->callee != NULL;
	LLVMValueRef pointer = called ? handled_pointer(site->inst) : site->pointer;
	if (pointer != NULL && ir_debug_holder(s->debug, pointer, &name, &offset)) {
		rd_buf_addf(&s->text, "O\t%u", s->count);
		rd_field_add(&s->text, name.data);
		rd_buf_addf(&s->text, "\t%llu\n", (unsigned long long)offset);
	}
	if (called && makes_object(site->inst)) {
		rd_buf_clear(&name);
		ir_debug_result(s->debug, site->inst, &name);
		if (name.length != 0) {
			rd_buf_addf(&s->text, "R\t%u", s->count);
			rd_field_add(&s->text, name.data);
			rd_buf_addc(&s->text, '\n');
		}
	}
	rd_buf_release(&name);
}

uint32_t instr_sites_add(struct instr_sites *s, const struct instr_site *site)
{
	RD_ASSERT(site->inst != NULL && site->kind != NULL && site->flags != NULL);
	struct ir_what what = IR_WHAT_INIT;
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(site->inst);
	LLVMMetadataRef scope = location != NULL ? LLVMDILocationGetScope(location) : NULL;
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(site->inst));
	unsigned line = location != NULL ? LLVMDILocationGetLine(location) : 0;
	if (line == 0 && site->of_function && LLVMGetSubprogram(function) != NULL) {
		scope = LLVMGetSubprogram(function);
		line = LLVMDISubprogramGetLine(scope);
	}
	const char *name = scope != NULL ? ir_debug_scope_name(s->debug, scope) : "";
	if (*name == '\0')
		name = ir_debug_function_name(s->debug, function);
	if (site->pointer != NULL)
		ir_debug_what(s->debug, site->pointer, site->extent, &what);
	if (site->type != NULL) {
		char *text = LLVMPrintTypeToString(site->type);
		rd_buf_clear(&what.type);
		rd_buf_adds(&what.type, text);
		LLVMDisposeMessage(text);
	}
	s->count++;
	rd_buf_addf(&s->text, "S\t%u\t%s\t%llu\t%s\t%ld\t%u\t%u", s->count, site->kind,
		    (unsigned long long)site->size, *site->flags != '\0' ? site->flags : "-",
		    file_number(s, ir_debug_file(s->debug, scope)), line,
		    location != NULL ? LLVMDILocationGetColumn(location) : 0);
	rd_field_add(&s->text, name);
	rd_field_add(&s->text, site->pointer != NULL ? what.text.data : site->callee);
	rd_field_add(&s->text, what.type.data);
	if (location != NULL)
		add_chain(s, location);
	rd_buf_addc(&s->text, '\n');
	ir_debug_what_release(&what);
	if (site->of_object)
		add_object(s, site);
	return (uint32_t)(s->slot << RADDLE_SITE_LOCAL_BITS) + s->count;
}

/* Returns true if a global gets a record.  Constants cannot change, and private symbols have no
 * name. */
static bool is_variable(LLVMValueRef g)
{
	return !LLVMIsDeclaration(g) && !LLVMIsGlobalConstant(g) && LLVMGetLinkage(g) != LLVMPrivateLinkage &&
	       !ir_starts(ir_name(g), "llvm.") && LLVMGetLinkage(g) != LLVMAvailableExternallyLinkage;
}

static void add_globals(struct instr_sites *s, LLVMModuleRef module, struct rd_buf *out)
{
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(module);
	for (LLVMValueRef g = LLVMGetFirstGlobal(module); g != NULL; g = LLVMGetNextGlobal(g)) {
		struct ir_global global = {.name = RD_BUF_INIT, .type = RD_BUF_INIT};
		if (!is_variable(g))
			continue;
		bool known = ir_debug_global(s->debug, g, &global);
		rd_buf_addc(out, 'G');
		rd_field_add(out, known ? global.name.data : ir_name(g));
		rd_field_add(out, ir_name(g));
		rd_buf_addf(out, "\t%llu\t%ld\t%u",
			    (unsigned long long)LLVMABISizeOfType(layout, LLVMGlobalGetValueType(g)),
			    file_number(s, global.file), global.line);
		rd_field_add(out, global.type.data);
		rd_buf_addc(out, '\n');
		rd_buf_release(&global.name);
		rd_buf_release(&global.type);
	}
}

static void add_member(void *context, const struct ir_member *m)
{
	struct rd_buf *out = context;
	rd_buf_addc(out, 'T');
	rd_field_add(out, m->type);
	rd_buf_addf(out, "\t%llu", (unsigned long long)m->size);
	rd_field_add(out, m->name);
	rd_buf_addf(out, "\t%llu\t%llu", (unsigned long long)m->offset, (unsigned long long)m->member_size);
	rd_field_add(out, m->member_type);
	rd_buf_addc(out, '\n');
}

void instr_sites_text(struct instr_sites *s, LLVMModuleRef module, struct rd_buf *out)
{
	struct rd_buf globals = RD_BUF_INIT;
	size_t n;
	add_globals(s, module, &globals);
	rd_buf_addf(out, "U\t%llu\t%u", (unsigned long long)s->slot,
		    ((s->count > s->pieces ? s->count : s->pieces) >> RADDLE_SITE_LOCAL_BITS) + 1);
	rd_field_add(out, LLVMGetSourceFileName(module, &n));
	rd_buf_addc(out, '\n');
	for (size_t i = 0; i < s->files.count; i++) {
		rd_buf_addf(out, "F\t%zu", i);
		rd_field_add(out, s->files.items[i]);
		rd_buf_addc(out, '\n');
	}
	rd_buf_add(out, s->text.data, s->text.length);
	rd_buf_add(out, globals.data, globals.length);
	ir_debug_members(s->debug, add_member, out);
	rd_buf_release(&globals);
}
