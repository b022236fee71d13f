// SPDX-License-Identifier: Apache-2.0
/*
 * Parses the job file, whose lines describe units.  This file does not use LLVM, so that it can be
 * tested without it.
 */
#include "instr/job-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *field(char **line)
{
	char *start = *line;
	if (start == NULL)
		return NULL;
	char *tab = strchr(start, '\t');
	if (tab != NULL)
		*tab++ = '\0';
	*line = tab;
	return start;
}

static bool number(const char *s, uint64_t *value)
{
	char *end;
	if (s == NULL || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*value = strtoull(s, &end, 10);
	return errno == 0 && *end == '\0';
}

static int parse_line(struct instr_job *job, char *line, const char *path, size_t line_number)
{
	job->source = field(&line);
	char *offset = field(&line), *length = field(&line), *slot = field(&line);
	job->object = field(&line);
	job->sites = field(&line);
	const char *table = field(&line);
	job->carries_table = table != NULL && strcmp(table, "table") == 0;
	job->is_library = table != NULL && strcmp(table, "library") == 0;
	if (job->sites == NULL || !number(offset, &job->offset) || !number(length, &job->length) ||
	    !number(slot, &job->slot))
		return rd_fail(RD_EFORMAT, "instr: %s:%zu: not a unit", path, line_number);
	return 0;
}

int instr_jobs_parse(struct instr_jobs *jobs, char *text, const char *name)
{
	size_t line_number = 0;
	int code = 0;
	for (char *line = text; code == 0 && *line != '\0';) {
		char *end = strchr(line, '\n');
		char *next = end != NULL ? end + 1 : line + strlen(line);
		if (end != NULL)
			*end = '\0';
		line_number++;
		RD_GROW(jobs->items, jobs->capacity, jobs->count + 1);
		code = parse_line(&jobs->items[jobs->count++], line, name, line_number);
		line = next;
	}
	return code;
}
