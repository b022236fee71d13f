/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data that a hive stores: programs with their candidates, reports, classes, tokens, and the
 * key for signatures.  Reports are never changed or removed, and verdicts are computed from them.
 * A store is one connection, which only one thread may use at a time.
 */
#ifndef HIVE_STORE_H
#define HIVE_STORE_H

#include "hive/db.h"
#include "hive/program.h"
#include "hive/token.h"
#include "protocol/sign.h"

/* Opens a store.  An older database is updated, and a newer one is refused. */
int hive_store_open(struct hive_db **db, const char *where);

/* Stores in `secret` the key that signs task sets.  The first call makes the key. */
int hive_store_key(struct hive_db *db, char secret[PROTOCOL_KEY_TEXT]);

/* Stores the revision of the store in *revision.  It grows with each change to programs, classes
 * and tokens. */
int hive_store_revision(struct hive_db *db, uint64_t *revision);

/* Adds a program, or replaces the candidates of one that is already stored. */
int hive_store_add(struct hive_db *db, const struct hive_program *p);

/* Changes state, rollout and poll_s. */
int hive_store_set(struct hive_db *db, const struct hive_program *p);

/* The class that `raddle classify` assigned to a candidate of the program. */
struct hive_class {
	uint64_t program;
	const char *candidate, *name, *consequence; /* the consequence may be NULL */
};
int hive_store_classify(struct hive_db *db, const struct hive_class *c);

/* Loads the programs with their candidates, without reports.  The caller releases each and frees
 * the array. */
int hive_store_programs(struct hive_db *db, struct hive_program **programs, size_t *count);

/* Adds reports of one or more sites in one transaction.  The reports are on disk when the function
 * returns.  Sets is_new[i] to true if row i was not in the store before. */
int hive_store_report(struct hive_db *db, const struct hive_row *rows, size_t count, bool *is_new);

/* Selects the rows that hive_store_each() passes to `each`: at most `limit` rows with numbers
 * greater than `after`, in ascending order.  If `program` is not 0, only rows of that program are
 * selected.  If `candidate` is not NULL, only rows about that candidate are selected. */
struct hive_range {
	uint64_t after, program;
	const char *candidate;
	uint64_t limit;
};
typedef void hive_each_fn(void *context, const struct hive_row *row);
int hive_store_each(struct hive_db *db, const struct hive_range *range, hive_each_fn *each, void *context);

/* Stores the plan of a sketch: the document as it was received. */
int hive_store_sketch(struct hive_db *db, uint64_t program, const char *id, const char *document);

/* A tracked run, as it is stored. */
struct hive_run {
	uint64_t number, program;
	const char *sketch, *site, *run, *record;
};
int hive_store_run(struct hive_db *db, const struct hive_run *run,
		   bool *is_new); /* on return the run is on disk */

typedef void hive_run_fn(void *context, const struct hive_run *run);
/* Calls `each` for the tracked runs whose numbers are greater than `after`, in ascending order.
 * If `program` is not 0, only runs of that program are passed. */
int hive_store_runs(struct hive_db *db, uint64_t after, uint64_t program, hive_run_fn *each, void *context);

/* Roles of tokens.  The tokens are stored as hashes. */
enum hive_role { HIVE_NOBODY, HIVE_FLEET, HIVE_ADMIN };
struct hive_token {
	char hash[HIVE_HASH_TEXT];
	char *fleet;
	enum hive_role role;
};
/* Stores all valid tokens in *tokens. */
int hive_store_tokens(struct hive_db *db, struct hive_token **tokens, size_t *count);
int hive_store_token_add(struct hive_db *db, const char *hash, const char *fleet, enum hive_role role);
/* Revokes the tokens of this name.  Returns RD_ENOTFOUND if there is no such token. */
int hive_store_token_revoke(struct hive_db *db, const char *fleet);

int64_t hive_now_ms(void); /* Unix time in milliseconds */

#endif
