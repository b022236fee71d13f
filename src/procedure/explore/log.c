// SPDX-License-Identifier: Apache-2.0
/*
 * Logs of explorations, with one JSON object per line.  Writes the head and the notes of an
 * exploration as lines, and reads them back.  The input is not trusted.
 */
#include "explore/log.h"

#include "base/error.h"
#include "base/hex.h"
#include "base/json-read.h"
#include "base/json-text.h"
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "raddle explore"
#define VERSION 1 /* the version of the format */
#define NUMBER_MAX INT64_MAX
/* maximum number of threads, races or pairs of a line; chosen by hand to bound memory */
#define COUNT_MAX 100000

/* ---- writing ---- */

static struct rd_json *begin(struct rd_json_text *l)
{
	struct rd_json *j = rd_json_text_begin(l);

	rd_json_object(j, NULL);
	return j;
}

static void end(struct rd_json_text *l, struct rd_buf *out)
{
	rd_json_end(&l->json);
	rd_json_text_end(l, out);
}

static void put_text(struct rd_json *j, const char *name, const char *text)
{
	if (text)
		rd_json_string(j, name, text);
}

/* Writes a hash as a string, because JSON numbers cannot represent all 64-bit numbers. */
static void put_hash(struct rd_json *j, const char *name, uint64_t hash)
{
	char text[17];

	snprintf(text, sizeof text, "%016llx", (unsigned long long)hash);
	rd_json_string(j, name, text);
}

void log_put_head(const struct log_head *head, struct rd_buf *out)
{
	struct rd_json_text l;
	struct rd_json *j = begin(&l);

	RD_JSON(j, RD_JS("format", FORMAT), RD_JU("version", VERSION));
	rd_json_strings(j, "argv", head->argv, head->argc);
	put_hash(j, "program", head->program);
	put_hash(j, "seed", head->seed);
	put_text(j, "strategy", head->strategy);
	put_text(j, "points", head->points);
	put_text(j, "fail_if", head->fail_if);
	put_text(j, "with", head->with);
	put_text(j, "setup", head->setup);
	end(&l, out);
}

static void put_arrays(struct rd_json *j, const struct note *n)
{
	rd_json_array(j, "marks");
	for (uint32_t i = 0; i < n->mark_count; i++)
		rd_json_unsigned(j, NULL, n->marks[i]);
	rd_json_end(j);
	rd_json_array(j, "races");
	for (uint32_t i = 0; i < n->race_count; i++) {
		rd_json_array(j, NULL);
		rd_json_unsigned(j, NULL, n->races[i].site[0]);
		rd_json_unsigned(j, NULL, n->races[i].site[1]);
		rd_json_end(j);
	}
	rd_json_end(j);
	rd_json_array(j, "threads");
	for (uint32_t i = 0; i < n->thread_count; i++) {
		rd_json_array(j, NULL);
		rd_json_string(j, NULL, n->threads[i].name);
		rd_json_unsigned(j, NULL, n->threads[i].points);
		rd_json_end(j);
	}
	rd_json_end(j);
	rd_json_array(j, "pairs");
	for (uint32_t i = 0; i < n->pair_count; i++) {
		rd_json_array(j, NULL);
		rd_json_unsigned(j, NULL, n->pairs[i] >> 32);
		rd_json_unsigned(j, NULL, (uint32_t)n->pairs[i]);
		rd_json_end(j);
	}
	rd_json_end(j);
}

static void put_failure(struct rd_json *j, const struct note *n)
{
	put_text(j, "fault", n->failure.fault);
	put_text(j, "ending", n->failure.end_text);
	put_text(j, "place", n->failure.place);
	put_text(j, "thread", n->failure.thread);
	put_text(j, "test", n->failure.test);
}

void log_put_note(const struct note *n, struct rd_buf *out)
{
	struct rd_json_text l;
	struct rd_json *j = begin(&l);

	rd_json_unsigned(j, "n", n->number);
	put_hash(j, "trail", n->trail);
	RD_JSON(j, RD_JU("choices", n->choices), RD_JN("ns", n->run_ns), RD_JU("length", n->length),
		RD_JU("known", n->known), RD_JU("extent", n->extent), RD_JU("most", n->most),
		RD_JB("counts", n->counts), RD_JB("unsure", n->unsure), RD_JB("cut", n->cut),
		RD_JN("status", n->status));
	put_text(j, "why", n->why);
	if (n->from.prefix)
		RD_JSON(j, RD_JU("stem", n->from.prefix), RD_JU("kept", n->from.kept));
	if (n->failure.fault)
		put_failure(j, n);
	put_text(j, "made", n->made);
	if (n->race_count || n->thread_count || n->pair_count)
		put_arrays(j, n);
	end(&l, out);
}

/* ---- reading ---- */

struct parse {
	struct rd_json_read read;
	json_t *tree;
	struct rd_arena *arena;
};

static void open_line(struct parse *p, const char *text, size_t length, const char *name, struct rd_arena *a)
{
	*p = (struct parse){.read = {.subject = "explore", .name = name}, .arena = a};
	p->tree = rd_json_load(&p->read, text, length);
}

static int close_line(struct parse *p)
{
	json_decref(p->tree);
	return p->read.err;
}

static const char *get_text(struct parse *p, const char *key)
{
	const char *text = rd_json_get_text(&p->read, p->tree, key);

	return text ? rd_arena_strndup(p->arena, text, strlen(text)) : NULL;
}

static uint64_t get_hash(struct parse *p, const char *key)
{
	const char *text = rd_json_get_text(&p->read, p->tree, key);

	if (p->read.err)
		return 0;
	if (rd_is_hex(text, 16))
		return rd_hex_number(text, 16);
	rd_json_wrong(&p->read, key, "is not a digest");
	return 0;
}

static uint64_t get_number(struct parse *p, const char *key)
{
	return rd_json_get_number(&p->read, p->tree, key, NUMBER_MAX);
}

int log_get_head(struct log_head *head, const char *text, size_t length, const char *name, struct rd_arena *a)
{
	struct parse p;
	const char *format;
	json_t *argv;

	*head = (struct log_head){0};
	open_line(&p, text, length, name, a);
	format = rd_json_get_text(&p.read, p.tree, "format");
	if (!p.read.err && (!format || strcmp(format, FORMAT) != 0))
		p.read.err = rd_fail(RD_EFORMAT, "%s: this is not the log of an exploration", name);
	if (!p.read.err && get_number(&p, "version") != VERSION)
		p.read.err = rd_fail(RD_EFORMAT, "%s: the log is from another version of Raddle", name);
	argv = rd_json_member(&p.read, p.tree, "argv", JSON_ARRAY);
	head->argc = json_array_size(argv);
	if (!p.read.err && !head->argc)
		rd_json_wrong(&p.read, "argv", "is empty");
	head->argv = rd_arena_alloc(a, (head->argc + 1) * sizeof *head->argv);
	for (size_t i = 0; i < head->argc; i++) {
		const char *word = rd_json_get_item(&p.read, argv, "argv", i);

		head->argv[i] = rd_arena_strndup(a, word, strlen(word));
	}
	head->argv[head->argc] = NULL;
	head->program = get_hash(&p, "program");
	head->seed = get_hash(&p, "seed");
	head->strategy = get_text(&p, "strategy");
	head->points = get_text(&p, "points");
	head->fail_if = get_text(&p, "fail_if");
	head->with = get_text(&p, "with");
	head->setup = get_text(&p, "setup");
	return close_line(&p);
}

/* Reads element i of an array, which must be a pair.  Returns its first value, and stores its
 * second in *second. */
static json_t *get_two(struct parse *p, const json_t *array, size_t i, const char *key, json_t **second)
{
	json_t *two = json_array_get(array, i);

	*second = json_array_get(two, 1);
	if (json_array_size(two) != 2)
		rd_json_wrong(&p->read, key, "contains something other than pairs");
	return json_array_get(two, 0);
}

static uint32_t get_site(struct parse *p, const json_t *value, const char *key)
{
	uint64_t site = 0;

	if (!p->read.err && !rd_json_is_count(value, UINT32_MAX, &site))
		rd_json_wrong(&p->read, key, "contains something other than numbers");
	return (uint32_t)site;
}

static json_t *get_array(struct parse *p, const char *key, uint32_t *count)
{
	json_t *array = rd_json_member(&p->read, p->tree, key, JSON_ARRAY);

	*count = json_array_size(array) <= COUNT_MAX ? (uint32_t)json_array_size(array) : 0;
	if (json_array_size(array) > COUNT_MAX)
		rd_json_wrong(&p->read, key, "is too long");
	return array;
}

static void get_threads(struct parse *p, struct note *n)
{
	json_t *array = get_array(p, "threads", &n->thread_count);

	n->threads = rd_arena_alloc(p->arena, (n->thread_count + 1) * sizeof *n->threads);
	for (uint32_t i = 0; i < n->thread_count && !p->read.err; i++) {
		json_t *points, *name = get_two(p, array, i, "threads", &points);
		const char *text = json_is_string(name) ? json_string_value(name) : "";

		if (!*text || strlen(text) >= sizeof n->threads[i].name ||
		    !rd_json_is_count(points, NUMBER_MAX, &n->threads[i].points))
			rd_json_wrong(&p->read, "threads", "contains something other than names and numbers");
		else
			memcpy(n->threads[i].name, text, strlen(text) + 1);
	}
}

static void get_sites(struct parse *p, struct note *n)
{
	json_t *races = get_array(p, "races", &n->race_count), *pairs = get_array(p, "pairs", &n->pair_count);
	json_t *first, *second;

	n->races = rd_arena_alloc(p->arena, (n->race_count + 1) * sizeof *n->races);
	n->pairs = rd_arena_alloc(p->arena, (n->pair_count + 1) * sizeof *n->pairs);
	for (uint32_t i = 0; i < n->race_count && !p->read.err; i++) {
		first = get_two(p, races, i, "races", &second);
		n->races[i] = (struct note_race){
			.site = {get_site(p, first, "races"), get_site(p, second, "races")}};
	}
	for (uint32_t i = 0; i < n->pair_count && !p->read.err; i++) {
		first = get_two(p, pairs, i, "pairs", &second);
		n->pairs[i] = (uint64_t)get_site(p, first, "pairs") << 32 | get_site(p, second, "pairs");
	}
}

static void get_marks(struct parse *p, struct note *n)
{
	json_t *array = get_array(p, "marks", &n->mark_count);

	if (n->mark_count > PREFIX_MARKS) {
		rd_json_wrong(&p->read, "marks", "is too long");
		n->mark_count = 0;
	}
	for (uint32_t i = 0; i < n->mark_count && !p->read.err; i++)
		n->marks[i] = get_site(p, json_array_get(array, i), "marks");
}

int log_get_note(struct note *n, const char *text, size_t length, const char *name, struct rd_arena *a)
{
	struct parse p;
	int64_t status;

	open_line(&p, text, length, name, a);
	*n = (struct note){.number = get_number(&p, "n"),
			   .trail = get_hash(&p, "trail"),
			   .choices = get_number(&p, "choices"),
			   .run_ns = (int64_t)get_number(&p, "ns"),
			   .length = get_number(&p, "length"),
			   .known = get_number(&p, "known"),
			   .extent = get_number(&p, "extent"),
			   .most = get_number(&p, "most"),
			   .from = {.prefix = get_number(&p, "stem"), .kept = get_number(&p, "kept")},
			   .cut = rd_json_get_bool(&p.read, p.tree, "cut"),
			   .counts = rd_json_get_bool(&p.read, p.tree, "counts"),
			   .unsure = rd_json_get_bool(&p.read, p.tree, "unsure"),
			   .why = get_text(&p, "why"),
			   .failure = {.fault = get_text(&p, "fault"),
				       .end_text = get_text(&p, "ending"),
				       .place = get_text(&p, "place"),
				       .thread = get_text(&p, "thread"),
				       .test = get_text(&p, "test")},
			   .made = get_text(&p, "made")};
	status = rd_json_get_signed(&p.read, p.tree, "status");
	if (status < -1 || status > 255)
		rd_json_wrong(&p.read, "status", "is not an exit status");
	n->status = (int)status;
	get_threads(&p, n);
	get_sites(&p, n);
	get_marks(&p, n);
	return close_line(&p);
}

/* ---- files ---- */

/* `fn` is called for each note; if it is NULL, only the head is read. */
struct reader {
	const char *path;
	struct rd_arena *arena;
	log_note_fn *fn;
	void *context;
};

static int read_lines(const struct reader *r, FILE *in, struct log_head *head, uint64_t *length)
{
	char *text = NULL;
	size_t size = 0, lines = 0;
	ssize_t got;
	int err = RD_OK;

	*length = 0;
	while (!err && (got = getline(&text, &size, in)) > 0 && text[got - 1] == '\n') {
		struct note n;

		err = lines++ ? log_get_note(&n, text, (size_t)got - 1, r->path, r->arena)
			      : log_get_head(head, text, (size_t)got - 1, r->path, r->arena);
		if (!err && lines > 1 && r->fn)
			r->fn(r->context, &n);
		*length += (uint64_t)got;
		if (!r->fn)
			break;
	}
	if (!err && ferror(in))
		err = rd_fail_errno("cannot read %s", r->path);
	if (!err && !lines)
		err = rd_fail(RD_EFORMAT, "%s: this is not the log of an exploration", r->path);
	free(text);
	return err;
}

int log_read(const char *path, struct log_head *head, struct rd_arena *a, log_note_fn *fn, void *context,
	     uint64_t *length)
{
	const struct reader reader = {path, a, fn, context};
	FILE *in = fopen(path, "re");
	int err;

	if (!in)
		return rd_fail_errno("cannot read %s", path);
	err = read_lines(&reader, in, head, length);
	fclose(in);
	return err;
}

int log_read_head(const char *path, struct log_head *head, struct rd_arena *a)
{
	uint64_t length;

	return log_read(path, head, a, NULL, NULL, &length);
}
