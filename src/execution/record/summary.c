// SPDX-License-Identifier: Apache-2.0
/* Summarises a recorded run in a few numbers.  Input: its meta data.  Output: text and JSON. */
#include "record/summary.h"

#include "base/error.h"
#include "base/json.h"
#include "run/launch.h"

#include <inttypes.h>

static void write_status(struct rd_json *j, const struct trace_meta *meta)
{
	rd_json_object(j, "status");
	if (meta->end == TRACE_SIGNALLED) {
		rd_json_number(j, "signal", meta->code);
		rd_json_bool(j, "core", meta->core);
	} else {
		rd_json_number(j, "exit", meta->code);
	}
	rd_json_end(j);
}

int record_summary_json(const struct trace_meta *meta, const char *trace, FILE *out)
{
	struct rd_json j = {0};

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JN("version", 1), RD_JS("trace", trace), RD_JS("program", meta->program));
	write_status(&j, meta);
	RD_JSON(&j, RD_JB("complete", meta->complete), RD_JS("stopped", meta->stopped),
		RD_JU("threads", meta->threads), RD_JU("events", meta->events),
		RD_JU("left_out", meta->left_out), RD_JU("bytes", meta->bytes),
		RD_JD("seconds", (double)(meta->end_ns - meta->start_ns) / 1e9));
	rd_json_end(&j);
	fputc('\n', out);
	return RD_OK;
}

void record_summary_text(const struct trace_meta *meta, const char *trace, FILE *out)
{
	fprintf(out,
		"raddle: recorded %" PRIu64 " events of %" PRIu64 " threads into %s (%" PRIu64 " bytes)\n",
		meta->events, meta->threads, trace, meta->bytes);
	if (meta->left_out)
		fprintf(out,
			"raddle: left out %" PRIu64
			" accesses at frequently executed places; --all-accesses records them\n",
			meta->left_out);
}

void record_faults_text(const struct run_fault *faults, size_t count, FILE *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct run_fault *f = &faults[i];

		if (f->fired)
			fprintf(out,
				"raddle: fault %zu changed %" PRIu64 " values, the first from 0x%" PRIx64
				" to 0x%" PRIx64 "\n",
				i, f->fired, f->before, f->after);
		else
			fprintf(out,
				"raddle: fault %zu did not happen: its site was executed %" PRIu64 " times\n",
				i, f->seen);
	}
}

int record_judge_room(const char *program, uint64_t events)
{
	if (run_launch_has_room())
		return RD_OK;
	if (!events)
		return rd_fail(RD_ESYSTEM,
			       "record: %s never started: its address space is limited (ulimit -v), and the "
			       "recorder uses a part of it",
			       program);
	rd_warn("the program's address space is limited (ulimit -v), and the recorder uses a part of it: "
		"the program may have failed because the rest was too small");
	return RD_OK;
}
