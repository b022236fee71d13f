/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares predicates (expressions that must be true at a line) with the C compiler.  A source
 * file computes random expressions.  For each of them, the same expression is also a predicate on
 * the following line.  Whenever a thread reaches that line, both values must agree.  Variables
 * have all arithmetic types.  They are local and global, and may be bit-fields, members, elements
 * and targets of pointers.
 */
#include "base/edit.h"
#include "base/error.h"
#include "base/process.h"
#include "base/random.h"
#include "test/unit/instr-jit.h"

enum { PREDICATES = 30, ROUNDS = 6 };

/* ---- random expressions ---- */

struct text {
	struct rd_buf out;
	struct rd_random random;
};

static int pick(struct text *t, int n)
{
	return (int)rd_random_below(&t->random, (uint64_t)n);
}

#define SAY(...) rd_buf_addf(&t->out, __VA_ARGS__)

static void say_leaf(struct text *t)
{
	static const char *const names[] = {
		"c",	   "uc",	"s",	 "us",	    "i",       "u",    "l",	      "ul",
		"gi",	   "gu",	"gl",	 "*p",	    "p[1]",    "a[2]", "a[i & 3]",    "m[1][2]",
		"st.x",	   "st.b",	"st.sb", "st.wide", "st.in.y", "q->x", "q->b",	      "q->sb",
		"q->in.y", "(*q).wide", "gs.b",	 "gs.full", "RED",     "BLUE", "q->bytes[3]", "flag",
	};

	switch (pick(t, 6)) {
	case 0: SAY("%d", pick(t, 10)); break;
	case 1: SAY("%s", pick(t, 2) ? "4000000000" : pick(t, 2) ? "70000u" : "0x7fffffffl"); break;
	default: SAY("%s", names[pick(t, sizeof names / sizeof *names)]);
	}
}

static void say_real(struct text *t, int depth)
{
	static const char *const names[] = {"f",    "d",   "gf",       "gd",	   "st.r",
					    "q->r", "1.5", "(float)i", "(double)l"};

	if (depth == 0 || pick(t, 3) == 0) {
		SAY("%s", names[pick(t, sizeof names / sizeof *names)]);
		return;
	}
	SAY("(");
	say_real(t, depth - 1);
	SAY(" %c ", "+-*"[pick(t, 3)]);
	if (pick(t, 4))
		say_real(t, depth - 1);
	else
		say_leaf(t);
	SAY(")");
}

static void say_integer(struct text *t, int depth)
{
	static const char *const plain[] = {
		"+", "-", "*", "&", "|", "^", "==", "!=", "<", ">", "<=", ">=", "&&", "||"};
	static const char *const types[] = {"char",	      "unsigned char", "short",
					    "unsigned short", "int",	       "unsigned",
					    "long",	      "unsigned long", "_Bool"};
	int kind = pick(t, 16);

	if (depth == 0 || kind == 0) {
		say_leaf(t);
		return;
	}
	SAY("(");
	if (kind < 9) {
		say_integer(t, depth - 1);
		SAY(" %s ", plain[pick(t, 14)]);
		say_integer(t, depth - 1);
	} else if (kind == 9) {
		say_integer(t, depth - 1);
		SAY(" %s ((", pick(t, 2) ? "/" : "%");
		say_integer(t, depth - 1);
		SAY(" & 7) + 1)");
	} else if (kind == 10) {
		say_integer(t, depth - 1);
		SAY(" %s (", pick(t, 2) ? "<<" : ">>");
		say_integer(t, depth - 1);
		SAY(" & 7)");
	} else if (kind == 11) {
		SAY("%c", "-~!+"[pick(t, 4)]);
		say_integer(t, depth - 1);
	} else if (kind == 12) {
		SAY("(%s)", types[pick(t, 9)]);
		say_integer(t, depth - 1);
	} else if (kind < 15) {
		say_integer(t, depth - 1);
		SAY(" ? ");
		say_integer(t, depth - 1);
		SAY(" : ");
		say_integer(t, depth - 1);
	} else {
		say_real(t, 2);
		SAY(" %s ", plain[6 + pick(t, 6)]);
		say_real(t, 2);
	}
	SAY(")");
}

static char *expression(uint64_t seed, int number)
{
	struct text t = {.out = RD_BUF_INIT, .random = rd_random_of(seed, (uint64_t)number)};

	say_integer(&t, 3);
	return t.out.data;
}

/* ---- the source file with expressions and predicates ---- */

static const char start[] =
	"enum colour { RED = -3, GREEN, BLUE = 1000 };\n"
	"struct inner { short y; };\n"
	"struct whole { int x; unsigned b : 3; signed sb : 5; unsigned long wide : 40; unsigned full : 32;\n"
	"	struct inner in; float r; unsigned char bytes[4]; };\n"
	"int gi; unsigned gu; long gl; float gf; double gd; struct whole gs; enum colour colour; int "
	"expected;\n"
	"void computed(int number, int value); unsigned long next(void);\n"
	"void f(char c, unsigned char uc, short s, unsigned short us, int i, unsigned u, long l, unsigned "
	"long ul)\n"
	"{\n"
	"	float f = (float)(int)(next() & 1023) / 7; double d = (double)(int)(next() & 255) / 3; _Bool "
	"flag = next() & 1;\n"
	"	int a[4] = {(int)next(), i, -i, 3}, m[2][3] = {{1, 2, 3}, {i, s, c}}, *p = &a[1];\n"
	"	struct whole st = {i, next(), next(), next(), next(), {s}, f * 2, {1, 2, uc, 200}}, *q = "
	"&gs;\n"
	"	gs = st; gs.x = (int)next(); gs.b = next(); gs.sb = next(); gs.bytes[3] = next();\n"
	"	gi = (int)next(); gu = (unsigned)next(); gl = (long)next(); gf = f + 1; gd = d - 1; colour = "
	"GREEN;\n";

/* Writes each expression on a separate line.  The next line is that of its predicate. */
static void write_source(const char *path, struct rd_edits *edits, uint64_t seed)
{
	struct rd_buf source = RD_BUF_INIT, wanted = RD_BUF_INIT;
	FILE *file = fopen(path, "w");
	int line = 1;

	rd_buf_adds(&source, start);
	for (const char *at = start; *at != '\0'; at++)
		line += *at == '\n';
	for (int i = 0; i < PREDICATES; i++) {
		char *text = expression(seed, i);

		rd_buf_addf(&source, "	computed(%d, !!(%s));\n	expected++;\n", i, text);
		rd_buf_clear(&wanted);
		rd_buf_addf(&wanted, "%s @ unit.c:%d", text, line + 1);
		assert_int_equal(rd_edits_require(edits, wanted.data), 0);
		line += 2;
		free(text);
	}
	rd_buf_adds(&source, "}\n");
	assert_non_null(file);
	fputs(source.data, file);
	fclose(file);
	rd_buf_release(&source);
	rd_buf_release(&wanted);
}

static void compile(const char *source, const char *bitcode)
{
	char *argv[] = {
		"clang-" RADDLE_LLVM, "-g", "-O1", "-Xclang",	    "-disable-llvm-passes", "-fwrapv", "-w",
		"-emit-llvm",	      "-c", "-o",  (char *)bitcode, (char *)source,	    NULL};

	assert_int_equal(rd_run(argv), 0);
}

/* ---- runs with random values ---- */

static struct rd_random values;
static int computed_values[PREDICATES], checked;
static uint64_t seed_now;

/* Returns a small number, a number at the end of a type's range, or any number. */
static unsigned long next(void)
{
	static const unsigned long ends[] = {0x7f,   0x80,	 0xff,	     0x7fff,	0x8000,
					     0xffff, 0x7fffffff, 0x80000000, 0xffffffff};

	switch (rd_random_below(&values, 4)) {
	case 0: return ends[rd_random_below(&values, sizeof ends / sizeof *ends)];
	case 1: return rd_random_next(&values);
	default: return rd_random_below(&values, 16) - 5;
	}
}

static void computed(int number, int value)
{
	computed_values[number] = value;
}

static void require(uint32_t number, uint32_t holds)
{
	assert_true(number < PREDICATES);
	checked++;
	if ((int)holds != computed_values[number])
		fail_msg("seed %llu: %s is %d, the predicate says %u", (unsigned long long)seed_now,
			 expression(seed_now, (int)number), computed_values[number], holds);
}

static void peek(uint32_t number, void *to, const void *from, uint64_t size)
{
	assert_true(number < PREDICATES);
	memcpy(to, from, size);
}

static uint64_t divisor(uint32_t number, uint64_t value)
{
	assert_true(number < PREDICATES);
	return value;
}

static void *nothing(void)
{
	return &values;
}

typedef void function_fn(char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long);

static void run(struct instr_jit *j)
{
	function_fn *f;

	*(void **)&f = instr_jit_find(j, "f");
	for (int i = 0; i < ROUNDS; i++) {
		checked = 0;
		f((char)next(), (unsigned char)next(), (short)next(), (unsigned short)next(), (int)next(),
		  (unsigned)next(), (long)next(), next());
		assert_int_equal(checked, PREDICATES);
	}
}

static void check_seed(uint64_t seed)
{
	static const struct instr_jit_symbol others[] = {
		{"__raddle_require", require}, {"__raddle_peek", peek}, {"__raddle_divisor", divisor},
		{"computed", computed},	       {"next", next},
	};
	void *hooks[HOOK_COUNT];
	struct rd_edits edits = {.count = 0};
	struct instr_jit j = {.options = {.edits = &edits}};
	struct rd_buf source = RD_BUF_INIT, bitcode = RD_BUF_INIT;

	for (int i = 0; i < HOOK_COUNT; i++)
		hooks[i] = nothing;
	seed_now = seed;
	values = rd_random_of(seed, 1000);
	instr_jit_begin(&j);
	rd_buf_addf(&source, "%s/unit.c", j.directory);
	rd_buf_addf(&bitcode, "%s/unit.bc", j.directory);
	write_source(source.data, &edits, seed);
	compile(source.data, bitcode.data);
	assert_int_equal(instr_jit_open_file(&j, RADDLE_FLAVOUR_RECORD, bitcode.data), 0);
	assert_int_equal(instr_jit_instrument(&j), 0);
	assert_int_equal(instr_jit_generate(&j), 0);
	instr_jit_load(&j, hooks, others, sizeof others / sizeof *others);
	run(&j);
	instr_jit_close(&j);
	rd_edits_release(&edits);
	rd_buf_release(&source);
	rd_buf_release(&bitcode);
}

static void predicates_are_expressions_of_c(void **state)
{
	const char *given = getenv("SEED");
	uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;
	uint64_t count = given != NULL ? 1 : getenv("RADDLE_LONG") != NULL ? 40 : 6;

	(void)state;
	print_message("seeds %llu to %llu\n", (unsigned long long)first,
		      (unsigned long long)(first + count - 1));
	for (uint64_t seed = first; seed < first + count; seed++)
		check_seed(seed);
}

/* ---- predicates that cannot be evaluated ---- */

static char message[256];

static void keep_message(void *data, enum rd_level level, const char *text)
{
	(void)data;
	(void)level;
	snprintf(message, sizeof message, "%s", text);
}

static void check_refused(const char *expression_text, const char *why)
{
	static const char source[] = "struct s { int x; }; struct s st; int a[2][2], *p; double d;\n"
				     "int f(int i)\n{\n	return i + st.x + a[0][0] + *p + (int)d;\n}\n";
	struct rd_edits edits = {.count = 0};
	struct instr_jit j = {.options = {.edits = &edits}};
	struct rd_buf path = RD_BUF_INIT, bitcode = RD_BUF_INIT, wanted = RD_BUF_INIT;
	FILE *file;

	instr_jit_begin(&j);
	rd_buf_addf(&path, "%s/unit.c", j.directory);
	rd_buf_addf(&bitcode, "%s/unit.bc", j.directory);
	rd_buf_addf(&wanted, "%s @ unit.c:4", expression_text);
	assert_int_equal(rd_edits_require(&edits, wanted.data), 0);
	file = fopen(path.data, "w");
	assert_non_null(file);
	fputs(source, file);
	fclose(file);
	compile(path.data, bitcode.data);
	assert_int_equal(instr_jit_open_file(&j, RADDLE_FLAVOUR_RECORD, bitcode.data),
			 why != NULL ? RD_EUSAGE : 0);
	if (why != NULL)
		assert_non_null(strstr(message, why));
	instr_jit_close(&j);
	rd_edits_release(&edits);
	rd_buf_release(&path);
	rd_buf_release(&bitcode);
	rd_buf_release(&wanted);
}

static void what_has_no_value_is_refused(void **state)
{
	(void)state;
	rd_log_set(keep_message, NULL);
	check_refused("i > 0 && st.x == *p", NULL);
	check_refused("st > 1", "structure");
	check_refused("a == 0", "array of arrays");
	check_refused("nobody > 1", "no variable 'nobody'");
	check_refused("st.y > 1", "no member 'y'");
	check_refused("*i > 1", "pointer");
	check_refused("d % 2 == 1", "number");
	check_refused("p * 2 == p", "does not fit pointers");
	check_refused("p[d] == 0", "not an integer");
	rd_log_set(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(predicates_are_expressions_of_c),
		cmocka_unit_test(what_has_no_value_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
