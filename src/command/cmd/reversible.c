// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle reversible`: checks whether a recorded run is pseudo-deterministic.  Only then can other
 * runs be compared with it record by record.
 */
#include "cmd/cmd-int.h"
#include "cmd/output-int.h"

#include "base/error.h"
#include "report/reversible.h"
#include "reversible/certificate.h"
#include "reversible/schedule.h"
#include "trace/meta.h"

#include <stdlib.h>
#include <string.h>

static const struct cmd_usage usage = {
	"raddle reversible [-vq] [--json[=FILE]] [-o FILE] [--strict] TRACE",
	"Checks whether a run, recorded with 'raddle record --flavour full', is pseudo-\n"
	"deterministic: whether its dependent events have the same order in every schedule.  If\n"
	"not, two events that can be reversed are shown, with an order that reverses them.\n"
	"Inputs that the program does not control, such as the time, are listed.  The exit\n"
	"status is 0 for yes, 1 for no, 3 for unknown.",
	CMD_WORDS
	"json schedule limit_reversals certificate check_certificate objects strict solver_timeout no_solver",
	"  raddle record --flavour full -o golden -- ./prog\n"
	"  raddle reversible -o reversed.schedule golden\n"
	"  raddle replay reversed.schedule -- ./prog\n",
	false,
};

/* Returns the milliseconds for each question to the solver, or 0 if no solver is used. */
static unsigned solver_ms(void)
{
	return opt.no_solver ? 0 : opt.solver_timeout ? (unsigned)opt.solver_timeout : CMD_FOREVER;
}

/* ---- the schedule ---- */

static int write_schedule(struct report_reversible *c, const char *program)
{
	struct rd_buf text = RD_BUF_INIT;
	struct schedule s;
	int err = 0;

	if (!opt.schedule || !c->result->reversal_count)
		return 0;
	if (rev_schedule(c->result, c->sites, &c->result->reversals[0], &s)) {
		s.program = schedule_text(&s, program);
		s.trace = schedule_text(&s, c->trace);
		schedule_format(&s, &text);
		err = cmd_write_text(opt.schedule, &text);
		c->schedule = err ? NULL : opt.schedule;
	} else {
		rd_warn("reversible: no schedule of operations leads to the reversal; %s is not written",
			opt.schedule);
	}
	schedule_release(&s);
	rd_buf_release(&text);
	return err;
}

/* ---- certificates ---- */

static int write_certificate(const struct rev_result *x, const char *trace)
{
	struct rd_buf text = RD_BUF_INIT;
	int err;

	rev_certificate_write(x, trace, &text);
	err = cmd_write_text(opt.certificate, &text);
	rd_buf_release(&text);
	return err;
}

static int check_certificate(const char *path)
{
	struct rev_certificate certificate = {0};
	char *why = NULL;
	int err = rev_certificate_check_file(&certificate, opt.check_certificate, path, solver_ms(), &why);
	int status = err ? CMD_FAILED : why ? CMD_FOUND : CMD_OK;

	if (!err && !opt.quiet)
		report_certificate_text(opt.check_certificate, &certificate, why, stdout);
	rev_certificate_release(&certificate);
	free(why);
	return status;
}

/* ---- the command ---- */

static int status_of(const struct rev_result *x)
{
	RD_ASSERT(x->verdict == REV_OPEN || x->verdict == REV_NO || x->verdict == REV_YES);
	if (x->verdict == REV_OPEN)
		return CMD_UNDECIDED;
	return x->verdict == REV_NO || (opt.strict && x->source_count) ? CMD_FOUND : CMD_OK;
}

static void read_program(const char *trace, struct trace_meta *meta, struct report_reversible *c)
{
	char *path = rd_xasprintf("%s/meta.json", trace);

	if (!trace_meta_read(meta, path))
		c->signal = meta->end == TRACE_SIGNALLED ? meta->code : 0;
	free(path);
}

static int write_json(const void *what, FILE *out)
{
	return report_reversible_json(what, out);
}

static int check(const char *path)
{
	struct rev_options how = {.solver_ms = solver_ms(),
				  .limit = opt.limit_reversals ? (size_t)opt.limit_reversals : SIZE_MAX,
				  .objects = opt.objects || opt.certificate,
				  .log = opt.certificate != NULL};
	struct report_reversible c = {.trace = path, .verbose = opt.verbose};
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
		err = write_schedule(&c, meta.program);
	}
	if (!err && opt.certificate && x->verdict == REV_YES)
		err = write_certificate(x, path);
	if (!err) {
		err = cmd_document(opt.json, write_json, &c);
		if (!cmd_output_is_stdout() && !opt.quiet)
			report_reversible_text(&c, stdout);
		status = err || x->damaged ? CMD_FAILED : status_of(x);
	}
	trace_meta_release(&meta);
	rev_result_free(x);
	epa_source_close(source);
	return status;
}

static int decide(const char *path)
{
	return opt.check_certificate ? check_certificate(path) : check(path);
}

int cmd_reversible(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a trace", decide);
}
