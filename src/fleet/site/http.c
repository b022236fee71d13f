// SPDX-License-Identifier: Apache-2.0
/* HTTP through libcurl's multi interface, so that the agent's loop continues while it waits for the
 * hive. */
#include "site/http-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct site_http {
	struct site_http_opts opts;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	struct rd_buf sent; /* the body of a POST */
	struct site_answer answer;
	bool busy;
};

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
	struct site_http *h = context;
	if (h->answer.body.length + size * count > h->opts.max)
		return 0;
	rd_buf_add(&h->answer.body, data, size * count);
	return size * count;
}

/* Returns true if the line is the header `name`.  Copies its value without the spaces around it. */
static bool header_is(const char *line, size_t length, const char *name, char *to, size_t size)
{
	size_t n = strlen(name);
	if (length <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return false;
	for (n++; n < length && line[n] == ' ';)
		n++;
	while (length > n &&
	       (line[length - 1] == '\n' || line[length - 1] == '\r' || line[length - 1] == ' '))
		length--;
	if (length - n >= size)
		return false;
	memcpy(to, line + n, length - n);
	to[length - n] = '\0';
	return true;
}

static size_t take_header(char *line, size_t size, size_t count, void *context)
{
	struct site_http *h = context;
	char number[16];
	size_t length = size * count;
	header_is(line, length, "Raddle-Signature", h->answer.signature, sizeof h->answer.signature);
	header_is(line, length, "ETag", h->answer.etag, sizeof h->answer.etag);
	if (header_is(line, length, "Retry-After", number, sizeof number))
		h->answer.retry_s = strtol(number, NULL, 10);
	return length;
}

struct site_http *site_http_new(const struct site_http_opts *opts)
{
	struct site_http *h;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return NULL;
	h = rd_xcalloc(1, sizeof *h);
	h->opts = *opts;
	h->sent = h->answer.body = (struct rd_buf)RD_BUF_INIT;
	h->multi = curl_multi_init();
	h->easy = curl_easy_init();
	if (h->multi == NULL || h->easy == NULL) {
		site_http_free(h);
		return NULL;
	}
	return h;
}

static void end(struct site_http *h)
{
	if (h->busy)
		curl_multi_remove_handle(h->multi, h->easy);
	h->busy = false;
	curl_slist_free_all(h->headers);
	h->headers = NULL;
}

void site_http_free(struct site_http *h)
{
	if (h == NULL)
		return;
	end(h);
	if (h->easy != NULL)
		curl_easy_cleanup(h->easy);
	if (h->multi != NULL)
		curl_multi_cleanup(h->multi);
	rd_buf_release(&h->answer.body);
	rd_buf_release(&h->sent);
	free(h);
}

static void add_header(struct site_http *h, const char *name, const char *value)
{
	char *line = rd_xasprintf("%s%s", name, value);
	h->headers = curl_slist_append(h->headers, line);
	free(line);
}

void site_http_begin(struct site_http *h, const char *url, const char *body, const char *etag)
{
	RD_ASSERT(url != NULL && etag != NULL);
	end(h);
	rd_buf_release(&h->answer.body);
	rd_buf_release(&h->sent);
	h->answer = (struct site_answer){.body = RD_BUF_INIT};
	h->sent = (struct rd_buf)RD_BUF_INIT;
	curl_easy_reset(h->easy); /* keeps the connection */
	curl_easy_setopt(h->easy, CURLOPT_URL, url);
	curl_easy_setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(h->easy, CURLOPT_TIMEOUT_MS, h->opts.limit_ms);
	curl_easy_setopt(h->easy, CURLOPT_CONNECTTIMEOUT_MS, h->opts.limit_ms / 2);
	curl_easy_setopt(h->easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(h->easy, CURLOPT_WRITEDATA, h);
	curl_easy_setopt(h->easy, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(h->easy, CURLOPT_HEADERDATA, h);
	curl_easy_setopt(h->easy, CURLOPT_USERAGENT, "raddle-site/" RADDLE_VERSION);
	if (h->opts.ca != NULL)
		curl_easy_setopt(h->easy, CURLOPT_CAINFO, h->opts.ca);
	if (h->opts.token != NULL)
		add_header(h, "Authorization: Bearer ", h->opts.token);
	if (etag[0] != '\0')
		add_header(h, "If-None-Match: ", etag);
	if (body != NULL) {
		rd_buf_adds(&h->sent, body);
		add_header(h, "Content-Type: ", "application/json");
		add_header(h, "Expect:", "");
		curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, h->sent.data);
		curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE, (long)h->sent.length);
	}
	curl_easy_setopt(h->easy, CURLOPT_HTTPHEADER, h->headers);
	h->busy = curl_multi_add_handle(h->multi, h->easy) == CURLM_OK;
}

bool site_http_busy(const struct site_http *h)
{
	return h->busy;
}

bool site_http_step(struct site_http *h, int wait_ms, int fd)
{
	RD_ASSERT(wait_ms >= 0);
	struct curl_waitfd extra = {.fd = fd, .events = CURL_WAIT_POLLIN};
	int running = 0, left;
	curl_multi_perform(h->multi, &running);
	if (wait_ms > 0 && (running != 0 || !h->busy))
		curl_multi_poll(h->multi, &extra, fd >= 0, wait_ms, NULL);
	curl_multi_perform(h->multi, &running);
	CURLMsg *message = curl_multi_info_read(h->multi, &left);
	if (!h->busy || message == NULL || message->msg != CURLMSG_DONE)
		return false;
	if (message->data.result == CURLE_OK)
		curl_easy_getinfo(h->easy, CURLINFO_RESPONSE_CODE, &h->answer.status);
	end(h);
	return true;
}

const struct site_answer *site_http_answer(const struct site_http *h)
{
	return &h->answer;
}
