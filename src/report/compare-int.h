/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations for the files that report comparisons: a comparison, and functions that return words
 * for its parts. */
#ifndef REPORT_COMPARE_INT_H
#define REPORT_COMPARE_INT_H

#include "base/alloc.h"
#include "epa/show.h"
#include "report/comparison.h"

struct compare_view {
	const struct epa_process *process;
	const struct epa_comparison *result;
	struct epa_show show;
	struct rd_arena *words;
};

void compare_view_init(struct compare_view *v, const struct epa_process *p, const struct epa_comparison *c);
void compare_view_release(struct compare_view *v);

/* The following functions return texts that are valid until compare_view_release(), or NULL if
 * there is no such text.  `there` is true if the record exists. */
const char *compare_record(const struct compare_view *v, const struct epa_record *r, bool there);
const char *compare_slot(const struct compare_view *v, const struct epa_record *r, bool there, unsigned slot);
const char *compare_operation(const struct compare_view *v, const struct epa_node *n);
/* Returns the canonical name of the object that the record accesses. */
const char *compare_object(const struct compare_view *v, const struct epa_record *r, bool there);
const char *compare_name(const struct compare_view *v, struct epa_name name);
/* Returns a text such as "file.c:12 function". */
const char *compare_place(const struct compare_view *v, uint32_t site);
const char *compare_thread(const struct compare_view *v, uint32_t name);
/* Returns the variable that is accessed at a site, as written in the source. */
const char *compare_what(const struct compare_view *v, uint32_t site);

/* Returns a text such as "T_0_1 at file.c:12 function: 5 became 7". */
const char *compare_fault(const struct compare_view *v, const struct epa_fault *fault);

/* Returns the record of a node in the compared run.  If that run has no such record, returns the
 * record of the golden (fault-free) run. */
const struct epa_record *compare_node_record(const struct epa_node *n);

/* Returns a text such as "data deviation in T_0_1, record 12, at file.c:12 function". */
const char *compare_sentence(const struct compare_view *v);

#endif
