// SPDX-License-Identifier: Apache-2.0
/* Reads any bytes as a stream file: header, chunks, checksums, decompression. */
#include "base/error.h"
#include "trace/stream.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_inflater *inflater = trace_inflater_new();
	struct trace_stream s;
	struct trace_event e;
	rd_log_set(rd_log_discard, NULL);
	if (trace_stream_open(&s, inflater, data, size, "fuzz", false) == RD_OK) {
		while (trace_stream_next(&s, &e) > 0)
			;
		/* After the end, reading must return the end again. */
		if (trace_stream_next(&s, &e) != 0)
			abort();
		trace_stream_close(&s);
	}
	trace_inflater_free(inflater);
	return 0;
}
