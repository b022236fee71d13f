/* SPDX-License-Identifier: Apache-2.0 */
/* A debugger at the place that a replay has led to. */
#ifndef REPLAY_GDB_H
#define REPLAY_GDB_H

#include "replay/replay.h"

#include <stdbool.h>
#include <sys/types.h>

struct replay_gdb {
	const char *arguments;		 /* more of them for gdb, as a shell would split them; NULL: none */
	const struct trace_sites *sites; /* may be NULL */
	pid_t pid;			 /* of gdb; 0: it was not started */
	char *directory, *script;
	bool failed; /* it could not be started */
};

/* A `met` of struct replay_request: starts gdb the first time, true when it has ended. */
bool replay_gdb_met(struct replay_gdb *g, pid_t program, const struct replay_result *so_far);

/* Waits until gdb has ended; negative if gdb could not be run. */
int replay_gdb_close(struct replay_gdb *g);

#endif
