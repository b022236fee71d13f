/* SPDX-License-Identifier: Apache-2.0 */
/* How a recorded run of a check ended, and what that means for the check. */
#ifndef CHECK_ENDING_H
#define CHECK_ENDING_H

#include "base/buf.h"
#include "run/meter.h"

#include <stdbool.h>
#include <stdint.h>

struct check_ending {
	struct run_end end;
	bool deadlocked;   /* for good, and was ended */
	int companion;	   /* status of the command beside it, if it ended first; 0: well, or not at all */
	uint64_t events;   /* recorded */
	char *stopped;	   /* why recording stopped before; NULL: it did not */
	uint64_t limit_ms; /* that it was given; 0: none */
	bool full;	   /* it was ended since its trace was as long as the check has time to look at, */
	bool quiet;	   /* or it had recorded nothing for long */
	bool unasked;	   /* the limit is ours: the user gave none, and the check has to end in time */
};

void check_ending_release(struct check_ending *e);

/* "ended with status 3". */
void check_ending_words(const struct check_ending *e, struct rd_buf *out);

/* Whether we ended it, because its time was up. */
bool check_ending_late(const struct check_ending *e);

/* Whether it was still working then. */
bool check_ending_busy(const struct check_ending *e);

/* Whether the run failed, or may have, for want of address space that is ours to take (ulimit -v). */
bool check_ending_pinched(const struct check_ending *e);

/* Fails, with the reason, if a check cannot be based on the run: the program never started, or the
 * accompanying command failed. */
int check_ending_check(const struct check_ending *e, const char *program, const char *companion);

/* Whether "nothing confirmed" after such a run proves nothing, and why.  `at_start`: the program
 * failed before it did anything, which is not a finding. */
bool check_ending_doubt(const struct check_ending *e, bool at_start, struct rd_buf *why);

/* The status that a shell would show: 128 and the signal. */
int check_ending_status(const struct check_ending *e);

#endif
