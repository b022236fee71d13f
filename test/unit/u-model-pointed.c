// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the names of places that pointers lead to: by struct and member, by the variable of
 * the allocation, or without a name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum site { REFS = 1, STATE, COPY, LATE, BYTES, PLAIN, FREE, MADE, MADE_TOO, LARGE, NAMELESS };

static const char *const records[] = {
	"U\t0\t1\tu.c",
	"F\t0\t/src/u.c",
	"S\t1\tw\t4\t-\t0\t1\t1\tf\tc->refs\tint",
	"O\t1\tstruct conn\t0",
	"S\t2\tr\t4\t-\t0\t2\t1\tf\ti->state\tint",
	"O\t2\tstruct inner\t8",
	"S\t3\trr\t0\t-\t0\t3\t1\tf\t*c\tstruct conn",
	"O\t3\tstruct conn\t0",
	"S\t4\tw\t4\t-\t0\t4\t1\tf\tc->inner.state\tint",
	"O\t4\tstruct conn\t16",
	"S\t5\tw\t1\t-\t0\t5\t1\tf\tm->bytes[]\tchar",
	"O\t5\tstruct message\t8",
	"S\t6\tw\t4\t-\t0\t6\t1\tf\t*p\tint",
	"S\t7\tc\t0\t-\t0\t7\t1\tf\tfree\t-",
	"S\t8\tc\t0\t-\t0\t8\t1\tmain\tmalloc\t-",
	"R\t8\tcounter",
	"S\t9\tc\t0\t-\t0\t9\t1\tmain\tcalloc\t-",
	"S\t10\tw\t4\t-\t0\t10\t1\tf\tb->x\tint",
	"O\t10\tstruct big\t4",
	"S\t11\tw\t4\t-\t0\t11\t1\tf\t-\t-",
	"T\tstruct conn\t24\trefs\t0\t4\tint",
	"T\tstruct conn\t24\tinner\t8\t16\tstruct inner",
	"T\tstruct inner\t16\tpad\t0\t8\tlong",
	"T\tstruct inner\t16\tstate\t8\t4\tint",
	"T\tstruct message\t8\tlength\t0\t8\tlong",
	"T\tstruct message\t8\tbytes\t8\t0\tchar[]",
	"T\tstruct big\t1000\tx\t4\t4\tint",
};

static struct model_stack stacks[] = {{0, 0}, {0, MADE}, {0, MADE_TOO}, {0, NAMELESS}};
static struct model_thread threads[] = {{.name = "T_0"}};
static struct model_object objects[] = {
	{.kind = MODEL_HEAP, .size = 24, .stack = 2},  /* a struct conn */
	{.kind = MODEL_HEAP, .size = 72, .stack = 2},  /* three structs conn */
	{.kind = MODEL_HEAP, .size = 24, .stack = 2},  /* a struct message with 16 bytes */
	{.kind = MODEL_HEAP, .size = 4, .stack = 1},   /* an int */
	{.kind = MODEL_HEAP, .size = 400, .stack = 1}, /* 100 ints */
	{.kind = MODEL_STACK, .size = 8192, .thread = 0}, {.kind = MODEL_GLOBAL, .size = 24},
	{.kind = MODEL_HEAP, .size = 24, .stack = 0}, /* the allocation has no stack */
};
enum object { CONN, CONNS, MESSAGE, INT, INTS, STACK, GLOBAL, LOST };

static struct model model = {.stacks = stacks,
			     .threads = threads,
			     .objects = objects,
			     .stack_count = COUNT(stacks),
			     .thread_count = COUNT(threads),
			     .object_count = COUNT(objects)};

static void read_table(void)
{
	struct rd_buf text = RD_BUF_INIT;
	struct trace_sites *sites = NULL;

	rd_buf_adds(&text, "raddle-sites\t1\n");
	for (size_t i = 0; i < COUNT(records); i++)
		rd_buf_addf(&text, "%s\n", records[i]);
	unsigned long long sum = XXH64(text.data, text.length, 0);
	rd_buf_addf(&text, "end\t%zu\t%016llx\n", COUNT(records), sum);
	assert_int_equal(trace_sites_parse(&sites, text.data, text.length, "table"), RD_OK);
	rd_buf_release(&text);
	model.sites = sites;
}

/* Checks the name that two accesses give to the place where they overlap.  Their order does not
 * matter. */
static void assert_name(enum object object, uint64_t offset, struct model_access a, struct model_access b,
			const char *expected)
{
	a.object = b.object = object;
	const struct model_access *const both[2][2] = {{&a, &b}, {&b, &a}};

	for (int i = 0; i < 2; i++) {
		struct rd_buf name = RD_BUF_INIT;
		bool named = model_name_pointed(&model, object, offset, both[i], 2, &name);
		assert_int_equal(named, expected != NULL);
		if (expected)
			assert_string_equal(name.data, expected);
		rd_buf_release(&name);
	}
}

#define AT(where, from, bytes) ((struct model_access){.site = (where), .offset = (from), .size = (bytes)})

static void test_members(void **state)
{
	(void)state;
	assert_name(CONN, 0, AT(REFS, 0, 4), AT(REFS, 0, 4), "struct conn.refs");
	/* If the accesses name structs of different sizes, the larger struct gives the name, even if
	 * one access copies all of it. */
	assert_name(CONN, 16, AT(STATE, 16, 4), AT(LATE, 16, 4), "struct conn.inner.state");
	assert_name(CONN, 16, AT(STATE, 16, 4), AT(COPY, 0, 24), "struct conn.inner.state");
	assert_name(CONN, 16, AT(STATE, 16, 4), AT(STATE, 16, 4), "struct inner.state");
	/* If one access is a release, the other one gives the name. */
	assert_name(CONN, 0, AT(FREE, 0, 24), AT(REFS, 0, 4), "struct conn.refs");
}

static void test_arrays(void **state)
{
	(void)state;
	assert_name(CONNS, 24, AT(REFS, 24, 4), AT(REFS, 24, 4), "struct conn[].refs");
	assert_name(CONNS, 64, AT(COPY, 0, 72), AT(LATE, 64, 4), "struct conn[].inner.state");
	assert_name(MESSAGE, 11, AT(BYTES, 11, 1), AT(BYTES, 11, 1), "struct message.bytes[]");
	assert_name(MESSAGE, 8, AT(BYTES, 8, 1), AT(BYTES, 8, 1), "struct message.bytes[]");
}

static void test_allocations(void **state)
{
	(void)state;
	assert_name(INT, 0, AT(PLAIN, 0, 4), AT(PLAIN, 0, 4), "*counter (malloc at u.c:8)");
	assert_name(INTS, 8, AT(PLAIN, 8, 4), AT(PLAIN, 8, 4), "counter[] (malloc at u.c:8)");
	assert_name(CONN, 8, AT(PLAIN, 8, 4), AT(FREE, 0, 24), "*p (calloc at u.c:9)");
	/* A struct that is larger than the object results from a cast, and is ignored. */
	assert_name(INTS, 4, AT(LARGE, 4, 4), AT(PLAIN, 4, 4), "counter[] (malloc at u.c:8)");
	assert_name(CONN, 8, AT(NAMELESS, 8, 4), AT(FREE, 0, 24), NULL);
	assert_name(LOST, 8, AT(PLAIN, 8, 4), AT(PLAIN, 8, 4), NULL);
}

static void test_others(void **state)
{
	(void)state;
	assert_name(STACK, 64, AT(REFS, 64, 4), AT(REFS, 64, 4), "struct conn.refs on the stack of T_0");
	assert_name(STACK, 64, AT(PLAIN, 64, 4), AT(NAMELESS, 64, 4), "*p on the stack of T_0");
	assert_name(STACK, 64, AT(NAMELESS, 64, 4), AT(NAMELESS, 64, 4), NULL);
	assert_name(GLOBAL, 0, AT(REFS, 0, 4), AT(REFS, 0, 4), NULL);
}

/* Records about a site must come after the record of the site. */
static void test_refused(void **state)
{
	static const char *const wrong[] = {"O\t1\tstruct conn\t0\n", "U\t0\t1\tu.c\nO\t1\tstruct conn\t0\n",
					    "U\t0\t1\tu.c\nS\t1\tf\t0\t-\t-1\t0\t0\tf\t-\t-\nR\t2\tp\n",
					    "U\t0\t1\tu.c\nS\t1\tf\t0\t-\t-1\t0\t0\tf\t-\t-\nO\t1\tt\t-4\n"};
	static const int counts[] = {1, 2, 3, 3};
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct trace_sites *sites = NULL;
		char *body = rd_xasprintf("raddle-sites\t1\n%s", wrong[i]);
		char *text = rd_xasprintf("%send\t%d\t%016llx\n", body, counts[i],
					  (unsigned long long)XXH64(body, strlen(body), 0));
		assert_int_equal(trace_sites_parse(&sites, text, strlen(text), "table"), RD_EFORMAT);
		free(body);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),	    cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_allocations), cmocka_unit_test(test_others),
		cmocka_unit_test(test_refused),
	};
	read_table();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	trace_sites_free((struct trace_sites *)(uintptr_t)model.sites);
	return failed;
}
