/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job file of raddle-instr.  Each line describes a unit, the bitcode of one source file.  Its
 * fields are separated by tabs:
 *   - the file that holds the bitcode, and the offset and length in this file
 *   - the slot, which is the range of numbers that the unit's sites get
 *   - the object file and the part of the site table that are to be made
 *   - a word: "table" if the unit contains the program's table of guards; "library" if the
 *     unit belongs to a library or plug-in (only when facts are made); otherwise "-"
 */
#ifndef INSTR_JOB_INT_H
#define INSTR_JOB_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instr_job {
	char *source; /* the path of the file that contains the bitcode */
	/* The range of the bitcode in the file; a length of 0 means up to the end. */
	uint64_t offset, length;
	uint64_t slot;	      /* the number of the unit's first slot of sites */
	char *object, *sites; /* the paths of the files to make */
	bool carries_table;   /* true if this is the one unit that contains the table of guards */
	/* True if the unit belongs to a library or plug-in; used for facts only. */
	bool is_library;
};

struct instr_jobs {
	struct instr_job *items;
	size_t count, capacity;
};

/* Parses the lines of `text`, which holds the strings of the jobs.  `name` is the file name for
 * messages.  The caller frees `items` even after a failure. */
int instr_jobs_parse(struct instr_jobs *jobs, char *text, const char *name);

#endif
