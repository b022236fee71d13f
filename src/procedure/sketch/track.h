/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracking: runs of a program that record what happened at statements of a slice, in the order in
 * which it happened.
 *
 * The program is built once for a slice (flavour `track`, raddle/track.h).  It has a gate at each
 * item of the slice.  A gate is code that can report what the thread does there.  It also has a
 * gate at every other access, lock or free that may touch the same memory according to points-to
 * sets (sketch/gates.h).  A run opens the gates of the first σ statements, and the gates outside
 * the slice that may touch the memory of these statements.  An event of a gate outside the slice is
 * kept only if a statement of the slice touched the same address in this run.
 */
#ifndef SKETCH_TRACK_H
#define SKETCH_TRACK_H

#include "run/meter.h"
#include "run/program.h"
#include "run/session.h"
#include "sketch/gates.h"
#include "sketch/place.h"
#include "sketch/run.h"
#include "slice/slice.h"

struct track_how {	/* zero values are the defaults */
	uint32_t sigma; /* largest number of statements that a run will track; 0 for all */
	bool quick;	/* the code is not optimised */
	bool verbose;
};

struct track {
	struct slice *slice; /* must live as long as this struct */
	struct sketch_gates gates;
	struct run_program program;
	struct sketch_places places;
};

/* Builds the program for the slice.  The caller must call track_close() even after a failure. */
int track_open(struct track *t, const char *program, struct slice *slice, const struct track_how *how);
void track_close(struct track *t);

struct track_request {	   /* zero values are the defaults */
	char *const *argv; /* arguments of the program; argv[0] is as the user wrote it */
	const char *directory;
	const int *streams; /* its stdin, stdout and stderr (run/streams.h); NULL for ours */
	const struct run_limits *limits;
	uint32_t sigma; /* number of statements of the slice to track; 0 for all */
	/* only the last events of the run are kept, at most this many; 0 for TRACK_EVENTS */
	size_t events;
	bool hardware; /* also use watchpoints, if the system has them */
	/* If there are more locations than watchpoints, this number selects the locations that get
	 * a watchpoint. */
	uint32_t turn;
	/* Maximum number of events that each gate records.  After this many events, the gate is
	 * closed and costs no more time.  0 for no limit. */
	uint32_t budget;
	uint64_t perturb; /* seed of random delays at open gates; 0 for no delays */
};
/* Default for the maximum number of events that are kept.  Set by hand: the events just before a
 * failure explain the failure, and earlier ones would only take memory. */
enum { TRACK_EVENTS = 65536 };

/* Describes the end of a run, in addition to what struct sketch_run contains. */
struct track_end {
	struct run_end end;
	int signal;	       /* signal of the failing thread; 0 if none is known */
	uint64_t fault;	       /* address that caused the signal */
	char *message;	       /* message of a failed assertion; NULL if there is none */
	char *file, *function; /* where it failed; NULL if unknown */
	uint32_t line;
	uint64_t seen;		/* number of events, including those that were not kept */
	uint32_t watched, hits; /* number of locations with watchpoints, and of accesses to them */
	/* Number of gates whose budget was used up, so that later events are missing. */
	uint32_t spent;
	bool no_hardware; /* watchpoints were requested, but are not available */
};
void track_end_release(struct track_end *e);

/* Runs the program once and adds the run to `runs`.  Sets the outcome of the run to SKETCH_PASSED,
 * SKETCH_EXIT (a status other than 0), SKETCH_CRASH, SKETCH_ASSERTION or SKETCH_HANG; the caller
 * may change this outcome.  A statement is added to the table of `runs` at its first event. */
int track_run(struct track *t, const struct track_request *request, struct sketch_runs *runs,
	      struct track_end *end);

/* The memory that a tracked program shares with Raddle.  It is passed to run_launch() as a
 * session, of which only the descriptor is used. */
struct track_memory {
	struct raddle_track *shared;
	size_t size;
	struct raddle_session *session;
	struct run_session handle;
};
/* track_begin() and track_finish() are the two parts of track_run(), for a caller that starts the
 * program itself. track_begin() makes the shared memory that the program receives through
 * RADDLE_SESSION_ENV.  The caller must close this memory, even after a failure.  When the program
 * has ended, the caller sets end->end, and track_finish() reads the results from the memory. */
int track_begin(struct track *t, const struct track_request *request, struct track_memory *m);
int track_finish(struct track *t, const struct track_request *request, const struct track_memory *m,
		 struct sketch_runs *runs, struct track_end *end);
void track_memory_close(struct track_memory *m);

/* Adds the member "run" to a JSON object: the first of `runs`, with the gates of the program. */
void track_json(const struct track *t, const struct sketch_runs *runs, const struct track_end *end,
		struct rd_json *j);

#endif
