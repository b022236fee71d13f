/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of guards of a program: which accesses get a guard, and which library functions may
 * order threads unnoticed.  Its lines are the table of raddle/guard.h, and "x NAME" for each such
 * function.  The "x" lines are not stored in the program.
 */
#ifndef INSTR_GUARDS_H
#define INSTR_GUARDS_H

#include "base/buf.h"
#include "base/map.h"

struct instr_guards {
	struct rd_umap sites;	 /* site to guard */
	struct rd_names outside; /* functions */
	struct rd_buf table;	 /* for the program */
};

/* Reads `text`; `name` is the file's, for messages.  Must be released even after a failure. */
int instr_guards_parse(struct instr_guards *g, const char *text, const char *name);
void instr_guards_release(struct instr_guards *g);

#endif
