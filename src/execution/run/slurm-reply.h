/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Slurm's commands and the tasks of a job answer, as text that nobody promised anything about.
 */
#ifndef RUN_SLURM_REPLY_H
#define RUN_SLURM_REPLY_H

#include <stdbool.h>
#include <stddef.h>

enum run_task { RUN_TASK_WAITING, RUN_TASK_RUNNING, RUN_TASK_DONE, RUN_TASK_FAILED };

#define RUN_JOB 32 /* room for the number of a job */

/* The number on the last line of sbatch's output that is one: "12", "12;cluster". */
bool run_slurm_job(const char *output, char job[RUN_JOB]);

/* Marks the tasks that squeue knows and that have not ended as waiting or running: lines "7|RUNNING". */
void run_slurm_states(const char *output, enum run_task *tasks, size_t count);

/* The exit status that a task left, 0 to 255; -1: that is none. */
int run_slurm_status(const char *text);

#endif
