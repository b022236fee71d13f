// SPDX-License-Identifier: Apache-2.0
/* Reads any bytes as meta.json. */
#include "base/error.h"
#include "trace/meta.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_meta meta;
	rd_log_set(rd_log_discard, NULL);
	if (trace_meta_parse(&meta, (const char *)data, size, "fuzz") == RD_OK)
		trace_meta_release(&meta);
	return 0;
}
