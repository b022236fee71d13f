/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how raddle-instr handles a unit (the bitcode of one source file), apart from its events:
 * which units it refuses, how it restores what clang loses when it embeds bitcode, and how it
 * finds assembly that may order threads.  Other tests are about constructors, busy-waiting loops,
 * and optimiser passes that must not vectorise.
 */
#include "base/error.h"
#include "instr/scan/event.h"
#include "test/unit/instr-jit.h"

static char message[512];

/* Keeps the first message since `message` was emptied. */
static void keep_message(void *data, enum rd_level level, const char *text)
{
	(void)data;
	(void)level;
	if (message[0] == '\0')
		snprintf(message, sizeof message, "%s", text);
}

/* ---- units that are refused ---- */

static int open_bytes(const char *bytes, size_t count, uint64_t offset, uint64_t length)
{
	struct instr_jit j = {.job = {.offset = offset, .length = length}};
	struct rd_buf path = RD_BUF_INIT;
	FILE *file;
	int code;

	instr_jit_begin(&j);
	rd_buf_addf(&path, "%s/bytes", j.directory);
	file = fopen(path.data, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	fclose(file);
	message[0] = '\0';
	code = instr_jit_open_file(&j, RADDLE_FLAVOUR_RECORD, path.data);
	instr_jit_close(&j);
	rd_buf_release(&path);
	return code;
}

static void what_is_not_bitcode_is_refused(void **state)
{
	static const char junk[64] = "BC\xc0\xde but nothing that follows";

	(void)state;
	rd_log_set(keep_message, NULL);
	assert_int_equal(open_bytes(junk, sizeof junk, 0, 0), RD_EFORMAT);
	assert_non_null(strstr(message, "bitcode at 0"));
	assert_int_equal(open_bytes(junk, sizeof junk, 65, 0), RD_EFORMAT);
	assert_int_equal(open_bytes(junk, sizeof junk, 8, 57), RD_EFORMAT);
	assert_non_null(strstr(message, "no 57 bytes at 8"));
	assert_int_equal(open_bytes(junk, sizeof junk, 8, UINT64_MAX), RD_EFORMAT);
	rd_log_set(NULL, NULL);
}

/* Every prefix of a valid file is refused or read, and none ends the process. */
static void cut_bitcode_is_refused(void **state)
{
	struct rd_buf whole = RD_BUF_INIT;
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef module =
		ir_text_parse(context, INSTR_JIT_HEAD "define i32 @f(i32 %a) {\n  %b = add i32 %a, 1\n"
						      "  ret i32 %b\n}\n");
	LLVMMemoryBufferRef bytes = LLVMWriteBitcodeToMemoryBuffer(module);

	(void)state;
	rd_log_set(keep_message, NULL);
	rd_buf_add(&whole, LLVMGetBufferStart(bytes), LLVMGetBufferSize(bytes));
	assert_int_equal(open_bytes(whole.data, whole.length, 0, 0), 0);
	for (size_t cut = 4; cut < whole.length; cut += 4 + cut / 2)
		assert_int_equal(open_bytes(whole.data, whole.length - cut, 0, 0), RD_EFORMAT);
	LLVMDisposeMemoryBuffer(bytes);
	LLVMDisposeModule(module);
	LLVMContextDispose(context);
	rd_buf_release(&whole);
	rd_log_set(NULL, NULL);
}

static void hooks_must_be_there(void **state)
{
	static const char text[] =
		"@x = global i32 0\ndefine void @f() {\n  store i32 1, ptr @x\n  ret void\n}\n";

	(void)state;
	rd_log_set(keep_message, NULL);
	for (int missing = 0; missing < 2; missing++) {
		struct instr_jit j = {.options = {.fast = true}};
		char *other = NULL;

		message[0] = '\0';
		assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD, text), 0);
		assert_int_equal(instr_jit_instrument(&j), 0);
		if (missing)
			j.options.hooks = "/nonexistent/hooks.bc";
		else
			j.options.hooks = other = instr_jit_write(
				j.directory, "other",
				INSTR_JIT_HEAD "define ptr @__raddle_enter() {\n  ret ptr null\n}\n");
		assert_int_equal(instr_jit_generate(&j), missing ? RD_ENOTFOUND : RD_EFORMAT);
		assert_non_null(strstr(message, missing ? "/nonexistent/hooks.bc"
							: "does not define __raddle_write4"));
		free(other);
		instr_jit_close(&j);
	}
	rd_log_set(NULL, NULL);
}

/* The message names the function that is broken. */
static void broken_code_is_reported(void **state)
{
	struct instr_jit j = {.options = {.fast = false}};
	LLVMValueRef b;

	(void)state;
	message[0] = '\0';
	rd_log_set(keep_message, NULL);
	assert_int_equal(
		instr_jit_open(&j, RADDLE_FLAVOUR_RECORD,
			       "define i32 @good(i32 %a) {\n  ret i32 %a\n}\n"
			       "define i32 @wrong(i32 %a) {\n  %b = add i32 %a, 1\n  %c = add i32 %b, 1\n"
			       "  ret i32 %c\n}\n"),
		0);
	assert_int_equal(instr_unit_verify(&j.u), 0);
	b = ir_text_find(j.u.module, "wrong", "b");
	LLVMSetOperand(b, 0, ir_text_find(j.u.module, "wrong", "c"));
	assert_int_equal(instr_unit_verify(&j.u), RD_ETOOL);
	assert_non_null(strstr(message, "wrong: broken"));
	instr_jit_close(&j);
	rd_log_set(NULL, NULL);
}

/* ---- optimisation passes ---- */

static bool has_vectors(LLVMModuleRef module)
{
	char *text = LLVMPrintModuleToString(module);
	bool has = strstr(text, " x i32> ") != NULL;

	LLVMDisposeMessage(text);
	return has;
}

static bool has_attribute(LLVMModuleRef module, const char *function)
{
	static const char name[] = "noimplicitfloat";

	return LLVMGetEnumAttributeAtIndex(LLVMGetNamedFunction(module, function), LLVMAttributeFunctionIndex,
					   LLVMGetEnumAttributeKindForName(name, sizeof name - 1)) != NULL;
}

/* Tests both vectorisers: that of loops and that of straight-line code. */
static void scalar_passes_make_no_vectors(void **state)
{
	static const char format[] =
		"@a = global [64 x i32] zeroinitializer\n@b = global [64 x i32] zeroinitializer\n"
		"define void @f(i32 %%n) %s {\n  br label %%h\nh:\n"
		"  %%i = phi i64 [0, %%0], [%%j, %%h]\n  %%p = getelementptr i32, ptr @a, i64 %%i\n"
		"  %%q = getelementptr i32, ptr @b, i64 %%i\n  %%x = load i32, ptr %%p\n"
		"  %%y = add i32 %%x, %%n\n  store i32 %%y, ptr %%q\n  %%j = add nuw nsw i64 %%i, 1\n"
		"  %%t = icmp ult i64 %%j, %d\n  br i1 %%t, label %%h, label %%e\ne:\n  ret void\n}\n"
		"define void @g() {\n  ret void\n}\n";

	(void)state;
	for (int i = 0; i < 8; i++) {
		struct instr_jit j = {.options = {.fast = false}};
		bool scalar = i & 1, had = i & 2;
		char text[1024];

		snprintf(text, sizeof text, format, had ? "noimplicitfloat" : "", i & 4 ? 4 : 64);
		assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_SHADOW, text), 0);
		assert_int_equal(scalar ? instr_unit_scalar_passes(&j.u, "default<O2>")
					: instr_unit_passes(&j.u, "default<O2>"),
				 0);
		assert_int_equal(has_vectors(j.u.module), !scalar && !had);
		assert_int_equal(has_attribute(j.u.module, "f"), had);
		instr_jit_close(&j);
	}
}

static void a_pipeline_that_does_not_exist_is_an_error(void **state)
{
	struct instr_jit j = {.options = {.fast = false}};

	(void)state;
	message[0] = '\0';
	rd_log_set(keep_message, NULL);
	assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD, "define void @f() {\n  ret void\n}\n"), 0);
	assert_int_equal(instr_unit_passes(&j.u, "no-such-pass"), RD_ETOOL);
	assert_non_null(strstr(message, "no-such-pass"));
	instr_jit_close(&j);
	rd_log_set(NULL, NULL);
}

/* ---- symbols that must not be removed ---- */

static bool is_listed(LLVMModuleRef module, const char *name)
{
	LLVMValueRef used = LLVMGetNamedGlobal(module, "llvm.compiler.used"), list;
	size_t length;

	if (used == NULL)
		return false;
	list = LLVMGetInitializer(used);
	for (int i = 0; i < LLVMGetNumOperands(list); i++)
		if (!strcmp(LLVMGetValueName2(LLVMGetOperand(list, (unsigned)i), &length), name))
			return true;
	return false;
}

static void what_was_marked_as_used_is_found_again(void **state)
{
	static const struct {
		const char *name;
		bool stays;
	} cases[] = {{"unused", true},	{"placed", true}, {"named", true},
		     {"inlined", true}, {"plain", false}, {"outside", false},
		     {"name", false},	{"f", false},	  {"unused_code", true}};
	struct instr_jit j = {.options = {.fast = false}};

	(void)state;
	assert_int_equal(
		instr_jit_open(
			&j, RADDLE_FLAVOUR_RECORD,
			"module asm \".quad named\"\n@unused = internal global i32 1\n"
			"@placed = internal global i32 1, section \"mine\"\n"
			"@named = internal global i32 1\n@name = internal global i32 1\n"
			"@inlined = internal global i32 1\n@plain = internal global i32 1\n"
			"@outside = global i32 1\n"
			"define internal void @unused_code() {\n  ret void\n}\n"
			"define void @f() {\n  store i32 1, ptr @placed\n  store i32 1, ptr @named\n"
			"  store i32 1, ptr @name\n  store i32 1, ptr @inlined\n  store i32 1, ptr @plain\n"
			"  call void asm sideeffect \"incl inlined(%rip)\", \"\"()\n  ret void\n}\n"),
		0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (is_listed(j.u.module, cases[i].name) != cases[i].stays)
			fail_msg("%s: %d", cases[i].name, !cases[i].stays);
	instr_jit_close(&j);
}

/* ---- constructors and destructors ---- */

static void constructors_become_entries_of_arrays(void **state)
{
	struct instr_jit j = {.options = {.fast = false}};
	char *text;

	(void)state;
	assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD,
					"@llvm.global_ctors = appending global [3 x { i32, ptr, ptr }] [{ "
					"i32, ptr, ptr } { i32 "
					"65535, ptr @one, ptr null }, { i32, ptr, ptr } { i32 101, ptr @two, "
					"ptr null }, { i32, "
					"ptr, ptr } { i32 65535, ptr null, ptr null }]\n"
					"@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ "
					"i32, ptr, ptr } { i32 "
					"65535, ptr @two, ptr null }]\n"
					"define internal void @one() {\n  ret void\n}\ndefine internal void "
					"@two() {\n  ret void\n}\n"),
			 0);
	instr_start_arrays(&j.u);
	assert_int_equal(instr_unit_verify(&j.u), 0);
	assert_null(LLVMGetNamedGlobal(j.u.module, "llvm.global_ctors"));
	assert_null(LLVMGetNamedGlobal(j.u.module, "llvm.global_dtors"));
	text = LLVMPrintModuleToString(j.u.module);
	assert_non_null(strstr(text, "ptr @one, section \".init_array\", align 8"));
	assert_non_null(strstr(text, "ptr @two, section \".init_array.00101\", align 8"));
	assert_non_null(strstr(text, "ptr @two, section \".fini_array\", align 8"));
	assert_null(strstr(text, "ptr null, section"));
	LLVMDisposeMessage(text);
	instr_jit_close(&j);
}

/* ---- assembly that may order threads ---- */

static void fences_are_told_from_other_assembler(void **state)
{
	static const char *const fences[] = {"",
					     "pause",
					     "rep; nop",
					     "mfence\n\tlfence",
					     "sfence ; ",
					     "cpuid",
					     "lock; addl $$0, 0(%rsp)",
					     "rdtscp"};
	static const char *const others[] = {
		"incl $0", "lock; incl $0", "mfence; movl %eax, (%rdi)", "xchg %al, $0",
		"syscall", "pauses",	    "lock; addl $$1, 0(%rsp)"};

	(void)state;
	for (size_t i = 0; i < sizeof fences / sizeof *fences; i++)
		if (!instr_is_fence(fences[i]))
			fail_msg("'%s' is a fence", fences[i]);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (instr_is_fence(others[i]))
			fail_msg("'%s' is not a fence", others[i]);
}

/* Whether the object will contain a note that assembly may order threads. */
static bool notes(const char *module_assembler, const char *code)
{
	struct instr_jit j = {.options = {.fast = false}};
	char text[512];
	size_t length;
	bool has;

	snprintf(text, sizeof text,
		 "%s\n@x = global i32 0\ndefine void @\"odd name\"() {\n  %s\n  store i32 1, ptr @x\n  ret "
		 "void\n}\n",
		 module_assembler, code);
	assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD, text), 0);
	assert_int_equal(instr_jit_instrument(&j), 0);
	has = strstr(LLVMGetModuleInlineAsm(j.u.module, &length), ".rad.as") != NULL;
	if (has && *module_assembler == '\0')
		assert_non_null(strstr(LLVMGetModuleInlineAsm(j.u.module, &length), "assembler in odd?name"));
	instr_jit_close(&j);
	return has;
}

static void assembler_that_may_order_is_noted(void **state)
{
	(void)state;
	assert_false(notes("", ""));
	assert_true(notes("", "call void asm sideeffect \"syscall\", \"~{memory}\"()"));
	assert_false(notes("", "call void asm sideeffect \"syscall\", \"\"()"));
	assert_false(notes("", "call void asm sideeffect \"mfence\", \"~{memory}\"()"));
	assert_false(notes(
		"", "call void asm sideeffect \"incl $0\", \"=*m,~{memory}\"(ptr elementtype(i32) @x)"));
	assert_true(notes("module asm \"f: incl x(%rip)\"", ""));
	assert_true(notes("module asm \"f:\\0A  ret\"", ""));
	assert_false(notes("module asm \".globl f\\0A# code\\0Alabel:\"", ""));
}

/* ---- loops that wait for a value ---- */

struct loop {
	const char *code; /* of a loop from %h to %e */
	bool is_volatile, has_round;
};

static void check_loop(const struct loop *l, bool stops)
{
	struct instr_jit j = {.options = {.fast = false}};
	char text[1024];
	char *said;

	snprintf(
		text, sizeof text,
		"@x = global i32 0\n@y = global i32 0\ndeclare void @other()\ndeclare void @llvm.assume(i1)\n"
		"define i32 @f(i32 %%n) {\n  br label %%h\nh:\n%se:\n  ret i32 0\n}\n",
		l->code);
	assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD, text), 0);
	j.u.stops = stops;
	instr_keep_waiting(&j.u);
	said = instr_jit_say(&j, "f");
	if ((strstr(said, "round") != NULL) != l->has_round)
		fail_msg("%s: %s", l->code, said);
	if (strstr(l->code, "%a = load") != NULL &&
	    (LLVMGetVolatile(ir_text_find(j.u.module, "f", "a")) != 0) != l->is_volatile)
		fail_msg("%s: the load is %svolatile", l->code, l->is_volatile ? "not " : "");
	free(said);
	instr_jit_close(&j);
}

static void loops_that_wait_read_each_time(void **state)
{
	static const struct loop loops[] = {
		{"  %a = load i32, ptr @x\n  %t = icmp eq i32 %a, 0\n  br i1 %t, label %h, label %e\n", true,
		 true},
		/* the loop also counts */
		{"  %i = phi i32 [0, %0], [%j, %h]\n  %a = load i32, ptr @x\n  %j = add i32 %i, 1\n"
		 "  %s = add i32 %a, %j\n  %t = icmp ult i32 %s, %n\n  br i1 %t, label %h, label %e\n",
		 false, false},
		/* the loop writes */
		{"  %a = load i32, ptr @x\n  store i32 1, ptr @y\n  %t = icmp eq i32 %a, 0\n"
		 "  br i1 %t, label %h, label %e\n",
		 false, false},
		/* the loop calls a function */
		{"  %a = load i32, ptr @x\n  call void @other()\n  %t = icmp eq i32 %a, 0\n"
		 "  br i1 %t, label %h, label %e\n",
		 false, false},
		/* the loop tests a value that was read before it, so it can never end */
		{"  %t = icmp eq i32 %n, 0\n  br i1 %t, label %h, label %e\n", false, true},
		/* assembly that does not access memory, as in a spin loop with `pause` */
		{"  %a = load i32, ptr @x\n  call void asm sideeffect \"pause\", \"\"()\n  %t = icmp eq i32 "
		 "%a, 0\n"
		 "  br i1 %t, label %h, label %e\n",
		 true, true},
		/* the value comes through a phi node of the same round */
		{"  %a = load i32, ptr @x\n  %c = icmp eq i32 %a, 1\n  br i1 %c, label %y, label %m\ny:\n  "
		 "br label %m\n"
		 "m:\n  %p = phi i32 [%a, %h], [7, %y]\n  %t = icmp eq i32 %p, 0\n  br i1 %t, label %h, "
		 "label %e\n",
		 true, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
		check_loop(&loops[i], false);
}

/* In flavours whose threads stop at reads, only a loop without an exit needs the hook. */
static void where_threads_stop_only_endless_loops_are_left(void **state)
{
	static const struct loop waits = {
		"  %a = load i32, ptr @x\n  %t = icmp eq i32 %a, 0\n  br i1 %t, label %h, label %e\n", false,
		false};
	static const struct loop endless = {"  store i32 1, ptr @x\n  br label %h\n", false, true};
	static const struct loop calls = {"  call void @other()\n  br label %h\n", false, false};

	(void)state;
	check_loop(&waits, true);
	check_loop(&endless, true);
	check_loop(&endless, false);
	check_loop(&calls, true);
}

/* ---- widths of the values that faults change ---- */

static void bits_of_values_that_faults_change(void **state)
{
	LLVMContextRef c = LLVMContextCreate();

	(void)state;
	for (unsigned width = 1; width <= 130; width++) {
		unsigned expected = width == 1 ? 1 : 8;

		while (width > 1 && expected < width)
			expected *= 2;
		assert_int_equal(instr_target_bits(LLVMIntTypeInContext(c, width)),
				 expected <= 64 ? expected : 0);
	}
	assert_int_equal(instr_target_bits(LLVMFloatTypeInContext(c)), 32);
	assert_int_equal(instr_target_bits(LLVMDoubleTypeInContext(c)), 64);
	assert_int_equal(instr_target_bits(LLVMX86FP80TypeInContext(c)), 0);
	assert_int_equal(instr_target_bits(LLVMPointerTypeInContext(c, 0)), 64);
	assert_int_equal(instr_target_bits(LLVMPointerTypeInContext(c, 1)), 0);
	assert_int_equal(instr_target_bits(LLVMVectorType(LLVMInt8TypeInContext(c), 4)), 0);
	LLVMContextDispose(c);
}

/* ---- the site table of a unit ---- */

static void the_table_names_unit_and_variables(void **state)
{
	struct instr_jit j = {.job = {.slot = 5}};
	struct rd_buf out = RD_BUF_INIT;

	(void)state;
	assert_int_equal(
		instr_jit_open(&j, RADDLE_FLAVOUR_RECORD,
			       "source_filename = \"dir/a b.c\"\n@x = global i32 0\n@a = global [3 x i64] "
			       "zeroinitializer\n@c = constant i32 1\n@hidden = private global i32 0\n"
			       "@outside = external global i32\n@s = internal global i8 0\n"
			       "define void @f() {\n  store i32 1, ptr @x\n  store i32 1, ptr @hidden\n"
			       "  store i8 1, ptr @s\n  ret void\n}\n"),
		0);
	assert_int_equal(instr_jit_instrument(&j), 0);
	instr_sites_text(&j.u.sites, j.u.module, &out);
	assert_non_null(strstr(out.data, "U\t5\t1\tdir/a b.c\n"));
	assert_non_null(strstr(out.data, "\nG\tx\tx\t4\t"));
	assert_non_null(strstr(out.data, "\nG\ta\ta\t24\t"));
	assert_non_null(strstr(out.data, "\nG\ts\ts\t1\t"));
	assert_null(strstr(out.data, "\nG\tc\t"));
	assert_null(strstr(out.data, "\nG\thidden\t"));
	assert_null(strstr(out.data, "\nG\toutside\t"));
	rd_buf_release(&out);
	instr_jit_close(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_bitcode_is_refused),
		cmocka_unit_test(cut_bitcode_is_refused),
		cmocka_unit_test(hooks_must_be_there),
		cmocka_unit_test(broken_code_is_reported),
		cmocka_unit_test(scalar_passes_make_no_vectors),
		cmocka_unit_test(a_pipeline_that_does_not_exist_is_an_error),
		cmocka_unit_test(what_was_marked_as_used_is_found_again),
		cmocka_unit_test(constructors_become_entries_of_arrays),
		cmocka_unit_test(fences_are_told_from_other_assembler),
		cmocka_unit_test(assembler_that_may_order_is_noted),
		cmocka_unit_test(loops_that_wait_read_each_time),
		cmocka_unit_test(where_threads_stop_only_endless_loops_are_left),
		cmocka_unit_test(bits_of_values_that_faults_change),
		cmocka_unit_test(the_table_names_unit_and_variables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
