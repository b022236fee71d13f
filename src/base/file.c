// SPDX-License-Identifier: Apache-2.0
/*
 * Files, directories and the cache.  In: paths.  Out: bytes and mappings.  Failures are reported
 * here, together with the path, unless the header states otherwise.
 */
#include "base/file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The maximum size of a mapping in bytes.  A mapping needs no memory, but the address space is
 * finite: 2^44 is an eighth of it on x86-64. */
#define MAP_MAX (UINT64_C(1) << 44)

/* Reads to the end of `fd`.  The size is only a hint: it is 0 in /proc, and files grow.  Fails
 * with EFBIG if there are more than `max` bytes. */
static int read_rest(int fd, size_t hint, uint64_t max, struct rd_buf *b)
{
	size_t start = b->length;

	rd_buf_reserve(b, hint + 1);
	for (;;) {
		ssize_t n;

		if (b->capacity - b->length < 2)
			rd_buf_reserve(b, 64 * 1024);
		n = read(fd, b->data + b->length, b->capacity - b->length - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0)
			b->length += (size_t)n;
		b->data[b->length] = '\0';
		if (n > 0 && b->length - start > max) {
			errno = EFBIG;
			return -1;
		}
		if (n <= 0)
			return n < 0 ? -1 : 0;
	}
}

int rd_file_read_max(const char *path, uint64_t max, struct rd_buf *b)
{
	RD_ASSERT(path != NULL && b->data != NULL);
	struct stat st;
	int fd = rd_outside_stream(path, max, &st), err = 0;

	if (fd < 0)
		return fd;
	if (read_rest(fd, S_ISREG(st.st_mode) ? (size_t)st.st_size : 0, max, b))
		err = rd_fail_errno("cannot read %s", path);
	close(fd);
	return err;
}

int rd_file_read(const char *path, struct rd_buf *b)
{
	return rd_file_read_max(path, RD_FILE_MAX, b);
}

size_t rd_file_head(const char *path, void *out, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t got = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? read(fd, out, n) : 0;

	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

int rd_write_all(int fd, const void *data, size_t length)
{
	RD_ASSERT(data != NULL || length == 0);
	const char *p = data;

	while (length) {
		ssize_t n = write(fd, p, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		p += n;
		length -= (size_t)n;
	}
	return 0;
}

/* Writes a file.  On failure, returns -1 and sets errno, without a message.  `flags` are further
 * flags for open(). */
static int write_to(const char *path, int flags, const void *data, size_t length)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
	int failed;

	if (fd < 0)
		return -1;
	failed = rd_write_all(fd, data, length);
	/* NFS and quotas report a full disk only here. */
	if (close(fd) && !failed)
		failed = -1;
	return failed;
}

int rd_file_write(const char *path, const void *data, size_t length)
{
	RD_ASSERT(path != NULL && (data != NULL || length == 0));
	static atomic_uint serial;
	char *temporary = rd_xasprintf("%s.%ld-%u.tmp", path, (long)getpid(), serial++);
	int err = 0;

	if (write_to(temporary, O_CREAT | O_EXCL, data, length) || rename(temporary, path)) {
		err = rd_fail_errno("cannot write %s", path);
		unlink(temporary);
	}
	free(temporary);
	return err;
}

int rd_file_write_buf(const char *path, struct rd_buf *data)
{
	int err = rd_file_write(path, data->data, data->length);

	rd_buf_release(data);
	return err;
}

int rd_file_replace(const char *path, const void *data, size_t length)
{
	RD_ASSERT(path != NULL && (data != NULL || length == 0));
	char *target = realpath(path, NULL), *temporary = NULL;
	struct stat st = {.st_mode = S_IFREG};
	bool exists = target && !stat(target, &st);
	int failed = -1;

	if (S_ISREG(st.st_mode)) {
		temporary = rd_xasprintf("%s.%ld.tmp", target ? target : path, (long)getpid());
		failed = write_to(temporary, O_CREAT | O_EXCL, data, length) ||
			 (exists && chmod(temporary, st.st_mode & 07777)) ||
			 rename(temporary, target ? target : path);
	}
	if (!S_ISREG(st.st_mode) || (failed && errno == EACCES))
		failed = write_to(path, O_CREAT | O_TRUNC, data, length);
	if (failed) {
		rd_fail_errno("cannot write %s", path);
		if (temporary)
			unlink(temporary);
	}
	free(temporary);
	free(target);
	return failed ? RD_ESYSTEM : RD_OK;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Makes a directory and those above it.  On failure, returns -1 and sets errno, without a message.
 * Another process may create a directory of the path at the same time. */
static int make_path(const char *path, mode_t mode)
{
	char *copy = rd_xstrdup(path);
	int failed = 0;

	for (char *p = copy + 1; *copy && *p && !failed; p++) {
		if (*p != '/' || p[-1] == '/')
			continue;
		*p = '\0';
		failed = mkdir(copy, 0777) && errno != EEXIST && !is_directory(copy);
		*p = '/';
	}
	if (!failed && mkdir(copy, mode) && !(errno == EEXIST && is_directory(copy)))
		failed = 1;
	free(copy);
	return failed ? -1 : 0;
}

int rd_mkdirs(const char *path)
{
	if (is_directory(path))
		return 0;
	return make_path(path, 0777) ? rd_fail_errno("%s: cannot create this directory", path) : 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	if (remove(path) && errno != ENOENT) {
		rd_fail_errno("cannot remove %s", path);
		return 1;
	}
	return 0;
}

int rd_remove_tree(const char *path)
{
	int r = nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);

	if (r < 0 && errno != ENOENT)
		return rd_fail_errno("cannot remove %s", path);
	return r > 0 ? RD_ESYSTEM : 0;
}

const char *rd_tmp_dir(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

int rd_temporary_file(void)
{
	char *path;
	int fd = open(rd_tmp_dir(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	path = rd_xasprintf("%s/raddle-XXXXXX", rd_tmp_dir());
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	else
		fd = rd_fail_errno("cannot create %s", path);
	free(path);
	return fd;
}

void rd_drop_pages(const void *bytes, size_t length)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)bytes / page * page;
	if (length)
		madvise((void *)from, (uintptr_t)bytes + length - from, MADV_DONTNEED);
}

const char *rd_base_name(const char *path)
{
	RD_ASSERT(path != NULL);
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool rd_file_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *rd_find_program(const char *name)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/'))
		return rd_xstrdup(name);
	for (path = path ? path : "/usr/local/bin:/usr/bin:/bin";; path++) {
		size_t n = strcspn(path, ":");
		char *candidate = rd_xasprintf("%.*s/%s", n ? (int)n : 1, n ? path : ".", name);

		if (is_program(candidate))
			return candidate;
		free(candidate);
		path += n;
		if (!*path)
			return NULL;
	}
}

int rd_map_open(struct rd_map *map, const char *path)
{
	RD_ASSERT(path != NULL);
	struct stat st;
	int fd = rd_outside_open(path, MAP_MAX, &st), err = 0;
	void *p = NULL;

	*map = (struct rd_map){0};
	if (fd < 0)
		return fd;
	if (st.st_size)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		err = rd_fail_errno("cannot map %s", path);
	else if (p)
		*map = (struct rd_map){p, (size_t)st.st_size};
	close(fd);
	return err;
}

void rd_map_close(struct rd_map *map)
{
	if (map->length)
		munmap((void *)map->data, map->length);
	*map = (struct rd_map){0};
}

/* Stores the path of the user's directory below /tmp.  All users share /tmp, so a directory of this
 * name may belong to another user; it is then refused. */
static int private_tmp(char **path)
{
	char *p = rd_xasprintf("/tmp/raddle-%ld", (long)getuid());
	struct stat st;
	int err = 0;

	if (mkdir(p, 0700) && errno != EEXIST)
		err = rd_fail_errno("%s: cannot create the cache directory (set RADDLE_CACHE)", p);
	else if (lstat(p, &st))
		err = rd_fail_errno("%s: cannot use it as the cache directory", p);
	else if (!S_ISDIR(st.st_mode) || st.st_uid != getuid() || rd_untrusted_reason(&st))
		err = rd_fail(RD_ESYSTEM, "%s: not a directory that only you can write to (set RADDLE_CACHE)",
			      p);
	if (err)
		free(p);
	else
		*path = p;
	return err;
}

/* Returns the default cache directory, or NULL if there is no home directory. */
static char *home_cache(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (xdg && xdg[0] == '/')
		return rd_xasprintf("%s/raddle", xdg);
	return home && home[0] == '/' ? rd_xasprintf("%s/.cache/raddle", home) : NULL;
}

/* Raddle runs programs from the cache, so a user who can write there can run code as this user.
 * Returns the reason why another user could write there, or NULL if no other user could. */
static const char *why_untrusted(const char *directory)
{
	struct stat st;

	return stat(directory, &st) ? "cannot be examined" : rd_untrusted_reason(&st);
}

static int named_cache(const char *configured, char **path)
{
	const char *reason;

	if (!is_directory(configured) && make_path(configured, 0700))
		return rd_fail_errno("%s: cannot create the cache directory", configured);
	reason = why_untrusted(configured);
	if (reason)
		return rd_fail(RD_ESYSTEM,
			       "%s: it %s, and is not used as the cache directory (set RADDLE_CACHE)",
			       configured, reason);
	/* Compilers run in other directories, so the path must be absolute. */
	*path = realpath(configured, NULL);
	return *path ? RD_OK : rd_fail_errno("%s: cannot use it as the cache directory", configured);
}

int rd_cache_dir(char **path)
{
	const char *configured = getenv("RADDLE_CACHE"), *reason;
	char *home;

	if (configured && *configured)
		return named_cache(configured, path);
	home = home_cache();
	if (home && (make_path(home, 0700) == 0 || is_directory(home)) && access(home, W_OK) == 0) {
		reason = why_untrusted(home);
		if (!reason) {
			*path = home;
			return 0;
		}
		rd_warn("%s: it %s, and is not used as the cache directory", home, reason);
	}
	free(home);
	return private_tmp(path);
}

char *rd_own_path(void)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	if (n < 0) {
		rd_fail_errno("/proc/self/exe: cannot find out where Raddle is installed");
		return NULL;
	}
	path[n] = '\0';
	RD_ASSERT(path[0] == '/');
	return rd_xstrdup(path);
}

int rd_support_file(const char *name, char **path)
{
	RD_ASSERT(name != NULL && !strchr(name, '/'));
	char *self = rd_own_path(), *places[2], *slash;
	int found = -1;

	if (!self)
		return RD_ESYSTEM;
	slash = strrchr(self, '/');
	RD_ASSERT(slash);
	*slash = '\0';
	places[0] = rd_xasprintf("%s/%s", self, name);
	slash = strrchr(self, '/');
	places[1] = rd_xasprintf("%.*s/lib/raddle/%s", slash ? (int)(slash - self) : 0, self, name);
	for (int i = 0; i < 2 && found < 0; i++)
		if (access(places[i], R_OK) == 0)
			found = i;
	if (found < 0)
		rd_fail(RD_ENOTFOUND, "%s: this part of Raddle is missing (and so is %s)", places[0],
			places[1]);
	else
		*path = places[found];
	for (int i = 0; i < 2; i++)
		if (i != found)
			free(places[i]);
	free(self);
	return found < 0 ? RD_ENOTFOUND : 0;
}
