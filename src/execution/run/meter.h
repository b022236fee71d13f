/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run may use, what it used, and how it ended.
 * A meter belongs to one run.  It is started before the program is launched.  While the program
 * runs, the meter is polled, and ends the program if it exceeds a limit.  The meter is read after
 * the program has been waited for.
 */
#ifndef RUN_METER_H
#define RUN_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct run_limits {	    /* 0: no limit */
	uint64_t wall_ms;   /* the program is ended after this time, */
	unsigned patience;  /* or, while it is running or runnable, after this many times as long */
	uint64_t cpu_ms;    /* of processor time */
	uint64_t memory;    /* bytes of data */
	uint64_t file_size; /* bytes of a file */
	uint64_t processes; /* and threads: RLIMIT_NPROC */
	int group;	    /* run_group.procs of its group */
	uint64_t grace_ms;  /* time from SIGTERM to SIGKILL; 0: SIGKILL at once */
	int interrupts;	    /* how many requests to end us it takes to end the program */
};

enum run_how {
	RUN_EXITED,	   /* by itself */
	RUN_SIGNALLED,	   /* by a signal that we did not send */
	RUN_OUT_OF_MEMORY, /* the kernel killed it because memory ran out */
	RUN_TIMED_OUT,	   /* we ended it: a time limit was exceeded */
	RUN_STALLED,	   /* we ended it: its time was up and all of its threads slept */
	RUN_INTERRUPTED,   /* we ended it: we were asked to end */
};

struct run_end {
	enum run_how how;
	int status; /* of waitpid() */
	uint64_t wall_us, cpu_us, peak_kb;
};

struct run_meter {
	struct run_limits limits;
	bool apart; /* the program has its own process group, which is killed as a whole */
	bool ended; /* we killed it or asked it to end; `how` is the reason */
	enum run_how how;
	int64_t started_ns, told_ns;
	uint64_t last_cpu_us; /* and when it last changed */
	int64_t moved_ns;
	uint64_t kills;	      /* the kernel's count of kills for lack of memory, before the start */
	struct rusage before; /* of our children */
};

/* `limits` may be NULL. */
void run_meter_start(struct run_meter *m, const struct run_limits *limits, bool apart);

/* Treats its time as up from now on. */
void run_meter_expire(struct run_meter *m);

/* Checks the limits, and ends the program if it exceeds one. */
void run_meter_look(struct run_meter *m, pid_t pid);

/* Call this after waiting for the program.  If the program was `apart`, its remaining processes are
 * killed.  Removes resources that a killed program could not remove. */
void run_meter_stop(const struct run_meter *m, pid_t pid, int status, struct run_end *end);

/* How the program ended.  `how` is why we ended it, or RUN_EXITED if we did not.  `kills` is how many
 * processes the kernel killed for lack of memory during the run. */
enum run_how run_how_of(int status, enum run_how how, uint64_t kills);

#endif
