// SPDX-License-Identifier: Apache-2.0
/* Parses the output of Slurm's commands line by line; unknown lines are skipped. */
#include "run/slurm-reply-int.h"

#include "base/error.h"

#include <string.h>

#define DIGITS "0123456789"

/* Returns the text after the line and its newline. */
static const char *next_line(const char *line)
{
	line += strcspn(line, "\n");
	return *line ? line + 1 : line;
}

bool run_slurm_job(const char *output, char job[RUN_JOB])
{
	*job = '\0';
	for (const char *line = output; *line; line = next_line(line)) {
		size_t digits = strspn(line, DIGITS);

		if (digits && digits < RUN_JOB && (!line[digits] || strchr(";\n", line[digits]))) {
			memcpy(job, line, digits);
			job[digits] = '\0';
		}
	}
	return *job;
}

/* Returns true if a job in this Slurm state will not continue. */
static bool has_ended(const char *state, size_t length)
{
	static const char *const words[] = {"BOOT_FAIL", "CANCELLED", "COMPLETED",   "DEADLINE",
					    "FAILED",	 "NODE_FAIL", "PREEMPTED",   "OUT_OF_MEMORY",
					    "TIMEOUT",	 "REVOKED",   "SPECIAL_EXIT"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == length && !strncmp(state, words[i], length))
			return true;
	return false;
}

/* Parses an unsigned number at the start of the text and stores a pointer to the text after it in
 * *end.  Returns `max` if there is no number, or if the number is not less than `max`. */
static size_t number(const char *text, const char **end, size_t max)
{
	size_t digits = strspn(text, DIGITS), n = digits ? 0 : max;

	for (size_t i = 0; i < digits && n < max; i++)
		n = n * 10 + (size_t)(text[i] - '0');
	*end = text + digits;
	return n < max ? n : max;
}

void run_slurm_states(const char *output, enum run_task *tasks, size_t count)
{
	RD_ASSERT(tasks != NULL || count == 0);
	for (const char *line = output, *state; *line; line = next_line(line)) {
		size_t task = number(line, &state, count), length = strcspn(state, "\n");

		if (task == count || *state != '|' || has_ended(state + 1, length - 1))
			continue;
		tasks[task] = length == sizeof "|PENDING" - 1 && !strncmp(state, "|PENDING", length)
				      ? RUN_TASK_WAITING
				      : RUN_TASK_RUNNING;
	}
}

int run_slurm_status(const char *text)
{
	const char *end;
	size_t status = number(text, &end, 256);

	return status < 256 && (!*end || !strcmp(end, "\n")) ? (int)status : -1;
}
