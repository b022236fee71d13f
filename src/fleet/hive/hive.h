/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running hive: its programs in memory, the queue of reports that are being stored, and the roles
 * of tokens.  Threads that answer requests read the programs with `lock` held.  The thread that
 * holds `work` is the only one that writes to the store; it changes the programs with `lock` held
 * for writing.
 */
#ifndef HIVE_HIVE_H
#define HIVE_HIVE_H

#include "hive/metrics.h"
#include "hive/store.h"
#include "protocol/sign.h"

#include <pthread.h>

struct hive_opts {
	const char *db;
	uint32_t bound_s; /* the time bound of a task, which is the length of an epoch */
	uint32_t rate;	  /* requests per second by one token or address; 0: no limit */
	bool open;	  /* without a token everything is allowed, as long as there are no tokens */
};

/* Reports of one request on their way to the disk. */
struct hive_pending {
	struct hive_reports reports;
	uint64_t program;		      /* its number in the store */
	bool *is_new;			      /* of each report, when it is done */
	int err;			      /* why they were not stored */
	void (*done)(struct hive_pending *p); /* called by the writer, which does not use it afterwards */
	void *context;
	struct hive_pending *next;
};

struct hive {
	struct hive_opts opts;
	struct hive_metrics metrics;
	struct protocol_signer *signer;

	pthread_rwlock_t lock;		/* protects what follows, up to the next lock */
	struct hive_program **programs; /* by build */
	size_t count;
	struct hive_token *tokens; /* by hash */
	size_t token_count;

	pthread_mutex_t work; /* protects what follows, up to the next lock */
	struct hive_db *db;
	uint64_t applied;      /* number of the last report that was applied to the programs */
	uint64_t runs_applied; /* the same of tracked runs */
	uint64_t revision;

	pthread_mutex_t look; /* protects what follows, up to the next lock */
	struct hive_db *reader;

	pthread_mutex_t queue_lock; /* protects what follows, up to the next lock */
	pthread_cond_t queue_filled;
	struct hive_pending *first, **last;
	size_t queued; /* reports */
	bool stopping;
	bool store_failed; /* when it was last used */
	pthread_t writer;
	bool has_writer;
};

int hive_open(struct hive **h, const struct hive_opts *opts);
/* Stores what is queued and ends. */
void hive_close(struct hive *h);

/* The program of a build; `lock` is held. */
struct hive_program *hive_find(const struct hive *h, const char *build);

/* Queues reports; RD_ELIMIT if there are too many already or the hive is stopping. */
int hive_submit(struct hive *h, struct hive_pending *p);

/* No more reports are taken; those that are queued are stored. */
void hive_stop(struct hive *h);

bool hive_is_well(struct hive *h);

/* Calls `work` (may be NULL) with the connection for writing.  Then updates the programs in memory
 * with all changes in the store, and returns the result of `work`. */
int hive_change(struct hive *h, int (*work)(struct hive_db *db, const void *what), const void *what);

/* The role of the bearer of a token; NULL: without a token. */
enum hive_role hive_role_of(struct hive *h, const char *token);

#endif
