/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads STD text from a file or pipe, and decompresses it if necessary.  STD traces are mostly
 * exchanged in compressed form, because the plain text is about ten times as large.
 */
#include "trace/std.h"

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "trace/reader.h"

#include <string.h>
#include <sys/stat.h>

/* The largest text, in bytes, that is read instead of mapped.  It limits memory. */
#define TEXT_MAX (UINT64_C(8) << 30)
/* Any compressed file may grow to this many bytes, however small it is. */
#define EXPANSION_FREE (UINT64_C(64) << 20)
/* The limit for larger compressed files: the text may be at most this many times as long as the
 * file.  The limit rejects decompression bombs. */
#define EXPANSION_MAX 200
/* The largest length of a line in bytes; set by hand, far above any real line. */
#define LINE_MAX_BYTES (1 << 20)

/* The programs that decompress files.  A file itself determines how much memory xz needs, so xz
 * runs with a memory limit. */
static const struct packer {
	const char *magic;
	size_t length;
	const char *program, *options;
} packers[] = {
	{"\x1f\x8b", 2, "gzip", "-dc"},
	{"\x28\xb5\x2f\xfd", 4, "zstd", "-dc"},
	{"\xfd"
	 "7zXZ",
	 5, "xz", "-dcM1GiB"},
	{"BZh", 3, "bzip2", "-dc"},
};

static const struct packer *find_packer(const void *data, size_t length)
{
	for (size_t i = 0; i < sizeof packers / sizeof *packers; i++)
		if (length >= packers[i].length && memcmp(data, packers[i].magic, packers[i].length) == 0)
			return &packers[i];
	return NULL;
}

/* The text of a file.  It must be closed even after a failure. */
struct std_text {
	const char *data;
	size_t length;
	struct rd_map map;
	struct rd_buf buffer;
};

/* Returns the largest size, in bytes, that the text of a compressed file may have.  The limit is
 * large enough for traces, but rejects decompression bombs. */
static uint64_t unpacked_max(uint64_t packed)
{
	return packed > TEXT_MAX / EXPANSION_MAX ? TEXT_MAX : EXPANSION_FREE + packed * EXPANSION_MAX;
}

static int unpack(struct std_text *t, const struct packer *p, const char *path)
{
	char *argv[] = {(char *)p->program, (char *)p->options, (char *)"--", (char *)path, NULL};
	int status = rd_run_capture(argv, unpacked_max(t->map.length), &t->buffer);
	if (status < 0)
		return status;
	if (status > 0)
		return rd_fail(RD_EFORMAT, "std: %s: %s cannot unpack it", path, p->program);
	t->data = t->buffer.data;
	t->length = t->buffer.length;
	return RD_OK;
}

/* Rejects input without line ends, such as the hole of a sparse file, before it is read
 * completely. */
static int check_lines(const struct std_text *t, const char *path)
{
	const char *end = t->data + t->length;

	for (const char *line = t->data, *next; line < end; line = next) {
		size_t most = (size_t)(end - line) < LINE_MAX_BYTES ? (size_t)(end - line) : LINE_MAX_BYTES;

		next = memchr(line, '\n', most);
		if (!next && most == LINE_MAX_BYTES)
			return rd_fail(RD_ELIMIT, "std: %s: offset 0x%zx: a line of more than %d bytes", path,
				       (size_t)(line - t->data), LINE_MAX_BYTES);
		next = next ? next + 1 : end;
	}
	return RD_OK;
}

static int open_mapped(struct std_text *t, const char *path)
{
	int err = rd_map_open(&t->map, path);
	const struct packer *packer = err ? NULL : find_packer(t->map.data, t->map.length);

	if (packer)
		return unpack(t, packer, path);
	t->data = (const char *)t->map.data;
	t->length = t->map.length;
	return err;
}

static int open_text(struct std_text *t, const char *path)
{
	struct stat st;
	int err;
	*t = (struct std_text){.buffer = RD_BUF_INIT};
	if (stat(path, &st) == 0 && S_ISFIFO(st.st_mode)) {
		err = rd_file_read_max(path, TEXT_MAX, &t->buffer);
		t->data = t->buffer.data;
		t->length = t->buffer.length;
	} else {
		err = open_mapped(t, path);
	}
	return err ? err : check_lines(t, path);
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
