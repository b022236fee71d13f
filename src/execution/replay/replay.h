/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay: a schedule goes in, the program runs under it, a verdict comes out.
 * doc/design/replay.md says how the verdicts are told apart.
 *
 * A process replays one program at a time: signals are passed on to it as
 * run/launch.h says.  Whoever wants several at once forks first.
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

/* The program: its record flavour, and what it is run with. */
struct replay_program {
	const struct run_program *program;
	const struct trace_sites *sites; /* of its flavour; may be NULL */
	char **argv;			 /* NULL at the end */
};

struct replay_result;
struct replay_search; /* replay/search.h */

/* A thread of a program that stands (schedules that go on). */
struct replay_stander {
	const char *thread; /* T_0_1; NULL: there is none with this number */
	uint32_t tid;
	bool ready;	    /* it could go on */
	bool waits, ended;  /* it waits in an operation; it has ended */
	const char *kind;   /* of the operation that it is in or was in last */
	uint64_t n, object; /* operations begun; what that one is about */
	uint32_t site;
	const char *point; /* where it is, as in a decision */
	uint64_t point_n;
	uint32_t point_count;
};

/* A program that stands, and who came to a point. */
struct replay_stand {
	pid_t pid;
	const struct replay_stander *threads; /* by number */
	size_t thread_count, who;
	const struct replay_spot *spot; /* the access, if a watch that says so was met; else NULL */
	uint64_t taken;			/* decisions of the plan so far */
};

/* How the seed of a schedule that goes on decides (raddle/steer.h). */
struct replay_strategy {
	enum raddle_strategy kind;
	unsigned depth;			     /* of PCT */
	uint64_t length;		     /* of PCT: choices of such a run; 0: unknown */
	bool timeouts;			     /* time limits may run out at any point */
	const struct replay_weight *weights; /* points that threads came to in such a run */
	size_t weight_count;
};
struct replay_weight {
	const char *thread;
	uint64_t points;
	uint32_t site; /* of a run: of its last access, if it was on its way at the end; 0 */
};

struct replay_request { /* zero values are the defaults */
	bool patient;	/* threads that are to meet anywhere stand longer */
	const struct replay_program *program;
	const struct schedule *schedule;
	const char *record_into;   /* directory for a trace of the run; NULL: nothing is kept */
	const int *streams;	   /* stdin, stdout, stderr of the program; NULL: ours */
	const char *directory;	   /* where the program runs; NULL: here */
	struct run_server *server; /* as in struct run_launch (run/launch.h) */
	/* If `shadow` is set, the flavour is `shadow`: called with its memory (raddle/shadow.h) when
	 * the program has ended. */
	void (*shadow)(void *context, const void *memory, size_t size);
	uint64_t recorded_ms; /* how long the recorded run took, 0: unknown */
	int recorded_signal;  /* by which the recorded run ended; 0: none */
	uint64_t patience_ms; /* how long nothing may move; 0: max(2 s, 4 x recorded_ms) */
	uint64_t limit_ms;    /* after which the program is ended in any case; 0: 10 x patience */
	uint64_t most;	      /* extent at which it is ended; 0: any */
	bool strict; /* a run that has left its schedule is ended at once; what it does then is not wanted */
	bool detect; /* have the runtime's happens-before detector look on */
	bool cover;  /* in the flavour `led`: note which conflicting places follow on each other */
	bool free;   /* nobody is led or made to stand: the threads run as they come */
	unsigned first; /* which goal of a race goes first: 0 or 1 */
	bool no_world;	/* what comes from outside is not given back, though it was recorded */
	const struct replay_search
		*explore; /* of a schedule with a memory model: the run is one of an exploration */
	struct replay_strategy strategy;

	/* Around each run of the program, for its input and those who run beside it; may be NULL. */
	int (*begin)(void *context);
	void (*started)(void *context, pid_t pid); /* not where what comes from outside is given back */
	void (*ended)(void *context);

	/* If set, the two threads of a race stay where they met, and a deadlock is left standing; where
	 * threads take turns and are to meet nowhere, a thread stays where a fatal signal came.
	 * Called about each 20 ms from then on until it returns true: then they go, or the
	 * program is ended.  It may change *first.  Nothing is ended for want of time meanwhile. */
	bool (*met)(void *context, pid_t pid, const struct replay_result *so_far, unsigned *first);

	/* For schedules that go on: called while the program stands, at its first operation, where a watch
	 * says so, and at each point when all decisions were taken.  What is put into `more` (decisions,
	 * watches, a seed) belongs to the plan from then on; *next is the thread that goes on now, NULL: as
	 * the plan says.  False: do not ask for want of decisions any more.  May be NULL. */
	bool (*stands)(void *context, const struct replay_stand *stand, struct schedule *more,
		       const char **next);

	/* Called when operations of the schedule were done; `done` counts them.  May be NULL. */
	void (*progress)(void *context, uint64_t done);
	void *context;
};

/* Runs the program once.  A schedule that does not fit the program is an error with
 * a message, and so is a program that cannot be started; anything the program then
 * does is an outcome. */
int replay_run(const struct replay_request *request, struct replay_result *result);
void replay_result_release(struct replay_result *result);

const char *replay_outcome_name(enum replay_outcome outcome);

/* "the program ended with status 3", "the program was ended by signal 11 (Segmentation fault)". */
const char *replay_end_text(struct replay_result *result);

/* The schedule of a run whose threads took turns: it goes the same way again, without a seed.  To be released
 * also after a failure. */
int replay_export(const struct schedule *schedule, const struct replay_result *result, struct schedule *out);

/* ---- one finding ---- */

struct replay_policy {
	struct replay_request request; /* the schedule is set here */
	bool observe;		       /* end with replay_observe() */
};

/* Tries a finding once and writes the verdict into it: status, reason, consequence,
 * notes and the stacks that were seen.  `last`, which may be NULL, is the last run,
 * to be released by the caller.  Only infrastructure can fail. */
int replay_finding(const struct replay_policy *policy, struct finding_set *set, struct finding *f,
		   struct replay_result *last);

/* Whether the detector is to be asked about a race after this replay: the threads did not meet,
 * because of something in memory.  Of a speculative prediction a value that was different explains
 * it; of a sound one only a spin that never asks the kernel, else something hidden orders them. */
bool replay_is_observable(const struct finding *f, const struct replay_result *result);

/* The detector saw the two accesses unordered, but that is no proof: if the program has code that Raddle did
 * not compile the finding is unordered as far as seen, and its reason names that code.  False: it has none.
 */
bool replay_doubt(const struct replay_policy *policy, struct finding_set *set, struct finding *f);

/* The recorded run is a run too: what it shows firmly unordered is confirmed, or unordered as far as seen
 * where the program has foreign code.  replay_confirm_recorded() is for those who know that it has none. */
void replay_trust_recorded(const struct rd_flavour *flavour, struct finding_set *set, struct finding *f);
void replay_confirm_recorded(struct finding_set *set, struct finding *f);

/* The same question to a replay that the detector looked on in: if it saw the two accesses unordered the race
 * is confirmed, or is unordered as far as seen where the program has foreign code.  False: it did not see
 * them. */
bool replay_observed(const struct replay_policy *policy, struct finding_set *set, struct finding *f,
		     const struct replay_result *result);

/* One free run under the detector for all of these races, which have schedules.  Those of which it
 * sees the two accesses unordered are confirmed, as no operation of the program orders them; or unordered as
 * far as seen. */
int replay_observe(const struct replay_policy *policy, struct finding_set *set, struct finding **findings,
		   size_t count);

/* One run without more, as the policy's request says, and what it means; `runs` came before it.  `result` is
 * released first and has the run then; the caller releases it in the end. */
int replay_once(const struct replay_policy *policy, struct finding_set *set, struct finding *f, unsigned runs,
		struct replay_result *result);

/* Whether the program went another way, which a new prediction can follow. */
bool replay_went_astray(const struct replay_result *result);

#endif
