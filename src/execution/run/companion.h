/* SPDX-License-Identifier: Apache-2.0 */
/* Shell commands that the user runs together with a program: one before each run (the setup), and
 * one during the run (the companion). */
#ifndef RUN_COMPANION_H
#define RUN_COMPANION_H

#include <stdbool.h>
#include <sys/types.h>

struct run_companion {
	/* A shell command, such as the client of a server; NULL if there is none. */
	const char *command;
	pid_t guard;		       /* process id; 0 if it is not running */
	struct run_companion_end *end; /* shared with the guard; NULL if it is not running */
};

/* Starts the command.  When the command ends, `program` receives SIGTERM.  The command's output
 * goes to `output`. */
void run_companion_start(struct run_companion *c, pid_t program, int output);

bool run_companion_runs(const struct run_companion *c);

/* Waits up to `ms` milliseconds for the command to end by itself.  Call this when the program has
 * ended.  For instance, a client soon notices that its server is gone, and may then fail. */
void run_companion_wait(struct run_companion *c, int ms);

/* Kills the command if it is still running, and returns 0.  If the command has already ended by
 * itself, returns its wait status. */
int run_companion_stop(struct run_companion *c);

/* Runs the setup command and waits for it to end, before the program starts.  Does nothing if
 * `command` is NULL.  Reports an error if the command fails. */
int run_setup(const char *command, int output);

#endif
