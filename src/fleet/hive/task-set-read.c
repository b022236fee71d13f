// SPDX-License-Identifier: Apache-2.0
/*
 * A task set as a site reads it.  In: the body of an answer, from a hive that may be anything.  Out: the
 * first task in it, all of whose members are in range.
 */
#include "hive/task-set.h"

#include "base/error.h"
#include "base/json-read.h"

#include <string.h>

static int get_choice(struct rd_json_read *j, const json_t *object, const char *key, const char *const *names,
		      int count)
{
	const char *text = rd_json_get_text(j, object, key);
	int found = text ? hive_name_find(names, count, text) : -1;

	if (found < 0)
		rd_json_wrong(j, key, "is missing or not known");
	return found < 0 ? 0 : found;
}

static void read_task(struct rd_json_read *j, struct hive_task_set *set, const json_t *task)
{
	static const char *const modes[] = {"observe", "validate", "track"};
	int mode = get_choice(j, task, "mode", modes, 3);
	const char *id = rd_json_get_text(j, task, "id"), *candidate = rd_json_get_text(j, task, "candidate");

	if (!id || !*id || strlen(id) >= HIVE_TASK ||
	    strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz.-") != strlen(id))
		rd_json_wrong(j, "id", "is missing or wrong");
	else
		strcpy(set->id, id);
	set->has_task = true;
	set->track = mode == 2;
	if (set->track)
		return;
	if (!hive_is_hex(candidate, HIVE_CANDIDATE - 1))
		rd_json_wrong(j, "candidate", "is missing or wrong");
	else
		strcpy(set->candidate, candidate);
	set->validate = mode == 1;
	set->order = (enum hive_order)get_choice(j, task, "order", hive_order_names, HIVE_ORDERS);
	set->tau_us = (uint32_t)rd_json_get_number(j, task, "tau_us", HIVE_TAU_MAX_US);
}

static void read_set(struct rd_json_read *j, struct hive_task_set *set, const json_t *root)
{
	const char *build = rd_json_get_text(j, root, "build");
	const json_t *tasks = rd_json_member(j, root, "tasks", JSON_ARRAY);

	if (rd_json_get_number(j, root, "version", UINT32_MAX) != 1)
		rd_json_wrong(j, "version", "is not 1");
	if (!hive_is_build(build))
		rd_json_wrong(j, "build", "is missing or wrong");
	else
		strcpy(set->build, build);
	set->serial = rd_json_get_number(j, root, "serial", INT64_MAX);
	set->expires = rd_json_get_number(j, root, "expires", INT64_MAX);
	set->poll_s = (uint32_t)rd_json_get_number(j, root, "poll_s", HIVE_POLL_MAX_S);
	set->state = (enum hive_state)get_choice(j, root, "state", hive_state_names, HIVE_STATES);
	if (!set->poll_s)
		rd_json_wrong(j, "poll_s", "is missing");
	if (json_array_size(tasks) > 0)
		read_task(j, set, json_array_get(tasks, 0));
}

int hive_task_set_read(struct hive_task_set *set, const char *body, size_t length)
{
	struct rd_json_read j = {.subject = "task set", .name = "body"};
	json_t *root;

	*set = (struct hive_task_set){0};
	if (length > HIVE_BODY_MAX || !hive_json_is_shallow(body, length, HIVE_DEPTH_MAX))
		return rd_fail(RD_EFORMAT, "task set: too large");
	root = rd_json_load(&j, body, length);
	if (!root)
		return j.err;
	read_set(&j, set, root);
	json_decref(root);
	return j.err;
}
