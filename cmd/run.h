/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a program, recorded: what `record` and `check` do alike. */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "finding/finding.h"
#include "run/fault.h"
#include "run/program.h"
#include "trace/meta.h"

#include <stdint.h>
#include <sys/types.h>

struct cmd_run { /* zero values are the defaults */
	const struct run_program *program;
	char **argv;		  /* the program's, as the user wrote them */
	const char *directory;	  /* of the trace; nothing is in the way */
	uint64_t limit;		  /* bytes of the trace; 0: none */
	const int *streams;	  /* the program's; NULL: ours */
	struct run_fault *faults; /* of a full trace; filled in with what became of them */
	size_t fault_count;
	bool no_watchdog; /* leave it alone if it stands still for good */

	/* Called while the program runs, about ten times a second, and when it has ended with what
	 * its meta.json says; may be NULL. */
	void (*look)(void *context, pid_t pid);
	void (*ended)(void *context, const struct trace_meta *meta);
	void *context;
};

struct cmd_run_result {
	int status;		      /* of waitpid() */
	struct finding_set *standing; /* the deadlocks the program was ended for; NULL: it was not */
};

/* The result is released also after a failure.  While the program runs our signals are its. */
int cmd_run(const struct cmd_run *run, struct cmd_run_result *result);
void cmd_run_release(struct cmd_run_result *result);

#endif
