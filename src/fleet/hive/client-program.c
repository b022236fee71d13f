// SPDX-License-Identifier: Apache-2.0
/*
 * Sends requests about programs.  Some requests make the hive store a program, its candidates, or
 * the classes of its races.  Others get the status of the hive.
 */
#include "hive/client.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json-read.h"
#include "bitcode/build-id.h"
#include "bitcode/facts.h"
#include "candidates/candidates.h"
#include "finding/finding.h"
#include "hive/program.h"

#include <stdlib.h>
#include <string.h>

enum { TOKEN_FILE_MAX = 4096 }; /* the maximum size of a token file in bytes; a token has 43 */

int hive_client_token(const char *path, char **token)
{
	struct rd_buf b = RD_BUF_INIT;
	int err = rd_file_read_max(path, TOKEN_FILE_MAX, &b);

	if (!err)
		*token = rd_xstrndup(b.data, strcspn(b.data, " \t\r\n"));
	rd_buf_release(&b);
	return err;
}

int hive_client_build(const char *word, char **build)
{
	char id[RD_BUILD_ID_SIZE], *path = hive_is_build(word) ? NULL : rd_find_program(word);
	int err = 0;

	if (hive_is_build(word))
		strcpy(id, word);
	else if (path)
		err = rd_build_id(path, id);
	else
		err = rd_fail(RD_ENOTFOUND, "hive: %s: neither a build nor a program", word);
	free(path);
	if (!err)
		*build = rd_xstrdup(id);
	return err;
}

int hive_client_status(const struct hive_client *c, const char *build, struct rd_buf *document)
{
	char *path = build ? rd_xasprintf("/api/v1/status?build=%s", build) : rd_xstrdup("/api/v1/status");
	int err = hive_client_ask(c, "GET", path, NULL, document);

	free(path);
	return err;
}

/* ---- a program and its candidates ---- */

/* Finds the race candidates of a program, and stores them as a JSON document
 * (doc/format/candidates.md). */
static int find_candidates(const char *program, char **document, size_t *length)
{
	struct facts *f;
	struct candidates c;
	FILE *out;
	int err = rd_facts_open(program, &f);

	if (err)
		return err;
	candidates_find(&c, f);
	out = open_memstream(document, length);
	err = out ? candidates_json(&c, out) : RD_ENOMEM;
	if (out && fclose(out))
		err = rd_fail(RD_ENOMEM, "out of memory");
	candidates_release(&c);
	facts_free(f);
	return err;
}

/* Makes the request body that adds a program: its candidates, with its build and name. */
static int make_body(const char *program, const char *path, char **body)
{
	struct rd_json_read j = {.subject = "hive", .name = program};
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	char build[RD_BUILD_ID_SIZE], *document = NULL;
	size_t length = 0;
	json_t *root;
	int err = rd_build_id(path, build);

	if (!err)
		err = find_candidates(program, &document, &length);
	if (err) {
		free(document);
		return err;
	}
	root = rd_json_load(&j, document, length);
	free(document);
	if (!root)
		return j.err;
	json_object_set_new(root, "build", json_string(build));
	json_object_set_new(root, "name", json_string(name));
	*body = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return *body ? 0 : rd_fail(RD_ENOMEM, "out of memory");
}

int hive_client_add(const struct hive_client *c, const char *program, const char *path, struct rd_buf *answer)
{
	char *text;
	int err = make_body(program, path, &text);

	if (err)
		return err;
	err = hive_client_ask(c, "POST", "/api/v1/programs", text, answer);
	free(text);
	return err;
}

/* ---- classes of races ---- */

/* Returns true if a finding's access is at the place of a candidate's access. */
static bool is_place(const json_t *access, const struct finding_access *a)
{
	const char *file = json_string_value(json_object_get(access, "file"));
	const struct finding_frame *top = a->stack.count ? &a->stack.frames[0] : NULL;

	return file && top && top->file && !strcmp(file, top->file) &&
	       json_integer_value(json_object_get(access, "line")) == (json_int_t)top->line;
}

static bool is_same(const json_t *race, const struct finding *f)
{
	const json_t *a = json_object_get(race, "accesses");
	const json_t *x = json_array_get(a, 0), *y = json_array_get(a, 1);

	return f->access_count == 2 && ((is_place(x, &f->accesses[0]) && is_place(y, &f->accesses[1])) ||
					(is_place(x, &f->accesses[1]) && is_place(y, &f->accesses[0])));
}

static int send_class(const struct hive_client *c, const char *build, const json_t *race,
		      const struct finding *f)
{
	json_t *body = json_pack("{s:s, s:s?}", "class", finding_class_name(f->class), "consequence",
				 f->consequence);
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	char *path = rd_xasprintf("/api/v1/races/%s/%s/class", build,
				  json_string_value(json_object_get(race, "id")));
	struct rd_buf answer = RD_BUF_INIT;
	int err = text ? hive_client_ask(c, "PUT", path, text, &answer) : rd_fail(RD_ENOMEM, "out of memory");

	rd_buf_release(&answer);
	json_decref(body);
	RD_FREE(text, path);
	return err;
}

static int send_class_of(const struct hive_client *c, const char *build, const json_t *races,
			 const struct finding *f, size_t *sent)
{
	size_t i;
	const json_t *race;
	int err = 0;

	json_array_foreach(races, i, race) if (!err && finding_class_name(f->class) && is_same(race, f))
	{
		err = send_class(c, build, race, f);
		*sent += !err;
	}
	return err;
}

int hive_client_classes(const struct hive_client *c, const char *build, const char *findings, size_t *sent)
{
	struct rd_json_read j = {.subject = "hive", .name = "status"};
	struct rd_buf document = RD_BUF_INIT;
	struct finding_set *set = NULL;
	json_t *root = NULL;
	int err = finding_read(&set, findings);

	*sent = 0;
	if (!err)
		err = hive_client_status(c, build, &document);
	if (!err && !(root = rd_json_load(&j, document.data, document.length)))
		err = j.err;
	for (size_t k = 0; !err && k < set->count; k++)
		err = send_class_of(c, build, json_object_get(root, "races"), set->items[k], sent);
	json_decref(root);
	rd_buf_release(&document);
	finding_set_free(set);
	return err;
}

/* ---- settings ---- */

static json_t *settings_body(const struct hive_settings *s)
{
	json_t *body = json_object();

	if (s->state)
		json_object_set_new(body, "state", json_string(s->state));
	if (s->rollout >= 0)
		json_object_set_new(body, "rollout", json_integer((json_int_t)s->rollout));
	if (s->poll_s >= 0)
		json_object_set_new(body, "poll_s", json_integer((json_int_t)s->poll_s));
	return body;
}

int hive_client_set(const struct hive_client *c, const char *build, const struct hive_settings *settings)
{
	struct rd_buf answer = RD_BUF_INIT;
	char *path = rd_xasprintf("/api/v1/programs/%s", build);
	json_t *body = settings_body(settings);
	char *text = json_dumps(body, JSON_COMPACT);
	int err = text ? hive_client_ask(c, "PATCH", path, text, &answer) : RD_ENOMEM;

	json_decref(body);
	RD_FREE(path, text);
	rd_buf_release(&answer);
	return err;
}
