// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any directory as a trace.  The input is a list of two-byte commands that change a valid
 * directory: they remove, swap, overwrite or truncate files, change a byte, or replace a file by a
 * link, a FIFO, a directory or a device.  Whatever results, every reader of traces must end with an
 * error or a result.
 */
#include "model/export.h"
#include "model/model.h"
#include "test/fuzz/scratch.h"
#include "trace/check.h"
#include "trace/writer.h"

#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define TRACE SCRATCH "/d"

enum { THREADS = 3, ORDERS_MAX = 32 };

static const char *const names[] = {"meta.json", "sites",    "thread-0", "thread-1",
				    "thread-2",	 "thread-3", "fork-0",	 "."};
#define NAMES (sizeof names / sizeof *names)

static const char table[] = "raddle-sites\t1\n"
			    "U\t0\t1\tunit.c\n"
			    "F\t0\tunit.c\n"
			    "S\t1\tr\t4\t-\t0\t1\t1\tf\tx\tint\n";

static void no_note(void *context, const struct trace_lane *lane, const char *text)
{
	(void)context;
	(void)lane;
	(void)text;
}

static void write_trace(void)
{
	static const char records[] = {(char)RADDLE_RESET};
	struct trace_meta meta = {.complete = true, .threads = THREADS};
	struct trace_writer *w = NULL;
	char *text = rd_xasprintf("%send\t3\t%016llx\n", table,
				  (unsigned long long)XXH64(table, strlen(table), 0));

	rd_remove_tree(TRACE);
	RD_ASSERT(trace_writer_open(&w, TRACE) == RD_OK);
	for (uint32_t thread = 0; thread < THREADS; thread++)
		trace_writer_chunk(w, thread, records, sizeof records);
	trace_writer_meta(w, &meta);
	trace_writer_close(w);
	RD_ASSERT(rd_file_write(TRACE "/sites", text, strlen(text)) == RD_OK);
	free(text);
}

static void copy(const char *from, const char *to)
{
	struct rd_buf b = RD_BUF_INIT;

	if (rd_file_read_max(from, 1 << 20, &b) == RD_OK)
		rd_file_write(to, b.data, b.length);
	rd_buf_release(&b);
}

static void swap(const char *a, const char *b)
{
	if (rename(a, TRACE "/aside") == 0) {
		rename(b, a);
		rename(TRACE "/aside", b);
	}
}

/* Damages a file.  The command may also name a directory, which is left alone. */
static void damage(const char *path, uint8_t at, bool cut)
{
	struct stat st;
	int fd = lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_WRONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	if (cut)
		RD_ASSERT(ftruncate(fd, at) == 0);
	else
		RD_ASSERT(pwrite(fd, &at, 1, at) == 1);
	close(fd);
}

static void follow(uint8_t order, uint8_t detail)
{
	char *a = rd_xasprintf(TRACE "/%s", names[(order >> 4) % (NAMES - 1)]);
	char *b = rd_xasprintf(TRACE "/%s", names[detail % NAMES]);

	switch (order & 15) {
	case 0: rd_remove_tree(a); break;
	case 1: swap(a, b); break;
	case 2: copy(a, b); break;
	case 3:
		rd_remove_tree(a);
		RD_ASSERT(symlink(names[detail % NAMES], a) == 0);
		break;
	case 4:
		rd_remove_tree(a);
		RD_ASSERT(symlink(detail & 1 ? "/dev/zero" : "/dev/full", a) == 0);
		break;
	case 5:
		rd_remove_tree(a);
		RD_ASSERT(mkfifo(a, 0600) == 0);
		break;
	case 6:
		rd_remove_tree(a);
		RD_ASSERT(mkdir(a, 0700) == 0);
		break;
	case 7: damage(a, detail, true); break;
	case 8: damage(a, detail, false); break;
	case 9: link(a, b); break;
	default: break;
	}
	free(a);
	free(b);
}

static void read_trace(bool force)
{
	struct model_std_opts opts = {.all = true};
	struct trace_check_result result;
	struct trace *trace = NULL;
	struct model *model = NULL;
	FILE *out;

	if (trace_open(&trace, TRACE, force) != RD_OK)
		return;
	out = fopen("/dev/null", "w");
	RD_ASSERT(out);
	trace_check(trace, no_note, NULL, &result);
	if (model_build(&model, trace, MODEL_HISTORIES) == RD_OK)
		model_free(model);
	model_export_std(trace, out, &opts);
	fclose(out);
	trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	rd_log_set(rd_log_discard, NULL);
	scratch_make();
	write_trace();
	for (size_t i = 0; i + 1 < size && i < 2 * ORDERS_MAX; i += 2)
		follow(data[i], data[i + 1]);
	read_trace(false);
	read_trace(true);
	return 0;
}
