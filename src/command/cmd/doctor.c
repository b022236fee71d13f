// SPDX-License-Identifier: Apache-2.0
/*
 * raddle doctor: what this machine offers.  doctor/ examines, this file shows:
 * a line for each ability, two more where something is missing.
 */
#include "cmd/cmd.h"

#include "base/error.h"
#include "base/json.h"
#include "cmd/output.h"
#include "doctor/doctor.h"

#include <stdio.h>
#include <string.h>

static const struct cmd_usage usage = {
	"raddle doctor [--json[=FILE]]",
	"Checks what this machine offers to Raddle: compiler, linkers, the parts of Raddle itself, the\n"
	"kernel and the processor. Says what to do if something is missing. Every ability is tried,\n"
	"not guessed.\n"
	"\n"
	"The exit status is 0 if raddle cc and raddle record have what they need, otherwise 2.",
	"json",
	"  raddle doctor\n  raddle doctor --json | jq '.items[] | select(.status != \"ok\")'\n",
	false,
};

enum { TEXT_COLUMN = 26 };

static void print_item(const struct doctor_item *item)
{
	printf("%-9s%-17s", doctor_status_name(item->status), item->name);
	cmd_print_wrapped(item->found, TEXT_COLUMN, TEXT_COLUMN);
	if (item->status == DOCTOR_OK)
		return;
	printf("%*s(%s)", TEXT_COLUMN, "", item->used_by);
	cmd_print_wrapped(item->means, TEXT_COLUMN, TEXT_COLUMN + strlen(item->used_by) + 2);
	if (item->advice) {
		printf("%*s", TEXT_COLUMN, "-> ");
		cmd_print_wrapped(item->advice, TEXT_COLUMN, TEXT_COLUMN);
	}
}

static void print_report(const struct doctor_report *report)
{
	size_t missing = 0;

	printf("raddle %s\n\n", RADDLE_VERSION);
	for (size_t i = 0; i < report->count; i++) {
		print_item(&report->items[i]);
		missing += report->items[i].needed && report->items[i].status == DOCTOR_MISSING;
	}
	if (report->ready)
		printf("\nEverything that raddle cc and raddle record need is there.\n");
	else
		printf("\nraddle cc and raddle record lack %zu of the things above.\n", missing);
}

static int write_json(const void *what, FILE *out)
{
	const struct doctor_report *report = what;
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

int cmd_doctor(int argc, char **argv)
{
	struct doctor_report report;
	size_t count;
	int status = cmd_operands(argc, argv, &usage, &count);

	if (status != CMD_GO_ON)
		return status;
	if (count) {
		rd_fail(RD_EUSAGE, "doctor takes no argument '%s'", argv[1]);
		return CMD_FAILED;
	}
	doctor_examine(&report);
	status = report.ready ? CMD_OK : CMD_FAILED;
	if (cmd_document(opt.json, write_json, &report))
		status = CMD_FAILED;
	if (!cmd_is_stdout(opt.json))
		print_report(&report);
	doctor_report_release(&report);
	return status;
}
