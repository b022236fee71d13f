// SPDX-License-Identifier: Apache-2.0
/* Reads every record of a full trace and adds up the contents.  Prints the number of records,
 * seconds of CPU time and records per second. */
#include "base/error.h"
#include "trace/full.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	struct trace *trace;
	struct trace_layout *layout;
	uint64_t records = 0, sum = 0;
	double start;

	if (argc != 2 || trace_open(&trace, argv[1], false) ||
	    trace_layout_new(&layout, trace_get_sites(trace)))
		return 2;
	start = cpu();
	for (size_t i = 0; i < trace_thread_count(trace); i++) {
		struct trace_full *f;
		struct trace_record r;

		if (trace_full_open(&f, trace, layout, i, false))
			return 2;
		while (trace_full_next(f, &r) > 0) {
			records++;
			sum += r.address ^ r.value;
		}
		trace_full_close(f);
	}
	start = cpu() - start;
	printf("%" PRIu64 " records %.3f s %.1f M/s (sum %016" PRIx64 ")\n", records, start,
	       (double)records / start / 1e6, sum);
	trace_layout_free(layout);
	trace_close(trace);
	return 0;
}
