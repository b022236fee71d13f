/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a hive, for commands. */
#ifndef HIVE_CLIENT_H
#define HIVE_CLIENT_H

#include "base/buf.h"
#include "sketch/plan.h"

#include <stdbool.h>

struct hive_client {
	const char *url;   /* of the hive */
	const char *token; /* or NULL */
	const char *ca;	   /* a file of trusted certificates; NULL: the system's */
};

/* One request; body NULL: no body.  Stores the hive's answer in `answer`.  A status other than 200
 * is an error with the hive's message. */
int hive_client_ask(const struct hive_client *c, const char *method, const char *path, const char *body,
		    struct rd_buf *answer);

/* The token in a file, up to its first blank; the caller frees it. */
int hive_client_token(const char *path, char **token);

/* The build that a word names: itself, or that of the program at a path.  The caller frees it. */
int hive_client_build(const char *word, char **build);

/* The status document of a build, or of all (NULL). */
int hive_client_status(const struct hive_client *c, const char *build, struct rd_buf *document);

/* Adds a program with its candidates; `path` is that of its executable. */
int hive_client_add(const struct hive_client *c, const char *program, const char *path,
		    struct rd_buf *answer);

/* Reads a document of 'raddle classify' and sends the classes of those races that the hive knows.
 * Stores their number in *sent. */
int hive_client_classes(const struct hive_client *c, const char *build, const char *findings, size_t *sent);

/* What sites may do with a program; a setting that is NULL or negative stays as it is. */
struct hive_settings {
	const char *state;
	int64_t rollout, poll_s;
};
int hive_client_set(const struct hive_client *c, const char *build, const struct hive_settings *settings);

/* Has sites track a failure of a program. */
int hive_client_track(const struct hive_client *c, const char *program, struct sketch_failure *failure,
		      struct rd_buf *answer);

/* A sketch in a form: "" (JSON), "/page" or "/text". */
int hive_client_sketch(const struct hive_client *c, const char *build, const char *id, const char *form,
		       struct rd_buf *answer);

#endif
