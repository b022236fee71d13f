/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the room do for run.c: each action of the budget is one call that returns. */
#ifndef CHECK_ACT_INT_H
#define CHECK_ACT_INT_H

#include "check/check.h"

/* ---- record.c ---- */

int check_do_record(struct check *c, const struct check_action *a);

/* Records one run into a directory, with these streams. */
int check_record_into(struct check *c, struct check_run *run, const char *path, const int *streams);

/* ---- predict.c ---- */

int check_do_predict(struct check *c, const struct check_action *a, struct check_outcome *o);

/* Makes what the program loaded with dlopen() part of its flavour, as far as prediction knows it. */
void check_note_loaded(struct check *c);

/* Adds the deadlocks that a run was ended for, in the place of what prediction knows of them. */
void check_add_deadlock(struct finding_set *set, const struct finding_set *deadlock);

/* ---- look.c ---- */

int check_do_show_walk(struct check *c);
void check_do_look(struct check *c, const struct check_action *a, struct check_outcome *o);

/* No look follows. */
void check_end_looks(struct check *c);

/* Adds what a run showed unordered that is not known yet, or not confirmed; returns how much was new. */
size_t check_add_seen(struct check *c, struct finding_set *to, struct finding_set *seen);

/* ---- early.c ---- */

void check_do_try_early(struct check *c, const struct check_action *a, struct check_outcome *o);

/* ---- replay.c ---- */

int check_do_settle(struct check *c, const struct check_action *a);

/* Replays the findings of a set until then: in every way, or `once` each. */
int check_replay(struct check *c, struct finding_set *set, bool once, int64_t end_ns);

/* ---- further.c ---- */

int check_do_explore(struct check *c, const struct check_action *a);
int check_do_further(struct check *c, const struct check_action *a);
void check_do_end_further(struct check *c);

/* ---- classify.c ---- */

int check_do_classify(struct check *c);

/* ---- notify.c ---- */

/* Reports an event to the caller of the check, if it has a callback. */
void check_notify(const struct check *c, const struct check_event *event);

/* Reports that a finding of the set is confirmed, and saves its schedule, unless the same error was reported
 * before, or the user knows or hides it. */
void check_notify_confirmed(struct check *c, struct finding_set *set, struct finding *f);

/* Whether a finding of the set at the same places was reported. */
bool check_is_reported(const struct finding_set *set, struct finding *f);

#endif
