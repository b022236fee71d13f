/* SPDX-License-Identifier: Apache-2.0 */
/* `raddle classify --executor slurm`: stores the command for the shards, and collects their
 * results. */
#ifndef CLASSIFY_SHARDS_H
#define CLASSIFY_SHARDS_H

#include "base/process.h"
#include "classify/classify.h"

/* One of `count` shards.  Each shard classifies every count-th race. */
struct classify_shard {
	const char *directory; /* the directory of all shards, or NULL if this is not a shard */
	unsigned number, count;
	uint64_t jobs;
	bool terminal; /* the user's standard input was a terminal, so there is no input */
};

/* Writes the words of the command, its working directory and its input to files.  Removes the
 * results of earlier shards. */
int classify_shards_save(const char *directory, char *const *words);
/* Restores the words, the working directory and the standard input. */
int classify_shard_load(struct classify_shard *s, struct rd_argv *words);

/* Returns the path of the document that a shard writes; the caller frees it. */
char *classify_shard_path(const char *directory, unsigned number);

/* Reads the findings of all shards.  Each finding replaces the one with the same id in the set.
 * If there is none, the finding is added. */
int classify_shards_collect(const char *directory, struct finding_set *set, struct classify_result *result);

#endif
