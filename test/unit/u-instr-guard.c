/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the flavour `guard` with an interpreter, on random programs.  Some accesses have
 * guards, and some of the guards have a flag.  The test sets the bytes of regions (functions or
 * loops with guards) as an agent would, according to the table in the code.  The runtime must be
 * notified of each access whose guard has a flag, in order, with address, size and number, and of
 * no other access.  The results of the program must be the same, whichever copies of the functions
 * run.
 */
#include "base/error.h"
#include "instr/guard/guards.h"
#include "raddle/guard.h"
#include "test/unit/instr-program.h"

enum { MAX_SITES = 2 * MAX_NODES + 2 };

static uint8_t flags[MAX_SITES];

/* ---- hooks that receive the notifications ---- */

static void hook_test(const void *p, uint32_t guard, uint64_t size)
{
	assert_true(guard < MAX_SITES);
	if (flags[guard])
		hear('g', p, size, guard);
}

static void hook_outside(uint32_t leaving)
{
	(void)leaving;
}

static void *const hooks[HOOK_COUNT] = {
	[HOOK_GUARD_TEST] = hook_test,
	[HOOK_GUARD_OUTSIDE] = hook_outside,
};

static void nothing(void)
{
}

/* ---- random programs, run with hooks and interpreted ---- */

/* Gives guards to about half of the sites, numbered in random order. */
static char *choose_guards(struct rd_random *r, int sites, int *guard_of)
{
	struct rd_buf text = RD_BUF_INIT;
	int count = 0;

	rd_buf_adds(&text, RADDLE_GUARD_TITLE "0\nx sync\n");
	for (int i = 0; i <= sites; i++)
		guard_of[i] = -1;
	for (int i = 0; i < sites; i++) {
		int site = 1 + pick(r, sites);

		if (guard_of[site] >= 0)
			continue;
		guard_of[site] = count++;
		rd_buf_addf(&text, "a %d\n", site);
	}
	return text.data;
}

/* Reads the lines "GUARD REGION" from the code, and sets the byte of each region that has a guard
 * with a flag. */
static void wake_regions(const char *carried, uint8_t *regions)
{
	const char *at = strstr(carried, RADDLE_GUARD_REGIONS);

	memset(regions, 0, RADDLE_GUARDS);
	while (at != NULL && (at = strstr(at, ".ascii \"")) != NULL) {
		unsigned guard, region;

		at += strlen(".ascii \"");
		assert_int_equal(sscanf(at, "%u %u", &guard, &region), 2);
		assert_true(guard < MAX_SITES && region < RADDLE_GUARDS);
		if (flags[guard])
			regions[region] = 1;
	}
}

/* Reduces the interpreter's journal to the accesses that guards must report. */
static void keep_flagged(struct journal *j, const int *guard_of)
{
	int kept = 0;

	for (int i = 0; i < j->count; i++) {
		struct event e = j->items[i];
		int guard = e.kind == 's' ? -1 : guard_of[e.site];

		if (guard < 0 || !flags[guard])
			continue;
		e.kind = 'g';
		e.site = guard;
		j->items[kept++] = e;
	}
	j->count = kept;
}

struct guarded {
	struct instr_jit jit;
	struct program program;
	int top, guard_of[MAX_SITES];
	char *carried; /* the module's inline assembly */
	bool has_regions;
	uint64_t seed;
};

static int reported; /* by all runs; the test fails if there were too few */

static void check_run(struct guarded *g, int64_t n)
{
	static struct twin t;
	const char *wrong;

	t = (struct twin){.p = &g->program, .n = n};
	run_nodes(&t, 0, g->top);
	if (t.journal.full)
		return;
	if (g->has_regions)
		wake_regions(g->carried, instr_jit_variable(&g->jit, "__raddle_guard_regions"));
	run_it(&g->jit, n);
	keep_flagged(&t.journal, g->guard_of);
	wrong = has_same_result(&t) ? compare_events(&t.journal, &heard) : "another result";
	reported += heard.count;
	if (wrong != NULL)
		fail_msg("seed %llu, %s, n = %lld: %s\n%s", (unsigned long long)g->seed,
			 g->jit.options.fast ? "fast" : "quick", (long long)n, wrong,
			 text_of(&g->program, g->top));
}

/* Defines the bytes of the regions in the module.  In a program, the runtime defines them. */
static void define_regions(struct guarded *g)
{
	LLVMValueRef bytes = LLVMGetNamedGlobal(g->jit.u.module, "__raddle_guard_regions");

	g->has_regions = bytes != NULL;
	if (bytes == NULL)
		return;
	LLVMSetInitializer(bytes, LLVMConstNull(LLVMGlobalGetValueType(bytes)));
	LLVMSetVisibility(bytes, LLVMDefaultVisibility);
}

/* Runs the program without flags, with all flags, and with random flags. */
static void run_with_flags(struct guarded *g, struct rd_random *r)
{
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < MAX_SITES; i++)
			flags[i] = round == 0 ? 0 : round == 1 ? 1 : pick(r, 3) == 0;
		check_run(g, pick(r, 8));
	}
}

static void check_program(uint64_t seed, bool fast)
{
	static const struct instr_jit_symbol others[] = {{"sync", nothing}};
	struct rd_random r = rd_random_of(seed, 1);
	struct guarded g = {.seed = seed, .jit = {.options = {.fast = fast, .keep_redundant = true}}};
	struct instr_guards guards;
	int loops[MAX_DEPTH];
	char *text, *file;
	size_t length;

	g.top = add_nodes(&g.program, &r, 2 + pick(&r, 4), loops, 0);
	text = text_of(&g.program, g.top);
	file = choose_guards(&r, MAX_SITES - 1, g.guard_of);
	assert_int_equal(instr_guards_parse(&guards, file, "guards"), 0);
	g.jit.options.guards = &guards;
	assert_int_equal(instr_jit_open(&g.jit, RADDLE_FLAVOUR_GUARD, text), 0);
	assert_int_equal(instr_jit_instrument(&g.jit), 0);
	assert_int_equal(instr_jit_generate(&g.jit), 0);
	g.carried = rd_xstrdup(LLVMGetModuleInlineAsm(g.jit.u.module, &length));
	define_regions(&g);
	instr_jit_load(&g.jit, hooks, others, 1);
	run_with_flags(&g, &r);
	instr_jit_close(&g.jit);
	instr_guards_release(&guards);
	free(g.carried);
	free(file);
	free(text);
}

static void guards_with_flags_report_their_accesses(void **state)
{
	const char *given = getenv("SEED");
	uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;
	uint64_t count = given != NULL ? 1 : getenv("RADDLE_LONG") != NULL ? 200 : 40;

	(void)state;
	print_message("seeds %llu to %llu\n", (unsigned long long)first,
		      (unsigned long long)(first + count - 1));
	for (uint64_t seed = first; seed < first + count; seed++) {
		check_program(seed, true);
		if (seed % 4 == 0)
			check_program(seed, false);
	}
	assert_true(given != NULL || reported > 1000);
}

/* ---- long loops, which are split ---- */

static uint64_t rounds;

static void hook_count(const void *p, uint32_t guard, uint64_t size)
{
	(void)p;
	(void)guard;
	assert_int_equal(size, 4);
	rounds++;
}

/* The instrumenter splits a counting loop into pieces, and tests the byte of the region between
 * the pieces.  For every length of the loop, each iteration must run once, and must be reported
 * once if the byte is set. */
static void check_length(struct instr_jit *j, uint32_t length, uint32_t step)
{
	uint8_t *regions = instr_jit_variable(j, "__raddle_guard_regions");
	uint32_t *sum = instr_jit_variable(j, "x"), done = length == 0 ? 1 : (length + step - 1) / step;
	void (*f)(uint32_t);

	*(void **)&f = instr_jit_find(j, "f");
	for (int awake = 0; awake < 2; awake++) {
		memset(regions, awake, RADDLE_GUARDS);
		*sum = 0;
		rounds = 0;
		f(length);
		assert_int_equal(*sum, done);
		assert_int_equal(rounds, awake ? done : 0);
	}
}

static void check_long_loop(uint32_t step)
{
	static const uint32_t lengths[] = {0,	   1,	   2,	   65535,   65536,  65537,
					   131072, 131073, 200001, 1050000, 1048576};
	static void *const count_hooks[HOOK_COUNT] = {[HOOK_GUARD_TEST] = hook_count};
	struct guarded g = {.jit = {.options = {.fast = true}}};
	struct instr_guards guards;
	char text[512];

	assert_int_equal(instr_guards_parse(&guards, RADDLE_GUARD_TITLE "0\na 1\n", "guards"), 0);
	g.jit.options.guards = &guards;
	snprintf(text, sizeof text,
		 "@x = global i32 0\n@y = global i32 0\ndefine void @f(i32 %%n) {\n  br label %%h\n"
		 "h:\n  %%i = phi i32 [0, %%0], [%%j, %%h]\n"
		 "  %%a = load i32, ptr @x\n  %%b = add i32 %%a, 1\n  store i32 %%b, ptr @x\n"
		 "  %%j = add nuw nsw i32 %%i, %u\n  %%t = icmp ult i32 %%j, %%n\n"
		 "  br i1 %%t, label %%h, label %%e\ne:\n  ret void\n}\n",
		 step);
	assert_int_equal(instr_jit_open(&g.jit, RADDLE_FLAVOUR_GUARD, text), 0);
	assert_int_equal(instr_jit_instrument(&g.jit), 0);
	assert_int_equal(instr_jit_generate(&g.jit), 0);
	define_regions(&g);
	assert_true(g.has_regions);
	instr_jit_load(&g.jit, count_hooks, NULL, 0);
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		check_length(&g.jit, lengths[i], step);
	instr_jit_close(&g.jit);
	instr_guards_release(&guards);
}

static void long_loops_do_each_round_once(void **state)
{
	(void)state;
	for (uint32_t step = 1; step <= 3; step++)
		check_long_loop(step);
}

/* ---- the file that lists the guards ---- */

static void check_file(const char *lines, int code, int guards)
{
	struct instr_guards g;
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_addf(&text, RADDLE_GUARD_TITLE "0123\n%s", lines);
	assert_int_equal(instr_guards_parse(&g, text.data, "file"), code);
	if (code == 0)
		assert_int_equal(g.sites.count, guards);
	instr_guards_release(&g);
	rd_buf_release(&text);
}

static void files_of_guards_are_checked(void **state)
{
	struct instr_guards g;

	(void)state;
	check_file("", 0, 0);
	check_file("a 17\na 4\nc 0123 0 1\nx frobnicate\n", 0, 2);
	check_file("a 17", 0, 1);
	check_file("a 17 4\n", RD_EFORMAT, 0);
	check_file("a x\n", RD_EFORMAT, 0);
	check_file("b 1\n", RD_EFORMAT, 0);
	assert_int_equal(instr_guards_parse(&g, "raddle-guard 1 0123\n", "file"), RD_EFORMAT);
	instr_guards_release(&g);
}

/* Guards have the numbers of their lines.  External functions (x) are left out of the program's
 * table. */
static void guards_are_numbered_by_their_lines(void **state)
{
	static const char text[] = RADDLE_GUARD_TITLE "0\na 9\nx one\na 5\nc 77 0 1\nx two\n";
	struct instr_guards g;
	uint32_t number;

	(void)state;
	assert_int_equal(instr_guards_parse(&g, text, "file"), 0);
	assert_int_equal(*rd_umap_get(&g.sites, 9), 0);
	assert_int_equal(*rd_umap_get(&g.sites, 5), 1);
	assert_null(rd_umap_get(&g.sites, 77));
	assert_true(rd_names_find(&g.outside, "one", 3, &number));
	assert_true(rd_names_find(&g.outside, "two", 3, &number));
	assert_false(rd_names_find(&g.outside, "tw", 2, &number));
	assert_string_equal(g.table.data, RADDLE_GUARD_TITLE "0\na 9\na 5\nc 77 0 1\n");
	instr_guards_release(&g);
}

/* ---- synchronisation that is reported ---- */

struct order {
	const char *code;
	const char *heard; /* what is reported, as hook_atomic() and hook_leave() write it */
};

static char ordered[64];

static void hook_atomic(const void *p, uint32_t what)
{
	size_t n = strlen(ordered);

	snprintf(ordered + n, sizeof ordered - n, "%s%u%s", n ? " " : "", what, p != NULL ? "" : "-");
}

static void hook_leave(uint32_t leaving)
{
	size_t n = strlen(ordered);

	snprintf(ordered + n, sizeof ordered - n, "%s%s", n ? " " : "", leaving ? "out" : "in");
}

/* Checks what is reported for a body whose accesses have no guards. */
static void check_order(const char *body, const char *expected)
{
	static const struct instr_jit_symbol others[] = {{"known", nothing}, {"unknown", nothing}};
	static void *const order_hooks[HOOK_COUNT] = {
		[HOOK_GUARD_ATOMIC] = hook_atomic,
		[HOOK_GUARD_OUTSIDE] = hook_leave,
	};

	for (int fast = 0; fast < 2; fast++) {
		struct instr_jit j = {.options = {.fast = fast}};
		struct instr_guards guards;
		struct rd_buf text = RD_BUF_INIT;
		void (*f)(void);

		assert_int_equal(instr_guards_parse(&guards, RADDLE_GUARD_TITLE "0\nx unknown\n", "guards"),
				 0);
		j.options.guards = &guards;
		rd_buf_addf(&text,
			    "@x = global i32 0\ndeclare void @known()\ndeclare void @unknown()\n"
			    "define void @f() {\n%s  ret void\n}\n",
			    body);
		assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_GUARD, text.data), 0);
		assert_int_equal(instr_jit_instrument(&j), 0);
		assert_int_equal(instr_jit_generate(&j), 0);
		instr_jit_load(&j, order_hooks, others, 2);
		*(void **)&f = instr_jit_find(&j, "f");
		ordered[0] = '\0';
		f();
		assert_string_equal(ordered, expected);
		instr_jit_close(&j);
		instr_guards_release(&guards);
		rd_buf_release(&text);
	}
}

static char *number(char *out, uint32_t what, const char *rest)
{
	sprintf(out, "%u%s", what, rest);
	return out;
}

static void synchronisation_is_reported(void **state)
{
	char a[32], b[32], both[72];

	(void)state;
	check_order("  store i32 1, ptr @x\n  call void @known()\n", "");
	check_order("  call void @unknown()\n", "out in");
	check_order("  store atomic i32 1, ptr @x release, align 4\n", number(a, RADDLE_GUARD_RELEASE, ""));
	check_order("  store atomic i32 1, ptr @x monotonic, align 4\n",
		    number(a, RADDLE_GUARD_RELAXED_STORE, ""));
	check_order("  %a = load atomic i32, ptr @x acquire, align 4\n", number(a, RADDLE_GUARD_ACQUIRE, ""));
	check_order("  %a = load atomic i32, ptr @x monotonic, align 4\n",
		    number(a, RADDLE_GUARD_RELAXED_LOAD, ""));
	check_order("  fence acquire\n", number(a, RADDLE_GUARD_FENCE | RADDLE_GUARD_ACQUIRE, "-"));
	check_order("  fence seq_cst\n",
		    number(a, RADDLE_GUARD_FENCE | RADDLE_GUARD_ACQUIRE | RADDLE_GUARD_RELEASE, "-"));
	/* an update releases before it and acquires after it, if its memory order does */
	snprintf(both, sizeof both, "%s %s", number(a, RADDLE_GUARD_RELEASE, ""),
		 number(b, RADDLE_GUARD_ACQUIRE, ""));
	check_order("  %a = atomicrmw add ptr @x, i32 1 seq_cst\n", both);
	snprintf(both, sizeof both, "%s %s", number(a, RADDLE_GUARD_RELEASE, ""),
		 number(b, RADDLE_GUARD_RELAXED_LOAD, ""));
	check_order("  %a = atomicrmw add ptr @x, i32 1 release\n", both);
	/* assembly counts as a call of unknown code, unless it is a fence */
	check_order("  call void asm sideeffect \"# something\", \"~{memory}\"()\n", "out in");
	check_order("  call void asm sideeffect \"mfence\", \"~{memory}\"()\n", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guards_with_flags_report_their_accesses),
		cmocka_unit_test(long_loops_do_each_round_once),
		cmocka_unit_test(files_of_guards_are_checked),
		cmocka_unit_test(guards_are_numbered_by_their_lines),
		cmocka_unit_test(synchronisation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
