// SPDX-License-Identifier: Apache-2.0
/* Decides how many runs to do at the same time, from the number that the user asks for and the
 * cores that Raddle may use. */
#include "run/jobs.h"

#include <sched.h>

unsigned run_jobs(uint64_t wanted, bool alone)
{
	cpu_set_t cores;

	if (wanted)
		return (unsigned)wanted;
	return !alone && sched_getaffinity(0, sizeof cores, &cores) == 0 ? (unsigned)CPU_COUNT(&cores) : 1;
}
