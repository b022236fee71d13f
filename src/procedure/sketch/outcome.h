/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run failed: the kind of failure, its cause and its place.  In: how a process ended and its
 * output; or a report from the user, which is the output of a sanitizer, of gdb or of an assertion,
 * or FILE:LINE; or a core file.  Out: the failure and its signature, which is the same for the same
 * bug in every run.
 */
#ifndef SKETCH_OUTCOME_H
#define SKETCH_OUTCOME_H

#include "sketch/run.h"

#include <stddef.h>

/* A failure.  It owns all its strings; unknown strings are NULL. */
struct sketch_failure {
	enum sketch_outcome kind; /* SKETCH_PASSED if nothing failed */
	/* Such as "SIGSEGV", "Assertion `x' failed", "heap-use-after-free", "status 3". */
	char *what;
	char *file, *function;
	uint32_t line; /* 0 if unknown */
	uint32_t thread;
};
void sketch_failure_release(struct sketch_failure *f);

/* Returns kind, cause and place as one line, which the caller frees.  It contains no addresses or
 * other numbers that change from run to run.
 */
char *sketch_signature(const struct sketch_failure *f);

/* Finds a failed assertion in a text: "prog: file.c:12: function: Assertion `x' failed." Returns
 * false if the text does not contain one. */
bool sketch_read_assertion(struct sketch_failure *f, const char *text, size_t length);

/* Reads a report of any textual kind.  If it contains no place, fails with a message that includes
 * `name`.  Frames of system libraries are skipped. */
int sketch_read_text(struct sketch_failure *f, const char *text, size_t length, const char *name);

/* Reads the report in the file `report`.  If there is no such file, `report` may itself be
 * FILE:LINE.  A core file is read by gdb, together with the program. */
int sketch_read_report(struct sketch_failure *f, const char *report, const char *program);

#endif
