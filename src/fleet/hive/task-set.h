/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Task sets: the signed document that answers a poll (doc/format/hive-api.json).  All sites with the same
 * task get the same bytes, so each set is signed once in an epoch and kept as an answer of the HTTP server.
 */
#ifndef HIVE_TASK_SET_H
#define HIVE_TASK_SET_H

#include "base/buf.h"
#include "hive/assign.h"
#include "hive/sign.h"

struct MHD_Response;
struct hive_task_cache;

/* A clock that is the same for all hives: `now` in Unix seconds, `bound` the seconds of an epoch. */
struct hive_time {
	int64_t now;
	uint32_t bound;
};
static inline uint64_t hive_epoch(const struct hive_time *t)
{
	return (uint64_t)t->now / t->bound;
}

/* The answer to a poll, and its ETag, which belong to the cache: valid until the cache is locked by the next
 * caller. NULL: it could not be made. */
struct hive_task_answer {
	struct MHD_Response *response;
	char tag[HIVE_TASK + 24];
};
struct hive_task_cache *hive_task_cache_new(size_t candidates);
void hive_task_cache_free(struct hive_task_cache *c);

/* Calls `use` with the answer while nobody can throw it away. */
typedef int hive_task_use_fn(void *context, const struct hive_task_answer *answer);
struct hive_task_ask {
	const struct hive_task *task;	  /* NULL: none */
	const struct hive_sketch *sketch; /* instead: a failure to track; NULL: none */
	enum hive_state state;
	struct hive_time time;
	struct hive_signer *signer;
};
int hive_task_cache_use(const struct hive_program *p, const struct hive_task_ask *ask, hive_task_use_fn *use,
			void *context);

/* What a site makes of a task set, for programs that play one: simulate, the load generator and tests. */
struct hive_task_set {
	char build[HIVE_BUILD];
	uint64_t serial, expires;
	enum hive_state state;
	uint32_t poll_s;
	bool has_task;
	char id[HIVE_TASK], candidate[HIVE_CANDIDATE];
	bool validate;
	enum hive_order order;
	uint32_t tau_us;
	bool track; /* the task is about a failure, not about a candidate */
};
int hive_task_set_read(struct hive_task_set *set, const char *body, size_t length);

#endif
