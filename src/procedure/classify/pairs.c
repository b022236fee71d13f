// SPDX-License-Identifier: Apache-2.0
/*
 * Reads pairs of places.  In: text from the user, or a report of ThreadSanitizer.  Out: files and
 * lines.
 *
 * Two kinds of lines in a report are used: those that begin an access ("Write of size 4 at ... by
 * thread T1:"), and the frames that follow ("#0 add /src/a.c:12:3 (a+0x1234) (BuildId: 12ab)"), up
 * to an empty line.  The first frame that does not belong to the sanitizer is the place.  If this
 * frame has no line number, it may belong to a library function, and the next frame is used.
 * Everything else is skipped, since it differs between versions.
 */
#include "classify/locate.h"

#include "base/alloc.h"
#include "base/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void classify_pairs_init(struct classify_pairs *p)
{
	*p = (struct classify_pairs){.arena = rd_arena_new()};
}

void classify_pairs_release(struct classify_pairs *p)
{
	free(p->items);
	if (p->arena)
		rd_arena_free(p->arena);
	*p = (struct classify_pairs){0};
}

void classify_pairs_part(struct classify_pairs *p, unsigned number, unsigned count)
{
	size_t kept = 0;

	for (size_t i = number; i < p->count; i += count)
		p->items[kept++] = p->items[i];
	p->count = kept;
}

static void add_pair(struct classify_pairs *p, const struct classify_place places[2])
{
	RD_GROW(p->items, p->capacity, p->count + 1);
	memcpy(p->items[p->count++].places, places, sizeof p->items->places);
}

/* Returns the number after the last colon of the text, or 0 if the text does not end in a colon and
 * a number.  Reduces *length to that of the text before the colon. */
static uint32_t take_number(const char *text, size_t *length)
{
	size_t at = *length;
	unsigned long n;

	while (at > 0 && isdigit((unsigned char)text[at - 1]))
		at--;
	if (at == *length || at < 2 || text[at - 1] != ':')
		return 0;
	n = strtoul(text + at, NULL, 10);
	*length = at - 1;
	return n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* Parses PATH:LINE or PATH:LINE:COLUMN. */
static bool take_place(struct classify_pairs *p, const char *text, size_t length, struct classify_place *to)
{
	uint32_t last = take_number(text, &length), line = last ? take_number(text, &length) : 0;

	to->within = NULL;
	to->line = line ? line : last;
	to->file = rd_arena_strndup(p->arena, text, length);
	return to->line && length;
}

int classify_pairs_parse(struct classify_pairs *p, const char *text)
{
	const char *comma = strchr(text, ',');
	struct classify_place places[2];

	if (!comma || !take_place(p, text, (size_t)(comma - text), &places[0]) ||
	    !take_place(p, comma + 1, strlen(comma + 1), &places[1]))
		return rd_fail(RD_EUSAGE, "classify: --race is FILE:LINE,FILE:LINE, not %s", text);
	add_pair(p, places);
	return RD_OK;
}

/* ---- ThreadSanitizer ---- */

static bool begins_access(const char *line)
{
	line += strspn(line, " ");
	if (!strncmp(line, "Previous ", 9))
		line += 9;
	if (!strncasecmp(line, "atomic ", 7))
		line += 7;
	return !strncasecmp(line, "read of size", 12) || !strncasecmp(line, "write of size", 13);
}

/* Returns the position of the frame's module, which is in parentheses.  If there is none, returns
 * the end of the line.  The name of the function may contain parentheses, too. */
static const char *find_module(const char *line)
{
	const char *found = line + strlen(line);

	for (const char *at = line; (at = strstr(at, " (")); at++) {
		const char *offset = strstr(at, "+0x"), *end = strchr(at, ')');

		if (offset && end && offset < end)
			found = at;
	}
	return found;
}

/* Returns the name of the frame's function if the name is a C identifier.  Such a function may be a
 * library function.  Otherwise returns NULL. */
static const char *take_function(struct classify_pairs *p, const char *line)
{
	const char *name = line + strcspn(line, " "), *end;

	name += strspn(name, " ");
	for (end = name; isalnum((unsigned char)*end) || *end == '_';)
		end++;
	return end > name && (*end == ' ' || !*end) ? rd_arena_strndup(p->arena, name, (size_t)(end - name))
						    : NULL;
}

struct report {
	struct classify_place places[2];
	int access; /* the access that is being read, 0 or 1, or -1 before the first */
	bool race;
	/* For each of the two accesses: has[] is true if its place is known, and over[] is true if
	 * none of the remaining frames can be its place. */
	bool has[2], over[2];
	const char *within; /* the library function that may make the access, or NULL */
};

/* Parses a frame: "#1 name of a function PATH:LINE:COLUMN (module+0x12)". */
static void take_frame(struct classify_pairs *p, struct report *r, const char *line)
{
	struct classify_place *to = &r->places[r->access];
	const char *end, *at;

	line += strspn(line, " ");
	if (*line != '#' || strstr(line, "sanitizer_common") || strstr(line, "/tsan/"))
		return;
	end = find_module(line);
	for (at = end; at > line && at[-1] != ' ';)
		at--;
	r->has[r->access] = take_place(p, at, (size_t)(end - at), to);
	if (r->has[r->access]) {
		to->within = r->within;
		return;
	}
	r->over[r->access] = r->within || !(r->within = take_function(p, line));
}

static void end_report(struct classify_pairs *p, const struct report *r, size_t *lost)
{
	if (r->race && r->has[0] && r->has[1])
		add_pair(p, r->places);
	else
		*lost += r->race;
}

static void take_line(struct classify_pairs *p, struct report *r, const char *line, size_t *lost)
{
	int access = r->access < 2 ? r->access : -1;

	if (strstr(line, "WARNING: ThreadSanitizer: ")) {
		end_report(p, r, lost);
		*r = (struct report){.access = -1, .race = strstr(line, "data race") != NULL};
	} else if (begins_access(line)) {
		r->access++;
		r->within = NULL;
	} else if (access >= 0 && !line[strspn(line, " ")]) {
		r->over[access] = true;
	} else if (access >= 0 && !r->has[access] && !r->over[access]) {
		take_frame(p, r, line);
	}
}

int classify_pairs_from_tsan(struct classify_pairs *p, const char *text, const char *name)
{
	struct report r = {.access = -1};
	size_t before = p->count, lost = 0;

	while (*text) {
		size_t length = strcspn(text, "\n");
		char *line = rd_xstrndup(text, length);

		take_line(p, &r, line, &lost);
		free(line);
		text += length + (text[length] != 0);
	}
	end_report(p, &r, &lost);
	if (p->count == before && lost)
		return rd_fail(
			RD_EFORMAT,
			"%s: none of its %zu data races has a file and a line for both accesses; build "
			"the program that it reports on with -g",
			name, lost);
	if (p->count == before)
		return rd_fail(RD_EFORMAT, "%s: it contains no report of a data race by ThreadSanitizer",
			       name);
	if (lost)
		rd_warn("%s: %zu of its data races are left out: an access has no file and line", name, lost);
	return RD_OK;
}
