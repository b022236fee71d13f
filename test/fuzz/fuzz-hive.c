// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as input of a hive.  The first byte selects what the rest is: a body with
 * reports, a program, the plan of a sketch followed by records of runs, or the ID of a task.
 * Accepted input must be within its limits, and applying it must succeed.
 */
#include "base/error.h"
#include "base/hex.h"
#include "hive/assign-int.h"
#include "hive/program.h"
#include "hive/sketch.h"
#include "protocol/limit.h"
#include "report/sketch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void try_reports(const char *text, size_t size)
{
	struct hive_tally tally = {0};
	struct hive_reports r;

	if (hive_reports_read(&r, text, size))
		return;
	RD_ASSERT(hive_is_build(r.build) && rd_is_hex(r.site, HIVE_SITE - 1));
	RD_ASSERT(r.count + r.rejected_count <= PROTOCOL_BODY_REPORTS);
	for (size_t i = 0; i < r.count; i++) {
		const struct hive_report *it = &r.items[i];

		RD_ASSERT(rd_is_hex(it->run, HIVE_RUN_ID - 1) &&
			  rd_is_hex(it->candidate, HIVE_CANDIDATE - 1));
		RD_ASSERT(it->weight >= 1 && it->weight <= HIVE_WEIGHT_MAX && it->tau_us <= HIVE_TAU_MAX_US);
		RD_ASSERT(it->result > HIVE_TIMEOUT || it->order != HIVE_NO_ORDER);
		hive_tally_add(&tally, it);
	}
	if (r.count)
		hive_reports_reject(&r, r.count / 2, "for a try");
	hive_reports_release(&r);
}

/* Each candidate must be found by its id, and drawing must return one of them. */
static void try_program(const char *text, size_t size)
{
	struct hive_program p;

	if (hive_program_read(&p, text, size))
		return;
	for (size_t i = 0; i < p.count; i++)
		RD_ASSERT(hive_program_find(&p, p.candidates[i].id) == (int64_t)i);
	for (uint64_t at = 0, total = hive_program_total(&p); at < total && at < 1000; at += 17)
		RD_ASSERT(p.candidates[hive_program_pick(&p, at)].weight);
	hive_program_release(&p);
}

/* If an id can be parsed, it is written in the same way, except for leading zeros. */
static void try_task(const char *text)
{
	static const char document[] = "{\"version\":1,\"build\":\"00000000\",\"name\":\"p\",\"candidates\":["
				       "{\"id\":\"0123456789abcdef\",\"accesses\":[{},{}]}]}";
	struct hive_program p;
	struct hive_task task, again;
	char id[PROTOCOL_TASK_ID];

	if (hive_program_read(&p, document, sizeof document - 1))
		abort();
	if (hive_task_parse(&p, text, &task)) {
		hive_task_id(&p, &task, id);
		RD_ASSERT(hive_task_parse(&p, id, &again) && again.epoch == task.epoch &&
			  again.order == task.order);
	}
	hive_program_release(&p);
}

/* Reads a plan and, one per line, records of its runs.  Whatever is accepted can be drawn. */
static void try_sketch(char *text)
{
	struct hive_sketch s;
	char *line = strtok(text, "\n"), *drawn = NULL;
	size_t length;
	FILE *out;

	if (!line || hive_sketch_open(&s, line, strlen(line)))
		return;
	while ((line = strtok(NULL, "\n")))
		hive_sketch_apply(&s, line, strlen(line));
	RD_ASSERT(s.first <= s.plan.runs.count && strlen(s.plan.id) == SKETCH_PLAN_ID - 1);
	out = open_memstream(&drawn, &length);
	if (out) {
		RD_ASSERT(!hive_sketch_write(&s, "p", sketch_html, out));
		fclose(out);
	}
	free(drawn);
	hive_sketch_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	rd_log_set(rd_log_discard, NULL);
	if (!size || !(text = malloc(size)))
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0]) {
	case 'r': try_reports(text, size - 1); break;
	case 'p': try_program(text, size - 1); break;
	case 's': try_sketch(text); break;
	default: try_task(text); break;
	}
	free(text);
	return 0;
}
