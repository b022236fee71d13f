// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as the output of sbatch and squeue, and as the status file of a task.  Numbers
 * must be read correctly, and no task outside the array may be touched.
 */
#include "base/error.h"
#include "run/slurm-reply-int.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 20, UNTOUCHED = 99 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int tasks[TASKS + 2];
	char job[RUN_JOB], *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	RD_ASSERT(run_slurm_job(text, job) == (*job != '\0'));
	RD_ASSERT(strspn(job, "0123456789") == strlen(job));
	RD_ASSERT(run_slurm_status(text) >= -1 && run_slurm_status(text) < 256);
	for (size_t i = 0; i < TASKS + 2; i++)
		tasks[i] = UNTOUCHED;
	_Static_assert(sizeof(enum run_task) == sizeof(int), "the array is one of tasks");
	run_slurm_states(text, (enum run_task *)(tasks + 1), TASKS);
	RD_ASSERT(tasks[0] == UNTOUCHED && tasks[TASKS + 1] == UNTOUCHED);
	for (size_t i = 1; i <= TASKS; i++)
		RD_ASSERT(tasks[i] == UNTOUCHED || tasks[i] == RUN_TASK_WAITING ||
			  tasks[i] == RUN_TASK_RUNNING);
	free(text);
	return 0;
}
