/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a program under Raddle, and standing in for it towards the outside.
 *
 * A run is: a program (run/program.h), its arguments, its environment (ours, with what the runtime needs),
 * its streams, its limits (run/meter.h), and what the runtime gets, which is in a session (run/session.h):
 * buffers for events, a plan to steer it by, faults.  Who launches a program waits for it, calls
 * run_launch_done() then, and closes the session.
 */
#ifndef RUN_LAUNCH_H
#define RUN_LAUNCH_H

#include "run/meter.h"
#include "run/program.h"
#include "run/session.h"

#include <stdbool.h>
#include <sys/types.h>

/* A process that is loaded and has not begun, from which runs are copied (rt/core/serve.c): all with the same
 * program, arguments and directory, with streams of their own.  All zero at first. */
struct run_server {
	pid_t pid;  /* 0: there is none yet */
	int socket; /* to it */
	bool off;   /* there is none that works: programs are started */
};

struct run_launch { /* zero values are the defaults */
	const struct run_program *program;
	char *const *argv; /* the program's, argv[0] as the user wrote it */
	const struct run_session *session;
	const char *directory; /* where it runs; NULL: here */
	const int *streams;    /* what becomes its stdin, stdout and stderr; NULL: ours */
	const struct run_limits
		*limits; /* of which memory, file_size, processes and group are set here; NULL: ours */
	bool debugged;	 /* a debugger that is not its ancestor may attach */
	bool tied;	 /* it is killed when we die, however that comes about */
	bool fixed;	 /* its memory lies at the same addresses each time */
	struct run_server *server; /* to copy it from, which is started first; NULL: none */
	bool apart; /* in a process group of its own, out of the terminal's reach; no core file */
};

/* Starts the program with the signal state that we got, in our process group unless it is apart.  From then
 * on signals that are sent to us go to it; those that the terminal sends to both of us do not touch us.  When
 * it ends, whoever sleeps on the session's sealed_futex is woken. */
int run_launch(const struct run_launch *launch, pid_t *pid);

/* Whether a program whose address space is limited (ulimit -v) has as much of it as without us; if not, it
 * may fail where it would not alone. */
bool run_launch_has_room(void);

/* From now on writing beyond a limit, or to nobody, is an error and no signal that ends us. */
void run_launch_prepare(void);

void run_server_close(struct run_server *server);

/* The program is gone: signals are no longer sent on, and still counted. */
void run_launch_gone(void);

/* Signals are ours again. */
void run_launch_done(void);

/* How often somebody has sent a signal that asks to end since the program was started. */
int run_launch_interrupted(void);

/* Ends this process the way waitpid() says the program ended.  Returns the exit
 * status where a death by signal cannot be repeated. */
int run_exit_like(int status);

#endif
