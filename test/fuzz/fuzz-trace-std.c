// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as STD text.  An imported text must be a valid trace, and its export must be
 * importable again.
 */
#include "model/export.h"
#include "test/fuzz/scratch.h"
#include "trace/check.h"
#include "trace/std.h"

#define FIRST SCRATCH "/first"
#define SECOND SCRATCH "/second"

static void no_note(void *context, const struct trace_lane *lane, const char *text)
{
	(void)context;
	(void)lane;
	(void)text;
}

static int import(const char *text, size_t size, const char *to, bool force)
{
	struct trace_std_opts opts = {.name = "fuzz", .force = force};
	uint64_t events;
	rd_remove_tree(to);
	return trace_std_import(text, size, to, &opts, &events);
}

static void read_back(const char *path, const char *again)
{
	struct trace *trace = NULL;
	struct trace_check_result result;
	struct model_std_opts opts = {.all = true};
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (trace_open(&trace, path, false) != RD_OK || !out)
		abort();
	if (trace_check(trace, no_note, NULL, &result) != RD_OK || result.err || result.notes)
		abort();
	if (model_export_std(trace, out, &opts) != RD_OK)
		abort();
	fclose(out);
	if (import(text, length, again, false) != RD_OK)
		abort();
	free(text);
	trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rd_log_set(rd_log_discard, NULL);
	scratch_make();
	if (import((const char *)data, size, FIRST, false) == RD_OK)
		read_back(FIRST, SECOND);
	else
		import((const char *)data, size, FIRST, true);
	return 0;
}
