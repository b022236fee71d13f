// SPDX-License-Identifier: Apache-2.0
/* Parses edits from the user's text or from stored lines, and formats them as text. */
#include "base/edit.h"

#include "base/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {[RD_EDIT_REQUIRE] = "require", [RD_EDIT_WITHOUT_SYNC] = "without-sync"};

void rd_edits_release(struct rd_edits *e)
{
	rd_arena_free(e->arena);
	*e = (struct rd_edits){0};
}

bool rd_is_path_end(const char *path, const char *wanted)
{
	size_t length = strlen(path), end = strlen(wanted);

	return length >= end && !strcmp(path + length - end, wanted) &&
	       (length == end || path[length - end - 1] == '/');
}

/* Returns a copy of the text without the white space around it.  Control characters become spaces,
 * so the copy is one line. */
static char *trimmed(struct rd_edits *e, const char *text, size_t length)
{
	char *copy;

	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	while (length && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	copy = rd_arena_strndup(e->arena, text, length);
	for (char *c = copy; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	return copy;
}

/* Parses FILE:LINE. */
static bool get_place(struct rd_edit *edit, char *place)
{
	char *colon = strrchr(place, ':'), *end;
	unsigned long line = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon == place || !isdigit((unsigned char)colon[1]) || *end || !line ||
	    line > INT32_MAX)
		return false;
	*colon = '\0';
	edit->file = place;
	edit->line = (uint32_t)line;
	return true;
}

static bool is_there(const struct rd_edits *e, const char *text)
{
	for (size_t i = 0; i < e->count; i++)
		if (!strcmp(e->items[i].text, text))
			return true;
	return false;
}

static int add(struct rd_edits *e, struct rd_edit *edit)
{
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_addf(&text, "%s ", names[edit->kind]);
	if (edit->expression)
		rd_buf_addf(&text, "%s @ ", edit->expression);
	rd_buf_addf(&text, "%s:%u", edit->file, edit->line);
	edit->text = rd_arena_strndup(e->arena, text.data, text.length);
	rd_buf_release(&text);
	if (is_there(e, edit->text))
		return RD_OK;
	if (e->count == RD_EDITS_MAX)
		return rd_fail(RD_EUSAGE, "more than %d predicates and places without synchronisation",
			       RD_EDITS_MAX);
	e->items[e->count++] = *edit;
	return RD_OK;
}

static int add_require(struct rd_edits *e, const char *text, size_t length)
{
	struct rd_edit edit = {.kind = RD_EDIT_REQUIRE};
	char *copy = trimmed(e, text, length), *at = strrchr(copy, '@');

	if (!at || !get_place(&edit, trimmed(e, at + 1, strlen(at + 1))))
		return rd_fail(RD_EUSAGE, "--require: expected 'EXPR @ FILE:LINE', not '%s'", copy);
	edit.expression = trimmed(e, copy, (size_t)(at - copy));
	if (!*edit.expression)
		return rd_fail(RD_EUSAGE, "--require: there is no expression in '%s'", copy);
	return add(e, &edit);
}

static int add_without(struct rd_edits *e, const char *text, size_t length)
{
	struct rd_edit edit = {.kind = RD_EDIT_WITHOUT_SYNC};
	char *place = trimmed(e, text, length);

	if (!get_place(&edit, place))
		return rd_fail(RD_EUSAGE, "--without-sync: expected FILE:LINE, not '%s'", place);
	return add(e, &edit);
}

typedef int add_fn(struct rd_edits *e, const char *text, size_t length);

static int add_parts(struct rd_edits *e, const char *text, const char *separators, add_fn *fn)
{
	int err = RD_OK;

	if (!e->arena)
		e->arena = rd_arena_new();
	for (const char *at = text; at && *at && !err; at += *at != '\0') {
		size_t length = strcspn(at, separators);

		err = fn(e, at, length);
		at += length;
	}
	return err;
}

int rd_edits_require(struct rd_edits *e, const char *text)
{
	return text && !*text ? rd_fail(RD_EUSAGE, "--require: expected 'EXPR @ FILE:LINE'")
			      : add_parts(e, text, ";", add_require);
}

int rd_edits_without_sync(struct rd_edits *e, const char *text)
{
	return text && !*text ? rd_fail(RD_EUSAGE, "--without-sync: expected FILE:LINE")
			      : add_parts(e, text, ",", add_without);
}

static int add_line(struct rd_edits *e, const char *text, size_t length)
{
	static add_fn *const kinds[] = {
		[RD_EDIT_REQUIRE] = add_require, [RD_EDIT_WITHOUT_SYNC] = add_without};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);
		if (length > n && !strncmp(text, names[i], n) && text[n] == ' ')
			return kinds[i](e, text + n + 1, length - n - 1);
	}
	return rd_fail(RD_EFORMAT, "'%.*s' is not a change to a program", (int)length, text);
}

int rd_edits_parse(struct rd_edits *e, const char *lines, const char *name)
{
	int err = add_parts(e, lines, "\n", add_line);

	return err ? rd_fail(err, "%s: its changes to the program cannot be read", name) : RD_OK;
}

void rd_edits_format(const struct rd_edits *e, bool predicates, struct rd_buf *out)
{
	for (size_t i = 0; i < e->count; i++)
		if (predicates || e->items[i].kind != RD_EDIT_REQUIRE)
			rd_buf_addf(out, "%s\n", e->items[i].text);
}
