// SPDX-License-Identifier: Apache-2.0
/*
 * Plain runs.  In: a program built for a slice.  Out: the events of a run, and how it ended.
 *
 * The place of a failure decides whether it is the failure to be explained.  The kind may differ,
 * since freed memory is watched only in runs whose threads take turns.  Runs that had to be killed
 * are ignored.
 */
#include "sketch/plain-int.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

int plain_open(struct plain *p, const char *program, struct slice *slice)
{
	return track_open(&p->track, program, slice, &(struct track_how){0});
}

void plain_close(struct plain *p)
{
	track_close(&p->track);
}

static bool is_there(const struct plain *p, const struct track_end *end)
{
	const struct sketch_failure *f = p->failure;

	return end->file && f->file && end->line == f->line &&
	       !strcmp(rd_base_name(end->file), rd_base_name(f->file));
}

/* Lets the user's command judge the run (verdict-int.h). */
static int judge(const struct plain *p, const struct track_end *end, struct sketch_run *run)
{
	struct sketch_failure f = {.kind = run->outcome};
	struct rd_arena *arena = rd_arena_new();
	struct trial t;
	int err = trial_of_plain_run(&t, end->end.status, p->streams, arena);

	if (!err)
		err = verdict_judge(p->judge, &t, &f);
	run->outcome = f.kind;
	sketch_failure_release(&f);
	rd_arena_free(arena);
	return err;
}

static void name_failure(const struct plain *p, const struct track_end *end, struct sketch_run *run)
{
	bool same = (run->outcome == SKETCH_CRASH || run->outcome == SKETCH_ASSERTION) && is_there(p, end);

	if (run->outcome != SKETCH_PASSED && !same)
		return;
	free(run->signature);
	run->signature = same ? rd_xstrdup(p->signature) : NULL;
}

int plain_run(struct plain *p, uint32_t sigma, uint64_t perturb, struct sketch_runs *runs, bool *said)
{
	struct run_limits limits = {.work_ms = rd_ns_to_ms(p->limit_ns)};
	struct track_request request = {.argv = p->argv,
					.streams = p->streams->fds,
					.limits = &limits,
					.sigma = sigma,
					.perturb = perturb};
	struct track_end end;
	struct sketch_run *run;
	int err;

	*said = false;
	run_streams_rewind(p->streams);
	err = track_run(&p->track, &request, runs, &end);
	if (err)
		return err;
	RD_ASSERT(runs->count > 0);
	p->work_us += end.end.work_us;
	run = &runs->items[runs->count - 1];
	if (p->judge->command)
		err = judge(p, &end, run);
	*said = !err && run->outcome != SKETCH_HANG;
	if (*said) {
		name_failure(p, &end, run);
	} else {
		RD_FREE(run->signature, run->events, run->schedule);
		runs->count--;
	}
	track_end_release(&end);
	return err;
}
