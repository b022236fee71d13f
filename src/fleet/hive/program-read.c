// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the document that adds a program from the body of a request.  The resulting program has
 * only well-formed and distinct candidates.  Accesses are kept as JSON text that contains only
 * known members.
 */
#include "hive/program.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/json-read.h"

#include <stdlib.h>
#include <string.h>

/* Limits for a document from outside.  The depth of JSON is a few levels more than the format
 * needs.  The length of a text, in bytes, is like PATH_MAX, because the longest texts are paths. */
enum { JSON_DEPTH_MAX = 16, TEXT_MAX = 4096 };

static const char *get_short(struct rd_json_read *j, const json_t *object, const char *key)
{
	const char *text = rd_json_get_text(j, object, key);

	if (text && strlen(text) > TEXT_MAX)
		rd_json_wrong(j, key, "is too long");
	return text ? text : "";
}

/* Reads an access and returns it in the form that the store and the answers use. */
static json_t *read_access(struct rd_json_read *j, const json_t *from)
{
	static const char *const texts[] = {"file", "function", "op", "what"},
				 *const numbers[] = {"line", "column"}, *const bools[] = {"atomic", "locked"};
	json_t *to = json_object();
	int bad = 0;

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		bad |= json_object_set_new(to, texts[i], json_string(get_short(j, from, texts[i])));
	for (size_t i = 0; i < 2; i++) {
		uint64_t number = rd_json_get_number(j, from, numbers[i], INT32_MAX);

		bad |= json_object_set_new(to, numbers[i], json_integer((json_int_t)number));
		bad |= json_object_set_new(to, bools[i], json_boolean(rd_json_get_bool(j, from, bools[i])));
	}
	if (bad && !j->err)
		j->err = rd_fail(RD_ENOMEM, "out of memory");
	return to;
}

static char *read_accesses(struct rd_json_read *j, const json_t *object)
{
	const json_t *from = rd_json_member(j, object, "accesses", JSON_ARRAY);
	json_t *to = json_array();
	char *text;

	if (json_array_size(from) != 2 || !json_is_object(json_array_get(from, 0)) ||
	    !json_is_object(json_array_get(from, 1)))
		rd_json_wrong(j, "accesses", "are not two");
	for (size_t i = 0; i < 2; i++)
		json_array_append_new(to, read_access(j, json_array_get(from, i)));
	text = json_dumps(to, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(to);
	if (!text && !j->err)
		j->err = rd_fail(RD_ENOMEM, "out of memory");
	return text;
}

static void read_candidate(struct rd_json_read *j, struct hive_candidate *c, const json_t *object)
{
	const char *id = rd_json_get_text(j, object, "id"), *unguarded;

	if (!rd_is_hex(id, HIVE_CANDIDATE - 1))
		rd_json_wrong(j, "id", "is missing or wrong");
	else
		strcpy(c->id, id);
	c->rank = (uint32_t)rd_json_get_number(j, object, "rank", UINT32_MAX);
	c->object = rd_xstrdup(get_short(j, object, "object"));
	unguarded = get_short(j, object, "unguarded");
	c->unguarded = *unguarded ? rd_xstrdup(unguarded) : NULL;
	c->accesses = read_accesses(j, object);
}

static int by_rank(const void *a, const void *b)
{
	const struct hive_candidate *x = a, *y = b;

	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : strcmp(x->id, y->id);
}

static int read_candidates(struct rd_json_read *j, struct hive_program *p, const json_t *array)
{
	size_t count = json_array_size(array);

	if (!array || count > HIVE_CANDIDATES_MAX) {
		rd_json_wrong(j, "candidates", "are missing or too many");
		return j->err;
	}
	p->candidates = rd_xcalloc(count + 1, sizeof *p->candidates);
	j->part = "candidate";
	for (; p->count < count && !j->err; p->count++) {
		j->number = p->count;
		read_candidate(j, &p->candidates[p->count], json_array_get(array, p->count));
	}
	j->part = NULL;
	qsort(p->candidates, p->count, sizeof *p->candidates, by_rank);
	return j->err;
}

static int refuse_twins(const struct hive_program *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (hive_program_find(p, p->candidates[i].id) != (int64_t)i)
			return rd_fail(RD_EFORMAT, "program: candidate %s occurs twice", p->candidates[i].id);
	return 0;
}

static int read_unsound(struct rd_json_read *j, struct hive_program *p, const json_t *array)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		rd_json_get_item(j, array, "unsound", i);
	if (j->err)
		return j->err;
	p->unsound = array ? json_dumps(array, JSON_COMPACT) : strdup("[]");
	return p->unsound ? 0 : rd_fail(RD_ENOMEM, "out of memory");
}

static int read_document(struct rd_json_read *j, void *into, const json_t *root)
{
	struct hive_program *p = into;
	const char *build = rd_json_get_text(j, root, "build"), *name = rd_json_get_text(j, root, "name");

	if (!json_is_object(root) || (rd_json_get_number(j, root, "version", UINT32_MAX) != 1 && !j->err))
		return rd_fail(RD_EVERSION, "program: not a document of version 1");
	if (j->err)
		return j->err;
	if (!hive_is_build(build))
		return rd_fail(RD_EFORMAT, "program: the build is missing or wrong");
	if (!name || !*name || strlen(name) > HIVE_NAME_MAX)
		return rd_fail(RD_EFORMAT, "program: the name is missing or too long");
	strcpy(p->build, build);
	p->name = rd_xstrdup(name);
	int err = read_candidates(j, p, rd_json_member(j, root, "candidates", JSON_ARRAY));
	if (!err)
		err = read_unsound(j, p, rd_json_member(j, root, "unsound", JSON_ARRAY));
	if (err)
		return err;
	hive_program_index(p);
	return refuse_twins(p);
}

int hive_program_read(struct hive_program *p, const char *body, size_t length)
{
	struct rd_json_read j = {.subject = "program", .name = "body"};
	int err;

	*p = (struct hive_program){.state = PROTOCOL_VALIDATE, .rollout = 100, .poll_s = 900};
	err = hive_json_read(&j, &(struct hive_body){body, length, JSON_DEPTH_MAX}, read_document, p);
	if (err)
		hive_program_release(p);
	return err;
}
