/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program as a replay does, to measure the cost of the on-line race detector.  The plan of
 * the replay never ends.  No thread is stopped, and nothing is recorded.  Prints, to standard
 * error, the unordered accesses that the detector saw, and the CPU time and elapsed time of the
 * run.
 *
 *	make build/detect-run
 *	build/detect-run [--off] PROGRAM [ARGUMENT...]
 *
 * --off disables the detector, for comparison.
 */
#include "base/error.h"
#include "replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_place(const struct trace_sites *sites, uint32_t id)
{
	const struct trace_site *site = trace_sites_find(sites, id);

	if (site)
		fprintf(stderr, " %s:%u", site->file == TRACE_NO_FILE ? "?" : sites->files[site->file],
			site->line);
	else
		fprintf(stderr, " ?");
}

static int run(char **argv, bool detect)
{
	struct run_program ours = {0};
	struct trace_sites *sites = NULL;
	struct schedule schedule;
	struct replay_program program = {.program = &ours, .argv = argv};
	struct replay_request request = {
		.program = &program, .schedule = &schedule, .detect = detect, .patience_ms = 60000};
	struct replay_result result;
	int err = run_program_open(&ours, argv[0], &(struct run_build){.fast = true});

	schedule_init(&schedule);
	*schedule_add_stop(&schedule) =
		(struct schedule_stop){.thread = "T_0", .n = UINT64_MAX / 2, .kind = "mutex-lock"};
	if (!err)
		err = trace_sites_read(&sites, ours.flavour.sites);
	if (err)
		return err;
	program.sites = sites;
	err = replay_run(&request, &result);
	if (err)
		return err;
	for (size_t i = 0; i < result.race_count; i++) {
		const struct replay_race *r = &result.races[i];
		fprintf(stderr, "race: %s %s", r->thread[0], r->write[0] ? "writes" : "reads");
		print_place(sites, r->site[0]);
		fprintf(stderr, ", %s %s", r->thread[1], r->write[1] ? "writes" : "reads");
		print_place(sites, r->site[1]);
		fprintf(stderr, " (%u bytes)\n", (unsigned)r->size);
	}
	fprintf(stderr, "detect-run: end %d status %d races %llu cpu %.2f wall %.2f\n", (int)result.end,
		result.status, (unsigned long long)result.races_seen, result.cpu_seconds,
		result.wall_seconds);
	replay_result_release(&result);
	trace_sites_free(sites);
	run_program_close(&ours);
	return 0;
}

int main(int argc, char **argv)
{
	bool off = argc > 1 && !strcmp(argv[1], "--off");

	if (argc < 2 + off) {
		fprintf(stderr, "usage: detect-run [--off] PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	return run(argv + 1 + off, !off) ? 1 : 0;
}
