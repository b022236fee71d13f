/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: decides from a sequence of boards what to do with a steered program.  It uses no
 * clock and no processes, so every case can be tested.
 */
#ifndef REPLAY_WATCH_INT_H
#define REPLAY_WATCH_INT_H

#include "base/buf.h"
#include "replay/board-int.h"
#include "replay/explain-int.h"
#include "replay/replay.h"

/* All are judgements: shorter times take processor time from the program, or blame a thread that is
 * only slow; longer ones delay the verdict. */
#define WATCH_LOOK_MS 20   /* time between two boards */
#define WATCH_STAND_MS 200 /* how long a deadlock must persist, or a state in which no thread runs */
#define WATCH_IDLE_MS 40   /* the same with turns, where no thread can be on its way */

enum watch_action {
	WATCH_GO_ON,
	WATCH_GIVE_UP, /* release all threads: the plan cannot be followed */
	WATCH_END,     /* kill the program */
};

struct watch {
	const struct plan *plan;
	const struct trace_sites *sites;
	uint64_t patience_ms, limit_ms;
	uint64_t most;	  /* extent (replay/board-int.h) at which a program that is not led is killed; 0: no
			     limit */
	pid_t pid;	  /* for names of variables; 0: unavailable */
	bool interrupted; /* a signal asked to end it: set by the caller */
	bool unled;	  /* no thread is led, although threads may be stopped: set by the caller */
	bool strict;	  /* a program that leaves its plan is killed: set by the caller */
	bool staying;	  /* a user inspects the threads where they met: kill nothing */

	/* Decisions. */
	bool decided; /* `outcome` is final and `why` is the reason */
	enum replay_outcome outcome;
	bool ended; /* we kill the program, and `end` is the reason */
	enum replay_end end;
	struct rd_buf why;
	uint64_t met_ms; /* when it was met; 0: not yet */

	/* Observations. */
	struct board before;
	uint64_t start_ms, moved_ms, led_ms, lived_ms;
	uint64_t lived, led;   /* sums; a change sets the time of the same name */
	uint32_t spinner;      /* the thread that the plan waits for, if it runs; or RADDLE_STEER_NONE */
	uint64_t ran, spun_ms; /* a counter that grows while it runs, and when it last grew */
	bool in_io;	       /* it was in a system call when there was no progress */
	uint64_t user, system; /* its times when that began; UINT64_MAX: not yet */
	bool in_memory;	       /* since then it has run, and hardly in the kernel */
	bool *own; /* for each thread, when there was no progress: it waits on private descriptors */
	size_t own_count, own_capacity;
	bool *closed;
	size_t closed_capacity, closed_count;
	uint64_t closed_signature, closed_ms;
	bool started;
};

void watch_start(struct watch *w, const struct plan *plan, const struct trace_sites *sites);
void watch_release(struct watch *w);

/* Takes the next board, which becomes `before`; *b becomes the old one. */
enum watch_action watch_step(struct watch *w, struct board *b, uint64_t now_ms);

/* Whether a thread is stopped where the plan stops it. */
bool watch_at_stop(const struct watch *w, const struct board *b, uint32_t number);

#endif
