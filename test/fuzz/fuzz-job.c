// SPDX-License-Identifier: Apache-2.0
/* Reads any bytes as the job file of raddle-instr.  There must be one unit for each line, with all
 * its parts. */
#include "base/buf.h"
#include "base/error.h"
#include "instr/job-int.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct instr_jobs jobs = {0};
	struct rd_buf text = RD_BUF_INIT;

	rd_log_set(rd_log_discard, NULL);
	rd_buf_add(&text, (const char *)data, size);
	if (instr_jobs_parse(&jobs, text.data, "fuzz") == RD_OK)
		for (size_t i = 0; i < jobs.count; i++) {
			const struct instr_job *job = &jobs.items[i];
			RD_ASSERT(job->source && job->object && job->sites);
			RD_ASSERT(!strpbrk(job->source, "\t\n") && !strpbrk(job->sites, "\t\n"));
		}
	free(jobs.items);
	rd_buf_release(&text);
	return 0;
}
