/* SPDX-License-Identifier: Apache-2.0 */
/* Decides how many runs of a program to do at the same time. */
#ifndef RUN_JOBS_H
#define RUN_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns `wanted`, the number of jobs that the user asked for.  If that is 0, returns the number
 * of cores, or 1 if the programs would disturb each other (`alone`). */
unsigned run_jobs(uint64_t wanted, bool alone);

#endif
