/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file meta.json of a trace directory (doc/format/trace.md).  It states what was run, how it
 * was recorded and how it ended.
 *
 * The struct is used for writing and reading.  A writer fills it with its own strings.  After
 * trace_meta_parse() or trace_meta_read(), release it with trace_meta_release().  A zeroed struct
 * is valid: NULL strings are written as null, and TRACE_RUNNING is the status of a program that is
 * still running.
 */
#ifndef TRACE_META_H
#define TRACE_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_FORMAT_VERSION 1 /* version of traces and their streams */
#define TRACE_FULL_VERSION 2   /* version of streams of full traces; version 1 can also be read */

enum trace_end { TRACE_RUNNING = 0, TRACE_EXITED, TRACE_SIGNALLED };

struct trace_meta {
	char *raddle; /* version of Raddle that wrote the trace; NULL for this version */
	char *program;
	char **argv; /* argc strings, not necessarily followed by NULL */
	size_t argc;
	char *cwd;
	int64_t pid;
	bool forked; /* true if parent_pid and fork_index are valid */
	int64_t parent_pid;
	uint64_t fork_index;
	char *start;		   /* wall-clock time, as trace_meta_time() formats it */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end_ns is 0 while the program runs */
	enum trace_end end;
	int code; /* exit status or signal number */
	bool core;
	bool stood; /* the program was deadlocked, and `raddle` killed it */
	bool complete;
	/* The reason why recording ended before the program did, or NULL if it did not. */
	char *stopped;
	uint64_t threads, events, bytes;
	/* The number of accesses that the recording left out (doc/design/recording.md). */
	uint64_t left_out;
	/* The first q at which accesses may be missing, or 0 if no access is missing. */
	uint64_t left_from;
	char *flavour, *mode, *key;
	char *kernel;
	uint64_t cpus;
};

/* Formats a time, given in nanoseconds since 1970, as "2026-11-15T21:07:43.123456789Z". */
#define TRACE_TIME_SIZE 40
void trace_meta_time(char out[TRACE_TIME_SIZE], int64_t realtime_ns);

/* Writes meta.json to `path` atomically, by renaming a new file. */
int trace_meta_write(const struct trace_meta *meta, const char *path);

/* Parses meta.json.  `name` is used in messages. */
int trace_meta_parse(struct trace_meta *meta, const char *text, size_t length, const char *name);
int trace_meta_read(struct trace_meta *meta, const char *path);
void trace_meta_release(struct trace_meta *meta);

#endif
