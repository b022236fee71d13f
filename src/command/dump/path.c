// SPDX-License-Identifier: Apache-2.0
/*
 * Determines which kind of artefact a path is, and which part of it the user wants to see.  Then
 * calls the function of another source file, which writes the artefact as text or as JSON.
 */
#include "dump/dump-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Counts events by kind.  Returns the first error of a stream. */
static int count_events(struct trace *trace, uint64_t kinds[RADDLE_ACCESS + 1])
{
	int err = RD_OK;
	for (size_t i = 0; i < trace_thread_count(trace); i++) {
		struct trace_stream in;
		struct trace_event e;
		int got = trace_open_thread(trace, i, &in);
		if (got == RD_OK) {
			for (got = trace_stream_next(&in, &e); got > 0; got = trace_stream_next(&in, &e)) {
				RD_ASSERT(e.kind <= RADDLE_ACCESS);
				kinds[e.kind]++;
			}
			trace_stream_close(&in);
		}
		err = err ? err : got;
	}
	return err;
}

static int dump_count(struct dump *d)
{
	uint64_t kinds[RADDLE_ACCESS + 1] = {0}, events = 0;
	struct rd_json j;
	int err = count_events(d->trace, kinds);
	for (unsigned kind = 0; kind <= RADDLE_ACCESS; kind++)
		events += kinds[kind];
	if (!d->opt->json) {
		fprintf(d->out, "%llu events: %llu accesses, %llu others\n", (unsigned long long)events,
			(unsigned long long)kinds[RADDLE_ACCESS],
			(unsigned long long)(events - kinds[RADDLE_ACCESS]));
		return err;
	}
	rd_json_begin(&j, d->out);
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
	putc('\n', d->out);
	return err;
}

static int dump_model(struct dump *d)
{
	int err = model_build(&d->model, d->trace, d->opt->summary ? MODEL_SHARING : MODEL_NAMES);
	if (err)
		return err;
	if (d->opt->summary) {
		err = dump_summary(d);
	} else {
		err = dump_set_filters(d);
		err = err ? err : dump_events(d);
	}
	model_free(d->model);
	free(d->threads);
	return err;
}

/* Returns true if a file is a stream, according to its first bytes.  Any other file must be a site
 * table. */
static bool is_stream(const char *path)
{
	char magic[8];
	return rd_file_head(path, magic, 8) == 8 &&
	       (memcmp(magic, "RDSTREAM", 8) == 0 || memcmp(magic, "RDFULLTR", 8) == 0 ||
		memcmp(magic, "RDWORLDS", 8) == 0);
}

static bool is_site_table(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !is_stream(path);
}

static int dump_site_table(const char *path, const struct dump_options *options, FILE *out)
{
	struct trace_sites *sites = NULL;
	int err = trace_sites_read(&sites, path);
	if (!err)
		dump_sites(sites, options->json, out);
	trace_sites_free(sites);
	return err;
}

static int dump_trace_part(const char *path, const struct dump_options *options, FILE *out);

/* Checks the traces of forked children, which are inside the directory of the parent's trace. */
static int check_children(const char *path, const struct dump_options *options, FILE *out)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	int err = RD_OK;
	while (d && (entry = readdir(d))) {
		if (strncmp(entry->d_name, "fork-", 5) != 0)
			continue;
		char *child = rd_xasprintf("%s/%s", path, entry->d_name);
		fprintf(out, "%s: ", child);
		int one = dump_trace_part(child, options, out);
		err = err ? err : one;
		free(child);
	}
	if (d)
		closedir(d);
	return err;
}

/* Reports that the site table is missing.  If it is damaged, the reader of the trace has already
 * reported that. */
static int report_no_sites(const struct trace *trace)
{
	char *sites = rd_xasprintf("%s/sites", trace_path(trace));
	if (!rd_file_exists(sites))
		rd_fail(RD_ENOTFOUND, "%s: there is no site table", trace_path(trace));
	free(sites);
	return RD_ENOTFOUND;
}

/* Shows the part of an open trace that the options select.  `damaged` is true if the trace's file
 * `world` cannot be read. */
static int dump_open_trace(struct dump *d, bool damaged)
{
	const struct dump_options *o = d->opt;
	RD_ASSERT(d->trace && !d->model);
	if (trace_is_full(d->trace) && !o->sites)
		return dump_full(d->trace, o, d->out);
	if (o->check)
		return dump_check(d->trace, o->json, damaged, d->out);
	if (o->count)
		return dump_count(d);
	if (!o->sites)
		return dump_model(d);
	if (!trace_get_sites(d->trace))
		return report_no_sites(d->trace);
	dump_sites(trace_get_sites(d->trace), o->json, d->out);
	return RD_OK;
}

static int dump_trace(const char *path, const struct dump_options *options, FILE *out)
{
	struct dump *d = rd_xcalloc(1, sizeof *d);
	*d = (struct dump){.opt = options, .out = out};
	int err = trace_open(&d->trace, path, options->force);
	if (!err) {
		int world = options->check ? dump_check_world(path) : RD_OK;
		err = dump_open_trace(d, world != RD_OK);
		trace_close(d->trace);
		int children = options->check && !options->json ? check_children(path, options, out) : RD_OK;
		err = err ? err : world ? world : children;
	}
	free(d);
	return err;
}

static int dump_trace_part(const char *path, const struct dump_options *options, FILE *out)
{
	if (is_site_table(path))
		return dump_site_table(path, options, out);
	if (dump_is_world(path))
		return dump_world(path, options->json, out);
	return dump_trace(path, options, out);
}

int dump_path(const char *path, const struct dump_options *options, FILE *out)
{
	int err = dump_artefact(path, options->json, out);
	if (err == DUMP_OTHER)
		err = dump_trace_part(path, options, out);
	RD_ASSERT(err <= 0);
	return err;
}
