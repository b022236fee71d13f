/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent of a guarded program.  It starts the program, passes tasks to it, and communicates
 * with the hive.
 *
 * The program runs no matter what fails: if there is no hive, if the hive hangs or sends bad
 * answers, if the guard flavour or the shared memory is missing, and even if the agent dies.  No
 * thread of the program ever waits for the agent.  The site obeys the hive only within its own
 * limits.
 */
#ifndef SITE_AGENT_H
#define SITE_AGENT_H

#include "protocol/task-set.h"

#include <stdbool.h>

struct site_opts {
	const char *hive; /* the address of the hive */
	/* The path of a file with the token.  If NULL, $RADDLE_HIVE_TOKEN is used, if it is set. */
	const char *token_file;
	/* The hive's key, in 64 hexadecimal digits.  If NULL, the key that the hive sent at the
	 * first contact is used. */
	const char *key;
	const char *ca;	       /* the path of a file of trusted certificates; NULL for the system's */
	const char *state_dir; /* the path of the state directory; NULL for the user's */
	/* The path of a file.  While the file exists, the site is off: guards are inactive, and
	 * nothing is tracked. */
	const char *kill_file;
	/* the most that the site may do, no matter what the hive requests */
	enum protocol_mode mode;
	uint32_t max_tau_ms; /* the longest pause of a thread, in milliseconds */
	bool poll_now;	     /* whether to wait for the hive before the start and after the end */
	bool dump;	     /* whether to show what would be sent, and send nothing */
	bool values;	     /* true if values of memory may be sent when a failure is tracked */
	bool ask;	     /* whether to ask after Ctrl-C if the program had failed */
	bool verbose;
};

/* Runs the program and returns its wait status, as waitpid() reports it.  Returns a negative
 * number if the program could not be started. */
int site_run(const struct site_opts *opts, char *const *argv);

#endif
