// SPDX-License-Identifier: Apache-2.0
/* Writes the differences between two checks.  In: bugs that are new, fixed or still there.  Out: a
 * line for each, or JSON (doc/man/raddle-diff.1). */
#include "report/diff.h"

#include "base/error.h"
#include "base/json.h"
#include "base/printable.h"
#include "report/words-int.h"

#define ID_SHOWN 8 /* digits of an id that are shown */

static const struct finding_frame *place_of(const struct finding_bug *bug)
{
	return finding_own_code_frame(finding_side(bug->findings[0], 0));
}

static void put_line(const struct finding_difference *one, FILE *out)
{
	struct rd_buf line = RD_BUF_INIT;

	rd_buf_addf(&line, "%-6s %.*s  ", finding_change_name(one->change), ID_SHOWN, one->bug->id);
	finding_bug_title(&line, one->bug);
	rd_buf_adds(&line, "  ");
	word_place_in(&line, place_of(one->bug));
	rd_make_printable(line.data, line.length, false);
	fprintf(out, "%s\n", line.data);
	rd_buf_release(&line);
}

void report_diff_text(const struct finding_diff *d, FILE *out)
{
	for (size_t i = 0; i < d->count; i++)
		put_line(&d->items[i], out);
	fprintf(out, "Raddle: %zu new, %zu fixed, %zu still there\n", d->counts[FINDING_NEW],
		d->counts[FINDING_FIXED], d->counts[FINDING_STILL]);
}

static void put_bug(struct rd_json *j, const struct finding_bug *bug)
{
	const struct finding *f = bug->findings[0];
	const struct finding_frame *place = place_of(bug);
	struct rd_buf title = RD_BUF_INIT;

	finding_bug_title(&title, bug);
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("id", bug->id), RD_JS("title", title.data),
		RD_JS("severity", finding_severity_name(finding_severity(f))),
		RD_JS("class", finding_class_name(f->class)), RD_JS("consequence", f->consequence),
		RD_JS("file", place->file), RD_JU("line", place->line), RD_JS("function", place->function));
	rd_json_end(j);
	rd_buf_release(&title);
}

static void put_change(struct rd_json *j, const struct finding_diff *d, enum finding_change change)
{
	rd_json_array(j, finding_change_name(change));
	for (size_t i = 0; i < d->count; i++)
		if (d->items[i].change == change)
			put_bug(j, d->items[i].bug);
	rd_json_end(j);
}

int report_diff_json(const struct finding_diff *d, FILE *out)
{
	struct rd_json j;

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	j.indent = true;
	RD_JSON(&j, RD_JU("version", 1));
	for (unsigned change = 0; change < FINDING_CHANGES; change++)
		put_change(&j, d, change);
	rd_json_end(&j);
	return fflush(out) == 0 && !ferror(out) ? RD_OK : rd_fail_errno("cannot write the differences");
}
