/* SPDX-License-Identifier: Apache-2.0 */
/* Which case of a test suite failed, by what the suite wrote. */
#ifndef TRIAL_SUITE_INT_H
#define TRIAL_SUITE_INT_H

#include "trial/trial.h"

/* Bytes of the name of a test case; longer names are cut.  A judgement: names fit a few lines. */
#define SUITE_NAME 200

struct suite_case {
	char name[SUITE_NAME];	/* "": no case is named */
	char place[SUITE_NAME]; /* "file:line" of what failed; "": unknown */
};

/* Searches the streams for messages of cmocka, GoogleTest or Check.  Returns the first case that
 * failed or, if none did, the case that was running. */
struct suite_case suite_find(const struct trial_text *streams, int count);

#endif
