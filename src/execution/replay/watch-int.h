/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: observes a program that runs under a schedule, and decides whether to continue,
 * to release its threads or to kill it.  A board is the state of the program at one time.  This
 * code uses no clock and no processes, so tests can cover every case.  All times are in program
 * time (run/clock.h), so decisions do not depend on how busy the machine is.
 */
#ifndef REPLAY_WATCH_INT_H
#define REPLAY_WATCH_INT_H

#include "base/buf.h"
#include "replay/board-int.h"
#include "replay/explain-int.h"
#include "replay/replay.h"

/* These values were chosen by hand.  If they are too short, looking at the program takes processor
 * time from it, or a thread that is only slow is blamed.  If they are too long, the verdict comes
 * late. */
#define WATCH_LOOK_MS 20   /* time between two boards */
#define WATCH_STAND_MS 200 /* how long a deadlock, or a state in which no thread runs, must persist */
/* used instead of WATCH_STAND_MS if threads take turns: a state without runnable threads cannot be
 * transient then */
#define WATCH_IDLE_MS 40
/* how long threads that share one kernel thread may all make no step, because one of them computes
 * or spins where Raddle cannot interrupt it */
#define WATCH_STEP_MS 3000

enum watch_action {
	WATCH_GO_ON,
	WATCH_GIVE_UP, /* release all threads: the plan cannot be followed */
	WATCH_END,     /* kill the program */
};

struct watch {
	const struct plan *plan;
	const struct trace_sites *sites;
	uint64_t patience_ms, limit_ms;
	/* how often a thread may yield without progress while no other thread runs; 0 for no
	 * limit */
	uint64_t patience_yields;
	/* how long a thread may sleep while no other thread runs and the plan makes no progress; 0
	 * for no limit */
	uint64_t patience_sleep_ns;
	/* The largest number of points in a run that no plan leads, or 0 for no limit.  The
	 * program is killed when the runtime reports that the limit is reached, or when the extent
	 * (replay/board-int.h) is twice the limit. */
	uint64_t most;
	pid_t pid;	  /* the process whose memory map is used to find names of variables, or 0 */
	bool interrupted; /* set by the caller: a signal asks to end the replay */
	bool unled;	  /* set by the caller: no thread is led, although threads may be stopped */
	bool strict;	  /* set by the caller: a program that leaves its plan is killed */
	bool late;	  /* set by the caller: the user's time limit has passed */
	bool staying;	  /* a user inspects the threads where they met, so nothing is killed */

	/* The following members are the decisions. */
	bool decided; /* `outcome` is final and `why` is the reason */
	enum replay_outcome outcome;
	long held_in; /* 1 plus the system call in which the only kernel thread waited too long, or 0 */
	bool ended;   /* the program is to be killed, and `end` is the reason */
	enum replay_end end;
	enum replay_limit limit; /* the limit that was reached, if `end` is REPLAY_RAN_ON */
	struct rd_buf why;
	bool met; /* the threads have met */

	/* The following members are observations. */
	struct board before;
	uint64_t start_ms, moved_ms, led_ms, lived_ms;
	/* Sums that measure progress.  When a sum changes, the time of the same name is set to now
	 * (watch.c). */
	/* number of accesses and operations of all threads, and when it last grew */
	uint64_t steps, step_ms;
	uint64_t lived, led;
	/* the thread that the plan waits for, if it runs; else RADDLE_STEER_NONE */
	uint32_t spinner;
	/* a counter that grows while the spinner runs, and when it last grew */
	uint64_t ran, spun_ms;
	/* the last spinner, its number of accesses and operations, and how often it had yielded
	 * when the spinner or that number last changed */
	uint32_t yielder;
	uint64_t spinner_steps, spinner_yields;
	/* the last spinner, the progress of the plan, and how long the spinner had slept when the
	 * spinner or that progress last changed */
	uint32_t sleeper;
	uint64_t sleeper_led, slept;
	bool in_io; /* the spinner was in a system call when there was no progress */
	/* the spinner's processor times when progress stopped; UINT64_MAX before that */
	uint64_t user, system;
	bool in_memory; /* since then the spinner has run, and spent hardly any time in the kernel */
	/* by thread: true if, when progress stopped, it waited on descriptors that only this
	 * process can use */
	bool *own;
	size_t own_count, own_capacity;
	/* by thread: its yields and sleep when a thread last did an operation or changed its state */
	struct watch_rest {
		uint64_t yields, slept;
	} * rest;
	size_t rest_count, rest_capacity;
	bool *closed;
	size_t closed_capacity, closed_count;
	uint64_t closed_signature, closed_ms;
	bool started;
};

void watch_start(struct watch *w, const struct plan *plan, const struct trace_sites *sites);
void watch_release(struct watch *w);

/* Takes the next board, which becomes `before`; *b receives the old board.  `now_ms` is in program
 * time. */
enum watch_action watch_step(struct watch *w, struct board *b, uint64_t now_ms);

/* Returns true if the thread is in the operation at which the plan stops it. */
bool watch_at_stop(const struct watch *w, const struct board *b, uint32_t number);

#endif
