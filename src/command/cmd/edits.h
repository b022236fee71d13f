/* SPDX-License-Identifier: Apache-2.0 */
/* Changes to the program that --require and --without-sync ask for (base/edit.h), for `classify` and `check`.
 */
#ifndef CMD_EDITS_H
#define CMD_EDITS_H

#include "base/edit.h"
#include "finding/finding.h"
#include "trace/sites.h"

struct cmd_edits {
	struct rd_edits all;
	char *lines; /* as text; NULL: there are none */
};

/* Those of the command line. */
int cmd_edits_open(struct cmd_edits *e);
void cmd_edits_close(struct cmd_edits *e);

/* Those that the findings of a document were made with come in front, so that their numbers stay.  What is
 * left out on the command line only would make another program of it: that is an error. */
int cmd_edits_add(struct cmd_edits *e, const struct finding_set *set);

/* Whether the program has code at each place, by its site table; `predicates`: they are in this flavour. */
int cmd_edits_find(const struct cmd_edits *e, const struct trace_sites *sites, bool predicates);

/* The schedules of the findings name them. */
void cmd_edits_mark(const struct cmd_edits *e, struct finding_set *set);

/* Warns of those that no run came to; `reached` has a bit for each. */
void cmd_edits_warn(const struct cmd_edits *e, uint32_t reached);

#endif
