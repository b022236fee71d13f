/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes meta.json.  The writer is the streaming writer of base/, which turns any bytes
 * into valid UTF-8.  The reader is base/json-read.h.
 */
#include "trace/meta.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json-read.h"
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void trace_meta_time(char out[TRACE_TIME_SIZE], int64_t realtime_ns)
{
	time_t seconds = realtime_ns / 1000000000;
	struct tm tm;
	gmtime_r(&seconds, &tm);
	size_t n = strftime(out, TRACE_TIME_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, TRACE_TIME_SIZE - n, ".%09dZ", (int)(realtime_ns % 1000000000));
}

static void put_parent(struct rd_json *j, const struct trace_meta *m)
{
	if (!m->forked) {
		rd_json_null(j, "parent");
		return;
	}
	rd_json_object(j, "parent");
	rd_json_number(j, "pid", m->parent_pid);
	rd_json_unsigned(j, "fork", m->fork_index);
	rd_json_end(j);
}

static void put_status(struct rd_json *j, const struct trace_meta *m)
{
	if (m->end == TRACE_RUNNING) {
		rd_json_null(j, "status");
		return;
	}
	rd_json_object(j, "status");
	rd_json_number(j, m->end == TRACE_EXITED ? "exit" : "signal", m->code);
	if (m->end == TRACE_SIGNALLED)
		rd_json_bool(j, "core", m->core);
	rd_json_end(j);
}

static void put_left_out(struct rd_json *j, const struct trace_meta *m)
{
	if (!m->left_from) {
		rd_json_null(j, "left_out");
		return;
	}
	rd_json_object(j, "left_out");
	RD_JSON(j, RD_JU("accesses", m->left_out), RD_JU("from", m->left_from));
	rd_json_end(j);
}

static void put_document(struct rd_json *j, const struct trace_meta *m)
{
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("format", "raddle-trace"), RD_JN("version", TRACE_FORMAT_VERSION),
		RD_JS("raddle", m->raddle ? m->raddle : RADDLE_VERSION), RD_JS("program", m->program));
	rd_json_strings(j, "argv", (const char *const *)m->argv, m->argc);
	rd_json_string(j, "cwd", m->cwd);
	rd_json_number(j, "pid", m->pid);
	put_parent(j, m);
	RD_JSON(j, RD_JS("start", m->start), RD_JU("start_ns", m->start_ns), RD_JU("end_ns", m->end_ns));
	put_status(j, m);
	RD_JSON(j, RD_JB("stood", m->stood), RD_JB("complete", m->complete), RD_JS("stopped", m->stopped),
		RD_JU("threads", m->threads), RD_JU("events", m->events), RD_JU("bytes", m->bytes));
	put_left_out(j, m);
	rd_json_object(j, "flavour");
	RD_JSON(j, RD_JS("name", m->flavour), RD_JS("mode", m->mode), RD_JS("key", m->key));
	rd_json_end(j);
	rd_json_object(j, "machine");
	rd_json_string(j, "kernel", m->kernel);
	rd_json_unsigned(j, "cpus", m->cpus);
	rd_json_end(j);
	rd_json_end(j);
}

int trace_meta_write(const struct trace_meta *meta, const char *path)
{
	RD_ASSERT(path != NULL);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		return rd_fail_errno("trace: %s", path);
	struct rd_json j;
	rd_json_begin(&j, out);
	put_document(&j, meta);
	fputc('\n', out);
	int err = fclose(out) == 0 ? RD_OK : rd_fail_errno("trace: %s", path);
	if (!err)
		err = rd_file_write(path, text, length);
	int saved = errno;
	free(text);
	errno = saved;
	return err;
}

static char *get_string(struct rd_json_read *p, json_t *object, const char *key)
{
	const char *text = rd_json_get_text(p, object, key);
	return text ? rd_xstrdup(text) : NULL;
}

static uint64_t get_number(struct rd_json_read *p, json_t *object, const char *key)
{
	return (uint64_t)rd_json_get_signed(p, object, key);
}

static void get_argv(struct rd_json_read *p, struct trace_meta *m, json_t *root)
{
	json_t *argv = rd_json_member(p, root, "argv", JSON_ARRAY);
	size_t count = json_array_size(argv);
	m->argv = rd_xcalloc(count + 1, sizeof *m->argv);
	for (; m->argc < count && !p->err; m->argc++)
		m->argv[m->argc] = rd_xstrdup(rd_json_get_item(p, argv, "argv", m->argc));
}

static void get_status(struct rd_json_read *p, struct trace_meta *m, json_t *root)
{
	json_t *status = rd_json_member(p, root, "status", JSON_OBJECT);
	if (!status)
		return;
	m->end = json_object_get(status, "signal") ? TRACE_SIGNALLED : TRACE_EXITED;
	m->code = (int)rd_json_get_signed(p, status, m->end == TRACE_SIGNALLED ? "signal" : "exit");
	m->core = rd_json_get_bool(p, status, "core");
}

static void get_document(struct rd_json_read *p, struct trace_meta *m, json_t *root)
{
	m->raddle = get_string(p, root, "raddle");
	m->program = get_string(p, root, "program");
	get_argv(p, m, root);
	m->cwd = get_string(p, root, "cwd");
	m->pid = rd_json_get_signed(p, root, "pid");
	json_t *parent = rd_json_member(p, root, "parent", JSON_OBJECT);
	if (parent) {
		m->forked = true;
		m->parent_pid = rd_json_get_signed(p, parent, "pid");
		m->fork_index = get_number(p, parent, "fork");
	}
	m->start = get_string(p, root, "start");
	m->start_ns = get_number(p, root, "start_ns");
	m->end_ns = get_number(p, root, "end_ns");
	get_status(p, m, root);
	m->stood = rd_json_get_bool(p, root, "stood");
	m->complete = rd_json_get_bool(p, root, "complete");
	m->stopped = get_string(p, root, "stopped");
	m->threads = get_number(p, root, "threads");
	m->events = get_number(p, root, "events");
	m->bytes = get_number(p, root, "bytes");
	json_t *left_out = rd_json_member(p, root, "left_out", JSON_OBJECT);
	if (left_out) {
		m->left_out = get_number(p, left_out, "accesses");
		m->left_from = get_number(p, left_out, "from");
	}
	json_t *flavour = rd_json_member(p, root, "flavour", JSON_OBJECT);
	m->flavour = get_string(p, flavour, "name");
	m->mode = get_string(p, flavour, "mode");
	m->key = get_string(p, flavour, "key");
	json_t *machine = rd_json_member(p, root, "machine", JSON_OBJECT);
	m->kernel = get_string(p, machine, "kernel");
	m->cpus = get_number(p, machine, "cpus");
}

static int check_version(json_t *root, const char *name)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	if (!format || strcmp(format, "raddle-trace") != 0)
		return rd_fail(RD_EFORMAT, "trace: %s: \"format\" is not \"raddle-trace\"", name);
	json_int_t version = json_integer_value(json_object_get(root, "version"));
	if (version != TRACE_FORMAT_VERSION)
		return rd_fail(RD_EVERSION, "trace: %s: format version %lld, this Raddle reads %d", name,
			       (long long)version, TRACE_FORMAT_VERSION);
	return RD_OK;
}

int trace_meta_parse(struct trace_meta *meta, const char *text, size_t length, const char *name)
{
	RD_ASSERT(name != NULL);
	struct rd_json_read p = {.subject = "trace", .name = name};
	struct trace_meta m = {0};
	json_t *root = rd_json_load(&p, text, length);
	if (!root)
		return p.err;
	p.err = check_version(root, name);
	if (!p.err)
		get_document(&p, &m, root);
	json_decref(root);
	if (p.err)
		trace_meta_release(&m);
	else
		*meta = m;
	return p.err;
}

int trace_meta_read(struct trace_meta *meta, const char *path)
{
	return RD_WITH_FILE(path, RD_TEXT_MAX, text, trace_meta_parse(meta, text.data, text.length, path));
}

void trace_meta_release(struct trace_meta *m)
{
	RD_FREE_EACH(m->argv, m->argc);
	RD_FREE(m->argv, m->raddle, m->program, m->cwd, m->start, m->stopped, m->flavour, m->mode, m->key,
		m->kernel);
	memset(m, 0, sizeof *m);
}
