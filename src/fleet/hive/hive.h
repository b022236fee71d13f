/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A running hive: its programs in memory, the queue of reports that are being stored, and the
 * roles of tokens.  Threads that answer requests read the programs while they hold `lock`.  Only
 * the thread that holds the mutex `work` writes to the store.  When this thread changes the
 * programs, it also holds `lock` for writing.
 */
#ifndef HIVE_HIVE_H
#define HIVE_HIVE_H

#include "hive/metrics.h"
#include "hive/store.h"
#include "protocol/sign.h"

#include <pthread.h>

struct hive_opts {
	const char *db;
	uint32_t bound_s; /* the time bound of a task, which is the length of an epoch, in seconds */
	/* maximum number of requests per second by one token or address; 0 for no limit */
	uint32_t rate;
	bool open; /* true if everything is allowed without a token while no token exists */
};

/* The reports of one request, until they are on disk. */
struct hive_pending {
	struct hive_reports reports;
	uint64_t program; /* the program's number in the store */
	bool *is_new;	  /* for each report, whether it was new; valid after storing */
	int err;	  /* the error if they were not stored */
	/* Called by the writer, which does not use `p` after the call. */
	void (*done)(struct hive_pending *p);
	void *context;
	struct hive_pending *next;
};

struct hive {
	struct hive_opts opts;
	struct hive_metrics metrics;
	struct protocol_signer *signer;

	pthread_rwlock_t lock;		/* protects the members up to the next lock */
	struct hive_program **programs; /* the programs, sorted by build */
	size_t count;
	struct hive_token *tokens; /* the tokens, sorted by hash */
	size_t token_count;

	pthread_mutex_t work; /* protects the members up to the next lock */
	struct hive_db *db;
	uint64_t applied;      /* the number of the last report that was applied to the programs */
	uint64_t runs_applied; /* the number of the last tracked run that was applied */
	uint64_t revision;

	pthread_mutex_t look; /* protects the members up to the next lock */
	struct hive_db *reader;

	pthread_mutex_t queue_lock; /* protects the members up to the next lock */
	pthread_cond_t queue_filled;
	struct hive_pending *first, **last;
	size_t queued; /* the number of reports in the queue */
	bool stopping;
	bool store_failed; /* true if the last use of the store failed */
	pthread_t writer;
	bool has_writer;
};

int hive_open(struct hive **h, const struct hive_opts *opts);
/* Stores the queued reports, and ends the hive. */
void hive_close(struct hive *h);

/* Returns the program of a build, or NULL if it is unknown.  The caller holds `lock`. */
struct hive_program *hive_find(const struct hive *h, const char *build);

/* Queues reports.  Returns RD_ELIMIT if too many are queued already or the hive is stopping. */
int hive_submit(struct hive *h, struct hive_pending *p);

/* Accepts no more reports.  Those that are queued are still stored. */
void hive_stop(struct hive *h);

bool hive_is_well(struct hive *h);

/* Calls `work`, which may be NULL, with the connection for writing.  Then updates the programs in
 * memory with all changes in the store.  Returns the result of `work`. */
int hive_change(struct hive *h, int (*work)(struct hive_db *db, const void *what), const void *what);

/* Returns the role of the owner of a token.  `token` is NULL if the request has none. */
enum hive_role hive_role_of(struct hive *h, const char *token);

#endif
