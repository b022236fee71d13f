/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: what is to be done about a steered program, decided from one board
 * after the other.  Knows no clock and no process, so that every case can be tested.
 */
#ifndef REPLAY_WATCH_H
#define REPLAY_WATCH_H

#include "base/buf.h"
#include "replay/board.h"
#include "replay/explain.h"
#include "replay/replay.h"

#define WATCH_LOOK_MS 20 /* between two boards */
#define WATCH_STAND_MS                                                                                       \
	200		 /* how long a deadlock must stand, and a thread stand with nobody else running      \
			  */
#define WATCH_IDLE_MS 40 /* the same where threads take turns: nobody is on the way to anything then */

enum watch_action {
	WATCH_GO_ON,
	WATCH_GIVE_UP, /* let everybody go: the plan cannot be kept */
	WATCH_END,     /* end the program */
};

struct watch {
	const struct plan *plan;
	const struct trace_sites *sites;
	uint64_t patience_ms, limit_ms;
	uint64_t most;	  /* extent (replay/board.h) at which a program that is not led is ended; 0: any */
	pid_t pid;	  /* for names of variables; 0: none */
	bool interrupted; /* somebody sent a signal to end it: set by the caller */
	bool unled;	  /* nobody is led, although threads may stand: set by the caller */
	bool strict;	  /* a program that has left its plan is ended: set by the caller
			   */
	bool staying;	  /* somebody looks at the threads where they met: do not end anything */

	/* What was decided. */
	bool decided; /* `outcome` is final and `why` says why */
	enum replay_outcome outcome;
	bool ended; /* we end the program, and `end` says why */
	enum replay_end end;
	struct rd_buf why;
	uint64_t met_ms; /* when it was met; 0: not yet */

	/* What was seen. */
	struct board before;
	uint64_t start_ms, moved_ms, led_ms, lived_ms;
	uint64_t lived, led;   /* sums that change with it */
	uint32_t spinner;      /* whom the plan waits for, if it runs; RADDLE_STEER_NONE */
	uint64_t ran, spun_ms; /* whether it is on a processor, and when that was seen last */
	bool in_io;	       /* it was seen in a system call when nothing came forward */
	uint64_t user, system; /* its times when that began; UINT64_MAX: not yet */
	bool in_memory;	       /* since then it has run, and hardly in the kernel */
	bool *own; /* of each thread, when nothing moved any more: it waits at descriptors of the process */
	size_t own_count, own_capacity;
	bool *closed;
	size_t closed_capacity, closed_count;
	uint64_t closed_signature, closed_ms;
	bool started;
};

void watch_start(struct watch *w, const struct plan *plan, const struct trace_sites *sites);
void watch_release(struct watch *w);

/* Takes the next board, which becomes `before`; the old one is given back in its place. */
enum watch_action watch_step(struct watch *w, struct board *b, uint64_t now_ms);

/* Whether a thread stands where the plan stops it. */
bool watch_at_stop(const struct watch *w, const struct board *b, uint32_t number);

#endif
