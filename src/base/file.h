/* SPDX-License-Identifier: Apache-2.0 */
/* Files, directories and the cache.  Functions that return an rd_err report their failures. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Functions that read a whole file accept only regular files up to a maximum size (base/outside.h).
 * rd_file_read() and rd_file_read_max() also accept a pipe that the user passes as a descriptor. */

/* Appends a whole file of at most `max` bytes to `b`. */
int rd_file_read_max(const char *path, uint64_t max, struct rd_buf *b);

/* The maximum size of documents and lists, in bytes. */
#define RD_TEXT_MAX (UINT64_C(64) << 20)

/* rd_file_read() appends a whole file of at most RD_FILE_MAX bytes. */
#define RD_FILE_MAX (UINT64_C(1) << 30)
int rd_file_read(const char *path, struct rd_buf *b);

/* Reads the first n bytes of a file, to detect its format.  Returns the number of bytes read.  If
 * the file cannot be read, returns 0 and reports no error. */
size_t rd_file_head(const char *path, void *out, size_t n);

/* Reads a file of at most `max` bytes into the buffer `text`, and evaluates `call`, an expression
 * that may use the buffer.  The result is that of `call`, or the error from reading the file. */
#define RD_WITH_FILE(path, max, text, call)                                                                  \
	({                                                                                                   \
		struct rd_buf text = RD_BUF_INIT;                                                            \
		int rd_err_ = rd_file_read_max(path, max, &text);                                            \
		if (!rd_err_)                                                                                \
			rd_err_ = (call);                                                                    \
		rd_buf_release(&text);                                                                       \
		rd_err_;                                                                                     \
	})

/* Replaces a file atomically: writes a temporary file beside it, then renames the temporary
 * file. */
int rd_file_write(const char *path, const void *data, size_t length);
int rd_file_write_buf(const char *path, struct rd_buf *data); /* also releases the buffer */

/* Replaces a file whose name the user passed.  Follows links, and keeps the mode of the file.
 * Devices, pipes, and files in a directory that is not writable cannot be replaced, so the
 * function overwrites them in place. */
int rd_file_replace(const char *path, const void *data, size_t length);

/* Writes all bytes.  On failure, returns -1 and sets errno, without a message. */
int rd_write_all(int fd, const void *data, size_t length);
int rd_mkdirs(const char *path);      /* like mkdir -p; the mode is 0777 less umask */
int rd_remove_tree(const char *path); /* like rm -rf; a missing path is not an error */
bool rd_file_exists(const char *path);
const char *rd_base_name(const char *path); /* the part after the last slash */
const char *rd_tmp_dir(void);		    /* $TMPDIR, or else /tmp */

/* Makes an unnamed file in rd_tmp_dir(), for reading and writing.  Returns its descriptor, or
 * reports an error and returns its code. */
int rd_temporary_file(void);

/* Drops pages of a file mapping that will not be needed soon.  A later access reads the pages from
 * the file again, so changes in a private mapping are lost. */
void rd_drop_pages(const void *bytes, size_t length);

/* Returns the path of the program that a shell would run for `name`.  A name with a slash is
 * returned unchanged.  Other names are searched for in PATH, where an empty element means the
 * current directory.  Returns NULL if the program is not found.  The caller must free the
 * result. */
char *rd_find_program(const char *name);

/* A file mapped read-only.  An empty file maps to length 0. */
struct rd_map {
	const uint8_t *data;
	size_t length;
};
int rd_map_open(struct rd_map *map, const char *path);
void rd_map_close(struct rd_map *map);

/* Stores the path of the cache directory in *path, and creates the directory if it does not exist.
 * If $RADDLE_CACHE is set, it is the path.  The default is $XDG_CACHE_HOME/raddle or
 * ~/.cache/raddle.  The default is used only if this user may write to it and no other user may;
 * otherwise the path is /tmp/raddle-UID.  The caller must free *path. */
int rd_cache_dir(char **path);

/* Returns the path of the running executable, without symbolic links.  The caller must free it.  If
 * /proc is not available, reports an error and returns NULL. */
char *rd_own_path(void);

/* Finds a file of this installation of Raddle, such as hook-record.bc or raddle-instr.  Searches
 * the directory of the running executable (as in a build tree), then ../lib/raddle relative to it.
 * The caller must free *path. */
int rd_support_file(const char *name, char **path);

#endif
