// SPDX-License-Identifier: Apache-2.0
/* raddle doctor: checks whether this machine has what Raddle needs. */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "cmd/output-int.h"
#include "doctor/doctor.h"

static const struct cmd_usage usage = {
	"raddle doctor [--json[=FILE]]",
	"Checks whether this machine has what Raddle needs: compiler, linkers, the parts of Raddle\n"
	"itself, the kernel and the processor.  Explains what to do if something is missing.\n"
	"\n"
	"The exit status is 0 if raddle cc and raddle record have what they need, otherwise 2.",
	"json",
	"  raddle doctor\n  raddle doctor --json | jq '.items[] | select(.status != \"ok\")'\n",
	false,
};

static int write_json(const void *what, FILE *out)
{
	return doctor_report_json(what, out);
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
		doctor_report_text(&report, stdout);
	doctor_report_release(&report);
	return status;
}
