// SPDX-License-Identifier: Apache-2.0
/*
 * Writes and parses the names of threads and of the objects they create.  Names of places inside
 * objects are added in model/name.c.
 */
#include "base/name.h"

#include "base/alloc.h"
#include "base/file.h"

#include <inttypes.h>
#include <string.h>

#define DIGITS "0123456789"
#define HEX_DIGITS DIGITS "abcdef"
#define INDEX_DIGITS 9 /* the maximum number of digits of an index, so that it fits in 32 bits */

bool rd_is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool rd_is_library_source(const char *path)
{
	return strncmp(path, "/usr/include/", strlen("/usr/include/")) == 0 ||
	       strncmp(path, "/usr/lib/", strlen("/usr/lib/")) == 0 || strstr(path, "/include/c++/");
}

char *rd_thread_name(const char *creator, uint64_t index)
{
	return rd_xasprintf("%s_%" PRIu64, creator ? creator : "T", index);
}

char *rd_thread_unknown(uint32_t number)
{
	return rd_xasprintf("T_" RD_UNKNOWN "%" PRIu32, number);
}

/* Splits off the number at the end of a name.  *before becomes the length of the part before the
 * underscore. */
static bool split(const char *name, size_t length, size_t *before, uint32_t *index)
{
	size_t at = length;
	uint32_t n = 0;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	if (at == length || length - at > INDEX_DIGITS || at < 2 || name[at - 1] != '_' ||
	    (name[at] == '0' && length - at > 1))
		return false;
	for (size_t i = at; i < length; i++)
		n = n * 10 + (uint32_t)(name[i] - '0');
	*before = at - 1;
	*index = n;
	return true;
}

bool rd_thread_split(const char *name, size_t length, size_t *creator, uint32_t *index)
{
	return split(name, length, creator, index) && *creator >= 3;
}

bool rd_thread_root(const char *name, size_t length, uint32_t *index)
{
	size_t before;

	return split(name, length, &before, index) && before == 1 && *name == 'T';
}

int rd_thread_path(const char *name, size_t length, uint32_t *path, int most)
{
	size_t creator;
	uint32_t index;
	int depth;

	if (length == 3 && strncmp(name, "T_0", 3) == 0)
		return 0;
	if (most <= 0 || !rd_thread_split(name, length, &creator, &index))
		return -1;
	depth = rd_thread_path(name, creator, path, most - 1);
	if (depth < 0)
		return -1;
	path[depth] = index;
	return depth + 1;
}

int rd_process_path(const char *name, size_t length, uint32_t *path, int most)
{
	int depth = 0;

	if (length < 3 || strncmp(name, "P_0", 3) != 0)
		return -1;
	for (size_t at = 3; at < length;) {
		size_t first = at + 1;
		uint32_t number = 0;

		if (name[at] != '_' || depth == most)
			return -1;
		for (at = first; at < length && at - first < 9 && name[at] >= '0' && name[at] <= '9'; at++)
			number = number * 10 + (uint32_t)(name[at] - '0');
		if (at == first)
			return -1;
		path[depth++] = number;
	}
	return depth;
}

int rd_thread_compare(const char *a, const char *b)
{
	return strverscmp(a, b);
}

void rd_name_maker(struct rd_buf *out, const struct rd_maker *m)
{
	rd_buf_adds(out, m->thread);
	if (m->file)
		rd_buf_addf(out, " (%s:%" PRIu32 ")", rd_base_name(m->file), m->line);
	else if (m->site)
		rd_buf_addf(out, " (site %" PRIu32 ")", m->site);
	rd_buf_addf(out, "#%" PRIu64, m->number);
}

void rd_name_normal(struct rd_buf *out, const char *name)
{
	for (const char *p = name; *p; p++) {
		/* Skips the place at which an object was created, with the blank before it. */
		if (p[0] == ' ' && p[1] == '(' && strstr(p, ")#")) {
			p = strstr(p, ")#");
			continue;
		}
		rd_buf_addc(out, *p);
		if (*p == '[')
			p += strcspn(p + 1, "]");
		else if (*p == ' ' && strncmp(p + 1, "0x", 2) == 0)
			p += 2 + strspn(p + 3, HEX_DIGITS);
		else if (*p == '#')
			p += strspn(p + 1, DIGITS);
		else if (*p == '_' && p > name && p[-1] == 'T')
			p += strspn(p + 1, DIGITS "_");
	}
}

void rd_name_root(struct rd_buf *out, const char *name)
{
	struct rd_buf normal = RD_BUF_INIT;

	rd_name_normal(&normal, name);
	rd_buf_add(out, normal.data, strcspn(normal.data, ".[+-"));
	rd_buf_release(&normal);
}
