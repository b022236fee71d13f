// SPDX-License-Identifier: Apache-2.0
/* Task sets: bytes in, tasks out. */
#include "site/taskset.h"

#include "base/error.h"
#include "base/json-read.h"

#include <openssl/evp.h>
#include <string.h>

enum { SIGNATURE_BYTES = 64, SIGNATURE_TEXT = 88 };

bool site_mode_find(const char *name, enum site_mode *mode)
{
	static const char *const names[] = {"off", "observe", "validate"};
	for (int i = 0; name != NULL && i < 3; i++)
		if (strcmp(name, names[i]) == 0) {
			*mode = (enum site_mode)i;
			return true;
		}
	return false;
}

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at = strchr(digits, c);
	return c != '\0' && at != NULL ? (int)(at - digits) : -1;
}

bool site_key_parse(const char *text, uint8_t key[SITE_KEY_BYTES])
{
	if (text == NULL || strlen(text) != 2 * SITE_KEY_BYTES)
		return false;
	for (int i = 0; i < SITE_KEY_BYTES; i++) {
		int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		key[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

bool site_taskset_signed(const uint8_t key[SITE_KEY_BYTES], const char *signature, const void *body,
			 size_t length)
{
	uint8_t bytes[SIGNATURE_TEXT];
	if (strlen(signature) != SIGNATURE_TEXT ||
	    EVP_DecodeBlock(bytes, (const uint8_t *)signature, SIGNATURE_TEXT) != SIGNATURE_BYTES + 2)
		return false;
	EVP_PKEY *public = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, SITE_KEY_BYTES);
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	bool good = public != NULL && context != NULL &&
		    EVP_DigestVerifyInit(context, NULL, NULL, NULL, public) == 1 &&
		    EVP_DigestVerify(context, bytes, SIGNATURE_BYTES, body, length) == 1;
	EVP_MD_CTX_free(context);
	EVP_PKEY_free(public);
	return good;
}

/* A text of such characters, at most as long as there is room. */
static bool copy_text(char *to, size_t size, const char *from, const char *characters)
{
	if (from == NULL || *from == '\0' || strlen(from) >= size || strspn(from, characters) != strlen(from))
		return false;
	memcpy(to, from, strlen(from) + 1);
	return true;
}

static void parse_track(struct rd_json_read *r, const json_t *tree, struct site_task *task)
{
	const char *file = rd_json_get_text(r, tree, "file");
	task->track = true;
	task->mode = SITE_OBSERVE;
	if (!copy_text(task->plan, sizeof task->plan, rd_json_get_text(r, tree, "sketch"),
		       "0123456789abcdef"))
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

static void parse_task(struct rd_json_read *r, const json_t *tree, struct site_task *task)
{
	const char *order = rd_json_get_text(r, tree, "order"), *mode = rd_json_get_text(r, tree, "mode");
	if (!copy_text(task->id, sizeof task->id, rd_json_get_text(r, tree, "id"),
		       "0123456789abcdefghijklmnopqrstuvwxyz.-"))
		rd_json_wrong(r, "id", "is wrong");
	if (mode != NULL && strcmp(mode, "track") == 0) {
		parse_track(r, tree, task);
		return;
	}
	if (!copy_text(task->candidate, sizeof task->candidate, rd_json_get_text(r, tree, "candidate"),
		       "0123456789abcdef"))
		rd_json_wrong(r, "candidate", "is wrong");
	if (!site_mode_find(mode, &task->mode) || task->mode == SITE_OFF)
		rd_json_wrong(r, "mode", "is wrong");
	if (order == NULL || (strcmp(order, "primary") != 0 && strcmp(order, "alternate") != 0))
		rd_json_wrong(r, "order", "is wrong");
	else
		task->order = order[0] == 'a' ? RADDLE_GUARD_ALTERNATE : RADDLE_GUARD_PRIMARY;
	task->tau_us = (uint32_t)rd_json_get_number(r, tree, "tau_us", 10000000);
}

int site_taskset_parse(struct site_taskset *set, const char *build, const void *body, size_t length,
		       const char *name)
{
	struct rd_json_read r = {.subject = "tasks", .name = name};
	*set = (struct site_taskset){0};
	if (length > SITE_SET_MAX)
		return rd_fail(RD_ELIMIT, "tasks: %s: too long", name);
	json_t *tree = rd_json_load(&r, body, length);
	if (tree == NULL)
		return r.err;
	const char *own = rd_json_get_text(&r, tree, "build");
	if (rd_json_get_number(&r, tree, "version", UINT32_MAX) != 1)
		rd_json_wrong(&r, "version", "is not 1");
	if (own == NULL || strcmp(own, build) != 0)
		rd_json_wrong(&r, "build", "is another's");
	set->serial = rd_json_get_number(&r, tree, "serial", INT64_MAX);
	set->issued = rd_json_get_number(&r, tree, "issued", INT64_MAX);
	set->expires = rd_json_get_number(&r, tree, "expires", INT64_MAX);
	set->poll_s = rd_json_get_number(&r, tree, "poll_s", 86400);
	if (!site_mode_find(rd_json_get_text(&r, tree, "state"), &set->state))
		rd_json_wrong(&r, "state", "is wrong");
	json_t *tasks = rd_json_member(&r, tree, "tasks", JSON_ARRAY), *task;
	if (json_array_size(tasks) > RADDLE_GUARD_TASKS)
		rd_json_wrong(&r, "tasks", "are too many");
	r.part = "task";
	for (size_t i = 0; !r.err && i < json_array_size(tasks); i++) {
		r.number = i;
		task = json_array_get(tasks, i);
		parse_task(&r, task, &set->tasks[set->count++]);
	}
	json_decref(tree);
	if (r.err)
		*set = (struct site_taskset){0};
	return r.err;
}
