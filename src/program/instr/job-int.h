/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The job file of raddle-instr.  Each line describes a unit, in fields separated by tabs: the file
 * that holds the bitcode, the offset, the length, the slot, the object to make, the part of the
 * site table to make, and a word.  The word is "table" if the unit contains the program's table of
 * guards.  For facts it is "library" if the unit belongs to a library or plug-in.  Otherwise it is
 * "-".
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
