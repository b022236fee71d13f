// SPDX-License-Identifier: Apache-2.0
/*
 * Writes and reads the lines of a campaign's log, using the table of members below.
 *
 * Invariants: a written line is read back unchanged, except that bytes that are not UTF-8 are
 * replaced; a line of arbitrary bytes is either accepted, or rejected with one reason.  Unknown
 * members are ignored, and absent members have the value zero (a null number is -1), so that logs
 * of other versions can be read.
 */
#include "inject/runlog.h"

#include "base/error.h"
#include "base/json-read.h"
#include "base/json-text.h"
#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const outcomes[RUNLOG_OUTCOMES] = {"crash", "hang",	 "detected",
						      "sdc",   "masked", "not-activated"};
static const char *const deviations[RUNLOG_DEVIATIONS] = {"none",    "data",	"address",
							  "control", "missing", "extra"};

enum type { TEXT, NAME, COUNT, OPTIONAL, FLAG, TIME, OUTCOME, DEVIATION };

/* The members of a line.  NAME is a required text.  OPTIONAL is a number that may be null, which is
 * stored as -1.  Members with `spare` are written only if they have a value. */
static const struct member {
	const char *name;
	enum type type;
	size_t offset;
	bool must, spare;
} members[] = {
#define AT(field) offsetof(struct runlog_run, field)
	{"run", COUNT, AT(run), true, false},
	{"fault", NAME, AT(fault), true, false},
	{"thread", TEXT, AT(thread), false, false},
	{"site", COUNT, AT(site), false, false},
	{"where", TEXT, AT(where), false, false},
	{"opcode", TEXT, AT(opcode), false, false},
	{"instance", COUNT, AT(instance), false, false},
	{"action", TEXT, AT(action), false, false},
	{"mask", TEXT, AT(mask), false, false},
	{"bit", OPTIONAL, AT(bit), false, false},
	{"plan", TEXT, AT(plan), false, true},
	{"fired", FLAG, AT(fired), false, false},
	{"before", TEXT, AT(before), false, false},
	{"after", TEXT, AT(after), false, false},
	{"stratum", TEXT, AT(stratum), false, true},
	{"population", COUNT, AT(population), false, true},
	{"outcome", OUTCOME, AT(outcome), true, false},
	{"signal", TEXT, AT(signal), false, false},
	{"exit", OPTIONAL, AT(exit), false, false},
	{"place", TEXT, AT(place), false, false},
	{"deviation", DEVIATION, AT(deviation), true, false},
	{"deviation_at", TEXT, AT(deviation_at), false, false},
	{"deviation_thread", TEXT, AT(deviation_thread), false, false},
	{"deviation_site", COUNT, AT(deviation_site), false, true},
	{"records", COUNT, AT(records), false, false},
	{"cpu_ms", TIME, AT(cpu_ms), false, false},
	{"wall_ms", TIME, AT(wall_ms), false, false},
	{"diff", TEXT, AT(diff), false, false},
	{"trace", TEXT, AT(trace), false, true},
#undef AT
};

enum { MEMBERS = sizeof members / sizeof *members };

const char *runlog_outcome_name(enum runlog_outcome outcome)
{
	RD_ASSERT(outcome < RUNLOG_OUTCOMES);
	return outcomes[outcome];
}

bool runlog_outcome_find(const char *name, enum runlog_outcome *outcome)
{
	for (unsigned i = 0; i < RUNLOG_OUTCOMES; i++) {
		if (strcmp(name, outcomes[i]) != 0)
			continue;
		*outcome = i;
		return true;
	}
	return false;
}

const char *runlog_deviation_name(enum runlog_deviation deviation)
{
	RD_ASSERT(deviation < RUNLOG_DEVIATIONS);
	return deviations[deviation];
}

/* ---- writing ---- */

static bool is_absent(const struct member *m, const void *field)
{
	return m->type == TEXT ? !*(const char *const *)field : !*(const uint64_t *)field;
}

static void write_member(struct rd_json *j, const struct member *m, const void *field)
{
	switch (m->type) {
	case TEXT:
	case NAME: rd_json_string(j, m->name, *(const char *const *)field); break;
	case COUNT: rd_json_unsigned(j, m->name, *(const uint64_t *)field); break;
	case OPTIONAL:
		if (*(const int64_t *)field < 0)
			rd_json_null(j, m->name);
		else
			rd_json_number(j, m->name, *(const int64_t *)field);
		break;
	case FLAG: rd_json_bool(j, m->name, *(const bool *)field); break;
	case TIME: rd_json_double(j, m->name, *(const double *)field); break;
	case OUTCOME: rd_json_string(j, m->name, outcomes[*(const enum runlog_outcome *)field]); break;
	case DEVIATION: rd_json_string(j, m->name, deviations[*(const enum runlog_deviation *)field]); break;
	}
}

void runlog_write(struct rd_buf *out, const struct runlog_run *run)
{
	struct rd_json_text text;
	struct rd_json *j = rd_json_text_begin(&text);

	rd_json_object(j, NULL);
	for (size_t i = 0; i < MEMBERS; i++) {
		const void *field = (const char *)run + members[i].offset;

		if (!members[i].spare || !is_absent(&members[i], field))
			write_member(j, &members[i], field);
	}
	rd_json_end(j);
	rd_json_text_end(&text, out);
}

/* ---- reading ---- */

static const char *keep(struct rd_names *texts, const char *text, size_t length)
{
	uint32_t number = rd_names_put(texts, text, length);

	return texts->items[number];
}

static bool read_text(const char **field, const json_t *value, struct rd_names *texts)
{
	if (json_is_string(value))
		*field = keep(texts, json_string_value(value), strlen(json_string_value(value)));
	return json_is_string(value) || json_is_null(value);
}

static bool read_word(unsigned *field, const json_t *value, const char *const *words, unsigned count)
{
	for (unsigned i = 0; json_is_string(value) && i < count; i++) {
		if (!strcmp(words[i], json_string_value(value))) {
			*field = i;
			return true;
		}
	}
	return false;
}

static bool read_time(double *field, const json_t *value)
{
	double t = json_number_value(value);

	*field = t;
	return json_is_null(value) || (json_is_number(value) && isfinite(t) && t >= 0);
}

static bool read_member(void *field, const struct member *m, const json_t *value, struct rd_names *texts)
{
	switch (m->type) {
	case TEXT: return read_text(field, value, texts);
	case NAME:
		return json_is_string(value) && *json_string_value(value) && read_text(field, value, texts);
	case COUNT: return rd_json_is_count(value, INT64_MAX, field);
	case OPTIONAL:
		*(int64_t *)field = json_is_null(value) ? -1 : json_integer_value(value);
		return json_is_null(value) || json_is_integer(value);
	case FLAG: *(bool *)field = json_is_true(value); return json_is_boolean(value);
	case TIME: return read_time(field, value);
	case OUTCOME: return read_word(field, value, outcomes, RUNLOG_OUTCOMES);
	case DEVIATION: return read_word(field, value, deviations, RUNLOG_DEVIATIONS);
	}
	return false;
}

static const char *read_members(struct runlog_run *run, const json_t *object, struct rd_names *texts)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		const json_t *value = json_object_get(object, members[i].name);

		if (!value && members[i].must)
			return members[i].name;
		if (value && !read_member((char *)run + members[i].offset, &members[i], value, texts))
			return members[i].name;
	}
	return NULL;
}

const char *runlog_parse(struct runlog_run *run, const char *line, size_t length, struct rd_names *texts)
{
	RD_ASSERT(run != NULL && texts != NULL);
	json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
	const char *wrong = "not a JSON object";

	*run = (struct runlog_run){.bit = -1, .exit = -1};
	if (json_is_object(object))
		wrong = read_members(run, object, texts);
	json_decref(object);
	return wrong;
}

/* ---- logs ---- */

int runlog_lines(const char *text, size_t length, runlog_line_fn *fn, void *context, size_t *whole)
{
	int r = 0;

	*whole = 0;
	while (!r && *whole < length) {
		const char *line = text + *whole;
		size_t rest = length - *whole, most = rest < RUNLOG_LINE_MAX ? rest : RUNLOG_LINE_MAX;
		const char *newline = memchr(line, '\n', most);

		if (!newline && most == RUNLOG_LINE_MAX)
			return rd_fail(RD_ELIMIT, "log: offset 0x%zx: a line of more than %d bytes", *whole,
				       RUNLOG_LINE_MAX);
		if (!newline)
			break;
		*whole = (size_t)(newline - text) + 1;
		r = fn(context, line, (size_t)(newline - line));
	}
	return r;
}

int runlog_shards(const char *directory, glob_t *found)
{
	struct rd_buf pattern = RD_BUF_INIT;
	int err;

	for (; *directory; directory++)
		rd_buf_addf(&pattern, strchr("*?[\\", *directory) ? "\\%c" : "%c", *directory);
	rd_buf_adds(&pattern, "/log.[0-9]*");
	err = glob(pattern.data, 0, NULL, found);
	rd_buf_release(&pattern);
	return err && err != GLOB_NOMATCH
		       ? rd_fail(RD_ESYSTEM, "the logs of a campaign's shards cannot be listed")
		       : 0;
}
