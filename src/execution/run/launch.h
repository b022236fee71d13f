/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program under Raddle, forwards signals to it, and lets Raddle end as the program ended.
 * A run consists of a program (run/program.h), its arguments, its environment (ours, with additions
 * for the runtime), its streams, its limits (run/meter.h) and a session (run/session.h).  The
 * session contains the runtime's input: buffers for events, a steering plan, faults.  The caller
 * waits for the program, then calls run_launch_done(), and closes the session.
 */
#ifndef RUN_LAUNCH_H
#define RUN_LAUNCH_H

#include "run/meter.h"
#include "run/program.h"
#include "run/session.h"

#include <stdbool.h>
#include <sys/types.h>

/* A process that is loaded and stopped before main(), and from which runs are forked
 * (rt/core/process/serve.c).  All these runs have the same program, arguments and directory, but
 * their own streams.  Zero at first. */
struct run_server {
	pid_t pid;  /* 0: not started yet */
	int socket; /* to it */
	bool off;   /* does not work for this program: each run is started anew */
};

struct run_launch { /* zero values are the defaults */
	const struct run_program *program;
	char *const *argv; /* the program's; argv[0] as the user wrote it */
	const struct run_session *session;
	const char *directory; /* where it runs; NULL: here */
	const int *streams;    /* its stdin, stdout and stderr; NULL: ours */
	const struct run_limits
		*limits;	   /* only memory, file_size, processes and group are used here; NULL: ours */
	bool debugged;		   /* a debugger that is not its ancestor may attach */
	bool tied;		   /* it is killed when we die, however we die */
	bool fixed;		   /* disables address space randomisation */
	struct run_server *server; /* fork it from this server, which is started first; NULL: start it */
	bool apart; /* in its own process group, without the terminal's signals; no core file */
};

/* Starts the program with the signal state that Raddle was started with.  The program is in our
 * process group unless it is `apart`.  From then on, signals sent to us are forwarded to it;
 * signals that the terminal sends to both have no effect on us.  When the program ends, a sleeper
 * on the session's sealed_futex is woken. */
int run_launch(const struct run_launch *launch, pid_t *pid);

/* Whether a program with limited address space (ulimit -v) has as much of it as without Raddle.  If
 * not, it may fail although it would not fail without Raddle. */
bool run_launch_has_room(void);

/* From now on SIGXFSZ and SIGPIPE do not end us; write() fails instead. */
void run_launch_prepare(void);

void run_server_close(struct run_server *server);

/* Restores our own signal handlers. */
void run_launch_done(void);

/* Ends this process in the same way as the program ended, according to the wait status.  If this
 * process cannot die by the same signal, returns an exit status. */
int run_exit_like(int status);

#endif
