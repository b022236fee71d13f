// SPDX-License-Identifier: Apache-2.0
/* What `raddle inject` shows.  In: fits and lines of the log.  Out: tables, for people or as JSON. */
#include "cmd/inject.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *open_out(const char *path)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;

	if (!out)
		rd_fail_errno("%s: cannot write it", path);
	return out;
}

static int close_out(FILE *out, const char *path)
{
	bool failed = fflush(out) != 0;

	if (out != stdout)
		failed |= fclose(out) != 0;
	return failed ? rd_fail_errno("%s: cannot write it", path) : 0;
}

/* --- which fit ------------------------------------------------------------------------------- */

static int list_json(const struct inject_ground *ground, const char *path)
{
	struct rd_json j = {.indent = true};
	FILE *out = open_out(path);

	if (!out)
		return RD_ESYSTEM;
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", 1);
	rd_json_array(&j, "kinds");
	for (size_t i = 0; i < inject_kind_count(); i++) {
		const struct inject_kind *k = inject_kind_at(i);
		struct inject_fit fit = inject_fits(ground, i);
		rd_json_object(&j, NULL);
		rd_json_string(&j, "fault", k->name);
		rd_json_string(&j, "group", k->group);
		rd_json_string(&j, "meaning", k->help);
		rd_json_unsigned(&j, "sites", fit.sites);
		rd_json_unsigned(&j, "instances", fit.instances);
		rd_json_end(&j);
	}
	rd_json_end(&j);
	rd_json_end(&j);
	return close_out(out, path);
}

int cmd_inject_list(const struct inject_ground *ground, const char *json)
{
	if (json)
		return list_json(ground, json);
	printf("%-11s %-9s %8s %12s  %s\n", "fault", "group", "sites", "executions", "what happens");
	for (size_t i = 0; i < inject_kind_count(); i++) {
		const struct inject_kind *k = inject_kind_at(i);
		struct inject_fit fit = inject_fits(ground, i);
		if (fit.sites)
			printf("%-11s %-9s %8" PRIu64 " %12" PRIu64 "  %s\n", k->name, k->group, fit.sites,
			       fit.instances, k->help);
		else
			printf("%-11s %-9s %8s %12s  %s\n", k->name, k->group, "-", "-", k->help);
	}
	return 0;
}

/* --- the summary ------------------------------------------------------------------------------- */

void cmd_inject_start(struct cmd_inject_summary *s, const struct inject_setup *setup, const char *directory,
		      uint64_t runs)
{
	*s = (struct cmd_inject_summary){.setup = setup, .directory = directory, .runs = runs};
	s->counts = rd_xcalloc(inject_kind_count(), sizeof *s->counts);
	s->last = (struct rd_buf)RD_BUF_INIT;
	rd_progress_start(&s->progress, "injecting", runs);
}

static void describe(const struct epa_run *r, struct rd_buf *out)
{
	rd_buf_addf(out, "%s in %s at %s (%s, execution %" PRIu64 "): ", r->fault,
		    r->thread ? r->thread : "?", r->where ? r->where : "?", r->opcode ? r->opcode : "?",
		    r->instance);
	if (!r->fired || !r->before || !r->after)
		rd_buf_adds(out, "did not happen\n");
	else if (r->action && !strcmp(r->action, "call"))
		rd_buf_addf(out, "the call was left out and returned %s\n", r->after);
	else
		rd_buf_addf(out, "%s became %s\n", r->before, r->after);
	rd_buf_addf(out, "outcome: %s", epa_run_outcome_name(r->outcome));
	if (r->signal)
		rd_buf_addf(out, ", %s", r->signal);
	else if (r->exit >= 0)
		rd_buf_addf(out, ", exit status %" PRId64, r->exit);
	if (r->place)
		rd_buf_addf(out, " at %s", r->place);
	rd_buf_addf(out, "\nfirst deviation: %s", epa_run_deviation_name(r->deviation));
	if (r->deviation_at)
		rd_buf_addf(out, " in %s at %s", r->deviation_thread ? r->deviation_thread : "?",
			    r->deviation_at);
	rd_buf_addc(out, '\n');
}

void cmd_inject_count(struct cmd_inject_summary *s, const struct epa_run *run)
{
	int kind = inject_kind_find(run->fault, strlen(run->fault));

	if (kind >= 0)
		s->counts[kind][run->outcome]++;
	s->deviating += run->deviation != EPA_RUN_NONE;
	if (s->runs == 1)
		describe(run, &s->last);
	rd_progress_update(&s->progress, ++s->done, NULL);
}

void cmd_inject_end(struct cmd_inject_summary *s)
{
	rd_progress_end(&s->progress);
}

void cmd_inject_release(struct cmd_inject_summary *s)
{
	free(s->counts);
	rd_buf_release(&s->last);
}

void cmd_inject_report(const struct cmd_inject_summary *s, FILE *out)
{
	if (s->runs == 1 && s->done) {
		fputs(s->last.data, out);
		return;
	}
	fprintf(out, "%-11s %8s", "fault", "runs");
	for (int o = 0; o < EPA_RUN_OUTCOMES; o++)
		fprintf(out, " %*s", (int)strlen(epa_run_outcome_name(o)) + 3, epa_run_outcome_name(o));
	fputc('\n', out);
	for (size_t i = 0; i < s->setup->kinds.count; i++) {
		const char *name = s->setup->kinds.items[i];
		int kind = inject_kind_find(name, strlen(name));
		uint64_t all = 0;
		for (int o = 0; o < EPA_RUN_OUTCOMES; o++)
			all += s->counts[kind][o];
		fprintf(out, "%-11s %8" PRIu64, name, all);
		for (int o = 0; o < EPA_RUN_OUTCOMES; o++)
			fprintf(out, " %*" PRIu64, (int)strlen(epa_run_outcome_name(o)) + 3,
				s->counts[kind][o]);
		fputc('\n', out);
	}
	fprintf(out,
		"%" PRIu64 " of %" PRIu64 " runs deviate from the one without a fault; seed %" PRIu64
		", %s/log\n",
		s->deviating, s->done, s->setup->seed, s->directory);
}

int cmd_inject_json(const struct cmd_inject_summary *s, const char *path)
{
	struct rd_json j = {.indent = true};
	FILE *out = open_out(path);

	if (!out)
		return RD_ESYSTEM;
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", 1);
	rd_json_string(&j, "campaign", s->directory);
	rd_json_unsigned(&j, "seed", s->setup->seed);
	rd_json_unsigned(&j, "runs", s->runs);
	rd_json_unsigned(&j, "done", s->done);
	rd_json_unsigned(&j, "deviating", s->deviating);
	rd_json_object(&j, "kinds");
	for (size_t i = 0; i < s->setup->kinds.count; i++) {
		const char *name = s->setup->kinds.items[i];
		int kind = inject_kind_find(name, strlen(name));
		rd_json_object(&j, name);
		for (int o = 0; o < EPA_RUN_OUTCOMES; o++)
			rd_json_unsigned(&j, epa_run_outcome_name(o), s->counts[kind][o]);
		rd_json_end(&j);
	}
	rd_json_end(&j);
	rd_json_end(&j);
	return close_out(out, path);
}
