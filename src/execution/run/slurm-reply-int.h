/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the output of Slurm's commands and of the jobs.  Its format is not trusted.
 */
#ifndef RUN_SLURM_REPLY_INT_H
#define RUN_SLURM_REPLY_INT_H

#include <stdbool.h>
#include <stddef.h>

enum run_task { RUN_TASK_WAITING, RUN_TASK_RUNNING, RUN_TASK_DONE, RUN_TASK_FAILED };

#define RUN_JOB 32 /* the size in bytes of the text that holds a job number */

/* Finds the job number in sbatch's output, on the last line that has one: "12" or "12;cluster". */
bool run_slurm_job(const char *output, char job[RUN_JOB]);

/* Marks the tasks that squeue lists as pending or running.  Its lines are like "7|RUNNING". */
void run_slurm_states(const char *output, enum run_task *tasks, size_t count);

/* Parses the exit status that a task wrote.  Returns a number from 0 to 255, or -1 if the text is
 * not a status. */
int run_slurm_status(const char *text);

#endif
