// SPDX-License-Identifier: Apache-2.0
/*
 * Parts of a log.  Each line is appended by one write().  After a line, the file is synchronised
 * with the disk, but at most once a second.  So a power failure loses only the latest runs, and a
 * killed process loses none.
 */
#include "inject/part-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "inject/campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Minimum time, in nanoseconds, between two calls of fdatasync(); set by hand. */
#define SYNC_NS 1000000000

static int ignore_line(void *context, const struct runlog_run *run, const char *text, size_t length)
{
	(void)context;
	(void)run;
	(void)text;
	(void)length;
	return 0;
}

static int lock_part(const struct inject_part *p)
{
	if (!flock(p->fd, LOCK_EX | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? rd_fail(RD_EUSAGE, "%s: another raddle inject is writing it", p->path)
				    : rd_fail_errno("cannot lock %s", p->path);
}

int inject_part_open(struct inject_part *p, const char *directory, int shard)
{
	uint64_t length;
	int r;

	p->path = shard < 0 ? rd_xasprintf("%s/log", directory) : rd_xasprintf("%s/log.%d", directory, shard);
	p->fd = open(p->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	p->synced_ns = rd_now_ns();
	if (p->fd < 0)
		return rd_fail_errno("cannot write %s", p->path);
	r = lock_part(p);
	if (!r)
		r = inject_log_read(p->path, ignore_line, NULL, &length);
	if (!r && ftruncate(p->fd, (off_t)length))
		r = rd_fail_errno("cannot write %s", p->path);
	return r;
}

int inject_part_add(struct inject_part *p, const char *line, size_t length)
{
	RD_ASSERT(length > 0);
	int64_t now = rd_now_ns();

	if (rd_write_all(p->fd, line, length))
		return rd_fail_errno("cannot write %s", p->path);
	if (now - p->synced_ns > SYNC_NS) {
		fdatasync(p->fd);
		p->synced_ns = now;
	}
	return 0;
}

int inject_part_close(struct inject_part *p)
{
	int r = 0;

	if (p->fd >= 0 && (fdatasync(p->fd) | close(p->fd)))
		r = rd_fail_errno("cannot write %s", p->path);
	free(p->path);
	return r;
}

int inject_part_read_all(const char *directory, inject_line_fn *fn, void *context)
{
	char *log = rd_xasprintf("%s/log", directory);
	uint64_t length;
	glob_t found = {0};
	int r = inject_log_read(log, fn, context, &length);

	if (!r)
		r = runlog_shards(directory, &found);
	for (size_t i = 0; i < found.gl_pathc && !r; i++)
		r = inject_log_read(found.gl_pathv[i], fn, context, &length);
	globfree(&found);
	free(log);
	return r;
}

/* ---- merging ---- */

struct merge {
	struct inject_part log;
	uint8_t *seen;
	size_t count;
};

static int note_seen(void *context, const struct runlog_run *run, const char *text, size_t length)
{
	struct merge *m = context;
	uint64_t number = run->run;

	(void)text;
	(void)length;
	if (number > 1u << 30)
		return rd_fail(RD_ELIMIT, "%s: run number %llu is too large", m->log.path,
			       (unsigned long long)number);
	if (number >= m->count) {
		size_t count = (size_t)number * 2 + 1024;
		m->seen = rd_xrealloc(m->seen, count);
		memset(m->seen + m->count, 0, count - m->count);
		m->count = count;
	}
	m->seen[number]++;
	return 0;
}

static int add_new(void *context, const struct runlog_run *run, const char *text, size_t length)
{
	struct merge *m = context;
	uint64_t number = run->run;

	if (number < m->count && m->seen[number])
		return 0;
	note_seen(m, run, text, length);
	return inject_part_add(&m->log, text, length);
}

/* Appends to the log the lines of those runs that it does not contain yet, and then removes the
 * part. */
static int merge_part(struct merge *m, const char *path)
{
	struct inject_part part = {.path = rd_xstrdup(path)};
	uint64_t length;
	int r;

	part.fd = open(path, O_WRONLY | O_CLOEXEC);
	r = part.fd < 0 ? rd_fail_errno("cannot write %s", path) : lock_part(&part);
	if (!r)
		r = inject_log_read(path, add_new, m, &length);
	if (!r && (fdatasync(m->log.fd) || unlink(path)))
		r = rd_fail_errno("cannot merge %s into the log", path);
	if (part.fd >= 0)
		close(part.fd);
	free(part.path);
	return r;
}

int inject_campaign_merge(const char *directory)
{
	struct merge m = {0};
	glob_t found = {0};
	uint64_t length;
	int r = runlog_shards(directory, &found);

	if (r || !found.gl_pathc) {
		globfree(&found);
		return r;
	}
	r = inject_part_open(&m.log, directory, -1);
	if (!r)
		r = inject_log_read(m.log.path, note_seen, &m, &length);
	for (size_t i = 0; i < found.gl_pathc && !r; i++)
		r = merge_part(&m, found.gl_pathv[i]);
	if (inject_part_close(&m.log) && !r)
		r = RD_ESYSTEM;
	globfree(&found);
	free(m.seen);
	return r;
}
