// SPDX-License-Identifier: Apache-2.0
/* Tracked runs of a site.  A task makes the site track a run of the program, and the run yields a
 * record for the hive.  The site computes the slice and the plan itself.  If they differ from the
 * hive's, the run is not tracked. */
#include "site/track-int.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/file.h"
#include "bitcode/facts.h"
#include "raddle/session.h"
#include "sketch/track.h"
#include "slice/slice.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct site_tracking {
	struct facts *facts;
	struct slice slice;
	struct track track;
	struct sketch_plan plan;
	struct track_request request;
	struct track_memory memory;
	bool has_slice, has_track, has_memory;
};

static int make_slice(struct site_tracking *k, const struct protocol_task *task)
{
	struct slice_place at;
	int err = slice_find(&at, k->facts, task->file, task->line);
	if (!err) {
		slice_make(&k->slice, k->facts, &at);
		k->has_slice = true;
	}
	slice_place_release(&at);
	return err;
}

/* Checks that this plan has the same id as the hive's plan.  The id depends on the place of the
 * failure, not on its kind. */
static int check_plan(struct site_tracking *k, const struct protocol_task *task)
{
	struct sketch_failure failure = {.kind = SKETCH_CRASH};
	sketch_plan_make(&k->plan, &k->slice, &k->track.gates, &failure);
	return strcmp(k->plan.id, task->plan) == 0
		       ? 0
		       : rd_fail(RD_EFORMAT, "the slice of %s:%u is not the one that the hive has",
				 rd_base_name(task->file), task->line);
}

static int open_tracking(struct site_tracking *k, const char *program, const struct protocol_task *task)
{
	int err = rd_facts_open(program, &k->facts);
	if (!err)
		err = make_slice(k, task);
	if (!err) {
		k->has_track = true;
		err = track_open(&k->track, program, &k->slice, &(struct track_how){0});
	}
	if (!err)
		err = check_plan(k, task);
	if (!err) {
		k->request = (struct track_request){
			.sigma = task->sigma, .events = SITE_TRACK_EVENTS, .budget = SITE_TRACK_BUDGET};
		k->has_memory = true;
		err = track_begin(&k->track, &k->request, &k->memory);
	}
	return err;
}

struct site_tracking *site_tracking_open(const char *program, const struct protocol_task *task, bool verbose)
{
	struct site_tracking *k = rd_xcalloc(1, sizeof *k);
	char *message = NULL;
	struct rd_context quiet = {.log = rd_log_first, .data = &message};
	rd_context_enter(&quiet);
	int err = open_tracking(k, program, task);
	rd_context_leave(&quiet);
	if (err) {
		if (verbose)
			rd_info("site: the failure is not tracked in this run: %s", message ? message : "?");
		site_tracking_close(k);
		k = NULL;
	}
	free(message);
	return k;
}

void site_tracking_close(struct site_tracking *k)
{
	if (k == NULL)
		return;
	if (k->has_memory)
		track_memory_close(&k->memory);
	sketch_plan_release(&k->plan);
	if (k->has_track)
		track_close(&k->track);
	if (k->has_slice)
		slice_release(&k->slice);
	facts_free(k->facts);
	free(k);
}

const char *site_tracking_executable(const struct site_tracking *k)
{
	return k->track.program.flavour.executable;
}

struct site_given site_tracking_given(const struct site_tracking *k)
{
	return (struct site_given){.fd = k->memory.handle.fd, .variable = RADDLE_SESSION_ENV};
}

/* Returns true if a run is relevant.  A run is irrelevant if the program was killed, exited with a
 * status other than 0, or failed at another place.  It then neither passed nor showed the failure
 * of the task. */
static bool is_relevant(const struct site_tracking *k, const struct sketch_run *run,
			const struct track_end *end)
{
	if (run->outcome == SKETCH_PASSED)
		return true;
	return (run->outcome == SKETCH_CRASH || run->outcome == SKETCH_ASSERTION) && end->file != NULL &&
	       end->line == k->plan.failure.line &&
	       strcmp(rd_base_name(end->file), rd_base_name(k->plan.failure.file)) == 0;
}

void site_tracking_report(struct site_tracking *k, int status, const char *run, bool values,
			  struct rd_buf *lines)
{
	RD_ASSERT(k->has_memory);
	struct track_end end = {
		.end = {.how = WIFEXITED(status) ? RUN_EXITED : RUN_SIGNALLED, .status = status}};
	struct sketch_record what = {.plan = k->plan.id,
				     .run = run,
				     .sigma = k->request.sigma,
				     .statements = k->plan.runs.statement_count,
				     .values = values};
	struct sketch_runs *runs = &k->plan.runs;
	if (track_finish(&k->track, &k->request, &k->memory, runs, &end) == 0 &&
	    is_relevant(k, &runs->items[0], &end)) {
		sketch_record_write(&what, runs, &runs->items[0], lines);
		rd_buf_addc(lines, '\n');
	}
	track_end_release(&end);
}
