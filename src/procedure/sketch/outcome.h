/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run failed: the kind of failure, its cause and its place.  In: the output of a run, a
 * report from the user, or a core file.  A report may be the output of a sanitizer, of gdb or of an
 * assertion, or just FILE:LINE.  Out: the failure and its signature, which is the same for the same
 * bug in every run.
 */
#ifndef SKETCH_OUTCOME_H
#define SKETCH_OUTCOME_H

#include "sketch/run.h"

#include <stddef.h>

/* A failure.  It owns all its strings; unknown strings are NULL. */
struct sketch_failure {
	enum sketch_outcome kind; /* SKETCH_PASSED if nothing failed */
	/* What failed, such as "SIGSEGV", "Assertion `x' failed", "heap-use-after-free", "status
	 * 3". */
	char *what;
	char *file, *function;
	uint32_t line; /* 0 if unknown */
	uint32_t thread;
};
void sketch_failure_release(struct sketch_failure *f);

/* Returns a line of text that consists of the kind, cause and place of the failure.  The text
 * contains no addresses or other numbers that change from run to run.  The caller must free it. */
char *sketch_signature(const struct sketch_failure *f);

/* Looks in a text for the message of a failed assertion, such as "prog: file.c:12: function:
 * Assertion `x' failed."  Returns false if there is no such message. */
bool sketch_read_assertion(struct sketch_failure *f, const char *text, size_t length);

/* Reads a report in any of the text formats.  Skips frames of system libraries.  If the report
 * contains no place, fails with a message that includes `name`. */
int sketch_read_text(struct sketch_failure *f, const char *text, size_t length, const char *name);

/* Reads the report in the file `report`.  If there is no such file, `report` itself may be a place,
 * FILE:LINE.  If the file is a core file, gdb reads it together with the program. */
int sketch_read_report(struct sketch_failure *f, const char *report, const char *program);

#endif
