/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about comparisons share: a comparison, and the words for its parts. */
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

/* Texts live until compare_view_release().  NULL: there is no such text.  `there`: whether the
 * record exists. */
const char *compare_record(const struct compare_view *v, const struct epa_record *r, bool there);
const char *compare_slot(const struct compare_view *v, const struct epa_record *r, bool there, unsigned slot);
const char *compare_operation(const struct compare_view *v, const struct epa_node *n);
/* What the record accesses, by its canonical name. */
const char *compare_object(const struct compare_view *v, const struct epa_record *r, bool there);
const char *compare_name(const struct compare_view *v, struct epa_name name);
const char *compare_place(const struct compare_view *v, uint32_t site); /* file.c:12 function */
const char *compare_thread(const struct compare_view *v, uint32_t name);
/* The variable that the source names at a site. */
const char *compare_what(const struct compare_view *v, uint32_t site);

/* "T_0_1 at file.c:12 function: 5 became 7" */
const char *compare_fault(const struct compare_view *v, const struct epa_fault *fault);

/* The run's record of a node, or the golden one if the run has no such record. */
const struct epa_record *compare_node_record(const struct epa_node *n);

/* "data deviation in T_0_1, record 12, at file.c:12 function" */
const char *compare_sentence(const struct compare_view *v);

#endif
