// SPDX-License-Identifier: Apache-2.0
/*
 * Writes, reads and releases the contents of campaign.json, using one table of its fields.  The
 * reader trusts nothing.  A member of the wrong type is an error; unknown members are ignored.
 */
#include "inject/setup.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json-read.h"
#include "base/json-text.h"
#include "base/json.h"
#include "run/fault.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_MAX 1000 /* largest number of kinds in a campaign; set by hand, bounds memory */

enum type { STRING, LIST, NUMBER, SIGNED, FLAG };

static const struct field {
	const char *name;
	enum type type;
	size_t offset;
	bool needed;
} fields[] = {
#define FIELD(name, type, member, needed)                                                                    \
	{                                                                                                    \
		name, type, offsetof(struct inject_setup, member), needed                                    \
	}
	FIELD("program", STRING, program, true),
	FIELD("key", STRING, key, false),
	FIELD("mode", STRING, mode, false),
	FIELD("level", STRING, level, false),
	FIELD("model", STRING, model, false),
	FIELD("argv", LIST, argv, true),
	FIELD("stdin", STRING, input, false),
	FIELD("inputs", LIST, inputs, false),
	FIELD("input_names", LIST, names, false),
	FIELD("seed", NUMBER, seed, true),
	FIELD("runs_per_kind", NUMBER, runs, true),
	FIELD("until_millionths", NUMBER, until, false),
	FIELD("until_outcome", STRING, until_outcome, false),
	FIELD("kinds", LIST, kinds, true),
	FIELD("sampling", STRING, sampling, true),
	FIELD("bits", NUMBER, bits, false),
	FIELD("faults", NUMBER, faults, true),
	FIELD("window", NUMBER, window, false),
	FIELD("once", FLAG, once, false),
	FIELD("process", STRING, process, false),
	FIELD("thread", STRING, thread, false),
	FIELD("line", STRING, line, false),
	FIELD("site", NUMBER, site, false),
	FIELD("functions", LIST, functions, false),
	FIELD("not_functions", LIST, not_functions, false),
	FIELD("opcodes", LIST, opcodes, false),
	FIELD("not_opcodes", LIST, not_opcodes, false),
	FIELD("instance", NUMBER, instance, false),
	FIELD("bit_plus_one", NUMBER, bit, false),
	FIELD("wall_ms", NUMBER, wall_ms, true),
	FIELD("cpu_ms", NUMBER, cpu_ms, true),
	FIELD("memory", NUMBER, memory, false),
	FIELD("file_size", NUMBER, file_size, false),
	FIELD("trace_size", NUMBER, trace_size, false),
	FIELD("processes", NUMBER, processes, false),
	FIELD("ignore", LIST, ignore, false),
	FIELD("filter", STRING, filter, false),
	FIELD("stderr", FLAG, errors, false),
	FIELD("aslr", FLAG, aslr, false),
	FIELD("keep_traces", STRING, keep, false),
	FIELD("golden_runs", NUMBER, golden_runs, false),
	FIELD("records", NUMBER, records, false),
	FIELD("threads", NUMBER, threads, false),
	FIELD("golden_status", SIGNED, status, true),
	FIELD("golden_wall_us", NUMBER, golden_wall_us, false),
	FIELD("golden_cpu_us", NUMBER, golden_cpu_us, false),
	FIELD("golden_bytes", NUMBER, golden_bytes, false),
	FIELD("forced", FLAG, forced, false),
	FIELD("reversible", STRING, reversible, false),
#undef FIELD
};

enum { FIELDS = sizeof fields / sizeof *fields };

void inject_list_add(struct inject_list *l, const char *item)
{
	RD_ASSERT(item != NULL);
	RD_GROW(l->items, l->capacity, l->count + 2);
	l->items[l->count++] = rd_xstrdup(item);
	l->items[l->count] = NULL;
}

void inject_list_split(struct inject_list *l, const char *text)
{
	for (const char *at = text; at && *at;) {
		size_t n = strcspn(at, ",");
		char *item = rd_xstrndup(at, n);

		if (n)
			inject_list_add(l, item);
		free(item);
		at += at[n] ? n + 1 : n;
	}
}

void inject_list_release(struct inject_list *l)
{
	RD_FREE_EACH(l->items, l->count);
	free(l->items);
	*l = (struct inject_list){0};
}

static void write_list(struct rd_json *j, const char *name, const struct inject_list *l)
{
	rd_json_array(j, name);
	for (size_t i = 0; i < l->count; i++)
		rd_json_string(j, NULL, l->items[i]);
	rd_json_end(j);
}

static void write_field(struct rd_json *j, const struct field *f, const void *at)
{
	switch (f->type) {
	case STRING: rd_json_string(j, f->name, *(char *const *)at); break;
	case LIST: write_list(j, f->name, at); break;
	case NUMBER: rd_json_unsigned(j, f->name, *(const uint64_t *)at); break;
	case SIGNED: rd_json_number(j, f->name, *(const int64_t *)at); break;
	case FLAG: rd_json_bool(j, f->name, *(const bool *)at); break;
	}
}

int inject_setup_write(const struct inject_setup *s, const char *path)
{
	struct rd_buf document = RD_BUF_INIT;
	struct rd_json_text text;
	struct rd_json *j = rd_json_text_begin(&text);

	rd_json_object(j, NULL);
	rd_json_number(j, "version", INJECT_VERSION);
	for (size_t i = 0; i < FIELDS; i++)
		write_field(j, &fields[i], (const char *)s + fields[i].offset);
	rd_json_end(j);
	rd_json_text_end(&text, &document);
	return rd_file_write_buf(path, &document);
}

static bool read_list(const json_t *v, struct inject_list *l)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(v))
		return false;
	json_array_foreach((json_t *)v, i, item)
	{
		if (!json_is_string(item))
			return false;
		inject_list_add(l, json_string_value(item));
	}
	return true;
}

static bool read_field(const struct field *f, const json_t *v, void *at)
{
	switch (f->type) {
	case STRING:
		if (json_is_null(v))
			return !f->needed;
		if (!json_is_string(v))
			return false;
		*(char **)at = rd_xstrdup(json_string_value(v));
		return true;
	case LIST: return read_list(v, at);
	case NUMBER: return rd_json_is_count(v, INT64_MAX, at);
	case SIGNED: *(int64_t *)at = json_integer_value(v); return json_is_integer(v);
	case FLAG: *(bool *)at = json_is_true(v); return json_is_boolean(v);
	}
	return false;
}

static bool check_ranges(const struct inject_setup *s)
{
	return s->argv.count && s->kinds.count && s->kinds.count <= KINDS_MAX && s->faults &&
	       s->faults <= INJECT_FAULTS_MAX && s->runs <= INJECT_RUNS_MAX && s->until < 500000 &&
	       s->window <= INJECT_WINDOW_MAX && s->bit <= 64 && s->bits <= 64 &&
	       s->inputs.count == s->names.count && s->instance <= INT64_MAX &&
	       (!s->process || run_fault_process(&(struct run_fault){0}, s->process, strlen(s->process)));
}

static int read_fields(struct inject_setup *s, const json_t *root, const char *name)
{
	if (json_integer_value(json_object_get(root, "version")) != INJECT_VERSION)
		return rd_fail(RD_EVERSION, "%s: not a campaign of version %d", name, INJECT_VERSION);
	for (size_t i = 0; i < FIELDS; i++) {
		const json_t *v = json_object_get(root, fields[i].name);

		if (!v && !fields[i].needed)
			continue;
		if (!v || !read_field(&fields[i], v, (char *)s + fields[i].offset))
			return rd_fail(RD_EFORMAT, "%s: '%s' is missing or of a wrong type", name,
				       fields[i].name);
	}
	return check_ranges(s)
		       ? 0
		       : rd_fail(RD_EFORMAT, "%s: no arguments, no kinds, or a number out of range", name);
}

int inject_setup_parse(struct inject_setup *s, const char *text, size_t length, const char *name)
{
	RD_ASSERT(s != NULL && name != NULL);
	struct rd_json_read read = {.subject = "campaign", .name = name};
	json_t *root = rd_json_load(&read, text, length);
	int r;

	*s = (struct inject_setup){0};
	if (!root)
		return read.err;
	r = read_fields(s, root, name);
	json_decref(root);
	if (r)
		inject_setup_release(s);
	return r;
}

int inject_setup_read(struct inject_setup *s, const char *path)
{
	return RD_WITH_FILE(path, RD_TEXT_MAX, text, inject_setup_parse(s, text.data, text.length, path));
}

void inject_setup_release(struct inject_setup *s)
{
	for (size_t i = 0; i < FIELDS; i++) {
		void *at = (char *)s + fields[i].offset;

		if (fields[i].type == STRING)
			free(*(char **)at);
		else if (fields[i].type == LIST)
			inject_list_release(at);
	}
	*s = (struct inject_setup){0};
}

void inject_setup_process(const struct inject_setup *s, struct run_fault *f)
{
	f->forks = 0;
	if (s->process && !run_fault_process(f, s->process, strlen(s->process)))
		RD_BUG("a campaign about no process");
}
