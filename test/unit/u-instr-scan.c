/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which events the instrumenter finds in a function (instr/scan/).  Each test consists of a
 * module as text, and the expected events.  Letters represent events: r and w for accesses, R and
 * W for ranges, l, s, u and c for atomics, f for a fence, C for a call that may synchronise.  If
 * the size of an access is known, it follows the letter.
 */
#include "instr/scan/event.h"
#include "instr/scan/number.h"

#include "base/alloc.h"
#include "test/unit/ir-text.h"

#include <stdio.h>
#include <stdlib.h>

static const char head[] = "target datalayout = \"e-m:e-i64:64-n8:16:32:64-S128\"\n"
			   "@x = global i32 0\n@y = global i64 0\n@c = constant i32 7\n"
			   "@t = thread_local global i32 0\n"
			   "declare void @other()\n"
			   "declare i32 @pthread_mutex_lock(ptr)\n"
			   "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n";

static char letter_of(const struct instr_event *e)
{
	switch (e->kind) {
	case EVENT_READ: return 'r';
	case EVENT_WRITE: return 'w';
	case EVENT_RANGE_READ: return 'R';
	case EVENT_RANGE_WRITE: return 'W';
	case EVENT_ATOMIC_LOAD: return 'l';
	case EVENT_ATOMIC_STORE: return 's';
	case EVENT_ATOMIC_RMW: return 'u';
	case EVENT_ATOMIC_CAS: return 'c';
	case EVENT_FENCE: return 'f';
	case EVENT_CALL: return 'C';
	default: return '-';
	}
}

static void check_function(const char *functions, const char *name, bool eliminate, const char *expected)
{
	char text[4096], found[256] = "";
	LLVMContextRef context = LLVMContextCreate();
	struct raddle_flavour flavour = {.number = RADDLE_FLAVOUR_RECORD};
	struct instr_options options = {.flavour = &flavour};
	struct instr_unit u = {.options = &options, .context = context};
	struct instr_function f = {.unit = &u};

	snprintf(text, sizeof text, "%s%s", head, functions);
	u.module = ir_text_parse(context, text);
	u.layout = LLVMGetModuleDataLayout(u.module);
	f.effects = ir_effects_new(u.module);
	f.function = LLVMGetNamedFunction(u.module, name);
	instr_find_wait_reads(u.module, f.effects, &f.wait_reads);
	ir_cfg_init(&f.cfg, f.function);
	instr_scan(&f);
	if (eliminate)
		instr_eliminate(&f);
	for (size_t i = 0; i < f.count; i++) {
		const struct instr_event *e = &f.events[i];
		size_t n = strlen(found);

		if (e->kind == EVENT_FORGET || e->flags & EVENT_REDUNDANT)
			continue;
		snprintf(found + n, sizeof found - n, "%s%c%.0llu%s", n ? " " : "", letter_of(e),
			 (unsigned long long)e->size, e->flags & EVENT_WAIT_LOOP ? "!" : "");
	}
	assert_string_equal(found, expected);
	ir_cfg_release(&f.cfg);
	free(f.events);
	RD_UMAP_RELEASE(&f.private_objects, &f.wait_reads);
	ir_effects_free(f.effects);
	LLVMDisposeModule(u.module);
	LLVMContextDispose(context);
}

static void check(const char *body, const char *expected)
{
	char functions[2048];

	snprintf(functions, sizeof functions,
		 "define void @f(ptr %%p, ptr %%q, i64 %%n) {\n%s  ret void\n}\n", body);
	check_function(functions, "f", false, expected);
}

static void shared_memory_counts(void **state)
{
	(void)state;
	check("  %a = load i32, ptr @x\n  store i32 %a, ptr %p\n  store i64 1, ptr @y\n", "r4 w4 w8");
}

static void private_memory_does_not(void **state)
{
	(void)state;
	check("  %v = alloca i32\n  store i32 1, ptr %v\n  %a = load i32, ptr %v\n", "");
	check("  %a = load i32, ptr @c\n", "");
	check("  %v = alloca i32\n  store i32 1, ptr %v\n  store ptr %v, ptr @y\n  %a = load i32, ptr %v\n",
	      "w4 w8 r4");
}

static void atomics_and_fences(void **state)
{
	(void)state;
	check("  %a = load atomic i32, ptr @x acquire, align 4\n"
	      "  store atomic i32 1, ptr @x release, align 4\n"
	      "  %o = atomicrmw add ptr @x, i32 1 seq_cst\n"
	      "  %s = cmpxchg ptr @x, i32 0, i32 1 seq_cst seq_cst\n"
	      "  fence seq_cst\n",
	      "l4 s4 u4 c4 f");
}

static void copies_are_ranges(void **state)
{
	(void)state;
	check("  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 24, i1 false)\n", "R24 W24");
	check("  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)\n", "R W");
}

static void calls_may_synchronise(void **state)
{
	(void)state;
	check("  call void @other()\n", "C");
}

/* An access to the same bytes in the same segment is redundant.  A call that may synchronise ends
 * the segment. */
static void repeated_accesses_are_redundant(void **state)
{
	static const char body[] = "define void @f(ptr %p) {\n"
				   "  store i32 1, ptr @x\n  %a = load i32, ptr @x\n  %b = load i32, ptr %p\n"
				   "  %c = load i32, ptr %p\n  call void @other()\n  %d = load i32, ptr @x\n"
				   "  ret void\n}\n";

	(void)state;
	check_function(body, "f", false, "w4 r4 r4 r4 C r4");
	check_function(body, "f", true, "w4 r4 C r4");
}

/* The same bytes have the same key, wherever their address is computed. */
static void equal_addresses_have_one_key(void **state)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef m = ir_text_parse(context, "define void @f(ptr %p, ptr %q, i64 %i) {\n"
						 "  %a = getelementptr i32, ptr %p, i64 %i\n"
						 "  %b = getelementptr i32, ptr %p, i64 %i\n"
						 "  %c = getelementptr i32, ptr %q, i64 %i\n"
						 "  %d = getelementptr i8, ptr %p, i64 8\n"
						 "  %e = getelementptr i64, ptr %p, i64 1\n"
						 "  %g = getelementptr i8, ptr %p, i64 12\n"
						 "  ret void\n}\n");
	struct instr_numbering *n = instr_numbering_new(LLVMGetModuleDataLayout(m));
	const struct ir_key *keys;
	uint32_t count, d, g;

	(void)state;
#define KEY(name, size) instr_numbering_key(n, ir_text_find(m, "f", name), size)
	assert_int_equal(KEY("a", 4), KEY("b", 4));
	assert_int_not_equal(KEY("a", 4), KEY("c", 4));
	assert_int_not_equal(KEY("a", 4), KEY("a", 8));
	d = KEY("d", 4);
	assert_int_equal(d, KEY("e", 4));
	g = KEY("g", 4);
	assert_int_not_equal(d, g);
#undef KEY
	keys = instr_numbering_keys(n, &count);
	assert_true(d < count && g < count);
	assert_int_equal(keys[d].base, keys[g].base);
	assert_int_equal(keys[g].offset - keys[d].offset, 4);
	assert_int_equal(keys[d].size, 4);
	instr_numbering_free(n);
	LLVMDisposeModule(m);
	LLVMContextDispose(context);
}

static bool is_counter(const char *others, const char *update)
{
	char text[1024];
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef m;
	bool is;

	snprintf(text, sizeof text,
		 "@n = global i32 0\n@m = thread_local global i32 0\n@sink = global ptr null\n"
		 "define i32 @f(ptr %%p) {\n%s  %%u = %s\n  ret i32 0\n}\n",
		 others, update);
	m = ir_text_parse(context, text);
	is = instr_is_counter(ir_text_find(m, "f", "u"));
	LLVMDisposeModule(m);
	LLVMContextDispose(context);
	return is;
}

static void counters_order_no_thread(void **state)
{
	(void)state;
	assert_true(is_counter("", "atomicrmw add ptr @n, i32 1 monotonic"));
	assert_true(is_counter("  %l = load i32, ptr @n\n", "atomicrmw add ptr @n, i32 1 monotonic"));
	assert_false(is_counter("", "atomicrmw add ptr @n, i32 1 acq_rel"));
	assert_false(is_counter("", "atomicrmw add ptr %p, i32 1 monotonic"));
	assert_false(is_counter("", "atomicrmw add ptr @m, i32 1 monotonic"));
	assert_false(is_counter("  store atomic i32 1, ptr @n release, align 4\n",
				"atomicrmw add ptr @n, i32 1 monotonic"));
	assert_false(is_counter("  store ptr @n, ptr @sink\n", "atomicrmw add ptr @n, i32 1 monotonic"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_memory_counts),
		cmocka_unit_test(private_memory_does_not),
		cmocka_unit_test(atomics_and_fences),
		cmocka_unit_test(copies_are_ranges),
		cmocka_unit_test(calls_may_synchronise),
		cmocka_unit_test(repeated_accesses_are_redundant),
		cmocka_unit_test(equal_addresses_have_one_key),
		cmocka_unit_test(counters_order_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
