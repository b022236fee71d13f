// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the list of tests that ctest prints.  In: its JSON document, version 1.  Out: the command,
 * working directory and environment of each test.  This file starts no program.
 */
#include "explore/ctest-int.h"

#include "base/error.h"
#include "base/json-read.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *copy(struct rd_arena *a, const char *text)
{
	return rd_arena_strndup(a, text, strlen(text));
}

static const char **get_words(struct rd_json_read *r, const json_t *array, const char *key, size_t *count,
			      struct rd_arena *a)
{
	size_t n = json_array_size(array);
	const char **words = rd_arena_alloc(a, (n + 1) * sizeof *words);

	for (size_t i = 0; i < n; i++)
		words[i] = copy(a, rd_json_get_item(r, array, key, i));
	words[n] = NULL;
	*count = n;
	return words;
}

static void get_property(struct rd_json_read *r, const json_t *property, struct ctest_test *t,
			 struct rd_arena *a)
{
	const char *name = rd_json_get_text(r, property, "name");
	const char *text;

	if (!name)
		return;
	if (!strcmp(name, "ENVIRONMENT"))
		t->environment = get_words(r, rd_json_member(r, property, "value", JSON_ARRAY), "value",
					   &t->variable_count, a);
	if (!strcmp(name, "DISABLED"))
		t->disabled = rd_json_get_bool(r, property, "value");
	if (!strcmp(name, "WILL_FAIL"))
		t->will_fail = rd_json_get_bool(r, property, "value");
	if (!strcmp(name, "WORKING_DIRECTORY") && (text = rd_json_get_text(r, property, "value")))
		t->directory = copy(a, text);
}

static bool is_taken(const struct ctest *c, const char *folder)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->tests[i].folder, folder))
			return true;
	return false;
}

/* maximum number of bytes of a test's name in the name of its folder; chosen by hand, for
 * readability */
#define FOLDER 64

static const char *name_folder(const struct ctest *c, const char *name, struct rd_arena *a)
{
	char folder[FOLDER + 24];
	size_t length = strlen(name) < FOLDER ? strlen(name) : FOLDER;

	for (size_t i = 0; i < length; i++)
		folder[i] = (char)(isalnum((unsigned char)name[i]) || (i && strchr("-_.", name[i])) ? name[i]
												    : '_');
	folder[length] = '\0';
	for (size_t n = c->count + 1; is_taken(c, folder); n++)
		snprintf(folder + length, sizeof folder - length, "-%zu", n);
	return copy(a, folder);
}

static void get_test(struct rd_json_read *r, const json_t *test, struct ctest *c, struct rd_arena *a)
{
	struct ctest_test *t = &c->tests[c->count];
	const char *name = rd_json_get_text(r, test, "name");
	json_t *properties = rd_json_member(r, test, "properties", JSON_ARRAY);

	*t = (struct ctest_test){.name = copy(a, name ? name : "")};
	if (!*t->name)
		rd_json_wrong(r, "name", "is empty");
	t->command =
		get_words(r, rd_json_member(r, test, "command", JSON_ARRAY), "command", &t->word_count, a);
	for (size_t i = 0; i < json_array_size(properties); i++)
		get_property(r, json_array_get(properties, i), t, a);
	t->folder = name_folder(c, t->name, a);
	c->count++;
}

int ctest_parse(struct ctest *c, const char *text, size_t length, const char *name, struct rd_arena *a)
{
	struct rd_json_read r = {.subject = "ctest", .name = name};
	json_t *tree = rd_json_load(&r, text, length);
	json_t *tests = rd_json_member(&r, tree, "tests", JSON_ARRAY);

	*c = (struct ctest){.tests = rd_arena_alloc(a, (json_array_size(tests) + 1) * sizeof *c->tests)};
	r.part = "test";
	for (r.number = 0; r.number < json_array_size(tests) && !r.err; r.number++)
		get_test(&r, json_array_get(tests, r.number), c, a);
	json_decref(tree);
	return r.err;
}
