// SPDX-License-Identifier: Apache-2.0
/*
 * Files from outside.  In: untrusted paths.  Out: descriptors of regular files of bounded size.
 * The file is opened without blocking and checked with fstat() before the first read.  Both use
 * the same descriptor, so an attacker gains nothing by exchanging the file in between.
 */
#include "base/outside.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
	return S_ISDIR(mode)	? "a directory"
	       : S_ISFIFO(mode) ? "a pipe"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

/* Returns true if the path refers to a descriptor of this process, such as /dev/fd/63. */
static bool is_number(const char *path)
{
	static const char *const places[] = {"/dev/fd/", "/proc/self/fd/"};

	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		if (!strncmp(path, places[i], strlen(places[i])))
			return true;
	return !strcmp(path, "/dev/stdin");
}

static int look(int fd, const char *path, uint64_t max, const struct stat *st)
{
	if (S_ISFIFO(st->st_mode) && is_number(path))
		return fcntl(fd, F_SETFL, 0) ? rd_fail_errno("cannot read %s", path) : RD_OK;
	if (!S_ISREG(st->st_mode))
		return rd_fail(RD_EFORMAT, "%s: it is %s, not a file", path, kind_of(st->st_mode));
	if (st->st_size < 0 || (uint64_t)st->st_size > max)
		return rd_fail(RD_ELIMIT, "%s: it has %jd bytes, at most %" PRIu64 " can be read", path,
			       (intmax_t)st->st_size, max);
	return RD_OK;
}

int rd_outside_stream(const char *path, uint64_t max, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;
	struct stat own;

	st = st ? st : &own;
	if (fd < 0 && errno == ENXIO)
		return rd_fail(RD_EFORMAT, "%s: it is a socket or a device, not a file", path);
	if (fd < 0)
		return rd_fail_errno("cannot open %s", path);
	err = fstat(fd, st) ? rd_fail_errno("cannot read %s", path) : look(fd, path, max, st);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

int rd_outside_open(const char *path, uint64_t max, struct stat *st)
{
	struct stat own;
	int fd;

	st = st ? st : &own;
	fd = rd_outside_stream(path, max, st);
	if (fd >= 0 && !S_ISREG(st->st_mode)) {
		close(fd);
		return rd_fail(RD_EFORMAT, "%s: it is a pipe, which cannot be read here", path);
	}
	return fd;
}

const char *rd_untrusted_reason(const struct stat *st)
{
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "belongs to another user";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "can be written by others";
	return NULL;
}
