// SPDX-License-Identifier: Apache-2.0
/* The common part of both kinds of databases, and the choice between them. */
#include "hive/db-int.h"

#include "base/error.h"
#include "base/file.h"

#include <string.h>

static bool is_postgres(const char *where)
{
	return !strncmp(where, "postgres://", 11) || !strncmp(where, "postgresql://", 13);
}

int hive_db_open(struct hive_db **db, const char *where)
{
	RD_ASSERT(where != NULL);
	const struct hive_db_kind *kind = is_postgres(where) ? &hive_db_postgres : &hive_db_sqlite;

	RD_ASSERT(db != NULL);
	struct hive_db *opened = NULL;
	int err = kind->open(&opened, where);
	if (err)
		hive_db_close(opened);
	else
		*db = opened;
	return err;
}

void hive_db_close(struct hive_db *db)
{
	if (db)
		db->kind->close(db);
}

const char *hive_db_serial(const struct hive_db *db)
{
	return db->kind->serial;
}

int hive_db_query(struct hive_db *db, const struct hive_statement *s, hive_row_fn *row, void *context)
{
	RD_ASSERT(s->sql != NULL && (s->parameters || !s->count));
	return db->kind->query(db, s, row, context);
}

int hive_db_many(struct hive_db *db, const struct hive_statement *s, size_t rows, bool *changed)
{
	return rows ? db->kind->many(db, s, rows, changed) : 0;
}

int hive_db_begin(struct hive_db *db)
{
	return HIVE_RUN(db, db->kind->begin);
}

int hive_db_commit(struct hive_db *db)
{
	return HIVE_RUN(db, "COMMIT");
}

/* Rolls back.  If this fails, the connection is lost, and the transaction with it. */
void hive_db_rollback(struct hive_db *db)
{
	(void)HIVE_RUN(db, "ROLLBACK");
}

int hive_db_exclude(struct hive_db *db)
{
	return db->kind->exclude ? HIVE_RUN(db, db->kind->exclude) : 0;
}

int hive_db_backup(struct hive_db *db, const char *path)
{
	RD_ASSERT(path != NULL);
	if (!db->kind->backup)
		return rd_fail(RD_EUSAGE, "hive: %s: use %s", path, db->kind->backup_by);
	if (rd_file_exists(path))
		return rd_fail(RD_EUSAGE, "hive: %s exists already", path);
	return HIVE_RUN(db, db->kind->backup, path);
}
