/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task set (doc/format/hive-api.json): the signed document with which a hive answers a site's
 * poll.  The hive writes it and the site reads it.  A site uses a set only after it has checked the
 * signature, and only within the site's own limits.
 */
#ifndef PROTOCOL_TASK_SET_H
#define PROTOCOL_TASK_SET_H

#include "base/buf.h"
#include "candidates/candidates.h"
#include "raddle/guard.h"
#include "sketch/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a program in production is asked to do.  Each mode includes the ones before it. */
enum protocol_mode { PROTOCOL_OFF, PROTOCOL_OBSERVE, PROTOCOL_VALIDATE, PROTOCOL_MODES };
extern const char *const protocol_mode_names[PROTOCOL_MODES];

/* Finds the mode with that name, which may be NULL.  Returns false if there is no such mode. */
bool protocol_mode_find(const char *name, enum protocol_mode *mode);

enum {
	PROTOCOL_TASK_ID = 65,	     /* bytes of the id of a task, with the terminating NUL */
	PROTOCOL_FILE = 1024,	     /* bytes of the name of a source file, with the terminating NUL */
	PROTOCOL_SET_MAX = 65536,    /* bytes of a set; far more than its few tasks need */
	PROTOCOL_POLL_MAX_S = 86400, /* a site polls at least once a day */
};

struct protocol_task {
	char id[PROTOCOL_TASK_ID];
	char candidate[CANDIDATE_ID_SIZE];
	enum protocol_mode mode; /* never PROTOCOL_OFF */
	enum raddle_guard_order order;
	uint32_t tau_us;

	/* If set, the task concerns a failure instead of a race.  The site tracks the first
	 * `sigma` statements of the slice of the failure, if it computes the same plan as the
	 * hive.  The slice lists the statements that may have contributed to the failure. */
	bool track;
	char plan[SKETCH_PLAN_ID];
	char file[PROTOCOL_FILE];
	uint32_t line, sigma;
};

struct protocol_task_set {
	uint64_t serial, issued, expires, poll_s;
	enum protocol_mode state;
	struct protocol_task tasks[RADDLE_GUARD_TASKS];
	size_t count;
};

/* Reads a set for this build.  `name` is used in messages.  After an error the set is empty. */
int protocol_task_set_read(struct protocol_task_set *set, const char *build, const void *body, size_t length,
			   const char *name);

/* Appends the set as JSON.  Equal sets have equal bytes. */
int protocol_task_set_write(const struct protocol_task_set *set, const char *build, struct rd_buf *body);

#endif
