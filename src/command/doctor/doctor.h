/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests whether this machine has the features that Raddle needs.  Where possible, a feature is used
 * once.  For instance, a program is compiled, a watchpoint is set, and a child is traced.  The
 * report is written to a stream.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum doctor_status { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

struct doctor_item {
	const char *name;
	const char *used_by; /* the commands that use the feature */
	bool needed;	     /* true if cc and record need the feature */
	enum doctor_status status;
	char *found;	    /* a line that describes what was found; freed with the report */
	const char *means;  /* the consequence; NULL if nothing is missing */
	const char *advice; /* how the user can fix the problem; or NULL */
};

struct doctor_report {
	struct doctor_item *items;
	size_t count, capacity;
	bool ready; /* true if everything that is needed is present */
};

void doctor_examine(struct doctor_report *report); /* compiles two small programs */
void doctor_report_release(struct doctor_report *report);

void doctor_report_text(const struct doctor_report *report, FILE *out);
/* Writes the report in the format of doc/format/doctor.md. */
int doctor_report_json(const struct doctor_report *report, FILE *out);

const char *doctor_status_name(enum doctor_status status);

#endif
