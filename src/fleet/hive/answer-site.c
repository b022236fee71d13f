// SPDX-License-Identifier: Apache-2.0
/*
 * Answers requests of sites: the key, polls and reports.  A poll reads the programs and writes
 * nothing.  Reports are acknowledged only after they are on disk.
 */
#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/hex.h"
#include "hive/request-int.h"
#include "hive/task-set-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* If the hive does not know a site's build, the site asks again after this many seconds.  Set by
 * hand: users seldom add builds, so asking more often would only load the hive. */
enum { UNKNOWN_BUILD_RETRY_S = 3600 };

int hive_answer_key(struct hive_request *r)
{
	r->answer = rd_xasprintf("{\"version\":1,\"key\":\"%s\"}\n", protocol_signer_public(r->h->signer));
	r->answer_length = strlen(r->answer);
	return 0;
}

/* Passes a task set to the server, or reports that the site already has it. */
static int queue_answer(void *request, const struct hive_task_answer *answer)
{
	struct hive_request *r = request;
	const char *known = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, "If-None-Match");
	enum MHD_Result result;

	if (known && !strcmp(known, answer->tag)) {
		struct MHD_Response *empty = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);

		if (!empty)
			return rd_fail(RD_ENOMEM, "out of memory");
		MHD_add_response_header(empty, "ETag", answer->tag);
		result = MHD_queue_response(r->connection, MHD_HTTP_NOT_MODIFIED, empty);
		MHD_destroy_response(empty);
		hive_count(&r->h->metrics.unchanged, 1);
	} else {
		result = MHD_queue_response(r->connection, MHD_HTTP_OK, answer->response);
	}
	r->queued = result == MHD_YES;
	hive_count(&r->h->metrics.polls, r->queued);
	return r->queued ? 0 : rd_fail(RD_ESYSTEM, "the answer could not be sent");
}

static int poll_program(struct hive_request *r, const struct hive_program *p, const char *site)
{
	struct hive_task_ask ask = {.time = {time(NULL), r->h->opts.bound_s}, .signer = r->h->signer};
	struct hive_asking who = {.held = hive_query(r, "task"), .epoch = hive_epoch(&ask.time)};
	struct hive_task task;

	hive_site_key(site, who.site);
	ask.state = hive_allowed(p, who.site);
	if (ask.state != PROTOCOL_OFF)
		ask.sketch = hive_assign_sketch(p, &who);
	if (ask.state != PROTOCOL_OFF && !ask.sketch && hive_assign(p, &who, &task))
		ask.task = &task;
	return hive_task_cache_use(p, &ask, queue_answer, r);
}

static void unlock(void *lock)
{
	pthread_rwlock_unlock(lock);
}

int hive_answer_tasks(struct hive_request *r)
{
	const char *build = hive_query(r, "build"), *site = hive_query(r, "site");
	const struct hive_program *p;
	struct rd_cleanup cleanup;
	int err;

	if (!hive_is_build(build) || !rd_is_hex(site, HIVE_SITE - 1))
		return rd_fail(RD_EFORMAT, "build or site is missing or wrong");
	pthread_rwlock_rdlock(&r->h->lock);
	rd_cleanup_add(&cleanup, unlock, &r->h->lock);
	p = hive_find(r->h, build);
	if (p) {
		err = poll_program(r, p, site);
	} else {
		r->retry_after_s = UNKNOWN_BUILD_RETRY_S;
		err = rd_fail(RD_ENOTFOUND, "this build is not known");
	}
	rd_cleanup_remove(&cleanup);
	pthread_rwlock_unlock(&r->h->lock);
	return err;
}

/* Rejects reports about unknown candidates.  Returns false if the build is unknown. */
static bool check_candidates(struct hive *h, struct hive_pending *p)
{
	struct hive_reports *reports = &p->reports;
	const struct hive_program *program;

	pthread_rwlock_rdlock(&h->lock);
	program = hive_find(h, reports->build);
	if (program)
		p->program = program->number;
	for (size_t i = reports->count; i-- > 0 && program;)
		if (hive_program_find(program, reports->items[i].candidate) < 0)
			hive_reports_reject(reports, i, "this candidate is not known");
	pthread_rwlock_unlock(&h->lock);
	return program != NULL;
}

static void stored(struct hive_pending *p)
{
	struct hive_request *r = p->context;

	MHD_resume_connection(r->connection);
}

static bool has_answers(const struct hive_reports *reports)
{
	for (size_t i = 0; i < reports->count; i++)
		if (reports->items[i].result != HIVE_CONTEXT && reports->items[i].result != HIVE_NOT_SEEN)
			return true;
	return false;
}

static int write_receipt(struct hive_request *r)
{
	const struct hive_reports *reports = &r->pending.reports;
	struct rd_buf out = RD_BUF_INIT;
	size_t accepted = 0;

	for (size_t i = 0; i < reports->count; i++)
		accepted += r->pending.is_new[i];
	hive_count(&r->h->metrics.reports, accepted);
	hive_count(&r->h->metrics.duplicates, reports->count - accepted);
	hive_count(&r->h->metrics.rejected, reports->rejected_count);
	rd_buf_addf(&out, "{\"version\":1,\"accepted\":%zu,\"duplicate\":%zu,\"rejected\":[", accepted,
		    reports->count - accepted);
	for (size_t i = 0; i < reports->rejected_count; i++)
		rd_buf_addf(&out, "%s{\"index\":%zu,\"error\":\"%s\"}", i ? "," : "",
			    reports->rejected[i].index, reports->rejected[i].error);
	rd_buf_addf(&out, "],\"poll\":%s}\n", has_answers(reports) ? "true" : "false");
	r->answer_length = out.length;
	r->answer = rd_buf_detach(&out);
	return 0;
}

/* Suspends the connection until the writer resumes it.  If the queue is full, the connection is
 * resumed at once, with an error. */
static int submit(struct hive_request *r)
{
	r->pending.is_new = rd_xcalloc(r->pending.reports.count + 1, sizeof *r->pending.is_new);
	r->pending.done = stored;
	r->pending.context = r;
	r->is_pending = true;
	MHD_suspend_connection(r->connection);
	int err = hive_submit(r->h, &r->pending);
	if (err) {
		r->pending.err = err;
		MHD_resume_connection(r->connection);
	}
	return 0;
}

int hive_answer_reports(struct hive_request *r)
{
	int err;

	if (r->is_pending) {
		r->is_pending = false;
		return r->pending.err ? rd_fail(r->pending.err, "the reports could not be stored")
				      : write_receipt(r);
	}
	if (!r->length)
		return rd_fail(RD_EFORMAT, "reports: there is no body");
	err = hive_reports_read(&r->pending.reports, r->body, r->length);
	if (err)
		return err;
	if (!check_candidates(r->h, &r->pending))
		return rd_fail(RD_ENOTFOUND, "this build is not known");
	if (!r->pending.reports.count)
		return write_receipt(r);
	return submit(r);
}
