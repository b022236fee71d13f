/* SPDX-License-Identifier: Apache-2.0 */
/* A debugger at the place that a replay has led to. */
#ifndef REPLAY_GDB_H
#define REPLAY_GDB_H

#include "replay/replay.h"

#include <stdbool.h>
#include <sys/types.h>

struct replay_gdb {
	const char *arguments;		 /* further arguments for gdb, split as by a shell, or NULL */
	const struct trace_sites *sites; /* may be NULL */
	pid_t pid;			 /* process ID of gdb, or 0 if it was not started */
	char *directory, *script;
	bool failed; /* gdb could not be started */
};

/* The callback `met` of struct replay_request: starts gdb the first time, and returns true when gdb
 * has ended. */
bool replay_gdb_met(struct replay_gdb *g, pid_t program, const struct replay_result *so_far);

/* Waits until gdb has ended; negative if gdb could not be run. */
int replay_gdb_close(struct replay_gdb *g);

#endif
