/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files describe.c, describe-place.c, describe-schedule.c and
 * describe-unordered.c share.  These files describe predictions. */
#ifndef PREDICT_DESCRIBE_PARTS_INT_H
#define PREDICT_DESCRIBE_PARTS_INT_H

#include "base/buf.h"
#include "finding/schedule.h"
#include "predict/describe-int.h"
#include "predict/line-int.h"

/* A goal whose access still has to be found in its thread's stream. */
struct unplaced {
	struct schedule *schedule;
	uint32_t goal, thread;
	size_t access; /* index of the access in the thread's history */
};

struct describer {
	const struct predict_trace *t;
	const struct model *m;
	struct finding_set *set;
	/* The names of synchronisation objects, indexed by the number of the object and filled on
	 * demand.  NULL if names are not kept. */
	const char **sync_names;
	struct lines lines;
	struct unplaced *unplaced;
	size_t unplaced_count, unplaced_capacity;
};

/* Two accesses that overlap, and the memory in which they overlap. */
struct meeting {
	uint32_t events[2];
	size_t accesses[2];
	uint32_t object;
	uint64_t offset;
	const char *name;
	/* The canonical name, if `name` was derived from a pointer and is different.  Otherwise
	 * NULL. */
	const char *place;
	/* The stack variable that is accessed.  Its `site` is NULL if there is no such variable, or
	 * if the variable is not known. */
	struct model_variable variable;
};

/* ---- describe-place.c ---- */

const struct model_operation *describe_operation_of(const struct describer *d, uint32_t event);

/* Moves the text of the buffer into the set and releases the buffer. */
const char *describe_take_name(struct finding_set *set, struct rd_buf *b);
const char *describe_sync_name(const struct describer *d, uint32_t sync);

/* Returns the text, or NULL if it is empty. */
const char *describe_known(const char *text);

/* Returns the frames of a site, if `site` is not 0, followed by the frames of a call stack. */
struct finding_stack describe_stack(const struct describer *d, uint32_t site, uint32_t stack);
struct schedule_place describe_place(const struct describer *d, struct schedule *s, uint32_t site);

/* Returns the locks that a thread holds after its first `count` operations. */
struct finding_lock *describe_locks(const struct describer *d, uint32_t thread, size_t count, size_t *n);

/* ---- describe-schedule.c ---- */

/* Returns the operation that an event belongs to. */
uint32_t describe_operation_at(const struct describer *d, uint32_t event);

struct meeting describe_meeting(const struct describer *d, const struct predict_race *r);

/* Adds a goal for access `i` of a race: the access before which the replay stops a thread.  The
 * place of the access in the stream is not known yet; describe_place_goals() finds it later. */
void describe_add_goal(struct describer *d, const struct meeting *m, int i, struct schedule *s);

/* Finds the accesses of all goals in the streams; reads each stream once. */
void describe_place_goals(struct describer *d);
void describe_add_stop(const struct describer *d, uint32_t event, struct schedule *s);

/* Adds a schedule that leads to the target events.  The caller must add where each thread is
 * stopped when the schedule ends. */
struct schedule *describe_add_schedule(struct describer *d, struct finding *f,
				       const struct predict_witness *w, const uint32_t *targets,
				       uint32_t count);

/* ---- describe.c ---- */

void describe_thread(const struct describer *d, uint32_t thread, struct finding_thread *out);
void describe_object(const struct describer *d, const struct meeting *m, struct finding *f);
void describe_subject(const struct describer *d, const struct trace_site *site, struct finding_access *out);
void describe_note_plain_side(struct finding_set *set, struct finding *f);

#endif
