/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a campaign's log: `log`, and `log.N` of shard N until it is merged. */
#ifndef INJECT_PART_INT_H
#define INJECT_PART_INT_H

#include "inject/log.h"

struct inject_part {
	int fd;
	char *path;
	int64_t synced_ns;
};

/* Opens a file of the log for writing.  This is the file of a shard, or the log itself if `shard`
 * is -1.  If a writer was killed and left an incomplete line, that line is removed.  Only one
 * process at a time may have the file open. */
int inject_part_open(struct inject_part *p, const char *directory, int shard);
int inject_part_add(struct inject_part *p, const char *line, size_t length);
int inject_part_close(struct inject_part *p);

/* Reads all lines of the log and of the logs of all shards.  If a merge of these logs was killed,
 * the same run may occur twice. */
int inject_part_read_all(const char *directory, inject_line_fn *fn, void *context);

#endif
