// SPDX-License-Identifier: Apache-2.0
/*
 * Takes any records as a trace of several threads, builds the model, and runs everything that reads
 * it.  0xf7 bytes separate the threads.
 */
#include "model/export.h"
#include "predict/unordered-int.h"
#include "predict/csp.h"
#include "predict/describe-int.h"
#include "test/fuzz/scratch.h"
#include "trace/check.h"
#include "trace/writer.h"
#include "test/unit/predict/validate.c"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define TRACE SCRATCH "/t"

static const char table[] = "raddle-sites\t1\n"
			    "U\t0\t1\tunit.c\n"
			    "F\t0\tunit.c\n"
			    "S\t1\tr\t4\t-\t0\t1\t1\tf\tx\tint\n"
			    "S\t2\tw\t8\t-\t0\t2\t1\tf\tp->y\tlong\n"
			    "S\t3\trw\t0\t-\t0\t3\t1\tf\tz\tchar\n"
			    "S\t4\tax\t4\tS\t0\t4\t1\tf\tn\tint\n"
			    "S\t5\tc\t0\t-\t0\t5\t1\tmain\tf\t-\n"
			    "G\tx\tx\t32\t0\t1\tstruct s[2]\n"
			    "T\tstruct s\t16\ta\t0\t8\tlong\n"
			    "T\tstruct s\t16\tb\t8\t8\tstruct s\n"
			    "A\tmodule\t0\t32\tx\n";
#define TABLE_RECORDS 11

static void no_note(void *context, const struct trace_lane *lane, const char *text)
{
	(void)context;
	(void)lane;
	(void)text;
}

static void write_trace(const char *path, const uint8_t *data, size_t size)
{
	struct trace_writer *w = NULL;
	struct trace_meta meta = {.complete = true};
	char *records = rd_xmalloc(size + 1);
	uint32_t thread = 0;
	rd_remove_tree(path);
	if (trace_writer_open(&w, path) != RD_OK)
		abort();
	for (const uint8_t *end = data + size; data < end && thread < 8; thread++) {
		const uint8_t *stop = memchr(data, 0xf7, (size_t)(end - data));
		size_t length = (size_t)((stop ? stop : end) - data);
		records[0] = RADDLE_RESET;
		memcpy(records + 1, data, length);
		trace_writer_chunk(w, thread, records, length + 1);
		data += length + 1;
	}
	trace_writer_meta(w, &meta);
	trace_writer_close(w);
	free(records);
}

static void write_sites(const char *path)
{
	char *text = rd_xasprintf("%send\t%d\t%016llx\n", table, TABLE_RECORDS,
				  (unsigned long long)XXH64(table, strlen(table), 0));
	char *file = rd_xasprintf("%s/sites", path);
	if (rd_file_write(file, text, strlen(text)) != RD_OK)
		abort();
	free(text);
	free(file);
}

/* Predicts from the trace.  Each prediction must have a valid witness. */
static void predict(const struct model *model, FILE *out)
{
	struct predict_opts o = {.work = 20000, .total_work = 200000};
	struct predict_trace t;
	struct predict_result r;
	struct finding_set *set = finding_set_new();
	RD_ASSERT(predict_fill(&t, model) == RD_OK);
	RD_ASSERT(predict_run(&t.x, &o, &r) == RD_OK);
	for (size_t i = 0; i < r.race_count && i < 20; i++) {
		const struct predict_race *c = &r.races[i];
		uint32_t pair[] = {c->first, c->second};
		RD_ASSERT(!predict_validate(&t.x, c->class == PREDICT_SOUND, pair, 2, &c->witness));
	}
	predict_describe(&t, &r, set, (struct predict_limit){.findings = 20});
	finding_set_finish(set);
	finding_write(set, out);
	finding_set_free(set);
	predict_write_csp(&t, out);
	predict_result_release(&r);
	predict_trace_release(&t);
}

/* Finds the unordered accesses of the trace, and loads the parts that contain them. */
static void look_first(struct model *model)
{
	struct predict_unordered_list list;
	predict_find_unordered(model, 1 << 22, &list);
	for (size_t i = 0; i < list.count && i < 4; i++)
		RD_ASSERT(model_load(model, list.items[i].part) == RD_OK);
	predict_unordered_release(&list);
}

static void read_trace(const char *path)
{
	struct trace *trace = NULL;
	struct model *model = NULL;
	struct trace_check_result result;
	struct model_std_opts opts = {.all = true};
	FILE *out = fopen("/dev/null", "w");
	if (trace_open(&trace, path, false) != RD_OK)
		abort();
	trace_check(trace, no_note, NULL, &result);
	if (model_build(&model, trace, MODEL_HISTORIES) != RD_OK)
		abort();
	struct rd_buf name = RD_BUF_INIT;
	for (uint32_t i = 0; i < model->object_count; i++)
		model_name_place(model, i, model->objects[i].size / 2, &name);
	rd_buf_release(&name);
	predict(model, out);
	look_first(model);
	model_free(model);
	model_export_std(trace, out, &opts);
	model_export_perfetto(trace, out);
	fclose(out);
	trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rd_log_set(rd_log_discard, NULL);
	if (size > 1 << 16)
		return 0;
	scratch_make();
	write_trace(TRACE, data, size);
	write_sites(TRACE);
	read_trace(TRACE);
	return 0;
}
