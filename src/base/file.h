/* SPDX-License-Identifier: Apache-2.0 */
/* Files, directories and the cache. All report their own failures. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Files are those of outside.h: regular ones, not larger than they can be used, or for rd_file_read() a pipe
 * that the user handed in. */

/* Reads a whole file of at most `max` bytes after what `b` holds. */
int rd_file_read_max(const char *path, uint64_t max, struct rd_buf *b);

/* For documents and lists. */
#define RD_TEXT_MAX (UINT64_C(64) << 20)

/* The same with the limit for any file that is read as a whole. */
#define RD_FILE_MAX (UINT64_C(1) << 30)
int rd_file_read(const char *path, struct rd_buf *b);

/* The first bytes, to see what it is; silent, and 0 where there is no such file.  Returns how many there are.
 */
size_t rd_file_head(const char *path, void *out, size_t n);

/* The value of `call`, which finds the content of a file of at most `max` bytes in the buffer `text`, or the
 * failure to read it. */
#define RD_WITH_FILE(path, max, text, call)                                                                  \
	({                                                                                                   \
		struct rd_buf text = RD_BUF_INIT;                                                            \
		int rd_err_ = rd_file_read_max(path, max, &text);                                            \
		if (!rd_err_)                                                                                \
			rd_err_ = (call);                                                                    \
		rd_buf_release(&text);                                                                       \
		rd_err_;                                                                                     \
	})

/* Writes a file so that other processes see the old content or the whole new
 * one: temporary name beside it, then rename. */
int rd_file_write(const char *path, const void *data, size_t length);

/* The same for a name that the user gave.  A link leads to the file, whose mode stays; what is no file, such
 * as a device or a pipe, is written to, as is a file in a directory that may not be written. */
int rd_file_replace(const char *path, const void *data, size_t length);

int rd_write_all(int fd, const void *data, size_t length); /* silent; -1 with errno */
int rd_mkdirs(const char *path);			   /* like mkdir -p, mode 0777 less umask */
int rd_remove_tree(const char *path);			   /* rm -rf; no error if absent */
bool rd_file_exists(const char *path);
const char *rd_base_name(const char *path); /* what is behind the last slash */
const char *rd_tmp_dir(void);		    /* $TMPDIR, else /tmp */

/* A file there without a name, for reading and writing; an error is reported and returned. */
int rd_temporary_file(void);

/* Pages of a shared mapping of a file that nobody needs soon: whoever does gets them from the file again. */
void rd_give_back(const void *bytes, size_t length);

/* The program that a shell would run for `name`: itself if there is a slash in it, else the first
 * executable file of that name in PATH, where an empty element is the current directory.  NULL if there is
 * none; the caller frees it. */
char *rd_find_program(const char *name);

/* A file mapped read-only.  An empty file maps to length 0. */
struct rd_map {
	const uint8_t *data;
	size_t length;
};
int rd_map_open(struct rd_map *map, const char *path);
void rd_map_close(struct rd_map *map);

/* $RADDLE_CACHE, else $XDG_CACHE_HOME/raddle, else ~/.cache/raddle, else
 * /tmp/raddle-UID; made if absent.  The caller frees *path. */
int rd_cache_dir(char **path);

/* A file that came with this Raddle (hook-record.bc, libraddle-rt-record.a, raddle-instr):
 * looked for beside the running executable (a build tree) and in
 * ../lib/raddle of it (an installation).  The caller frees *path. */
int rd_support_file(const char *name, char **path);

#endif
