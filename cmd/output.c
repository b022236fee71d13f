// SPDX-License-Identifier: Apache-2.0
/*
 * Writing findings to the files a command was asked for, and leaving aside what the user
 * knows or does not want to know.  In: a finished set.  Out: files, marks on the findings.
 */
#include "cmd/output.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "finding/suppress.h"

#include <inttypes.h>
#include <string.h>

static bool is_stdout(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

bool cmd_output_is_stdout(const struct cmd_output *o)
{
	return is_stdout(o->json) || is_stdout(o->sarif) || is_stdout(o->html);
}

int cmd_output_check(const struct cmd_output *o, const char *name)
{
	if (is_stdout(o->json) + is_stdout(o->sarif) + is_stdout(o->html) > 1)
		return rd_fail(RD_EUSAGE, "%s: only one document can go to standard output", name);
	return RD_OK;
}

enum format { JSON, SARIF, HTML };

static int write_to(FILE *out, enum format format, const struct finding_set *set,
		    const struct report_opts *opts)
{
	switch (format) {
	case JSON: return finding_write(set, out);
	case SARIF: return report_sarif(set, opts, out);
	case HTML: return report_html(set, opts, out);
	}
	return RD_OK;
}

static int write_document(const char *path, enum format format, const struct finding_set *set,
			  const struct report_opts *opts)
{
	FILE *out;
	int err;

	if (!path)
		return RD_OK;
	out = is_stdout(path) ? stdout : fopen(path, "w");
	if (!out)
		return rd_fail_errno("%s: cannot write it", path);
	err = write_to(out, format, set, opts);
	if (out != stdout && fclose(out) != 0 && !err)
		err = rd_fail_errno("%s: cannot write it", path);
	return err;
}

int cmd_output_write(const struct cmd_output *o, const struct finding_set *set,
		     const struct report_opts *opts)
{
	const char *paths[] = {[JSON] = o->json, [SARIF] = o->sarif, [HTML] = o->html};
	int err = RD_OK;

	for (enum format format = JSON; format <= HTML && !err; format++)
		err = write_document(paths[format], format, set, opts);
	return err;
}

static int suppress(const char *path, struct finding_set *set, bool tell)
{
	struct suppressions s = SUPPRESSIONS_INIT;
	int err = suppressions_read(&s, path);

	if (!err)
		suppressions_apply(&s, set);
	for (size_t i = 0; i < s.count && !err && tell; i++)
		if (!s.rules[i].hits)
			rd_info("%s:%zu: %s:%s hid nothing", path, s.rules[i].line,
				suppress_type_name(s.rules[i].type), s.rules[i].pattern);
	suppressions_release(&s);
	return err;
}

int cmd_filter_apply(struct cmd_filter *filter, struct finding_set *set, bool tell)
{
	int err = filter->suppressions ? suppress(filter->suppressions, set, tell) : RD_OK;

	if (!err && filter->baseline)
		err = finding_baseline_read(set, filter->baseline, &filter->fixed);
	if (!err && tell && filter->fixed)
		rd_info("%s: %zu of its findings were not found", filter->baseline, filter->fixed);
	return err;
}

int cmd_write_baseline(const struct finding_set *set, const char *path)
{
	struct rd_buf text = RD_BUF_INIT;
	int err;

	rd_buf_adds(&text, "# Findings known to 'raddle check --baseline'; one id a line.\n");
	for (size_t i = 0; i < set->count; i++) {
		const struct finding *f = set->items[i];
		const struct finding_stack *stack = f->access_count  ? &f->accesses[0].stack
						    : f->cycle_count ? &f->cycle[0].stack
								     : NULL;
		if (f->status != FINDING_CONFIRMED || f->suppressed)
			continue;
		rd_buf_addf(&text, "%s # %s", f->id, finding_kind_name(f->kind));
		if (f->object.name)
			rd_buf_addf(&text, " on %s", f->object.name);
		if (stack && finding_top(stack)->function)
			rd_buf_addf(&text, " in %s", finding_top(stack)->function);
		rd_buf_addc(&text, '\n');
	}
	err = rd_file_write(path, text.data, text.length);
	rd_buf_release(&text);
	return err;
}
