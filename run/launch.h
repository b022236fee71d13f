/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the recorded program, and standing in for it towards the outside. */
#ifndef RUN_LAUNCH_H
#define RUN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct run_launch {
	const char *executable;	  /* the flavour */
	char *const *argv;	  /* the program's, argv[0] as the user wrote it */
	const char *library_path; /* put before LD_LIBRARY_PATH, or NULL */
	const int *streams;	  /* what becomes its stdin, stdout and stderr; NULL: ours */
	bool debugged;		  /* a debugger that is not its ancestor may attach */
	bool tied;		  /* it is killed when we die, however that comes about */
	/* What else the new process does before it becomes the program; an errno value ends it.  May be
	 * NULL. */
	int (*prepare)(void *context);
	void *context;
	int session_fd;
	_Atomic unsigned *wake; /* incremented when the program ends, so that nobody sleeps on it */
};

/* Starts the program in our process group with our streams and the signal state
 * that we got.  From then on signals that are sent to us go to it; those that
 * the terminal sends to both of us do not touch us. */
int run_launch(const struct run_launch *launch, pid_t *pid);

/* The program is gone: signals are ours again. */
void run_launch_done(void);

/* How often somebody has sent a signal that asks to end since the program was started. */
int run_launch_interrupted(void);

/* Ends this process the way waitpid() says the program ended.  Returns the exit
 * status where a death by signal cannot be repeated. */
int run_exit_like(int status);

#endif
