/* SPDX-License-Identifier: Apache-2.0 */
/* The interface that both kinds of databases implement for db.h. */
#ifndef HIVE_DB_INT_H
#define HIVE_DB_INT_H

#include "hive/db.h"

struct hive_db {
	const struct hive_db_kind *kind;
};

struct hive_db_kind {
	/* If this fails, *db is NULL or must be closed. */
	int (*open)(struct hive_db **db, const char *where);
	void (*close)(struct hive_db *db);
	int (*query)(struct hive_db *db, const struct hive_statement *s, hive_row_fn *row, void *context);
	int (*many)(struct hive_db *db, const struct hive_statement *s, size_t rows, bool *changed);
	const char *begin, *exclude, *serial;
	/* SQL that copies the database to the file $1; NULL if only `backup_by` can. */
	const char *backup;
	const char *backup_by; /* the name of a tool of the database that makes backups */
};

extern const struct hive_db_kind hive_db_sqlite, hive_db_postgres;

/* The maximum number of columns of a query.  No query comes near it. */
enum { HIVE_DB_COLUMNS = 32 };

#endif
