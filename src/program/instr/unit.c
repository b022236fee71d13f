/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A translation unit: bitcode in, object file and its part of the site table out.
 *
 * 	parse -> default<O0>, sroa -> instrument (record.c) -> drop debug information
 * 	      -> [optimise] -> link and inline the hooks -> [clean up] -> generate code
 *
 * The program is instrumented after SROA and before any other optimisation.  So locals are in
 * registers, every access to shared memory in the source is still there, and struct fields have
 * their names.  Optimisation comes later and cannot remove an event.  In fast mode the hooks are
 * opaque calls while the optimiser runs.  That is both quicker and better for the code than
 * optimising their bodies thousands of times.
 */
#include "instr/unit-int.h"

#include "base/error.h"
#include "base/file.h"
#include "instr/scan/cxx-string.h"
#include "instr/edit/edit.h"
#include "ir/extern.h"
#include "ir/value.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char quick_base_pipeline[] = "default<O0>,function(sroa)";
static const char fast_base_pipeline[] = "default<O0>,function(sroa),cgscc(inline),function(sroa)";
static const char inline_pipeline[] = "always-inline";

/* The functions of each flavour. */
static const struct {
	int (*instrument)(struct instr_unit *u);
	int (*generate)(struct instr_unit *u);
} work[] = {
#define RADDLE_FLAVOUR(constant, name, layers, bytes, values) {instr_##name, instr_##name##_generate},
#include "raddle/flavour.inc"
#undef RADDLE_FLAVOUR
};

static void diagnose(LLVMDiagnosticInfoRef info, void *context)
{
	struct instr_unit *u = context;
	LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
	if (severity != LLVMDSError)
		return;
	char *text = LLVMGetDiagInfoDescription(info);
	rd_buf_addf(&u->diagnostics, "%s%s", u->diagnostics.length != 0 ? "; " : "", text);
	LLVMDisposeMessage(text);
}

int instr_unit_passes(struct instr_unit *u, const char *pipeline)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef error = LLVMRunPasses(u->module, pipeline, u->machine, options);
	LLVMDisposePassBuilderOptions(options);
	if (error == NULL)
		return 0;
	char *text = LLVMGetErrorMessage(error);
	int code = rd_fail(RD_ETOOL, "instr: %s: %s: %s", u->name, pipeline, text);
	LLVMDisposeErrorMessage(text);
	return code;
}

/* Sets the attribute in all functions.  Returns true if a function had it before. */
static bool set_in_all(struct instr_unit *u, unsigned kind)
{
	LLVMAttributeRef attribute = LLVMCreateEnumAttribute(u->context, kind, 0);
	bool had = false;
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f))
			continue;
		had |= LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind) != NULL;
		LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, attribute);
	}
	return had;
}

/* Pipelines such as default<O2> switch the vectorisers on, no matter what the options of the pass
 * builder are.  Both vectorisers skip functions with the attribute that forbids the implicit use
 * of floating-point registers.  So all functions get the attribute while the pipeline runs, and
 * lose it afterwards.  But if some function had the attribute before, all functions keep it.
 * Inlining passes it on to callers, so it is not known which functions need it. */
int instr_unit_scalar_passes(struct instr_unit *u, const char *pipeline)
{
	static const char name[] = "noimplicitfloat";
	unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
	RD_ASSERT(kind != 0);
	bool had = set_in_all(u, kind);
	int code = instr_unit_passes(u, pipeline);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL && !had; f = LLVMGetNextFunction(f))
		LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind);
	return code;
}

static int parse(struct instr_unit *u, const struct rd_map *map)
{
	const struct instr_job *job = u->job;
	uint64_t length = job->length != 0 ? job->length : map->length - job->offset;
	if (job->offset > map->length || length > map->length - job->offset)
		return rd_fail(RD_EFORMAT, "instr: %s: no %llu bytes at %llu", job->source,
			       (unsigned long long)length, (unsigned long long)job->offset);
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
		(const char *)map->data + job->offset, length, "bitcode", false);
	bool bad = LLVMParseBitcodeInContext2(u->context, buffer, &u->module);
	LLVMDisposeMemoryBuffer(buffer);
	if (bad)
		return rd_fail(RD_EFORMAT, "instr: %s: bitcode at %llu: %s", job->source,
			       (unsigned long long)job->offset, u->diagnostics.data);
	size_t n;
	u->name = LLVMGetSourceFileName(u->module, &n);
	return 0;
}

/* Returns true if the module has counters of -fprofile-instr-generate.  These are intrinsics that
 * a pass must lower. */
static bool has_profile_counters(LLVMModuleRef module)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
		if (ir_starts(ir_name(f), "llvm.instrprof."))
			return true;
	return false;
}

/* Verifies each function separately, so that the message can name the invalid function. */
int instr_unit_verify(struct instr_unit *u)
{
	char *text = NULL;
	if (!LLVMVerifyModule(u->module, LLVMReturnStatusAction, &text)) {
		LLVMDisposeMessage(text);
		return 0;
	}
	const char *function = "?";
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && LLVMVerifyFunction(f, LLVMReturnStatusAction)) {
			function = ir_name(f);
			break;
		}
	int code =
		rd_fail(RD_ETOOL, "instr: %s: %s: broken after instrumentation: %s", u->name, function, text);
	LLVMDisposeMessage(text);
	return code;
}

void instr_unit_step(struct instr_unit *u, const char *what)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	double now = t.tv_sec + t.tv_nsec * 1e-9;
	if (u->options->time && what != NULL)
		fprintf(stderr, "%-24s %-10s %.3f\n", u->name, what, now - u->step_began);
	u->step_began = now;
}

static int write_sites(struct instr_unit *u)
{
	struct rd_buf text = RD_BUF_INIT;
	instr_sites_text(&u->sites, u->module, &text);
	return rd_file_write_buf(u->job->sites, &text);
}

/* Returns true if the body of an inline function is kept in the unit.
 *
 * A C function that is only declared `inline` should also be defined elsewhere, but often it is
 * not.  Then the program links only because the optimiser inlines all calls.  If the calls were
 * not inlined, their target would not exist.  So such a body is kept.
 *
 * Templates that another library instantiates are left to that library, because threads may share
 * their objects, such as streams.  Functions of strings are kept, because they do not synchronise,
 * and their accesses count as the program's. */
static bool is_to_be_kept(LLVMValueRef f, bool strings)
{
	const char *name = ir_name(f);

	return LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage &&
	       (!ir_starts(name, "_Z") || (strings && instr_string_is_member(name))) &&
	       !ir_has_attribute(f, "alwaysinline") && ir_extern_find(name) == NULL && !ir_address_taken(f);
}

static void keep_inline_functions(const struct instr_unit *u)
{
	enum raddle_flavour_number number = u->options->flavour->number;
	bool strings = number == RADDLE_FLAVOUR_RECORD || number == RADDLE_FLAVOUR_LED;

	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		if (is_to_be_kept(f, strings))
			LLVMSetLinkage(f, LLVMInternalLinkage);
}

/* Returns true if functions are inlined before instrumentation.  Flavours with guards or gates
 * inline only later, because guards and gates belong to instructions of the unoptimised program. */
static bool inlines_early(const struct instr_unit *u)
{
	enum raddle_flavour_number number = u->options->flavour->number;
	return u->options->fast && !u->options->flavour->values && number != RADDLE_FLAVOUR_GUARD &&
	       number != RADDLE_FLAVOUR_TRACK;
}

/* Brings the module to the form in which it is analysed. */
static int make_base(struct instr_unit *u)
{
	int code = 0;
	keep_inline_functions(u);
	instr_keep_used(u);
	instr_note_module_assembler(u);
	if (has_profile_counters(u->module))
		code = instr_unit_passes(u, "instrprof");
	if (code == 0)
		code = instr_unit_passes(u, inlines_early(u) ? fast_base_pipeline : quick_base_pipeline);
	if (code == 0 && u->options->optimised) /* a fault cannot change vectors */
		code = instr_unit_scalar_passes(u, "default<O2>");
	LLVMSetIsNewDbgInfoFormat(u->module, false);
	u->layout = LLVMGetModuleDataLayout(u->module);
	instr_unit_step(u, "base");
	return code;
}

static int instrument(struct instr_unit *u)
{
	int code;
	instr_sites_init(&u->sites, u->job->slot, u->module);
	code = work[u->options->flavour->number].instrument(u);
	if (code == 0)
		code = write_sites(u);
	instr_sites_release(&u->sites);
	if (u->options->debug)
		LLVMSetIsNewDbgInfoFormat(u->module, true); /* debug records instead of intrinsics */
	else
		LLVMStripModuleDebugInfo(u->module);
	instr_unit_step(u, "instrument");
	return code;
}

int instr_unit_inline(struct instr_unit *u)
{
	if (u->options->print)
		LLVMDumpModule(u->module);
	int code = instr_hook_link(u);
	if (code == 0)
		code = instr_unit_passes(u, inline_pipeline);
	instr_unit_step(u, "inline");
	return code;
}

int instr_unit_finish(struct instr_unit *u, const char *clean_up)
{
	int code = instr_unit_inline(u);

	if (code == 0 && u->options->fast)
		code = instr_unit_passes(u, clean_up);
	instr_unit_step(u, "clean-up");
	return code;
}

static int generate(struct instr_unit *u)
{
	int code = work[u->options->flavour->number].generate(u);
	if (code == 0) {
		instr_start_arrays(u);
		code = instr_target_emit(u);
	}
	instr_unit_step(u, "generate");
	return code;
}

static void unit_init(struct instr_unit *u)
{
	u->name = u->job->source;
	u->diagnostics = (struct rd_buf)RD_BUF_INIT;
	LLVMContextSetDiagnosticHandler(u->context, diagnose, u);
	u->builder = LLVMCreateBuilderInContext(u->context);
	u->i32 = LLVMInt32TypeInContext(u->context);
	u->i64 = LLVMInt64TypeInContext(u->context);
	u->pointer = LLVMPointerTypeInContext(u->context, 0);
	u->nothing = LLVMVoidTypeInContext(u->context);
}

int instr_unit_open(struct instr_unit *u)
{
	struct rd_map map = {0};
	unit_init(u);
	instr_unit_step(u, NULL);
	int code = rd_map_open(&map, u->job->source);
	if (code == 0)
		code = parse(u, &map);
	rd_map_close(&map);
	instr_unit_step(u, "parse");
	if (code == 0)
		code = instr_target_open(u);
	if (code == 0 && u->options->edits != NULL)
		code = instr_edit(u);
	if (code == 0)
		code = make_base(u);
	return code;
}

int instr_unit_close(struct instr_unit *u, int code)
{
	if (code == 0 && u->diagnostics.length != 0)
		code = rd_fail(RD_ETOOL, "instr: %s: %s", u->name, u->diagnostics.data);
	LLVMDisposeBuilder(u->builder);
	if (u->module != NULL)
		LLVMDisposeModule(u->module);
	if (u->machine != NULL)
		LLVMDisposeTargetMachine(u->machine);
	rd_buf_release(&u->diagnostics);
	return code;
}

int instr_unit_make(const struct instr_options *options, const struct instr_job *job)
{
	struct instr_unit u = {.options = options, .job = job, .context = LLVMContextCreate()};
	int code = instr_unit_open(&u);
	if (code == 0)
		code = instrument(&u);
	if (code == 0)
		code = generate(&u);
	code = instr_unit_close(&u, code);
	LLVMContextDispose(u.context);
	return code;
}
