// SPDX-License-Identifier: Apache-2.0
/*
 * Implements schedules in memory and as text (doc/format/schedule.md).  The first half of this file
 * is the writer.  The second half is the reader, which does not trust its input.
 *
 * A record is a line whose fields are separated by tabs.  Within a field, tabs, newlines and
 * backslashes are escaped as in the site table.  The last line contains the number of lines before
 * it and their checksum, so that a cut or edited file is noticed before it steers a run.
 */
#include "finding/schedule.h"

#include "base/alloc.h"
#include "base/field.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/word.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HEADER "raddle-schedule"
#define FIELDS_MAX 16 /* largest number of fields in a line, more than any kind of line has */

void schedule_init(struct schedule *s)
{
	*s = (struct schedule){.arena = rd_arena_new()};
}

void schedule_release(struct schedule *s)
{
	RD_FREE(s->ops, s->limits, s->goals, s->stops, s->watches, s->decisions, s->tracks, s->choices);
	if (s->arena)
		rd_arena_free(s->arena);
	*s = (struct schedule){0};
}

const char *schedule_text(struct schedule *s, const char *text)
{
	RD_ASSERT(s->arena != NULL);
	return text ? rd_arena_strndup(s->arena, text, strlen(text)) : NULL;
}

bool schedule_is_word(const char *text)
{
	RD_ASSERT(text != NULL);
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return *text && strspn(text, allowed) == strlen(text);
}

#define ADD(what, list, ...)                                                                                 \
	struct schedule_##what *schedule_add_##what(struct schedule *s)                                      \
	{                                                                                                    \
		RD_GROW(s->list, s->what##_capacity, s->what##_count + 1);                                   \
		s->list[s->what##_count] = (struct schedule_##what)__VA_ARGS__;                              \
		return &s->list[s->what##_count++];                                                          \
	}
ADD(op, ops, {0})
ADD(limit, limits, {0})
ADD(goal, goals, {0})
ADD(stop, stops, {0})
ADD(watch, watches, {.after = SCHEDULE_ALWAYS})
ADD(decision, decisions, {0})
ADD(track, tracks, {0})
ADD(choice, choices, {0})
#undef ADD

static const char *const points[] = {"op",   "wait", "access", "back",	 "yield",
				     "spin", "away", "end",    "output", "exit"};
#define POINTS (sizeof points / sizeof *points)

const char *schedule_point_name(unsigned number)
{
	return rd_word(points, POINTS, number);
}

int schedule_point(const char *name)
{
	return rd_word_find(points, POINTS, name);
}

static const char *const memories[] = {"sc", "tso", "pso", "weak", "coherent"};
#define MEMORIES (sizeof memories / sizeof *memories)

int schedule_memory(const char *name)
{
	return rd_word_find(memories, MEMORIES, name);
}

/* ---- writing ---- */

static void put_number(struct rd_buf *out, uint64_t n)
{
	rd_buf_addf(out, "\t%" PRIu64, n);
}

static void put_place(struct rd_buf *out, const struct schedule_place *p)
{
	struct rd_buf place = RD_BUF_INIT;

	if (p->file && *p->file)
		rd_buf_addf(&place, "%s:%" PRIu32 ":%" PRIu32, p->file, p->line, p->column);
	rd_field_add(out, place.data);
	rd_field_add(out, p->function);
	rd_buf_release(&place);
	rd_buf_addc(out, '\n');
}

static void put_head(struct rd_buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	rd_buf_adds(out, name);
	rd_field_add(out, value);
	rd_buf_addc(out, '\n');
}

static void put_ops(const struct schedule *s, struct rd_buf *out)
{
	for (size_t i = 0; i < s->op_count; i++) {
		const struct schedule_op *op = &s->ops[i];

		rd_buf_adds(out, "op");
		rd_field_add(out, op->thread);
		put_number(out, op->n);
		rd_field_add(out, op->kind);
		rd_field_add(out, op->object);
		put_number(out, op->seen);
		put_place(out, &op->place);
	}
	for (size_t i = 0; i < s->limit_count; i++) {
		rd_buf_adds(out, "limit");
		rd_field_add(out, s->limits[i].thread);
		put_number(out, s->limits[i].n);
		rd_buf_addc(out, '\n');
	}
}

static void put_ends(const struct schedule *s, struct rd_buf *out)
{
	for (size_t i = 0; i < s->goal_count; i++) {
		const struct schedule_goal *h = &s->goals[i];

		rd_buf_adds(out, "hold");
		rd_field_add(out, h->thread);
		put_number(out, h->after);
		put_number(out, h->site);
		put_number(out, h->occurrence);
		rd_field_add(out, h->write ? "write" : "read");
		rd_field_add(out, h->object);
		put_place(out, &h->place);
	}
	for (size_t i = 0; i < s->stop_count; i++) {
		const struct schedule_stop *t = &s->stops[i];

		rd_buf_adds(out, "stop");
		rd_field_add(out, t->thread);
		put_number(out, t->n);
		rd_field_add(out, t->kind);
		rd_field_add(out, t->object);
		put_place(out, &t->place);
	}
}

static void put_watch(const struct schedule_watch *w, struct rd_buf *out)
{
	rd_buf_adds(out, "watch");
	rd_field_add(out, w->thread);
	if (w->after == SCHEDULE_ALWAYS)
		rd_field_add(out, NULL);
	else
		put_number(out, w->after);
	put_number(out, w->site);
	put_number(out, w->occurrence);
	rd_field_add(out, w->reads && w->writes ? NULL : w->writes ? "write" : "read");
	rd_field_add(out, w->object);
	put_place(out, &w->place);
}

static void put_memory(const struct schedule *s, struct rd_buf *out)
{
	if (!s->memory)
		return;
	rd_buf_adds(out, "memory");
	rd_field_add(out, s->memory);
	put_number(out, s->memory_seed);
	rd_buf_addc(out, '\n');
	for (size_t i = 0; i < s->track_count; i++) {
		rd_buf_adds(out, "track");
		put_number(out, s->tracks[i].site);
		rd_field_add(out, s->tracks[i].write ? "write" : "read");
		put_place(out, &s->tracks[i].place);
	}
	for (size_t i = 0; i < s->choice_count; i++) {
		const struct schedule_choice *c = &s->choices[i];

		rd_buf_adds(out, "choose");
		put_number(out, c->at);
		put_number(out, c->from);
		put_number(out, c->taken);
		rd_field_add(out, c->thread);
		put_place(out, &c->place);
	}
}

static void put_turns(const struct schedule *s, struct rd_buf *out)
{
	if (!s->turns)
		return;
	put_head(out, "then", "turns");
	put_head(out, "flavour", s->flavour);
	put_head(out, "first", s->first);
	put_head(out, "front", s->front);
	for (size_t i = 0; i < s->watch_count; i++)
		put_watch(&s->watches[i], out);
	for (size_t i = 0; i < s->decision_count; i++) {
		const struct schedule_decision *d = &s->decisions[i];

		rd_buf_adds(out, "next");
		rd_field_add(out, d->thread);
		put_number(out, d->n);
		rd_field_add(out, d->point);
		put_number(out, d->count);
		rd_field_add(out, d->next);
		put_place(out, &d->place);
	}
	if (s->seed)
		rd_buf_addf(out, "seed\t%" PRIu64 "\n", s->seed);
	put_memory(s, out);
}

static size_t count_lines(const char *text, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += text[i] == '\n';
	return n;
}

int schedule_version(const struct schedule *s)
{
	for (size_t i = 0; i < s->goal_count; i++)
		if (!s->goals[i].occurrence)
			return SCHEDULE_VERSION_AGAIN;
	return s->memory ? SCHEDULE_VERSION_MEMORY : s->turns ? SCHEDULE_VERSION_TURNS : SCHEDULE_VERSION;
}

void schedule_format(const struct schedule *s, struct rd_buf *out)
{
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_addf(&text, HEADER "\t%d\n", schedule_version(s));
	put_head(&text, "finding", s->finding);
	put_head(&text, "program", s->program);
	put_head(&text, "trace", s->trace);
	put_head(&text, "model", s->speculative ? "speculative" : NULL);
	put_head(&text, "meet", s->anywhere ? "anywhere" : s->nowhere ? "nowhere" : NULL);
	put_head(&text, "locks", s->handed ? "handed" : NULL);
	put_head(&text, "edits", s->edits);
	put_head(&text, "input", s->input);
	if (s->keep[0])
		rd_buf_addf(&text, "keep\t%" PRIu32 "\t%" PRIu32 "\n", s->keep[0], s->keep[1]);
	put_ops(s, &text);
	put_ends(s, &text);
	put_turns(s, &text);
	rd_buf_add(out, text.data, text.length);
	rd_buf_addf(out, "end\t%zu\t%016" PRIx64 "\n", count_lines(text.data, text.length),
		    (uint64_t)XXH64(text.data, text.length, 0));
	rd_buf_release(&text);
}

int schedule_write(const struct schedule *s, const char *path)
{
	RD_ASSERT(path != NULL);
	struct rd_buf text = RD_BUF_INIT;

	schedule_format(s, &text);
	return rd_file_write_buf(path, &text);
}

/* ---- reading ---- */

struct schedule_parser {
	struct schedule *schedule;
	const char *name;
	size_t line;
	char *fields[FIELDS_MAX];
	size_t count;
	uint64_t version;
	int err;
};

static int fail_line(struct schedule_parser *p, const char *what, const char *value)
{
	size_t length = strcspn(value, "\n");

	if (!p->err)
		p->err = rd_fail(RD_EFORMAT, "schedule: %s: line %zu: %s \"%.*s\"", p->name, p->line, what,
				 length < 60 ? (int)length : 60, value);
	return p->err;
}

static void split(struct schedule_parser *p, char *line)
{
	p->count = 0;
	for (;;) {
		char *tab = strchr(line, '\t');

		if (p->count == FIELDS_MAX) {
			fail_line(p, "too many fields after", p->fields[0]);
			return;
		}
		p->fields[p->count++] = line;
		if (!tab)
			break;
		*tab = '\0';
		line = tab + 1;
	}
	for (size_t i = 0; i < p->count; i++)
		if (!rd_field_undo(p->fields[i]))
			fail_line(p, "a bad escape in", p->fields[i]);
}

static uint64_t parse_number(struct schedule_parser *p, const char *s, uint64_t max)
{
	uint64_t v = 0;

	if (!*s)
		fail_line(p, "a number is missing after", p->fields[0]);
	for (const char *c = s; *c; c++) {
		if (*c < '0' || *c > '9') {
			fail_line(p, "not a number:", s);
			return 0;
		}
		unsigned digit = (unsigned)(*c - '0');
		if (v > (UINT64_MAX - digit) / 10 || v * 10 + digit > max) {
			fail_line(p, "a number is too large:", s);
			return 0;
		}
		v = v * 10 + digit;
	}
	return v;
}

static uint64_t get_number(struct schedule_parser *p, size_t field, uint64_t max)
{
	return parse_number(p, p->fields[field], max);
}

static const char *get_text(struct schedule_parser *p, size_t field)
{
	const char *s = p->fields[field];

	return *s ? schedule_text(p->schedule, s) : NULL;
}

/* Reads a word that steers a run: a thread or a kind. */
static const char *get_word(struct schedule_parser *p, size_t field)
{
	const char *s = p->fields[field];

	if (!schedule_is_word(s))
		fail_line(p, "not a name:", s);
	return schedule_text(p->schedule, s);
}

/* Removes ":number" from the end of a field. */
static uint32_t cut_number(struct schedule_parser *p, size_t field)
{
	char *colon = strrchr(p->fields[field], ':');

	if (!colon || colon == p->fields[field]) {
		fail_line(p, "not file:line:column:", p->fields[field]);
		return 0;
	}
	*colon = '\0';
	return (uint32_t)parse_number(p, colon + 1, UINT32_MAX);
}

static struct schedule_place get_place(struct schedule_parser *p, size_t field)
{
	struct schedule_place place = {.function = get_text(p, field + 1)};

	if (!*p->fields[field])
		return place;
	place.column = cut_number(p, field);
	place.line = cut_number(p, field);
	place.file = get_text(p, field);
	return place;
}

static void parse_op(struct schedule_parser *p)
{
	struct schedule_op *op = schedule_add_op(p->schedule);

	op->thread = get_word(p, 1);
	op->n = get_number(p, 2, INT64_MAX);
	op->kind = get_word(p, 3);
	op->object = get_text(p, 4);
	op->seen = get_number(p, 5, INT64_MAX);
	op->place = get_place(p, 6);
}

static void parse_limit(struct schedule_parser *p)
{
	struct schedule_limit *l = schedule_add_limit(p->schedule);

	l->thread = get_word(p, 1);
	l->n = get_number(p, 2, INT64_MAX);
}

static void parse_goal(struct schedule_parser *p)
{
	struct schedule_goal *h = schedule_add_goal(p->schedule);

	h->thread = get_word(p, 1);
	h->after = get_number(p, 2, INT64_MAX);
	h->site = (uint32_t)get_number(p, 3, UINT32_MAX);
	h->occurrence = get_number(p, 4, INT64_MAX);
	h->write = strcmp(p->fields[5], "write") == 0;
	if (!h->write && strcmp(p->fields[5], "read") != 0)
		fail_line(p, "neither read nor write:", p->fields[5]);
	h->object = get_text(p, 6);
	h->place = get_place(p, 7);
}

static void parse_stop(struct schedule_parser *p)
{
	struct schedule_stop *t = schedule_add_stop(p->schedule);

	t->thread = get_word(p, 1);
	t->n = get_number(p, 2, INT64_MAX);
	t->kind = get_word(p, 3);
	t->object = get_text(p, 4);
	t->place = get_place(p, 5);
}

static void parse_model(struct schedule_parser *p)
{
	if (strcmp(p->fields[1], "speculative") != 0 && strcmp(p->fields[1], "sound") != 0)
		fail_line(p, "neither sound nor speculative:", p->fields[1]);
	p->schedule->speculative = strcmp(p->fields[1], "speculative") == 0;
}

static void parse_meet(struct schedule_parser *p)
{
	p->schedule->anywhere = strcmp(p->fields[1], "anywhere") == 0;
	p->schedule->nowhere = strcmp(p->fields[1], "nowhere") == 0;
	if (!p->schedule->anywhere && !p->schedule->nowhere)
		fail_line(p, "an unknown way to meet", p->fields[1]);
}

static void parse_locks(struct schedule_parser *p)
{
	if (strcmp(p->fields[1], "handed") != 0)
		fail_line(p, "an unknown way to release locks", p->fields[1]);
	p->schedule->handed = true;
}

static void parse_keep(struct schedule_parser *p)
{
	for (size_t i = 0; i < 2; i++)
		p->schedule->keep[i] = (uint32_t)get_number(p, i + 1, INT32_MAX);
	if (!p->schedule->keep[0] || !p->schedule->keep[1])
		fail_line(p, "not a site:", p->fields[1]);
}

static void parse_then(struct schedule_parser *p)
{
	if (strcmp(p->fields[1], "turns") != 0)
		fail_line(p, "an unknown way to continue", p->fields[1]);
	p->schedule->turns = true;
}

static void parse_seed(struct schedule_parser *p)
{
	p->schedule->seed = get_number(p, 1, INT64_MAX);
	if (!p->schedule->seed)
		fail_line(p, "not a seed:", p->fields[1]);
}

static void parse_watch(struct schedule_parser *p)
{
	struct schedule_watch *w = schedule_add_watch(p->schedule);
	const char *op = p->fields[5];

	w->thread = *p->fields[1] ? get_word(p, 1) : NULL;
	if (*p->fields[2])
		w->after = get_number(p, 2, INT64_MAX);
	w->site = (uint32_t)get_number(p, 3, UINT32_MAX);
	w->occurrence = get_number(p, 4, INT64_MAX);
	w->reads = !*op || strcmp(op, "read") == 0;
	w->writes = !*op || strcmp(op, "write") == 0;
	if (!w->reads && !w->writes)
		fail_line(p, "neither read nor write:", op);
	w->object = get_text(p, 6);
	w->place = get_place(p, 7);
}

static void parse_next(struct schedule_parser *p)
{
	struct schedule_decision *d = schedule_add_decision(p->schedule);

	d->thread = get_word(p, 1);
	d->n = get_number(p, 2, INT64_MAX);
	d->point = get_word(p, 3);
	d->count = (uint32_t)get_number(p, 4, UINT32_MAX);
	d->next = get_word(p, 5);
	d->place = get_place(p, 6);
}

static void parse_memory(struct schedule_parser *p)
{
	p->schedule->memory = get_word(p, 1);
	p->schedule->memory_seed = get_number(p, 2, INT64_MAX);
}

static void parse_track(struct schedule_parser *p)
{
	struct schedule_track *t = schedule_add_track(p->schedule);

	t->site = (uint32_t)get_number(p, 1, UINT32_MAX);
	t->write = strcmp(p->fields[2], "write") == 0;
	if (!t->write && strcmp(p->fields[2], "read") != 0)
		fail_line(p, "neither read nor write:", p->fields[2]);
	t->place = get_place(p, 3);
}

static void parse_choose(struct schedule_parser *p)
{
	struct schedule_choice *c = schedule_add_choice(p->schedule);

	c->at = get_number(p, 1, INT64_MAX);
	c->from = (uint32_t)get_number(p, 2, UINT32_MAX);
	c->taken = (uint32_t)get_number(p, 3, UINT32_MAX);
	c->thread = *p->fields[4] ? get_word(p, 4) : NULL;
	c->place = get_place(p, 5);
}

/* Records that consist of one text, which becomes a member of the schedule. */
static const struct text_record {
	const char *name;
	size_t to;
	bool word;	  /* the text is a word: not empty, and without blanks */
	uint64_t version; /* the first version of the format that has this record */
} texts[] = {
#define TO(member) #member, offsetof(struct schedule, member)
	{TO(finding), false, 1}, {TO(program), false, 1}, {TO(trace), false, 1},  {TO(edits), false, 1},
	{TO(input), false, 1},	 {TO(first), true, 2},	  {TO(flavour), true, 2}, {TO(front), true, 2},
#undef TO
};

static const struct record {
	const char *name;
	size_t fields;
	void (*parse)(struct schedule_parser *);
	uint64_t version; /* the first version of the format that has this record */
} records[] = {
	{"op", 8, parse_op, 1},		{"limit", 3, parse_limit, 1}, {"hold", 9, parse_goal, 1},
	{"stop", 7, parse_stop, 1},	{"model", 2, parse_model, 1}, {"meet", 2, parse_meet, 1},
	{"then", 2, parse_then, 2},	{"watch", 9, parse_watch, 2}, {"next", 8, parse_next, 2},
	{"seed", 2, parse_seed, 2},	{"locks", 2, parse_locks, 1}, {"keep", 3, parse_keep, 1},
	{"memory", 3, parse_memory, 3}, {"track", 5, parse_track, 3}, {"choose", 7, parse_choose, 3},
};

static bool has_fields(struct schedule_parser *p, size_t count)
{
	if (p->count != count)
		fail_line(p, "a wrong number of fields after", p->fields[0]);
	return p->count == count;
}

/* Parses a record that consists of one text.  Returns true if the line is such a record. */
static bool parse_text_record(struct schedule_parser *p)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const char **to = (const char **)((char *)p->schedule + texts[i].to);

		if (strcmp(p->fields[0], texts[i].name) != 0 || texts[i].version > p->version)
			continue;
		if (has_fields(p, 2))
			*to = texts[i].word ? get_word(p, 1) : get_text(p, 1);
		return true;
	}
	return false;
}

static void parse_record(struct schedule_parser *p)
{
	if (parse_text_record(p))
		return;
	for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
		if (strcmp(p->fields[0], records[i].name) != 0 || records[i].version > p->version)
			continue;
		if (has_fields(p, records[i].fields))
			records[i].parse(p);
		return;
	}
	fail_line(p, "an unknown record", p->fields[0]);
}

static void parse_header(struct schedule_parser *p)
{
	if (p->count != 2 || strcmp(p->fields[0], HEADER) != 0)
		fail_line(p, "this is not a schedule: it begins with", p->fields[0]);
	else
		p->version = get_number(p, 1, UINT32_MAX);
	if (!p->err && (p->version < SCHEDULE_VERSION || p->version > SCHEDULE_VERSION_AGAIN))
		p->err = rd_fail(RD_EVERSION, "schedule: %s: unknown version %s; this Raddle reads %d to %d",
				 p->name, p->fields[1], SCHEDULE_VERSION, SCHEDULE_VERSION_AGAIN);
}

/* Checks the last line.  Returns the length of the text before it, or 0 if the text does not match
 * the last line. */
static size_t check_end(struct schedule_parser *p, const char *text, size_t length)
{
	size_t body = length ? length - 1 : 0;
	char expected[64];

	while (body && text[body - 1] != '\n')
		body--;
	p->line = count_lines(text, body) + 1;
	if (!length || text[length - 1] != '\n' || strncmp(text + body, "end\t", 4) != 0) {
		fail_line(p, "the file is cut off: its last line is not \"end\" but", text + body);
		return 0;
	}
	snprintf(expected, sizeof expected, "end\t%zu\t%016" PRIx64 "\n", p->line - 1,
		 (uint64_t)XXH64(text, body, 0));
	if (strcmp(text + body, expected) != 0) {
		fail_line(p, "the checksum does not match the text:", text + body);
		return 0;
	}
	return body;
}

static int parse_text(struct schedule_parser *p, char *text, size_t length)
{
	if (memchr(text, '\0', length)) {
		p->line = 1;
		return fail_line(p, "this is not text:", text);
	}
	size_t body = check_end(p, text, length);

	p->line = 0;
	for (size_t at = 0; at < body && !p->err;) {
		char *end = memchr(text + at, '\n', body - at);

		*end = '\0';
		p->line++;
		if (p->line == 1 || text[at] != '#') {
			split(p, text + at);
			if (!p->err && p->line == 1)
				parse_header(p);
			else if (!p->err)
				parse_record(p);
		}
		at = (size_t)(end - text) + 1;
	}
	if (!p->err && !p->line)
		fail_line(p, "this is not a schedule:", "");
	return p->err;
}

int schedule_parse(struct schedule *s, const void *data, size_t length, const char *name)
{
	struct rd_buf text = RD_BUF_INIT;
	struct schedule_parser p = {.schedule = s, .name = name};

	schedule_init(s);
	rd_buf_add(&text, data, length);
	int err = parse_text(&p, text.data, text.length);
	rd_buf_release(&text);
	if (err)
		return err;
	const char *wrong = schedule_check(s);
	return wrong ? rd_fail(RD_EFORMAT, "schedule: %s: %s", name, wrong) : RD_OK;
}

int schedule_read(struct schedule *s, const char *path)
{
	*s = (struct schedule){0};
	return RD_WITH_FILE(path, RD_TEXT_MAX, text, schedule_parse(s, text.data, text.length, path));
}

/* ---- checking ---- */

/* The last operation of each thread so far, indexed by the number of the thread's name. */
struct positions {
	struct rd_names names;
	struct rd_umap last;
};

static uint64_t *position(struct positions *p, const char *thread)
{
	return rd_umap_put(&p->last, rd_names_put(&p->names, thread, strlen(thread)), NULL);
}

static const char *check_order(const struct schedule *s, struct positions *p)
{
	for (size_t i = 0; i < s->op_count; i++) {
		uint64_t *last = position(p, s->ops[i].thread);

		if (s->ops[i].n <= *last)
			return "the operations of a thread do not ascend";
		*last = s->ops[i].n;
	}
	for (size_t i = 0; i < s->limit_count; i++)
		if (s->limits[i].n < *position(p, s->limits[i].thread))
			return "a limit lies before an operation of its thread";
	for (size_t i = 0; i < s->goal_count; i++)
		if (s->goals[i].after < *position(p, s->goals[i].thread) ||
		    (!s->goals[i].occurrence && !s->turns))
			return "a hold lies before an operation of its thread";
	for (size_t i = 0; i < s->stop_count; i++)
		if (s->stops[i].n <= *position(p, s->stops[i].thread))
			return "a stop lies before an operation of its thread";
	return s->goal_count && s->stop_count ? "both hold and stop records" : NULL;
}

bool schedule_is_any(const struct schedule_goal *g)
{
	return !g->site && !g->place.file;
}

static bool has_goal(const struct schedule *s, const char *thread)
{
	for (size_t i = 0; i < s->goal_count; i++)
		if (strcmp(s->goals[i].thread, thread) == 0)
			return true;
	return false;
}

static const char *check_memory(const struct schedule *s)
{
	uint64_t last = 0;

	if (!s->memory)
		return s->memory_seed || s->track_count || s->choice_count
			       ? "records of a memory model without \"memory\""
			       : NULL;
	if (schedule_memory(s->memory) < 0)
		return "an unknown memory model";
	for (size_t i = 0; i < s->choice_count; i++) {
		const struct schedule_choice *c = &s->choices[i];

		if (c->at <= last || c->taken >= c->from)
			return "choices do not ascend, or one takes an alternative that it does not have";
		last = c->at;
	}
	return NULL;
}

static const char *check_turns(const struct schedule *s)
{
	if (!s->turns)
		return s->first || s->front || s->seed || s->flavour || s->watch_count || s->decision_count ||
				       s->memory || s->nowhere
			       ? "records of turns without \"then turns\""
			       : NULL;
	if (s->nowhere && s->goal_count != 2)
		return "\"meet nowhere\" needs two hold records";
	if (s->stop_count || s->anywhere)
		return "\"then turns\" excludes stop records and \"meet anywhere\"";
	if ((s->first && !has_goal(s, s->first)) || (s->front && !has_goal(s, s->front)))
		return "the first thread has no hold";
	for (size_t i = 0; i < s->decision_count; i++)
		if (schedule_point(s->decisions[i].point) < 0 || !s->decisions[i].count)
			return "a decision names an unknown point";
	return check_memory(s);
}

const char *schedule_check(const struct schedule *s)
{
	struct positions p = {RD_NAMES_INIT, RD_UMAP_INIT};
	const char *wrong = check_order(s, &p);

	rd_names_release(&p.names);
	rd_umap_release(&p.last);
	return wrong ? wrong : check_turns(s);
}
