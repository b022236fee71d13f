/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial is one controlled run of a program whose threads take turns.  Its result states whether
 * the run followed its schedule, how it ended and what it wrote.  Exploration, classification and
 * sketches make such runs.
 */
#ifndef TRIAL_TRIAL_H
#define TRIAL_TRIAL_H

#include "replay/conditions.h"
#include "replay/replay.h"
#include "replay/search.h"
#include "replay/snapshot.h"
#include "run/companion.h"
#include "run/override.h"
#include "run/input.h"
#include "run/launch.h"
#include "run/streams.h"

#include <pthread.h>

/* The streams of a run: standard output, standard error, what the program sends to other processes,
 * and the content of the files that it has opened for writing. */
enum { TRIAL_OUTPUT, TRIAL_ERRORS, TRIAL_SENT, TRIAL_FILES, TRIAL_STREAMS };

struct trial_text {
	const char *data;
	size_t length;
};

/* A file in the stream TRIAL_FILES, in which a line with its name precedes its content. */
struct trial_file {
	const char *name;
	size_t line; /* the number of the line with its name, from 0 */
};

/* Like struct replay_obstacle, but with the place at which the thread waits. */
struct trial_obstacle {
	const char *thread, *kind, *name, *owner;
	const char *file; /* the file in which it waits, or NULL if unknown */
	uint32_t line;
	bool lifted;
	int goal;
};

struct trial {
	bool counts; /* the run followed its schedule and ended by itself (trial_why_not()) */
	bool unsure; /* real time influenced the run */
	/* the run followed its schedule but was ended early; its behaviour until then is valid */
	bool cut;
	enum replay_outcome outcome;
	enum replay_end end;
	int status;
	/* the consequence if the run failed, such as a crash or deadlock; else NULL */
	const char *fault;
	bool at_race;	      /* the fault is the race itself: one thread used what the other had freed */
	const char *end_text; /* "the program ended with status 3" */
	/* a sentence that states why the run does not count, or NULL if it counts */
	const char *why;
	struct trial_obstacle obstacle; /* its `thread` is NULL if no obstacle is known */
	/* the name of a thread that passed the place of its access without making it, before the
	 * other thread had made its own access; NULL if no thread did */
	const char *passed;
	struct trial_text text[TRIAL_STREAMS];
	const struct trial_file *files;
	size_t file_count;
	uint64_t digest;	/* a digest of how the run ended and what it wrote */
	uint64_t sorted_digest; /* the same, but independent of the order of lines */
	uint64_t extent;	/* how long the run was, in points (replay/board-int.h) */
	uint64_t trail;		/* a digest of its choices: equal trails are equal schedules */
	/* number of choices of the memory model that sequential consistency does not allow */
	uint64_t relaxed;
	const char *relaxed_at; /* the place of the last such choice, or NULL if unknown */
	/* why the memory model was abandoned during the run, or NULL if it was not */
	const char *over;
};

/* Some lines of the output differ between runs of the same schedule, because they contain
 * something that the schedule does not determine, such as the time or a process ID.  A struct
 * trial_mask lists these lines.  They are not compared. */
/* number of lines of each stream that can be listed: more than tests print, and 12 KiB in all */
#define TRIAL_LINES 4096
struct trial_mask {
	/* by stream and line number, from 0: true if the line is listed */
	bool line[TRIAL_STREAMS][TRIAL_LINES];
	/* the runs wrote different numbers of lines, so no line of the stream is compared */
	bool all[TRIAL_STREAMS];
	bool any;
};

/* What runs have shown about the program. */
struct trial_shared {
	_Atomic bool compared; /* the default schedule was run on one kernel thread and with several */
	_Atomic bool traps;    /* libraries wait in the kernel, so their calls are trapped */
	_Atomic bool untraps;  /* calls of libraries cannot be trapped, or trapping does not help */
	_Atomic bool unfit;    /* the program needs a kernel thread for each thread */
	_Atomic bool looked;   /* a run has ended, so `writes` is known */
	_Atomic bool writes;   /* it writes files, so runs whose files are compared take the lock `files` */
	pthread_mutex_t files;
};

/* A frozen program, from which runs are copied (trial/snapshots.c). */
struct trial_snapshot {
	/* identifies the schedules that can continue from here, which all have this key; 0 if
	 * unused */
	uint64_t key;
	uint64_t wanted; /* number of runs that could have continued from here */
	uint64_t used;	 /* when it was last used */
	struct replay_snapshot frozen;
};

/* maximum number of programs that are frozen at a time; chosen by hand.  Classification alternates
 * between few schedules, and a frozen program takes a few megabytes. */
#define TRIAL_SNAPSHOTS 4

/* The state of a process that runs one program many times. */
struct trial_bench {
	struct replay_conditions conditions;
	/* how seeds choose threads in the next runs; all zero at first */
	struct replay_strategy strategy;
	uint64_t most;		/* extent (replay/board-int.h) at which runs are ended, or 0 for no limit */
	bool detect;		/* the happens-before detector runs */
	uint64_t detect_memory; /* memory limit of the detector, in bytes */
	bool cover;		/* runs record which conflicting sites follow each other */
	bool files;		/* the files that runs write are compared, too */
	/* If this is not 0, several schedules are equal up to decision number `branch` of the next
	 * schedule, counted from 1.  Their runs can continue from a snapshot at that decision.  0
	 * means that such a snapshot is not worth its cost. */
	size_t branch;
	bool copies;   /* runs are forked from one process, not started anew */
	bool evidence; /* the next runs are started anew and use kernel threads, as the user's runs do */
	/* what is known about the program, if the conditions name no shared knowledge */
	struct trial_shared own;
	struct run_server server;
	struct trial_snapshot snapshots[TRIAL_SNAPSHOTS];
	uint64_t snapshot_uses;
	uint32_t threads;	 /* the largest number of threads that a run had */
	bool resets_hold;	 /* copies of a frozen program made several runs, and did the same */
	bool told_unfrozen;	 /* the user was told why runs cannot be copied */
	bool told_single;	 /* the user was told why copies make only one run each */
	const char *record_into; /* a directory for a trace of each run; NULL for no traces */
	struct run_streams streams;
	struct run_companion companion;
	bool called_off;	/* the companion has ended, so the last run got SIGTERM */
	struct rd_arena *arena; /* owns the texts of trials */
	uint64_t runs;
	uint32_t edits; /* one bit for each edit that some run reached */
	/* stores that other threads may see late (raddle/memory.h) */
	struct raddle_published *published;
	size_t published_count, published_capacity;
	struct trial_mask mask;
	const char *directory;	       /* the scratch directory of this process */
	struct run_override given;     /* the input of runs, if it is not the recorded one */
	struct replay_program program; /* the program, with the arguments of that input */
	int fds[3];		       /* the streams of the program */
};

/* Allocates memory through which the processes of a procedure share what they learn about the
 * program.  Call this before the processes are forked.  If the system refuses the memory, returns
 * NULL, and each process learns for itself. */
struct trial_shared *trial_shared_new(void);
void trial_shared_free(struct trial_shared *s);

/* Opens a bench, which must be closed even after a failure. */
int trial_open(struct trial_bench *b, const struct replay_conditions *conditions, const char *directory);
void trial_close(struct trial_bench *b);

/* Releases the texts of all trials so far. */
void trial_forget(struct trial_bench *b);

/* Runs the program under a schedule whose threads take turns.  If `made` is not NULL, it receives
 * the schedule with all decisions of the run, or an empty schedule if the decisions are not known.
 * The caller must release it. */
int trial_run(struct trial_bench *b, const struct schedule *s, struct trial *t, struct schedule *made);

/* Makes one run of an exploration of a memory model.  Afterwards `search` contains the choices of
 * the run. */
int trial_explore(struct trial_bench *b, const struct schedule *s, struct replay_search *search,
		  struct trial *t, struct schedule *made);

/* Callbacks through which a caller observes a run and intervenes in it. */
struct trial_hooks {
	/* Called while the program is stopped (struct replay_request).  The callback may choose
	 * the next thread.  If it is NULL, the program is never stopped. */
	bool (*stopped)(void *context, const struct replay_stand *stand, struct schedule *more,
			const char **next);
	/* Called with the result of the replay before the result is released; may be NULL.
	 * Returns the number of decisions of the run's schedule that the caller needs, or 0 if the
	 * caller does not need the schedule. */
	size_t (*result)(void *context, const struct replay_result *result);
	void *context;
};
int trial_run_with(struct trial_bench *b, const struct schedule *s, const struct trial_hooks *hooks,
		   struct trial *t, struct schedule *made);

/* Sets the input of the next runs.  If `given` is empty, they get the recorded input. */
int trial_set_input(struct trial_bench *b, const struct rd_override *given);

/* Runs the flavour `shadow`.  `read` is called with the shared memory after the run
 * (raddle/shadow.h). */
typedef int trial_shadow_fn(void *context, const void *memory, size_t size);
int trial_shadow(struct trial_bench *b, const struct replay_program *shadow, const struct schedule *s,
		 struct trial *t, trial_shadow_fn *read, void *context);

/* Fills `t` from a run that was made without a schedule.  Such a run shows only what the program
 * wrote and how it ended.  `wait_status` is the status from waitpid().  The texts belong to the
 * arena. */
int trial_of_plain_run(struct trial *t, int wait_status, const struct run_streams *streams,
		       struct rd_arena *arena);

/* ---- what a run means; these functions run no program ---- */

/* Return the time limit of a run that starts at `now_ns`, in nanoseconds; 0 means no limit.
 * trial_limit_ns() returns the real time that the user's limits allow. trial_work_ns() returns a
 * limit in program time (run/clock.h). */
int64_t trial_limit_ns(const struct replay_conditions *c, int64_t now_ns);
int64_t trial_work_ns(const struct replay_conditions *c);

/* A run counts if it followed its schedule and ended by itself. trial_why_not() returns a sentence
 * that states why a run does not count, or NULL if it counts. trial_is_cut() returns true if the
 * run was ended at a limit while it still followed its schedule. */
const char *trial_why_not(const struct replay_result *r);
bool trial_is_cut(const struct replay_result *r);

/* Returns true if the fault is the race to which the schedule leads: one thread freed memory at
 * its access, and the other thread used or freed that memory at its own access. */
bool trial_is_at_race(const struct schedule *s, const struct replay_fault *f);

/* Returns the consequence of a failed run, such as a crash or an assertion, or NULL if the run did
 * not fail.  Decides this from how the run ended and from its standard error. */
const char *trial_fault(enum replay_end end, int status, const char *errors);

/* Returns true if two runs of one schedule differ in their choices or in how they ended.  If real
 * time influenced one of the runs, or one is a livelock, only their ends are compared.  If one was
 * ended early, the two are not compared, and the result is false. */
bool trial_differs(const struct trial *a, const struct trial *b);

/* Sets both digests of how a run ended and what it wrote. */
void trial_digest(struct trial *t, const struct trial_mask *mask);

/* Stores in *line the line that begins at `at`, including its newline, and moves `at` to the next
 * line.  Returns false if no line is left. */
bool trial_next_line(const struct trial_text *t, size_t *at, struct trial_text *line);
bool trial_is_masked(const struct trial_mask *mask, int stream, size_t number);

/* Learns from two runs of one schedule which lines are not to be compared. */
void trial_mask_learn(struct trial_mask *mask, const struct trial *a, const struct trial *b);

#endif
