// SPDX-License-Identifier: Apache-2.0
/*
 * The HTTP server, based on libmicrohttpd.  Each request has its own context, and its error
 * messages become the answer.  A request that runs out of memory is answered with 503, and the
 * others continue.  The size of bodies is limited.  A request with reports waits for the store
 * without occupying a thread.
 */
#include "hive/server.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "hive/limit-int.h"
#include "hive/request-int.h"
#include "protocol/limit.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	/* Seconds until an idle connection is closed.  Set by hand: agents poll every 15 minutes,
	 * so keeping a connection until the next request would only waste a descriptor. */
	IDLE_LIMIT_S = 120,
	/* Two related limits, set by hand: 60000 connections of 8 KiB take 470 MiB, and the headers
	 * of a request fit in 8 KiB. */
	CONNECTIONS_MAX = 60000,
	CONNECTION_BYTES = 8192,
	/* The maximum length of an error message for a client, in bytes.  This is a few lines;
	 * longer messages are cut. */
	MESSAGE_BYTES = 400,
};

struct hive_server {
	struct hive *h;
	struct MHD_Daemon *daemon;
	struct hive_limit *limit;
	int listener;
	bool tls;
	char *url;
};

/* Returns the HTTP status for an error code. */
static unsigned status_of(int err)
{
	switch (err) {
	case 0: return MHD_HTTP_OK;
	case RD_EFORMAT:
	case RD_EUSAGE:
	case RD_EVERSION: return MHD_HTTP_BAD_REQUEST;
	case RD_ENOTFOUND: return MHD_HTTP_NOT_FOUND;
	case RD_ELIMIT:
	case RD_ENOMEM:
	case RD_ESYSTEM: return MHD_HTTP_SERVICE_UNAVAILABLE;
	default: return MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
}

/* The first error message of a request.  It is not on the heap, because there may be no memory. */
struct words {
	char text[MESSAGE_BYTES];
};

static void keep_message(void *data, enum rd_level level, const char *message)
{
	struct words *w = data;

	if (level == RD_LOG_ERROR && !*w->text)
		snprintf(w->text, sizeof w->text, "%s", message);
}

/* Quotes a text for JSON.  Bytes that are not ASCII are dropped, because the message is meant for
 * the logs of sites. */
static void quote(char *to, size_t size, const char *text)
{
	size_t n = 0;

	for (; *text && n + 3 < size; text++) {
		if (*text == '"' || *text == '\\')
			to[n++] = '\\';
		if (*text >= ' ' && *text < 0x7f)
			to[n++] = *text;
	}
	to[n] = '\0';
}

static enum MHD_Result send_error(struct MHD_Connection *c, unsigned status, const char *message,
				  unsigned retry_s)
{
	char quoted[MESSAGE_BYTES + 32], body[MESSAGE_BYTES + 64], seconds[16];
	struct MHD_Response *response;
	enum MHD_Result result;

	quote(quoted, sizeof quoted, message);
	snprintf(body, sizeof body, "{\"error\":\"%s\"}\n", quoted);
	response = MHD_create_response_from_buffer(strlen(body), body, MHD_RESPMEM_MUST_COPY);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", "application/json");
	if (retry_s) {
		snprintf(seconds, sizeof seconds, "%u", retry_s);
		MHD_add_response_header(response, "Retry-After", seconds);
	}
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
	result = MHD_queue_response(c, status, response);
	MHD_destroy_response(response);
	return result;
}

static void count_error(struct hive_metrics *m, unsigned status)
{
	if (status == MHD_HTTP_UNAUTHORIZED || status == MHD_HTTP_FORBIDDEN)
		hive_count(&m->unauthorised, 1);
	else if (status == MHD_HTTP_TOO_MANY_REQUESTS)
		hive_count(&m->limited, 1);
	else
		hive_count(status >= 500 ? &m->failed : &m->refused, 1);
}

static enum MHD_Result refuse(struct hive_request *r, unsigned status, const char *message)
{
	unsigned retry_s = r->retry_after_s			    ? r->retry_after_s
			   : status == MHD_HTTP_SERVICE_UNAVAILABLE ? 5
								    : 0;

	count_error(&r->h->metrics, status);
	return send_error(r->connection, status, message, retry_s);
}

static enum MHD_Result send_answer(struct hive_request *r)
{
	struct MHD_Response *response;
	enum MHD_Result result;

	if (r->queued)
		return MHD_YES;
	RD_ASSERT(r->fixed || r->answer);
	response = r->fixed ? MHD_create_response_from_buffer(r->answer_length, (void *)r->fixed,
							      MHD_RESPMEM_PERSISTENT)
			    : MHD_create_response_from_buffer(r->answer_length, r->answer,
							      MHD_RESPMEM_MUST_FREE);
	if (!response)
		return MHD_NO;
	r->answer = NULL;
	MHD_add_response_header(response, "Content-Type", r->type ? r->type : "application/json");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (r->fixed)
		MHD_add_response_header(
			response, "Content-Security-Policy",
			"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
			"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
	result = MHD_queue_response(r->connection, r->status ? r->status : MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

const char *hive_query(const struct hive_request *r, const char *key)
{
	RD_ASSERT(key != NULL);
	return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, key);
}

static const char *header(const struct hive_request *r, const char *key)
{
	return MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, key);
}

static int answer(void *argument)
{
	struct hive_request *r = argument;

	return r->route->answer(r);
}

/* Runs the route, and answers unless reports are still being stored. */
static enum MHD_Result run(struct hive_request *r)
{
	struct words words = {""};
	struct rd_context context = {.log = keep_message, .data = &words};
	int err = rd_context_run(&context, answer, r);

	if (r->is_pending && !err)
		return MHD_YES;
	if (!err)
		return send_answer(r);
	return refuse(r, status_of(err), *words.text ? words.text : "it could not be done");
}

static const char *bearer(const struct hive_request *r)
{
	const char *text = header(r, "Authorization");

	return text && !strncmp(text, "Bearer ", 7) && strlen(text) <= 7 + 128 ? text + 7 : NULL;
}

/* Returns the key by which the rate is limited: a hash of the token or, without a token, of the
 * address. */
static uint64_t limit_key(const struct hive_request *r)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const char *token = bearer(r);

	return hive_limit_key(token, info ? info->client_addr : NULL);
}

/* Returns the reason to refuse a request that another web site caused, or NULL if there is none.
 * A page of such a site may send requests here through a user's browser, but it can forge neither
 * the content type nor the host that the browser addresses.  The host matters only if no token is
 * needed. */
static const char *is_foreign(const struct hive_request *r)
{
	const char *type = header(r, "Content-Type"), *host = header(r, "Host");

	if (r->route->body_max && (!type || strncmp(type, "application/json", 16)))
		return "the Content-Type must be application/json";
	if (r->h->opts.open && host && !hive_is_loopback(host))
		return "this hive answers on this machine only";
	return NULL;
}

/* Checks whether a request is allowed.  If it is not, refuses it, stores the result of the refusal
 * in *result, and returns false. */
static bool is_allowed(struct hive_request *r, struct hive_limit *limit, enum MHD_Result *result)
{
	const char *foreign = is_foreign(r);

	r->retry_after_s = r->h->opts.rate ? hive_limit_take(limit, limit_key(r)) : 0;
	r->role = hive_role_of(r->h, bearer(r));
	if (r->retry_after_s)
		*result = refuse(r, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests");
	else if (foreign)
		*result = refuse(r, MHD_HTTP_FORBIDDEN, foreign);
	else if (r->role < r->route->role && r->role == HIVE_NOBODY)
		*result = refuse(r, MHD_HTTP_UNAUTHORIZED, "a token is needed");
	else if (r->role < r->route->role)
		*result = refuse(r, MHD_HTTP_FORBIDDEN, "this token does not allow it");
	else
		return true;
	return false;
}

/* Handles the first call for a request.  It makes the checks that do not need the body. */
static enum MHD_Result begin(struct hive_server *s, struct hive_request *r, const char *url,
			     const char *method)
{
	bool other_method = false;
	enum MHD_Result result = MHD_YES;
	const char *length;

	r->path = strdup(url);
	r->route = r->path ? hive_route_find(r, method, &other_method) : NULL;
	if (!r->path)
		return refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
	if (!r->route)
		return other_method
			       ? refuse(r, MHD_HTTP_METHOD_NOT_ALLOWED, "this path does not allow the method")
			       : refuse(r, MHD_HTTP_NOT_FOUND, "there is no such path");
	if (!is_allowed(r, s->limit, &result))
		return result;
	length = header(r, "Content-Length");
	if (length && strtoull(length, NULL, 10) > r->route->body_max)
		return refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large");
	return MHD_YES;
}

/* Skips a part of a body that was refused.  The body is still read for a while, so that its sender
 * receives the error. */
static enum MHD_Result skip(struct hive_request *r, size_t n)
{
	r->length += n;
	return r->length > 4 * (r->route->body_max + PROTOCOL_BODY_MAX) ? MHD_NO : MHD_YES;
}

static enum MHD_Result take(struct hive_request *r, const char *data, size_t n)
{
	r->too_large |= r->length + n > r->route->body_max;
	if (r->too_large || r->no_memory)
		return skip(r, n);
	if (r->length + n > r->capacity) {
		size_t capacity = r->length + n + r->capacity / 2;
		char *body = realloc(r->body, capacity);

		r->no_memory = !body;
		if (!body)
			return skip(r, n);
		r->body = body;
		r->capacity = capacity;
	}
	memcpy(r->body + r->length, data, n);
	r->length += n;
	RD_ASSERT(r->length <= r->capacity && r->length <= r->route->body_max);
	return MHD_YES;
}

static enum MHD_Result handle(void *server, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data, size_t *size,
			      void **state)
{
	struct hive_server *s = server;
	struct hive_request *r = *state;

	(void)version;
	if (!r) {
		r = calloc(1, sizeof *r);
		if (!r)
			return send_error(connection, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory", 5);
		r->h = s->h;
		r->connection = connection;
		*state = r;
		return begin(s, r, url, method);
	}
	if (*size) {
		enum MHD_Result result = take(r, data, *size);

		*size = 0;
		return result;
	}
	if (r->too_large)
		return refuse(r, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too large");
	if (r->no_memory)
		return refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory");
	return run(r);
}

static void completed(void *server, struct MHD_Connection *connection, void **state,
		      enum MHD_RequestTerminationCode code)
{
	struct hive_request *r = *state;

	(void)server;
	(void)connection;
	(void)code;
	if (!r)
		return;
	hive_reports_release(&r->pending.reports);
	RD_FREE(r->pending.is_new, r->path, r->body, r->answer, r);
	*state = NULL;
}

static void log_nothing(void *context, const char *format, va_list arguments)
{
	(void)context;
	(void)format;
	(void)arguments;
}

/* A host and a port, parsed from "host:port" or "[host]:port". */
struct place {
	char host[256], port[16];
};

static bool split(const char *address, struct place *p)
{
	const char *colon = strrchr(address, ':'), *from = address;
	const char *bracket = strchr(address, ']');

	if (!colon || (bracket && colon < bracket))
		colon = address + strlen(address);
	size_t n = (size_t)(colon - from);
	if (n >= 2 && from[0] == '[' && from[n - 1] == ']') {
		from++;
		n -= 2;
	}
	if (n >= sizeof p->host || strlen(colon) > sizeof p->port)
		return false;
	snprintf(p->host, sizeof p->host, "%.*s", (int)n, from);
	snprintf(p->port, sizeof p->port, "%s", *colon ? colon + 1 : "");
	return true;
}

bool hive_is_loopback(const char *address)
{
	struct place p;

	return split(address, &p) &&
	       (!strncmp(p.host, "127.", 4) || !strcmp(p.host, "localhost") || !strcmp(p.host, "::1"));
}

static int listen_at(const char *address, int *listener)
{
	struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *found;
	struct place p;
	int on = 1, err = 0, fd;

	if (!split(address, &p) || !*p.port)
		return rd_fail(RD_EUSAGE, "hive: --listen %s: not ADDRESS:PORT", address);
	err = getaddrinfo(*p.host ? p.host : NULL, p.port, &hints, &found);
	if (err)
		return rd_fail(RD_EUSAGE, "hive: --listen %s: %s", address, gai_strerror(err));
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
	    bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 4096)) {
		err = rd_fail_errno("hive: --listen %s", address);
		if (fd >= 0)
			close(fd);
	} else {
		*listener = fd;
	}
	freeaddrinfo(found);
	return err;
}

static int find_url(struct hive_server *s)
{
	struct sockaddr_storage bound;
	socklen_t length = sizeof bound;
	char host[128], port[16];

	if (getsockname(s->listener, (struct sockaddr *)&bound, &length) ||
	    getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, port, sizeof port,
			NI_NUMERICHOST | NI_NUMERICSERV))
		return rd_fail(RD_ESYSTEM, "hive: the address that it listens on cannot be determined");
	s->url = rd_xasprintf(strchr(host, ':') ? "%s://[%s]:%s" : "%s://%s:%s", s->tls ? "https" : "http",
			      host, port);
	return 0;
}

static int start_daemon(struct hive_server *s, const struct hive_server_opts *o)
{
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO |
			 MHD_USE_ERROR_LOG | (s->tls ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)o->certificate},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)o->private_key},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
		{MHD_OPTION_END, 0, NULL}};
	struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

	s->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, s, MHD_OPTION_EXTERNAL_LOGGER, log_nothing,
				     NULL, MHD_OPTION_LISTEN_SOCKET, s->listener, MHD_OPTION_NOTIFY_COMPLETED,
				     completed, s, MHD_OPTION_THREAD_POOL_SIZE, o->threads,
				     MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_LIMIT_S,
				     MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
				     MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				     MHD_OPTION_ARRAY, s->tls ? tls : none, MHD_OPTION_END);
	return s->daemon ? 0
			 : rd_fail(RD_ESYSTEM, "hive: the server does not start; is the certificate right?");
}

int hive_server_start(struct hive_server **server, struct hive *h, const struct hive_server_opts *o)
{
	struct hive_server *s = rd_xcalloc(1, sizeof *s);
	int err = 0;

	s->h = h;
	s->listener = o->listener;
	s->tls = o->certificate != NULL;
	s->limit = hive_limit_new(h->opts.rate);
	if (s->listener < 0)
		err = listen_at(o->address, &s->listener);
	if (!err)
		err = find_url(s);
	if (!err)
		err = start_daemon(s, o);
	if (err)
		hive_server_stop(s);
	else
		*server = s;
	return err;
}

const char *hive_server_url(const struct hive_server *s)
{
	return s->url;
}

void hive_server_stop(struct hive_server *s)
{
	int listener = s->daemon ? MHD_quiesce_daemon(s->daemon) : s->listener;

	hive_stop(s->h);
	if (s->daemon)
		MHD_stop_daemon(s->daemon);
	if (listener >= 0)
		close(listener);
	hive_limit_free(s->limit);
	RD_FREE(s->url, s);
}
