// SPDX-License-Identifier: Apache-2.0
/*
 * What several documents have: durations and sizes in words, the objects "trace" and "threads".
 */
#include "dump/dump-int.h"

#include "base/error.h"

const char *dump_duration(uint64_t ns, char out[24])
{
	if (ns >= 1000000000)
		snprintf(out, 24, "%.2f s", (double)ns / 1e9);
	else if (ns >= 1000000)
		snprintf(out, 24, "%.1f ms", (double)ns / 1e6);
	else
		snprintf(out, 24, "%.1f us", (double)ns / 1e3);
	return out;
}

const char *dump_bytes(uint64_t bytes, char out[24])
{
	if (bytes >= 10000000)
		snprintf(out, 24, "%.1f MB", (double)bytes / 1e6);
	else if (bytes >= 10000)
		snprintf(out, 24, "%.1f kB", (double)bytes / 1e3);
	else
		snprintf(out, 24, "%llu bytes", (unsigned long long)bytes);
	return out;
}

void dump_json_trace(struct rd_json *j, const struct dump *d)
{
	const struct trace_meta *m = trace_get_meta(d->trace);
	rd_json_object(j, "trace");
	rd_json_string(j, "path", trace_path(d->trace));
	rd_json_string(j, "program", m->program);
	rd_json_array(j, "argv");
	for (size_t i = 0; i < m->argc; i++)
		rd_json_string(j, NULL, m->argv[i]);
	rd_json_end(j);
	RD_JSON(j, RD_JB("complete", m->complete), RD_JB("damaged", d->model->err != 0),
		RD_JU("events", d->model->events));
	rd_json_end(j);
}

void dump_json_threads(struct rd_json *j, const struct dump *d)
{
	const struct model *m = d->model;
	rd_json_array(j, "threads");
	for (size_t i = 0; i < m->thread_count; i++) {
		const struct model_thread *t = &m->threads[i];
		rd_json_object(j, NULL);
		RD_JSON(j, RD_JS("name", t->name), RD_JU("number", t->number), RD_JS("label", t->label),
			RD_JS("parent", t->parent == MODEL_NONE ? NULL : m->threads[t->parent].name),
			RD_JU("start_q", t->start_q), RD_JU("end_q", t->end_q),
			RD_JU("accesses", t->accesses + t->ranges), RD_JU("atomics", t->atomics),
			RD_JU("operations", t->operations));
		rd_json_end(j);
	}
	rd_json_end(j);
}
