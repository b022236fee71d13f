/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what memory the conversions of printf() and scanf() formats read and write
 * (instr/scan/format.h).  Each row is a call with the expected answer. */
#include "instr/scan/format.h"

#include "test/unit/ir-text.h"

#include <stdbool.h>
#include <stdio.h>

enum { MOST = 8 };

struct answers {
	struct instr_conversion at[MOST];
	size_t count;
};

static void add(void *context, const struct instr_conversion *c)
{
	struct answers *a = context;

	assert_true(a->count < MOST);
	a->at[a->count++] = *c;
}

/* Reads the format of the call `name(before FORMAT arguments)`.  The arguments may use %n, %p, %q
 * and %l. */
static struct answers read_format(const char *name, const char *before, const char *format,
				  const char *arguments)
{
	struct answers a = {.count = 0};
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef module;
	char text[2048];

	snprintf(text, sizeof text,
		 "@f = private constant [%zu x i8] c\"%s\\00\"\n"
		 "declare i32 @%s(...)\n"
		 "define void @user(i32 %%n, ptr %%p, ptr %%q, i64 %%l) {\n"
		 "  %%call = call i32 (...) @%s(%sptr @f%s)\n"
		 "  ret void\n}\n",
		 strlen(format) + 1, format, name, name, before, arguments);
	module = ir_text_parse(context, text);
	instr_format_read(ir_text_find(module, "user", "call"), name, add, &a);
	LLVMDisposeModule(module);
	LLVMContextDispose(context);
	return a;
}

static void printing_reads_strings(void **state)
{
	struct answers a = read_format("printf", "", "%d %s|%.3s", ", i32 %n, ptr %p, ptr %q");

	(void)state;
	assert_int_equal(a.count, 2);
	assert_int_equal(a.at[0].argument, 2);
	assert_true(a.at[0].is_string);
	assert_false(a.at[0].write);
	assert_true(a.at[0].size == UINT64_MAX);
	assert_int_equal(a.at[1].argument, 3);
	assert_int_equal(a.at[1].size, 3);
	assert_int_equal(a.at[1].limit, -1);
}

static void stars_are_arguments(void **state)
{
	struct answers a = read_format("fprintf", "ptr %q, ", "%*d %.*s", ", i32 %n, i32 1, i32 %n, ptr %p");

	(void)state;
	assert_int_equal(a.count, 1);
	assert_int_equal(a.at[0].argument, 5);
	assert_int_equal(a.at[0].limit, 4);
}

static void percent_n_writes(void **state)
{
	struct answers a = read_format("printf", "", "%%%hhn%ln", ", ptr %p, ptr %q");

	(void)state;
	assert_int_equal(a.count, 2);
	assert_true(a.at[0].write);
	assert_int_equal(a.at[0].size, 1);
	assert_int_equal(a.at[1].size, 8);
}

static void scanning_writes_what_it_counts(void **state)
{
	struct answers a = read_format("sscanf", "ptr %q, ", "%d %*d %7s%n", ", ptr %p, ptr %q, ptr %p");

	(void)state;
	assert_int_equal(a.count, 3);
	for (size_t i = 0; i < a.count; i++) {
		assert_true(a.at[i].write);
		assert_true(a.at[i].is_scanned);
		assert_int_equal(a.at[i].argument, 2 + i);
	}
	assert_int_equal(a.at[0].least, 0);
	assert_int_equal(a.at[0].size, 4);
	assert_true(a.at[1].is_string);
	assert_int_equal(a.at[1].size, 8); /* including the terminating zero */
	assert_int_equal(a.at[1].least, 1);
	assert_int_equal(a.at[2].least, 2);
}

static void sets_and_allocation(void **state)
{
	struct answers a = read_format("scanf", "", "%[^]x]%ms%Lf", ", ptr %p, ptr %q, ptr %p");

	(void)state;
	assert_int_equal(a.count, 3);
	assert_true(a.at[0].is_string);
	assert_true(a.at[0].size == UINT64_MAX);
	assert_false(a.at[1].is_string); /* %ms stores a pointer to new memory */
	assert_int_equal(a.at[1].size, 8);
	assert_int_equal(a.at[2].size, 10);
}

/* If a format is not understood, only the part before the problem is used, or nothing. */
static void what_is_not_understood(void **state)
{
	(void)state;
	assert_int_equal(read_format("printf", "", "%1$s", ", ptr %p").count, 0);
	assert_int_equal(read_format("printf", "", "%s %s", ", ptr %p").count, 1);
	assert_int_equal(read_format("printf", "", "%s", ", i64 %l").count, 0);
	assert_int_equal(read_format("puts", "", "%s", ", ptr %p").count, 0);
	assert_int_equal(read_format("printf", "", "%", ", ptr %p").count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(printing_reads_strings), cmocka_unit_test(stars_are_arguments),
		cmocka_unit_test(percent_n_writes),	  cmocka_unit_test(scanning_writes_what_it_counts),
		cmocka_unit_test(sets_and_allocation),	  cmocka_unit_test(what_is_not_understood)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
