// SPDX-License-Identifier: Apache-2.0
/* A hive's status for people: programs, then the races by verdict, those that were proven first. */
#include "cmd/hive/hive.h"

#include "base/json-read.h"
#include "cmd/cmd.h"
#include "cmd/output.h"

#include <stdio.h>
#include <string.h>

enum { UNPROVEN_SHOWN = 10 };

static long long number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static void print_program(const json_t *p)
{
	const json_t *v = json_object_get(p, "verdicts");

	printf("%s (build %.16s, %s): %lld candidates, %lld sites; %lld true races, %lld likely false, %lld "
	       "unknown\n",
	       text(p, "name"), text(p, "build"), text(p, "state"), number(p, "candidates"),
	       number(p, "sites"), number(v, "true-race"), number(v, "likely-false-positive"),
	       number(v, "unknown"));
}

static void print_consequences(const json_t *race)
{
	const char *name;
	json_t *count;

	json_object_foreach(json_object_get(race, "consequences"), name, count)
		printf("    %s: %lld times\n", name, (long long)json_integer_value(count));
	if (*text(race, "class"))
		printf("    class: %s\n", text(race, "class"));
}

static void print_race(const json_t *race)
{
	const json_t *r = json_object_get(race, "reports"), *bound = json_object_get(race, "bound"), *access;
	size_t i;

	printf("%s %s: %s (%s)\n", text(race, "id"), text(race, "object"), text(race, "verdict"),
	       text(race, "reason"));
	json_array_foreach(json_object_get(race, "accesses"), i, access)
		printf("    %-5s %s:%lld %s()\n", text(access, "op"), text(access, "file"),
		       number(access, "line"), text(access, "function"));
	printf("    race %lld, no race %lld, time-out %lld, not seen %lld", number(r, "race"),
	       number(r, "no-race"), number(r, "timeout"), number(r, "not-seen"));
	if (json_is_real(bound) && json_real_value(bound) < 1)
		printf("; in at most %.2g %% of the runs", 100 * json_real_value(bound));
	putchar('\n');
	print_consequences(race);
}

static size_t print_races(const json_t *races, const char *verdict, size_t limit)
{
	size_t i, count = 0;
	json_t *race;

	json_array_foreach(races, i, race) if (!strcmp(text(race, "verdict"), verdict) && count++ < limit)
		print_race(race);
	if (count > limit)
		printf("and %zu more: %s\n", count - limit, verdict);
	return count;
}

static void print_sketch(const json_t *s)
{
	printf("%s %s at %s:%lld: %s, %lld failing and %lld passing runs, %lld of %lld statements\n",
	       text(s, "id"), text(s, "kind"), text(s, "file"), number(s, "line"), text(s, "state"),
	       number(s, "failing"), number(s, "passing"), number(s, "sigma"), number(s, "statements"));
}

int hive_print_status(const struct rd_buf *document)
{
	struct rd_json_read j = {.subject = "hive", .name = "status"};
	json_t *root = rd_json_load(&j, document->data, document->length), *races, *program;
	size_t i, found = 0;

	if (!root)
		return CMD_FAILED;
	races = json_object_get(root, "races");
	if (!cmd_output_is_stdout()) {
		size_t limit = opt.verbose ? SIZE_MAX : UNPROVEN_SHOWN;

		json_array_foreach(json_object_get(root, "programs"), i, program) print_program(program);
		json_array_foreach(json_object_get(root, "sketches"), i, program) print_sketch(program);
		found = print_races(races, "true-race", SIZE_MAX);
		print_races(races, "likely-false-positive", limit);
		print_races(races, "unknown", limit);
	} else {
		json_array_foreach(races, i, program) found += !strcmp(text(program, "verdict"), "true-race");
	}
	json_decref(root);
	return found ? CMD_FOUND : CMD_OK;
}
