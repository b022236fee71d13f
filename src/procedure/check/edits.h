/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to the program that --require and --without-sync ask for (base/edit.h), for `classify` and `check`.
 */
#ifndef CHECK_EDITS_H
#define CHECK_EDITS_H

#include "base/edit.h"
#include "finding/finding.h"
#include "trace/sites.h"

struct check_edits {
	struct rd_edits all;
	char *lines; /* as text; NULL: there are none */
};

/* Those that the user asks for; the texts may be NULL. */
int check_edits_open(struct check_edits *e, const char *require, const char *without_sync);
void check_edits_close(struct check_edits *e);

/* Edits with which the findings of a document were made come first, so that they keep their
 * numbers.  It is an error if the command line leaves out synchronisation that the document does
 * not: the findings would be about a different program. */
int check_edits_add(struct check_edits *e, const struct finding_set *set);

/* Whether the program has code at each place, by its site table; `predicates`: they are in this flavour. */
int check_edits_find(const struct check_edits *e, const struct trace_sites *sites, bool predicates);

/* The schedules of the findings name them. */
void check_edits_mark(const struct check_edits *e, struct finding_set *set);

/* Warns of those that no run came to; `reached` has a bit for each. */
void check_edits_warn(const struct check_edits *e, uint32_t reached);

#endif
