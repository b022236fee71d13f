// SPDX-License-Identifier: Apache-2.0
/*
 * A running hive.  Many threads pass it reports and changes.  It writes rows to the store, and
 * keeps the programs in memory up to date.  The programs in memory are computed only from rows
 * that were read back from the store, in their order.  So they are the same after a restart, and
 * in every hive on the same store.
 */
#include "hive/hive.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "hive/task-set-int.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* All of these were set by hand. */
enum {
	/* maximum number of reports in one transaction; more would delay the answers */
	BATCH_MAX = 8192,
	/* The maximum number of reports that wait to be stored.  Further reports are refused,
	 * which bounds the memory. */
	QUEUE_MAX = 200000,
	/* The maximum number of rows to read at once while the hive catches up.  This bounds how
	 * long other threads wait. */
	ROWS_AT_A_TIME = 20000,
	REFRESH_MS = 500, /* the time between two checks of the store for changes by other processes */
};

static int compare_builds(const void *a, const void *b)
{
	return strcmp((*(struct hive_program *const *)a)->build, (*(struct hive_program *const *)b)->build);
}

struct hive_program *hive_find(const struct hive *h, const char *build)
{
	struct hive_program key, *wanted = &key;
	struct hive_program **found;

	if (strlen(build) >= sizeof key.build)
		return NULL;
	strcpy(key.build, build);
	found = h->count ? bsearch(&wanted, h->programs, h->count, sizeof(struct hive_program *),
				   compare_builds)
			 : NULL;
	return found ? *found : NULL;
}

/* Rows that were read but are not applied yet. */
struct unapplied_rows {
	struct hive_row *items;
	size_t count, capacity;
};

static void keep_row(void *context, const struct hive_row *row)
{
	struct unapplied_rows *r = context;

	RD_GROW(r->items, r->capacity, r->count + 1);
	r->items[r->count++] = *row;
}

static struct hive_program *by_number(struct hive_program **programs, size_t count, uint64_t number)
{
	for (size_t i = 0; i < count; i++)
		if (programs[i]->number == number)
			return programs[i];
	return NULL;
}

static void apply(struct hive *h, const struct unapplied_rows *r)
{
	struct hive_program *p = NULL;

	pthread_rwlock_wrlock(&h->lock);
	for (size_t i = 0; i < r->count; i++) {
		if (!p || p->number != r->items[i].program)
			p = by_number(h->programs, h->count, r->items[i].program);
		if (p)
			hive_program_apply(p, &r->items[i]);
	}
	pthread_rwlock_unlock(&h->lock);
}

/* Reads tracked runs.  They are few but expensive, because each may start a search for predictors.
 * The search allocates memory and may fail while the lock is held, so keep_run() registers a
 * cleanup function that releases the lock. */
struct run_reader {
	struct hive *h;
	/* If this is not NULL, only the runs of this program are applied.  No other thread can see
	 * the program yet. */
	struct hive_program *only;
	uint64_t upto;
};

static void unlock_programs(void *lock)
{
	pthread_rwlock_unlock(lock);
}

/* Applies a record.  Records are checked before they are stored, so all of them should be readable.
 * A record that cannot be read is ignored. */
static void apply_run(struct hive_program *p, const struct hive_run *run)
{
	struct hive_sketch *s = p ? hive_program_sketch(p, run->sketch) : NULL;
	struct rd_context quiet = {.log = rd_log_discard};

	if (!s)
		return;
	rd_context_enter(&quiet);
	hive_sketch_apply(s, run->record, strlen(run->record));
	rd_context_leave(&quiet);
}

static void keep_run(void *context, const struct hive_run *run)
{
	struct run_reader *r = context;
	struct rd_cleanup cleanup;

	if (r->only) {
		if (run->number <= r->upto)
			apply_run(r->only, run);
		return;
	}
	pthread_rwlock_wrlock(&r->h->lock);
	rd_cleanup_add(&cleanup, unlock_programs, &r->h->lock);
	apply_run(by_number(r->h->programs, r->h->count, run->program), run);
	r->h->runs_applied = run->number;
	rd_cleanup_remove(&cleanup);
	pthread_rwlock_unlock(&r->h->lock);
}

static int follow_runs(struct hive *h)
{
	return hive_store_runs(h->db, h->runs_applied, 0, keep_run, &(struct run_reader){.h = h});
}

/* Reads and applies the new reports.  The caller holds `work`. */
static int follow(struct hive *h)
{
	struct unapplied_rows r = {0};
	int err;

	do {
		r.count = 0;
		err = hive_store_each(h->db,
				      &(struct hive_range){.after = h->applied, .limit = ROWS_AT_A_TIME},
				      keep_row, &r);
		if (!err && r.count) {
			RD_ASSERT(r.items[0].number > h->applied);
			apply(h, &r);
			h->applied = r.items[r.count - 1].number;
		}
	} while (!err && r.count == ROWS_AT_A_TIME);
	free(r.items);
	return err;
}

struct refold {
	struct hive_program *program;
	uint64_t upto, last;
	size_t count;
};

static void refold_row(void *context, const struct hive_row *row)
{
	struct refold *f = context;

	RD_ASSERT(row->number > f->last && row->program == f->program->number);
	f->last = row->number;
	f->count++;
	if (row->number <= f->upto)
		hive_program_apply(f->program, row);
}

/* Applies all reports of a program again, because its candidates have changed. */
static int refold(struct hive *h, struct hive_program *p)
{
	struct refold f = {.program = p, .upto = h->applied};
	int err = 0;

	RD_ASSERT(!p->cache);
	p->cache = hive_task_cache_new(p->count);
	do {
		f.count = 0;
		err = hive_store_each(
			h->db,
			&(struct hive_range){.after = f.last, .program = p->number, .limit = ROWS_AT_A_TIME},
			refold_row, &f);
	} while (!err && f.count == ROWS_AT_A_TIME && f.last < f.upto);
	if (!err && p->sketch_count)
		err = hive_store_runs(h->db, 0, p->number, keep_run,
				      &(struct run_reader){.only = p, .upto = h->runs_applied});
	return err;
}

/* Loads the programs that are in the store now.  Each program is allocated separately. */
static int load(struct hive *h, struct hive_program ***programs, size_t *count)
{
	struct hive_program *loaded;
	int err = hive_store_programs(h->db, &loaded, count);

	if (err)
		return err;
	*programs = rd_xcalloc(*count + 1, sizeof **programs);
	for (size_t i = 0; i < *count; i++) {
		(*programs)[i] = rd_xmalloc(sizeof *loaded);
		*(*programs)[i] = loaded[i];
	}
	free(loaded);
	return 0;
}

static void free_programs(struct hive_program **programs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		hive_program_release(programs[i]);
		free(programs[i]);
	}
	free(programs);
}

/* Keeps the old object of each unchanged program, because its reports have been applied already.
 * The newly loaded object replaces it in `old`, to be freed. */
static void keep_unchanged(struct hive_program **programs, size_t count, struct hive_program **old,
			   size_t old_count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < old_count && !programs[i]->cache; k++)
			if (old[k]->number == programs[i]->number) {
				struct hive_program *same = old[k];

				old[k] = programs[i];
				programs[i] = same;
			}
}

static int load_programs(struct hive *h)
{
	struct hive_program **programs, **old = h->programs;
	size_t count = 0, old_count = h->count;
	int err = load(h, &programs, &count);

	if (err)
		return err;
	for (size_t i = 0; i < count && !err; i++) {
		struct hive_program *same = by_number(old, old_count, programs[i]->number);

		if (!same || same->revision != programs[i]->revision)
			err = refold(h, programs[i]);
	}
	if (err) {
		free_programs(programs, count);
		return err;
	}
	qsort(programs, count, sizeof *programs, compare_builds);
	pthread_rwlock_wrlock(&h->lock);
	keep_unchanged(programs, count, old, old_count);
	for (size_t i = 0; i < count; i++)
		RD_ASSERT(programs[i]->cache);
	h->programs = programs;
	h->count = count;
	pthread_rwlock_unlock(&h->lock);
	free_programs(old, old_count);
	return 0;
}

static void free_tokens(struct hive_token *tokens, size_t count)
{
	RD_FREE_EACH(tokens, count, .fleet);
	free(tokens);
}

static int load_tokens(struct hive *h)
{
	struct hive_token *tokens, *old;
	size_t count, old_count;
	int err = hive_store_tokens(h->db, &tokens, &count);

	if (err) {
		free_tokens(tokens, count);
		return err;
	}
	pthread_rwlock_wrlock(&h->lock);
	old = h->tokens;
	old_count = h->token_count;
	h->tokens = tokens;
	h->token_count = count;
	pthread_rwlock_unlock(&h->lock);
	free_tokens(old, old_count);
	return 0;
}

/* Loads the changes in the store.  The caller holds `work`. */
static int refresh(struct hive *h)
{
	uint64_t revision;
	int err = hive_store_revision(h->db, &revision);

	if (!err && revision != h->revision) {
		err = load_programs(h);
		if (!err)
			err = load_tokens(h);
		if (!err)
			h->revision = revision;
	}
	if (!err)
		err = follow(h);
	return err ? err : follow_runs(h);
}

/* Releases the lock when a request runs out of memory. */
static void unlock(void *lock)
{
	pthread_mutex_unlock(lock);
}

static void set_store_failed(struct hive *h, bool failed)
{
	pthread_mutex_lock(&h->queue_lock);
	h->store_failed = failed;
	pthread_mutex_unlock(&h->queue_lock);
}

static int change(struct hive *h, int (*work)(struct hive_db *db, const void *what), const void *what)
{
	int err = work ? work(h->db, what) : 0, again;

	again = refresh(h);
	set_store_failed(h, again != 0);
	return err ? err : again;
}

int hive_change(struct hive *h, int (*work)(struct hive_db *db, const void *what), const void *what)
{
	struct rd_cleanup cleanup;
	int err;

	pthread_mutex_lock(&h->work);
	rd_cleanup_add(&cleanup, unlock, &h->work);
	err = change(h, work, what);
	rd_cleanup_remove(&cleanup);
	pthread_mutex_unlock(&h->work);
	return err;
}

int hive_submit(struct hive *h, struct hive_pending *p)
{
	bool full;

	RD_ASSERT(p->done && p->is_new && p->reports.count > 0);
	p->next = NULL;
	pthread_mutex_lock(&h->queue_lock);
	full = h->stopping || h->queued + p->reports.count > QUEUE_MAX;
	if (!full) {
		*h->last = p;
		h->last = &p->next;
		h->queued += p->reports.count;
		pthread_cond_signal(&h->queue_filled);
	}
	pthread_mutex_unlock(&h->queue_lock);
	return full ? rd_fail(RD_ELIMIT, "the hive is stopping or has too much to do") : 0;
}

bool hive_is_well(struct hive *h)
{
	bool well;

	pthread_mutex_lock(&h->queue_lock);
	well = !h->store_failed && !h->stopping;
	pthread_mutex_unlock(&h->queue_lock);
	return well;
}

/* The requests whose reports the writer stores in one transaction. */
struct batch {
	struct hive *h;
	struct hive_pending *first; /* the requests of the batch, linked by `next` */
	size_t count;		    /* the number of reports */
};

/* Takes a batch from the queue, after waiting for at most REFRESH_MS.  Returns false when the hive
 * ends. */
static bool take_batch(struct hive *h, struct batch *b)
{
	struct timespec end;
	struct hive_pending **at;
	bool more;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += REFRESH_MS * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	*b = (struct batch){.h = h};
	pthread_mutex_lock(&h->queue_lock);
	while (!h->first && !h->stopping && !pthread_cond_timedwait(&h->queue_filled, &h->queue_lock, &end))
		;
	b->first = h->first;
	for (at = &h->first; *at && b->count < BATCH_MAX; at = &(*at)->next)
		b->count += (*at)->reports.count;
	h->first = *at;
	*at = NULL;
	if (!h->first)
		h->last = &h->first;
	RD_ASSERT(h->queued >= b->count);
	h->queued -= b->count;
	more = b->first || !h->stopping;
	pthread_mutex_unlock(&h->queue_lock);
	return more;
}

static void fill_rows(const struct batch *b, struct hive_row *rows)
{
	int64_t now = hive_now_ms();
	size_t n = 0;

	for (const struct hive_pending *p = b->first; p; p = p->next)
		for (size_t i = 0; i < p->reports.count; i++, n++) {
			rows[n].program = p->program;
			rows[n].report = p->reports.items[i];
			rows[n].report.received = now;
			strcpy(rows[n].site, p->reports.site);
		}
	RD_ASSERT(n == b->count);
}

static int write_batch(struct hive_db *db, const void *what)
{
	const struct batch *b = what;
	struct hive_row *rows = rd_xcalloc(b->count + 1, sizeof *rows);
	bool *is_new = rd_xcalloc(b->count + 1, sizeof *is_new);
	int64_t start = rd_now_ns();
	size_t n = 0;

	fill_rows(b, rows);
	int err = hive_store_report(db, rows, b->count, is_new);
	for (struct hive_pending *p = b->first; p && !err; p = p->next) {
		memcpy(p->is_new, is_new + n, p->reports.count * sizeof *is_new);
		n += p->reports.count;
	}
	hive_metrics_batch(&b->h->metrics, b->count, rd_now_ns() - start);
	RD_FREE(rows, is_new);
	return err;
}

static int store_batch(void *argument)
{
	const struct batch *b = argument;

	return hive_change(b->h, b->first ? write_batch : NULL, b);
}

/* If a batch could not be stored or read back, all its requests are answered with that error.  Some
 * of their reports may have been stored nevertheless.  If a site sends such a report again, it is
 * recognised by its run and number. */
static void *run_writer(void *argument)
{
	struct hive *h = argument;
	struct batch b;

	while (take_batch(h, &b)) {
		struct rd_context c = {0};
		int err = rd_context_run(&c, store_batch, &b);

		for (struct hive_pending *p = b.first, *next; p; p = next) {
			next = p->next;
			p->err = err;
			p->done(p);
		}
	}
	return NULL;
}

void hive_stop(struct hive *h)
{
	pthread_mutex_lock(&h->queue_lock);
	h->stopping = true;
	pthread_cond_signal(&h->queue_filled);
	pthread_mutex_unlock(&h->queue_lock);
	if (h->has_writer)
		pthread_join(h->writer, NULL);
	h->has_writer = false;
}

static void init_locks(struct hive *h)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&h->queue_filled, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_rwlock_init(&h->lock, NULL);
	pthread_mutex_init(&h->work, NULL);
	pthread_mutex_init(&h->look, NULL);
	pthread_mutex_init(&h->queue_lock, NULL);
	h->last = &h->first;
}

static int start(struct hive *h)
{
	char secret[PROTOCOL_KEY_TEXT];
	int err = hive_store_open(&h->db, h->opts.db);

	if (!err)
		err = hive_store_open(&h->reader, h->opts.db);
	if (!err)
		err = hive_store_key(h->db, secret);
	if (!err)
		err = protocol_signer_open(&h->signer, secret);
	h->revision = UINT64_MAX;
	if (!err)
		err = hive_change(h, NULL, NULL);
	if (!err && pthread_create(&h->writer, NULL, run_writer, h))
		err = rd_fail(RD_ESYSTEM, "hive: cannot start a thread");
	h->has_writer = !err;
	return err;
}

int hive_open(struct hive **hive, const struct hive_opts *opts)
{
	struct hive *h = rd_xcalloc(1, sizeof *h);
	int err;

	h->opts = *opts;
	init_locks(h);
	hive_metrics_init(&h->metrics);
	err = start(h);
	if (err)
		hive_close(h);
	else
		*hive = h;
	return err;
}

void hive_close(struct hive *h)
{
	hive_stop(h);
	free_programs(h->programs, h->count);
	free_tokens(h->tokens, h->token_count);
	hive_db_close(h->db);
	hive_db_close(h->reader);
	protocol_signer_close(h->signer);
	pthread_rwlock_destroy(&h->lock);
	pthread_mutex_destroy(&h->work);
	pthread_mutex_destroy(&h->look);
	pthread_mutex_destroy(&h->queue_lock);
	pthread_cond_destroy(&h->queue_filled);
	free(h);
}

static int compare_hashes(const void *hash, const void *token)
{
	return strcmp(hash, ((const struct hive_token *)token)->hash);
}

enum hive_role hive_role_of(struct hive *h, const char *token)
{
	char hash[HIVE_HASH_TEXT] = "";
	enum hive_role role = HIVE_NOBODY;

	if (token)
		hive_hash(token, hash);
	pthread_rwlock_rdlock(&h->lock);
	if (!h->token_count && h->opts.open)
		role = HIVE_ADMIN;
	else if (token && h->token_count) {
		const struct hive_token *found =
			bsearch(hash, h->tokens, h->token_count, sizeof *h->tokens, compare_hashes);

		role = found ? found->role : HIVE_NOBODY;
	}
	pthread_rwlock_unlock(&h->lock);
	return role;
}
