// SPDX-License-Identifier: Apache-2.0
/*
 * Cases of test suites.  In: the output of a program.  Out: the case that failed, and its place.
 *
 *	cmocka      [ RUN      ] name
 *	            [   LINE   ] --- file.c:12: error: ...
 *	            [  FAILED  ] name
 *	GoogleTest  [ RUN      ] Suite.Name
 *	            file.cc:12: Failure
 *	            [  FAILED  ] Suite.Name (0 ms)
 *	Check       file.c:12:F:Case:name:0: ...    (F: it failed, E: it crashed)
 *
 * The text is untrusted: the only assumption is that it has an end.
 */
#include "trial/suite-int.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* number of bytes that are examined in each line; chosen by hand: case names come early in a
 * line */
#define LINE 512

struct finder {
	struct suite_case failed, running;
	char place[SUITE_NAME]; /* the place that was named last, in this stream */
	char first[SUITE_NAME]; /* the place that was named first, in any stream */
};

/* Returns true if the line begins with "[ TAG ]", with any number of blanks.  Then *rest points to
 * the text after it. */
static bool has_tag(const char *line, const char *tag, const char **rest)
{
	const char *at = line;

	if (*at++ != '[')
		return false;
	at += strspn(at, " ");
	if (strncmp(at, tag, strlen(tag)) != 0)
		return false;
	at += strlen(tag);
	at += strspn(at, " ");
	if (*at != ']')
		return false;
	*rest = at + 1 + strspn(at + 1, " -");
	return true;
}

/* Copies the name of a test case.  Ignores "1 test(s), listed below", which is a count, not a
 * name. */
static void take_name(char to[SUITE_NAME], const char *from)
{
	if (*from < '0' || *from > '9')
		snprintf(to, SUITE_NAME, "%.*s", (int)strcspn(from, " ,\n"), from);
}

/* Returns the length of a place such as "file:12" at the beginning of the text, or 0 if there is
 * none. */
static size_t place_length(const char *text)
{
	size_t file = strcspn(text, ": \n"), digits;

	if (!file || text[file] != ':')
		return 0;
	digits = strspn(text + file + 1, "0123456789");
	return digits && digits < 10 ? file + 1 + digits : 0;
}

static void take_place(char to[SUITE_NAME], const char *text)
{
	size_t length = place_length(text);

	if (length && length < SUITE_NAME)
		snprintf(to, SUITE_NAME, "%.*s", (int)length, text);
}

/* Parses a line of Check: "file:12:F:Case:name:0: words". */
static void look_for_check(struct finder *f, const char *line)
{
	size_t length = place_length(line);
	const char *at = line + length;

	if (!length || length >= SUITE_NAME || (strncmp(at, ":F:", 3) != 0 && strncmp(at, ":E:", 3) != 0))
		return;
	at += 3;
	if (!at[strcspn(at, ":")])
		return;
	at += strcspn(at, ":") + 1;
	if (f->failed.name[0])
		return;
	snprintf(f->failed.name, SUITE_NAME, "%.*s", (int)strcspn(at, ":\n"), at);
	take_place(f->failed.place, line);
}

static void look_at_line(struct finder *f, const char *line)
{
	const char *rest;

	if (has_tag(line, "RUN", &rest)) {
		f->place[0] = '\0';
		take_name(f->running.name, rest);
	} else if (has_tag(line, "OK", &rest)) {
		f->running.name[0] = '\0';
	} else if (has_tag(line, "LINE", &rest)) {
		take_place(f->place, rest);
	} else if (has_tag(line, "FAILED", &rest)) {
		if (!f->failed.name[0]) {
			take_name(f->failed.name, rest);
			memcpy(f->failed.place, f->place, sizeof f->place);
		}
		f->running.name[0] = '\0';
	} else if (strstr(line, ": Failure")) {
		take_place(f->place, line);
	} else {
		look_for_check(f, line);
	}
}

struct suite_case suite_find(const struct trial_text *streams, int count)
{
	struct finder f = {0};

	RD_ASSERT(count >= 0 && count <= TRIAL_STREAMS);
	for (int i = 0; i < count; i++) {
		struct trial_text line;
		size_t at = 0;

		f.place[0] = '\0';
		while (trial_next_line(&streams[i], &at, &line)) {
			char text[LINE];

			snprintf(text, sizeof text, "%.*s", (int)(line.length < LINE ? line.length : LINE),
				 line.data);
			look_at_line(&f, text);
			if (!f.first[0])
				memcpy(f.first, f.place, sizeof f.first);
		}
	}
	if (!f.failed.place[0])
		memcpy(f.failed.place, f.first, sizeof f.first);
	return f.failed.name[0] ? f.failed : f.running;
}
