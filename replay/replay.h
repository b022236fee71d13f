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
#include "raddle/steer.h"
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

/* How the seed of a schedule that goes on decides (include/raddle/steer.h). */
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
};

struct replay_request { /* zero values are the defaults */
	bool patient;	/* threads that are to meet anywhere stand longer */
	const struct replay_program *program;
	const struct schedule *schedule;
	const char *record_into; /* directory for a trace of the run; NULL: nothing is kept */
	const int *streams;	 /* stdin, stdout, stderr of the program; NULL: ours */
	const char *directory;	 /* where the program runs; NULL: here */
	/* If `shadow` is set, the flavour is `shadow`: called with its memory (include/raddle/shadow.h) when
	 * the program has ended. */
	void (*shadow)(void *context, const void *memory, size_t size);
	uint64_t recorded_ms; /* how long the recorded run took, 0: unknown */
	int recorded_signal;  /* by which the recorded run ended; 0: none */
	uint64_t patience_ms; /* how long nothing may move; 0: max(2 s, 4 x recorded_ms) */
	uint64_t limit_ms;    /* after which the program is ended in any case; 0: 10 x patience */
	bool detect;	      /* have the runtime's happens-before detector look on */
	bool free;	      /* nobody is led or made to stand: the threads run as they come */
	unsigned first;	      /* which goal of a race goes first: 0 or 1 */
	bool no_world;	      /* what comes from outside is not given back, though it was recorded */
	const struct replay_search
		*explore; /* of a schedule with a memory model: the run is one of an exploration */
	struct replay_strategy strategy;

	/* Around each run of the program, for its input and those who run beside it; may be NULL. */
	int (*begin)(void *context);
	void (*started)(void *context, pid_t pid); /* not where what comes from outside is given back */
	void (*ended)(void *context);

	/* If set, the two threads of a race stay where they met, and a deadlock is left standing.
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

enum replay_outcome {
	REPLAY_CONFIRMED, /* race: both threads stood at their accesses; deadlock: they stand in it */
	REPLAY_DIVERGED,  /* the program did something that the schedule does not have */
	REPLAY_DEADLOCK,  /* the way was blocked by a deadlock that is not the one meant */
	REPLAY_LIVELOCK,  /* a thread runs without end while another one stands */
	REPLAY_CRASHED,	  /* a signal ended the program before it came there */
	REPLAY_ENDED,	  /* the program ended before it came there */
	REPLAY_STUCK,	  /* nothing moved, and it cannot be told why */
	REPLAY_STOPPED,	  /* from outside: the user interrupted it */
	REPLAY_OUTCOMES,
};

/* How the program ended, whatever had been seen by then. */
enum replay_end {
	REPLAY_EXITED,	   /* `status` is its exit status */
	REPLAY_SIGNALLED,  /* `status` is the signal; not one of ours */
	REPLAY_DEADLOCKED, /* we ended it: `waits` stand */
	REPLAY_LIVELOCKED, /* we ended it: all threads that could go on spun, and nobody changed anything */
	REPLAY_HUNG,	   /* we ended it: nothing moved any more, for no reason that can be shown */
	REPLAY_RAN_ON,	   /* we ended it: the time was up */
};

/* A thread that stands at an access. */
struct replay_spot {
	const char *thread; /* T_0_1 */
	uint32_t tid;	    /* the kernel's */
	uint32_t site;
	uint64_t address, size, n;
	bool write, atomic;
	size_t frame_count; /* of the call stack: call sites, innermost first */
	uint32_t frames[RADDLE_STEER_FRAMES];
};

/* A lock that a thread holds. */
struct replay_held {
	uint64_t address;
	bool shared;
};

/* A thread of a standing deadlock. */
struct replay_wait {
	const char *thread;
	uint32_t tid;
	const char *kind;     /* as in event.inc */
	uint64_t n;	      /* which of its operations it is */
	uint64_t object;      /* address; of a join: the number of the thread */
	const char *name;     /* of the object: a variable, T_0_1, or 0x7f... */
	const char *waits_on; /* the thread that has what it wants; NULL: nobody in particular */
	uint32_t site;
	bool planned; /* it stands where the schedule stops it */
	bool core;    /* false: it only waits for the others */
	struct replay_held *held;
	size_t held_count;
};

/* Two accesses that the detector saw unordered. */
struct replay_race {
	const char *thread[2];
	uint32_t site[2];
	bool write[2], atomic[2];
	bool planned; /* the accesses of the schedule */
	uint64_t address, size;
};

/* What kept a thread from coming where it was led: a value that it waits for in a loop, or something that
 * another thread has. */
struct replay_obstacle {
	const char *thread;	/* that was awaited; NULL: nothing is known */
	const char *kind;	/* of the operation that it waits in; NULL: it spins */
	const char *name;	/* of the variable or lock; NULL: unknown */
	const char *owner;	/* the thread that has the lock; NULL: none in particular */
	uint32_t site;		/* where it waits */
	uint64_t address, size; /* of the variable */
	bool lifted;		/* of a spin: it went on when that had changed */
	int goal;		/* of a spin: the goal whose thread stands at that memory; -1: none */
};

/* What the program did to memory that it had freed, and was ended for. */
struct replay_fault {
	const char
		*what; /* "use after free", "double free"; of a predicate, a sentence's end; NULL: nothing */
	const char *thread;		 /* that did it */
	const char *freed;		 /* that had freed it; NULL: unknown */
	const char *place, *freed_place; /* "a.c:12", "an unknown place" */
	const char *predicate; /* that does not hold: its text; `what` says how; NULL: it is not that */
};

/* How a program went on whose threads took turns. */
struct replay_turns {
	struct schedule_decision *made; /* in which it differed from the default (include/raddle/steer.h) */
	size_t made_count;
	bool complete;		       /* these are all */
	struct replay_weight *threads; /* how many points each thread came to */
	size_t thread_count;
	const char *runner;	 /* the thread that had the turn at the end; NULL: none */
	uint32_t runner_site;	 /* of its last access; 0: unknown */
	uint64_t choices;	 /* points at which more than one thread could go on */
	uint64_t trail;		 /* a hash of what was chosen at each: equal trails are equal schedules */
	uint64_t taken, planned; /* decisions of the schedule */
	uint64_t unsure;     /* how often a thread was waited for in vain: what came then depends on time */
	const char *strayed; /* a sentence: how it left the schedule; NULL: it did not */
	bool early;	     /* it did not leave it, but ended before all decisions came up */
};

/* What the program did with the world that it was given back (replay/world.h). */
struct replay_outside {
	bool given;		    /* it was */
	uint64_t arrived, arrivals; /* connections and bytes that came in, of those recorded */
	uint64_t hurried;	    /* of them, those that came before the program had sent as much as then */
	uint64_t connections, same; /* that were made or accepted; that were sent what they were sent then */
	const char *lack;	    /* what had to be made up and may matter: a sentence; NULL: nothing */
	const char *sent;	    /* all that was sent, one connection behind the other */
	size_t sent_length;
	uint64_t digest; /* of it */
	bool cut;	 /* more was sent than that */
	bool ended; /* when everything had come in, the program got the signal that ended the recorded run */
};

/* What memory did that obeyed a model. */
struct replay_memory {
	const struct raddle_choice *made; /* what was listed: all choices of an exploration */
	size_t made_count;
	struct schedule_choice *chosen; /* choices that sequential consistency would not have made */
	size_t chosen_count;
	bool complete;	     /* these are all */
	uint64_t choices;    /* of the model, in all */
	const char *strayed; /* a sentence: how the run left the choices of the schedule; NULL: it did not */
	const char *over;    /* a sentence: why the model was left before the end; NULL: it was not */
	const struct raddle_published *published; /* stores that others may see late, and are not tracked */
	size_t published_count;
};

struct replay_result {
	enum replay_outcome outcome;
	enum replay_end end;
	int status;
	const char *explanation; /* a sentence: why it was not confirmed, or what stood where */
	uint64_t done, planned;	 /* operations of the schedule that were done, and that it has */
	struct replay_spot spots[RADDLE_STEER_GOALS];
	size_t spot_count;	   /* 2 once a race was met */
	struct replay_wait *waits; /* a deadlock that stood, meant or not */
	size_t wait_count;
	bool observable;	   /* of a race: nothing hidden was seen to keep the threads apart */
	bool in_memory;		   /* and a spin in the program's own code did */
	struct replay_race *races; /* the first RADDLE_STEER_RACES, that of the schedule among them */
	size_t race_count;
	uint64_t races_seen;
	bool unordered;	    /* one of them is planned */
	const char *chance; /* why it may go another way in the next run: a read that races; NULL */
	uint32_t chance_read, chance_write; /* its site, and that of the write */
	unsigned lacked;  /* bits of enum raddle_lack: what the system refused the program */
	bool detect_over; /* the detector had no memory and saw only a part of the run */
	uint32_t edits;	  /* bits of edits of the schedule that control came to */
	struct replay_obstacle obstacle;
	struct replay_fault fault;
	struct replay_turns turns;
	struct replay_outside outside;
	struct replay_memory memory;
	uint64_t order_at,
		command_at; /* in the program's memory, for a debugger that lets them go; 0: unknown */
	double wall_seconds, met_seconds, cpu_seconds; /* met: from the start until it was there */
	struct rd_arena *arena;			       /* everything above */
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
