/* SPDX-License-Identifier: Apache-2.0 */
/* A task set of the hive (doc/format/hive-api.json): a signed document that says what a site is to do.
 * Nothing of it is believed before the signature is checked, and then only what the site allows itself. */
#ifndef SITE_TASKSET_H
#define SITE_TASKSET_H

#include "candidates/candidates.h"
#include "raddle/guard.h"
#include "sketch/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum site_mode { SITE_OFF, SITE_OBSERVE, SITE_VALIDATE };

enum { SITE_TASK_ID_SIZE = 65, SITE_KEY_BYTES = 32, SITE_SET_MAX = 65536, SITE_FILE_SIZE = 1024 };

struct site_task {
	char id[SITE_TASK_ID_SIZE];
	char candidate[CANDIDATE_ID_SIZE];
	enum site_mode mode;
	enum raddle_guard_order order;
	uint32_t tau_us;

	/* Instead: a failure is to be explained.  The run tells what happens at the first `sigma` statements
	 * of the slice of a place, if the site comes to the same plan. */
	bool track;
	char plan[SKETCH_PLAN_ID];
	char file[SITE_FILE_SIZE];
	uint32_t line, sigma;
};

struct site_taskset {
	uint64_t serial, issued, expires, poll_s;
	enum site_mode state;
	struct site_task tasks[RADDLE_GUARD_TASKS];
	size_t count;
};

/* Whether `signature` (base 64) is that of the bytes by the key. */
bool site_taskset_signed(const uint8_t key[SITE_KEY_BYTES], const char *signature, const void *body,
			 size_t length);

/* The set, if it is one for this build.  `name` is for messages. */
int site_taskset_parse(struct site_taskset *set, const char *build, const void *body, size_t length,
		       const char *name);

/* The mode of that name; false: there is none. */
bool site_mode_find(const char *name, enum site_mode *mode);

/* A key from 64 hexadecimal digits. */
bool site_key_parse(const char *text, uint8_t key[SITE_KEY_BYTES]);

#endif
