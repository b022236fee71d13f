// SPDX-License-Identifier: Apache-2.0
/* The actions of `raddle hive` that talk to a hive: add, status, set. */
#include "cmd/hive/hive.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json-read.h"
#include "bitcode/build-id.h"
#include "bitcode/facts.h"
#include "candidates/candidates.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "finding/finding.h"
#include "hive/client.h"
#include "hive/program.h"

#include <stdlib.h>
#include <string.h>

enum { TOKEN_FILE_MAX = 4096 };

static int read_token(const char *path, char **token)
{
	struct rd_buf b = RD_BUF_INIT;
	int err = rd_file_read_max(path, TOKEN_FILE_MAX, &b);

	if (!err)
		*token = rd_xstrndup(b.data, strcspn(b.data, " \t\r\n"));
	rd_buf_release(&b);
	return err;
}

/* The hive that the options name.  The caller frees the token. */
static int open_client(struct hive_client *c, char **token)
{
	const char *variable = getenv("RADDLE_HIVE_TOKEN");
	int err = 0;

	*token = NULL;
	if (!opt.hive)
		return rd_fail(RD_EUSAGE, "hive: --hive URL is missing");
	if (opt.token)
		err = read_token(opt.token, token);
	else if (variable)
		*token = rd_xstrdup(variable);
	*c = (struct hive_client){.url = opt.hive, .token = *token, .ca = opt.ca};
	return err;
}

int hive_ask(const char *method, const char *path, const char *body, struct rd_buf *answer)
{
	struct hive_client c;
	char *token;
	int err = open_client(&c, &token);

	if (!err)
		err = hive_client_ask(&c, method, path, body, answer);
	free(token);
	return err;
}

/* The candidates of a program as the document of doc/format/candidates.md. */
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

/* The body that brings a program in: its candidates, under its build and name. */
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

static int add_program(const char *program, const char *path, struct rd_buf *answer)
{
	char *body;
	int err = make_body(program, path, &body);

	if (err)
		return err;
	err = hive_ask("POST", "/api/v1/programs", body, answer);
	free(body);
	return err;
}

/* Whether a finding's access is at the place of a candidate's. */
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

static int send_class(const char *build, const json_t *race, const struct finding *f)
{
	json_t *body = json_pack("{s:s, s:s?}", "class", finding_class_name(f->class), "consequence",
				 f->consequence);
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	char *path = rd_xasprintf("/api/v1/races/%s/%s/class", build,
				  json_string_value(json_object_get(race, "id")));
	struct rd_buf answer = RD_BUF_INIT;
	int err = text ? hive_ask("PUT", path, text, &answer) : rd_fail(RD_ENOMEM, "out of memory");

	rd_buf_release(&answer);
	json_decref(body);
	RD_FREE(text, path);
	return err;
}

static int send_class_of(const char *build, const json_t *races, const struct finding *f, size_t *sent)
{
	size_t i;
	const json_t *race;
	int err = 0;

	json_array_foreach(races, i, race) if (!err && finding_class_name(f->class) && is_same(race, f))
	{
		err = send_class(build, race, f);
		*sent += !err;
	}
	return err;
}

/* Tells the hive what `raddle classify` said about races that it knows. */
static int send_classes(const char *build, const char *findings)
{
	struct rd_json_read j = {.subject = "hive", .name = "status"};
	struct rd_buf document = RD_BUF_INIT;
	struct finding_set *set = NULL;
	size_t sent = 0;
	json_t *root = NULL;
	int err = finding_read(&set, findings);

	if (!err)
		err = hive_ask_status(build, &document);
	if (!err && !(root = rd_json_load(&j, document.data, document.length)))
		err = j.err;
	for (size_t k = 0; !err && k < set->count; k++)
		err = send_class_of(build, json_object_get(root, "races"), set->items[k], &sent);
	if (!err)
		printf("told the classes of %zu races\n", sent);
	json_decref(root);
	rd_buf_release(&document);
	finding_set_free(set);
	return err;
}

int hive_do_add(char **words)
{
	struct rd_buf answer = RD_BUF_INIT;
	char build[RD_BUILD_ID_SIZE], *path;
	int err;

	if (!*words || words[1])
		return cmd_which("hive add", "program");
	path = rd_find_program(*words);
	if (!path)
		return rd_fail(RD_ENOTFOUND, "hive add: %s: there is no such program", *words), CMD_FAILED;
	err = rd_build_id(path, build);
	if (!err && !opt.hive_classes)
		err = add_program(*words, path, &answer);
	if (!err && opt.hive_classes)
		err = send_classes(build, opt.hive_classes);
	if (!err && answer.length)
		fputs(answer.data, stdout);
	free(path);
	rd_buf_release(&answer);
	return err ? CMD_FAILED : CMD_OK;
}

int hive_build_of(const char *word, char **build)
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

static json_t *settings(void)
{
	json_t *body = json_object();

	if (opt.state)
		json_object_set_new(body, "state", json_string(opt.state));
	if (opt.rollout != RD_OPTION_UNSET)
		json_object_set_new(body, "rollout", json_integer((json_int_t)opt.rollout));
	if (opt.poll != RD_OPTION_UNSET)
		json_object_set_new(body, "poll_s", json_integer((json_int_t)(opt.poll / 1000)));
	return body;
}

int hive_do_set(char **words)
{
	struct rd_buf answer = RD_BUF_INIT;
	char *build, *path, *text;
	json_t *body;
	int err;

	if (!*words || words[1])
		return cmd_which("hive set", "build");
	if (hive_build_of(*words, &build))
		return CMD_FAILED;
	path = rd_xasprintf("/api/v1/programs/%s", build);
	body = settings();
	text = json_dumps(body, JSON_COMPACT);
	err = text ? hive_ask("PATCH", path, text, &answer) : RD_ENOMEM;
	json_decref(body);
	RD_FREE(build, path, text);
	rd_buf_release(&answer);
	return err ? CMD_FAILED : CMD_OK;
}

int hive_ask_status(const char *build, struct rd_buf *document)
{
	char *path = build ? rd_xasprintf("/api/v1/status?build=%s", build) : rd_xstrdup("/api/v1/status");
	int err = hive_ask("GET", path, NULL, document);

	free(path);
	return err;
}

static int write_document(const void *document, FILE *out)
{
	fputs(((const struct rd_buf *)document)->data, out);
	return 0;
}

int hive_do_status(char **words)
{
	struct rd_buf document = RD_BUF_INIT;
	char *build = NULL;
	int status = CMD_FAILED;

	if (*words && hive_build_of(*words, &build))
		return CMD_FAILED;
	if (!hive_ask_status(build, &document) && !cmd_document(opt.json, write_document, &document))
		status = hive_print_status(&document);
	free(build);
	rd_buf_release(&document);
	return status;
}
