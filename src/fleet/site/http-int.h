/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends HTTP requests to the hive asynchronously, one at a time, through libcurl.  Size and time
 * are limited.
 */
#ifndef SITE_HTTP_INT_H
#define SITE_HTTP_INT_H

#include "base/buf.h"

#include <stdbool.h>

struct site_http;

struct site_http_opts {
	const char *token; /* the token for the hive; NULL if there is none */
	const char *ca;	   /* the path of a file of certificates; NULL for the system's */
	long limit_ms;	   /* the time limit for a whole request */
	size_t max;	   /* maximum number of bytes of an answer */
};

struct site_answer {
	long status; /* the HTTP status; 0 if there is no answer */
	struct rd_buf body;
	char signature[128], etag[128];
	long retry_s; /* the seconds from the header Retry-After; 0 if there was none */
};

/* Returns NULL if libcurl does not work. */
struct site_http *site_http_new(const struct site_http_opts *opts);
void site_http_free(struct site_http *h);

/* Begins a request to the hive.  It is a GET request if `body` is NULL.  `etag` is the tag of the
 * content that the site already has.  If the content still has this tag, the hive does not send it
 * again.  If `etag` is "", the hive always sends the content. */
void site_http_begin(struct site_http *h, const char *url, const char *body, const char *etag);
bool site_http_busy(const struct site_http *h);

/* Works on the request for at most `wait_ms` milliseconds, and returns true if the answer is
 * complete.  If `fd` is not -1, the function returns early when `fd` becomes readable.  The answer
 * is valid until the next request begins. */
bool site_http_step(struct site_http *h, int wait_ms, int fd);
const struct site_answer *site_http_answer(const struct site_http *h);

#endif
