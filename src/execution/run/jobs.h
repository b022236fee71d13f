/* SPDX-License-Identifier: Apache-2.0 */
/* How many runs of a program at a time. */
#ifndef RUN_JOBS_H
#define RUN_JOBS_H

#include <stdbool.h>
#include <stdint.h>

/* As the user says, else one for each core, or one if programs would get into each other's way (`alone`). */
unsigned run_jobs(uint64_t wanted, bool alone);

#endif
