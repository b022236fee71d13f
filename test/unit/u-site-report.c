// SPDX-License-Identifier: Apache-2.0
/* Unit tests of what a site sends: a body has complete reports, and no more than a hive accepts. */
#include "protocol/limit.h"
#include "site/report-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char build[] = "0123456789abcdef";

static void a_body_takes_what_fits(void **state)
{
	struct rd_buf lines = RD_BUF_INIT, body = RD_BUF_INIT;
	size_t used, before;
	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		site_report_add(&lines, &(struct site_report){.run = "0000000000000001",
							      .candidate = "00000000000000aa",
							      .seq = i,
							      .result = "not-seen",
							      .context = i % 16});
	before = lines.length;
	site_report_body(&body, build, "s", lines.data, &used);
	assert_true(used > 0 && used < before && body.length <= PROTOCOL_BODY_MAX);
	assert_int_equal(lines.data[used - 1], '\n');
	rd_buf_release(&body);
	site_report_body(&body, build, "s", lines.data + before, &used);
	assert_int_equal(used, 0);
	rd_buf_release(&body);
	rd_buf_release(&lines);
}

/* Records of runs are longer than reports, and a hive accepts fewer of them.  A site that was
 * off-line sends several bodies. */
static void a_body_takes_as_many_runs_as_a_hive(void **state)
{
	struct rd_buf lines = RD_BUF_INIT, body = RD_BUF_INIT;
	size_t used, at = 0, bodies = 0, runs = 0;
	(void)state;
	for (uint32_t i = 0; i < 3 * PROTOCOL_BODY_RUNS + 1; i++)
		rd_buf_addf(&lines, "{\"sketch\":%u}\n", i);
	for (; at < lines.length; at += used, bodies++) {
		size_t inside = 0;
		site_report_body(&body, build, "s", lines.data + at, &used);
		for (const char *p = body.data; (p = strstr(p, "{\"sketch\":")) != NULL; p++)
			inside++;
		assert_in_range(inside, 1, PROTOCOL_BODY_RUNS);
		runs += inside;
		rd_buf_release(&body);
	}
	assert_int_equal(bodies, 4);
	assert_int_equal(runs, 3 * PROTOCOL_BODY_RUNS + 1);
	rd_buf_release(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_body_takes_what_fits),
		cmocka_unit_test(a_body_takes_as_many_runs_as_a_hive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
