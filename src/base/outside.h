/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files that Raddle does not trust: files that a user passes, and files in a directory that
 * other users may write to.  Only these functions open such files.  They reject FIFOs, sockets,
 * devices, directories, and files over the reader's maximum size.  The exception is a pipe that the
 * user passes as a descriptor (rd_outside_stream()).  A path therefore cannot make a reader block,
 * read without end, or act on a device.
 */
#ifndef BASE_OUTSIDE_H
#define BASE_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Returns a descriptor for reading, or reports an error and returns a negative rd_err.  The file
 * is regular and has at most `max` bytes when it is opened.  It may grow later, so readers must
 * also check the limit.  `st` may be NULL. */
int rd_outside_open(const char *path, uint64_t max, struct stat *st);

/* Does the same as rd_outside_open(), but also accepts a pipe that the user passes as a
 * descriptor, such as /dev/stdin or /dev/fd/63.  The pipe may be endless, so readers must check
 * the limit. */
int rd_outside_stream(const char *path, uint64_t max, struct stat *st);

/* Returns the reason why someone other than the current user and root could have changed a file or
 * directory: "belongs to another user" or "can be written by others".  Returns NULL if no other
 * user could have changed it. */
const char *rd_untrusted_reason(const struct stat *st);

#endif
