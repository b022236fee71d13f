/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a program whose threads take turns, as exploration and classification see it: did it go the way
 * it was to go, how did it end, what did it write.
 */
#ifndef EXPLORE_TRIAL_H
#define EXPLORE_TRIAL_H

#include "replay/replay.h"
#include "replay/search.h"
#include "run/companion.h"
#include "run/input.h"
#include "run/override.h"
#include "run/launch.h"
#include "run/streams.h"
#include "symbolic/trace.h"

/* What a run writes: standard output, standard error, and what it sends where the world is given back. */
enum { TRIAL_STREAMS = 3 };

struct trial_text {
	const char *data;
	size_t length;
};

/* As struct replay_obstacle, with the place where the thread waits. */
struct trial_obstacle {
	const char *thread, *kind, *name, *owner;
	const char *file; /* NULL: unknown */
	uint32_t line;
	bool lifted;
	int goal;
};

struct trial {
	bool counts; /* it went the way it was to go, and came to an end that means something */
	bool unsure; /* time had a say in it */
	bool cut; /* it went the way it was to go, and had not ended when it was ended: what it did is true */
	enum replay_outcome outcome;
	enum replay_end end;
	int status;
	const char *fault;  /* consequence that no program wants: crash, deadlock, ...; NULL: none */
	bool at_race;	    /* the fault is the race itself: what one thread freed the other one used */
	const char *ending; /* "the program ended with status 3" */
	const char *why;    /* it does not count: a sentence; NULL */
	struct trial_obstacle obstacle; /* its thread is NULL: none is known */
	struct trial_text text[TRIAL_STREAMS];
	uint64_t digest;	/* of how it ended and what it wrote */
	uint64_t lines;		/* the same, but in whatever order the lines came */
	uint64_t trail;		/* of the choices; equal trails are equal schedules */
	uint64_t relaxed;	/* how often memory did what sequential consistency does not */
	const char *relaxed_at; /* where it did so last; NULL: unknown */
	const char *over;	/* why the memory model was left early; NULL: it was not */
};

/* Lines that differ between runs of one schedule, since they depend on something else: the time, a number of
 * a process.  They are not compared. */
#define TRIAL_LINES 4096
struct trial_mask {
	bool line[TRIAL_STREAMS][TRIAL_LINES]; /* by stream and number, from 0 */
	bool all[TRIAL_STREAMS];	       /* not even the number of lines is the same */
	bool any;
};

/* What is run; zero values are the defaults. */
struct trial_how {
	const struct replay_program *program;
	const struct run_input *input; /* of every run */
	const char *companion, *setup; /* commands beside and before each run (run/companion.h) */
	uint64_t timeout;	       /* seconds that a run may take; 0: by the recorded run */
	int64_t end_ns;		       /* when any run is ended, by rd_now_ns(); 0: never */
	uint64_t recorded_ms;	       /* as in struct replay_request */
	bool no_world;		       /* the same */
};

/* Where runs are made: a process that has one program to run again and again. */
struct trial_bench {
	struct trial_how how;
	struct replay_strategy strategy; /* of the runs that come; all zero at first */
	uint64_t most;			 /* extent at which they are ended (replay/replay.h); 0: any */
	bool detect;			 /* with the detector */
	bool cover;			 /* with a look at conflicting places */
	bool copies;			 /* runs are copied from one process, not started anew */
	struct run_server server;
	const char *record_into; /* a directory for a trace of each run; NULL: none is kept */
	struct run_streams streams;
	struct run_companion companion;
	struct rd_arena *arena; /* of trials */
	uint64_t runs;
	uint32_t edits;			    /* bits of those that some run came to */
	struct raddle_published *published; /* by stores that obey a memory model */
	size_t published_count, published_capacity;
	struct trial_mask mask;
	const char *directory;	       /* of this process */
	struct run_override given;     /* the input of runs, if it is not the recorded one */
	struct replay_program program; /* with the arguments of that input */
	int fds[3];		       /* its streams */
};

/* To be closed also after a failure. */
int trial_open(struct trial_bench *b, const struct trial_how *how, const char *directory);
void trial_close(struct trial_bench *b);

/* Runs the program by a schedule whose threads take turns.  `made`, which may be NULL, becomes the schedule
 * with all decisions that were taken, to be released by the caller; it is empty if they cannot be told. */
int trial_run(struct trial_bench *b, const struct schedule *s, struct trial *t, struct schedule *made);

/* The same as one run of an exploration, whose next plan the search has then. */
int trial_explore(struct trial_bench *b, const struct schedule *s, struct replay_search *search,
		  struct trial *t, struct schedule *made);

/* The same, with a last look at the result of the replay, while it is there. */
typedef void trial_result_fn(void *context, const struct replay_result *result);
int trial_run_with(struct trial_bench *b, const struct schedule *s, struct trial *t, struct schedule *made,
		   trial_result_fn *look, void *context);

/* The same while somebody looks where the program stands (struct replay_request). */
typedef bool trial_stands_fn(void *context, const struct replay_stand *stand, struct schedule *more,
			     const char **next);
int trial_look(struct trial_bench *b, const struct schedule *s, trial_stands_fn *stands, void *context,
	       struct trial *t);

/* Both, and the schedule as trial_run() makes it. */
struct trial_eyes {
	trial_stands_fn *stands;
	trial_result_fn *look; /* NULL: nobody looks at the result */
	void *context;
};
int trial_look_with(struct trial_bench *b, const struct schedule *s, const struct trial_eyes *eyes,
		    struct trial *t, struct schedule *made);

/* From now on runs have this input; an empty one is the recorded one. */
int trial_give(struct trial_bench *b, const struct rd_override *given);

/* Runs the flavour `shadow` and reads what it left, to be released also after a failure. */
int trial_shadow(struct trial_bench *b, const struct replay_program *shadow, const struct schedule *s,
		 struct trial *t, struct sym_trace *trace);

/* The consequence that the end of a run and what it wrote to standard error show; NULL: none. */
const char *trial_fault(enum replay_end end, int status, const char *errors);

/* Digests of how a run ended and what it wrote; the second one in whatever order the lines came. */
void trial_digest(struct trial *t, const struct trial_mask *mask);

/* The line at `at`, with its end; `at` becomes the place of the next one.  False: there is none. */
bool trial_next_line(const struct trial_text *t, size_t *at, struct trial_text *line);
bool trial_is_masked(const struct trial_mask *mask, int stream, size_t number);

/* Learns from two runs of one schedule which lines are not to be compared. */
void trial_mask_learn(struct trial_mask *mask, const struct trial *a, const struct trial *b);

#endif
