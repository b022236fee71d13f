/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a debugger at the place to which a replay has led the threads. */
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

/* For the callback `met` of struct replay_request.  The first call starts gdb.  Returns true when
 * gdb has ended. */
bool replay_gdb_met(struct replay_gdb *g, pid_t program, const struct replay_result *so_far);

/* Waits until gdb has ended.  Returns a negative value if gdb could not be run. */
int replay_gdb_close(struct replay_gdb *g);

#endif
