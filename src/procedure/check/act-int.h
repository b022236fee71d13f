/* SPDX-License-Identifier: Apache-2.0 */
/* Declares the actions of a check, which run.c calls: one function for each action that the budget
 * can choose.  Also declares functions that the files of check/ share. */
#ifndef CHECK_ACT_INT_H
#define CHECK_ACT_INT_H

#include "check/check.h"

/* ---- record.c ---- */

int check_do_record(struct check *c, const struct check_action *a);

/* Records one run into a directory.  `streams` has the program's three standard streams. */
int check_record_into(struct check *c, struct check_run *run, const char *path, const int *streams);

/* ---- predict.c ---- */

int check_do_predict(struct check *c, const struct check_action *a, struct check_outcome *o);

/* If prediction has seen modules that the program loaded with dlopen(), adds them to the program's
 * flavour. */
void check_note_loaded(struct check *c);

/* Adds the deadlocks because of which a run was killed.  They replace predictions of the same
 * deadlocks. */
void check_add_deadlock(struct finding_set *set, const struct finding_set *deadlock);

/* ---- look.c ---- */

int check_do_show_walk(struct check *c);
void check_do_look(struct check *c, const struct check_action *a, struct check_outcome *o);

/* Called after the last look: removes the trace of the looks, and sorts the findings. */
void check_end_looks(struct check *c);

/* Adds findings whose accesses are unordered in a recorded run, unless they are known and
 * confirmed.  Returns how many findings were added or changed. */
size_t check_add_seen(struct check *c, struct finding_set *to, struct finding_set *seen);

/* ---- early.c ---- */

void check_do_try_early(struct check *c, const struct check_action *a, struct check_outcome *o);

/* ---- replay.c ---- */

int check_do_settle(struct check *c, const struct check_action *a);

/* Replays the findings of a set until end_ns.  With `once`, each finding gets one replay; otherwise
 * it is tried in every way. */
int check_replay(struct check *c, struct finding_set *set, bool once, int64_t end_ns);

/* ---- further.c ---- */

int check_do_explore(struct check *c, const struct check_action *a);
int check_do_further(struct check *c, const struct check_action *a);
void check_do_end_further(struct check *c);

/* ---- classify.c ---- */

int check_do_classify(struct check *c);

/* ---- story.c ---- */

void check_do_stories(struct check *c);

/* ---- notify.c ---- */

/* Reports an event to the caller of the check, if it has a callback. */
void check_notify(const struct check *c, const struct check_event *event);

/* Reports that a finding of the set is confirmed, and saves its schedule.  Does nothing if the same
 * finding was reported before, is in the user's baseline or is suppressed. */
void check_notify_confirmed(struct check *c, struct finding_set *set, struct finding *f);

/* Returns true if a finding of the set with the same fingerprint was reported.  The set may be
 * NULL. */
bool check_is_reported(const struct finding_set *set, struct finding *f);

#endif
