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
 * separate streams.  The struct is zeroed at first. */
struct run_server {
	pid_t pid;  /* 0 if not started yet */
	int socket; /* socket to the server */
	bool off;   /* a server does not work for this program, so each run is started anew */
};

struct run_launch { /* zero values are the defaults */
	const struct run_program *program;
	char *const *argv; /* arguments of the program; argv[0] is as the user wrote it */
	const struct run_session *session;
	const char *directory; /* its working directory; NULL for ours */
	const int *streams;    /* its stdin, stdout and stderr; NULL for ours */
	/* Only the members memory, file_size, processes and group are used here; NULL if the
	 * program gets our limits. */
	const struct run_limits *limits;
	bool debugged; /* a debugger that is not an ancestor of the program may attach */
	bool tied;     /* the program is killed when Raddle dies, for whatever reason */
	bool fixed;    /* address space randomisation is disabled */
	/* The server from which the program is forked; NULL to start the program directly. */
	struct run_server *server;
	/* It gets its own process group, without the terminal's signals, and no core file. */
	bool apart;
};

/* Starts the program with the signal state that Raddle was started with.  The program is in our
 * process group unless it is `apart`.  From then on, signals sent to us are forwarded to it;
 * signals that the terminal sends to both have no effect on us.  When the program ends, a thread
 * that sleeps on the session's sealed_futex is woken. */
int run_launch(const struct run_launch *launch, pid_t *pid);

/* Like run_launch(), for a copy of a frozen program: `fork_copy` makes the copy, which is our
 * child, and returns its process ID, or -1 if that fails.  Returns what `fork_copy` returned. */
pid_t run_launch_copy(const struct run_session *session, pid_t (*fork_copy)(void *context), void *context);

/* Returns true if a program with limited address space (ulimit -v) has as much of it as it would
 * have without Raddle.  If not, it may fail because of Raddle. */
bool run_launch_has_room(void);

/* Makes write() fail in the cases in which SIGXFSZ or SIGPIPE would end us. */
void run_launch_prepare(void);

void run_server_close(struct run_server *server);

/* Restores our own signal handlers; to be called after the program has ended. */
void run_launch_done(void);

/* Ends this process in the same way as the program ended, according to the wait status.  If this
 * process cannot die by the same signal, returns an exit status. */
int run_exit_like(int status);

#endif
