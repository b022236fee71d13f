/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this machine offers to Raddle.  Where possible an ability is tried: a program is compiled, a
 * watchpoint is set, a child is traced.  The report goes to a stream.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum doctor_status { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

struct doctor_item {
	const char *name;
	const char *used_by; /* the commands that use it */
	bool needed;	     /* without it cc and record do not work */
	enum doctor_status status;
	char *found;	    /* one line: what was found; owned */
	const char *means;  /* its consequence; NULL if all is well */
	const char *advice; /* how to fix it, or NULL */
};

struct doctor_report {
	struct doctor_item *items;
	size_t count, capacity;
	bool ready; /* nothing needed is missing */
};

void doctor_examine(struct doctor_report *report); /* compiles two small programs */
void doctor_report_release(struct doctor_report *report);

void doctor_report_text(const struct doctor_report *report, FILE *out);
int doctor_report_json(const struct doctor_report *report, FILE *out); /* doc/format/doctor.md */

const char *doctor_status_name(enum doctor_status status);

#endif
