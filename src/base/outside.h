/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files from outside: those that a user passes, and those in a directory that other users may
 * write to.  Only these functions open them, so that no path can make a reader block, read without
 * end, or act on a device.  FIFOs, sockets, devices, directories and files over the reader's
 * maximum are refused at once.
 */
#ifndef BASE_OUTSIDE_H
#define BASE_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* A descriptor for reading, or a negative rd_err after a message.  The file is regular and has at
 * most `max` bytes when it is opened.  It may grow, so readers must count too.  `st` may be NULL. */
int rd_outside_open(const char *path, uint64_t max, struct stat *st);

/* The same, but also accepts a pipe that the user passes as a descriptor: /dev/stdin, /dev/fd/63.
 * It may be endless, so readers must count. */
int rd_outside_stream(const char *path, uint64_t max, struct stat *st);

/* Why another user than this one or root could have changed a file or directory: "belongs to
 * another user", "can be written by others".  NULL: no other user could. */
const char *rd_untrusted_reason(const struct stat *st);

#endif
