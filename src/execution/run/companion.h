/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the shell that a program needs to do its work: one before each run, and one beside it. */
#ifndef RUN_COMPANION_H
#define RUN_COMPANION_H

#include <stdbool.h>
#include <sys/types.h>

struct run_companion {
	const char *command;	       /* such as the client of a server; NULL: none */
	pid_t guard;		       /* 0: it does not run */
	struct run_companion_end *end; /* what the guard and we tell each other; NULL: it does not run */
};

/* Starts it; when it has ended, `program` gets SIGTERM.  `output` is where it writes. */
void run_companion_start(struct run_companion *c, pid_t program, int output);

bool run_companion_runs(const struct run_companion *c);

/* The program has ended.  Gives the command that much time to end by itself: a client notices soon that its
 * server is gone, and whether it minds. */
void run_companion_wait(struct run_companion *c, int ms);

/* Ends it if it still runs; returns its status if it ended before, as waitpid() has it; 0 otherwise. */
int run_companion_stop(struct run_companion *c);

/* Runs a command before the program and waits for it; NULL: none.  That it fails is an error. */
int run_setup(const char *command, int output);

#endif
