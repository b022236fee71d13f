/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the flavour `track`, which has gates: code at statements that reports what a thread does
 * there.  A small source file is compiled with gates at all instructions.  The test checks the
 * reports to the runtime: the kind and line of each gate, and the value that was read, written,
 * returned or decided.  The expected text comes from the same function in C, with a report after
 * each statement.
 */
#include "base/error.h"
#include "base/process.h"
#include "raddle/track.h"
#include "test/unit/instr-jit.h"

/* The comments are line numbers. */
static const char source[] = "int g, table[4]; double d; void other(int);\n" /* 1 */
			     "static int twice(int n)\n"		     /* 2 */
			     "{\n"
			     "	return 2 * n;\n" /* 4 */
			     "}\n"
			     "int f(int a)\n"
			     "{\n"
			     "	g = a;\n"		 /* 8 */
			     "	if (a > 3)\n"		 /* 9 */
			     "		g = twice(g);\n" /* 10 */
			     "	table[a & 3] = g - 1;\n" /* 11 */
			     "	switch (a) {\n"		 /* 12 */
			     "	case 5:\n"
			     "		other(a);\n" /* 14 */
			     "	}\n"
			     "	__atomic_fetch_add(&g, 7, __ATOMIC_SEQ_CST);\n" /* 16 */
			     "	d = a;\n"					/* 17 */
			     "	return g;\n"					/* 18 */
			     "}\n";

enum { LINES = 20, COLUMNS = 40 };
static const char letters[] = "rwuxbstc";

/* ---- notifications, as text ---- */

static char heard[1024];

static void say(const char *format, ...)
{
	size_t n = strlen(heard);
	va_list list;

	va_start(list, format);
	vsnprintf(heard + n, sizeof heard - n, format, list);
	va_end(list);
}

/* The number of a gate consists of letter, line and column. */
static char letter_of(uint32_t gate)
{
	return letters[gate / (LINES * COLUMNS)];
}

static unsigned line_of(uint32_t gate)
{
	return gate / COLUMNS % LINES;
}

static struct {
	uint32_t gate, what;
	uint64_t value;
	const void *address;
	bool is_open;
} inside[8];
static size_t depth;

static uint64_t hook_enter(const void *address, uint32_t gate, uint32_t what, uint64_t value)
{
	assert_true(depth < 8);
	inside[depth].gate = gate;
	inside[depth].what = what;
	inside[depth].value = value;
	inside[depth].address = address;
	return ++depth;
}

static bool fits(char letter, uint32_t what)
{
	switch (letter) {
	case 'r': return what == RADDLE_TRACK_READ;
	case 'w': return what == RADDLE_TRACK_WRITE;
	case 'u': return what == RADDLE_TRACK_UPDATE;
	default: return what == RADDLE_TRACK_CALL;
	}
}

/* The token is that of the gate that was entered last. */
static void hook_leave(uint64_t token, uint64_t value)
{
	assert_int_equal(token, depth);
	depth--;
	assert_true(fits(letter_of(inside[depth].gate), inside[depth].what >> 8));
	say("%c%u:%u=%lld ", letter_of(inside[depth].gate), line_of(inside[depth].gate),
	    inside[depth].what & 0xff, (long long)value);
}

static void hook_point(uint32_t gate, uint64_t value)
{
	say("%c%u=%lld ", letter_of(gate), line_of(gate), (long long)value);
}

static void *const hooks[HOOK_COUNT] = {
	[HOOK_TRACK_ENTER] = hook_enter,
	[HOOK_TRACK_LEAVE] = hook_leave,
	[HOOK_TRACK_POINT] = hook_point,
};

static void other(int a)
{
	(void)a;
}

/* ---- the same functions in C, with the expected notifications ---- */

static int g, table[4];

static int expect_twice(int n)
{
	say("t4=%d ", 2 * n);
	return 2 * n;
}

static int expect(int a)
{
	double real = a;
	long long bits;

	g = a;
	say("w8:4=%d ", g);
	say("b9=%d ", a > 3);
	if (a > 3) {
		say("r10:4=%d ", g);
		g = expect_twice(g);
		say("c10:4=%d w10:4=%d ", g, g);
	}
	say("r11:4=%d ", g);
	table[a & 3] = g - 1;
	say("w11:4=%lld s12=%lld ", (long long)(uint32_t)(g - 1), (long long)(uint32_t)a);
	if (a == 5)
		say("c14:4=%d ", a);
	say("u16:4=%d ", g); /* the value before the update */
	g += 7;
	memcpy(&bits, &real, sizeof bits);
	say("w17:8=%lld r18:4=%d t18=%d ", bits, g, g);
	return g;
}

/* ---- comparison of runs ---- */

static void name_gates(struct rd_names *gates, const char *path)
{
	for (const char *letter = letters; *letter != '\0'; letter++)
		for (unsigned line = 0; line < LINES; line++)
			for (unsigned column = 0; column < COLUMNS; column++) {
				char name[256];
				int n = snprintf(name, sizeof name, "%c %u %u %s\t%s\t0", *letter, line,
						 column, line < 6 ? "twice" : "f", path);

				rd_names_put(gates, name, (size_t)n);
			}
}

static void compile(const char *path, const char *bitcode)
{
	char *argv[] = {"clang-" RADDLE_LLVM,	"-g",	      "-O1", "-Xclang",
			"-disable-llvm-passes", "-emit-llvm", "-c",  "-o",
			(char *)bitcode,	(char *)path, NULL};
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(source, file);
	fclose(file);
	assert_int_equal(rd_run(argv), 0);
}

static void open_tracked(struct instr_jit *j, struct rd_names *gates)
{
	static const struct instr_jit_symbol others[] = {{"other", other}};
	struct rd_buf path = RD_BUF_INIT, bitcode = RD_BUF_INIT;

	instr_jit_begin(j);
	rd_buf_addf(&path, "%s/unit.c", j->directory);
	rd_buf_addf(&bitcode, "%s/unit.bc", j->directory);
	compile(path.data, bitcode.data);
	name_gates(gates, path.data);
	j->options.gates = gates;
	assert_int_equal(instr_jit_open_file(j, RADDLE_FLAVOUR_TRACK, bitcode.data), 0);
	assert_int_equal(instr_jit_instrument(j), 0);
	assert_int_equal(instr_jit_generate(j), 0);
	instr_jit_load(j, hooks, others, 1);
	rd_buf_release(&path);
	rd_buf_release(&bitcode);
}

/* Values of 32 bits are reported with zero extension, so expect() converts values that may be
 * negative. */
static void gates_tell_what_happens(void **state)
{
	(void)state;
	for (int fast = 0; fast < 2; fast++) {
		struct rd_names gates = {0};
		struct instr_jit j = {.options = {.fast = fast}};
		char expected[sizeof heard];
		int (*f)(int);

		open_tracked(&j, &gates);
		*(void **)&f = instr_jit_find(&j, "f");
		for (int a = 0; a < 8; a++) {
			int result;

			heard[0] = '\0';
			result = expect(a);
			strcpy(expected, heard);
			heard[0] = '\0';
			depth = 0;
			assert_int_equal(f(a), result);
			assert_string_equal(heard, expected);
			assert_int_equal(depth, 0);
		}
		instr_jit_close(&j);
		rd_names_release(&gates);
	}
}

/* Without gates the code is unchanged.  Without a list of gates the unit is refused. */
static void units_without_gates_are_left_alone(void **state)
{
	static const char text[] =
		"@x = global i32 0\ndefine void @f() {\n  store i32 1, ptr @x\n  ret void\n}\n";
	struct rd_names none = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct instr_jit j = {.options = {.gates = i == 0 ? &none : NULL}};
		char *said;

		assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_TRACK, text), 0);
		rd_log_set(rd_log_discard, NULL);
		assert_int_equal(instr_jit_instrument(&j), i == 0 ? 0 : RD_EUSAGE);
		rd_log_set(NULL, NULL);
		said = instr_jit_say(&j, "f");
		assert_string_equal(said, "");
		free(said);
		instr_jit_close(&j);
	}
	rd_names_release(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gates_tell_what_happens),
		cmocka_unit_test(units_without_gates_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
