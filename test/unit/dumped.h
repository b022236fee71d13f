/* SPDX-License-Identifier: Apache-2.0 */
/* The output of dump/ for the golden artefacts of the tree, as a text in memory. */
#ifndef TEST_DUMPED_H
#define TEST_DUMPED_H

#include "golden.h"

#include "base/error.h"
#include "dump/dump.h"

#include <jansson.h>
#include <stdio.h>

static inline char *tree_path(const char *name)
{
	const char *root = getenv("ROOT");

	return rd_xasprintf("%s/test/%s", root ? root : ".", name);
}

/* Calls dump_path(); the caller frees the text. */
static inline char *dumped_at(const char *path, const struct dump_options *options, int expected)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	assert_int_equal(dump_path(path, options, out), expected);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* Calls dump_path() for a path below test/. */
static inline char *dumped(const char *name, const struct dump_options *options)
{
	char *path = tree_path(name), *text = dumped_at(path, options, RD_OK);

	free(path);
	return text;
}

/* Parses the output, which must be one JSON document.  The caller releases it.  Integers become
 * reals, because addresses and digests have 64 bits. */
static inline json_t *dumped_json(const char *name, const struct dump_options *options)
{
	char *text = dumped(name, options);
	json_t *root = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

static inline size_t lines_with(const char *text, const char *word)
{
	size_t n = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *found = strstr(text, word);

		n += found && found < text + length;
		text += length + (text[length] == '\n');
	}
	return n;
}

static inline size_t lines_of(const char *text)
{
	return lines_with(text, "");
}

#endif
