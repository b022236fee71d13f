/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database: SQLite in a file, or PostgreSQL.  The same SQL works in both, with parameters $1, $2 … in the
 * order of their first use; all values are texts, and the columns' types do the rest.  A connection is used
 * by one thread at a time.  One that was lost is made again by the next call; the call that noticed has
 * failed.
 */
#ifndef HIVE_DB_H
#define HIVE_DB_H

#include <stdbool.h>
#include <stddef.h>

struct hive_db;

/* `where` is a file, which is made if it is absent, or postgres://... */
int hive_db_open(struct hive_db **db, const char *where);
void hive_db_close(struct hive_db *db);

/* What a column is declared as that numbers the rows in the order in which they are committed. */
const char *hive_db_serial(const struct hive_db *db);

/* Values of a row, NULL for null; another return value than 0 ends the query and is handed on. */
typedef int hive_row_fn(void *context, const char *const *values);

/* One statement. */
struct hive_statement {
	const char *sql;
	const char *const *parameters; /* NULL: null */
	size_t count;
};
int hive_db_query(struct hive_db *db, const struct hive_statement *s, hive_row_fn *row, void *context);
#define HIVE_QUERY(db, row, context, text, ...)                                                              \
	hive_db_query(db,                                                                                    \
		      &(struct hive_statement){                                                              \
			      text, (const char *[]){NULL, ##__VA_ARGS__} + 1,                               \
			      sizeof((const char *[]){NULL, ##__VA_ARGS__}) / sizeof(char *) - 1},           \
		      row, context)
#define HIVE_RUN(db, ...) HIVE_QUERY(db, NULL, NULL, __VA_ARGS__)

/* The statement once for each of `rows` sets of parameters, which lie one behind the other; changed[i]: it
 * changed something. */
int hive_db_many(struct hive_db *db, const struct hive_statement *s, size_t rows, bool *changed);

/* What happens between these happens at once, or not at all. */
int hive_db_begin(struct hive_db *db);
int hive_db_commit(struct hive_db *db); /* then it is on disk */
void hive_db_rollback(struct hive_db *db);

/* Several processes wait here for each other, until the end of the transaction. */
int hive_db_exclude(struct hive_db *db);

/* A copy of a database that is in use: a file that must not be there. */
int hive_db_backup(struct hive_db *db, const char *path);

#endif
