// SPDX-License-Identifier: Apache-2.0
/* How many runs at a time.  In: what the user wants, and the cores we may use.  Out: a number. */
#include "run/jobs.h"

#include <sched.h>

unsigned run_jobs(uint64_t wanted, bool alone)
{
	cpu_set_t cores;

	if (wanted)
		return (unsigned)wanted;
	return !alone && sched_getaffinity(0, sizeof cores, &cores) == 0 ? (unsigned)CPU_COUNT(&cores) : 1;
}
