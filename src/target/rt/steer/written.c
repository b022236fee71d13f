// SPDX-License-Identifier: Apache-2.0
/*
 * What the program gives to the outside (raddle/written.h).  In: files that it opens for writing,
 * and datagrams that it sends.  Out: records in the memory that the replayer reads when the run is
 * over.
 *
 * Invariant: there is at most one record for each path.
 */
#include "raddle/written.h"
#include "rt/steer/turn-int.h"
#include "rt/steer/written-int.h"

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct raddle_written *written(void)
{
	struct raddle_steer *s = rt_steer();

	return s->written_at ? (struct raddle_written *)((char *)s + s->written_at) : NULL;
}

/* Returns room for a record of this size, or NULL if there is none. */
static struct raddle_written_record *reserve(struct raddle_written *w, size_t size)
{
	uint32_t at = atomic_load(&w->used);

	do {
		if (size > RADDLE_WRITTEN_BYTES - at) {
			atomic_fetch_add(&w->lost, 1);
			return NULL;
		}
	} while (!atomic_compare_exchange_weak(&w->used, &at, at + (uint32_t)size));
	return (struct raddle_written_record *)(void *)(w->records + at);
}

static struct raddle_written_record *add(struct raddle_written *w, struct iovec name, size_t sent_size)
{
	struct raddle_written_record *r;

	if (sent_size > RADDLE_WRITTEN_BYTES || name.iov_len > PATH_MAX) {
		atomic_fetch_add(&w->lost, 1);
		return NULL;
	}
	r = reserve(w, raddle_written_size((uint32_t)name.iov_len, (uint32_t)sent_size));
	if (r) {
		r->name_size = (uint32_t)name.iov_len;
		r->sent_size = (uint32_t)sent_size;
		__builtin_memcpy(r + 1, name.iov_base, name.iov_len);
	}
	return r;
}

/* ---- files ---- */

static struct raddle_written_record *find_file(struct raddle_written *w, struct iovec path)
{
	uint32_t used = atomic_load(&w->used);

	for (uint32_t at = 0; at < used;) {
		struct raddle_written_record *r = (void *)(w->records + at);

		if (r->kind == RADDLE_WRITTEN_FILE && r->name_size == path.iov_len &&
		    !__builtin_memcmp(r + 1, path.iov_base, path.iov_len))
			return r;
		at += raddle_written_size(r->name_size, r->sent_size);
	}
	return NULL;
}

/* Returns the length of the path of an open file, or -1 if it has none. */
static long path_of(int fd, char *path, size_t size)
{
	char link[] = "/proc/self/fd/0000000000";
	char *end = link + sizeof "/proc/self/fd/" - 1;
	char digits[11];
	int n = 0;

	do
		digits[n++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (n)
		*end++ = digits[--n];
	*end = '\0';
	return rt_bare(SYS_readlink, (long)link, (long)path, (long)size);
}

static void note_file(struct raddle_written *w, struct iovec path, uint64_t size, bool appends)
{
	struct raddle_written_record *r = find_file(w, path);

	if (r && r->from > size)
		r->from = 0; /* the file was truncated, so all of its content comes from this run */
	if (r)
		return;
	r = add(w, path, 0);
	if (!r)
		return;
	r->from = appends ? size : 0;
	r->kind = RADDLE_WRITTEN_FILE;
}

void rt_written_file(int fd, bool appends)
{
	struct raddle_written *w = written();
	char path[PATH_MAX];
	struct stat st;
	long length;

	if (!w || rt_bare(SYS_fstat, fd, (long)&st) || !S_ISREG(st.st_mode))
		return;
	length = path_of(fd, path, sizeof path);
	if (length > 0 && length < (long)sizeof path)
		note_file(w, (struct iovec){path, (size_t)length}, (uint64_t)st.st_size, appends);
	else
		atomic_fetch_add(&w->lost, 1);
}

/* ---- datagrams ---- */

void rt_written_datagram(const struct msghdr *message)
{
	struct iovec to = {message->msg_name, message->msg_namelen};
	struct raddle_written *w = written();
	struct raddle_written_record *r;
	size_t size = 0;
	char *at;

	for (size_t i = 0; i < message->msg_iovlen; i++)
		size += message->msg_iov[i].iov_len;
	r = w ? add(w, to, size) : NULL;
	if (!r)
		return;
	at = (char *)(r + 1) + r->name_size;
	for (size_t i = 0; i < message->msg_iovlen; i++) {
		__builtin_memcpy(at, message->msg_iov[i].iov_base, message->msg_iov[i].iov_len);
		at += message->msg_iov[i].iov_len;
	}
	r->kind = RADDLE_WRITTEN_DATAGRAM;
}
