/* SPDX-License-Identifier: Apache-2.0 */
/* A request on its way through the server: its input and its answer. */
#ifndef HIVE_REQUEST_INT_H
#define HIVE_REQUEST_INT_H

#include "base/buf.h"
#include "hive/hive.h"

#include <microhttpd.h>

struct hive_request {
	struct hive *h;
	struct MHD_Connection *connection;
	const struct hive_route *route;
	const char *first, *second; /* variable parts of the path, in `path` */
	char *path;
	char *body;
	size_t length, capacity;
	bool too_large, no_memory; /* the body could not be read, and the only answer is that error */
	enum hive_role role;

	/* The answer. */
	unsigned status;
	const char *type; /* of the content */
	char *answer;	  /* to be freed */
	size_t answer_length;
	const void *fixed;	/* instead of `answer`: constant bytes */
	unsigned retry_after_s; /* 0: not sent */
	bool queued;		/* the answer has been passed to the server already */

	struct hive_pending pending; /* reports that are being stored */
	bool is_pending;
};

/* A kind of request.  `answer` fills in the answer.  If it returns an error, the error message
 * becomes the answer. */
struct hive_route {
	const char *method;
	const char *path;    /* "*" stands for one part of it */
	enum hive_role role; /* the required role */
	size_t body_max;     /* 0: no body allowed */
	int (*answer)(struct hive_request *r);
};

/* NULL: unknown path; *other_method is then whether it exists for another method. */
const struct hive_route *hive_route_find(struct hive_request *r, const char *method, bool *other_method);

int hive_answer_key(struct hive_request *r);
int hive_answer_tasks(struct hive_request *r);
int hive_answer_reports(struct hive_request *r); /* called again when they are stored */
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

/* Fills in the answer with the output of `write`. */
int hive_answer_document(struct hive_request *r, int (*write)(struct hive_request *r, FILE *out));

/* A parameter of the query, or NULL. */
const char *hive_query(const struct hive_request *r, const char *key);

#endif
