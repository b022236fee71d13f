/* SPDX-License-Identifier: Apache-2.0 */
/* Many sites on this machine, for trials of a hive. */
#ifndef HIVE_CROWD_H
#define HIVE_CROWD_H

#include <stdint.h>

struct hive_crowd {
	char **program;	   /* with its arguments */
	const char *hive;  /* URL */
	const char *token; /* file; NULL: none */
	uint64_t sites, rounds;
	uint64_t jobs; /* sites that run at a time; 0: one for each processor */
};

struct hive_crowd_result {
	uint64_t ended, failed; /* runs; of them, those with a status other than 0 */
};

int hive_crowd_run(const struct hive_crowd *how, struct hive_crowd_result *result);

#endif
