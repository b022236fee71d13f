/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracking: runs of a program that record what happened at statements of a slice, in the order in
 * which it happened.
 *
 * The program is built once for a slice (flavour `track`, raddle/track.h): it has a gate, a point
 * that can report what the thread does, at each item of the slice.  It also has a gate at every
 * other access, lock or free that may touch the same memory according to points-to sets
 * (sketch/gates.h).  A run opens the gates of the first σ statements, and the gates outside the
 * slice that may touch the memory of these statements.  What a gate outside the slice saw is kept
 * only if a statement of the slice touched the same address in this run.
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
	uint32_t sigma; /* the most statements that a run will track; 0: all */
	bool quick;	/* code that is not optimised */
	bool verbose;
};

struct track {
	struct slice *slice; /* must live as long */
	struct sketch_gates gates;
	struct run_program program;
	struct sketch_places places;
};

/* Builds the program for the slice.  Close it even after a failure. */
int track_open(struct track *t, const char *program, struct slice *slice, const struct track_how *how);
void track_close(struct track *t);

struct track_request {	   /* zero values are the defaults */
	char *const *argv; /* the program's, argv[0] as the user wrote it */
	const char *directory;
	const int *streams; /* its stdin, stdout, stderr (run/streams.h); NULL: ours */
	const struct run_limits *limits;
	uint32_t sigma;	  /* how many statements of the slice; 0: all */
	size_t events;	  /* how many of the last events are kept; 0: TRACK_EVENTS */
	bool hardware;	  /* use watchpoints, too, if the system has them */
	uint32_t turn;	  /* with watchpoints: which locations get them if there are too many */
	uint32_t budget;  /* limit of events for each gate, which is then closed and costs nothing
			   * more; 0: no limit */
	uint64_t perturb; /* the seed of random delays at open gates; 0: no delays */
};
/* A judgement: a failure is explained by the events before it; more of them only cost memory. */
enum { TRACK_EVENTS = 65536 };

/* What is known about a run besides struct sketch_run. */
struct track_end {
	struct run_end end;
	int signal;	       /* of the failing thread; 0: none is known */
	uint64_t fault;	       /* fault address of the signal */
	char *message;	       /* of a failed assertion; NULL: none */
	char *file, *function; /* where it failed; NULL: unknown */
	uint32_t line;
	uint64_t seen;		/* number of events, including those that were not kept */
	uint32_t watched, hits; /* locations with watchpoints, and accesses to them */
	uint32_t spent;		/* gates whose budget was used up: their later events are missing */
	bool no_hardware;	/* watchpoints were asked for, but are not available */
};
void track_end_release(struct track_end *e);

/* Runs the program once and adds the run to `runs`, with its outcome: SKETCH_PASSED, SKETCH_EXIT (a
 * status other than 0), SKETCH_CRASH, SKETCH_ASSERTION or SKETCH_HANG.  A caller that knows more
 * may change the outcome.  Statements are added to the table of `runs` when they are first seen. */
int track_run(struct track *t, const struct track_request *request, struct sketch_runs *runs,
	      struct track_end *end);

/* The same in two parts, for a caller that starts the program itself.  track_begin() makes the
 * shared memory that the program receives through RADDLE_SESSION_ENV; the caller closes it even
 * after a failure.  When the program has ended, the caller sets end->end, and track_finish() reads
 * what the program left in the memory.  For run/launch.h the memory looks like a session, but only
 * its descriptor is used. */
struct track_memory {
	struct raddle_track *shared;
	size_t size;
	struct raddle_session *session;
	struct run_session handle;
};
int track_begin(struct track *t, const struct track_request *request, struct track_memory *m);
int track_finish(struct track *t, const struct track_request *request, const struct track_memory *m,
		 struct sketch_runs *runs, struct track_end *end);
void track_memory_close(struct track_memory *m);

/* Adds the member "run" to a JSON object: the first of `runs`, with the gates of the program. */
void track_json(const struct track *t, const struct sketch_runs *runs, const struct track_end *end,
		struct rd_json *j);

#endif
