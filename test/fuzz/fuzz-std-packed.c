// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a file with STD text, compressed or not.  The real decompressors are run.
 * Their output, however large, must be imported or rejected, and an imported text must be a valid
 * trace.
 */
#include "test/fuzz/scratch.h"
#include "trace/reader.h"
#include "trace/std.h"

#define PACKED SCRATCH "/packed"
#define TRACE SCRATCH "/trace"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace *trace = NULL;

	rd_log_set(rd_log_discard, NULL);
	scratch_make();
	rd_remove_tree(TRACE);
	RD_ASSERT(rd_file_write(PACKED, data, size) == RD_OK);
	if (trace_std_import_file(PACKED, TRACE, false) == RD_OK) {
		RD_ASSERT(trace_open(&trace, TRACE, false) == RD_OK);
		trace_close(trace);
	}
	return 0;
}
