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
	bool deadlocked; /* the program was deadlocked, and was killed */
	/* wait status of the command that runs beside the program; 0 for success, or if Raddle
	 * ended that command */
	int companion;
	uint64_t events;   /* number of recorded events */
	char *stopped;	   /* why recording stopped before the run ended, or NULL if it did not */
	uint64_t limit_ms; /* time limit of the run, or 0 for none */
	bool full;	   /* the run was ended because the check has no time to analyse a longer trace */
	bool quiet;	   /* the run was ended because it had recorded nothing for long */
	/* `limit_ms` was not set by the user, but chosen so that the check ends in time */
	bool unasked;
};

void check_ending_release(struct check_ending *e);

/* Appends a description, such as "ended with status 3". */
void check_ending_words(const struct check_ending *e, struct rd_buf *out);

/* Returns true if Raddle ended the run because its time was up. */
bool check_ending_late(const struct check_ending *e);

/* Returns true if the program was still working when Raddle ended it. */
bool check_ending_busy(const struct check_ending *e);

/* Returns true if the run may have failed because Raddle used part of a limited address space
 * (ulimit -v). */
bool check_ending_pinched(const struct check_ending *e);

/* Fails with a message if a check cannot be based on the run, because the program never started or
 * the accompanying command failed. */
int check_ending_check(const struct check_ending *e, const char *program, const char *companion);

/* Called if the check confirmed nothing.  Returns true if this run is no evidence that the program
 * is correct, and stores the reason in `why`.  `at_start` is true if the program failed before it
 * did anything; such a failure is not a finding. */
bool check_ending_doubt(const struct check_ending *e, bool at_start, struct rd_buf *why);

/* Returns the exit status that a shell would report for the program.  If a signal ended the
 * program, this is 128 plus the number of the signal. */
int check_ending_status(const struct check_ending *e);

#endif
