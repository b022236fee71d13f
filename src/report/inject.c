// SPDX-License-Identifier: Apache-2.0
/* Reports the faults that can be injected into a program, and the effect of one fault.  In: kinds
 * and places, or a line of the log.  Out: text and JSON. */
#include "report/inject.h"

#include "base/error.h"
#include "base/json.h"
#include "base/name.h"

#include <inttypes.h>
#include <string.h>

int report_inject_kinds_json(const struct inject_ground *ground, FILE *out)
{
	struct rd_json j;

	rd_json_begin(&j, out);
	j.indent = true;
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", 1);
	rd_json_array(&j, "kinds");
	for (size_t i = 0; i < inject_kind_count(); i++) {
		const struct inject_kind *k = inject_kind_at(i);
		struct inject_fit fit = inject_fits(ground, i);
		rd_json_object(&j, NULL);
		RD_JSON(&j, RD_JS("fault", k->name), RD_JS("group", k->group), RD_JS("meaning", k->help),
			RD_JU("sites", fit.sites), RD_JU("instances", fit.instances));
		rd_json_end(&j);
	}
	rd_json_end(&j);
	rd_json_end(&j);
	return RD_OK;
}

void report_inject_kinds_text(const struct inject_ground *ground, FILE *out)
{
	fprintf(out, "%-10s %-8s %6s %11s  %s\n", "fault", "group", "sites", "executions", "what happens");
	for (size_t i = 0; i < inject_kind_count(); i++) {
		const struct inject_kind *k = inject_kind_at(i);
		struct inject_fit fit = inject_fits(ground, i);
		if (fit.sites)
			fprintf(out, "%-10s %-8s %6" PRIu64 " %11" PRIu64 "  %s\n", k->name, k->group,
				fit.sites, fit.instances, k->help);
		else
			fprintf(out, "%-10s %-8s %6s %11s  %s\n", k->name, k->group, "-", "-", k->help);
	}
}

void report_inject_run(const struct runlog_run *r, struct rd_buf *out)
{
	rd_buf_addf(out, "%s in %s at %s (%s, execution %" PRIu64 ")\n  ", r->fault,
		    r->thread ? r->thread : RD_UNKNOWN, r->where ? r->where : RD_UNKNOWN,
		    r->opcode ? r->opcode : RD_UNKNOWN, r->instance);
	if (!r->fired || !r->before || !r->after)
		rd_buf_adds(out, "did not happen\n");
	else if (r->action && !strcmp(r->action, "call"))
		rd_buf_addf(out, "the call was left out and returned %s\n", r->after);
	else
		rd_buf_addf(out, "%s became %s\n", r->before, r->after);
	rd_buf_addf(out, "outcome: %s", runlog_outcome_name(r->outcome));
	if (r->signal)
		rd_buf_addf(out, ", %s", r->signal);
	else if (r->exit >= 0)
		rd_buf_addf(out, ", exit status %" PRId64, r->exit);
	if (r->place)
		rd_buf_addf(out, " at %s", r->place);
	rd_buf_addf(out, "\nfirst deviation: %s", runlog_deviation_name(r->deviation));
	if (r->deviation_at)
		rd_buf_addf(out, " in %s at %s", r->deviation_thread ? r->deviation_thread : RD_UNKNOWN,
			    r->deviation_at);
	rd_buf_addc(out, '\n');
}
