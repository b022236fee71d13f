/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates many sites on this machine, for trials of a hive. */
#ifndef HIVE_CROWD_H
#define HIVE_CROWD_H

#include <stdint.h>

struct hive_crowd {
	char **program;	   /* the program and its arguments */
	const char *hive;  /* the address of the hive */
	const char *token; /* the path of the file with the token; NULL if there is none */
	uint64_t sites, rounds;
	uint64_t jobs; /* the number of sites that run at a time; 0 means one for each processor */
};

struct hive_crowd_result {
	/* The number of runs that ended, and of those that ended with a status other than 0. */
	uint64_t ended, failed;
};

int hive_crowd_run(const struct hive_crowd *how, struct hive_crowd_result *result);

#endif
