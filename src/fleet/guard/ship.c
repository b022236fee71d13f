// SPDX-License-Identifier: Apache-2.0
/* Writes a guarded program to a file, which then runs without Raddle.  It never overwrites the
 * program without guards. */
#include "guard/guards.h"

#include "base/error.h"
#include "base/file.h"

#include <sys/stat.h>
#include <unistd.h>

int guard_ship(const char *executable, const char *to)
{
	struct rd_buf bytes = RD_BUF_INIT;
	int err = 0;

	if (rd_file_exists(to) && !access(to, X_OK) && !guard_table_is_in(to))
		err = rd_fail(RD_EUSAGE, "%s: this is a program without guards, so it is not overwritten",
			      to);
	if (!err)
		err = rd_file_read(executable, &bytes);
	if (!err)
		err = rd_file_write(to, bytes.data, bytes.length);
	if (!err && chmod(to, 0755))
		err = rd_fail_errno("%s: cannot be made executable", to);
	rd_buf_release(&bytes);
	return err;
}
