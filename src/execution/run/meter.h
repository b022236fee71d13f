/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run may take, what it took, and how it ended.
 *
 * A meter goes with one run: started before the program is launched, asked again and again while it runs
 * (it ends a program that takes more than it may), and read when the program was waited for.
 */
#ifndef RUN_METER_H
#define RUN_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct run_limits {	  /* 0: none */
	uint64_t wall_ms; /* it is ended then, */
	unsigned
		patience; /* or, while it computes or would if it got a processor, after so many times that */
	uint64_t cpu_ms;  /* of processor time */
	uint64_t memory;  /* bytes of data */
	uint64_t file_size; /* bytes of a file */
	uint64_t processes; /* and threads: RLIMIT_NPROC */
	int group;	    /* run_group.procs that it is in */
	uint64_t grace_ms;  /* SIGTERM comes first, and SIGKILL so much later; 0: SIGKILL at once */
	int interrupts;	    /* how often somebody must ask us to end until it is ended */
};

enum run_how {
	RUN_EXITED,	   /* of itself */
	RUN_SIGNALLED,	   /* by a signal that is not ours */
	RUN_OUT_OF_MEMORY, /* the kernel ended it for want of memory */
	RUN_TIMED_OUT,	   /* we ended it: it took more time than it may */
	RUN_STALLED,	   /* we ended it: its time was up and all of its threads slept */
	RUN_INTERRUPTED,   /* we ended it: somebody asked us to end */
};

struct run_end {
	enum run_how how;
	int status; /* of waitpid() */
	uint64_t wall_us, cpu_us, peak_kb;
};

struct run_meter {
	struct run_limits limits;
	bool apart; /* the program is a process group of its own, which is ended as a whole */
	bool ended; /* we ended it, or told it to end; `how` says why */
	enum run_how how;
	int64_t started_ns, told_ns;
	uint64_t last_cpu_us; /* and since when it is that */
	int64_t moved_ns;
	uint64_t kills;	      /* for want of memory, before it started */
	struct rusage before; /* of our children */
};

/* `limits` may be NULL. */
void run_meter_start(struct run_meter *m, const struct run_limits *limits, bool apart);

/* From now on its time is up. */
void run_meter_expire(struct run_meter *m);

/* Looks whether the program is within its limits, and ends it if not. */
void run_meter_look(struct run_meter *m, pid_t pid);

/* The program was waited for: what it left running is ended, if it was apart, and what a signal kept it from
 * removing is removed. */
void run_meter_stop(const struct run_meter *m, pid_t pid, int status, struct run_end *end);

/* How it ended if `how` is why we ended it (RUN_EXITED: we did not), and memory was wanting so often
 * meanwhile. */
enum run_how run_how_of(int status, enum run_how how, uint64_t kills);

#endif
