// SPDX-License-Identifier: Apache-2.0
/* Reads the candidates from the table in a guarded program.  The bytes of the table are not
 * trusted. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "guard/guards.h"

#include <stdlib.h>
#include <string.h>

static bool is_build(const char *s, size_t length)
{
	if (length < 8 || length >= RD_BUILD_ID_SIZE)
		return false;
	return strspn(s, RD_HEX_DIGITS "ghijklmnopqrstuvwxyz") >= length;
}

/* Parses a number, and moves *at after it. */
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
	if (end - at < CANDIDATE_ID_SIZE || strspn(at, RD_HEX_DIGITS) != CANDIDATE_ID_SIZE - 1)
		return false;
	memcpy(c.id, at, CANDIDATE_ID_SIZE - 1);
	at += CANDIDATE_ID_SIZE - 1;
	if (*at++ != ' ' || !number(&at, end, &c.guard[0]) || at == end || *at++ != ' ' ||
	    !number(&at, end, &c.guard[1]) || at != end || c.guard[0] >= t->guards ||
	    c.guard[1] >= t->guards || t->count == RADDLE_GUARD_PAIRS)
		return false;
	RD_ASSERT(t->count < RADDLE_GUARD_PAIRS && t->guards <= RADDLE_GUARDS);
	RD_GROW(t->candidates, t->capacity, t->count + 1);
	t->candidates[t->count++] = c;
	return true;
}

static bool parse_line(struct guard_table *t, const char *line, const char *end)
{
	uint32_t site;
	if (end - line < 3 || line[1] != ' ')
		return false;
	const char *at = line + 2;
	if (line[0] == 'c')
		return parse_candidate(t, at, end);
	if (line[0] != 'a' || t->guards == RADDLE_GUARDS || !number(&at, end, &site) || at != end)
		return false;
	t->guards++;
	return true;
}

static int parse_table(struct guard_table *t, const char *copy, const char *name)
{
	const size_t title = strlen(RADDLE_GUARD_TITLE), first = strcspn(copy, "\n");
	if (strncmp(copy, RADDLE_GUARD_TITLE, title) != 0 || first < title ||
	    !is_build(copy + title, first - title))
		return rd_fail(RD_EFORMAT, "%s: contains no table of guards that this Raddle can read", name);
	memcpy(t->build, copy + title, first - title);
	for (const char *line = copy + first; *line == '\n' && line[1] != '\0';) {
		size_t n = strcspn(++line, "\n");
		if (!parse_line(t, line, line + n))
			return rd_fail(RD_EFORMAT, "%s: a bad line in its table of guards", name);
		line += n;
	}
	return 0;
}

/* ---- regions ---- */

struct guard_region {
	uint32_t guard, region;
};

static int by_guard(const void *a, const void *b)
{
	const struct guard_region *x = a, *y = b;
	if (x->guard != y->guard)
		return x->guard < y->guard ? -1 : 1;
	return (x->region > y->region) - (x->region < y->region);
}

static bool parse_pair(struct guard_region *p, const char **at, const char *end, uint32_t guards)
{
	if (!number(at, end, &p->guard) || *at == end || *(*at)++ != ' ' || !number(at, end, &p->region) ||
	    *at == end || *(*at)++ != '\n')
		return false;
	return p->guard < guards && p->region < RADDLE_GUARDS;
}

/* Stores each pair once, ordered by guard. */
static void keep_pairs(struct guard_table *t, struct guard_region *pairs, size_t count)
{
	size_t kept = 0;
	if (count)
		qsort(pairs, count, sizeof *pairs, by_guard);
	t->regions = rd_xcalloc(count + 1, sizeof *t->regions);
	t->first = rd_xcalloc((size_t)t->guards + 1, sizeof *t->first);
	for (uint32_t g = 0, i = 0; g < t->guards; g++) {
		t->first[g] = (uint32_t)kept;
		for (; i < count && pairs[i].guard == g; i++)
			if (kept == t->first[g] || t->regions[kept - 1] != pairs[i].region)
				t->regions[kept++] = pairs[i].region;
	}
	t->first[t->guards] = (uint32_t)kept;
	RD_ASSERT(kept <= count);
}

static int parse_regions(struct guard_table *t, const char *copy, size_t length, const char *name)
{
	struct guard_region *pairs = NULL;
	size_t count = 0, capacity = 0;
	const char *end = copy + length;
	int err = 0;
	for (const char *at = copy; !err && at < end;) {
		RD_GROW(pairs, capacity, count + 1);
		if (!parse_pair(&pairs[count++], &at, end, t->guards))
			err = rd_fail(RD_EFORMAT, "%s: a bad line in its list of regions", name);
	}
	if (!err)
		keep_pairs(t, pairs, count);
	free(pairs);
	return err;
}

int guard_table_parse(struct guard_table *t, const struct guard_text *text, const char *name)
{
	/* The copies end with NUL, so parsing stops there. */
	char *table = rd_xstrndup(text->table, text->table_length);
	char *regions = rd_xstrndup(text->regions != NULL ? text->regions : "", text->regions_length);
	*t = (struct guard_table){0};
	int err = parse_table(t, table, name);
	if (!err)
		err = parse_regions(t, regions, strlen(regions), name);
	free(table);
	free(regions);
	return err;
}

/* Finds a section; returns false if the file is not an executable or has no such section. */
static bool find_section(const struct rd_map *map, const char *name, struct bitcode_elf_section *s)
{
	struct bitcode_elf elf;
	return bitcode_elf_parse(&elf, map->data, map->length) && bitcode_elf_find(&elf, name, 0, s);
}

bool guard_table_is_in(const char *path)
{
	struct bitcode_elf_section s;
	struct rd_map map;
	if (!rd_file_exists(path) || rd_map_open(&map, path))
		return false;
	bool found = find_section(&map, RADDLE_GUARD_SECTION, &s);
	rd_map_close(&map);
	return found;
}

int guard_table_read(struct guard_table *t, const char *path)
{
	struct bitcode_elf_section s, regions = {0};
	struct rd_map map;
	int err = rd_map_open(&map, path);
	*t = (struct guard_table){0};
	if (err)
		return err;
	if (find_section(&map, RADDLE_GUARD_SECTION, &s)) {
		find_section(&map, RADDLE_GUARD_REGIONS, &regions);
		struct guard_text text = {(const char *)s.data, (const char *)regions.data, s.size,
					  regions.size};
		err = guard_table_parse(t, &text, path);
	} else
		err = rd_fail(RD_EFORMAT, "%s: contains no table of guards", path);
	rd_map_close(&map);
	return err;
}

void guard_table_release(struct guard_table *t)
{
	RD_FREE(t->candidates, t->regions, t->first);
	*t = (struct guard_table){0};
}
