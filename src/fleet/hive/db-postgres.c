// SPDX-License-Identifier: Apache-2.0
/*
 * PostgreSQL, on which several hives may share one database.  A batch is sent through a pipeline,
 * so it costs only one round trip.  If the connection was lost, the next call outside a
 * transaction reconnects.
 */
#include "hive/db-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

struct postgres_db {
	struct hive_db db;
	PGconn *handle;
	char *prepared; /* the prepared statement "many" of this connection; NULL if there is none */
	bool inside;	/* true if a transaction was begun */
};

static struct postgres_db *of(struct hive_db *db)
{
	return (struct postgres_db *)db;
}

/* Reports an error. libpq's message has line breaks, which are replaced. */
static int failed(struct postgres_db *d, const PGresult *result)
{
	const char *text = result ? PQresultErrorMessage(result) : PQerrorMessage(d->handle);

	if (!*text)
		text = PQerrorMessage(d->handle);
	return rd_fail(RD_ESYSTEM, "hive: PostgreSQL: %.*s", (int)strcspn(text, "\n"),
		       *text ? text : "no connection");
}

static bool succeeded(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static int connect_again(struct postgres_db *d)
{
	if (PQstatus(d->handle) == CONNECTION_OK)
		return 0;
	if (d->inside)
		return failed(d, NULL);
	PQreset(d->handle);
	free(d->prepared);
	d->prepared = NULL;
	return PQstatus(d->handle) == CONNECTION_OK ? 0 : failed(d, NULL);
}

static int each_row(const PGresult *result, hive_row_fn *row, void *context)
{
	const char *values[HIVE_DB_COLUMNS];
	int columns = PQnfields(result), err = 0;

	RD_ASSERT(columns <= HIVE_DB_COLUMNS);
	for (int i = 0; row && i < PQntuples(result) && !err; i++) {
		for (int k = 0; k < columns; k++)
			values[k] = PQgetisnull(result, i, k) ? NULL : PQgetvalue(result, i, k);
		err = row(context, values);
	}
	return err;
}

/* Keeps track of whether a transaction is open.  When the transaction ends, even because of an
 * error, the next call may reconnect. */
static void note_transaction(struct postgres_db *d, const char *sql)
{
	if (!strncmp(sql, "BEGIN", 5))
		d->inside = true;
	else if (!strcmp(sql, "COMMIT") || !strcmp(sql, "ROLLBACK"))
		d->inside = false;
}

/* Returns true if a statement took effect.  A COMMIT of a transaction in which something failed
 * "succeeds" as a ROLLBACK. */
static bool was_done(const PGresult *result, const char *sql)
{
	return succeeded(result) &&
	       (strcmp(sql, "COMMIT") || !strcmp(PQcmdStatus((PGresult *)result), "COMMIT"));
}

static int query(struct hive_db *db, const struct hive_statement *s, hive_row_fn *row, void *context)
{
	struct postgres_db *d = of(db);
	int err = connect_again(d);

	if (!err) {
		PGresult *result =
			PQexecParams(d->handle, s->sql, (int)s->count, NULL, s->parameters, NULL, NULL, 0);

		err = was_done(result, s->sql) ? each_row(result, row, context) : failed(d, result);
		PQclear(result);
	}
	note_transaction(d, s->sql);
	return err;
}

static int prepare_many(struct postgres_db *d, const struct hive_statement *s)
{
	PGresult *result;
	int err = 0;

	if (d->prepared && !strcmp(d->prepared, s->sql))
		return 0;
	if (d->prepared)
		PQclear(PQexec(d->handle, "DEALLOCATE many"));
	free(d->prepared);
	d->prepared = NULL;
	result = PQprepare(d->handle, "many", s->sql, (int)s->count, NULL);
	if (succeeded(result))
		d->prepared = rd_xstrdup(s->sql);
	else
		err = failed(d, result);
	PQclear(result);
	return err;
}

static int send_rows(struct postgres_db *d, const struct hive_statement *s, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		if (!PQsendQueryPrepared(d->handle, "many", (int)s->count, s->parameters + i * s->count, NULL,
					 NULL, 0))
			return failed(d, NULL);
	return PQpipelineSync(d->handle) ? 0 : failed(d, NULL);
}

/* Reads the results of a batch.  Each statement has one result, which is followed by NULL.
 * Returns the first error. */
static int take_results(struct postgres_db *d, size_t rows, bool *changed)
{
	int err = 0;

	for (size_t i = 0; i < rows; i++) {
		PGresult *result = PQgetResult(d->handle);

		if (!succeeded(result) && !err)
			err = failed(d, result);
		changed[i] = succeeded(result) && strcmp(PQcmdTuples(result), "0") != 0;
		PQclear(result);
		if (!result)
			return err;
		PQclear(PQgetResult(d->handle));
	}
	PQclear(PQgetResult(d->handle)); /* the end of the pipeline */
	return err;
}

/* The maximum number of rows that are sent before results are read.  This bounds the connection's
 * buffer. */
enum { PIPELINE = 256 };

static int many(struct hive_db *db, const struct hive_statement *s, size_t rows, bool *changed)
{
	struct postgres_db *d = of(db);
	int err = connect_again(d);

	if (!err)
		err = prepare_many(d, s);
	for (size_t at = 0; at < rows && !err; at += PIPELINE) {
		struct hive_statement part = {s->sql, s->parameters + at * s->count, s->count};
		size_t n = rows - at < PIPELINE ? rows - at : PIPELINE;

		if (!PQenterPipelineMode(d->handle))
			return failed(d, NULL);
		err = send_rows(d, &part, n);
		if (!err)
			err = take_results(d, n, changed + at);
		if (!PQexitPipelineMode(d->handle) && !err)
			err = failed(d, NULL);
	}
	return err;
}

static void close_db(struct hive_db *db)
{
	struct postgres_db *d = of(db);

	PQfinish(d->handle);
	free(d->prepared);
	free(d);
}

static int open_db(struct hive_db **db, const char *where)
{
	struct postgres_db *d = rd_xcalloc(1, sizeof *d);

	*db = &d->db;
	d->db.kind = &hive_db_postgres;
	d->handle = PQconnectdb(where);
	if (PQstatus(d->handle) != CONNECTION_OK)
		return failed(d, NULL);
	/* Notices, such as "relation exists", do not belong in the log. */
	PQclear(PQexec(d->handle, "SET client_min_messages = warning"));
	return 0;
}

/* The functions for PostgreSQL.  Row numbers are assigned at insertion, so inserts must be
 * serialised.  Otherwise a row could become visible after rows with larger numbers, and a hive
 * that had already read those rows would miss it. */
const struct hive_db_kind hive_db_postgres = {
	.open = open_db,
	.close = close_db,
	.query = query,
	.many = many,
	.begin = "BEGIN",
	.exclude = "SELECT pg_advisory_xact_lock(7217201)",
	.serial = "BIGSERIAL PRIMARY KEY",
	.backup_by = "pg_dump for a PostgreSQL database",
};
