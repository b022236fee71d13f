/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent beside a guarded program: it starts the program, gives it tasks, and talks to the hive.
 *
 * The program runs whatever goes wrong: if there is no hive, if the hive hangs or sends bad
 * answers, if the guard flavour or the shared memory is missing, and even if the agent dies.  No
 * thread of the program ever waits for the agent.  The site obeys the hive only within the site's
 * own limits.
 */
#ifndef SITE_AGENT_H
#define SITE_AGENT_H

#include "protocol/task-set.h"

#include <stdbool.h>

struct site_opts {
	const char *hive;	 /* URL */
	const char *token_file;	 /* NULL: $RADDLE_HIVE_TOKEN, or none */
	const char *key;	 /* 64 hexadecimal digits; NULL: that of the first contact */
	const char *ca;		 /* certificates to trust; NULL: the system's */
	const char *state_dir;	 /* NULL: the user's */
	const char *kill_file;	 /* while it exists the site is off */
	enum protocol_mode mode; /* the most that is done */
	uint32_t max_tau_ms;	 /* the longest wait of a thread */
	bool poll_now;		 /* wait for the hive before the start and after the end */
	bool dump;		 /* show what would be sent, and send nothing */
	bool values;		 /* values of memory may be sent if a failure is tracked */
	bool ask;		 /* after Ctrl-C, ask whether the program failed */
	bool verbose;
};

/* Runs the program and returns its wait status, as waitpid() reports it.  Negative: the program
 * could not be started. */
int site_run(const struct site_opts *opts, char *const *argv);

#endif
