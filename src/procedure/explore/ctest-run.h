/* SPDX-License-Identifier: Apache-2.0 */
/* Explores every test of a CMake build directory. */
#ifndef EXPLORE_CTEST_RUN_H
#define EXPLORE_CTEST_RUN_H

#include <stddef.h>
#include <stdio.h>

struct ctest_run {
	const char *build;    /* the directory that cmake made */
	const char *regex;    /* selects tests by name, as with `ctest -R`; NULL for all tests */
	const char *output;   /* the directory in which a folder for each test is made */
	char *const *options; /* options of `raddle explore`, for every test */
	FILE *said;	      /* receives the name and the result of each test; NULL for no output */
};

struct ctest_result {
	size_t explored, failed, unexplored;
};

/* Explores the tests.  Also fails if some test could not be explored, or if no test was explored.
 * Sets *result in any case. */
int ctest_explore(const struct ctest_run *how, struct ctest_result *result);

#endif
