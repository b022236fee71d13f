// SPDX-License-Identifier: Apache-2.0
/*
 * SQLite: a single file that needs no setup.  The write-ahead log lets readers proceed during
 * writes.  Each commit is synchronised to disk, so committed rows survive a power failure.  The
 * prepared statement of hive_db_many() is kept, because it is always the same.
 */
#include "hive/db-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long a statement waits for a lock that another process holds, in milliseconds.  Set by hand:
 * this is longer than any transaction of the hive takes, and shorter than users would wait for an
 * error message. */
enum { LOCK_WAIT_MS = 10000 };

struct sqlite_db {
	struct hive_db db;
	sqlite3 *handle;
	sqlite3_stmt *many;
	char *many_sql;
};

static struct sqlite_db *of(struct hive_db *db)
{
	return (struct sqlite_db *)db;
}

static int failed(struct sqlite_db *d)
{
	int code = sqlite3_errcode(d->handle);

	return rd_fail(code == SQLITE_NOMEM ? RD_ENOMEM : RD_ESYSTEM, "hive: database %s: %s",
		       sqlite3_db_filename(d->handle, "main"), sqlite3_errmsg(d->handle));
}

static int bind(struct sqlite_db *d, sqlite3_stmt *s, const char *const *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sqlite3_bind_text(s, (int)i + 1, values[i], -1, SQLITE_STATIC) != SQLITE_OK)
			return failed(d);
	return 0;
}

static int step_all(struct sqlite_db *d, sqlite3_stmt *s, hive_row_fn *row, void *context)
{
	const char *values[HIVE_DB_COLUMNS];
	int columns = sqlite3_column_count(s), status, err = 0;

	RD_ASSERT(columns <= HIVE_DB_COLUMNS);
	while (!err && (status = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < columns; i++)
			values[i] = (const char *)sqlite3_column_text(s, i);
		if (row)
			err = row(context, values);
	}
	return err ? err : status == SQLITE_DONE ? 0 : failed(d);
}

static int query(struct hive_db *db, const struct hive_statement *statement, hive_row_fn *row, void *context)
{
	struct sqlite_db *d = of(db);
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(d->handle, statement->sql, -1, &s, NULL) != SQLITE_OK)
		return failed(d);
	int err = bind(d, s, statement->parameters, statement->count);
	if (!err)
		err = step_all(d, s, row, context);
	sqlite3_finalize(s);
	return err;
}

static int prepare_many(struct sqlite_db *d, const char *sql)
{
	if (d->many && !strcmp(d->many_sql, sql))
		return 0;
	sqlite3_finalize(d->many);
	d->many = NULL;
	free(d->many_sql);
	d->many_sql = rd_xstrdup(sql);
	return sqlite3_prepare_v2(d->handle, sql, -1, &d->many, NULL) == SQLITE_OK ? 0 : failed(d);
}

static int many(struct hive_db *db, const struct hive_statement *s, size_t rows, bool *changed)
{
	struct sqlite_db *d = of(db);
	int err = prepare_many(d, s->sql);

	for (size_t i = 0; i < rows && !err; i++) {
		err = bind(d, d->many, s->parameters + i * s->count, s->count);
		if (!err)
			err = step_all(d, d->many, NULL, NULL);
		changed[i] = sqlite3_changes(d->handle) > 0;
		sqlite3_reset(d->many);
	}
	return err;
}

static void close_db(struct hive_db *db)
{
	struct sqlite_db *d = of(db);

	sqlite3_finalize(d->many);
	sqlite3_close(d->handle);
	free(d->many_sql);
	free(d);
}

/* Creates the file.  Only its owner may read it, because it contains the key that signs task sets.
 * A file that exists already is not opened here.  Closing it would drop the locks that SQLite
 * holds on it for another connection of this process. */
static int make_private(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno == EEXIST ? 0 : rd_fail_errno("hive: database %s", path);
	close(fd);
	return 0;
}

static int set_up(struct sqlite_db *d)
{
	static const char *const settings[] = {"PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL",
					       "PRAGMA foreign_keys=ON", "PRAGMA cache_size=-65536",
					       "PRAGMA wal_autocheckpoint=20000"};

	sqlite3_busy_timeout(d->handle, LOCK_WAIT_MS);
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
		int err = query(&d->db, &(struct hive_statement){settings[i], NULL, 0}, NULL, NULL);

		if (err)
			return err;
	}
	return 0;
}

static int open_db(struct hive_db **db, const char *where)
{
	struct sqlite_db *d;
	int err = make_private(where);

	if (err)
		return err;
	d = rd_xcalloc(1, sizeof *d);
	*db = &d->db;
	d->db.kind = &hive_db_sqlite;
	if (sqlite3_open_v2(where, &d->handle,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return rd_fail(RD_ESYSTEM, "hive: database %s: %s", where, sqlite3_errmsg(d->handle));
	return set_up(d);
}

/* The functions for SQLite.  BEGIN IMMEDIATE takes the write lock at the start of a transaction,
 * because taking it later could fail. */
const struct hive_db_kind hive_db_sqlite = {
	.open = open_db,
	.close = close_db,
	.query = query,
	.many = many,
	.begin = "BEGIN IMMEDIATE",
	.serial = "INTEGER PRIMARY KEY AUTOINCREMENT",
	.backup = "VACUUM INTO $1",
};
