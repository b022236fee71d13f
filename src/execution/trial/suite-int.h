/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which case of a test suite failed, from the output of the suite. */
#ifndef TRIAL_SUITE_INT_H
#define TRIAL_SUITE_INT_H

#include "trial/trial.h"

/* The size of the buffer for the name of a test case, in bytes.  It was set by hand; longer names
 * are truncated. */
#define SUITE_NAME 200

struct suite_case {
	char name[SUITE_NAME];	/* empty if no case is named */
	char place[SUITE_NAME]; /* "file:line" of the failure, or empty if unknown */
};

/* Searches the streams for messages of cmocka, GoogleTest or Check.  Returns the first case that
 * failed.  If no case failed, returns the case that was running. */
struct suite_case suite_find(const struct trial_text *streams, int count);

#endif
