/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which hooks the flavour `record` inserts into a function.  Each test consists of a small
 * function as text, and the expected hooks with their arguments, in code order.  `=NAME` stands
 * for the instruction NAME, and shows whether a hook comes before or after it.  The numbers are
 * sites; a second text contains their kinds and flags.
 */
#include "test/unit/instr-jit.h"

static const char head[] =
	"@x = global i32 0\n@y = global i64 0\n@c = constant i32 7\n"
	"@t = internal thread_local global i32 0\n@u = thread_local global i32 0\n"
	"@text = private constant [6 x i8] c\"%d %s\\00\"\n@_ZTV1A = external constant [4 x ptr]\n"
	"declare void @other()\ndeclare i32 @number()\ndeclare i32 @strcmp(ptr, ptr)\n"
	"declare ptr @strcpy(ptr, ptr)\ndeclare i64 @read(i32, ptr, i64)\n"
	"declare i32 @printf(ptr, ...)\ndeclare void @exit(i32) noreturn\n"
	"declare i32 @pthread_cond_wait(ptr, ptr)\ndeclare i32 @close(i32)\n"
	"declare i64 @strlen(ptr)\ndeclare ptr @memchr(ptr, i32, i64)\n"
	"declare i64 @fread(ptr, i64, i64, ptr)\ndeclare i32 @__gxx_personality_v0(...)\n"
	"declare i16 @__atomic_load_2(ptr, i32)\ndeclare void @__atomic_store(i64, ptr, ptr, i32)\n"
	"declare i32 @__sync_fetch_and_add_4(ptr, i32)\n"
	"declare i1 @__atomic_compare_exchange_8(ptr, ptr, i64, i32, i32)\n"
	"declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
	"declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
	"declare ptr @llvm.threadlocal.address.p0(ptr)\n";

/* Returns kind, size and flags of each site, as the site table has them. */
static char *say_sites(struct instr_jit *j)
{
	struct rd_buf out = RD_BUF_INIT;
	const char *line = j->u.sites.text.data;

	while (line != NULL && *line != '\0') {
		char kind[8], flags[8];
		unsigned number, size;

		if (sscanf(line, "S\t%u\t%7[a-z]\t%u\t%7[a-zA-Z-]", &number, kind, &size, flags) == 4)
			rd_buf_addf(&out, "%s%s%u%s", out.length ? " " : "", kind, size, flags);
		line = strchr(line, '\n');
		line = line != NULL ? line + 1 : NULL;
	}
	return out.length ? out.data : rd_xstrdup("");
}

static void check_unit(const char *functions, const char *hooks, const char *sites)
{
	struct instr_jit j = {.options = {.fast = false}};
	struct rd_buf text = RD_BUF_INIT;
	char *said, *table;

	rd_buf_addf(&text, "%s%s", head, functions);
	assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD, text.data), 0);
	assert_int_equal(instr_jit_instrument(&j), 0);
	assert_int_equal(instr_unit_verify(&j.u), 0);
	said = instr_jit_say(&j, "f");
	table = say_sites(&j);
	assert_string_equal(said, hooks);
	if (sites != NULL)
		assert_string_equal(table, sites);
	free(said);
	free(table);
	rd_buf_release(&text);
	instr_jit_close(&j);
}

/* Checks a body of `void f(ptr p, ptr q, i64 n, i32 i)`. */
static void check(const char *body, const char *hooks, const char *sites)
{
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_addf(&text, "define void @f(ptr %%p, ptr %%q, i64 %%n, i32 %%i) {\n%s  ret void\n}\n", body);
	check_unit(text.data, hooks, sites);
	rd_buf_release(&text);
}

/* ---- plain accesses ---- */

static void a_hook_stands_before_its_access(void **state)
{
	(void)state;
	check("  %a = load i32, ptr @x\n", "enter read4(x,1) =a", "r4-");
	check("  %a = load i8, ptr %p\n  store i8 %a, ptr %q\n", "enter read1(p,1) =a write1(q,2)",
	      "r1- w1-");
	check("  store i16 1, ptr %p\n", "enter write2(p,1)", "w2-");
	check("  store i64 1, ptr @y\n", "enter write8(y,1)", "w8-");
	check("  store i128 1, ptr %p, align 16\n", "enter write16(p,1)", "w16-");
	check("  store double 1.0, ptr %p\n  store ptr null, ptr %q\n", "enter write8(p,1) write8(q,2)",
	      "w8- w8-");
}

/* Accesses of 1, 2, 4, 8 or 16 aligned bytes have special hooks.  All others are ranges. */
static void other_sizes_are_ranges(void **state)
{
	(void)state;
	check("  store i32 1, ptr %p, align 1\n", "enter write_range(p,1,4)", "rw0-");
	check("  %a = load i24, ptr %p\n", "enter read_range(p,1,3) =a", "rr0-");
	check("  store <8 x i32> zeroinitializer, ptr %p\n", "enter write_range(p,1,32)", "rw0-");
	check("  %a = load x86_fp80, ptr %p\n", "enter read_range(p,1,10) =a", "rr0-");
	check("  store {} zeroinitializer, ptr %p\n", "", "");
}

static void a_function_without_events_gets_no_hook(void **state)
{
	(void)state;
	check("", "", "");
	check("  %a = load i32, ptr @c\n", "=a", "");
	check("  %a = alloca [4 x i32]\n  %b = getelementptr i32, ptr %a, i64 %n\n  store i32 1, ptr %b\n",
	      "=a =b", "");
}

static void flags_tell_volatile_stack_and_thread_local(void **state)
{
	(void)state;
	check("  store volatile i32 1, ptr @x\n", "enter write4(x,1)", "w4v");
	check("  store i32 1, ptr @t\n", "", "");
	check("  store i32 1, ptr @u\n", "enter write4(u,1)", "w4t");
	check("  %a = call ptr @llvm.threadlocal.address.p0(ptr @u)\n  store volatile i32 1, ptr %a\n",
	      "enter =a write4(a,1)", "w4vt");
	/* a variable on the stack is recorded if its address escapes, also before it does */
	check("  %a = alloca i32\n  store i32 1, ptr %a\n  store ptr %a, ptr @y\n",
	      "=a enter write4(a,1) write8(y,2)", "w4s w8-");
}

/* ---- redundant accesses, which are not recorded ---- */

static void repeated_accesses_have_one_hook(void **state)
{
	(void)state;
	check("  %a = load i32, ptr @x\n  %b = load i32, ptr @x\n", "enter read4(x,1) =a =b", "r4-");
	check("  store i32 1, ptr @x\n  %b = load i32, ptr @x\n", "enter write4(x,1) =b", "w4-");
	check("  %a = load i32, ptr @x\n  store i32 1, ptr @x\n", "enter read4(x,1) =a write4(x,2)",
	      "r4- w4-");
	/* an access within the bytes of a wider one is redundant, but not vice versa */
	check("  store i64 1, ptr @y\n  %b = load i32, ptr @y\n", "enter write8(y,1) =b", "w8-");
	check("  %a = load i32, ptr @y\n  %b = load i64, ptr @y\n", "enter read4(y,1) =a read8(y,2) =b",
	      "r4- r8-");
	/* an atomic operation ends the segment */
	check("  store i32 1, ptr @x\n  fence seq_cst\n  store i32 2, ptr @x\n",
	      "enter write4(x,1) fence(2) write4(x,3)", "w4- f0S w4-");
}

/* An access that is redundant on one path only is not redundant. */
static void both_ways_must_agree(void **state)
{
	static const char one[] = "define void @f(i1 %c) {\n  br i1 %c, label %yes, label %no\n"
				  "yes:\n  store i32 1, ptr @x\n  br label %no\n"
				  "no:\n  %a = load i32, ptr @x\n  ret void\n}\n";
	static const char both[] = "define void @f(i1 %c) {\n  br i1 %c, label %yes, label %no\n"
				   "yes:\n  store i32 1, ptr @x\n  br label %end\n"
				   "no:\n  %a = load i32, ptr @x\n  br label %end\n"
				   "end:\n  %b = load i32, ptr @x\n  ret void\n}\n";

	(void)state;
	check_unit(one, "enter write4(x,1) read4(x,2) =a", "w4- r4-");
	check_unit(both, "enter write4(x,1) read4(x,2) =a =b", "w4- r4-");
}

/* ---- atomic operations ---- */

/* Checks an atomic operation.  `what` has site, size << 32, order << 48, reads << 51, writes << 63
 * (raddle/abi.h). */
static void check_atomic(const char *code, const char *at, uint64_t what, const char *end, const char *sites)
{
	char expected[160];

	snprintf(expected, sizeof expected, "enter atomic_begin(%s,%lld) %s", at, (long long)what, end);
	check(code, expected, sites);
}

#define WHAT(site, size, order, reads, writes)                                                               \
	((uint64_t)(site) | (uint64_t)(size) << 32 | (uint64_t)(order) << 48 | (uint64_t)(reads) << 51 |     \
	 (uint64_t)(writes) << 63)

static void atomics_lie_between_two_hooks(void **state)
{
	(void)state;
	check_atomic("  %a = load atomic i32, ptr @x acquire, align 4\n", "x", WHAT(1, 4, 2, 0, 0),
		     "=a atomic_end(x,1,0)", "al4a");
	check_atomic("  store atomic i32 1, ptr @x release, align 4\n", "x", WHAT(1, 4, 3, 0, 1),
		     "atomic_end(x,1,1)", "as4r");
	check_atomic("  %a = atomicrmw add ptr @x, i32 1 acq_rel\n  store i32 %a, ptr %p\n", "x",
		     WHAT(1, 4, 4, 1, 1), "=a atomic_end(x,1,1) write4(p,2)", "ax4q w4-");
	check_atomic("  %a = cmpxchg ptr @x, i32 0, i32 1 seq_cst monotonic\n", "x", WHAT(1, 4, 5, 1, 1),
		     "=a atomic_end(x,1,?)", "ac4S");
	/* a relaxed load does not end a segment */
	check_atomic("  %a = load atomic i32, ptr @x monotonic, align 4\n", "x", WHAT(1, 4, 1, 0, 0),
		     "=a atomic_end(x,1,2)", "al4x");
	/* a counter: the result is unused, and the update orders nothing */
	check_atomic("  %a = atomicrmw add ptr @x, i32 1 monotonic\n", "x", WHAT(1, 4, 1, 1, 1),
		     "=a atomic_end(x,1,3)", "ax4nx");
}

static void fences_have_no_address(void **state)
{
	(void)state;
	check("  fence acquire\n", "enter fence(1)", "f0a");
	check("  fence release\n", "enter fence(1)", "f0r");
}

static void atomic_calls_are_atomics(void **state)
{
	(void)state;
	check_atomic("  %a = call i16 @__atomic_load_2(ptr %p, i32 2)\n", "p", WHAT(1, 2, 2, 0, 0),
		     "=a atomic_end(p,1,0)", "al2a");
	check_atomic("  call void @__atomic_store(i64 24, ptr %p, ptr %q, i32 0)\n", "p",
		     WHAT(1, 24, 1, 0, 1), "atomic_end(p,1,1)", "as24x");
	check_atomic("  %a = call i32 @__sync_fetch_and_add_4(ptr %p, i32 1)\n", "p", WHAT(1, 4, 5, 1, 1),
		     "=a atomic_end(p,1,1)", "ax4S");
	check_atomic("  %a = call i1 @__atomic_compare_exchange_8(ptr %p, ptr %q, i64 0, i32 4, i32 0)\n",
		     "p", WHAT(1, 8, 4, 1, 1), "=a atomic_end(p,1,?)", "ac8q");
}

/* ---- ranges of bytes: copies and library functions ---- */

static void copies_read_and_write(void **state)
{
	(void)state;
	check("  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 24, i1 false)\n",
	      "enter read_range(q,1,24) write_range(p,2,24)", "rr0- rw0-");
	check("  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr @c, i64 %n, i1 false)\n",
	      "enter write_range(p,1,n)", "rw0-");
	check("  call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 0, i1 false)\n", "", "");
}

/* Accesses whose size depends on the result are reported after the call, all others before it. */
static void library_functions_access_for_their_callers(void **state)
{
	(void)state;
	check("  %a = call i32 @strcmp(ptr %p, ptr %q)\n",
	      "enter read_common(p,q,1,-1) read_common(q,p,2,-1) =a", "rr0- rr0-");
	check("  %a = call ptr @strcpy(ptr %p, ptr %q)\n",
	      "enter read_string(q,1,-1) write_copied(p,q,2,-1) =a", "rr0- rw0-");
	check("  %a = call i64 @strlen(ptr %p)\n", "enter read_string(p,1,-1) =a", "rr0-");
	check("  %a = call ptr @memchr(ptr %p, i32 0, i64 %n)\n", "enter =a read_range(p,1,?)", "rr0-");
	check("  %a = call i64 @fread(ptr %p, i64 4, i64 %n, ptr %q)\n",
	      "enter stack call(2) =a return write_range(p,1,?)", "rw0- c0-");
}

/* The number of a descriptor is treated as the address of bytes that represent it. */
static void descriptors_are_used_and_closed(void **state)
{
	(void)state;
	check("  %a = call i64 @read(i32 %i, ptr %p, i64 %n)\n",
	      "enter stack read_range(?,1,?) call(3) =a return write_range(p,2,?)", "rr0- rw0- c0-");
	check("  %a = call i32 @close(i32 %i)\n", "enter stack write_range(?,1,?) call(2) =a return",
	      "rw0- c0-");
}

static void formats_say_what_is_read(void **state)
{
	(void)state;
	check("  %a = call i32 (ptr, ...) @printf(ptr @text, i32 %i, ptr %p)\n",
	      "enter stack read_string(p,1,?) call(2) =a return", "rr0- c0-");
	check("  %a = call i32 (ptr, ...) @printf(ptr %q, i32 %i, ptr %p)\n", "enter stack call(1) =a return",
	      "c0-");
}

/* ---- calls, and the stack pointer ---- */

static void calls_note_their_sites(void **state)
{
	(void)state;
	check("  call void @other()\n  store i32 1, ptr @x\n", "enter stack call(1) return write4(x,2)",
	      "c0- w4-");
	check("  call void @other()\n  call void @other()\n", "enter stack call(1) call(2) return",
	      "c0- c0-");
	check("  call void @exit(i32 0)\n", "enter stack call(1)", "c0-");
	check("  call void %p()\n", "enter stack call(1) return", "c0-");
}

static void callees_that_take_the_place_of_their_caller(void **state)
{
	(void)state;
	check_unit("declare void @next(ptr)\ndefine void @f(ptr %p) {\n  store i32 1, ptr %p\n"
		   "  musttail call void @next(ptr %p)\n  ret void\n}\n",
		   "enter stack write4(p,1) return", "w4-");
}

static void landing_pads_restore_the_stack(void **state)
{
	(void)state;
	check_unit("define void @f() personality ptr @__gxx_personality_v0 {\n"
		   "  invoke void @other() to label %good unwind label %bad\n"
		   "good:\n  store i32 1, ptr @x\n  ret void\n"
		   "bad:\n  %l = landingpad { ptr, i32 } cleanup\n  store i32 2, ptr @x\n"
		   "  resume { ptr, i32 } %l\n}\n",
		   "enter stack call(1) return write4(x,2) =l return write4(x,3)", "c0- w4- w4-");
}

/* A function that is called only in its unit leaves the stack pointer as its last call set it. */
static void a_private_function_does_not_restore_at_its_end(void **state)
{
	(void)state;
	check_unit("define internal void @f() {\n  call void @other()\n  ret void\n}\n"
		   "define void @g() {\n  call void @f()\n  ret void\n}\n",
		   "enter stack call(1)", "c0- c0-");
	check_unit("define internal void @f() {\n  call void @other()\n  ret void\n}\n"
		   "define ptr @g() {\n  ret ptr @f\n}\n",
		   "enter stack call(1) return", "c0-");
}

/* ---- reads that decide a wait loop ---- */

static void reads_of_wait_loops_are_recorded_each_time(void **state)
{
	(void)state;
	check_unit("define void @f(ptr %cond, ptr %lock) {\n  br label %head\n"
		   "head:\n  %a = load i32, ptr @x\n  %b = icmp eq i32 %a, 0\n"
		   "  br i1 %b, label %body, label %end\n"
		   "body:\n  %w = call i32 @pthread_cond_wait(ptr %cond, ptr %lock)\n  br label %head\n"
		   "end:\n  %d = load i32, ptr @x\n  ret void\n}\n",
		   "enter stack read_always(x,1,4) =a =b call(2) =w return =d", "r4l c0-");
}

/* ---- inline assembly ---- */

static void assembler_with_operands_is_atomic(void **state)
{
	(void)state;
	/* an operand that is read and written is listed twice, but accessed once */
	check_atomic(
		"  call void asm sideeffect \"lock; incl $0\", \"=*m,*m,~{memory}\"(ptr elementtype(i32) @x, "
		"ptr elementtype(i32) @x)\n",
		"x", WHAT(1, 4, 5, 1, 1), "atomic_end(x,1,1)", "ax4S");
	check("  call void asm sideeffect \"movl $$1, $0\", \"=*m\"(ptr elementtype(i32) @x)\n",
	      "enter write_range(x,1,4)", "rw0-");
	check("  %a = call i32 asm \"movl $1, $0\", \"=r,*m\"(ptr elementtype(i32) @x)\n",
	      "enter read_range(x,1,4) =a", "rr0-");
	/* a compiler barrier has a site, which analyses use, but no hook */
	check("  call void asm sideeffect \"\", \"~{memory}\"()\n", "", "f0vq");
}

/* ---- C++: stores of virtual tables ---- */

static void destructors_store_the_class_that_is_there(void **state)
{
	(void)state;
	check("  store ptr getelementptr (ptr, ptr @_ZTV1A, i64 2), ptr %p\n", "enter write_range(p,1,?)",
	      "w8-");
}

/* ---- which functions get hooks ---- */

static void some_functions_get_no_hooks(void **state)
{
	static const char *const attributes[] = {"naked", "disable_sanitizer_instrumentation",
						 "\"no_sanitize_thread\"", ""};

	(void)state;
	for (int i = 0; i < 4; i++) {
		char text[256];

		snprintf(text, sizeof text, "define void @f() %s {\n  store i32 1, ptr @x\n  %s\n}\n",
			 attributes[i], i == 0 ? "unreachable" : "ret void");
		check_unit(text, i == 3 ? "enter write4(x,1)" : "", NULL);
	}
}

/* A function with hooks has side effects, so attributes that deny these are dropped. */
static void promises_are_dropped(void **state)
{
	struct instr_jit j = {.options = {.fast = false}};
	LLVMValueRef f;

	(void)state;
	assert_int_equal(
		instr_jit_open(
			&j, RADDLE_FLAVOUR_RECORD,
			"@x = global i32 0\n"
			"define i32 @f() nounwind willreturn nosync nofree memory(read) {\n"
			"  %a = load i32, ptr @x\n  ret i32 %a\n}\n"
			"define i32 @g() {\n  %a = call i32 @f() memory(read) nosync\n  ret i32 %a\n}\n"),
		0);
	assert_int_equal(instr_jit_instrument(&j), 0);
	f = LLVMGetNamedFunction(j.u.module, "f");
	for (int i = 0; i < 4; i++) {
		static const char *const promises[] = {"willreturn", "nosync", "nofree", "memory"};
		unsigned kind = LLVMGetEnumAttributeKindForName(promises[i], strlen(promises[i]));

		assert_null(LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind));
		assert_null(LLVMGetCallSiteEnumAttribute(ir_text_find(j.u.module, "g", "a"),
							 LLVMAttributeFunctionIndex, kind));
	}
	assert_non_null(LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex,
						    LLVMGetEnumAttributeKindForName("nounwind", 8)));
	instr_jit_close(&j);
}

/* The slot of a unit is in the upper half of its sites' numbers. */
static void sites_are_numbered_in_their_slot(void **state)
{
	struct instr_jit j = {.job = {.slot = 3}};
	char *said;

	(void)state;
	assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD,
					"@x = global i32 0\ndefine void @f() {\n  store i32 1, ptr @x\n"
					"  %a = load i32, ptr @x\n  fence seq_cst\n  ret void\n}\n"),
			 0);
	assert_int_equal(instr_jit_instrument(&j), 0);
	said = instr_jit_say(&j, "f");
	assert_string_equal(said, "enter write4(x,196609) =a fence(196610)");
	free(said);
	instr_jit_close(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hook_stands_before_its_access),
		cmocka_unit_test(other_sizes_are_ranges),
		cmocka_unit_test(a_function_without_events_gets_no_hook),
		cmocka_unit_test(flags_tell_volatile_stack_and_thread_local),
		cmocka_unit_test(repeated_accesses_have_one_hook),
		cmocka_unit_test(both_ways_must_agree),
		cmocka_unit_test(atomics_lie_between_two_hooks),
		cmocka_unit_test(fences_have_no_address),
		cmocka_unit_test(atomic_calls_are_atomics),
		cmocka_unit_test(copies_read_and_write),
		cmocka_unit_test(library_functions_access_for_their_callers),
		cmocka_unit_test(descriptors_are_used_and_closed),
		cmocka_unit_test(formats_say_what_is_read),
		cmocka_unit_test(calls_note_their_sites),
		cmocka_unit_test(callees_that_take_the_place_of_their_caller),
		cmocka_unit_test(landing_pads_restore_the_stack),
		cmocka_unit_test(a_private_function_does_not_restore_at_its_end),
		cmocka_unit_test(reads_of_wait_loops_are_recorded_each_time),
		cmocka_unit_test(assembler_with_operands_is_atomic),
		cmocka_unit_test(destructors_store_the_class_that_is_there),
		cmocka_unit_test(some_functions_get_no_hooks),
		cmocka_unit_test(promises_are_dropped),
		cmocka_unit_test(sites_are_numbered_in_their_slot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
