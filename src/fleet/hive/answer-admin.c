// SPDX-License-Identifier: Apache-2.0
/*
 * Answers requests of developers and operators: programs, races, settings, classes, health and
 * metrics.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/json-read.h"
#include "base/word.h"
#include "hive/request-int.h"
#include "hive/status-int.h"

#include <stdlib.h>
#include <string.h>

int hive_answer_document(struct hive_request *r, int (*write)(struct hive_request *r, FILE *out))
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	int err;

	if (!out)
		return rd_fail(RD_ENOMEM, "out of memory");
	err = write(r, out);
	if (fclose(out) && !err)
		err = rd_fail(RD_ENOMEM, "out of memory");
	if (err) {
		free(text);
		return err;
	}
	r->answer = text;
	r->answer_length = length;
	return 0;
}

static int write_status(struct hive_request *r, FILE *out)
{
	return hive_status_write(r->h, hive_query(r, "build"), true, out)
		       ? 0
		       : rd_fail(RD_ENOTFOUND, "this build is not known");
}

int hive_answer_status(struct hive_request *r)
{
	return hive_answer_document(r, write_status);
}

static int write_programs(struct hive_request *r, FILE *out)
{
	hive_status_write(r->h, NULL, false, out);
	return 0;
}

int hive_answer_programs(struct hive_request *r)
{
	return hive_answer_document(r, write_programs);
}

static int write_race(struct hive_request *r, FILE *out)
{
	return hive_race_write(r->h, r->first, r->second, out);
}

int hive_answer_race(struct hive_request *r)
{
	return hive_answer_document(r, write_race);
}

static int write_metrics(struct hive_request *r, FILE *out)
{
	hive_metrics_write(&r->h->metrics, out);
	hive_status_metrics(r->h, out);
	return 0;
}

int hive_answer_metrics(struct hive_request *r)
{
	r->type = "text/plain; version=0.0.4";
	return hive_answer_document(r, write_metrics);
}

int hive_answer_health(struct hive_request *r)
{
	if (!hive_is_well(r->h))
		return rd_fail(RD_ESYSTEM, "the store cannot be used, or the hive is stopping");
	r->answer = rd_xstrdup("{\"version\":1,\"ok\":true}\n");
	r->answer_length = strlen(r->answer);
	return 0;
}

static int store_add(struct hive_db *db, const void *program)
{
	return hive_store_add(db, program);
}

static int answer_build(struct hive_request *r, const char *build, size_t candidates)
{
	r->answer = rd_xasprintf("{\"version\":1,\"build\":\"%s\",\"candidates\":%zu}\n", build, candidates);
	r->answer_length = strlen(r->answer);
	return 0;
}

int hive_answer_add(struct hive_request *r)
{
	struct hive_program p;
	int err = r->length ? hive_program_read(&p, r->body, r->length)
			    : rd_fail(RD_EFORMAT, "there is no body");

	if (err)
		return err;
	err = hive_change(r->h, store_add, &p);
	if (!err)
		err = answer_build(r, p.build, p.count);
	hive_program_release(&p);
	return err;
}

/* Finds the number and the settings of the program that the path names. */
static int find_settings(struct hive_request *r, struct hive_program *p)
{
	const struct hive_program *found;

	pthread_rwlock_rdlock(&r->h->lock);
	found = hive_find(r->h, r->first);
	if (found) {
		memcpy(p->build, found->build, sizeof p->build);
		p->number = found->number;
		p->state = found->state;
		p->rollout = found->rollout;
		p->poll_s = found->poll_s;
		p->count = found->count;
	}
	pthread_rwlock_unlock(&r->h->lock);
	return found ? 0 : rd_fail(RD_ENOTFOUND, "this build is not known");
}

static json_t *read_body(struct hive_request *r, struct rd_json_read *j)
{
	json_t *root = hive_json_load(j, r->body, r->length, HIVE_DEPTH_MAX);

	if (root && !json_is_object(root)) {
		j->err = rd_fail(RD_EFORMAT, "%s: not an object", j->subject);
		json_decref(root);
		return NULL;
	}
	return root;
}

static void read_settings(struct rd_json_read *j, const json_t *root, struct hive_program *p)
{
	const char *state = rd_json_get_text(j, root, "state");
	int found = state ? rd_word_find(protocol_mode_names, PROTOCOL_MODES, state) : (int)p->state;

	if (found < 0)
		rd_json_wrong(j, "state", "is not known");
	else
		p->state = (enum protocol_mode)found;
	if (json_object_get(root, "rollout"))
		p->rollout = (uint32_t)rd_json_get_number(j, root, "rollout", 100);
	if (json_object_get(root, "poll_s"))
		p->poll_s = (uint32_t)rd_json_get_number(j, root, "poll_s", PROTOCOL_POLL_MAX_S);
	if (!p->poll_s)
		rd_json_wrong(j, "poll_s", "is 0");
}

static int store_set(struct hive_db *db, const void *program)
{
	return hive_store_set(db, program);
}

int hive_answer_set(struct hive_request *r)
{
	struct rd_json_read j = {.subject = "settings", .name = "body"};
	struct hive_program p = {0};
	int err = find_settings(r, &p);
	json_t *root = err ? NULL : read_body(r, &j);

	if (!root)
		return err ? err : j.err;
	read_settings(&j, root, &p);
	json_decref(root);
	if (j.err)
		return j.err;
	err = hive_change(r->h, store_set, &p);
	return err ? err : answer_build(r, p.build, p.count);
}

static int store_class(struct hive_db *db, const void *class)
{
	return hive_store_classify(db, class);
}

/* Reads the members "class" and "consequence", as raddle classify writes them. */
static int read_class(struct rd_json_read *j, const json_t *root, struct hive_class *c)
{
	static const char *const names[] = {"spec-violated", "output-differs", "k-witness-harmless",
					    "single-ordering"};

	c->name = rd_json_get_text(j, root, "class");
	c->consequence = rd_json_get_text(j, root, "consequence");
	if (!c->name || rd_word_find(names, 4, c->name) < 0)
		rd_json_wrong(j, "class", "is missing or not known");
	if (c->consequence && strlen(c->consequence) > HIVE_NAME_MAX)
		rd_json_wrong(j, "consequence", "is too long");
	return j->err;
}

int hive_answer_class(struct hive_request *r)
{
	struct rd_json_read j = {.subject = "class", .name = "body"};
	struct hive_program p = {0};
	struct hive_class c = {.candidate = r->second};
	json_t *root;
	bool is_known = false;
	int err = find_settings(r, &p);

	if (err)
		return err;
	pthread_rwlock_rdlock(&r->h->lock);
	const struct hive_program *found = hive_find(r->h, r->first);
	is_known = found && hive_program_find(found, r->second) >= 0;
	pthread_rwlock_unlock(&r->h->lock);
	if (!is_known)
		return rd_fail(RD_ENOTFOUND, "there is no such race");
	c.program = p.number;
	root = read_body(r, &j);
	if (!root)
		return j.err;
	err = read_class(&j, root, &c);
	if (!err)
		err = hive_change(r->h, store_class, &c);
	json_decref(root);
	return err ? err : answer_build(r, p.build, p.count);
}
