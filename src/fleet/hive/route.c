// SPDX-License-Identifier: Apache-2.0
/*
 * The paths of a hive and the roles that may use them.  Given a method and a path, this code finds
 * the row of the table and the variable parts of the path.
 */
#include "hive/request-int.h"

#include "base/error.h"
#include "protocol/limit.h"

#include <string.h>

/* The maximum sizes of bodies, in bytes.  Set by hand: a program has up to HIVE_CANDIDATES_MAX
 * candidates of a few hundred bytes each; a setting has a few short members. */
enum { PROGRAM_BODY_MAX = 64 << 20, SETTING_BODY_MAX = 4 << 10 };

static const struct hive_route routes[] = {
	{"GET", "/api/v1/tasks", HIVE_FLEET, 0, hive_answer_tasks},
	{"POST", "/api/v1/reports", HIVE_FLEET, PROTOCOL_BODY_MAX, hive_answer_reports},
	{"GET", "/api/v1/key", HIVE_NOBODY, 0, hive_answer_key},
	{"GET", "/api/v1/status", HIVE_ADMIN, 0, hive_answer_status},
	{"GET", "/api/v1/programs", HIVE_ADMIN, 0, hive_answer_programs},
	{"POST", "/api/v1/programs", HIVE_ADMIN, PROGRAM_BODY_MAX, hive_answer_add},
	{"PATCH", "/api/v1/programs/*", HIVE_ADMIN, SETTING_BODY_MAX, hive_answer_set},
	{"GET", "/api/v1/races/*/*", HIVE_ADMIN, 0, hive_answer_race},
	{"PUT", "/api/v1/races/*/*/class", HIVE_ADMIN, SETTING_BODY_MAX, hive_answer_class},
	{"POST", "/api/v1/runs", HIVE_FLEET, PROTOCOL_BODY_MAX, hive_answer_runs},
	{"POST", "/api/v1/sketches/*", HIVE_ADMIN, PROGRAM_BODY_MAX, hive_answer_sketch_add},
	{"GET", "/api/v1/sketches/*/*", HIVE_ADMIN, 0, hive_answer_sketch},
	{"GET", "/api/v1/sketches/*/*/page", HIVE_ADMIN, 0, hive_answer_sketch_page},
	{"GET", "/api/v1/sketches/*/*/text", HIVE_ADMIN, 0, hive_answer_sketch_text},
	{"GET", "/metrics", HIVE_ADMIN, 0, hive_answer_metrics},
	{"GET", "/healthz", HIVE_NOBODY, 0, hive_answer_health},
	{"GET", "/", HIVE_NOBODY, 0, hive_answer_page},
	{"GET", "/*", HIVE_NOBODY, 0, hive_answer_page},
	{"GET", "/api/v1/openapi.json", HIVE_NOBODY, 0, hive_answer_page},
};

/* A variable part of the path, as offset and length. */
struct part {
	size_t at, length;
};

static bool matches(const char *pattern, const char *path, struct part parts[2])
{
	const char *at = path;
	unsigned n = 0;

	for (; *pattern; pattern++) {
		if (*pattern != '*') {
			if (*at++ != *pattern)
				return false;
			continue;
		}
		size_t length = strcspn(at, "/");
		if (!length || n == 2)
			return false;
		parts[n++] = (struct part){(size_t)(at - path), length};
		at += length;
	}
	return !*at;
}

const struct hive_route *hive_route_find(struct hive_request *r, const char *method, bool *other_method)
{
	RD_ASSERT(method != NULL && r->path != NULL);
	*other_method = false;
	for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
		struct part parts[2] = {{0}};

		if (!matches(routes[i].path, r->path, parts))
			continue;
		if (strcmp(routes[i].method, strcmp(method, "HEAD") ? method : "GET")) {
			*other_method = true;
			continue;
		}
		for (unsigned k = 0; k < 2; k++)
			if (parts[k].length)
				r->path[parts[k].at + parts[k].length] = '\0';
		r->first = parts[0].length ? r->path + parts[0].at : NULL;
		r->second = parts[1].length ? r->path + parts[1].at : NULL;
		return &routes[i];
	}
	return NULL;
}
