/* SPDX-License-Identifier: Apache-2.0 */
/* A request in the server: its input and its answer. */
#ifndef HIVE_REQUEST_INT_H
#define HIVE_REQUEST_INT_H

#include "base/buf.h"
#include "hive/hive.h"

#include <microhttpd.h>

struct hive_request {
	struct hive *h;
	struct MHD_Connection *connection;
	const struct hive_route *route;
	const char *first, *second; /* the variable parts of the path; they point into `path` */
	char *path;
	char *body;
	size_t length, capacity;
	/* Set if the body was too large, or if there was no memory for it.  In both cases the
	 * answer is an error. */
	bool too_large, no_memory;
	enum hive_role role;

	/* The following members are the answer. */
	unsigned status;
	const char *type; /* the type of the content */
	char *answer;	  /* the text of the answer; freed with the request */
	size_t answer_length;
	const void *fixed;	/* constant bytes to send instead of `answer`, or NULL */
	unsigned retry_after_s; /* seconds for the header Retry-After; 0 if it is not sent */
	bool queued;		/* true if the answer has already been passed to the server */

	struct hive_pending pending; /* reports that are being stored */
	bool is_pending;
};

/* A kind of request.  The callback `answer` fills in the answer.  If the callback fails, its error
 * message becomes the answer. */
struct hive_route {
	const char *method;
	const char *path;    /* the path; "*" matches one part */
	enum hive_role role; /* the required role */
	size_t body_max;     /* maximum number of bytes of the body; 0 if no body is allowed */
	int (*answer)(struct hive_request *r);
};

/* Finds the route of a request.  Returns NULL if there is none.  In that case, *other_method is
 * true if the path has a route for another HTTP method. */
const struct hive_route *hive_route_find(struct hive_request *r, const char *method, bool *other_method);

int hive_answer_key(struct hive_request *r);
int hive_answer_tasks(struct hive_request *r);
int hive_answer_reports(struct hive_request *r); /* called again when the reports are stored */
int hive_answer_add(struct hive_request *r);
int hive_answer_runs(struct hive_request *r);
int hive_answer_sketch_add(struct hive_request *r);
int hive_answer_sketch(struct hive_request *r);
int hive_answer_sketch_page(struct hive_request *r);
int hive_answer_sketch_text(struct hive_request *r);
int hive_answer_set(struct hive_request *r);
int hive_answer_class(struct hive_request *r);
int hive_answer_programs(struct hive_request *r);
int hive_answer_status(struct hive_request *r);
int hive_answer_race(struct hive_request *r);
int hive_answer_health(struct hive_request *r);
int hive_answer_metrics(struct hive_request *r);
int hive_answer_page(struct hive_request *r);

/* Makes the answer from the output of `write`. */
int hive_answer_document(struct hive_request *r, int (*write)(struct hive_request *r, FILE *out));

/* Returns a parameter of the query, or NULL if there is none with this name. */
const char *hive_query(const struct hive_request *r, const char *key);

#endif
