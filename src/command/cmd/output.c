// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the documents that options request, and marks findings that a baseline or a suppression
 * file covers.  The input is a complete set of findings, or other data for a writer.
 */
#include "cmd/output-int.h"

#include "base/error.h"
#include "base/file.h"
#include "cmd/option-int.h"
#include "finding/filter.h"
#include "finding/suppress.h"

#include <stdlib.h>
#include <string.h>

bool cmd_is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

bool cmd_output_is_stdout(void)
{
	return cmd_is_stdout(opt.json) || cmd_is_stdout(opt.sarif) || cmd_is_stdout(opt.html) ||
	       cmd_is_stdout(opt.coverage) || cmd_is_stdout(opt.csv) || cmd_is_stdout(opt.perfetto) ||
	       cmd_is_stdout(opt.write_baseline) || cmd_is_stdout(opt.gen_suppressions) ||
	       cmd_is_stdout(opt.schedule) || cmd_is_stdout(opt.certificate) || cmd_is_stdout(opt.export);
}

/* The document is complete before it replaces the old file, because the disk may become full while
 * it is written. */
int cmd_document(const char *path, cmd_write_fn *write, const void *what)
{
	bool to_stdout = cmd_is_stdout(path);
	char *text = NULL;
	size_t length = 0;
	FILE *out;
	int err;

	RD_ASSERT(write);
	if (!path)
		return RD_OK;
	out = to_stdout ? stdout : open_memstream(&text, &length);
	if (!out)
		return rd_fail_errno("cannot write %s", path);
	err = write(what, out);
	if (!err && (ferror(out) || fflush(out)))
		err = rd_fail_errno("cannot write to %s", to_stdout ? "standard output" : path);
	if (!to_stdout && fclose(out) && !err)
		err = rd_fail_errno("cannot write %s", path);
	if (!to_stdout && !err)
		err = rd_file_replace(path, text, length);
	free(text);
	return err;
}

static int write_text(const void *what, FILE *out)
{
	const struct rd_buf *text = what;

	fwrite(text->data, 1, text->length, out);
	return RD_OK;
}

int cmd_write_text(const char *path, const struct rd_buf *text)
{
	return cmd_document(path, write_text, text);
}

int cmd_redirect(const char *path)
{
	FILE *out = path && !cmd_is_stdout(path) ? fopen(path, "we") : stdout;

	if (!out)
		return rd_fail_errno("cannot write %s", path);
	stdout = out;
	return RD_OK;
}

/* The data that writers of findings need. */
struct findings {
	const struct finding_set *set;
	const struct report_opts *how;
};

static int write_json(const void *what, FILE *out)
{
	return finding_write(((const struct findings *)what)->set, out);
}

static int write_sarif(const void *what, FILE *out)
{
	const struct findings *f = what;

	return report_sarif(f->set, f->how, out);
}

static int write_html(const void *what, FILE *out)
{
	const struct findings *f = what;

	return report_html(f->set, f->how, out);
}

/* The data of a coverage page: findings, and the number of schedules that were run. */
struct coverage {
	struct findings findings;
	uint64_t schedules;
};

static int write_coverage(const void *what, FILE *out)
{
	const struct coverage *c = what;

	return report_coverage(c->findings.set, c->findings.how, c->schedules, out);
}

int cmd_write_coverage(const struct finding_set *set, const struct report_opts *how, uint64_t schedules)
{
	return cmd_document(opt.coverage, write_coverage, &(struct coverage){{set, how}, schedules});
}

int cmd_write_findings(const char *path, const struct finding_set *set)
{
	return cmd_document(path, write_json, &(struct findings){set, NULL});
}

int cmd_output_write(const struct finding_set *set, const struct report_opts *how)
{
	RD_ASSERT(set && how);
	const struct findings what = {set, how};
	int err = cmd_document(opt.json, write_json, &what);

	if (!err)
		err = cmd_document(opt.sarif, write_sarif, &what);
	return err ? err : cmd_document(opt.html, write_html, &what);
}

void cmd_progress_start(struct rd_progress *p, const char *what, uint64_t total)
{
	rd_progress_start(p, what, total);
	if (opt.quiet)
		rd_progress_end(p);
}

uint64_t cmd_seconds(uint64_t ms)
{
	return ms / 1000 + (ms % 1000 != 0);
}

int cmd_filter_apply(struct finding_set *set, bool report_unused)
{
	struct finding_filter filter = {.baseline = opt.baseline, .suppressions = opt.suppressions};

	return finding_filter(&filter, set, report_unused);
}

static int write_suppressions(const void *what, FILE *out)
{
	return suppressions_write(what, out);
}

int cmd_write_suppressions(const struct finding_set *set, const char *path)
{
	return cmd_document(path, write_suppressions, set);
}

static int write_baseline(const void *what, FILE *out)
{
	return finding_baseline_write(what, out);
}

int cmd_write_baseline(const struct finding_set *set, const char *path)
{
	return cmd_document(path, write_baseline, set);
}
