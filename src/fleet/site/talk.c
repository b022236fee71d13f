// SPDX-License-Identifier: Apache-2.0
/*
 * The agent's communication with the hive: polls, reports, and the state for the next run.  At
 * most one request is in progress.  After each failure the agent waits twice as long before the
 * next attempt, up to an hour.  Each wait is then varied at random by up to a half.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/json-read.h"
#include "base/process.h"
#include "site/agent-int.h"
#include "site/report-int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* All were set by hand. */
enum {
	REQUEST_LIMIT_MS = 10000, /* a hive that takes longer to answer is treated as unreachable */
	BACK_OFF_MAX_S = 3600,	  /* the longest average time between two attempts */
	/* The maximum number of times that the first wait, 1 s, is doubled; 2^12 s is more than
	 * BACK_OFF_MAX_S. */
	BACK_OFF_DOUBLINGS = 12,
	/* Seconds until the next poll if the hive does not know the program.  The hive itself
	 * proposes the same. */
	UNKNOWN_BUILD_RETRY_S = 3600,
	POLL_S = 900, /* the poll interval if no task set states one */
	/* Seconds between two requests with reports.  Reports are gathered, so that a busy site
	 * does not send a request for each. */
	SEND_EVERY_S = 5,
	/* The time limit, in milliseconds, for everything that is sent after the program has
	 * ended.  It equals the limit of one request, because the user is waiting. */
	FINAL_SEND_MS = 10000,
};

static int64_t after(uint64_t seconds)
{
	return rd_now_ns() + (int64_t)seconds * 1000000000;
}

/* Returns a time between half and one and a half times `seconds` from now. */
static int64_t around(uint64_t seconds)
{
	return rd_now_ns() +
	       (int64_t)(seconds * 500000000 + (uint64_t)rand() % (seconds * 1000 + 1) * 1000000);
}

static void back_off(struct site_agent *a, int64_t *when, long retry_s)
{
	uint64_t most = a->failures < BACK_OFF_DOUBLINGS ? 1ull << a->failures : BACK_OFF_MAX_S;
	if (most > BACK_OFF_MAX_S)
		most = BACK_OFF_MAX_S;
	RD_ASSERT(most > 0);
	a->failures++;
	*when = retry_s > 0 ? after((uint64_t)(retry_s < PROTOCOL_POLL_MAX_S ? retry_s : PROTOCOL_POLL_MAX_S))
			    : around(most);
}

/* ---- task sets ---- */

static bool is_acceptable(const struct site_agent *a, const struct protocol_task_set *set)
{
	return set->expires > (uint64_t)time(NULL) && (!a->has_set || set->serial >= a->set.serial);
}

/* Takes a set that the hive has sent or that the last run has stored.  The signature covers every
 * byte of the set. */
static bool take_set(struct site_agent *a, const char *signature, const struct rd_buf *body, const char *from)
{
	struct protocol_task_set set;
	if (!a->has_key || !protocol_is_signed(a->key, signature, body->data, body->length)) {
		if (a->has_key && !a->warned_key)
			rd_warn("%s: tasks are not signed by the hive's key, and are ignored", from);
		a->warned_key |= a->has_key;
		return false;
	}
	if (protocol_task_set_read(&set, a->table.build, body->data, body->length, from) ||
	    !is_acceptable(a, &set))
		return false;
	a->set = set;
	a->has_set = true;
	return true;
}

/* ---- answers ---- */

static void take_key(struct site_agent *a, const struct site_answer *answer)
{
	struct rd_json_read r = {.subject = "key", .name = a->opts->hive};
	json_t *tree = rd_json_load(&r, answer->body.data, answer->body.length);
	const char *digits = tree != NULL ? rd_json_get_text(&r, tree, "key") : NULL;
	if (rd_is_hex(digits, PROTOCOL_KEY_TEXT - 1)) {
		strcpy(a->key, digits);
		a->has_key = true;
		site_state_keep_key(&a->state, digits);
	}
	json_decref(tree);
}

static uint64_t poll_period(const struct site_agent *a)
{
	return a->has_set && a->set.poll_s != 0 ? a->set.poll_s : POLL_S;
}

static void take_tasks(struct site_agent *a, const struct site_answer *answer)
{
	if (answer->status == 304) {
		a->failures = 0;
		a->poll_at = around(poll_period(a));
		return;
	}
	if (answer->status == 404) {
		a->poll_at = after(answer->retry_s > 0 ? (uint64_t)answer->retry_s : UNKNOWN_BUILD_RETRY_S);
		return;
	}
	if (answer->status != 200 || !take_set(a, answer->signature, &answer->body, a->opts->hive)) {
		back_off(a, &a->poll_at, answer->retry_s);
		return;
	}
	a->failures = 0;
	memcpy(a->etag, answer->etag, sizeof a->etag);
	site_state_keep_set(&a->state, answer->signature, answer->etag, &answer->body);
	a->poll_at = around(poll_period(a));
}

/* Removes the reports that were sent. */
static void forget(struct site_agent *a)
{
	RD_ASSERT(a->in_flight <= a->lines.length);
	memmove(a->lines.data, a->lines.data + a->in_flight, a->lines.length - a->in_flight + 1);
	a->lines.length -= a->in_flight;
	a->in_flight = 0;
}

/* Handles the answer to reports.  Reports that the hive accepted, or will never accept, are
 * dropped.  The others are sent again. */
static void take_receipt(struct site_agent *a, const struct site_answer *answer)
{
	bool useless = answer->status == 400 || answer->status == 404 || answer->status == 413;
	if (answer->status != 200 && !useless) {
		back_off(a, &a->send_at, answer->retry_s);
		a->in_flight = 0;
		return;
	}
	forget(a);
	a->failures = 0;
	a->send_at = after(SEND_EVERY_S);
	if (useless)
		return;
	struct rd_json_read r = {.subject = "receipt", .name = a->opts->hive};
	json_t *tree = rd_json_load(&r, answer->body.data, answer->body.length);
	if (tree != NULL && json_is_true(json_object_get(tree, "poll")) && a->poll_at > after(1))
		a->poll_at = after(1);
	json_decref(tree);
}

static void take_answer(struct site_agent *a)
{
	const struct site_answer *answer = site_http_answer(a->http);
	enum agent_request was = a->request;
	RD_ASSERT(was != REQUEST_NONE && !site_http_busy(a->http));
	a->request = REQUEST_NONE;
	if (was == REQUEST_KEY && answer->status == 200)
		take_key(a, answer);
	if (was == REQUEST_KEY && !a->has_key)
		back_off(a, &a->poll_at, answer->retry_s);
	if (was == REQUEST_TASKS)
		take_tasks(a, answer);
	if (was == REQUEST_REPORTS)
		take_receipt(a, answer);
}

/* ---- requests ---- */

static void show(const char *method, const char *url, const char *body)
{
	fprintf(stderr, "raddle: would send: %s %s\n", method, url);
	if (body != NULL)
		fprintf(stderr, "%s\n", body);
}

static void ask(struct site_agent *a, enum agent_request request, char *url, const char *body)
{
	if (a->opts->dump) {
		show(body != NULL ? "POST" : "GET", url, body);
		if (request == REQUEST_REPORTS)
			forget(a);
		if (request != REQUEST_REPORTS)
			a->poll_at = after(BACK_OFF_MAX_S);
	} else {
		site_http_begin(a->http, url, body, request == REQUEST_TASKS && a->has_set ? a->etag : "");
		a->request = request;
	}
	free(url);
}

static void poll_hive(struct site_agent *a)
{
	if (!a->has_key) {
		ask(a, REQUEST_KEY, rd_xasprintf("%s/api/v1/key", a->opts->hive), NULL);
		return;
	}
	bool holds = a->has_set && a->set.count != 0;
	ask(a, REQUEST_TASKS,
	    rd_xasprintf("%s/api/v1/tasks?build=%s&site=%s%s%s", a->opts->hive, a->table.build, a->state.site,
			 holds ? "&task=" : "", holds ? a->set.tasks[0].id : ""),
	    NULL);
}

static void send_reports(struct site_agent *a)
{
	struct rd_buf body = RD_BUF_INIT;
	size_t used;
	site_report_body(&body, a->table.build, a->state.site, a->lines.data, &used);
	if (used != 0 && (a->opts->dump || site_state_may_send(&a->state, body.length))) {
		a->in_flight = used;
		ask(a, REQUEST_REPORTS,
		    rd_xasprintf("%s/api/v1/%s", a->opts->hive,
				 site_report_is_run(a->lines.data) ? "runs" : "reports"),
		    body.data);
	} else {
		a->send_at = after(BACK_OFF_MAX_S);
	}
	rd_buf_release(&body);
}

void agent_talk(struct site_agent *a, int wait_ms, int fd)
{
	if (a->http == NULL) {
		usleep((useconds_t)wait_ms * 1000);
		return;
	}
	if (!site_http_busy(a->http)) {
		if (a->lines.length != 0 && rd_now_ns() >= a->send_at)
			send_reports(a);
		else if (rd_now_ns() >= a->poll_at)
			poll_hive(a);
	}
	if (site_http_step(a->http, wait_ms, fd))
		take_answer(a);
}

/* ---- from run to run ---- */

static void read_contexts(struct site_agent *a)
{
	struct rd_buf text = RD_BUF_INIT;
	struct guard_candidate *all = a->table.candidates;
	size_t at = 0;
	RD_ASSERT(a->sent_contexts == NULL);
	a->sent_contexts = rd_xcalloc(a->table.count + 1, 1);
	site_state_contexts(&a->state, &text);
	/* The lines were written in the order of the table.  So the search for a line's candidate
	 * starts after the candidate of the previous line. */
	for (const char *line = text.length != 0 ? text.data : ""; *line != '\0';) {
		size_t n = strcspn(line, "\n");
		for (size_t i = 0; n > CANDIDATE_ID_SIZE && i < a->table.count; i++) {
			size_t k = (at + i) % a->table.count;
			if (strncmp(all[k].id, line, CANDIDATE_ID_SIZE - 1) != 0)
				continue;
			a->sent_contexts[k] = (uint8_t)(atoi(line + CANDIDATE_ID_SIZE) & 15);
			at = k + 1;
			break;
		}
		line += n + (line[n] == '\n');
	}
	rd_buf_release(&text);
}

static void keep_contexts(const struct site_agent *a)
{
	struct rd_buf text = RD_BUF_INIT;
	for (size_t i = 0; i < a->table.count; i++)
		if (a->sent_contexts[i] != 0)
			rd_buf_addf(&text, "%s %u\n", a->table.candidates[i].id, a->sent_contexts[i]);
	site_state_keep_contexts(&a->state, &text);
	rd_buf_release(&text);
}

static char *read_token(const struct site_opts *opts)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *from = getenv("RADDLE_HIVE_TOKEN");
	char *token = NULL;
	if (opts->token_file != NULL && rd_file_read_max(opts->token_file, 256, &text) == 0)
		from = text.data;
	if (from != NULL)
		token = rd_xstrndup(from, strcspn(from, "\r\n"));
	rd_buf_release(&text);
	return token;
}

/* Tries once to send all reports.  If `poll` is set, also polls once. */
static void send_all(struct site_agent *a, bool poll)
{
	int64_t end = rd_now_ns() + FINAL_SEND_MS * INT64_C(1000000);
	a->send_at = 0;
	a->poll_at = poll ? 0 : INT64_MAX;
	while (a->http != NULL && rd_now_ns() < end) {
		bool sends = a->lines.length != 0 && a->send_at <= rd_now_ns();
		if (!site_http_busy(a->http) && !sends && a->poll_at > rd_now_ns())
			break;
		agent_talk(a, 50, -1);
		if (a->lines.length != 0 && a->failures == 0)
			a->send_at = 0; /* send all reports */
	}
}

void agent_begin(struct site_agent *a)
{
	struct rd_buf body = RD_BUF_INIT;
	char signature[128];
	srand((unsigned)rd_now_ns() ^ (unsigned)getpid());
	read_contexts(a);
	site_state_memory(&a->state, &a->memory);
	a->token = read_token(a->opts);
	a->http = site_http_new(&(struct site_http_opts){
		.token = a->token, .ca = a->opts->ca, .limit_ms = REQUEST_LIMIT_MS, .max = PROTOCOL_SET_MAX});
	if (a->opts->key) {
		RD_ASSERT(rd_is_hex(a->opts->key, PROTOCOL_KEY_TEXT - 1));
		strcpy(a->key, a->opts->key);
	}
	a->has_key = a->opts->key || site_state_key(&a->state, a->key);
	if (site_state_set(&a->state, signature, a->etag, &body) &&
	    !take_set(a, signature, &body, "the last run's tasks"))
		a->etag[0] = '\0';
	rd_buf_release(&body);
	site_state_unspool(&a->state, &a->lines);
	if (a->opts->poll_now) {
		a->etag[0] = '\0';
		send_all(a, true);
	} else {
		a->poll_at = a->has_set ? rd_now_ns() + rand() % 1000 * INT64_C(1000000) : 0;
	}
}

/* Starts a background process that sends the remaining reports.  If the last task set is older than
 * the poll interval, the process also polls for the next run. */
static void send_in_background(struct site_agent *a)
{
	bool due = site_state_set_age(&a->state) >= poll_period(a);
	if ((a->lines.length == 0 && !due) || a->http == NULL || a->opts->dump)
		return;
	site_state_spool(&a->state, &a->lines);
	if (fork() != 0)
		return;
	if (setsid() < 0 || fork() != 0)
		_exit(0);
	rd_leave_streams();
	site_http_free(a->http); /* the connection belongs to the parent */
	a->http = site_http_new(&(struct site_http_opts){
		.token = a->token, .ca = a->opts->ca, .limit_ms = REQUEST_LIMIT_MS, .max = PROTOCOL_SET_MAX});
	a->lines.length = 0;
	a->request = REQUEST_NONE;
	a->in_flight = 0;
	site_state_unspool(&a->state, &a->lines);
	send_all(a, due);
	site_state_spool(&a->state, &a->lines);
	_exit(0);
}

void agent_end(struct site_agent *a)
{
	keep_contexts(a);
	site_state_keep_memory(&a->state, &a->memory);
	if (a->opts->poll_now || a->opts->dump)
		send_all(a, false);
	if (a->opts->poll_now && a->lines.length != 0)
		site_state_spool(&a->state, &a->lines);
	else
		send_in_background(a);
	site_http_free(a->http);
	rd_buf_release(&a->lines);
	RD_FREE(a->sent_contexts, a->token);
}
