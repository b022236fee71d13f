/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: runs the program under a schedule and returns a verdict.  doc/design/replay.md defines
 * the verdicts.
 * A process replays one program at a time, because it forwards its signals to that program
 * (run/launch.h).  A caller that wants several at once forks first.
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
	const struct trace_sites *sites; /* of its flavour; may be NULL */
	char **argv;			 /* ended by NULL */
};

struct replay_result;
struct replay_search; /* replay/search.h */

/* A thread of a stopped program (schedules with turns). */
struct replay_stander {
	const char *thread; /* T_0_1; NULL: no thread has this number */
	uint32_t tid;
	bool ready;	    /* it is runnable */
	bool waits, ended;  /* it waits in an operation; it has ended */
	const char *kind;   /* of its current or last operation */
	uint64_t n, object; /* operations begun; the object of the current one */
	uint32_t site;
	const char *point; /* its point, as in a decision */
	uint64_t point_n;
	uint32_t point_count;
	uint32_t arrivals; /* points that it has reached so far */
};

/* A stopped program, and the thread that reached a point. */
struct replay_stand {
	pid_t pid;
	const struct replay_stander *threads; /* by number */
	size_t thread_count, who;
	const struct replay_spot *spot; /* the access, if such a watch matched; else NULL */
	uint64_t taken;			/* decisions of the plan taken so far */
};

/* How the seed of a schedule decides (raddle/steer.h). */
struct replay_strategy {
	enum raddle_strategy kind;
	unsigned depth;			     /* of PCT */
	uint64_t length;		     /* of PCT: choices of a typical run; 0: unknown */
	bool timeouts;			     /* time limits may expire at any point */
	const struct replay_weight *weights; /* points that threads reached in a typical run */
	size_t weight_count;
};
struct replay_weight {
	const char *thread;
	uint64_t points;
	uint32_t site; /* of a run: site of its last access, if it was running at the end; else 0 */
};

struct replay_request { /* zero values are the defaults */
	bool patient;	/* threads that may meet anywhere are stopped longer */
	const struct replay_program *program;
	const struct schedule *schedule;
	const char *record_into;   /* directory for a trace of the run; NULL: not recorded */
	const int *streams;	   /* stdin, stdout, stderr of the program; NULL: ours */
	const char *directory;	   /* where the program runs; NULL: here */
	struct run_server *server; /* as in struct run_launch (run/launch.h) */
	/* If set, the flavour is `shadow`.  Called with the flavour's memory (raddle/shadow.h) when
	 * the program has ended. */
	void (*shadow)(void *context, const void *memory, size_t size);
	uint64_t recorded_ms; /* how long the recorded run took, 0: unknown */
	int recorded_signal;  /* signal that ended the recorded run; or 0 */
	uint64_t patience_ms; /* how long there may be no progress; 0: max(2 s, 4 x recorded_ms), else 10 s */
	uint64_t limit_ms;    /* after which the program is killed in any case; 0: 10 x patience */
	uint64_t most;	      /* extent (replay/board-int.h) at which it is killed; 0: no limit */
	bool one;	      /* with turns: all threads run on one kernel thread */
	bool strict;	      /* a run that leaves its schedule is killed at once */
	bool detect;	      /* run the happens-before detector, */
	uint64_t detect_memory; /* with this memory limit, in bytes; 0: replay_detector_memory() */
	bool cover;		/* in the flavour `led`: record which conflicting sites follow each other */
	bool free;		/* no thread is led or stopped */
	unsigned first;		/* which goal of a race goes first: 0 or 1 */
	bool no_world;		/* recorded input from outside is not replayed */
	const struct replay_search
		*explore; /* for a schedule with a memory model: the run is one of an exploration */
	struct replay_strategy strategy;

	/* Called around each run of the program, for its input and companions; may be NULL. */
	int (*begin)(void *context);
	void (*started)(void *context, pid_t pid); /* not if the replay replaces peers outside */
	void (*ended)(void *context);

	/* If set, the two threads of a race stay stopped where they met, and a deadlock is left in
	 * place. With turns and no meeting, a thread stays stopped at a fatal signal.  Called about
	 * every 20 ms until it returns true; then the threads continue, or the program is killed.
	 * The callback may change *first.  No time limit applies while the threads are stopped. */
	bool (*met)(void *context, pid_t pid, const struct replay_result *so_far, unsigned *first);

	/* For schedules with turns: called while the program is stopped, at its first operation,
	 * where a watch requests it, and at each point after the last decision.  Whatever the
	 * callback puts into `more` (decisions, watches, a seed) is added to the plan.  *next is
	 * the thread that runs next; NULL: the plan decides.  Returning false means: do not ask
	 * again when decisions run out.  May be NULL. */
	bool (*stands)(void *context, const struct replay_stand *stand, struct schedule *more,
		       const char **next);

	/* Called when operations of the schedule were done; `done` counts them.  May be NULL. */
	void (*progress)(void *context, uint64_t done);
	void *context;
};

/* A memory limit for the detector: half of the memory that is free, in bytes; 0: unknown. */
uint64_t replay_detector_memory(void);

/* Runs the program once.  If the schedule does not fit the program, or the program cannot be
 * started, that is an error with a message.  Anything that the program does after that is an
 * outcome. */
int replay_run(const struct replay_request *request, struct replay_result *result);
void replay_result_release(struct replay_result *result);

const char *replay_outcome_name(enum replay_outcome outcome);

/* "the program ended with status 3", "the program was ended by signal 11 (Segmentation fault)". */
const char *replay_end_text(struct replay_result *result);

/* Makes the schedule of a run with turns, which repeats the run without a seed, or only its first
 * `most` decisions.  Must be released even after a failure. */
int replay_export(const struct schedule *schedule, const struct replay_result *result, size_t most,
		  struct schedule *out);

/* ---- one finding ---- */

struct replay_policy {
	struct replay_request request; /* except the schedule, which is set here */
	bool observe;		       /* finish with replay_observe() */
};

/* Tries a finding once and stores the verdict in it: status, reason, consequence, notes and the
 * observed stacks.  `last`, which may be NULL, receives the last run; the caller releases it.
 * Fails only if the program could not be run. */
int replay_finding(const struct replay_policy *policy, struct finding_set *set, struct finding *f,
		   struct replay_result *last);

/* Whether the detector should decide a race after this replay: the threads did not meet, and the
 * cause is something in memory.  For a speculative prediction, a different value is such a cause.
 * For a sound prediction, only a spin without system calls is; otherwise something hidden orders
 * the accesses. */
bool replay_is_observable(const struct finding *f, const struct replay_result *result);

/* The detector saw the two accesses unordered.  That is no proof if the program has code that
 * Raddle did not compile, or memory barriers in assembler.  Then the finding becomes "unordered as
 * far as seen", and its reason names the cause.  False: the program has neither. */
bool replay_doubt(const struct replay_policy *policy, struct finding_set *set, struct finding *f);

/* Uses the recorded run as evidence.  If two accesses are certainly unordered in it, the finding is
 * confirmed, or becomes "unordered as far as seen" if the program has foreign code.
 * replay_confirm_recorded() is for callers that know that the program has none. */
void replay_trust_recorded(const struct rd_flavour *flavour, struct finding_set *set, struct finding *f);
void replay_confirm_recorded(struct finding_set *set, struct finding *f);

/* The same for a replay under the detector.  If the detector saw the two accesses unordered, the
 * race is confirmed, or becomes "unordered as far as seen" if the program has foreign code.  False:
 * it did not see them unordered. */
bool replay_observed(const struct replay_policy *policy, struct finding_set *set, struct finding *f,
		     const struct replay_result *result);

/* One free run under the detector for all of these races, which have schedules.  If the detector
 * sees the accesses of a race unordered, the race is confirmed, since no operation of the program
 * orders them, or it becomes "unordered as far as seen". */
int replay_observe(const struct replay_policy *policy, struct finding_set *set, struct finding **findings,
		   size_t count);

/* One run, as the policy's request states, and its verdict; `runs` runs preceded it.  `result` is
 * released first and then holds the new run.  The caller releases it in the end. */
int replay_once(const struct replay_policy *policy, struct finding_set *set, struct finding *f, unsigned runs,
		struct replay_result *result);

/* Whether the run diverged in a way that a new prediction can follow. */
bool replay_has_diverged(const struct replay_result *result);

#endif
