// SPDX-License-Identifier: Apache-2.0
/*
 * The files that a run wrote, and what it sent.  In: the names of files and the datagrams that the
 * runtime noted.  Out: two streams of the trial, which are compared by line.
 *
 * Invariants:
 * 1. Each file appears once, and files are sorted by name, so the order in which they were opened
 *    does not matter.
 * 2. A file that does not exist any more does not appear.
 */
#include "trial/files-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* The first SHOWN_MAX bytes of a file are compared by line.  Of the next DIGEST_MAX bytes, a digest is
 * compared.  The size is always compared.  Both values were chosen by hand. */
#define SHOWN_MAX (1u << 20)
#define DIGEST_MAX (64u << 20)
#define BLOCK_SIZE 65536 /* bytes that are read at once */

/* ---- the lock ---- */

void files_setup(struct trial_shared *s)
{
	pthread_mutexattr_t how;

	pthread_mutexattr_init(&how);
	pthread_mutexattr_setpshared(&how, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&s->files, &how);
	pthread_mutexattr_destroy(&how);
}

void files_lock(struct trial_shared *s)
{
	if (pthread_mutex_lock(&s->files) == EOWNERDEAD)
		pthread_mutex_consistent(&s->files);
}

bool files_are_written(const struct replay_result *r)
{
	for (size_t i = 0; i < r->written_count; i++)
		if (r->written[i].file)
			return true;
	return false;
}

/* ---- streams ---- */

static struct trial_text keep(struct rd_buf *text, struct rd_arena *arena)
{
	struct trial_text kept = {rd_arena_copy(arena, text->data, text->length), text->length};

	rd_buf_release(text);
	return kept;
}

static void end_line(struct rd_buf *text)
{
	if (text->length && text->data[text->length - 1] != '\n')
		rd_buf_addc(text, '\n');
}

void files_read_sent(const struct replay_result *r, struct trial *t, struct rd_arena *arena)
{
	struct rd_buf text = RD_BUF_INIT;

	if (r->outside.sent_length)
		rd_buf_add(&text, r->outside.sent, r->outside.sent_length);
	for (size_t i = 0; i < r->written_count; i++) {
		const struct replay_written *w = &r->written[i];

		if (w->file)
			continue;
		end_line(&text);
		rd_buf_addf(&text, "to %s:\n", w->name);
		rd_buf_add(&text, w->sent, w->sent_length);
	}
	t->text[TRIAL_SENT] = keep(&text, arena);
}

/* Appends a line with the size of the file and a digest of its bytes from `at` on. */
static void add_rest(struct rd_buf *out, int fd, off_t at, off_t size)
{
	off_t end = size - at > DIGEST_MAX ? at + DIGEST_MAX : size;
	XXH64_state_t *digest = XXH64_createState();
	char *block = rd_xmalloc(BLOCK_SIZE);
	ssize_t n;

	XXH64_reset(digest, 0);
	while (at < end && (n = pread(fd, block, BLOCK_SIZE, at)) > 0) {
		XXH64_update(digest, block, (size_t)n);
		at += n;
	}
	end_line(out);
	rd_buf_addf(out, "... (%" PRIu64 " bytes in all, the digest of the others is %016" PRIx64 ")\n",
		    (uint64_t)size, (uint64_t)XXH64_digest(digest));
	XXH64_freeState(digest);
	free(block);
}

/* Appends the content of a file from the offset `from` on. */
static void add_content(struct rd_buf *out, int fd, off_t from, off_t size)
{
	off_t end = size - from > SHOWN_MAX ? from + SHOWN_MAX : size;
	ssize_t n = 1;

	if (from >= size)
		return;
	rd_buf_reserve(out, (size_t)(end - from));
	for (off_t at = from; at < end && n > 0; at += n) {
		n = pread(fd, out->data + out->length, (size_t)(end - at), at);
		if (n > 0)
			out->length += (size_t)n;
	}
	if (end < size)
		add_rest(out, fd, end, size);
}

/* Appends the name and the content of a file.  Returns false if it does not exist any more. */
static bool add_file(struct rd_buf *out, const struct replay_written *w, const char *name)
{
	int fd = open(w->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;
	bool there = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);

	if (there) {
		rd_buf_addf(out, "%s:\n", name);
		add_content(out, fd, w->from > INT64_MAX ? INT64_MAX : (off_t)w->from, st.st_size);
		end_line(out);
	}
	if (fd >= 0)
		close(fd);
	return there;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct replay_written *const *)a)->name,
		      (*(const struct replay_written *const *)b)->name);
}

/* Returns the path without the working directory, if the file lies below it. */
static const char *short_name(const char *path, const char *here)
{
	size_t length = here ? strlen(here) : 0;

	return length > 1 && !strncmp(path, here, length) && path[length] == '/' ? path + length + 1 : path;
}

static size_t count_lines(const struct rd_buf *text, size_t from)
{
	size_t count = 0;

	for (size_t i = from; i < text->length; i++)
		count += text->data[i] == '\n';
	return count;
}

void files_read(const struct replay_result *r, struct trial *t, struct rd_arena *arena)
{
	const struct replay_written **sorted = rd_xcalloc(r->written_count + 1, sizeof *sorted);
	struct trial_file *files = rd_arena_alloc(arena, (r->written_count + 1) * sizeof *files);
	char *here = getcwd(NULL, 0);
	struct rd_buf text = RD_BUF_INIT;
	size_t count = 0, line = 0, from;

	for (size_t i = 0; i < r->written_count; i++)
		if (r->written[i].file)
			sorted[count++] = &r->written[i];
	qsort(sorted, count, sizeof(const struct replay_written *), by_name);
	t->file_count = 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = short_name(sorted[i]->name, here);

		from = text.length;
		/* threads that do not take turns may note a file twice */
		if ((i && !strcmp(sorted[i]->name, sorted[i - 1]->name)) || !add_file(&text, sorted[i], name))
			continue;
		files[t->file_count++] =
			(struct trial_file){rd_arena_strndup(arena, name, strlen(name)), line};
		line += count_lines(&text, from);
	}
	t->files = files;
	t->text[TRIAL_FILES] = keep(&text, arena);
	free(here);
	free(sorted);
}
