/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of guards of a program.  It lists the accesses that get a guard, in the format of the
 * table in raddle/guard.h.  It also has a line "x NAME" for each library function that may order
 * threads without calling a function that Raddle interposes.  The "x" lines are not stored in the
 * program.
 */
#ifndef INSTR_GUARDS_H
#define INSTR_GUARDS_H

#include "base/buf.h"
#include "base/map.h"

struct instr_guards {
	struct rd_umap sites;	 /* maps a site to its guard */
	struct rd_names outside; /* the library functions of "x" lines */
	struct rd_buf table;	 /* the lines that are stored in the program */
};

/* Reads `text`.  `name` is the file's name, for messages.  The caller must release the result even
 * after a failure. */
int instr_guards_parse(struct instr_guards *g, const char *text, const char *name);
void instr_guards_release(struct instr_guards *g);

#endif
