/* SPDX-License-Identifier: Apache-2.0 */
/* Phrases that all formats share; for use inside report/. The texts in quotes are examples. */
#ifndef REPORT_WORDS_INT_H
#define REPORT_WORDS_INT_H

#include "base/buf.h"
#include "finding/finding.h"
#include "finding/schedule.h"

enum word_role { WORD_OTHER, WORD_ACQUIRE, WORD_RELEASE, WORD_THREAD };

enum word_role word_role(const char *kind);

/* Returns a text such as "confirmed by replay". */
const char *word_status(const struct finding *f);
/* Returns the meaning of a class, or "". */
const char *word_class(enum finding_class class);

/* Appends "sc: k-witness-harmless, tso: spec-violated".  Appends nothing if no memory models were
 * requested. */
void word_models(struct rd_buf *out, const struct finding *f);

/* Appends "spec-violated under sc, crash; run 3 times; schedule w.schedule; the output had a line
 * more". */
void word_witness(struct rd_buf *out, const struct finding_witness *w);

/* A function that receives a fact.  The text may be NULL. */
typedef void word_fact(void *context, const char *name, const char *text);
/* Calls `put` for each fact about the severity of a finding: reason, class, memory models,
 * consequence, witnesses. */
void word_judgement(const struct finding *f, word_fact *put, void *context);

/* Appends a place, such as "counter.c:12:7", or "an unknown place" if the place is unknown. */
void word_place(struct rd_buf *out, const struct finding_frame *f);
/* Appends a place and its function, such as "counter.c:12 in add". */
void word_place_in(struct rd_buf *out, const struct finding_frame *f);

/* Appends a place without its directory, such as "counter.c:12".  Appends nothing if the place is
 * unknown. */
void word_spot(struct rd_buf *out, const struct schedule_place *p);

/* Appends "Write of size 4" or "Atomic read". */
void word_access(struct rd_buf *out, const struct finding_access *a);

/* Appends "holding a, b (shared)" or "holding no lock". */
void word_locks(struct rd_buf *out, const struct finding_lock *locks, size_t count);

/* Appends "thread T_0_1 'worker'". */
void word_thread(struct rd_buf *out, const struct finding *f, const char *name);

/* Appends "global 'hits' of type int, 4 bytes". */
void word_object(struct rd_buf *out, const struct finding_object *o);

/* Appends "waits for mutex b" or "waits for the end of T_0_1". */
void word_wait(struct rd_buf *out, const char *kind, const char *wants);

/* Appends the command that replays a schedule file of the finding or of a witness: "raddle replay
 * FILE -- ./prog 'an argument'". */
void word_reproduce(struct rd_buf *out, const struct finding_set *set, const char *schedule_path);

/* Appends "the prediction is sound ..." and the number of merged findings, one sentence each. */
void word_evidence(struct rd_buf *out, const struct finding *f);

/* Returns a remark on operations that a schedule does not name, or NULL if there are no such
 * operations. */
const char *word_left_out(const struct schedule *s);

/* Sets moved[i] if the schedule executes operation i before an operation that preceded it in the
 * recorded run.  `moved` has an entry for each operation of the schedule. */
void word_moved(const struct schedule *s, bool *moved);

#endif
