// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a campaign's log.  An accepted log must be the same after it was written and
 * read again.  Rates must be between 0 and 1 and inside their intervals.  No report may crash.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "report/campaign.h"

#include <stdlib.h>
#include <string.h>

static void check_written(const struct runlog_run *run)
{
	struct rd_buf first = RD_BUF_INIT, second = RD_BUF_INIT;
	struct rd_names texts = RD_NAMES_INIT;
	struct runlog_run again;

	runlog_write(&first, run);
	RD_ASSERT(!runlog_parse(&again, first.data, first.length - 1, &texts));
	runlog_write(&second, &again);
	RD_ASSERT(!strcmp(first.data, second.data));
	rd_names_release(&texts);
	rd_buf_release(&first);
	rd_buf_release(&second);
}

static void check_rate(const struct campaign_rate *r)
{
	RD_ASSERT(r->hits <= r->runs && r->low >= 0 && r->high <= 1);
	RD_ASSERT(r->value >= 0 && r->low <= r->high);
	RD_ASSERT(!r->runs || (r->low <= r->value + 1e-6 && r->value <= r->high + 1e-6));
}

static void report(const struct campaign_statistics *s)
{
	struct report_campaigns c = {.items = s, .count = 1};
	struct campaign_against against = {0};
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	report_campaign_text(&c, out);
	report_campaign_json(&c, out);
	report_campaign_html(&c, out);
	report_campaign_csv(&c, out);
	if (s->results->count && !campaign_against(&against, s, s)) {
		RD_ASSERT(!against.differ);
		c.against = &against;
		report_campaign_text(&c, out);
	}
	campaign_against_release(&against);
	fclose(out);
	RD_ASSERT(strlen(text) == length && !strchr(text, '\033'));
	free(text);
}

static void check_statistics(const struct campaign_results *r)
{
	struct campaign_statistics s;
	uint64_t sum = 0;

	campaign_statistics(&s, r);
	RD_ASSERT(s.groups[0].runs == r->count);
	for (size_t g = 0; g < s.group_count; g++) {
		sum += g ? s.groups[g].runs : 0;
		check_rate(&s.groups[g].coverage);
		check_rate(&s.groups[g].harm);
		for (unsigned o = 0; o < RUNLOG_OUTCOMES; o++) {
			check_rate(&s.groups[g].outcome[o]);
			check_rate(&s.groups[g].mpfnr[o]);
			check_rate(&s.groups[g].shown[o]);
		}
	}
	RD_ASSERT(sum == r->count);
	report(&s);
	campaign_statistics_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct campaign_results r = {.directory = "/nonexistent", .name = rd_xstrdup("x")};

	rd_log_set(rd_log_discard, NULL);
	if (campaign_results_add(&r, (const char *)data, size, "log") == 0) {
		campaign_results_finish(&r);
		for (size_t i = 0; i < r.count; i++)
			check_written(&r.runs[i]);
		check_statistics(&r);
	}
	campaign_results_release(&r);
	return 0;
}
