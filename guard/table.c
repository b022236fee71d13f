// SPDX-License-Identifier: Apache-2.0
/* The table that a guarded program carries: bytes in, candidates out. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "guard/guards.h"

#include <stdlib.h>
#include <string.h>

static bool is_build(const char *s, size_t length)
{
	if (length < 8 || length >= RD_BUILD_ID_SIZE)
		return false;
	return strspn(s, "0123456789abcdefghijklmnopqrstuvwxyz") >= length;
}

/* A number of the line, and the place behind it. */
static bool number(const char **at, const char *end, uint32_t *value)
{
	uint64_t n = 0;
	const char *s = *at;
	while (s < end && *s >= '0' && *s <= '9' && n < UINT32_MAX)
		n = n * 10 + (uint64_t)(*s++ - '0');
	if (s == *at || n >= UINT32_MAX)
		return false;
	*at = s;
	*value = (uint32_t)n;
	return true;
}

static bool parse_candidate(struct guard_table *t, const char *at, const char *end)
{
	struct guard_candidate c = {0};
	if (end - at < CANDIDATE_ID_SIZE || strspn(at, "0123456789abcdef") != CANDIDATE_ID_SIZE - 1)
		return false;
	memcpy(c.id, at, CANDIDATE_ID_SIZE - 1);
	at += CANDIDATE_ID_SIZE - 1;
	if (*at++ != ' ' || !number(&at, end, &c.guard[0]) || at == end || *at++ != ' ' ||
	    !number(&at, end, &c.guard[1]) || at != end || c.guard[0] >= t->guards ||
	    c.guard[1] >= t->guards || t->count == RADDLE_GUARD_PAIRS)
		return false;
	RD_GROW(t->candidates, t->capacity, t->count + 1);
	t->candidates[t->count++] = c;
	return true;
}

static bool parse_line(struct guard_table *t, const char *line, const char *end)
{
	uint32_t site, group;
	if (end - line < 3 || line[1] != ' ')
		return false;
	const char *at = line + 2;
	if (line[0] == 'c')
		return parse_candidate(t, at, end);
	if (line[0] != 'a' || t->guards == RADDLE_GUARDS || !number(&at, end, &site) || at == end ||
	    *at++ != ' ' || !number(&at, end, &group) || at != end || group >= RADDLE_GUARDS)
		return false;
	RD_GROW(t->groups, t->group_capacity, t->guards + 1);
	t->groups[t->guards++] = group;
	return true;
}

int guard_table_parse(struct guard_table *t, const char *text, size_t length, const char *name)
{
	const size_t title = strlen(RADDLE_GUARD_TITLE);
	*t = (struct guard_table){0};
	char *copy = rd_xstrndup(text, length), *line = copy; /* ends with '\0', so nothing reads beyond */
	size_t first = strcspn(copy, "\n");
	int err = 0;
	if (strncmp(copy, RADDLE_GUARD_TITLE, title) != 0 || first < title ||
	    !is_build(copy + title, first - title))
		err = rd_fail(RD_EFORMAT, "%s: carries no table of guards that this Raddle can read", name);
	else
		memcpy(t->build, copy + title, first - title);
	for (line += first; !err && *line == '\n' && line[1] != '\0';) {
		size_t n = strcspn(++line, "\n");
		if (!parse_line(t, line, line + n))
			err = rd_fail(RD_EFORMAT, "%s: a bad line in its table of guards", name);
		line += n;
	}
	free(copy);
	return err;
}

/* The section, if the file is an executable that has it. */
static bool find_section(const struct rd_map *map, struct bitcode_elf_section *s)
{
	struct bitcode_elf elf;
	return bitcode_elf_parse(&elf, map->data, map->length) &&
	       bitcode_elf_find(&elf, RADDLE_GUARD_SECTION, 0, s);
}

bool guard_table_is_in(const char *path)
{
	struct bitcode_elf_section s;
	struct rd_map map;
	if (!rd_file_exists(path) || rd_map_open(&map, path))
		return false;
	bool found = find_section(&map, &s);
	rd_map_close(&map);
	return found;
}

int guard_table_read(struct guard_table *t, const char *path)
{
	struct bitcode_elf_section s;
	struct rd_map map;
	int err = rd_map_open(&map, path);
	*t = (struct guard_table){0};
	if (err)
		return err;
	if (find_section(&map, &s))
		err = guard_table_parse(t, (const char *)s.data, s.size, path);
	else
		err = rd_fail(RD_EFORMAT, "%s: carries no table of guards", path);
	rd_map_close(&map);
	return err;
}

void guard_table_release(struct guard_table *t)
{
	RD_FREE(t->candidates, t->groups);
	*t = (struct guard_table){0};
}
