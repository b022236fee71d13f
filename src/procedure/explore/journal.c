// SPDX-License-Identifier: Apache-2.0
/*
 * The journal of an exploration.  In: notes of runs.  Out: a log from which another exploration can
 * continue, because it contains everything that this one learned.
 */
#include "explore/journal-int.h"

#include "base/error.h"
#include "base/file.h"
#include "explore/log.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

/* Returns a digest of a site table.  If two programs have the same digest, their site numbers have
 * the same meaning. */
static uint64_t digest_sites(const struct trace_sites *sites)
{
	uint64_t digest = 0;

	for (size_t i = 0; sites && i < sites->site_count; i++) {
		const struct trace_site *s = &sites->sites[i];
		uint32_t what[] = {s->n, s->kind, s->line, s->column, s->size};

		digest = XXH64(what, sizeof what, digest);
	}
	return digest;
}

static struct log_head head_of(const struct explore *how)
{
	char **argv = how->runs.program->argv;
	struct log_head head = {.argv = (const char **)argv,
				.program = digest_sites(how->runs.program->sites),
				.seed = how->seed,
				.strategy = how->strategy,
				.points = how->points,
				.fail_if = how->fail_if,
				.with = how->runs.companion,
				.setup = how->runs.setup};

	while (argv[head.argc])
		head.argc++;
	return head;
}

static void learn_old_note(void *context, const struct note *n)
{
	struct journal *j = context;

	explore_learn(j->state, n);
	rd_umap_put(&j->state->done, n->number, NULL);
}

static int open_log(struct journal *j, const char *path, int flags)
{
	j->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0666);
	return j->fd < 0 ? rd_fail_errno("cannot write %s", path) : RD_OK;
}

static int begin_log(struct journal *j, const char *path)
{
	const struct log_head head = head_of(j->state->how);
	struct rd_buf line = RD_BUF_INIT;
	int err = open_log(j, path, O_TRUNC);

	log_put_head(&head, &line);
	if (!err && rd_write_all(j->fd, line.data, line.length))
		err = rd_fail_errno("cannot write %s", path);
	rd_buf_release(&line);
	return err;
}

/* Learns from a log.  A log that does not exist is treated as empty. */
static int read_log(struct journal *j, const char *path, uint64_t *length)
{
	const struct log_head now = head_of(j->state->how);
	struct log_head then = {0};
	int err;

	*length = 0;
	if (!rd_file_exists(path))
		return RD_OK;
	err = log_read(path, &then, j->arena, learn_old_note, j, length);
	if (!err && then.program != now.program)
		err = rd_fail(RD_EUSAGE, "%s: the program has changed; explore it without --resume", path);
	return err;
}

static int read_shards(struct journal *j)
{
	char *pattern = rd_xasprintf("%s.[0-9]*", j->state->how->log);
	glob_t found = {0};
	uint64_t length;
	int err = RD_OK, missing = glob(pattern, 0, NULL, &found);

	for (size_t i = 0; !missing && i < found.gl_pathc && !err; i++)
		err = read_log(j, found.gl_pathv[i], &length);
	globfree(&found);
	free(pattern);
	return err;
}

/* Continues a log.  A shard also reads the main log, and writes its own log beside it. */
static int resume_log(struct journal *j)
{
	const struct explore *how = j->state->how;
	char *path = how->shards ? rd_xasprintf("%s.%u", how->log, how->shard) : rd_xstrdup(how->log);
	uint64_t length;
	int err = read_log(j, how->log, &length);

	if (!err)
		err = how->shards ? read_log(j, path, &length) : read_shards(j);
	if (!err)
		err = length ? open_log(j, path, 0) : begin_log(j, path);
	if (!err && length && ftruncate(j->fd, (off_t)length))
		err = rd_fail_errno("cannot write %s", path);
	while (rd_umap_get(&j->state->done, explore_number(j->state, j->state->given)))
		j->state->given++;
	free(path);
	return err;
}

static void remove_shards(const char *log)
{
	char *pattern = rd_xasprintf("%s.[0-9]*", log);
	glob_t found = {0};
	int missing = glob(pattern, 0, NULL, &found);

	for (size_t i = 0; !missing && i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
	free(pattern);
}

int journal_open(struct journal *j, struct explore_state *state, struct rd_arena *arena)
{
	const struct explore *how = state->how;

	*j = (struct journal){.state = state, .arena = arena, .fd = -1};
	if (!how->log)
		return RD_OK;
	if (how->resume)
		return resume_log(j);
	remove_shards(how->log);
	return begin_log(j, how->log);
}

int journal_close(struct journal *j)
{
	if (j->fd >= 0 && close(j->fd))
		return rd_fail_errno("cannot write %s", j->state->how->log);
	return RD_OK;
}

/* Learns from the notes of an answer, and appends their lines to `lines`, unless it is NULL. */
static void learn_notes(struct journal *j, const char *answer, size_t length, struct rd_buf *lines)
{
	const char *at = answer, *end = answer + length;
	struct note n;

	while (at < end && note_get(&n, &at, end, j->arena)) {
		explore_learn_new(j->state, &n);
		if (lines)
			log_put_note(&n, lines);
	}
}

void journal_learn(struct journal *j, const char *answer, size_t length)
{
	learn_notes(j, answer, length, NULL);
}

int journal_take(struct journal *j, const char *answer, size_t length)
{
	struct rd_buf lines = RD_BUF_INIT;
	int err = RD_OK;

	learn_notes(j, answer, length, j->fd >= 0 ? &lines : NULL);
	if (lines.length && rd_write_all(j->fd, lines.data, lines.length))
		err = rd_fail_errno("cannot write %s", j->state->how->log);
	rd_buf_release(&lines);
	return err;
}
