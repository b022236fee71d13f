// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a schedule file, as a list of suppressions and as a baseline.  A correct last
 * line is appended to the schedule, since a fuzzer does not guess checksums.
 */
#include "base/error.h"
#include "base/override.h"
#include "finding/filter.h"
#include "finding/schedule.h"
#include "finding/suppress.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* An accepted schedule must be the same after it was written and read again. */
static void round_trip(const struct schedule *s)
{
	struct rd_buf text = RD_BUF_INIT, again = RD_BUF_INIT;
	struct schedule back;

	schedule_format(s, &text);
	RD_ASSERT(schedule_parse(&back, text.data, text.length, "again") == 0);
	schedule_format(&back, &again);
	RD_ASSERT(text.length == again.length && memcmp(text.data, again.data, text.length) == 0);
	schedule_release(&back);
	rd_buf_release(&text);
	rd_buf_release(&again);
}

static void parse(const void *data, size_t size)
{
	struct schedule s;

	struct rd_override given = {0};

	if (schedule_parse(&s, data, size, "fuzz") == 0)
		round_trip(&s);
	rd_override_parse(&given, s.input, "fuzz");
	rd_override_release(&given);
	schedule_release(&s);
}

static void parse_with_end(const uint8_t *data, size_t size)
{
	struct rd_buf text = RD_BUF_INIT;
	size_t lines = 1;

	rd_buf_add(&text, data, size);
	rd_buf_addc(&text, '\n');
	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	unsigned long long sum = XXH64(text.data, text.length, 0);
	rd_buf_addf(&text, "end\t%zu\t%016llx\n", lines, sum);
	parse(text.data, text.length);
	rd_buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct suppressions s = SUPPRESSIONS_INIT;
	struct finding_set *set = finding_set_new();

	rd_log_set(rd_log_discard, NULL);
	parse(data, size);
	parse_with_end(data, size);
	suppressions_parse(&s, data, size, "fuzz");
	for (size_t i = 0; i < s.count; i++)
		suppress_match(s.rules[i].pattern, "some/file.c");
	suppressions_release(&s);
	finding_baseline_parse(set, data, size, "fuzz", NULL);
	finding_set_free(set);
	return 0;
}
