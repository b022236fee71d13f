/* SPDX-License-Identifier: Apache-2.0 */
/* Inside `raddle check`: the program's input, its companion, and the replays. */
#ifndef CMD_CHECK_H
#define CMD_CHECK_H

#include "cmd/prediction.h"
#include "finding/finding.h"
#include "replay/replay.h"
#include "run/program.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- what every run gets as its standard input ---- */

struct check_input {
	char *file;   /* what later runs read; NULL: nothing */
	off_t offset; /* from there */
	char *shown;  /* how a user names it behind `<`; NULL: not at all */
	bool typed;   /* it is a terminal: later runs get nothing */
	int first;    /* descriptor for the first run */
	pid_t pump;   /* copies a pipe to the first run and to `file`; 0: none */
};

/* Looks at our own standard input.  A pipe is copied to `spool` while the first run reads it. */
int check_input_open(struct check_input *in, const char *spool);
void check_input_first_ended(struct check_input *in);
int check_input_again(const struct check_input *in); /* a descriptor for a later run; -1 after a message */
void check_input_close(struct check_input *in);

/* ---- a command that runs beside the program, a client for instance ---- */

struct check_companion {
	const char *command; /* for the shell; NULL: none */
	pid_t guard;	     /* 0: it does not run */
};

/* Starts it; when it has ended, `program` gets SIGTERM.  `output` is where it writes. */
void check_companion_start(struct check_companion *c, pid_t program, int output);
void check_companion_stop(struct check_companion *c);

/* Runs a shell command before a run of the program and waits for it; NULL: none. */
void check_setup(const char *command, int output);

/* ---- replays ---- */

struct check_replays {
	const struct replay_program *program;
	const struct check_input *input;
	const char *companion, *setup;
	const struct predict_batch *prediction;
	char *directory; /* for what the replays leave; removed by the caller */
	uint64_t jobs, timeout;
	uint64_t time; /* seconds that all of them may take; 0: any */
	uint64_t recorded_ms;
	int recorded_signal;
	bool quiet;	      /* no progress */
	struct finding **all; /* every prediction, also those that are merged in another finding */
	size_t all_count;
	uint64_t extra; /* how many findings of diverged runs may be added */

	/* Results. */
	uint64_t replayed, added;     /* findings */
	uint64_t replays, confirmed;  /* runs, and what came of them */
	uint64_t untried, unfinished; /* findings that the time did not suffice for, and of which not
					 everything was tried */
	bool interrupted;
	struct finding_set **sets; /* that own the findings with verdicts */
	size_t set_count, set_capacity;
};

enum check_step {
	CHECK_TRY,     /* a replay */
	CHECK_MEET,    /* a run in which any two threads may meet at the two accesses */
	CHECK_AGAIN,   /* a replay that is recorded and predicted from */
	CHECK_OBSERVE, /* a free run under the detector, for all of the findings */
};

struct check_task {
	const struct check_replays *r;
	enum check_step step;
	struct finding **findings;
	size_t count;
	unsigned runs;			 /* that the finding had before */
	const struct finding_set *known; /* what the check has so far */
	const char *directory;		 /* for the result */
	sigset_t mask;			 /* of signals, for the program */
};

/* Does it, in a process made for it, and ends that. */
_Noreturn void check_work(const struct check_task *task);

/* Tries each finding of the set that waits for a verdict, several at once, and puts the one with
 * the verdict in its place.  What diverged runs show besides is added and tried too.
 * SIGINT and SIGTERM end it early, and so does the time. */
int check_replay(struct check_replays *r, struct finding_set *set);
void check_replays_release(struct check_replays *r);

#endif
