/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite3 with threads.  Each of THREADS threads has its own connection to a shared in-memory
 * database (shared cache).  It fills its own table in transactions, reads it back and joins it.  A
 * statement that finds a table locked by another thread is retried.  The output depends only on
 * ROWS and THREADS.
 *
 * usage: sqlite-threads ROWS THREADS
 */
#include "sqlite3.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_THREADS 64
#define BATCH 100

static int rows, threads;
static long long sums[MAX_THREADS];

static void fail(sqlite3 *db, const char *what)
{
	fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db));
	exit(1);
}

static int is_busy(int result)
{
	return (result & 0xff) == SQLITE_LOCKED || (result & 0xff) == SQLITE_BUSY;
}

static void exec(sqlite3 *db, const char *sql)
{
	int r;

	while (is_busy(r = sqlite3_exec(db, sql, NULL, NULL, NULL)))
		sched_yield();
	if (r != SQLITE_OK)
		fail(db, sql);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *format, int self)
{
	char sql[256];
	sqlite3_stmt *statement;
	int r;

	snprintf(sql, sizeof sql, format, self, self);
	while (is_busy(r = sqlite3_prepare_v2(db, sql, -1, &statement, NULL)))
		sched_yield();
	if (r != SQLITE_OK)
		fail(db, sql);
	return statement;
}

/* Executes one step of a statement.  If another thread has locked the table, it tries again. */
static int step(sqlite3 *db, sqlite3_stmt *statement)
{
	int r;

	while (is_busy(r = sqlite3_step(statement))) {
		sqlite3_reset(statement);
		sched_yield();
	}
	if (r != SQLITE_ROW && r != SQLITE_DONE)
		fail(db, "step");
	return r;
}

static void fill(sqlite3 *db, int self)
{
	sqlite3_stmt *insert = prepare(db, "INSERT INTO t%d VALUES(?1, ?2, 'row ' || ?2)", self);

	for (int i = 0; i < rows; i++) {
		if (i % BATCH == 0)
			exec(db, "BEGIN");
		sqlite3_bind_int(insert, 1, i);
		sqlite3_bind_int(insert, 2, (int)(i * 7919u % 10007u));
		step(db, insert);
		sqlite3_reset(insert);
		if (i % BATCH == BATCH - 1 || i == rows - 1)
			exec(db, "COMMIT");
	}
	sqlite3_finalize(insert);
}

static long long look_up(sqlite3 *db, int self)
{
	sqlite3_stmt *select = prepare(db, "SELECT a, length(b) FROM t%d WHERE id = ?1", self);
	long long sum = 0;

	for (int i = 0; i < rows; i++) {
		sqlite3_bind_int(select, 1, (int)(i * 104729u % (unsigned)rows));
		if (step(db, select) == SQLITE_ROW)
			sum += sqlite3_column_int64(select, 0) + sqlite3_column_int64(select, 1);
		sqlite3_reset(select);
	}
	sqlite3_finalize(select);
	return sum;
}

static long long join(sqlite3 *db, int self)
{
	sqlite3_stmt *select = prepare(
		db, "SELECT sum(x.a + y.id), count(DISTINCT y.b) FROM t%d x JOIN t%d y ON x.a = y.id", self);
	long long sum = 0;

	if (step(db, select) == SQLITE_ROW)
		sum = sqlite3_column_int64(select, 0) + sqlite3_column_int64(select, 1);
	sqlite3_finalize(select);
	return sum;
}

static sqlite3 *open_shared(void)
{
	sqlite3 *db;

	if (sqlite3_open_v2("file:shared?mode=memory&cache=shared", &db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
		fail(db, "open");
	return db;
}

static void *work(void *argument)
{
	int self = (int)(long)argument;
	sqlite3 *db = open_shared();

	fill(db, self);
	sums[self] = look_up(db, self) + join(db, self);
	sqlite3_close(db);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[MAX_THREADS];
	sqlite3 *db = open_shared();
	char sql[100];

	rows = argc > 1 ? atoi(argv[1]) : 1000;
	threads = argc > 2 ? atoi(argv[2]) : 4;
	if (rows < 1 || threads < 1 || threads > MAX_THREADS)
		return 2;
	for (int i = 0; i < threads; i++) {
		snprintf(sql, sizeof sql, "CREATE TABLE t%d(id INTEGER PRIMARY KEY, a INT, b TEXT)", i);
		exec(db, sql);
	}
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		printf("%d %lld\n", i, sums[i]);
	}
	sqlite3_close(db);
	return 0;
}
