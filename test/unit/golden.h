/* SPDX-License-Identifier: Apache-2.0 */
/* Golden files: expected outputs, in $ROOT/test/golden.  With RADDLE_GOLDEN=update in the
 * environment they are written instead of compared. */
#ifndef TEST_GOLDEN_H
#define TEST_GOLDEN_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

static inline char *golden_path(const char *name)
{
	const char *root = getenv("ROOT");

	return rd_xasprintf("%s/test/golden/%s", root ? root : ".", name);
}

static inline void golden_check(const char *name, const char *text, size_t length)
{
	const char *update = getenv("RADDLE_GOLDEN");
	struct rd_buf expected = RD_BUF_INIT;
	char *path = golden_path(name);

	if (update && strcmp(update, "update") == 0)
		assert_int_equal(rd_file_write(path, text, length), 0);
	assert_int_equal(rd_file_read(path, &expected), 0);
	assert_string_equal(text, expected.data);
	assert_int_equal(length, expected.length);
	rd_buf_release(&expected);
	free(path);
}

#endif
