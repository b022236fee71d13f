/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Slurm's commands and the tasks of a job answer, as text that nobody promised anything about.
 */
#ifndef INJECT_SLURM_REPLY_H
#define INJECT_SLURM_REPLY_H

#include <stdbool.h>
#include <stddef.h>

enum inject_task { INJECT_TASK_WAITING, INJECT_TASK_RUNNING, INJECT_TASK_DONE, INJECT_TASK_FAILED };

#define INJECT_JOB 32 /* room for the number of a job */

/* The number on the last line of sbatch's output that is one: "12", "12;cluster". */
bool inject_slurm_job(const char *output, char job[INJECT_JOB]);

/* Marks the tasks that squeue knows and that have not ended as waiting or running: lines "7|RUNNING". */
void inject_slurm_states(const char *output, enum inject_task *tasks, size_t count);

/* The exit status that a task left, 0 to 255; -1: that is none. */
int inject_slurm_status(const char *text);

#endif
