/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path comes in, STD text goes out: the file as it is, what a pipe delivers, or
 * what the program that unpacks such a file makes of it.  Traces of this kind are mostly passed
 * around packed, because the text is ten times as long.
 */
#include "trace/std.h"

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "trace/reader.h"

#include <string.h>
#include <sys/stat.h>

static const struct {
	const char *magic;
	size_t length;
	const char *program;
} packers[] = {
	{"\x1f\x8b", 2, "gzip"},
	{"\x28\xb5\x2f\xfd", 4, "zstd"},
	{"\xfd"
	 "7zXZ",
	 5, "xz"},
	{"BZh", 3, "bzip2"},
};

static const char *find_packer(const void *data, size_t length)
{
	for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
		if (length >= packers[i].length && memcmp(data, packers[i].magic, packers[i].length) == 0)
			return packers[i].program;
	return NULL;
}

/* The text.  To be closed also after a failure. */
struct std_text {
	const char *data;
	size_t length;
	struct rd_map map;
	struct rd_buf buffer;
};

static int unpack(struct std_text *t, const char *program, const char *path)
{
	char *argv[] = {(char *)program, (char *)"-dc", (char *)"--", (char *)path, NULL};
	int status = rd_run_capture(argv, &t->buffer);
	if (status < 0)
		return status;
	if (status > 0)
		return rd_fail(RD_EFORMAT, "std: %s: %s cannot unpack it", path, program);
	t->data = t->buffer.data;
	t->length = t->buffer.length;
	return RD_OK;
}

static int open_text(struct std_text *t, const char *path)
{
	struct stat st;
	*t = (struct std_text){.buffer = RD_BUF_INIT};
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		int err = rd_file_read(path, &t->buffer);
		t->data = t->buffer.data;
		t->length = t->buffer.length;
		return err;
	}
	int err = rd_map_open(&t->map, path);
	if (err)
		return err;
	const char *packer = find_packer(t->map.data, t->map.length);
	if (packer)
		return unpack(t, packer, path);
	t->data = (const char *)t->map.data;
	t->length = t->map.length;
	return RD_OK;
}

static void close_text(struct std_text *t)
{
	rd_buf_release(&t->buffer);
	rd_map_close(&t->map);
}

bool trace_is_std(const struct trace *trace)
{
	const struct trace_meta *meta = trace_get_meta(trace);
	return meta->flavour && strcmp(meta->flavour, TRACE_STD_FLAVOUR) == 0;
}

int trace_std_import_file(const char *path, const char *directory, bool force)
{
	struct trace_std_opts opts = {.name = path, .force = force};
	struct std_text text;
	uint64_t events;
	int err = open_text(&text, path);
	if (!err)
		err = trace_std_import(text.data, text.length, directory, &opts, &events);
	close_text(&text);
	return err;
}
