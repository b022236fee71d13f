/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a hive from start to end. */
#ifndef HIVE_SERVE_H
#define HIVE_SERVE_H

#include "hive/hive.h"

struct hive_serve_opts {
	struct hive_opts hive;
	const char *listen;		       /* ADDRESS:PORT; port 0: any */
	const char *certificate, *private_key; /* files; NULL: no TLS */
	unsigned threads;
};

/* Serves until SIGTERM or SIGINT.  `ready` is called with the URL when it listens. */
int hive_serve(const struct hive_serve_opts *o, void (*ready)(const char *url));

#endif
