// SPDX-License-Identifier: Apache-2.0
/*
 * Runs classification as jobs on a Slurm cluster.  In: the user's command.  Out: files in a
 * directory that all machines share.  The file `command` contains the working directory and the
 * words of the command, each terminated by a NUL.  The file `stdin` contains the input.  Each shard
 * writes a document of findings, `part.I.json`.
 */
#include "classify/shards.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "finding/load.h"
#include "run/slurm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Maximum size of the file `command` in bytes.  This is more than the kernel accepts as a command
 * line. */
#define COMMAND_MAX (16u << 20)

char *classify_shard_path(const char *directory, unsigned number)
{
	return rd_xasprintf("%s/part.%u.json", directory, number);
}

/* ---- the command ---- */

/* Saves standard input, unless it is a terminal.  It is read once, for all shards. */
static int save_input(const char *directory)
{
	char *path = rd_xasprintf("%s/stdin", directory);
	struct rd_buf text = RD_BUF_INIT;
	char block[65536];
	ssize_t n;
	int err = RD_OK;

	unlink(path);
	if (!isatty(STDIN_FILENO)) {
		while ((n = read(STDIN_FILENO, block, sizeof block)) > 0)
			rd_buf_add(&text, block, (size_t)n);
		err = n < 0 ? rd_fail_errno("cannot read standard input")
			    : rd_file_write(path, text.data, text.length);
	}
	rd_buf_release(&text);
	free(path);
	return err;
}

int classify_shards_save(const char *directory, char *const *words)
{
	struct rd_buf text = RD_BUF_INIT;
	char *here = getcwd(NULL, 0), *path = rd_xasprintf("%s/command", directory);
	int err = here ? rd_mkdirs(directory) : rd_fail_errno("cannot determine the working directory");

	for (unsigned i = 0; i < RUN_SLURM_SHARDS_MAX; i++) {
		char *part = classify_shard_path(directory, i);

		unlink(part);
		free(part);
	}
	if (here)
		rd_buf_add(&text, here, strlen(here) + 1);
	for (; *words; words++)
		rd_buf_add(&text, *words, strlen(*words) + 1);
	if (!err)
		err = rd_file_write(path, text.data, text.length);
	if (!err)
		err = save_input(directory);
	free(here);
	free(path);
	rd_buf_release(&text);
	return err;
}

static int open_input(struct classify_shard *s)
{
	char *path = rd_xasprintf("%s/stdin", s->directory);
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = RD_OK;

	s->terminal = fd < 0 && errno == ENOENT;
	if (!s->terminal && (fd < 0 || dup2(fd, STDIN_FILENO) < 0))
		err = rd_fail_errno("cannot read %s", path);
	if (fd >= 0)
		close(fd);
	free(path);
	return err;
}

static int take_words(const char *path, const struct rd_buf *text, struct rd_argv *words)
{
	const char *at = text->data, *end = text->data + text->length;

	if (!text->length || end[-1] != 0)
		return rd_fail(RD_EFORMAT, "%s: damaged", path);
	if (chdir(at))
		return rd_fail_errno("cannot change to the directory %s", at);
	for (at += strlen(at) + 1; at < end; at += strlen(at) + 1)
		rd_argv_add(words, at);
	return words->count ? RD_OK : rd_fail(RD_EFORMAT, "%s: damaged", path);
}

int classify_shard_load(struct classify_shard *s, struct rd_argv *words)
{
	char *path = rd_xasprintf("%s/command", s->directory);
	int err = open_input(s);

	if (!err)
		err = RD_WITH_FILE(path, COMMAND_MAX, text, take_words(path, &text, words));
	free(path);
	return err;
}

/* ---- collecting the results of shards ---- */

static void take_finding(struct finding_set *set, struct finding *now)
{
	for (size_t i = 0; i < set->count; i++)
		if (!strcmp(set->items[i]->id, now->id)) {
			now->announced = set->items[i]->announced;
			set->items[i] = now;
			return;
		}
	RD_GROW(set->items, set->capacity, set->count + 1);
	set->items[set->count++] = now;
}

static int collect(const char *path, struct finding_set *set, struct classify_result *r)
{
	struct finding_set *part = NULL;
	int err = finding_load(path, &part);

	if (err)
		return err;
	for (size_t i = 0; i < part->count && !err; i++)
		err = finding_load_schedule(part, part->items[i]);
	for (size_t i = 0; i < part->count && !err; i++)
		take_finding(set, part->items[i]);
	r->classified += finding_stat_value(part, "classified");
	r->undecided += finding_stat_value(part, "undecided");
	r->untried += finding_stat_value(part, "unclassified");
	r->runs += finding_stat_value(part, "classify_runs");
	r->misfits += finding_stat_value(part, "classify_misfits");
	RD_GROW(r->sets, r->set_capacity, r->set_count + 1);
	r->sets[r->set_count++] = part;
	return err;
}

int classify_shards_collect(const char *directory, struct finding_set *set, struct classify_result *result)
{
	int err = RD_OK;

	for (unsigned i = 0; i < RUN_SLURM_SHARDS_MAX && !err; i++) {
		char *path = classify_shard_path(directory, i);

		if (rd_file_exists(path))
			err = collect(path, set, result);
		free(path);
	}
	return err;
}
