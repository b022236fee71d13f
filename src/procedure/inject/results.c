// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the results of a campaign.  Several processes may write logs at the same time: `log` is
 * written by the campaign's first process, `log.N` by shard N.  A killed process may leave an
 * incomplete line at the end of its log; only that line is lost.
 *
 * Invariant of the result: runs are sorted by number, and no number occurs twice.  If two lines
 * describe the same run, the first one is used.
 */
#include "inject/results.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "trace/sites.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define RUNS_MAX 50000000 /* largest number of runs of a campaign; set by hand, bounds memory */

/* ---- the log ---- */

static void add_run(struct campaign_results *r, const struct runlog_run *run)
{
	RD_GROW(r->runs, r->capacity, r->count + 1);
	r->runs[r->count++] = *run;
}

struct log {
	struct campaign_results *results;
	const char *name;
	size_t line;
};

static int add_line(void *context, const char *line, size_t length)
{
	struct log *log = context;
	struct campaign_results *r = log->results;
	struct runlog_run run;
	const char *wrong;

	log->line++;
	if (!length)
		return 0;
	wrong = runlog_parse(&run, line, length, &r->texts);
	if (wrong) {
		if (!r->damaged++)
			rd_warn("campaign: %s:%zu is skipped: %s%s", log->name, log->line,
				strchr(wrong, ' ') ? "" : "bad or missing member ", wrong);
		return 0;
	}
	if (r->count >= RUNS_MAX)
		return rd_fail(RD_ELIMIT, "campaign: %s:%zu: more than %d runs", log->name, log->line,
			       RUNS_MAX);
	add_run(r, &run);
	return 0;
}

int campaign_results_add(struct campaign_results *r, const char *text, size_t length, const char *name)
{
	RD_ASSERT(r != NULL && name != NULL);
	struct log log = {r, name, 0};
	size_t whole;
	int err = runlog_lines(text, length, add_line, &log, &whole);

	if (!err && whole < length) {
		r->cut++;
		rd_warn("campaign: %s: the last line is incomplete and is skipped", name);
	}
	return err;
}

struct numbered {
	struct runlog_run run;
	size_t position;
};

RD_COMPARISON(compare_runs, struct numbered, run.run, position)

void campaign_results_finish(struct campaign_results *r)
{
	struct numbered *sorted = rd_xcalloc(r->count + 1, sizeof *sorted);
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		sorted[i] = (struct numbered){r->runs[i], i};
	qsort(sorted, r->count, sizeof *sorted, compare_runs);
	for (size_t i = 0; i < r->count; i++)
		if (!kept || r->runs[kept - 1].run != sorted[i].run.run)
			r->runs[kept++] = sorted[i].run;
	r->repeated += r->count - kept;
	r->count = kept;
	free(sorted);
}

static bool is_kind(const struct runlog_run *run, const char *kind, size_t length)
{
	return strlen(run->fault) == length && !strncasecmp(run->fault, kind, length);
}

int campaign_results_choose(struct campaign_results *r, const char *kinds)
{
	bool *wanted = rd_xcalloc(r->count + 1, sizeof *wanted);
	size_t kept = 0;
	int err = 0;

	for (const char *at = kinds; *at && !err;) {
		size_t n = strcspn(at, ","), found = 0;

		for (size_t i = 0; i < r->count; i++)
			if (is_kind(&r->runs[i], at, n))
				wanted[i] = ++found;
		if (!found && n)
			err = rd_fail(RD_ENOTFOUND, "campaign: %s: no run has a fault '%.*s'", r->directory,
				      (int)n, at);
		at += at[n] ? n + 1 : n;
	}
	for (size_t i = 0; i < r->count; i++)
		if (wanted[i])
			r->runs[kept++] = r->runs[i];
	r->count = kept;
	r->planned = 0; /* the planned number would include kinds that are not selected */
	free(wanted);
	return err;
}

static int read_log(struct campaign_results *r, const char *path)
{
	struct rd_map map;
	int err = rd_map_open(&map, path);

	if (err)
		return err;
	err = campaign_results_add(r, (const char *)map.data, map.length, path);
	rd_map_close(&map);
	return err;
}

/* Reads `log`, and the logs `log.N` of shards. */
static int read_logs(struct campaign_results *r)
{
	char *path = rd_xasprintf("%s/log", r->directory);
	bool there = rd_file_exists(path);
	glob_t found = {0};
	int err = there ? read_log(r, path) : 0;

	if (!err)
		err = runlog_shards(r->directory, &found);
	for (size_t i = 0; i < found.gl_pathc && !err; i++)
		err = read_log(r, found.gl_pathv[i]);
	if (!err && !there && !found.gl_pathc)
		err = rd_fail(RD_ENOTFOUND, "campaign: %s: it contains no log", r->directory);
	globfree(&found);
	free(path);
	return err;
}

/* ---- the campaign ---- */

static void read_command(struct campaign_results *r, const json_t *root)
{
	const json_t *argv = json_object_get(root, "argv");
	const char *program = json_string_value(json_object_get(root, "program"));
	struct rd_buf command = RD_BUF_INIT;

	for (size_t i = 0; i < json_array_size(argv); i++) {
		const char *word = json_string_value(json_array_get(argv, i));

		rd_buf_addf(&command, "%s%s", i ? " " : "", word ? word : RD_UNKNOWN);
	}
	if (!command.length && program)
		rd_buf_adds(&command, program);
	r->command = rd_buf_detach(&command);
	if (program && *rd_base_name(program))
		r->name = rd_xstrdup(rd_base_name(program));
}

static void read_plan(struct campaign_results *r, const json_t *root)
{
	json_int_t each = json_integer_value(json_object_get(root, "runs_per_kind"));
	size_t kinds = json_array_size(json_object_get(root, "kinds"));

	if (each > 0 && kinds && (uint64_t)each <= RUNS_MAX / kinds)
		r->planned = (uint64_t)each * kinds;
	r->forced = json_is_true(json_object_get(root, "forced"));
}

/* Reads the stopping rule, which campaign.json has in millionths. */
static void read_until(struct campaign_results *r, const json_t *root)
{
	json_int_t until = json_integer_value(json_object_get(root, "until_millionths"));
	const char *outcome = json_string_value(json_object_get(root, "until_outcome"));

	r->until = until > 0 && until < 500000 ? (double)until / 1e6 : 0;
	if (!outcome || !runlog_outcome_find(outcome, &r->until_outcome))
		r->until_outcome = RUNLOG_SDC;
}

/* Reads the site table.  Without it the report has fewer names. */
static void read_sites(struct campaign_results *r)
{
	char *path = rd_xasprintf("%s/golden/trace/sites", r->directory);

	if (rd_file_exists(path) && trace_sites_read(&r->sites, path)) {
		r->sites = NULL;
		rd_warn("campaign: %s cannot be used: the report names no variables and shows files without "
			"their directories",
			path);
	}
	for (size_t i = 0; r->sites && i < r->sites->global_count; i++)
		rd_names_put(&r->globals, r->sites->globals[i].name, strlen(r->sites->globals[i].name));
	free(path);
}

static int read_facts(struct campaign_results *r)
{
	char *path = rd_xasprintf("%s/campaign.json", r->directory);
	struct rd_buf text = RD_BUF_INIT;
	json_error_t where;
	json_t *root = NULL;
	int err = rd_file_read_max(path, RD_TEXT_MAX, &text);

	if (!err) {
		root = json_loadb(text.data, text.length, 0, &where);
		if (!json_is_object(root))
			err = rd_fail(RD_EFORMAT, "campaign: %s: not a JSON object", path);
	}
	if (!err) {
		read_command(r, root);
		read_plan(r, root);
		read_until(r, root);
	}
	json_decref(root);
	rd_buf_release(&text);
	free(path);
	return err;
}

int campaign_results_read(struct campaign_results *r, const char *directory)
{
	int err;

	*r = (struct campaign_results)EPA_RESULTS_INIT;
	r->directory = directory;
	err = read_facts(r);
	if (!err)
		err = read_logs(r);
	if (err) {
		campaign_results_release(r);
		return err;
	}
	if (!r->name)
		r->name = rd_xstrdup(directory);
	if (r->damaged > 1)
		rd_warn("campaign: %s: %zu lines of the log are skipped", directory, r->damaged);
	campaign_results_finish(r);
	read_sites(r);
	return 0;
}

void campaign_results_release(struct campaign_results *r)
{
	RD_FREE(r->name, r->command, r->runs);
	rd_names_release(&r->texts);
	rd_names_release(&r->globals);
	trace_sites_free(r->sites);
	*r = (struct campaign_results)EPA_RESULTS_INIT;
}
