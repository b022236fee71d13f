// SPDX-License-Identifier: Apache-2.0
/* Writes the report as text and as JSON.  The text has a line for each feature.  If a feature is
 * limited or missing, the consequence and the advice follow. */
#include "doctor/doctor.h"

#include "base/error.h"
#include "base/json.h"
#include "base/wrap.h"

#include <string.h>

/* The column at which the text about what was found begins.  It follows the longest status and
 * name. */
enum { TEXT_COLUMN = 26 };

static void print_item(const struct doctor_item *item, FILE *out)
{
	fprintf(out, "%-9s%-17s", doctor_status_name(item->status), item->name);
	rd_wrap(item->found, TEXT_COLUMN, TEXT_COLUMN, out);
	if (item->status == DOCTOR_OK)
		return;
	fprintf(out, "%*s(%s)", TEXT_COLUMN, "", item->used_by);
	rd_wrap(item->means, TEXT_COLUMN, TEXT_COLUMN + strlen(item->used_by) + 2, out);
	if (item->advice) {
		fprintf(out, "%*s", TEXT_COLUMN, "-> ");
		rd_wrap(item->advice, TEXT_COLUMN, TEXT_COLUMN, out);
	}
}

void doctor_report_text(const struct doctor_report *report, FILE *out)
{
	size_t missing = 0;

	fprintf(out, "raddle %s\n\n", RADDLE_VERSION);
	for (size_t i = 0; i < report->count; i++) {
		print_item(&report->items[i], out);
		missing += report->items[i].needed && report->items[i].status == DOCTOR_MISSING;
	}
	if (report->ready)
		fprintf(out, "\nEverything that raddle cc and raddle record need is available.\n");
	else
		fprintf(out, "\nraddle cc and raddle record lack %zu of the things above.\n", missing);
}

int doctor_report_json(const struct doctor_report *report, FILE *out)
{
	struct rd_json j;

	rd_json_begin(&j, out);
	j.indent = true;
	rd_json_object(&j, NULL);
	RD_JSON(&j, RD_JN("version", 1), RD_JS("raddle", RADDLE_VERSION), RD_JB("ready", report->ready));
	rd_json_array(&j, "items");
	for (size_t i = 0; i < report->count; i++) {
		const struct doctor_item *item = &report->items[i];

		rd_json_object(&j, NULL);
		RD_JSON(&j, RD_JS("name", item->name), RD_JS("status", doctor_status_name(item->status)),
			RD_JS("found", item->found), RD_JS("used_by", item->used_by),
			RD_JB("needed", item->needed), RD_JS("means", item->means),
			RD_JS("advice", item->advice));
		rd_json_end(&j);
	}
	rd_json_end(&j);
	rd_json_end(&j);
	return RD_OK;
}
