// SPDX-License-Identifier: Apache-2.0
/* Unit tests of bitcode/args.h: compiler command lines, and what they request. */
#include "base/alloc.h"
#include "base/file.h"
#include "bitcode/args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Splits `line` at blanks and parses it. */
static void parse(struct bitcode_args *a, const char *line)
{
	char *copy = rd_xasprintf("cc %s", line), *words[64], *save = NULL;
	int count = 0;

	for (char *w = strtok_r(copy, " ", &save); w && count < 63; w = strtok_r(NULL, " ", &save))
		words[count++] = w;
	words[count] = NULL;
	bitcode_args_parse(a, count, words);
	free(copy);
}

static void phases(void **state)
{
	static const struct {
		const char *line;
		enum bitcode_phase phase;
		size_t sources, inputs;
	} cases[] = {
		{"a.c", BITCODE_LINK, 1, 1},
		{"-c a.c b.c", BITCODE_COMPILE, 2, 2},
		{"-S a.c -o a.s", BITCODE_ASSEMBLY, 1, 1},
		{"-S a.c -o -", BITCODE_PASS, 1, 1},
		{"-c -S a.c", BITCODE_ASSEMBLY, 1, 1},
		{"-E -c a.c", BITCODE_PASS, 1, 1},
		{"-MM a.c", BITCODE_PASS, 1, 1},
		{"-MMD -MF a.d -c a.c", BITCODE_COMPILE, 1, 1},
		{"--version", BITCODE_PASS, 0, 0},
		{"-v", BITCODE_PASS, 0, 0},
		{"-print-libgcc-file-name a.c", BITCODE_PASS, 1, 1},
		{"-### a.c", BITCODE_PASS, 1, 1},
		{"a.o b.a -lm -o x", BITCODE_LINK, 0, 2},
		{"-r a.o b.o -o ab.o", BITCODE_RELOCATABLE, 0, 2},
		{"-Wl,-r a.o", BITCODE_RELOCATABLE, 0, 1},
		{"-Xlinker -r a.o", BITCODE_RELOCATABLE, 0, 1},
		{"-x c - -c", BITCODE_COMPILE, 1, 1},
		{"-x assembler a.c -x none b.c -c", BITCODE_COMPILE, 1, 2},
		{"-xc++ a.o", BITCODE_LINK, 1, 1},
		{"-x c-header a.c", BITCODE_PASS, 0, 0},
		{"a.h", BITCODE_PASS, 0, 0},
		{"-I c.c -D e.c -include x.c -isystem f.c -MT g.c a.c", BITCODE_LINK, 1, 1},
		{"-Xclang -emit-llvm -c a.c", BITCODE_PASS, 1, 1},
		{"-emit-llvm -c a.c", BITCODE_PASS, 1, 1},
		{"-m32 -c a.c", BITCODE_PASS, 1, 1},
		{"-target aarch64-linux -c a.c", BITCODE_PASS, 1, 1},
		{"-c -- -x.c", BITCODE_COMPILE, 1, 1},
		{"-fsanitize=cfi -flto -c a.c", BITCODE_PASS, 1, 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct bitcode_args a;

		parse(&a, cases[i].line);
		if (a.phase != cases[i].phase || a.sources != cases[i].sources ||
		    a.input_count != cases[i].inputs)
			fail_msg("%s: phase %d, %zu sources of %zu inputs", cases[i].line, a.phase, a.sources,
				 a.input_count);
		bitcode_args_release(&a);
	}
}

static void outputs(void **state)
{
	static const char *const lines[] = {"a.c -o x", "a.c -ox", "-o x a.c", "a.c --output=x",
					    "--output x a.c"};
	struct bitcode_args a;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		parse(&a, lines[i]);
		assert_string_equal(a.output, "x");
		assert_int_equal(a.input_count, 1);
		bitcode_args_release(&a);
	}
	parse(&a, "-c a.c -objcmt-migrate-all");
	assert_null(a.output);
	bitcode_args_release(&a);
}

static void options(void **state)
{
	struct bitcode_args a;

	(void)state;
	parse(&a, "-O2 -c a.c");
	assert_true(a.optimised);
	assert_int_equal(a.debug, BITCODE_DEBUG_UNSAID);
	assert_false(a.dropped);
	bitcode_args_release(&a);
	parse(&a, "-O2 -O0 -g -g0 -c a.c");
	assert_false(a.optimised);
	assert_int_equal(a.debug, BITCODE_DEBUG_OFF);
	assert_true(a.dropped);
	bitcode_args_release(&a);
	parse(&a, "-g1 -gz -gdwarf-4 -gcolumn-info -gsplit-dwarf a.c");
	assert_int_equal(a.debug, BITCODE_DEBUG_FULL);
	assert_true(bitcode_args_keep(&a, "-gsplit-dwarf"));
	bitcode_args_release(&a);
	parse(&a, "-gz -gno-column-info -gsplit-dwarf -shared -static a.c");
	assert_int_equal(a.debug, BITCODE_DEBUG_UNSAID);
	assert_false(bitcode_args_keep(&a, "-gsplit-dwarf"));
	assert_true(a.is_static && a.shared);
	bitcode_args_release(&a);
	assert_false(bitcode_args_keep(&a, "-flto=thin"));
	assert_false(bitcode_args_keep(&a, "-ffat-lto-objects"));
	assert_false(bitcode_args_keep(&a, "-gline-tables-only"));
	assert_true(bitcode_args_keep(&a, "-fno-plt"));
}

static void response_files(void **state)
{
	static const char outer[] = "-c 'a b.c' \"q\\\"q.c\"\n\tback\\ slash.c @inner.rsp @absent.rsp";
	struct bitcode_args a;

	(void)state;
	assert_int_equal(rd_file_write("outer.rsp", outer, sizeof outer - 1), 0);
	assert_int_equal(rd_file_write("inner.rsp", "-flto\n", 6), 0);
	parse(&a, "@outer.rsp -O1");
	assert_true(a.expanded && a.dropped && a.optimised);
	assert_int_equal(a.phase, BITCODE_COMPILE);
	assert_int_equal(a.sources, 3);
	assert_string_equal(a.inputs[0].path, "a b.c");
	assert_string_equal(a.inputs[1].path, "q\"q.c");
	assert_string_equal(a.inputs[2].path, "back slash.c");
	assert_string_equal(a.all.items[a.all.count - 2], "@absent.rsp");
	bitcode_args_release(&a);
	/* A response file that contains its own name is not read forever. */
	assert_int_equal(rd_file_write("loop.rsp", "@loop.rsp", 9), 0);
	parse(&a, "@loop.rsp -c a.c");
	assert_int_equal(a.sources, 1);
	bitcode_args_release(&a);
}

static char directory[] = "/tmp/raddle-u-bitcode-args-XXXXXX";

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") || rd_remove_tree(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(phases),
		cmocka_unit_test(outputs),
		cmocka_unit_test(options),
		cmocka_unit_test(response_files),
	};
	return cmocka_run_group_tests(tests, enter, leave);
}
