// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle dump`: what is in a trace directory, a single stream, a site table or
 * another artefact, for people (text) and programs (--json, doc/format/dump-json.md).
 */
#include "cmd/cmd.h"
#include "cmd/dump.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "cmd/output.h"

#include <stdio.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct cmd_usage usage = {
	"raddle dump [OPTIONS] TRACE | FILE",
	"Shows a trace: a directory made by 'raddle record' or 'raddle import', or one of\n"
	"its files (a stream, a site table, what came from outside). Events are in the global order of\n"
	"synchronisation operations; a plain access follows the operation before it in its\n"
	"thread.\n"
	"\n"
	"It also shows findings (findings.json, or the directory that contains it),\n"
	"schedules, facts, and the bitcode and link line of a program; only --json applies\n"
	"to these.",
	"threads kinds limit_events stacks summary sites check values count json force",
	"  raddle dump --summary trace\n"
	"  raddle dump --kind mutex,write --thread T_0_1 trace\n",
	false,
};

/* In JSON mode errors are JSON too, on stderr. */
static void log_json(void *context, enum rd_level level, const char *message)
{
	struct rd_json j;
	(void)context;
	rd_json_begin(&j, stderr);
	rd_json_object(&j, NULL);
	rd_json_string(&j, level == RD_LOG_ERROR ? "error" : "warning", message);
	rd_json_end(&j);
	fputc('\n', stderr);
}

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

/* Calls `use` for each part of a list; stops at the first that it refuses. */
static int each_part(const char *list, int (*use)(struct dump *d, const char *part), struct dump *d)
{
	int err = RD_OK;
	while (!err && *list) {
		size_t n = strcspn(list, ",");
		char *part = rd_xstrndup(list, n);
		err = use(d, part);
		free(part);
		list += list[n] ? n + 1 : n;
	}
	return err;
}

static int want_thread(struct dump *d, const char *part)
{
	const struct model *m = d->model;
	for (size_t i = 0; i < m->thread_count; i++) {
		char number[16];
		snprintf(number, sizeof number, "%u", m->threads[i].number);
		if (strcmp(part, m->threads[i].name) == 0 || strcmp(part, number) == 0) {
			d->threads[i] = true;
			return RD_OK;
		}
	}
	return rd_fail(RD_EUSAGE, "the trace has no thread '%s'", part);
}

/* "mutex-lock" is one kind, "mutex" all that begin with "mutex-". */
static int want_kind(struct dump *d, const char *part)
{
	size_t n = strlen(part);
	bool found = false;
	for (unsigned kind = RADDLE_RANGE; kind <= RADDLE_ACCESS; kind++) {
		const char *name = trace_kind(kind)->name;
		if (name && strncmp(name, part, n) == 0 && (name[n] == '\0' || name[n] == '-'))
			found = d->kinds[kind] = true;
	}
	bool access = strcmp(part, "access") == 0;
	bool read = access || strcmp(part, "read") == 0;
	bool write = access || strcmp(part, "write") == 0;
	d->reads |= read;
	d->writes |= write;
	if (!found && !read && !write)
		return rd_fail(RD_EUSAGE, "there is no kind of event '%s'", part);
	return RD_OK;
}

static int set_filters(struct dump *d)
{
	int err = RD_OK;
	if (opt.threads) {
		d->threads = rd_xcalloc(d->model->thread_count + 1, sizeof *d->threads);
		err = each_part(opt.threads, want_thread, d);
	}
	if (!err && opt.kinds)
		return each_part(opt.kinds, want_kind, d);
	memset(d->kinds, 1, sizeof d->kinds);
	return err;
}

/* Events by kind; returns the first error of a stream. */
static int count_events(struct trace *trace, uint64_t kinds[RADDLE_ACCESS + 1])
{
	int err = RD_OK;
	for (size_t i = 0; i < trace_thread_count(trace); i++) {
		struct trace_stream in;
		struct trace_event e;
		int got = trace_open_thread(trace, i, &in);
		if (got == RD_OK) {
			for (got = trace_stream_next(&in, &e); got > 0; got = trace_stream_next(&in, &e))
				kinds[e.kind]++;
			trace_stream_close(&in);
		}
		err = err ? err : got;
	}
	return err;
}

static int dump_count(struct trace *trace)
{
	uint64_t kinds[RADDLE_ACCESS + 1] = {0}, events = 0;
	struct rd_json j;
	int err = count_events(trace, kinds);
	for (unsigned kind = 0; kind <= RADDLE_ACCESS; kind++)
		events += kinds[kind];
	if (!opt.json) {
		printf("%llu events: %llu accesses, %llu others\n", (unsigned long long)events,
		       (unsigned long long)kinds[RADDLE_ACCESS],
		       (unsigned long long)(events - kinds[RADDLE_ACCESS]));
		return err ? CMD_FAILED : CMD_OK;
	}
	rd_json_begin(&j, stdout);
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", 1);
	rd_json_unsigned(&j, "events", events);
	rd_json_object(&j, "kinds");
	for (unsigned kind = 0; kind <= RADDLE_ACCESS; kind++) {
		if (kinds[kind] > 0)
			rd_json_unsigned(&j, trace_kind(kind)->name, kinds[kind]);
	}
	rd_json_end(&j);
	rd_json_end(&j);
	putchar('\n');
	return err ? CMD_FAILED : CMD_OK;
}

static int dump_model(struct dump *d)
{
	enum model_depth depth = opt.summary ? MODEL_SHARING : MODEL_NAMES;
	int status = CMD_FAILED;
	if (model_build(&d->model, d->trace, depth) != RD_OK)
		return CMD_FAILED;
	if (opt.summary)
		status = dump_summary(d);
	else if (set_filters(d) == RD_OK)
		status = dump_events(d);
	model_free(d->model);
	free(d->threads);
	return status;
}

/* Stream files are recognised by their first bytes; other files can only be
 * site tables. */
static bool is_stream(const char *path)
{
	char magic[8];
	return rd_file_head(path, magic, 8) == 8 &&
	       (memcmp(magic, "RDSTREAM", 8) == 0 || memcmp(magic, "RDFULLTR", 8) == 0 ||
		memcmp(magic, "RDWORLDS", 8) == 0);
}

static int dump_full_trace(struct trace *trace)
{
	struct dump_full_options how = {.threads = opt.threads,
					.kinds = opt.kinds,
					.limit = opt.limit_events ? opt.limit_events : UINT64_MAX,
					.stacks = opt.stacks,
					.check = opt.check,
					.count = opt.count || opt.summary,
					.json = opt.json,
					.values = opt.values};
	return dump_full(trace, &how);
}

static int dump_path(const char *path);

/* The traces of forked children lie in that of their parent; each is checked like it.  */
static int check_children(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int status = CMD_OK;
	while (d && (entry = readdir(d))) {
		if (strncmp(entry->d_name, "fork-", 5) != 0)
			continue;
		char *child = rd_xasprintf("%s/%s", path, entry->d_name);
		printf("%s: ", child);
		if (dump_path(child) != CMD_OK)
			status = CMD_FAILED;
		free(child);
	}
	if (d)
		closedir(d);
	return status;
}

static int dump_path(const char *path)
{
	struct stat st;
	struct dump *d = rd_xcalloc(1, sizeof *d);
	struct trace_sites *sites = NULL;
	int status = CMD_FAILED;
	d->json = opt.json;
	d->stacks = opt.stacks;
	d->limit = opt.limit_events ? opt.limit_events : UINT64_MAX;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && !is_stream(path)) {
		if (trace_sites_read(&sites, path) == RD_OK)
			status = dump_sites(sites, opt.json);
		trace_sites_free(sites);
	} else if (dump_is_world(path)) {
		status = dump_world(path, opt.json);
	} else if (trace_open(&d->trace, path, opt.force) == RD_OK) {
		bool damaged = opt.check && dump_check_world(path) != CMD_OK;
		if (trace_is_full(d->trace) && !opt.sites)
			status = dump_full_trace(d->trace);
		else if (opt.check)
			status = dump_check(d->trace, opt.json, damaged);
		else if (opt.count)
			status = dump_count(d->trace);
		else if (!opt.sites)
			status = dump_model(d);
		else if (trace_get_sites(d->trace))
			status = dump_sites(trace_get_sites(d->trace), opt.json);
		trace_close(d->trace);
		if (damaged)
			status = CMD_FAILED;
		if (opt.check && !opt.json && check_children(path) != CMD_OK)
			status = CMD_FAILED;
	}
	free(d);
	return status;
}

static int dump(const char *path)
{
	int status;

	if (opt.json)
		rd_log_set(log_json, NULL);
	if (cmd_redirect(opt.json))
		return CMD_FAILED;
	status = dump_artefact(path, opt.json);
	return status == CMD_GO_ON ? dump_path(path) : status;
}

int cmd_dump(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a trace or another artefact", dump);
}
