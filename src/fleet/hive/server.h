/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server of a hive. doc/format/hive-api.json describes the requests and answers. */
#ifndef HIVE_SERVER_H
#define HIVE_SERVER_H

#include "hive/hive.h"

struct hive_server;

struct hive_server_opts {
	const char *address; /* such as "127.0.0.1:0" or "[::]:443"; not used with `listener` */
	int listener;	     /* a listening socket; or -1 */
	unsigned threads;
	const char *certificate, *private_key; /* PEM texts; NULL without TLS */
};

int hive_server_start(struct hive_server **s, struct hive *h, const struct hive_server_opts *opts);
const char *hive_server_url(const struct hive_server *s);

/* Accepts no more connections, stores and answers pending requests, and ends. */
void hive_server_stop(struct hive_server *s);

/* Returns true if an address such as "127.0.0.1:0" is reachable only from this machine. */
bool hive_is_loopback(const char *address);

#endif
