/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database, which is SQLite in a file, or PostgreSQL.  The same SQL works in both, with
 * parameters $1, $2 … in the order of their first use.  All values are passed as text, and the
 * database converts them to the columns' types.  Only one thread may use a connection at a time.
 * If a connection is lost, the call fails, and the next call reconnects.
 */
#ifndef HIVE_DB_H
#define HIVE_DB_H

#include <stdbool.h>
#include <stddef.h>

struct hive_db;

/* Opens a database.  `where` is a file, which is created if it does not exist, or postgres://... */
int hive_db_open(struct hive_db **db, const char *where);
void hive_db_close(struct hive_db *db);

/* Returns the SQL type of a column that numbers the rows in the order of their commits. */
const char *hive_db_serial(const struct hive_db *db);

/* Receives the values of a row.  The entry of a null value is NULL.  If the function returns
 * anything but 0, the query ends and returns the same value. */
typedef int hive_row_fn(void *context, const char *const *values);

struct hive_statement {
	const char *sql;
	const char *const *parameters; /* the values; NULL for null */
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

/* Executes the statement once for each of `rows` consecutive sets of parameters.  Sets changed[i]
 * to true if execution i changed a row. */
int hive_db_many(struct hive_db *db, const struct hive_statement *s, size_t rows, bool *changed);

/* All statements between begin and commit take effect together, or none of them does. */
int hive_db_begin(struct hive_db *db);
int hive_db_commit(struct hive_db *db); /* on return the changes are on disk */
void hive_db_rollback(struct hive_db *db);

/* Takes a lock that is shared by all processes.  The lock is held until the end of the
 * transaction. */
int hive_db_exclude(struct hive_db *db);

/* Copies a database, which may be in use, to a new file.  Fails if the file exists. */
int hive_db_backup(struct hive_db *db, const char *path);

#endif
