/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a hive, for commands. */
#ifndef HIVE_CLIENT_H
#define HIVE_CLIENT_H

#include "base/buf.h"
#include "sketch/plan.h"

#include <stdbool.h>

struct hive_client {
	const char *url;   /* the address of the hive */
	const char *token; /* the token; or NULL */
	const char *ca;	   /* the path of a file of trusted certificates; NULL for the system's */
};

/* Sends one request.  `body` is NULL if the request has none.  Stores the hive's answer in
 * `answer`.  Any status other than 200 is an error, reported with the hive's message. */
int hive_client_ask(const struct hive_client *c, const char *method, const char *path, const char *body,
		    struct rd_buf *answer);

/* Reads the token from a file, up to the first blank.  The caller frees it. */
int hive_client_token(const char *path, char **token);

/* Finds the build that `word` names.  The word is either a build or the path of a program.  Stores
 * the build in *build; the caller frees it. */
int hive_client_build(const char *word, char **build);

/* Gets the status document of a build, or of all builds if `build` is NULL. */
int hive_client_status(const struct hive_client *c, const char *build, struct rd_buf *document);

/* Adds a program with its candidates; `path` is the path of its executable. */
int hive_client_add(const struct hive_client *c, const char *program, const char *path,
		    struct rd_buf *answer);

/* Reads a document of 'raddle classify' and sends the classes of those races that the hive knows.
 * Stores their number in *sent. */
int hive_client_classes(const struct hive_client *c, const char *build, const char *findings, size_t *sent);

/* Settings of a program.  A setting that is NULL or negative is not changed. */
struct hive_settings {
	const char *state;
	int64_t rollout, poll_s;
};
int hive_client_set(const struct hive_client *c, const char *build, const struct hive_settings *settings);

/* Requests that sites track a failure of a program. */
int hive_client_track(const struct hive_client *c, const char *program, struct sketch_failure *failure,
		      struct rd_buf *answer);

/* Gets a sketch.  `form` is "" (JSON), "/page" or "/text". */
int hive_client_sketch(const struct hive_client *c, const char *build, const char *id, const char *form,
		       struct rd_buf *answer);

#endif
