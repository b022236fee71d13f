// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a list from ctest.  In an accepted list each test has a name, and a unique
 * folder that is a valid file name.
 */
#include "base/error.h"
#include "explore/ctest-int.h"

#include <stdint.h>
#include <string.h>

static void check_test(const struct ctest *c, size_t i)
{
	const struct ctest_test *t = &c->tests[i];

	RD_ASSERT(*t->name && *t->folder && *t->folder != '.' && !strchr(t->folder, '/'));
	RD_ASSERT(!t->command[t->word_count]);
	for (size_t k = 0; k < i; k++)
		RD_ASSERT(strcmp(t->folder, c->tests[k].folder));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd_arena *a = rd_arena_new();
	struct ctest c;

	if (!ctest_parse(&c, (const char *)data, size, "fuzz", a))
		for (size_t i = 0; i < c.count; i++)
			check_test(&c, i);
	rd_arena_free(a);
	return 0;
}
