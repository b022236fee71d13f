/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Task sets: the signed documents that answer polls (doc/format/hive-api.json).  All sites with the
 * same task get the same bytes.  So each set is signed once in an epoch and cached as a response of
 * the HTTP server.
 */
#ifndef HIVE_TASK_SET_INT_H
#define HIVE_TASK_SET_INT_H

#include "base/buf.h"
#include "hive/assign-int.h"
#include "protocol/sign.h"

struct MHD_Response;
struct hive_task_cache;

/* `now` is the time in Unix seconds, and `bound` is the length of an epoch in seconds.  Both are
 * the same for all hives. */
struct hive_time {
	int64_t now;
	uint32_t bound;
};
static inline uint64_t hive_epoch(const struct hive_time *t)
{
	return (uint64_t)t->now / t->bound;
}

/* The answer to a poll, and its ETag.  Both belong to the cache and stay valid until another
 * caller locks the cache.  Both are NULL if the answer could not be made. */
struct hive_task_answer {
	struct MHD_Response *response;
	char tag[PROTOCOL_TASK_ID + 24];
};
struct hive_task_cache *hive_task_cache_new(size_t candidates);
void hive_task_cache_free(struct hive_task_cache *c);

/* Called with the answer while the cache is locked, so that the answer cannot be freed. */
typedef int hive_task_use_fn(void *context, const struct hive_task_answer *answer);
struct hive_task_ask {
	const struct hive_task *task;	  /* the task; NULL if there is none */
	const struct hive_sketch *sketch; /* a failure to track instead; NULL if there is none */
	enum protocol_mode state;
	struct hive_time time;
	struct protocol_signer *signer;
};
int hive_task_cache_use(const struct hive_program *p, const struct hive_task_ask *ask, hive_task_use_fn *use,
			void *context);

#endif
