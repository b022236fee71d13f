/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a hive from start to end. */
#ifndef HIVE_SERVE_H
#define HIVE_SERVE_H

#include "hive/hive.h"

struct hive_serve_opts {
	struct hive_opts hive;
	const char *listen;		       /* ADDRESS:PORT; with port 0 the system chooses a port */
	const char *certificate, *private_key; /* the paths of files; NULL without TLS */
	unsigned threads;
};

/* Serves until SIGTERM or SIGINT.  Calls `ready` with the URL as soon as it listens. */
int hive_serve(const struct hive_serve_opts *o, void (*ready)(const char *url));

#endif
