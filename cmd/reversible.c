// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle reversible`: is a recorded run pseudo-deterministic?  Only then other runs can be compared with it
 * record by record.
 */
#include "cmd/cmd.h"
#include "cmd/reversible.h"

#include "base/error.h"
#include "base/file.h"
#include "reversible/certificate.h"
#include "trace/meta.h"

#include <stdlib.h>
#include <string.h>

enum { UNDECIDED = 3 }; /* exit status */

static struct {
	bool json, verbose, quiet, strict, objects;
	const char *schedule, *certificate, *checked;
	uint64_t limit, timeout;
} opt = {.limit = 1, .timeout = 10000};

static const struct rd_option options[] = {
	RD_FLAG('v', "verbose", &opt.verbose, "show whole orders, not only their ends"),
	RD_FLAG('q', "quiet", &opt.quiet, "write no report"),
	RD_FLAG('j', "json", &opt.json, "write a JSON document"),
	RD_STRING('o', "schedule", &opt.schedule, "FILE", "write a schedule that replays the first reversal"),
	RD_NUMBER('n', "limit", &opt.limit, "COUNT", "look for COUNT reversals (1)"),
	RD_STRING(0, "certificate", &opt.certificate, "FILE", "write the proof of a yes"),
	RD_STRING(0, "check-certificate", &opt.checked, "FILE", "only check that proof against TRACE"),
	RD_FLAG(0, "objects", &opt.objects, "list the objects that threads share"),
	RD_FLAG(0, "strict", &opt.strict, "answer no if the run depends on time, random numbers, ..."),
	RD_NUMBER(0, "solver-timeout", &opt.timeout, "MS",
		  "limit for each question to the solver (10000); 0: no solver"),
	RD_END,
};

static const struct rd_usage usage = {
	"raddle reversible [-vqj] [-o FILE] [-n COUNT] [--strict] TRACE",
	"Checks whether a run, recorded with 'raddle record --flavour full', is pseudo-\n"
	"deterministic: whether its dependent events have the same order in every schedule.  If\n"
	"not, two events that can be reversed are shown, with an order that reverses them.\n"
	"Inputs that the program does not control, such as the time, are listed.  The exit\n"
	"status is 0 for yes, 1 for no, 3 for unknown.",
	options,
	"  raddle record --flavour full -o golden -- ./prog\n"
	"  raddle reversible -o reversed.schedule golden\n"
	"  raddle replay reversed.schedule -- ./prog\n",
};

/* ---- the schedule ---- */

static int write_schedule(struct cmd_reversible *c)
{
	struct schedule s;
	int err = 0;

	if (!opt.schedule || !c->result->reversal_count)
		return 0;
	if (reversible_schedule(c, &c->result->reversals[0], &s)) {
		err = schedule_write(&s, opt.schedule);
		c->schedule = err ? NULL : opt.schedule;
	} else {
		rd_warn("reversible: no schedule of operations leads to the reversal; %s is not written",
			opt.schedule);
	}
	schedule_release(&s);
	return err;
}

/* ---- certificates ---- */

static int write_certificate(const struct cmd_reversible *c)
{
	struct rd_buf text = RD_BUF_INIT;
	int err;

	if (!opt.certificate || c->result->verdict != REV_YES)
		return 0;
	rev_certificate_write(c->result, c->trace, &text);
	err = rd_file_write(opt.certificate, text.data, text.length);
	rd_buf_release(&text);
	return err;
}

static int check_certificate(const char *path)
{
	struct rev_certificate certificate = {0};
	struct rd_buf text = RD_BUF_INIT;
	struct epa_source *source = NULL;
	char *why = NULL;
	int err = rd_file_read(opt.checked, &text), status = CMD_FAILED;

	if (!err)
		err = rev_certificate_parse(&certificate, text.data, text.length, opt.checked);
	if (!err)
		err = epa_source_open(&source, path);
	if (!err)
		err = rev_certificate_check(&certificate, source, (unsigned)opt.timeout, &why);
	if (!err && !opt.quiet && why)
		printf("%s does not hold: %s\n", opt.checked, why);
	else if (!err && !opt.quiet)
		printf("%s holds: %zu steps and %zu pairs of the solver order all dependent events\n",
		       opt.checked, certificate.step_count, certificate.proved_count);
	rev_certificate_release(&certificate);
	rd_buf_release(&text);
	epa_source_close(source);
	if (!err)
		status = why ? CMD_FOUND : CMD_OK;
	free(why);
	return status;
}

/* ---- the whole ---- */

static int status_of(const struct rev_result *x)
{
	if (x->verdict == REV_OPEN)
		return UNDECIDED;
	return x->verdict == REV_NO || (opt.strict && x->source_count) ? CMD_FOUND : CMD_OK;
}

static void read_program(const char *trace, struct trace_meta *meta, struct cmd_reversible *c)
{
	char *path = rd_xasprintf("%s/meta.json", trace);

	if (!trace_meta_read(meta, path)) {
		c->program = meta->program;
		c->signal = meta->end == TRACE_SIGNALLED ? meta->code : 0;
	}
	free(path);
}

static int check(const char *path)
{
	struct rev_options how = {.solver_ms = (unsigned)opt.timeout,
				  .limit = (size_t)opt.limit,
				  .objects = opt.objects || opt.certificate,
				  .log = opt.certificate != NULL};
	struct cmd_reversible c = {.trace = path, .verbose = opt.verbose, .strict = opt.strict};
	struct trace_meta meta = {0};
	struct rev_result *x = NULL;
	struct epa_source *source;
	int err = epa_source_open(&source, path), status = CMD_FAILED;

	if (err)
		return CMD_FAILED;
	err = rev_check(&x, source, &how);
	if (!err) {
		c.result = x;
		c.sites = epa_source_sites(source);
		read_program(path, &meta, &c);
		err = write_schedule(&c);
	}
	if (!err)
		err = write_certificate(&c);
	if (!err) {
		status = status_of(x);
		if (opt.json)
			reversible_json(&c, stdout);
		else if (!opt.quiet)
			reversible_text(&c);
		if (x->damaged)
			status = CMD_FAILED;
	}
	trace_meta_release(&meta);
	rev_result_free(x);
	epa_source_close(source);
	return status;
}

int cmd_reversible(int argc, char **argv)
{
	const char *path;
	int status = cmd_operand(argc, argv, &usage, "a trace", &path);

	if (status != CMD_GO_ON)
		return status;
	if (opt.timeout > 3600000 || opt.limit > 1000000) {
		rd_fail(RD_EUSAGE, "reversible: --solver-timeout or --limit is out of range");
		return CMD_FAILED;
	}
	return opt.checked ? check_certificate(path) : check(path);
}
