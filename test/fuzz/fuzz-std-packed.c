// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a file with an STD text, packed or not.  The programs that unpack are run; what they make of
 * the bytes, however much that is, must import or be refused, and what was imported must be a trace.
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
