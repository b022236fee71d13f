/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a program under Raddle, forwards signals to the program, and makes Raddle end in the same
 * way as the program.
 *
 * A run consists of a program (run/program.h), its arguments, its environment (ours, with
 * additions for the runtime), its streams, its limits (run/meter.h) and a session (run/session.h).
 * The session contains what the runtime needs: buffers for events, a steering plan, faults.  The
 * caller waits for the program, calls run_launch_done(), and then closes the session.
 */
#ifndef RUN_LAUNCH_H
#define RUN_LAUNCH_H

#include "run/meter.h"
#include "run/program.h"
#include "run/session.h"

#include <stdbool.h>
#include <sys/types.h>

/* A server is a process of the program that is loaded and then stopped before main().  Runs are
 * forked from the server (rt/core/process/serve.c).  All these runs have the same program,
 * arguments and directory, but separate streams.  Initialise the struct with zeros. */
struct run_server {
	pid_t pid;  /* 0 if not started yet */
	int socket; /* socket to the server */
	bool off;   /* true if no server works for this program, so that each run is started anew */
};

struct run_launch { /* zero values are the defaults */
	const struct run_program *program;
	char *const *argv; /* arguments of the program; argv[0] is as the user wrote it */
	const struct run_session *session;
	const char *directory; /* its working directory; NULL for ours */
	const int *streams;    /* its stdin, stdout and stderr; NULL for ours */
	/* The resource limits of the program.  Only the members memory, file_size, processes and
	 * group are used here.  If this pointer is NULL, the program gets our limits. */
	const struct run_limits *limits;
	bool debugged; /* a debugger may attach even if it is not an ancestor of the program */
	bool tied;     /* the program is killed when Raddle dies, for whatever reason */
	bool fixed;    /* address space randomisation is disabled */
	/* The server from which the program is forked; NULL to start the program directly. */
	struct run_server *server;
	/* The program gets its own process group, which the terminal's signals do not reach, and
	 * writes no core file. */
	bool apart;
};

/* Starts the program with the signal state that Raddle was started with.  The program is in
 * Raddle's process group unless it is `apart`.  From then on, Raddle forwards the signals that it
 * receives to the program.  Signals that the terminal sends to both processes have no effect on
 * Raddle.  When the program ends, a thread that sleeps on the session's sealed_futex is woken. */
int run_launch(const struct run_launch *launch, pid_t *pid);

/* Does the same as run_launch(), but instead of starting a program, copies a program that is
 * stopped (frozen) at a point of its run. `fork_copy` makes the copy, which becomes a child of
 * this process, and returns the copy's process ID, or -1 on failure.  Returns the return value of
 * `fork_copy`. */
pid_t run_launch_copy(const struct run_session *session, pid_t (*fork_copy)(void *context), void *context);

/* Returns true if the program gets as much address space as it would have without Raddle.  Returns
 * false if the address space is limited (ulimit -v) and the limit cannot be raised.  The program
 * may then run out of memory because of Raddle. */
bool run_launch_has_room(void);

/* Makes write() fail in the cases in which SIGXFSZ or SIGPIPE would end us. */
void run_launch_prepare(void);

void run_server_close(struct run_server *server);

/* Restores our own signal handlers.  Call this after the program has ended. */
void run_launch_done(void);

/* Ends this process in the same way as the program, whose wait status is `status`.  Returns an exit
 * status if this process cannot die by the signal that ended the program. */
int run_exit_like(int status);

#endif
