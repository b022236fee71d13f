/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory for the files of a harness, removed when the harness ends.
 *
 * The directory has the same name in every run.  A path that changes would change what the code
 * does, and so would mislead libFuzzer.
 */
#ifndef RADDLE_TEST_FUZZ_SCRATCH_H
#define RADDLE_TEST_FUZZ_SCRATCH_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define SCRATCH_FD 200
#define SCRATCH "/proc/self/fd/200"

static char *scratch_real_name;

static void scratch_remove(void)
{
	rd_remove_tree(scratch_real_name);
}

/* Makes the directory at the first call. */
static void scratch_make(void)
{
	int fd;

	if (scratch_real_name)
		return;
	/* In memory, because some files are synchronised to disk. */
	const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : rd_tmp_dir();
	scratch_real_name = rd_xasprintf("%s/raddle-fuzz-XXXXXX", parent);
	RD_ASSERT(mkdtemp(scratch_real_name));
	fd = open(scratch_real_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	RD_ASSERT(fd >= 0 && dup2(fd, SCRATCH_FD) == SCRATCH_FD);
	close(fd);
	atexit(scratch_remove);
}

#endif
