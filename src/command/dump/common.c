// SPDX-License-Identifier: Apache-2.0
/*
 * Code that several documents share.  It writes durations and sizes as text, and the JSON objects
 * "trace" and "threads".
 */
#include "dump/dump-int.h"

#include "base/error.h"

/* A unit, and the smallest number that is shown in this unit. */
struct unit {
	uint64_t from;
	double size;
	int digits;
	const char *name;
};

/* Writes the number in the first unit that fits.  The last unit fits every number. */
static const char *in_units(uint64_t number, const struct unit *unit, char out[24])
{
	while (number < unit->from)
		unit++;
	snprintf(out, 24, "%.*f %s", unit->digits, (double)number / unit->size, unit->name);
	return out;
}

const char *dump_duration(uint64_t ns, char out[24])
{
	static const struct unit units[] = {
		{1000000000, 1e9, 2, "s"}, {1000000, 1e6, 1, "ms"}, {0, 1e3, 1, "us"}};

	return in_units(ns, units, out);
}

const char *dump_bytes(uint64_t bytes, char out[24])
{
	static const struct unit units[] = {
		{10000000, 1e6, 1, "MB"}, {10000, 1e3, 1, "kB"}, {0, 1, 0, "bytes"}};

	return in_units(bytes, units, out);
}

void dump_json_trace(struct rd_json *j, const struct dump *d)
{
	RD_ASSERT(d->trace && d->model);
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
		RD_ASSERT(t->parent == MODEL_NONE || t->parent < m->thread_count);
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
