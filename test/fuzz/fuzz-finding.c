// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a finding document.  An accepted document must survive being finished,
 * written, read again and reported in every format.
 */
#include "base/error.h"
#include "finding/filter.h"
#include "finding/suppress.h"
#include "report/report.h"

#include <stdlib.h>

typedef int report_fn(const struct finding_set *, const struct report_opts *, FILE *);

static void report(const struct finding_set *set, report_fn *fn)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	fn(set, &(struct report_opts){.all = true, .root = "/nonexistent"}, out);
	fclose(out);
	free(text);
}

static void write_and_read(const struct finding_set *set)
{
	struct finding_set *again;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	finding_write(set, out);
	fclose(out);
	RD_ASSERT(finding_parse(&again, text, length, "again") == 0);
	finding_set_free(again);
	free(text);
}

static void use(struct finding_set *set)
{
	static const char rules[] = "race:a*b\nrace_top:^x\ndeadlock:*\nthread:y$\n";
	struct suppressions s = SUPPRESSIONS_INIT;

	suppressions_parse(&s, rules, sizeof rules - 1, "rules");
	write_and_read(set);
	finding_set_finish(set);
	suppressions_apply(&s, set);
	report(set, report_text);
	report(set, report_sarif);
	report(set, report_html);
	suppressions_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct finding_set *set;

	rd_log_set(rd_log_discard, NULL);
	if (finding_parse(&set, data, size, "fuzz") == 0) {
		use(set);
		finding_baseline_parse(set, data, size, "fuzz", NULL);
		finding_set_free(set);
	}
	return 0;
}
