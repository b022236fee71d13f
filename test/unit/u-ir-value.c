/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of queries about values and functions (ir/value.h, ir/effects.h).  For random address
 * computations, the base and offset of a pointer are compared with sums that the test computes.
 * Other tests check whether an address escapes, and whether a call may affect other threads.
 */
#include "base/buf.h"
#include "base/random.h"
#include "ir/effects.h"
#include "ir/value.h"
#include "test/unit/ir-text.h"

#include <stdio.h>
#include <stdlib.h>

static const char head[] =
	"target datalayout = \"e-m:e-i64:64-n8:16:32:64-S128\"\n"
	"%pair = type { i8, i32 }\n%big = type { i16, [3 x %pair], i64 }\n"
	"@g = global [100 x i64] zeroinitializer\n@t = thread_local global [8 x i32] zeroinitializer\n"
	"@sink = global ptr null\n@other_name = alias i64, ptr @g\n"
	"declare void @keep(ptr)\n"
	"declare i64 @strlen(ptr)\ndeclare ptr @llvm.threadlocal.address.p0(ptr)\n"
	"declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
	"declare i32 @pthread_cond_wait(ptr, ptr)\ndeclare i32 @pthread_mutex_lock(ptr)\n"
	"declare i32 @usleep(i32)\ndeclare double @sin(double)\n";

struct unit {
	LLVMContextRef context;
	LLVMModuleRef module;
};

static struct unit parse(const char *functions)
{
	struct unit u = {.context = LLVMContextCreate()};
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_addf(&text, "%s%s", head, functions);
	u.module = ir_text_parse(u.context, text.data);
	rd_buf_release(&text);
	return u;
}

static void release(struct unit *u)
{
	LLVMDisposeModule(u->module);
	LLVMContextDispose(u->context);
}

/* ---- the origin of a pointer ---- */

/* One step of a random address computation: its text, and the bytes that it adds. */
struct step {
	char text[128];
	int64_t bytes;
};

static int pick(struct rd_random *r, int n)
{
	return (int)rd_random_below(r, (uint64_t)n);
}

/* %big is { 0: i16, 4: 3 pairs of 8 bytes (0: i8, 4: i32), 32: i64 } and has 40 bytes. */
static struct step choose_step(struct rd_random *r, int number)
{
	struct step s = {.bytes = 0};
	int i = pick(r, 9) - 4, k = pick(r, 3), field = pick(r, 2);

	switch (pick(r, 6)) {
	case 0:
		s.bytes = i;
		snprintf(s.text, sizeof s.text, "getelementptr i8, ptr %%a%d, i64 %d", number, i);
		break;
	case 1:
		s.bytes = 4 * i;
		snprintf(s.text, sizeof s.text, "getelementptr i32, ptr %%a%d, i32 %d", number, i);
		break;
	case 2:
		s.bytes = 40 * i + (k == 0 ? 0 : k == 1 ? 4 : 32);
		snprintf(s.text, sizeof s.text, "getelementptr %%big, ptr %%a%d, i64 %d, i32 %d", number, i,
			 k);
		break;
	case 3:
		s.bytes = 4 + 8 * k + 4 * field;
		snprintf(s.text, sizeof s.text,
			 "getelementptr %%big, ptr %%a%d, i64 0, i32 1, i64 %d, i32 %d", number, k, field);
		break;
	case 4:
		s.bytes = 8 * 5 * i + 8 * k;
		snprintf(s.text, sizeof s.text, "getelementptr [5 x i64], ptr %%a%d, i64 %d, i64 %d", number,
			 i, k);
		break;
	default: snprintf(s.text, sizeof s.text, "getelementptr i64, ptr %%a%d, i64 0", number);
	}
	return s;
}

/* Follows ir_derive() to the end.  Returns false if an offset on the way is not constant. */
static bool sum_of(LLVMModuleRef module, LLVMValueRef pointer, LLVMValueRef *base, int64_t *sum)
{
	struct ir_derived d;
	bool constant = true;

	*sum = 0;
	while (ir_derive(LLVMGetModuleDataLayout(module), pointer, &d)) {
		constant = constant && d.constant;
		*sum += d.offset;
		pointer = d.from;
	}
	*base = pointer;
	return constant;
}

static void check_chain(uint64_t seed)
{
	struct rd_random r = rd_random_of(seed, 1);
	struct rd_buf text = RD_BUF_INIT;
	int count = 1 + pick(&r, 6);
	int64_t expected = 0, sum;
	char last[16];
	struct unit u;
	LLVMValueRef base;

	rd_buf_adds(&text, "define void @f(ptr %a0) {\n");
	for (int i = 0; i < count; i++) {
		struct step s = choose_step(&r, i);

		rd_buf_addf(&text, "  %%a%d = %s\n", i + 1, s.text);
		expected += s.bytes;
	}
	rd_buf_adds(&text, "  ret void\n}\n");
	u = parse(text.data);
	snprintf(last, sizeof last, "a%d", count);
	if (!sum_of(u.module, ir_text_find(u.module, "f", last), &base, &sum) || sum != expected)
		fail_msg("seed %llu: %lld is said to be %lld\n%s", (unsigned long long)seed,
			 (long long)expected, (long long)sum, text.data);
	assert_ptr_equal(base, ir_text_find(u.module, "f", "a0"));
	assert_ptr_equal(ir_base(ir_text_find(u.module, "f", last)), base);
	release(&u);
	rd_buf_release(&text);
}

static void offsets_of_constant_addresses_add_up(void **state)
{
	(void)state;
	print_message("seeds 1 to 300\n");
	for (uint64_t seed = 1; seed <= 300; seed++)
		check_chain(seed);
}

static void variable_indices_have_a_stride(void **state)
{
	struct unit u = parse("define void @f(ptr %p, i64 %i) {\n"
			      "  %a = getelementptr %big, ptr %p, i64 %i\n"
			      "  %b = getelementptr %big, ptr %p, i64 %i, i32 2\n"
			      "  %c = getelementptr %big, ptr %p, i64 0, i32 1, i64 %i\n"
			      "  %d = getelementptr i8, ptr %p, i64 4\n  ret void\n}\n");
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(u.module);
	struct ir_derived d;

	(void)state;
	assert_true(ir_derive(layout, ir_text_find(u.module, "f", "a"), &d));
	assert_false(d.constant);
	assert_int_equal(d.stride, 40);
	assert_true(ir_derive(layout, ir_text_find(u.module, "f", "b"), &d));
	assert_false(d.constant);
	assert_true(ir_derive(layout, ir_text_find(u.module, "f", "c"), &d));
	assert_false(d.constant);
	assert_true(ir_derive(layout, ir_text_find(u.module, "f", "d"), &d));
	assert_true(d.constant);
	assert_int_equal(d.offset, 4);
	assert_false(ir_derive(layout, ir_text_find(u.module, "f", "p"), &d));
	release(&u);
}

static void bases_are_found_through_aliases_and_thread_local_addresses(void **state)
{
	struct unit u = parse("define void @f(ptr %p, ptr %q, i1 %c) {\n"
			      "  %a = getelementptr i64, ptr @other_name, i64 3\n"
			      "  %l = call ptr @llvm.threadlocal.address.p0(ptr @t)\n"
			      "  %b = getelementptr i32, ptr %l, i64 2\n"
			      "  %s = select i1 %c, ptr %p, ptr %q\n  %m = load ptr, ptr @sink\n"
			      "  %n = getelementptr i8, ptr %m, i64 1\n"
			      "  %x = load i64, ptr getelementptr (i64, ptr @g, i64 7)\n  ret void\n}\n");

	(void)state;
	assert_ptr_equal(ir_base(ir_text_find(u.module, "f", "a")), LLVMGetNamedGlobal(u.module, "g"));
	assert_ptr_equal(ir_base(ir_text_find(u.module, "f", "b")), LLVMGetNamedGlobal(u.module, "t"));
	assert_ptr_equal(ir_base(ir_text_find(u.module, "f", "s")), ir_text_find(u.module, "f", "s"));
	assert_ptr_equal(ir_base(ir_text_find(u.module, "f", "n")), ir_text_find(u.module, "f", "m"));
	assert_ptr_equal(ir_base(LLVMGetOperand(ir_text_find(u.module, "f", "x"), 0)),
			 LLVMGetNamedGlobal(u.module, "g"));
	release(&u);
}

/* All indices of an address are listed in order, with the type of what they count. */
static void indices_of_an_address_in_order(void **state)
{
	struct unit u =
		parse("define void @f(ptr %p, i64 %i) {\n"
		      "  %a = getelementptr %big, ptr %p, i64 %i, i32 1, i64 2, i32 1\n  ret void\n}\n");
	struct ir_gep g = {.gep = ir_text_find(u.module, "f", "a")};
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(u.module);

	(void)state;
	assert_true(ir_gep_next(&g));
	assert_false(g.field);
	assert_int_equal(LLVMABISizeOfType(layout, g.type), 40);
	assert_ptr_equal(g.index, ir_text_find(u.module, "f", "i"));
	assert_int_equal(g.at, 1);
	assert_true(ir_gep_next(&g));
	assert_true(g.field);
	assert_int_equal(LLVMABISizeOfType(layout, g.type), 40);
	assert_true(ir_gep_next(&g));
	assert_false(g.field);
	assert_int_equal(LLVMABISizeOfType(layout, g.type), 8);
	assert_true(ir_gep_next(&g));
	assert_true(g.field);
	assert_int_equal(g.at, 4);
	assert_false(ir_gep_next(&g));
	release(&u);
}

/* ---- addresses that escape ---- */

static bool escapes(const char *uses)
{
	struct unit u;
	struct ir_effects *effects;
	struct rd_buf text = RD_BUF_INIT;
	bool is;

	rd_buf_addf(&text,
		    "define internal void @only_reads(ptr %%p) {\n  %%a = load i8, ptr %%p\n  ret void\n}\n"
		    "define internal void @stores(ptr %%p) {\n  store ptr %%p, ptr @sink\n  ret void\n}\n"
		    "define internal ptr @returns(ptr %%p) {\n  ret ptr %%p\n}\n"
		    "define ptr @f(i1 %%c, ptr %%q) {\n  %%o = alloca [16 x i8]\n%s  ret ptr null\n}\n",
		    uses);
	u = parse(text.data);
	effects = ir_effects_new(u.module);
	is = ir_escapes(ir_text_find(u.module, "f", "o"), ir_effects_harmless, effects);
	ir_effects_free(effects);
	release(&u);
	rd_buf_release(&text);
	return is;
}

static void addresses_escape_where_others_may_learn_them(void **state)
{
	static const struct {
		const char *uses;
		bool escapes;
	} cases[] = {
		{"", false},
		{"  store i8 1, ptr %o\n  %a = load i8, ptr %o\n", false},
		{"  store ptr %o, ptr @sink\n", true},
		{"  store ptr @sink, ptr %o\n", false},
		{"  %a = getelementptr i8, ptr %o, i64 3\n  store ptr %a, ptr %q\n", true},
		{"  %a = getelementptr i8, ptr %o, i64 3\n  store i8 0, ptr %a\n", false},
		{"  call void @keep(ptr %o)\n", true},
		{"  %a = call i64 @strlen(ptr %o)\n", false},
		{"  call void @only_reads(ptr %o)\n", false},
		{"  call void @stores(ptr %o)\n", true},
		{"  %a = ptrtoint ptr %o to i64\n  store i64 %a, ptr @g\n", true},
		{"  %a = icmp eq ptr %o, null\n", false},
		{"  %a = select i1 %c, ptr %o, ptr %q\n  store ptr %a, ptr @sink\n", true},
		{"  call void @llvm.memcpy.p0.p0.i64(ptr %o, ptr %q, i64 8, i1 false)\n", false},
		{"  %a = call ptr @returns(ptr %o)\n  store ptr %a, ptr @sink\n", true},
		{"  call void %q(ptr %o)\n", true},
		{"  %a = cmpxchg ptr @sink, ptr null, ptr %o seq_cst seq_cst\n", true},
		{"  %a = atomicrmw xchg ptr @sink, ptr %o seq_cst\n", true},
		{"  call void asm sideeffect \"\", \"r\"(ptr %o)\n", true},
		{"  br i1 %c, label %y, label %n\ny:\n  br label %n\nn:\n  %a = phi ptr [%o, %0], [%q, %y]\n"
		 "  store ptr %a, ptr @sink\n",
		 true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (escapes(cases[i].uses) != cases[i].escapes)
			fail_msg("%s: %d is wrong", cases[i].uses, !cases[i].escapes);
	assert_true(escapes("  br label %r\nr:\n  ret ptr %o\nx:\n"));
}

/* ---- what calls may do to other threads ---- */

static const char functions[] =
	"define internal void @quiet() {\n  store i64 1, ptr @g\n  ret void\n}\n"
	"define internal void @calls_quiet() {\n  call void @quiet()\n  %a = call double @sin(double 1.0)\n  "
	"ret void\n}\n"
	"define internal void @fenced() {\n  fence seq_cst\n  ret void\n}\n"
	"define internal void @calls_fenced() {\n  call void @quiet()\n  call void @fenced()\n  ret void\n}\n"
	"define internal void @one() {\n  call void @two()\n  ret void\n}\n"
	"define internal void @two() {\n  call void @one()\n  ret void\n}\n"
	"define internal void @waits(ptr %c, ptr %m) {\n  %a = call i32 @pthread_cond_wait(ptr %c, ptr %m)\n "
	" ret void\n}\n"
	"define internal void @calls_waits(ptr %c, ptr %m) {\n  call void @waits(ptr %c, ptr %m)\n  ret "
	"void\n}\n"
	"define weak void @replaceable() {\n  ret void\n}\n"
	"define void @exported() {\n  ret void\n}\n";

static LLVMValueRef first_instruction(LLVMModuleRef module, const char *function)
{
	return LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetNamedFunction(module, function)));
}

static bool synchronises(const char *code)
{
	struct rd_buf text = RD_BUF_INIT;
	struct unit u;
	struct ir_effects *effects;
	bool is;

	rd_buf_addf(&text, "%sdefine void @f(ptr %%p) {\n  %s\n  ret void\n}\n", functions, code);
	u = parse(text.data);
	effects = ir_effects_new(u.module);
	is = ir_effects_synchronises(effects, first_instruction(u.module, "f"));
	ir_effects_free(effects);
	release(&u);
	rd_buf_release(&text);
	return is;
}

static void calls_synchronise_if_something_in_them_may(void **state)
{
	static const char *const quiet[] = {
		"call void @quiet()",
		"call void @calls_quiet()",
		"%a = call double @sin(double 1.0)",
		"%a = call i64 @strlen(ptr %p)",
		"store i64 1, ptr @g",
		"%a = load i64, ptr @g",
		"call void @one()",
		"call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %p, i64 8, i1 false)"};
	static const char *const loud[] = {"call void @fenced()",
					   "call void @calls_fenced()",
					   "fence acquire",
					   "%a = atomicrmw add ptr @g, i64 1 seq_cst",
					   "%a = load atomic i64, ptr @g acquire, align 8",
					   "%a = call i32 @pthread_mutex_lock(ptr %p)",
					   "call void @keep(ptr %p)",
					   "call void %p()",
					   "call void @replaceable()",
					   "%a = cmpxchg ptr @g, i64 0, i64 1 monotonic monotonic"};

	(void)state;
	for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++)
		if (synchronises(quiet[i]))
			fail_msg("%s does not synchronise", quiet[i]);
	for (size_t i = 0; i < sizeof loud / sizeof *loud; i++)
		if (!synchronises(loud[i]))
			fail_msg("%s may synchronise", loud[i]);
}

static void waits_are_found_through_calls(void **state)
{
	struct unit u = parse(functions);
	struct ir_effects *e = ir_effects_new(u.module);

	(void)state;
	assert_true(ir_effects_waits(e, first_instruction(u.module, "waits")));
	assert_true(ir_effects_waits(e, first_instruction(u.module, "calls_waits")));
	assert_false(ir_effects_waits(e, first_instruction(u.module, "calls_quiet")));
	assert_true(ir_effects_has_wait(e, LLVMGetNamedFunction(u.module, "waits")));
	assert_false(ir_effects_has_wait(e, LLVMGetNamedFunction(u.module, "calls_fenced")));
	assert_true(ir_effects_is_quiet(e, "sin"));
	assert_false(ir_effects_is_quiet(e, "pthread_mutex_lock"));
	assert_false(ir_effects_is_final(e, LLVMGetNamedFunction(u.module, "replaceable")));
	assert_true(ir_effects_is_final(e, LLVMGetNamedFunction(u.module, "quiet")));
	ir_effects_free(e);
	release(&u);
}

/* The resolver of an ifunc runs before addresses are known, and so do the functions it calls. */
static void resolvers_and_their_callees_are_early(void **state)
{
	struct unit u =
		parse("@chosen = ifunc void (), ptr @resolve\n"
		      "define internal void @helper() {\n  ret void\n}\n"
		      "define internal void @body() {\n  ret void\n}\n"
		      "define internal ptr @resolve() {\n  call void @helper()\n  ret ptr @body\n}\n");
	struct ir_effects *e = ir_effects_new(u.module);

	(void)state;
	assert_true(ir_effects_is_early(e, LLVMGetNamedFunction(u.module, "resolve")));
	assert_true(ir_effects_is_early(e, LLVMGetNamedFunction(u.module, "helper")));
	assert_false(ir_effects_is_early(e, LLVMGetNamedFunction(u.module, "body")));
	ir_effects_free(e);
	release(&u);
}

/* ---- callees, attributes and control-flow graphs of functions ---- */

static void callees_and_attributes(void **state)
{
	struct unit u = parse("@second = alias void (), ptr @first\n"
			      "define void @first() \"mine\" nounwind {\n  ret void\n}\n"
			      "define void @f(ptr %p) {\n  call void @second()\n  call void %p()\n"
			      "  call void asm \"nop\", \"\"()\n  store ptr @f, ptr @sink\n  ret void\n}\n");
	LLVMValueRef i = first_instruction(u.module, "f");

	(void)state;
	assert_ptr_equal(ir_callee(i), LLVMGetNamedFunction(u.module, "first"));
	i = LLVMGetNextInstruction(i);
	assert_true(ir_is_call(i));
	assert_null(ir_callee(i));
	i = LLVMGetNextInstruction(i);
	assert_true(ir_is_call(i));
	assert_null(ir_callee(i));
	assert_false(ir_is_call(LLVMGetNextInstruction(i)));
	assert_true(ir_has_attribute(LLVMGetNamedFunction(u.module, "first"), "mine"));
	assert_true(ir_has_attribute(LLVMGetNamedFunction(u.module, "first"), "nounwind"));
	assert_false(ir_has_attribute(LLVMGetNamedFunction(u.module, "first"), "noreturn"));
	assert_true(ir_address_taken(LLVMGetNamedFunction(u.module, "f")));
	assert_true(ir_is_external(LLVMGetNamedFunction(u.module, "keep")));
	assert_false(ir_is_external(LLVMGetNamedFunction(u.module, "first")));
	release(&u);
}

/* The graph of a function has its blocks in the order of the text, and the edges of its
 * branches. */
static void graphs_have_the_edges_of_branches(void **state)
{
	struct unit u = parse("define void @f(i32 %x, i1 %c) {\na:\n  br i1 %c, label %b, label %d\n"
			      "b:\n  switch i32 %x, label %d [ i32 0, label %a1 i32 1, label %d ]\n"
			      "a1:\n  br label %b\nd:\n  ret void\ngone:\n  br label %d\n}\n");
	static const char *const edges[] = {"13", "233", "1", "", "3"};
	struct ir_cfg cfg;

	(void)state;
	ir_cfg_init(&cfg, LLVMGetNamedFunction(u.module, "f"));
	assert_int_equal(cfg.graph.nodes, 5);
	assert_int_equal(cfg.graph.reached, 4);
	for (uint32_t b = 0; b < 5; b++) {
		bool expected[5] = {0}, found[5] = {0};

		for (const char *e = edges[b]; *e != '\0'; e++)
			expected[*e - '0'] = true;
		for (uint32_t e = cfg.graph.succ_start[b]; e < cfg.graph.succ_start[b + 1]; e++)
			found[cfg.graph.succ[e]] = true;
		assert_memory_equal(expected, found, sizeof found);
		assert_int_equal(ir_cfg_number(&cfg, cfg.blocks[b]), b);
	}
	ir_cfg_release(&cfg);
	release(&u);
}

static void edges_can_be_redirected(void **state)
{
	struct unit u = parse("define void @f(i32 %x) {\na:\n  switch i32 %x, label %b [ i32 0, label %b i32 "
			      "1, label %c ]\n"
			      "b:\n  ret void\nc:\n  ret void\n}\n");
	LLVMBasicBlockRef a = LLVMGetEntryBasicBlock(LLVMGetNamedFunction(u.module, "f")),
			  b = LLVMGetNextBasicBlock(a), c = LLVMGetNextBasicBlock(b);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(a);

	(void)state;
	ir_redirect(a, b, c);
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		assert_ptr_equal(LLVMGetSuccessor(end, i), c);
	release(&u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_of_constant_addresses_add_up),
		cmocka_unit_test(variable_indices_have_a_stride),
		cmocka_unit_test(bases_are_found_through_aliases_and_thread_local_addresses),
		cmocka_unit_test(indices_of_an_address_in_order),
		cmocka_unit_test(addresses_escape_where_others_may_learn_them),
		cmocka_unit_test(calls_synchronise_if_something_in_them_may),
		cmocka_unit_test(waits_are_found_through_calls),
		cmocka_unit_test(resolvers_and_their_callees_are_early),
		cmocka_unit_test(callees_and_attributes),
		cmocka_unit_test(graphs_have_the_edges_of_branches),
		cmocka_unit_test(edges_can_be_redirected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
