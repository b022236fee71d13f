/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files from outside: what a user hands in, what lies in a directory that somebody else may have filled.
 * They are opened here and nowhere else, so that no name makes a reader wait, read without end or act on a
 * device: FIFOs, sockets, devices and directories are refused at once, and so is what is larger than the
 * reader can use.
 */
#ifndef BASE_OUTSIDE_H
#define BASE_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* A descriptor for reading, or a negative rd_err after a message.  The file is a regular one of at most `max`
 * bytes when it is opened; it may grow, so readers count as well.  `st` may be NULL. */
int rd_outside_open(const char *path, uint64_t max, struct stat *st);

/* The same, but a pipe that the user handed in by its number is taken too: /dev/stdin, /dev/fd/63.  It may be
 * endless, so readers count. */
int rd_outside_stream(const char *path, uint64_t max, struct stat *st);

/* Why a file or directory can have been changed by somebody else than this user or root: "belongs to
 * another user", "can be written by others".  NULL: it cannot. */
const char *rd_outside_stranger(const struct stat *st);

#endif
