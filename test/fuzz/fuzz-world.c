// SPDX-License-Identifier: Apache-2.0
/* Reads any bytes as the file `world`, the input from outside: header, chunks, pieces, records. */
#include "base/error.h"
#include "trace/world.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_world_record r;
	struct trace_world w;
	uint64_t sum = 0;

	rd_log_set(rd_log_discard, NULL);
	if (trace_world_open_bytes(&w, data, size, "fuzz"))
		return 0;
	while (trace_world_next(&w, &r) > 0)
		sum = raddle_world_sum(sum, r.bytes, r.length);
	/* After the end, reading must return the end again. */
	if (trace_world_next(&w, &r) != 0)
		abort();
	trace_world_close(&w);
	return 0;
}
