/* SPDX-License-Identifier: Apache-2.0 */
/* The tests of a CMake build directory, as `ctest --show-only=json-v1` lists them. */
#ifndef EXPLORE_CTEST_INT_H
#define EXPLORE_CTEST_INT_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stddef.h>

struct ctest_test {
	const char *name;
	const char *folder; /* a file name made from the test's name; unique among all tests */
	const char **command;
	size_t word_count; /* 0 if the test has not been built */
	const char **environment;
	size_t variable_count;
	/* working directory that the test requires, or NULL if it requires none */
	const char *directory;
	bool disabled;
	bool will_fail; /* the test passes if the program fails, which exploration cannot judge */
};

struct ctest {
	struct ctest_test *tests;
	size_t count;
};

/* Parses the document that ctest prints.  The arena owns all results; `name` is for messages. */
int ctest_parse(struct ctest *c, const char *text, size_t length, const char *name, struct rd_arena *a);

#endif
