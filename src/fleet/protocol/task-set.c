// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes task sets.  The reader trusts no byte, although the sets are signed, and checks
 * the range of every member.  The writer always makes the same bytes from the same set, so that
 * hives on one database agree.
 */
#include "protocol/task-set.h"

#include "base/error.h"
#include "base/hex.h"
#include "base/json-read.h"
#include "base/word.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The longest pause that a hive may request, in microseconds.  A site allows much less
 * (--max-tau). */
enum { TAU_MAX_US = 10000000 };

const char *const protocol_mode_names[PROTOCOL_MODES] = {"off", "observe", "validate"};
static const char *const order_names[] = {
	[RADDLE_GUARD_PRIMARY] = "primary",
	[RADDLE_GUARD_ALTERNATE] = "alternate",
};

bool protocol_mode_find(const char *name, enum protocol_mode *mode)
{
	int found = rd_word_find(protocol_mode_names, PROTOCOL_MODES, name);

	if (found >= 0)
		*mode = (enum protocol_mode)found;
	return found >= 0;
}

/* Copies a text if it is not empty, fits, and contains only the given characters.  Otherwise
 * returns false. */
static bool copy_text(char *to, size_t size, const char *from, const char *characters)
{
	if (from == NULL || *from == '\0' || strlen(from) >= size || strspn(from, characters) != strlen(from))
		return false;
	memcpy(to, from, strlen(from) + 1);
	return true;
}

static bool find_order(const char *name, enum raddle_guard_order *order)
{
	int found = rd_word_find(order_names, sizeof order_names / sizeof *order_names, name);

	if (found >= 0)
		*order = (enum raddle_guard_order)found;
	return found >= 0;
}

static void parse_track(struct rd_json_read *r, const json_t *tree, struct protocol_task *task)
{
	const char *file = rd_json_get_text(r, tree, "file");
	task->track = true;
	task->mode = PROTOCOL_OBSERVE;
	if (!copy_text(task->plan, sizeof task->plan, rd_json_get_text(r, tree, "sketch"), RD_HEX_DIGITS))
		rd_json_wrong(r, "sketch", "is wrong");
	if (file == NULL || *file == '\0' || strlen(file) >= sizeof task->file)
		rd_json_wrong(r, "file", "is wrong");
	else
		memcpy(task->file, file, strlen(file) + 1);
	task->line = (uint32_t)rd_json_get_number(r, tree, "line", INT32_MAX);
	task->sigma = (uint32_t)rd_json_get_number(r, tree, "sigma", SKETCH_PLAN_MAX);
	if (task->line == 0 || task->sigma == 0)
		rd_json_wrong(r, "line", "or sigma is 0");
}

static void parse_task(struct rd_json_read *r, const json_t *tree, struct protocol_task *task)
{
	const char *order = rd_json_get_text(r, tree, "order"), *mode = rd_json_get_text(r, tree, "mode");
	if (!copy_text(task->id, sizeof task->id, rd_json_get_text(r, tree, "id"),
		       RD_HEX_DIGITS "ghijklmnopqrstuvwxyz.-"))
		rd_json_wrong(r, "id", "is wrong");
	if (mode != NULL && strcmp(mode, "track") == 0) {
		parse_track(r, tree, task);
		return;
	}
	if (!copy_text(task->candidate, sizeof task->candidate, rd_json_get_text(r, tree, "candidate"),
		       RD_HEX_DIGITS))
		rd_json_wrong(r, "candidate", "is wrong");
	if (!protocol_mode_find(mode, &task->mode) || task->mode == PROTOCOL_OFF)
		rd_json_wrong(r, "mode", "is wrong");
	if (!find_order(order, &task->order))
		rd_json_wrong(r, "order", "is wrong");
	task->tau_us = (uint32_t)rd_json_get_number(r, tree, "tau_us", TAU_MAX_US);
}

static void parse_set(struct rd_json_read *r, const json_t *tree, const char *build,
		      struct protocol_task_set *set)
{
	const char *own = rd_json_get_text(r, tree, "build");

	if (rd_json_get_number(r, tree, "version", UINT32_MAX) != 1)
		rd_json_wrong(r, "version", "is not 1");
	if (!own || strcmp(own, build))
		rd_json_wrong(r, "build", "is that of another program");
	set->serial = rd_json_get_number(r, tree, "serial", INT64_MAX);
	set->issued = rd_json_get_number(r, tree, "issued", INT64_MAX);
	set->expires = rd_json_get_number(r, tree, "expires", INT64_MAX);
	set->poll_s = rd_json_get_number(r, tree, "poll_s", PROTOCOL_POLL_MAX_S);
	if (!protocol_mode_find(rd_json_get_text(r, tree, "state"), &set->state))
		rd_json_wrong(r, "state", "is wrong");
}

static void parse_tasks(struct rd_json_read *r, const json_t *tree, struct protocol_task_set *set)
{
	json_t *tasks = rd_json_member(r, tree, "tasks", JSON_ARRAY);

	if (json_array_size(tasks) > RADDLE_GUARD_TASKS)
		rd_json_wrong(r, "tasks", "are too many");
	r->part = "task";
	for (size_t i = 0; !r->err && i < json_array_size(tasks); i++) {
		r->number = i;
		parse_task(r, json_array_get(tasks, i), &set->tasks[set->count++]);
	}
	RD_ASSERT(set->count <= RADDLE_GUARD_TASKS);
}

int protocol_task_set_read(struct protocol_task_set *set, const char *build, const void *body, size_t length,
			   const char *name)
{
	struct rd_json_read r = {.subject = "tasks", .name = name};

	*set = (struct protocol_task_set){0};
	if (length > PROTOCOL_SET_MAX)
		return rd_fail(RD_ELIMIT, "tasks: %s: too long", name);
	json_t *tree = rd_json_load(&r, body, length);
	if (!tree)
		return r.err;
	parse_set(&r, tree, build, set);
	parse_tasks(&r, tree, set);
	json_decref(tree);
	if (r.err)
		*set = (struct protocol_task_set){0};
	return r.err;
}

/* Writes a task that tracks a failure.  The name of its source file may contain any characters, so
 * the task is written with jansson, which escapes them. */
static int write_track(const struct protocol_task *t, struct rd_buf *body)
{
	json_t *task =
		json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "id", t->id, "mode", "track", "sketch", t->plan,
			  "file", t->file, "line", (json_int_t)t->line, "sigma", (json_int_t)t->sigma);
	char *text = task ? json_dumps(task, JSON_COMPACT) : NULL;

	json_decref(task);
	if (!text)
		return rd_fail(RD_ENOMEM, "out of memory");
	rd_buf_adds(body, text);
	free(text);
	return 0;
}

static int write_task(const struct protocol_task *t, struct rd_buf *body)
{
	RD_ASSERT(*t->id && t->mode != PROTOCOL_OFF);
	if (t->track)
		return write_track(t, body);
	rd_buf_addf(body,
		    "{\"id\":\"%s\",\"candidate\":\"%s\",\"mode\":\"%s\",\"order\":\"%s\",\"tau_us\":%u}",
		    t->id, t->candidate, protocol_mode_names[t->mode], order_names[t->order], t->tau_us);
	return 0;
}

int protocol_task_set_write(const struct protocol_task_set *set, const char *build, struct rd_buf *body)
{
	int err = 0;

	RD_ASSERT(set->count <= RADDLE_GUARD_TASKS && set->poll_s <= PROTOCOL_POLL_MAX_S);
	rd_buf_addf(body,
		    "{\"version\":1,\"build\":\"%s\",\"serial\":%" PRIu64 ",\"issued\":%" PRIu64
		    ",\"expires\":%" PRIu64 ",\"state\":\"%s\",\"poll_s\":%" PRIu64 ",\"tasks\":[",
		    build, set->serial, set->issued, set->expires, protocol_mode_names[set->state],
		    set->poll_s);
	for (size_t i = 0; !err && i < set->count; i++) {
		rd_buf_adds(body, i ? "," : "");
		err = write_task(&set->tasks[i], body);
	}
	rd_buf_adds(body, "]}");
	return err;
}
