/* SPDX-License-Identifier: Apache-2.0 */
/* How a recorded run of `raddle check` ended, and what that means for the check. */
#ifndef CMD_ENDING_H
#define CMD_ENDING_H

#include "base/buf.h"
#include "run/meter.h"

#include <stdbool.h>
#include <stdint.h>

struct cmd_ending {
	struct run_end end;
	bool stood;	   /* it stood still for good, and was ended */
	int companion;	   /* status of the command beside it, if it ended first; 0: well, or not at all */
	uint64_t events;   /* recorded */
	char *stopped;	   /* why recording stopped before; NULL: it did not */
	uint64_t limit_ms; /* that it was given; 0: none */
	bool full;	   /* it was ended since its trace was as long as the check has time to look at, */
	bool mute;	   /* or had been the same for long */
	bool unasked;	   /* for nobody said how long a run may take, and the check has its time */
};

void cmd_ending_release(struct cmd_ending *e);

/* "ended with status 3". */
void cmd_ending_words(const struct cmd_ending *e, struct rd_buf *out);

/* Whether we ended it, because its time was up. */
bool cmd_ending_late(const struct cmd_ending *e);

/* Whether it was still working then. */
bool cmd_ending_busy(const struct cmd_ending *e);

/* Whether the run failed, or may have, for want of address space that is ours to take (ulimit -v). */
bool cmd_ending_pinched(const struct cmd_ending *e);

/* Fails, with the reason, if the run is no ground for a check: the program never started, or the command
 * beside it did not do its work. */
int cmd_ending_check(const struct cmd_ending *e, const char *program, const char *companion);

/* Why a check that confirms nothing after such a run says nothing; false: it does.  `at_start`: what failed
 * did so before it did anything, and is no finding. */
bool cmd_ending_doubt(const struct cmd_ending *e, bool at_start, struct rd_buf *why);

/* The status that a shell would show: 128 and the signal. */
int cmd_ending_status(const struct cmd_ending *e);

#endif
