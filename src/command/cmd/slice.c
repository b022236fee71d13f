// SPDX-License-Identifier: Apache-2.0
/* `raddle slice`: shows the statements that may have contributed to a failure at a place, as lines
 * of the source. */
#include "base/error.h"
#include "base/place.h"
#include "bitcode/facts.h"
#include "cmd/cmd-int.h"
#include "cmd/output-int.h"
#include "report/slice.h"

#include <stdlib.h>
#include <string.h>

/* A run that is busy or waits for a processor may take this many times the limit, because the
 * machine may be loaded. */
enum { PATIENCE = 10 };

static const struct cmd_usage usage = {
	"raddle slice --at FILE:LINE [--json FILE] [--track] PROG [-- ARGS...]",
	"Shows the static backward slice of a place: the statements of a program built by 'raddle\n"
	"cc' that may have contributed to what happens there, in all functions and threads.  The\n"
	"program is not run.  The number before a line is the distance of the statement from the\n"
	"place, which has the distance 0.  With --track the program is run once.  What its threads\n"
	"did at these statements, and to the memory that the statements access, is shown in order.",
	"at json track sigma budget perturb hardware timeout quick verbose",
	"  raddle slice --at queue.c:45 ./server\n"
	"  raddle slice --at queue.c:45 --json slice.json ./server\n"
	"  raddle slice --at queue.c:45 --track --sigma 4 ./server -- --port 80\n",
	false,
};

/* What is written: the slice and, if there was one, the run. */
struct document {
	struct slice *slice;
	const struct track *track;
	const struct sketch_runs *runs;
	const struct track_end *end;
};

static int write_json(const void *what, FILE *out)
{
	const struct document *d = what;
	struct rd_json j;

	RD_ASSERT(d->slice && !d->track == !d->runs && !d->track == !d->end);
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	slice_json(d->slice, &j);
	if (d->runs)
		track_json(d->track, d->runs, d->end, &j);
	rd_json_end(&j);
	return 0;
}

static int track_once(struct slice *s, char **argv)
{
	const struct track_how how = {
		.sigma = (uint32_t)opt.sigma, .quick = opt.quick, .verbose = opt.verbose};
	const struct run_limits limits = {
		.wall_ms = cmd_limit(opt.timeout, CMD_FOREVER), .patience = PATIENCE, .interrupts = 1};
	const struct track_request request = {.argv = argv,
					      .limits = &limits,
					      .sigma = (uint32_t)opt.sigma,
					      .budget = (uint32_t)opt.budget,
					      .hardware = opt.hardware,
					      .perturb = opt.perturb};
	struct sketch_runs runs = {0};
	struct track_end end = {0};
	struct track t;
	int err = track_open(&t, argv[0], s, &how);

	if (!err)
		err = track_run(&t, &request, &runs, &end);
	if (!err)
		err = cmd_document(opt.json, write_json, &(struct document){s, &t, &runs, &end});
	if (!err && !cmd_output_is_stdout())
		report_track_text(&runs, &end, stdout);
	sketch_runs_release(&runs);
	track_end_release(&end);
	track_close(&t);
	return err;
}

/* ---- the command ---- */

/* Shows a slice.  `argv` is the command of the run, or NULL if there is no run. */
static int show(const struct facts *f, const char *file, uint32_t line, char **argv)
{
	struct slice_place at;
	struct slice s;
	int err = slice_find(&at, f, file, line);

	if (!err) {
		slice_make(&s, f, &at);
		if (argv)
			err = track_once(&s, argv);
		else
			err = cmd_document(opt.json, write_json, &(struct document){.slice = &s});
		if (!err && !argv && !cmd_output_is_stdout())
			report_slice_text(&s, stdout);
		slice_release(&s);
	}
	slice_place_release(&at);
	return err;
}

static int slice_program(const char *program, char **argv)
{
	struct facts *f;
	char *file;
	uint32_t line = 0;

	if (!rd_place_parse(opt.at, &file, &line)) {
		rd_fail(RD_EUSAGE, "--at: which place?  It is given as FILE:LINE, for example queue.c:45");
		return CMD_FAILED;
	}
	int err = rd_facts_open(program, &f);
	if (!err) {
		err = show(f, file, line, argv);
		facts_free(f);
	}
	free(file);
	return err ? CMD_FAILED : CMD_OK;
}

static int slice(const char *program)
{
	return slice_program(program, NULL);
}

int cmd_slice(int argc, char **argv)
{
	size_t count;
	bool track = false;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		track |= !strcmp(argv[i], "--track");
	if (!track)
		return cmd_operand(argc, argv, &usage, "a program", slice);
	int status = cmd_operand_words(argc, argv, &usage, true, &count);
	if (status != CMD_GO_ON)
		return status;
	return count ? slice_program(argv[1], argv + 1) : cmd_which(argv[0], "program");
}
