// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as campaign.json, and as lines of a log whose faults are injected again.
 * Accepted input is written and read again.
 */
#include "inject/log.h"
#include "inject/setup.h"
#include "test/fuzz/scratch.h"

static void check_setup(const char *data, size_t size)
{
	const char *path = SCRATCH "/campaign.json";
	struct inject_setup s, again;

	if (inject_setup_parse(&s, data, size, "campaign.json"))
		return;
	scratch_make();
	if (!inject_setup_write(&s, path)) {
		int r = inject_setup_read(&again, path);
		RD_ASSERT(!r && again.argv.count == s.argv.count && again.faults == s.faults);
		inject_setup_release(&again);
	}
	unlink(path);
	inject_setup_release(&s);
}

static void check_line(const char *data, size_t size)
{
	struct rd_names texts = RD_NAMES_INIT;
	struct rd_buf line = RD_BUF_INIT;
	struct inject_fault fault;
	struct inject_verdict verdict = {0};
	struct inject_run run = {0};
	struct runlog_run read;

	if (!runlog_parse(&read, data, size, &texts) && !inject_log_fault(&read, &fault)) {
		RD_ASSERT(fault.count && fault.count <= INJECT_FAULTS_MAX);
		inject_log_line(NULL, &fault, &run, &verdict, &line);
		RD_ASSERT(line.length);
	}
	rd_buf_release(&line);
	rd_names_release(&texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rd_log_set(rd_log_discard, NULL);
	check_setup((const char *)data, size);
	check_line((const char *)data, size);
	return 0;
}
