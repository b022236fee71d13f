/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bugs.  A bug is what a programmer repairs with one change.  Findings are the evidence of a bug:
 * several races on one variable, for example, are one bug.  bug.c has the rules.
 *
 * 	struct finding_bugs bugs;
 * 	finding_bugs_list(&bugs, set);
 * 	for (size_t i = 0; i < bugs.count; i++)
 * 		print(bugs.items[i].id, bugs.items[i].findings[0]);
 * 	finding_bugs_release(&bugs);
 */
#ifndef FINDING_BUG_H
#define FINDING_BUG_H

#include "finding/finding.h"

/* How bad a bug is; the worst comes first. */
enum finding_severity {
	FINDING_HIGH,	/* the program fails: it crashes, hangs or violates an assertion */
	FINDING_MEDIUM, /* the output depends on the schedule, or the effect is unknown */
	FINDING_LOW,	/* no effect was seen, or only one order is possible */
	FINDING_SEVERITIES,
};

struct finding_bug {
	const char *id;		   /* the same in every check that sees the same findings */
	struct finding **findings; /* the first one is the worst, and stands for the bug */
	size_t count;
};

struct finding_bugs {
	struct finding_bug *items; /* the worst first */
	size_t count;
	struct finding **findings; /* all findings of the set, bug by bug */
};

/* Sets the member `bug` of each finding.  Findings with the same text there are one bug. */
void finding_group(const struct finding_set *set);

/* Groups the findings of a set and lists the bugs.  The list refers to the set. */
void finding_bugs_list(struct finding_bugs *bugs, const struct finding_set *set);
void finding_bugs_release(struct finding_bugs *bugs);

/* Returns the number of bugs of the set that have a confirmed finding which is neither known nor
 * suppressed. */
size_t finding_bugs_fresh(const struct finding_bugs *bugs);

/* Returns true if the schedule of the first witness shows what a race does, rather than the race. */
bool finding_shows_effect(const struct finding *f);

/* Returns a text such as "data race" or "use after free". */
const char *finding_words(const struct finding *f);

/* Appends "data race on hits", "use after free of struct conn.refs" or "deadlock of 2 threads". */
void finding_title(struct rd_buf *out, const struct finding *f);
void finding_bug_title(struct rd_buf *out, const struct finding_bug *bug);

/* Appends one or two sentences that state why the bug exists, from the facts of its findings.  Appends
 * nothing if the facts are not sufficient. */
void finding_why(struct rd_buf *out, const struct finding_bug *bug);

/* Returns the finding that stands for the bug whose id begins with `id` (at least 6 digits).  Returns
 * NULL if there is no such bug, or more than one. */
struct finding *finding_bugs_find(const struct finding_bugs *bugs, const char *id);

enum finding_severity finding_severity(const struct finding *f);
const char *finding_severity_name(enum finding_severity severity); /* "high", "medium" or "low" */

#endif
