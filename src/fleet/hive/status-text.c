// SPDX-License-Identifier: Apache-2.0
/* Prints a hive's status for people: first the programs, then the races by verdict, with proven
 * races first. */
#include "hive/status-text.h"

#include "base/json-read.h"

#include <string.h>

/* The number of races that are shown by default for each verdict other than "true race".  They
 * fill one screen. */
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

static void print_program(FILE *out, const json_t *p)
{
	const json_t *v = json_object_get(p, "verdicts");

	fprintf(out,
		"%s (build %.16s, %s): %lld candidates, %lld sites; %lld true races, %lld likely false, %lld "
		"unknown\n",
		text(p, "name"), text(p, "build"), text(p, "state"), number(p, "candidates"),
		number(p, "sites"), number(v, "true-race"), number(v, "likely-false-positive"),
		number(v, "unknown"));
}

static void print_consequences(FILE *out, const json_t *race)
{
	const char *name;
	json_t *count;

	json_object_foreach(json_object_get(race, "consequences"), name, count)
		fprintf(out, "    %s: %lld times\n", name, (long long)json_integer_value(count));
	if (*text(race, "class"))
		fprintf(out, "    class: %s\n", text(race, "class"));
}

static void print_race(FILE *out, const json_t *race)
{
	const json_t *r = json_object_get(race, "reports"), *bound = json_object_get(race, "bound"), *access;
	size_t i;

	fprintf(out, "%s %s: %s (%s)\n", text(race, "id"), text(race, "object"), text(race, "verdict"),
		text(race, "reason"));
	json_array_foreach(json_object_get(race, "accesses"), i, access)
		fprintf(out, "    %-5s %s:%lld %s()\n", text(access, "op"), text(access, "file"),
			number(access, "line"), text(access, "function"));
	fprintf(out, "    race %lld, no race %lld, time-out %lld, not seen %lld", number(r, "race"),
		number(r, "no-race"), number(r, "timeout"), number(r, "not-seen"));
	if (json_is_real(bound) && json_real_value(bound) < 1)
		fprintf(out, "; in at most %.2g %% of the runs", 100 * json_real_value(bound));
	putc('\n', out);
	print_consequences(out, race);
}

static size_t print_races(FILE *out, const json_t *races, const char *verdict, size_t limit)
{
	size_t i, count = 0;
	json_t *race;

	json_array_foreach(races, i, race) if (!strcmp(text(race, "verdict"), verdict) && count++ < limit)
		print_race(out, race);
	if (count > limit)
		fprintf(out, "and %zu more: %s\n", count - limit, verdict);
	return count;
}

static void print_sketch(FILE *out, const json_t *s)
{
	fprintf(out, "%s %s at %s:%lld: %s, %lld failing and %lld passing runs, %lld of %lld statements\n",
		text(s, "id"), text(s, "kind"), text(s, "file"), number(s, "line"), text(s, "state"),
		number(s, "failing"), number(s, "passing"), number(s, "sigma"), number(s, "statements"));
}

int hive_status_text(const char *document, size_t length, bool all, FILE *out, size_t *found)
{
	struct rd_json_read j = {.subject = "hive", .name = "status"};
	json_t *root = rd_json_load(&j, document, length), *races, *item;
	size_t i, limit = all ? SIZE_MAX : UNPROVEN_SHOWN;

	if (!root)
		return j.err;
	races = json_object_get(root, "races");
	*found = 0;
	json_array_foreach(races, i, item) *found += !strcmp(text(item, "verdict"), "true-race");
	if (out) {
		json_array_foreach(json_object_get(root, "programs"), i, item) print_program(out, item);
		json_array_foreach(json_object_get(root, "sketches"), i, item) print_sketch(out, item);
		print_races(out, races, "true-race", SIZE_MAX);
		print_races(out, races, "likely-false-positive", limit);
		print_races(out, races, "unknown", limit);
	}
	json_decref(root);
	return 0;
}
