/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the resources of a run, measures what the run used, and determines how it ended.  A meter
 * belongs to one run.  Start the meter before the program is launched, and poll it while the
 * program runs.  If the program exceeds a limit, the meter ends the program.  Stop the meter after
 * waiting for the program.
 */
#ifndef RUN_METER_H
#define RUN_METER_H

#include "run/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct run_limits {	    /* 0 means no limit */
	uint64_t wall_ms;   /* wall-clock time after which the program is ended */
	unsigned patience;  /* a program that is running or runnable may use wall_ms times this */
	uint64_t work_ms;   /* program time (run/clock.h) */
	uint64_t cpu_ms;    /* processor time in milliseconds */
	uint64_t memory;    /* bytes of data memory */
	uint64_t file_size; /* bytes of a single file */
	uint64_t processes; /* number of processes and threads (RLIMIT_NPROC) */
	int group;	    /* run_group.procs of the program's control group */
	uint64_t grace_ms;  /* time from SIGTERM to SIGKILL; if 0, SIGKILL is sent at once */
	int interrupts;	    /* the program is ended after this many requests to end Raddle */
};

enum run_how {
	RUN_EXITED,	   /* the program exited by itself */
	RUN_SIGNALLED,	   /* a signal that Raddle did not send ended the program */
	RUN_OUT_OF_MEMORY, /* the kernel killed the program because memory ran out */
	RUN_TIMED_OUT,	   /* Raddle ended the program because it exceeded a time limit */
	/* Raddle ended the program because its time was up while all its threads were asleep. */
	RUN_STALLED,
	RUN_INTERRUPTED, /* Raddle ended the program because Raddle was asked to end */
};

struct run_end {
	enum run_how how;
	int status; /* wait status */
	uint64_t wall_us, cpu_us, peak_kb;
	uint64_t work_us; /* program time if that was limited, but at least the processor time */
};

struct run_meter {
	struct run_limits limits;
	bool apart; /* the program has its own process group, which is killed as a whole */
	bool ended; /* Raddle killed the program or asked it to end; `how` is the reason */
	enum run_how how;
	int64_t started_ns, told_ns;
	uint64_t last_cpu_us; /* the program's processor time at the last check */
	int64_t moved_ns;     /* when last_cpu_us last changed */
	struct run_clock clock;
	/* The number of processes that the kernel had killed for lack of memory before the run
	 * started.  If there are no limits, the number is not read, and this is UINT64_MAX. */
	uint64_t kills;
	struct rusage before; /* resource usage of our children before the start */
};

/* Starts a meter.  `limits` may be NULL. */
void run_meter_start(struct run_meter *m, const struct run_limits *limits, bool apart);

/* Makes the meter treat the program's time as up from now on. */
void run_meter_expire(struct run_meter *m);

/* Checks the limits, and ends the program if it exceeds one. */
void run_meter_look(struct run_meter *m, pid_t pid);

/* Call this after waiting for the program.  If the program had its own process group (`apart`),
 * kills its remaining processes.  Removes resources that a killed program could not remove
 * itself. */
void run_meter_stop(const struct run_meter *m, pid_t pid, int status, struct run_end *end);

/* Returns how the program ended.  `how` is the reason why Raddle ended it, or RUN_EXITED if Raddle
 * did not.  `kills` is the number of processes that the kernel killed for lack of memory during
 * the run. */
enum run_how run_how_of(int status, enum run_how how, uint64_t kills);

#endif
