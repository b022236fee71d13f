/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes one file of facts (doc/format/facts.md) from the bitcode of all units of a program.
 *
 * Each unit is optimised to the level at which it would be instrumented, and is scanned as for
 * recording.  The events found, and the sites that the recorder would assign, are marked on the
 * instructions (ir/mark.h).  Then the unit is linked to the units before it.  The merged module is
 * only analysed, and no code is generated from it.  Problems of the merged code, such as assembler
 * that names static functions, are therefore harmless.
 *
 * Libraries come after the program.  If two units define the same symbol, the first definition is
 * used, as in the loader.
 */
#include "base/error.h"
#include "facts/facts.h"
#include "instr/scan/event.h"
#include "ir/constrain.h"
#include "ir/mark.h"
#include "raddle/event.h"

#include <llvm-c/Linker.h>
#include <string.h>

/* The number of sites counted in a unit, and the marks of one instruction while they are
 * collected. */
struct marking {
	/* The site number before the unit's first one, and the number of sites assigned so far. */
	uint32_t slot_base, count;
	struct ir_mark marks[IR_MARKS_MAX];
	unsigned mark_count;
};

static uint8_t access_kind(enum instr_kind kind)
{
	switch (kind) {
	case EVENT_READ:
	case EVENT_RANGE_READ:
	case EVENT_ATOMIC_LOAD: return FACTS_READ;
	case EVENT_WRITE:
	case EVENT_RANGE_WRITE:
	case EVENT_ATOMIC_STORE: return FACTS_WRITE;
	default: return FACTS_READ_WRITE;
	}
}

static uint8_t access_flags(const struct instr_event *event)
{
	return (uint8_t)((instr_is_atomic(event) ? FACTS_ACCESS_ATOMIC : 0) |
			 (event->flags & EVENT_VOLATILE ? FACTS_ACCESS_VOLATILE : 0) |
			 (event->flags & EVENT_THREAD_LOCAL ? FACTS_ACCESS_THREAD_LOCAL : 0) |
			 (event->flags & EVENT_STACK ? FACTS_ACCESS_STACK : 0) |
			 (event->flags & EVENT_WAIT_LOOP ? FACTS_ACCESS_WAIT_LOOP : 0) |
			 (event->flags & EVENT_REDUNDANT ? FACTS_ACCESS_REDUNDANT : 0));
}

static void add_mark(struct marking *m, const struct instr_event *event)
{
	struct ir_mark mark = {.access = event->pointer != NULL};
	if (instr_event_has_site(event))
		mark.site = m->slot_base + ++m->count;
	if (mark.access) {
		mark.kind = access_kind(event->kind);
		mark.flags = access_flags(event);
		mark.operand = (uint16_t)event->operand;
		mark.size = event->size;
	}
	/* An event about a file descriptor gets no mark, because a descriptor is not memory, and
	 * because the site of the event is not that of a call. */
	if (event->kind != EVENT_FORGET && (mark.access || event->libc == NULL) &&
	    m->mark_count < IR_MARKS_MAX)
		m->marks[m->mark_count++] = mark;
}

static void mark_function(struct instr_function *f, void *context)
{
	struct marking *m = context;
	for (size_t i = 0; i < f->count; i++) {
		add_mark(m, &f->events[i]);
		if (i + 1 < f->count && f->events[i + 1].inst == f->events[i].inst)
			continue;
		if (m->mark_count != 0)
			ir_marks_set(f->events[i].inst, m->marks, m->mark_count);
		m->mark_count = 0;
	}
}

static bool is_strong(LLVMValueRef v)
{
	return v != NULL && !LLVMIsDeclaration(v) && LLVMGetLinkage(v) == LLVMExternalLinkage;
}

/* Makes definitions in `unit` weak if `whole` contains them too, so that those in `whole` are
 * used. */
static void yield_to(LLVMModuleRef whole, LLVMModuleRef unit)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(unit); f != NULL; f = LLVMGetNextFunction(f))
		if (is_strong(f) && is_strong(LLVMGetNamedFunction(whole, ir_name(f))))
			LLVMSetLinkage(f, LLVMWeakAnyLinkage);
	for (LLVMValueRef g = LLVMGetFirstGlobal(unit); g != NULL; g = LLVMGetNextGlobal(g))
		if (is_strong(g) && is_strong(LLVMGetNamedGlobal(whole, ir_name(g))))
			LLVMSetLinkage(g, LLVMWeakAnyLinkage);
}

/* Marks the functions of a library by an attribute, which remains when units are linked. */
static void mark_library(LLVMModuleRef unit)
{
	LLVMAttributeRef mark = LLVMCreateStringAttribute(LLVMGetModuleContext(unit), IR_LIBRARY_ATTRIBUTE,
							  strlen(IR_LIBRARY_ATTRIBUTE), "", 0);
	for (LLVMValueRef f = LLVMGetFirstFunction(unit); f != NULL; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, mark);
}

static int add_unit(const struct instr_options *options, const struct instr_job *job, LLVMModuleRef whole)
{
	struct instr_unit u = {.options = options, .job = job, .context = LLVMGetModuleContext(whole)};
	struct marking marking = {.slot_base = (uint32_t)(job->slot << RADDLE_SITE_LOCAL_BITS)};
	int code = instr_unit_open(&u);
	if (code == 0) {
		u.sites.debug = ir_debug_new(u.module);
		instr_each_function(&u, mark_function, &marking);
		ir_debug_free(u.sites.debug);
		if (job->is_library)
			mark_library(u.module);
		yield_to(whole, u.module);
		LLVMSetDataLayout(whole, LLVMGetDataLayoutStr(u.module));
		LLVMSetTarget(whole, LLVMGetTarget(u.module));
		if (LLVMLinkModules2(whole, u.module))
			code = rd_fail(RD_ETOOL, "instr: %s: cannot be merged: %s", u.job->source,
				       u.diagnostics.data);
		u.module = NULL; /* linking consumes the module even on failure */
		u.name = job->source;
	}
	return instr_unit_close(&u, code);
}

int instr_facts(const struct instr_options *options, const struct instr_jobs *jobs)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef whole = LLVMModuleCreateWithNameInContext("program", context);
	int code = 0;
	LLVMSetIsNewDbgInfoFormat(whole, false);
	for (size_t i = 0; i < jobs->count && code == 0; i++)
		code = add_unit(options, &jobs->items[i], whole);
	if (code == 0) {
		struct ir_program p;
		ir_program_init(&p, whole);
		p.facts->programs[0].name = ir_program_string(&p, options->program);
		p.facts->programs[0].units = (uint32_t)jobs->count;
		ir_constrain(&p, options->budget);
		struct facts *f = ir_program_finish(&p);
		code = facts_write(f, options->facts);
		facts_free(f);
		ir_program_release(&p);
	}
	LLVMDisposeModule(whole);
	LLVMContextDispose(context);
	return code;
}
