/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: runs the program under a schedule and returns a verdict. doc/design/replay.md defines
 * the verdicts.
 *
 * A process can replay only one program at a time, because it forwards its signals to that program
 * (run/launch.h).  A caller that needs several replays at once forks first.
 */
#ifndef REPLAY_REPLAY_H
#define REPLAY_REPLAY_H

#include "finding/finding.h"
#include "finding/schedule.h"
#include "replay/result.h"
#include "run/program.h"
#include "trace/sites.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The program: its flavour and its arguments. */
struct replay_program {
	const struct run_program *program;
	const struct trace_sites *sites; /* the site table of its flavour; may be NULL */
	char **argv;			 /* ended by NULL */
};

struct replay_result;
struct replay_search;	/* replay/search.h */
struct replay_snapshot; /* replay/snapshot.h */

/* A thread of a stopped program (schedules with turns). */
struct replay_stander {
	const char *thread; /* such as T_0_1, or NULL if no thread has this number */
	uint32_t tid;
	bool ready;	    /* the thread is runnable */
	bool waits, ended;  /* the thread waits in an operation; the thread has ended */
	const char *kind;   /* the kind of its current or last operation */
	uint64_t n, object; /* number of operations begun; address of the current one's object */
	uint32_t site;
	const char *point; /* the kind of its point, as in a decision */
	uint64_t point_n;
	uint32_t point_count;
	uint32_t arrivals; /* number of points that the thread has reached */
};

/* A stopped program.  `who` is the number of the thread that reached a point. */
struct replay_stand {
	pid_t pid;
	const struct replay_stander *threads; /* all threads, by number */
	size_t thread_count, who;
	const struct replay_spot *spot; /* the access, if a watch of accesses matched; else NULL */
	uint64_t taken;			/* number of decisions of the plan taken so far */
};

/* How the seed of a schedule chooses the next thread (raddle/steer.h). */
struct replay_strategy {
	enum raddle_strategy kind;
	unsigned depth;	 /* the depth of PCT */
	uint64_t length; /* for PCT: number of choices of a typical run, or 0 if unknown */
	bool timeouts;	 /* time limits may expire at any point */
	/* how many points each thread reached in a typical run */
	const struct replay_weight *weights;
	size_t weight_count;
};
struct replay_weight {
	const char *thread;
	uint64_t points;
	/* in results: site of its last access, if it was running at the end; else 0 */
	uint32_t site;
};

struct replay_request { /* zero values are the defaults */
	bool patient;	/* if threads may meet anywhere, they are stopped longer */
	const struct replay_program *program;
	const struct schedule *schedule;
	/* directory for a trace of the run, or NULL if it is not recorded */
	const char *record_into;
	/* stdin, stdout and stderr of the program, or NULL for those of this process */
	const int *streams;
	const char *directory;	   /* working directory of the program, or NULL for the current one */
	struct run_server *server; /* as in struct run_launch (run/launch.h) */
	/* A snapshot is a program that is frozen at a point.  If the program can be frozen there,
	 * the run is a copy of the snapshot.  Needs `streams` and `one`.  NULL for no snapshot.
	 * All runs of a snapshot have the same program, input and streams.  Their schedules differ
	 * only after the point at which the program is frozen. */
	struct replay_snapshot *snapshot;
	/* If set, the flavour is `shadow`.  Called with the flavour's memory (raddle/shadow.h) when
	 * the program has ended. */
	void (*shadow)(void *context, const void *memory, size_t size);
	uint64_t recorded_ms; /* how long the recorded run took, or 0 if unknown */
	int recorded_signal;  /* signal that ended the recorded run, or 0 */
	/* how long, in program time, the run may go without progress; 0 means max(2 s, 4 x
	 * recorded_ms), or 10 s if `recorded_ms` is 0 */
	uint64_t patience_ms;
	/* real time after which the program is killed in any case; 0 for no such limit */
	uint64_t limit_ms;
	/* program time (run/clock.h) after which the program is killed in any case; 0 means 10
	 * times the patience, or no limit if `limit_ms` is not 0 */
	uint64_t work_ms;
	/* extent (replay/board-int.h) at which the program is killed, or 0 for no limit */
	uint64_t most;
	bool one; /* with turns: all threads run on one kernel thread */
	/* with turns: futex calls of libraries are trapped, so that waiting in them passes the turn
	 * on */
	bool trap;
	bool strict; /* a run that leaves its schedule is killed at once */
	bool detect; /* run the happens-before detector */
	/* memory limit of the detector in bytes; 0 means replay_detector_memory() */
	uint64_t detect_memory;
	bool cover;	  /* in the flavour `led`: record which conflicting sites follow each other */
	bool free;	  /* no thread is led or stopped */
	unsigned first;	  /* the goal of a race whose thread continues first: 0 or 1 */
	bool no_world;	  /* do not replay the recorded input from outside */
	bool accompanied; /* `started` starts another process, which may send signals or input */
	const struct replay_search
		/* for a schedule with a memory model: the exploration to which the run belongs, or
		 * NULL */
		*explore;
	struct replay_strategy strategy;

	/* begin() is called before each run of the program, to prepare the input and the programs
	 * that run beside it. ended() is called after each run.  Both may be NULL. */
	int (*begin)(void *context);
	/* Called when the program has started, unless the replay itself plays the program's peers
	 * outside. */
	void (*started)(void *context, pid_t pid);
	void (*ended)(void *context);

	/* If set, a program in which the finding was reproduced is kept in that state, so that it
	 * can be examined.  The two threads of a race remain stopped where they met, and the
	 * threads of a deadlock keep waiting.  If threads take turns and the schedule has no
	 * goals at which they meet, a thread remains stopped at a fatal signal.  The callback is
	 * called about every 20 ms until it returns true.  Then the threads continue, or the
	 * program is killed.  The callback may set *first to the goal whose thread continues
	 * first.  No time limit applies while the threads are stopped. */
	bool (*met)(void *context, pid_t pid, const struct replay_result *so_far, unsigned *first);

	/* For schedules with turns: called whenever the program is stopped.  The program is
	 * stopped at its first operation, where a watch requests it, and at each point after the
	 * last decision.  The decisions, watches and seed that the callback puts into `more` are
	 * added to the plan.  *next is the thread that runs next, or NULL if the plan decides.  If
	 * the callback returns false, it is not called again when decisions run out.  May be
	 * NULL. */
	bool (*stands)(void *context, const struct replay_stand *stand, struct schedule *more,
		       const char **next);

	/* Called when operations of the schedule were done; `done` is their total number.  May be
	 * NULL. */
	void (*progress)(void *context, uint64_t done);
	void *context;
};

/* Returns a memory limit for the detector, in bytes: half of the free memory, or 0 if unknown. */
uint64_t replay_detector_memory(void);

/* Runs the program once.  Fails with a message if the schedule does not fit the program, or if the
 * program cannot be started.  Anything that the program does after its start is an outcome, not an
 * error. */
int replay_run(const struct replay_request *request, struct replay_result *result);
void replay_result_release(struct replay_result *result);

const char *replay_outcome_name(enum replay_outcome outcome);

/* Returns a text for a run that was ended at a limit, such as "the program did not end within the
 * time limit of a run". */
const char *replay_limit_text(const struct replay_result *result);

/* Returns how the program ended, such as "the program ended with status 3" or "the program was
 * ended by signal 11 (Segmentation fault)". */
const char *replay_end_text(struct replay_result *result);

/* Makes a schedule that repeats a run whose threads took turns.  In place of a seed, the schedule
 * contains the decisions of the run, at most the first `most` of them.  The caller releases the
 * schedule even after a failure. */
int replay_export(const struct schedule *schedule, const struct replay_result *result, size_t most,
		  struct schedule *out);

/* ---- replaying one finding ---- */

struct replay_policy {
	struct replay_request request; /* the finding's schedule replaces that of the request */
	bool observe; /* after the replay, call replay_observe() if the detector should decide */
};

/* Tries a finding once and stores the verdict in it: status, reason, consequence, notes and the
 * observed stacks.  `last`, which may be NULL, receives the last run; the caller releases it.
 * Fails only if the program could not be run. */
int replay_finding(const struct replay_policy *policy, struct finding_set *set, struct finding *f,
		   struct replay_result *last);

/* Returns true if the detector should decide a race after this replay.  This is the case if the
 * threads did not meet, and no system call was the cause.  If the prediction is speculative, some
 * value may have differed from the recorded one.  If the prediction is sound, a thread must also
 * have waited in a loop for a value in memory.  Otherwise something hidden orders the accesses. */
bool replay_is_observable(const struct finding *f, const struct replay_result *result);

/* Called if the detector saw that no order exists between the two accesses.  This proves nothing
 * if the program has code that Raddle did not compile, or memory barriers in assembler.  In that
 * case the finding becomes "apparently unordered", its reason names the cause, and the function
 * returns true. */
bool replay_doubt(const struct replay_policy *policy, struct finding_set *set, struct finding *f);

/* Uses the recorded run as evidence.  If the two accesses are certainly unordered in that run,
 * replay_trust_recorded() confirms the finding.  If the program has foreign code, which Raddle did
 * not compile, the finding becomes "apparently unordered" instead. replay_confirm_recorded() is
 * for callers that know that the program has no foreign code. */
void replay_trust_recorded(const struct rd_flavour *flavour, struct finding_set *set, struct finding *f);
void replay_confirm_recorded(struct finding_set *set, struct finding *f);

/* Uses a replay under the detector as evidence.  If the detector saw the two accesses unordered,
 * the race is confirmed.  If the program has foreign code, which Raddle did not compile, the race
 * becomes "apparently unordered" instead.  Returns false if the detector did not see the accesses
 * unordered. */
bool replay_observed(const struct replay_policy *policy, struct finding_set *set, struct finding *f,
		     const struct replay_result *result);

/* Makes one run under the detector, in which no thread is led or stopped, for all of these races.
 * Each race must have a schedule.  If the detector sees the accesses of a race unordered, the race
 * is confirmed.  If the program has foreign code, which Raddle did not compile, the race becomes
 * "apparently unordered" instead. */
int replay_observe(const struct replay_policy *policy, struct finding_set *set, struct finding **findings,
		   size_t count);

/* Makes one run according to the policy's request and stores its verdict in the finding.  `runs` is
 * the number of runs before it.  `result` is released first and then receives the new run; the
 * caller releases it in the end. */
int replay_once(const struct replay_policy *policy, struct finding_set *set, struct finding *f, unsigned runs,
		struct replay_result *result);

/* Returns true if the run diverged in a way that a new prediction can follow. */
bool replay_has_diverged(const struct replay_result *result);

#endif
