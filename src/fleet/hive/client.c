// SPDX-License-Identifier: Apache-2.0
/* Sends requests to a hive with libcurl.  The size of answers is limited, and redirections are not
 * followed. */
#include "hive/client.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

/* Time limits of a request, in seconds.  Set by hand.  Connecting takes a few round trips.  A hive
 * that sends nothing for a minute hangs.  The limit for the whole request is long enough to send
 * the largest program (64 MiB) over a slow line (2 Mbit/s). */
enum { CONNECT_LIMIT_S = 10, SILENCE_LIMIT_S = 60, REQUEST_LIMIT_S = 300 };

static size_t take(char *data, size_t size, size_t count, void *buf)
{
	struct rd_buf *b = buf;

	if (b->length + size * count > RD_TEXT_MAX)
		return 0;
	rd_buf_add(b, data, size * count);
	return size * count;
}

static struct curl_slist *headers_of(const struct hive_client *c, bool has_body)
{
	struct curl_slist *list = NULL;

	if (has_body)
		list = curl_slist_append(list, "Content-Type: application/json");
	if (c->token) {
		char *text = rd_xasprintf("Authorization: Bearer %s", c->token);

		list = curl_slist_append(list, text);
		free(text);
	}
	return curl_slist_append(list, "Expect:");
}

/* Returns the text for an error of libcurl.  Messages that would not help users of a hive are
 * replaced. */
static const char *describe(CURLcode code)
{
	switch (code) {
	case CURLE_WRITE_ERROR: return "its answer is too long to be a hive's";
	case CURLE_UNSUPPORTED_PROTOCOL:
		return "it is not a URL of http:// or https://, or no HTTP server answers there";
	case CURLE_OPERATION_TIMEDOUT: return "it does not answer in time";
	default: return curl_easy_strerror(code);
	}
}

static int judge(const struct hive_client *c, CURL *curl, CURLcode code, const struct rd_buf *answer)
{
	long status = 0;

	if (code != CURLE_OK)
		return rd_fail(RD_ESYSTEM, "hive: %s: %s", c->url, describe(code));
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 200)
		return 0;
	return rd_fail(status == 404 ? RD_ENOTFOUND : RD_EUSAGE, "hive: %s answers %ld: %.300s", c->url,
		       status, answer->length ? answer->data : "nothing");
}

int hive_client_ask(const struct hive_client *c, const char *method, const char *path, const char *body,
		    struct rd_buf *answer)
{
	CURL *curl = curl_easy_init();
	size_t n = strlen(c->url);
	char *url;
	int err;

	if (!curl)
		return rd_fail(RD_ESYSTEM, "hive: libcurl cannot be used");
	while (n && c->url[n - 1] == '/')
		n--;
	url = rd_xasprintf("%.*s%s", (int)n, c->url, path);
	struct curl_slist *headers = headers_of(c, body != NULL);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_LIMIT_S);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)REQUEST_LIMIT_S);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_LIMIT_S);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	if (c->ca)
		curl_easy_setopt(curl, CURLOPT_CAINFO, c->ca);
	if (body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	}
	err = judge(c, curl, curl_easy_perform(curl), answer);
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	free(url);
	return err;
}
