/* SPDX-License-Identifier: Apache-2.0 */
/* Edits that --require and --without-sync ask for (base/edit.h), for `check` and `classify`. */
#ifndef CHECK_EDITS_H
#define CHECK_EDITS_H

#include "base/edit.h"
#include "finding/finding.h"
#include "trace/sites.h"

struct check_edits {
	struct rd_edits all;
	char *lines; /* the same edits as text, or NULL if there are none */
};

/* Reads the values of --require and --without-sync, which may be NULL.  Call check_edits_close()
 * even after a failure. */
int check_edits_open(struct check_edits *e, const char *require, const char *without_sync);
void check_edits_close(struct check_edits *e);

/* Adds the edits (changes of the program) with which the findings of a document were made.  They
 * precede the edits of the command line, so that they keep their numbers.  Fails if the command
 * line leaves out synchronisation that the document does not leave out, because the findings would
 * then be about a different program. */
int check_edits_add(struct check_edits *e, const struct finding_set *set);

/* Fails if some edit applies to no code of the program, according to the site table.  `predicates`
 * is true if this flavour also has the code of --require. */
int check_edits_find(const struct check_edits *e, const struct trace_sites *sites, bool predicates);

/* Makes the schedules of the findings name the edits. */
void check_edits_mark(const struct check_edits *e, struct finding_set *set);

/* Warns about edits that no run reached.  `reached` has a bit for each edit, which is set if a run
 * reached it. */
void check_edits_warn(const struct check_edits *e, uint32_t reached);

#endif
