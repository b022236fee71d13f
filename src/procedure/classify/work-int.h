/* SPDX-License-Identifier: Apache-2.0 */
/* Inside classify/: the state of the classification of one race, which several files share.
 * work.c makes the runs and calls the other parts; next-int.h decides which run comes next. */
#ifndef CLASSIFY_WORK_INT_H
#define CLASSIFY_WORK_INT_H

#include "base/buf.h"
#include "classify/adhoc-int.h"
#include "classify/classify.h"
#include "classify/next-int.h"
#include "classify/routes-int.h"
#include "classify/tracks-int.h"
#include "classify/unordered-int.h"
#include "classify/weaken-int.h"

#define WORK_RUNS "runs"       /* name of the statistic, in an answer, that counts runs */
#define WORK_MISFITS "misfits" /* 1 if the schedule was made for another program, else 0 */
/* name of the statistic with a bit for each edit that some run reached */
#define WORK_EDITS "edits"

struct race_work {
	const struct classify *how;
	struct next_limits limits;
	struct finding_set *set; /* the set of the answer */
	struct finding *f;
	/* the finding's schedule, which leads both threads to the race; borrowed */
	struct schedule race;
	struct routes routes;	 /* other ways to the race */
	struct routes elsewhere; /* ways to other instances of the race */
	struct trial_bench bench;
	struct decide_runs runs;
	size_t controls;	     /* number of runs of the control group */
	const struct trial *opening; /* as in work_run_pairs() */
	struct decision decision;
	/* For switched.c:
	 *   - has_detected: the detector has run, which it does for one occurrence of the race
	 *   - unordered: what the detector found
	 *   - switched: its watches are the accesses at which a thread stops in the pairs of runs
	 *     from number `switched_from` on
	 *   - has_switched: in the last pair of runs, a thread stopped at one of these accesses */
	bool has_detected;
	struct unordered unordered;
	struct schedule switched;
	size_t switched_from;
	bool has_switched;
	struct tracks tracks;
	/* the accesses that obey memory models, and those at which threads may be switched; may be
	 * empty */
	struct schedule lists;
	struct schedule *made; /* schedules of runs that explore memory models, or NULL */
	/* `made` has schedules for `made_count` runs; the first of these runs has the number
	 * `made_from` */
	size_t made_from, made_count;
	char *message; /* the message of the first error */

	/* The following members are for runs with other inputs. */
	/* the input of the race's schedule; if empty, the recorded input */
	struct rd_override base;
	/* the input of the current runs as text, or NULL for the recorded input */
	const char *input_text;
	struct rd_override differs; /* the first input with which the output differs */
	/* The goals of `race`, which are the accesses at which the threads are stopped.  `again`
	 * is the same goals with occurrence 0, for inputs with which a thread accesses the bytes
	 * of the race at another place first.  `differs_again` is true if the output differed in
	 * runs with the goals `again`. */
	struct schedule_goal *goals, again[2];
	bool differs_again;
	/* is_other: another input was tried; found_differs: `differs` is set */
	bool is_other, found_differs;
	uint64_t k;			 /* the sum of `k` of struct decision over all inputs */
	struct trial_mask recorded_mask; /* the mask for the recorded input */
};

/* ---- work.c ---- */

int work_run_variant(struct race_work *w, struct decide_place p, struct trial *t, struct schedule *made);

/* Runs pairs and the control group until there are enough runs (next-int.h), and decides what they
 * mean.  `opening` is run number 0 of the first group if the caller has made it by the same way and with
 * the same input; otherwise it is NULL. */
int work_run_pairs(struct race_work *w, const struct trial *opening);

/* Runs the control group until it has `wanted` runs, if the caller allows it. */
int work_run_controls(struct race_work *w, size_t wanted);

const struct trial *work_run_at(const struct race_work *w, struct decide_place p);

/* Copies the schedule.  Stores the copy, which the set owns, in *kept. */
int work_keep_schedule(struct race_work *w, const struct schedule *s, struct schedule **kept);

/* ---- switched.c: other accesses that are unordered in only one order of the race ---- */

/* The number of variants, which differ in the thread that continues first after the two accesses. */
#define SWITCHED_WAYS 2

/* Runs a schedule under the detector, and notes what it finds. */
int switched_detect(struct race_work *w, enum variant_group group, const struct schedule *s, struct trial *t);

/* Chooses the accesses at which a thread stops in further pairs.  Returns false if there are none. */
bool switched_begin(struct race_work *w);

/* Makes run number `p.number` of a group of runs.  Beginning with number `switched_from`, every
 * two pairs of runs stop a thread at one of the accesses that switched_begin() chose: the first
 * two pairs at the first access, the next two at the second, and so on. */
int switched_run(struct race_work *w, struct decide_place p, struct trial *t, struct schedule *made);

/* ---- evidence.c: harm is reported only if it is reproduced ---- */

int evidence_show(struct race_work *w);

/* ---- reach.c: leads the threads to the race, by another way if necessary ---- */

int reach_race(struct race_work *w, struct adhoc *order);
int reach_find_order(struct race_work *w, struct adhoc *order);

/* If some synchronisation keeps the threads of the race apart (`order`), looks for another
 * instance of the race at which both threads can be stopped at once.  The runs at that instance
 * then decide the class. */
int reach_meeting(struct race_work *w, struct adhoc *order);

/* Looks for harm at other instances of a race that is harmless where its threads met. */
int reach_elsewhere(struct race_work *w);

/* ---- models.c: memory models ---- */

bool models_is_wanted(const struct race_work *w, enum finding_model model);

/* Explores schedules under sequential consistency, so that effects of a weaker model can be
 * recognised as new. */
int models_explore(struct race_work *w);

/* Returns the maximum number of runs that models_explore() may add. */
size_t models_room(const struct race_work *w);
int models_weaken(struct race_work *w);

/* ---- inputs.c: other inputs ---- */

/* Analyses the race with other inputs, unless these cannot change the class. */
void inputs_follow(struct race_work *w);

/* Classifies one race.  Called in a separate process.  Appends a finding document to `answer`,
 * which contains the finding, its class and its witnesses.  Returns the exit status of the
 * process. */
int work_classify(const struct classify *how, const struct finding *f, const char *directory,
		  struct rd_buf *answer);

#endif
