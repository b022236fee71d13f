/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every HTML page of Raddle must pass. */
#ifndef TEST_PAGE_H
#define TEST_PAGE_H

#include "golden.h"

#include <ctype.h>
#include <stdbool.h>

static inline size_t count(const char *text, const char *word)
{
	size_t n = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		n++;
	return n;
}

static inline bool is_void(const char *name)
{
	static const char *const names[] = {"meta", "br", "input", "!DOCTYPE"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Checks that every opened element is closed, in order.  Skips the contents of style and script. */
static inline void check_nesting(const char *page)
{
	char stack[64][16];
	size_t depth = 0;

	for (const char *p = strchr(page, '<'); p; p = strchr(p, '<')) {
		bool closes = p[1] == '/';
		const char *end = strchr(p, '>');
		char name[16] = "";

		assert_non_null(end);
		for (size_t i = 0; i < 15 && (isalnum((unsigned char)p[1 + closes + i]) || p[1 + i] == '!');
		     i++)
			name[i] = p[1 + closes + i];
		if (closes) {
			assert_true(depth > 0);
			assert_string_equal(stack[--depth], name);
		} else if (end[-1] != '/' && !is_void(name)) {
			assert_true(depth < 64);
			strcpy(stack[depth++], name);
		}
		if (strcmp(name, "style") == 0 || strcmp(name, "script") == 0)
			end = closes ? end : strstr(end, "</") - 1;
		p = end + 1;
	}
	assert_int_equal(depth, 0);
}

/* Checks that a page refers to nothing outside itself. */
static inline void check_alone(const char *page)
{
	static const char *const outside[] = {
		"http://", "https://", " src=", "href=", "@import", "fetch(", "XMLHttp"};

	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		assert_null(strstr(page, outside[i]));
}

#endif
