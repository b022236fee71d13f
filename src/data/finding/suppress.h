/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suppressions in the syntax of ThreadSanitizer.  Each line is TYPE:PATTERN.  The pattern is
 * searched for in function names, files, modules and objects; finding/README.md lists what each
 * type is compared with.  `*` matches any text, `^` and `$` anchor the pattern, and `#` starts a
 * comment line.  The type called_from_lib is rejected, because such a rule would never match.
 */
#ifndef FINDING_SUPPRESS_H
#define FINDING_SUPPRESS_H

#include "base/buf.h"
#include "finding/finding.h"

enum suppress_type {
	SUPPRESS_RACE,
	SUPPRESS_RACE_TOP,
	SUPPRESS_DEADLOCK,
	SUPPRESS_MUTEX,
	SUPPRESS_THREAD,
	SUPPRESS_SIGNAL,  /* accepted but never matches: Raddle has no such findings */
	SUPPRESS_FAILURE, /* known only to Raddle */
	SUPPRESS_FINDING, /* known only to Raddle; compared with the finding's id */
	SUPPRESS_TYPES,
};

struct suppress_rule {
	enum suppress_type type;
	char *pattern;
	size_t line; /* line number in its file */
	size_t hits; /* number of findings that it hid */
};

struct suppressions {
	struct suppress_rule *rules;
	size_t count, capacity;
};
#define SUPPRESSIONS_INIT                                                                                    \
	{                                                                                                    \
		0                                                                                            \
	}

/* Adds the rules of a file.  If a line is not a rule, reports an error that quotes the line. */
int suppressions_parse(struct suppressions *s, const void *data, size_t length, const char *name);
int suppressions_read(struct suppressions *s, const char *path);
void suppressions_release(struct suppressions *s);

/* Sets `suppressed` of the findings that a rule hides, and counts the hits.  Returns the number of
 * hidden findings. */
size_t suppressions_apply(struct suppressions *s, struct finding_set *set);

/* Appends to `out` a rule for each confirmed finding that is not hidden yet.  The rule contains
 * the finding's id, so it hides no other finding.  A comment above the rule describes the finding,
 * and contains the corresponding rule of ThreadSanitizer. */
void suppressions_make(const struct finding_set *set, struct rd_buf *out);

int suppressions_write(const struct finding_set *set, FILE *out);

const char *suppress_type_name(enum suppress_type type);

/* Returns true if the pattern is found in the text. */
bool suppress_match(const char *pattern, const char *text);

#endif
