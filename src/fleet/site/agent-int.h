/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations for the parts of the agent.  agent.c contains the loop, findings.c reads the
 * program's reports, and talk.c communicates with the hive. */
#ifndef SITE_AGENT_INT_H
#define SITE_AGENT_INT_H

#include "protocol/sign.h"
#include "site/agent.h"
#include "site/http-int.h"
#include "site/session-int.h"
#include "site/state-int.h"

/* A task that was passed to the program. */
struct agent_task {
	struct protocol_task task;
	uint32_t generation, candidate;
	bool capped;	/* true if the pause was reduced to the longest that the site allows */
	bool reported;	/* true if the task has some result in this run */
	uint32_t raced; /* a bit, 1 << order, for each order in which a race was seen */
};

struct site_agent {
	const struct site_opts *opts;
	char *executable;
	struct guard_table table;
	struct site_session session;
	struct site_state state;
	pid_t pid;
	int status;

	char run[17];
	uint32_t seq;
	struct rd_buf lines; /* the reports to be sent, one per line */
	size_t in_flight;    /* the number of bytes of `lines` that are being sent */

	bool killed, has_set, has_key, warned_key;
	char key[PROTOCOL_KEY_TEXT];
	char etag[128];
	struct protocol_task_set set;
	struct site_memory memory;
	enum protocol_mode mode;	     /* the mode that the program is in */
	char current_task[PROTOCOL_TASK_ID]; /* the id of the task that the program got last */
	struct agent_task tasks[RADDLE_GUARD_TASKS];
	size_t task_count;
	uint8_t *sent_contexts; /* for each candidate, the context that was sent to the hive */
	uint32_t still_seconds;
	bool hung;

	struct site_http *http;
	char *token;
	enum agent_request { REQUEST_NONE, REQUEST_KEY, REQUEST_TASKS, REQUEST_REPORTS } request;
	int64_t poll_at, send_at; /* when to poll and to send next, on the clock of rd_now_ns() */
	uint32_t failures;
};

/* findings.c */
void agent_collect(struct site_agent *a); /* takes the reports of the program */
/* Reports each context that has grown since it was last sent. */
void agent_contexts(struct site_agent *a);
void agent_consequence(struct site_agent *a, const char *what, int signal);
void agent_finish_tasks(struct site_agent *a, bool at_end); /* reports tasks without a result */

/* In talk.c.  agent_begin() reads the state that the last run left, and polls if --poll-now is
 * given.  agent_end() sends all reports, or keeps them for the next run. */
void agent_begin(struct site_agent *a);
void agent_talk(struct site_agent *a, int wait_ms, int fd);
void agent_end(struct site_agent *a);

#endif
