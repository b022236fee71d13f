// SPDX-License-Identifier: Apache-2.0
/* Reports as JSON. */
#include "site/report-int.h"

#include "base/error.h"
#include "base/json-text.h"
#include "base/json.h"
#include "protocol/context.h"
#include "protocol/limit.h"
#include "raddle/guard.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The maximum size of a body in bytes.  It is below the hive's limit, because a few more bytes are
 * added at the end of the body after its size has been checked. */
enum { BODY_BYTES_MAX = 60000 };
_Static_assert((int)BODY_BYTES_MAX < (int)PROTOCOL_BODY_MAX, "the hive would reject the body");

void site_report_add(struct rd_buf *out, const struct site_report *r)
{
	RD_ASSERT(r->run != NULL && r->candidate != NULL && r->result != NULL);
	RD_ASSERT(r->context < 16 && (r->order == NULL) == (strcmp(r->result, "context") == 0 ||
							    strcmp(r->result, "not-seen") == 0));
	struct rd_json_text text;
	struct rd_json *j = rd_json_text_begin(&text);
	rd_json_object(j, NULL);
	RD_JSON(j, RD_JS("run", r->run), RD_JU("seq", r->seq), RD_JS("candidate", r->candidate),
		RD_JS("result", r->result));
	if (r->task != NULL)
		rd_json_string(j, "task", r->task);
	if (r->order != NULL)
		rd_json_string(j, "order", r->order);
	if (r->proof != NULL)
		rd_json_string(j, "proof", r->proof);
	if (r->has_tau)
		rd_json_unsigned(j, "tau_us", r->tau_us);
	if (r->capped)
		rd_json_bool(j, "tau_capped", true);
	if (strcmp(r->result, "context") == 0 || strcmp(r->result, "not-seen") == 0)
		protocol_context_write(j, r->context);
	if (r->consequence != NULL)
		rd_json_string(j, "consequence", r->consequence);
	if (r->signal != 0)
		rd_json_number(j, "signal", r->signal);
	if (r->pause_us != 0)
		rd_json_unsigned(j, "pause_us", r->pause_us);
	rd_json_unsigned(j, "at", (uint64_t)time(NULL));
	rd_json_end(j);
	rd_json_text_end(&text, out);
}

bool site_report_is_run(const char *line)
{
	static const char start[] = "{\"sketch\":";
	return strncmp(line, start, sizeof start - 1) == 0;
}

void site_report_body(struct rd_buf *body, const char *build, const char *site, const char *lines,
		      size_t *used)
{
	bool runs = site_report_is_run(lines);
	size_t count = 0, most = runs ? PROTOCOL_BODY_RUNS : PROTOCOL_BODY_REPORTS;
	*used = 0;
	rd_buf_addf(body, "{\"version\":1,\"build\":\"%s\",\"site\":\"%s\",\"%s\":[", build, site,
		    runs ? "runs" : "reports");
	while (count < most && lines[*used] != '\0' && site_report_is_run(lines + *used) == runs) {
		size_t n = strcspn(lines + *used, "\n");
		if (count != 0 && body->length + n > BODY_BYTES_MAX)
			break;
		rd_buf_addf(body, "%s%.*s", count != 0 ? "," : "", (int)n, lines + *used);
		*used += n + (lines[*used + n] == '\n');
		count++;
	}
	rd_buf_adds(body, "]}");
}
