// SPDX-License-Identifier: Apache-2.0
/*
 * Claims on directories.  In: a path.  Out: a lock, and the path that was locked.
 * The lock is flock(2) on DIR/.raddle-lock.  Between open() and flock() the file may be removed or
 * moved with its directory.  So a claim is valid only if the path still names the locked file.
 */
#include "base/claim.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DIRECTORIES_MAX = 1000, /* rd_claim() gives up after PATH-N with N = DIRECTORIES_MAX - 1 */
	/* The number of times that the lock file may vanish between open() and flock() before
	 * rd_claim() gives up. */
	RETRIES_MAX = 100,
};

static char *claim_file(const char *path)
{
	return rd_xasprintf("%s/" RD_CLAIM_FILE, path);
}

static bool is_same_file(int fd, const char *file)
{
	struct stat locked, named;

	return fstat(fd, &locked) == 0 && stat(file, &named) == 0 && locked.st_dev == named.st_dev &&
	       locked.st_ino == named.st_ino;
}

/* The result of an attempt, which may also be a negative enum rd_err. */
enum claim_state { CLAIM_TAKEN, CLAIM_MADE, CLAIM_VANISHED };

static int try_once(struct rd_claim *claim, const char *path, const char *file)
{
	int r = rd_mkdirs(path), fd;

	if (r)
		return r;
	fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	if (fd < 0)
		return rd_fail_errno("%s: cannot write there", path);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		r = errno == EWOULDBLOCK ? CLAIM_TAKEN : rd_fail_errno("cannot lock %s", file);
	} else if (is_same_file(fd, file)) {
		*claim = (struct rd_claim){rd_xstrdup(path), fd};
		return CLAIM_MADE;
	} else {
		r = CLAIM_VANISHED;
	}
	close(fd);
	return r;
}

/* Tries to claim the directory, and tries again if its lock file has vanished meanwhile.  Returns
 * CLAIM_MADE, CLAIM_TAKEN or an error. */
static int try_claim(struct rd_claim *claim, const char *path)
{
	char *file = claim_file(path);
	int r = CLAIM_VANISHED;

	for (int i = 0; i < RETRIES_MAX && r == CLAIM_VANISHED; i++)
		r = try_once(claim, path, file);
	if (r == CLAIM_VANISHED)
		r = rd_fail(RD_ESYSTEM, "%s: cannot claim it: other processes keep removing it", file);
	free(file);
	return r;
}

int rd_claim(struct rd_claim *claim, const char *path, bool elsewhere)
{
	int r = try_claim(claim, path);

	for (int n = 2; r == CLAIM_TAKEN && elsewhere && n < DIRECTORIES_MAX; n++) {
		char *other = rd_xasprintf("%s-%d", path, n);

		r = try_claim(claim, other);
		if (r == CLAIM_MADE)
			rd_warn("another raddle is writing to %s; using %s instead", path, other);
		free(other);
	}
	if (r == CLAIM_TAKEN)
		return rd_fail(RD_EUSAGE, "%s: another raddle is writing to it; name another directory",
			       path);
	return r < 0 ? r : 0;
}

void rd_claim_release(struct rd_claim *claim)
{
	if (!claim->path)
		return;
	close(claim->fd);
	free(claim->path);
	*claim = (struct rd_claim){0};
}

bool rd_claim_marks(const char *path)
{
	char *file = claim_file(path);
	bool marks = rd_file_exists(file);

	free(file);
	return marks;
}
