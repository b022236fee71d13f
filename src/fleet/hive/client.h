/* SPDX-License-Identifier: Apache-2.0 */
/* Talking to a hive, for commands. */
#ifndef HIVE_CLIENT_H
#define HIVE_CLIENT_H

#include "base/buf.h"

#include <stdbool.h>

struct hive_client {
	const char *url;   /* of the hive */
	const char *token; /* NULL: none */
	const char *ca;	   /* a file of certificates that are trusted; NULL: the system's */
};

/* One request; body NULL: none.  What the hive answers goes into `answer`; another status than 200 is an
 * error that says what the hive said. */
int hive_client_ask(const struct hive_client *c, const char *method, const char *path, const char *body,
		    struct rd_buf *answer);

#endif
