// SPDX-License-Identifier: Apache-2.0
/* The actions of `raddle hive` that send requests to a hive: add, status, set, track, sketch,
 * simulate. */
#include "cmd/hive/hive.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json-read.h"
#include "bitcode/build-id.h"
#include "cmd/cmd-int.h"
#include "cmd/output-int.h"
#include "hive/client.h"
#include "hive/crowd.h"
#include "hive/status-text.h"

#include <stdlib.h>
#include <string.h>

/* Opens the connection to the hive that the options name. */
static int open_client(struct hive_client *c, char **token)
{
	const char *variable = getenv("RADDLE_HIVE_TOKEN");
	int err = 0;

	*token = NULL;
	if (!opt.hive)
		return rd_fail(RD_EUSAGE, "hive: --hive URL is missing");
	if (opt.token)
		err = hive_client_token(opt.token, token);
	else if (variable)
		*token = rd_xstrdup(variable);
	*c = (struct hive_client){.url = opt.hive, .token = *token, .ca = opt.ca};
	return err;
}

/* An action that uses the hive that the options name.  It returns the exit status. */
typedef int action_fn(const struct hive_client *c, char **words);

static int with_client(action_fn *action, char **words)
{
	struct hive_client c;
	char *token;
	int status = open_client(&c, &token) ? CMD_FAILED : action(&c, words);

	free(token);
	return status;
}

/* ---- programs ---- */

static int add(const struct hive_client *c, char **words)
{
	struct rd_buf answer = RD_BUF_INIT;
	char build[RD_BUILD_ID_SIZE], *path = rd_find_program(*words);
	size_t sent = 0;
	int err;

	if (!path)
		return rd_fail(RD_ENOTFOUND, "hive add: %s: there is no such program", *words), CMD_FAILED;
	err = rd_build_id(path, build);
	if (!err && opt.hive_classes)
		err = hive_client_classes(c, build, opt.hive_classes, &sent);
	else if (!err)
		err = hive_client_add(c, *words, path, &answer);
	if (!err && opt.hive_classes)
		printf("sent the classes of %zu races\n", sent);
	else if (!err)
		fputs(answer.data, stdout);
	free(path);
	rd_buf_release(&answer);
	return err ? CMD_FAILED : CMD_OK;
}

int hive_do_add(char **words)
{
	return *words && !words[1] ? with_client(add, words) : cmd_which("hive add", "program");
}

static int set(const struct hive_client *c, char **words)
{
	const struct hive_settings settings = {
		.state = opt.state,
		.rollout = opt.rollout == RD_OPTION_UNSET ? -1 : (int64_t)opt.rollout,
		.poll_s = opt.poll == RD_OPTION_UNSET ? -1 : (int64_t)(opt.poll / 1000)};
	char *build = NULL;
	int err = hive_client_build(*words, &build);

	if (!err)
		err = hive_client_set(c, build, &settings);
	free(build);
	return err ? CMD_FAILED : CMD_OK;
}

int hive_do_set(char **words)
{
	return *words && !words[1] ? with_client(set, words) : cmd_which("hive set", "build");
}

/* ---- the status ---- */

static int write_document(const void *document, FILE *out)
{
	fputs(((const struct rd_buf *)document)->data, out);
	return 0;
}

static int show_status(const struct hive_client *c, const char *word, const char *json)
{
	struct rd_buf document = RD_BUF_INIT;
	char *build = NULL;
	size_t found = 0;
	int err = word ? hive_client_build(word, &build) : 0;

	if (!err)
		err = hive_client_status(c, build, &document);
	if (!err)
		err = cmd_document(json, write_document, &document);
	if (!err)
		err = hive_status_text(document.data, document.length, opt.verbose,
				       cmd_output_is_stdout() ? NULL : stdout, &found);
	free(build);
	rd_buf_release(&document);
	return err ? CMD_FAILED : found ? CMD_FOUND : CMD_OK;
}

static int status(const struct hive_client *c, char **words)
{
	return show_status(c, *words, opt.json);
}

int hive_do_status(char **words)
{
	return with_client(status, words);
}

static int simulate(const struct hive_client *c, char **words)
{
	const struct hive_crowd crowd = {.program = words,
					 .hive = opt.hive,
					 .token = opt.token,
					 .sites = opt.hive_sites,
					 .rounds = opt.rounds,
					 .jobs = opt.jobs};
	struct hive_crowd_result result;

	if (hive_crowd_run(&crowd, &result))
		return CMD_FAILED;
	printf("%llu runs of %llu sites; %llu ended with a status other than 0\n",
	       (unsigned long long)result.ended, (unsigned long long)opt.hive_sites,
	       (unsigned long long)result.failed);
	return show_status(c, *words, NULL);
}

int hive_do_simulate(char **words)
{
	return *words ? with_client(simulate, words) : cmd_which("hive simulate", "program");
}

/* ---- failures ---- */

static int track(const struct hive_client *c, char **words)
{
	struct rd_buf answer = RD_BUF_INIT;
	struct sketch_failure failure = {0};
	int err = sketch_read_report(&failure, opt.failure_report, *words);

	if (!err && !failure.kind)
		failure.kind = SKETCH_CRASH;
	if (!err)
		err = hive_client_track(c, *words, &failure, &answer);
	if (!err)
		fputs(answer.data, stdout);
	rd_buf_release(&answer);
	sketch_failure_release(&failure);
	return err ? CMD_FAILED : CMD_OK;
}

int hive_do_track(char **words)
{
	if (!*words || words[1])
		return cmd_which("hive track", "program");
	if (!opt.failure_report)
		return rd_fail(RD_EUSAGE, "hive track: --report is missing; it names the failure"),
		       CMD_FAILED;
	return with_client(track, words);
}

/* Writes one sketch in the given form to the file `to`, or to standard output if `to` is NULL. */
static int show(const struct hive_client *c, const json_t *sketch, const char *form, const char *to)
{
	const char *build = json_string_value(json_object_get(sketch, "build"));
	const char *id = json_string_value(json_object_get(sketch, "id"));
	struct rd_buf answer = RD_BUF_INIT;
	int err = build && id
			  ? hive_client_sketch(c, build, id, form, &answer)
			  : rd_fail(RD_EFORMAT, "hive sketch: the answer of the hive lacks a build or an id");

	if (!err)
		err = cmd_document(to ? to : "-", write_document, &answer);
	rd_buf_release(&answer);
	return err;
}

static int show_in_all_forms(const struct hive_client *c, const json_t *sketch)
{
	int err = opt.json ? show(c, sketch, "", opt.json) : 0;

	if (!err && opt.html)
		err = show(c, sketch, "/page", opt.html);
	if (err || cmd_output_is_stdout())
		return err;
	if (json_integer_value(json_object_get(sketch, "failing")))
		return show(c, sketch, "/text", NULL);
	printf("%s:%lld: no failing run and %lld passing runs were sent so far\n",
	       json_string_value(json_object_get(sketch, "file")),
	       (long long)json_integer_value(json_object_get(sketch, "line")),
	       (long long)json_integer_value(json_object_get(sketch, "passing")));
	return 0;
}

/* Shows the sketch with that id, or all sketches if there is no id.  A document can contain only
 * one sketch. */
static int show_sketches(const struct hive_client *c, const json_t *sketches, const char *id)
{
	size_t i, shown = 0;
	json_t *sketch;
	int err = 0;

	if (!id && (opt.json || opt.html) && json_array_size(sketches) > 1)
		return rd_fail(RD_EUSAGE, "hive sketch: there are several sketches; name one by its id");
	json_array_foreach(sketches, i, sketch)
	{
		const char *own = json_string_value(json_object_get(sketch, "id"));

		if (err || (id && (!own || strcmp(own, id) != 0)))
			continue;
		err = show_in_all_forms(c, sketch);
		shown++;
	}
	return err || shown ? err
			    : rd_fail(RD_ENOTFOUND, "hive sketch: %s",
				      id ? "no sketch has that id"
					 : "no failure of this program is tracked; "
					   "use 'raddle hive track'");
}

static int sketch(const struct hive_client *c, char **words)
{
	struct rd_json_read j = {.subject = "hive", .name = "status"};
	struct rd_buf document = RD_BUF_INIT;
	json_t *root = NULL;
	char *build = NULL;
	int err = hive_client_build(*words, &build);

	if (!err)
		err = hive_client_status(c, build, &document);
	if (!err && !(root = rd_json_load(&j, document.data, document.length)))
		err = j.err;
	if (!err)
		err = show_sketches(c, json_object_get(root, "sketches"), words[1]);
	json_decref(root);
	rd_buf_release(&document);
	free(build);
	return err ? CMD_FAILED : CMD_OK;
}

int hive_do_sketch(char **words)
{
	if (!*words || (words[1] && words[2]))
		return cmd_which("hive sketch", "program");
	return with_client(sketch, words);
}
