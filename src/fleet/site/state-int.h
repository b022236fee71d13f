/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that a site keeps between runs, in files in its own directory: its ID, the hive's key,
 * the last task set of each program, the contexts that it has sent, and unsent reports.  A program
 * that runs for only milliseconds gets its tasks from these files.
 */
#ifndef SITE_STATE_INT_H
#define SITE_STATE_INT_H

#include "base/buf.h"
#include "protocol/sign.h"
#include "protocol/task-set.h"

struct site_state {
	char *directory;
	char site[33]; /* a random ID, which changes every month */
	char hive[17]; /* a hash of the hive's URL, for names of files */
	const char *build;
};

/* The state of the latest task. */
struct site_memory {
	char task[PROTOCOL_TASK_ID]; /* the id of the task; "" if there is none */
	bool steered;		     /* true if a thread was already stopped for the task */
	bool settled;		     /* true if the task has a result */
};

/* Opens the state in `directory`.  If that is NULL, uses the user's default directory. */
int site_state_open(struct site_state *s, const char *directory, const char *url, const char *build);
void site_state_release(struct site_state *s);

/* Reads the hive's key.  Returns false if it is not known yet. */
bool site_state_key(const struct site_state *s, char key[PROTOCOL_KEY_TEXT]);
void site_state_keep_key(const struct site_state *s, const char *text);

/* Reads the last task set as it was received: signature, ETag, body.  Returns false if there is
 * none. */
bool site_state_set(const struct site_state *s, char signature[128], char etag[128], struct rd_buf *body);
void site_state_keep_set(const struct site_state *s, const char *signature, const char *etag,
			 const struct rd_buf *body);

/* Returns the number of seconds since the last task set was stored, or UINT64_MAX if there is
 * none. */
uint64_t site_state_set_age(const struct site_state *s);

void site_state_memory(const struct site_state *s, struct site_memory *m);
void site_state_keep_memory(const struct site_state *s, const struct site_memory *m);

/* Reads the contexts that were sent, as lines "ID BITS". */
void site_state_contexts(const struct site_state *s, struct rd_buf *text);
void site_state_keep_contexts(const struct site_state *s, const struct rd_buf *text);

/* The spool: reports that wait to be sent, one per line.  If the file is full (SITE_SPOOL_MAX), new
 * reports are dropped. */
/* The maximum size of the spool in bytes.  Set by hand: it suffices for some ten thousand reports,
 * and takes little space on a user's disk. */
#define SITE_SPOOL_MAX (4u << 20)
void site_state_spool(const struct site_state *s, const struct rd_buf *lines);
void site_state_unspool(const struct site_state *s, struct rd_buf *lines); /* also empties the file */

/* The maximum number of bytes that are sent per day.  Set by hand: this is little even for a
 * metered connection. */
#define SITE_UPLOAD_MAX (1u << 20)
/* Returns true if this many bytes may still be sent today.  If so, they are counted as sent. */
bool site_state_may_send(const struct site_state *s, size_t bytes);

#endif
