/* SPDX-License-Identifier: Apache-2.0 */
/* Shell commands that a program needs for its work: one that runs before each run, and one that
 * runs at the same time. */
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

/* Call this when the program has ended.  Gives the command `ms` milliseconds to end by itself.
 * For instance, a client soon notices that its server is gone, and may fail because of that. */
void run_companion_wait(struct run_companion *c, int ms);

/* Kills the command if it is still running.  Returns its wait status if it had ended by itself,
 * otherwise 0. */
int run_companion_stop(struct run_companion *c);

/* Runs a command before the program starts and waits for it to end.  Does nothing if `command` is
 * NULL.  If the command fails, that is an error. */
int run_setup(const char *command, int output);

#endif
