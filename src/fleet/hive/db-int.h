/* SPDX-License-Identifier: Apache-2.0 */
/* The interface that both kinds of databases implement for db.h. */
#ifndef HIVE_DB_INT_H
#define HIVE_DB_INT_H

#include "hive/db.h"

struct hive_db {
	const struct hive_db_kind *kind;
};

struct hive_db_kind {
	int (*open)(struct hive_db **db, const char *where); /* if it fails, *db is NULL or to be closed */
	void (*close)(struct hive_db *db);
	int (*query)(struct hive_db *db, const struct hive_statement *s, hive_row_fn *row, void *context);
	int (*many)(struct hive_db *db, const struct hive_statement *s, size_t rows, bool *changed);
	const char *begin, *exclude, *serial;
	const char *backup;    /* copies the database to the file $1; NULL: by `backup_by` only */
	const char *backup_by; /* a tool of the database */
};

extern const struct hive_db_kind hive_db_sqlite, hive_db_postgres;

/* More columns than any query has. */
enum { HIVE_DB_COLUMNS = 32 };

#endif
