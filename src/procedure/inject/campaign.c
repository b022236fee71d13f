// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a campaign.  This process hands out the numbers of runs and writes the log.  It forks
 * workers as soon as everything that the runs share is in memory.  The workers do the runs and send
 * back a line for each run.  There is only one writer, and each line is written by one write(), so
 * the log has only complete lines.  The only exception is the last line of a writer that was
 * killed; it is removed before the next line is written.
 *
 * If a worker dies, another worker repeats its run.  If workers keep dying, or one reports that it
 * cannot continue (a full disk), the campaign is stopped and can be resumed.
 */
#include "inject/campaign.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/pool.h"
#include "inject/part-int.h"
#include "inject/until-int.h"
#include "inject/verdict-int.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_RUN UINT64_MAX
/* Number of consecutive workers that die before the campaign is stopped; set by hand. */
#define FAILURES_MAX 8
/* Memory is returned to the system between runs only in pieces of more than this many bytes; set by
 * hand. */
#define KEPT_BYTES (256 << 20)
/* Exit status of a worker that has reported why it cannot continue. */
#define GAVE_UP 3

struct inject_campaign {
	char *directory, *sites;
	const struct inject_setup *setup;
	struct inject_target target;
	struct inject_golden golden;
	struct inject_chooser *chooser;
	struct inject_until until;
};

struct campaign_crew {
	struct inject_campaign *campaign;
	const struct inject_work *work;
	struct inject_part part;
	uint8_t *taken; /* by run: 1 if it is finished or in progress */
	uint64_t runs, next;
	unsigned failures;
	int error;

	/* Only a worker uses the following members. */
	char *scratch;
	struct inject_run run;
	struct rd_pool *pool;
};

/* --- the campaign ------------------------------------------------------------------------- */

void inject_campaign_close(struct inject_campaign *c)
{
	if (!c)
		return;
	inject_until_close(&c->until);
	inject_chooser_close(c->chooser);
	inject_golden_release(&c->golden);
	RD_FREE(c->directory, c->sites, c);
}

int inject_campaign_open(struct inject_campaign **out, const char *directory,
			 const struct inject_setup *setup, const struct run_program *program)
{
	struct inject_campaign *c = rd_xcalloc(1, sizeof *c);
	struct inject_ground ground = {.setup = setup};
	int r;

	c->directory = rd_xstrdup(directory);
	c->sites = rd_xasprintf("%s/golden/trace/sites", directory);
	c->setup = setup;
	inject_until_open(&c->until, setup);
	r = inject_golden_load(&c->golden, directory);
	if (!r) {
		ground.census = &c->golden.census;
		ground.sites = trace_get_sites(c->golden.trace);
		ground.trace = c->golden.trace;
		ground.layout = c->golden.layout;
		c->target = (struct inject_target){setup, program, c->golden.layout};
		r = inject_chooser_open(&c->chooser, &ground);
	}
	if (r)
		inject_campaign_close(c);
	else
		*out = c;
	return r;
}

uint64_t inject_campaign_runs(const struct inject_campaign *c)
{
	return inject_chooser_runs(c->chooser);
}

uint64_t inject_campaign_expected(const struct inject_campaign *c)
{
	return c->until.half > 0 ? inject_until_expected(&c->until) : inject_campaign_runs(c);
}

int inject_campaign_choose(struct inject_campaign *c, uint64_t run, struct inject_fault *fault)
{
	if (run >= inject_campaign_runs(c))
		return rd_fail(RD_EUSAGE, "%s: there is no run %" PRIu64 ", the last one is %" PRIu64,
			       c->directory, run, inject_campaign_runs(c) - 1);
	return inject_choose(c->chooser, run, fault);
}

/* ---- one run of the program ---- */

static int write_plain(const char *path, const struct rd_buf *data)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int r = fd < 0 || rd_write_all(fd, data->data, data->length) ? rd_fail_errno("cannot write %s", path)
								     : 0;

	if (fd >= 0)
		close(fd);
	return r;
}

static int keep_diff(const struct inject_campaign *c, const struct inject_run *run, const char *name,
		     struct inject_verdict *v, const char *directory)
{
	struct rd_buf diff = RD_BUF_INIT;
	const char *kind = strcmp(name, "stdout") ? "file" : "stdout";
	char *path = rd_xasprintf("%s/%s/%s.diff", c->directory, directory, kind);
	int r;

	snprintf(v->diff, sizeof v->diff, "%s/%s.diff", directory, kind);
	inject_output_diff(&c->golden.output, &run->output, name, &diff);
	r = write_plain(path, &diff);
	rd_buf_release(&diff);
	free(path);
	return r;
}

static bool wants_trace(const struct inject_setup *s, const struct inject_verdict *v)
{
	return s->keep &&
	       (!strcmp(s->keep, "all") || (!strcmp(s->keep, "deviating") && v->deviation != RUNLOG_NONE));
}

/* Saves files of a run: a diff of the output if the outcome is silent data corruption, and the
 * trace if the setup asks for it. */
static int keep(struct inject_campaign *c, const struct inject_fault *fault, const struct inject_run *run,
		struct inject_verdict *v, const char *differs)
{
	bool traced = wants_trace(c->setup, v), diffed = differs && v->outcome == RUNLOG_SDC;
	struct inject_trace t = {.sites = c->sites, .target = &c->target, .run = run};
	char directory[32], *path;
	int r;

	snprintf(directory, sizeof directory, "runs/%" PRIu64, fault->run);
	if (!traced && !diffed)
		return 0;
	path = rd_xasprintf("%s/%s", c->directory, directory);
	r = rd_mkdirs(path);
	free(path);
	if (!r && diffed)
		r = keep_diff(c, run, differs, v, directory);
	if (!r && traced) {
		snprintf(v->trace, sizeof v->trace, "%s/trace", directory);
		path = rd_xasprintf("%s/%s", c->directory, v->trace);
		t.directory = path;
		r = inject_trace_write(&t);
		free(path);
	}
	return r;
}

static int judge(struct inject_campaign *c, const struct inject_fault *fault, const struct inject_run *run,
		 struct inject_verdict *v, const char **differs)
{
	struct inject_case one = {&c->golden, c->setup, fault, run};

	*v = (struct inject_verdict){0};
	inject_verdict_outcome(&one, v, differs);
	return inject_verdict_compare(&one, v);
}

static int do_run(struct inject_campaign *c, const char *scratch, uint64_t number, struct inject_run *run,
		  struct rd_buf *line)
{
	RD_ASSERT(c != NULL && scratch != NULL);
	struct inject_fault fault;
	struct inject_verdict v;
	const char *differs = NULL;
	int r = inject_choose(c->chooser, number, &fault);

	if (!r)
		r = inject_run(&c->target, scratch, &fault, run);
	if (!r)
		r = judge(c, &fault, run, &v, &differs);
	if (!r)
		r = keep(c, &fault, run, &v, differs);
	if (!r)
		inject_log_line(trace_get_sites(c->golden.trace), &fault, run, &v, line);
	return r;
}

/* Fails unless the fault is in the process that the campaign is about, because only that process is
 * compared. */
static int check_about(const struct inject_setup *s, const struct inject_fault *fault)
{
	const struct run_fault *f = &fault->faults[0];
	struct run_fault about = {0};

	inject_setup_process(s, &about);
	if (f->forks == about.forks && memcmp(f->process, about.process, f->forks * sizeof *f->process) == 0)
		return 0;
	return rd_fail(RD_EUSAGE, "inject: the fault is not in process %s; name its process with --process",
		       s->process ? s->process : "P_0");
}

int inject_campaign_repeat(struct inject_campaign *c, const struct inject_fault *fault, const char *trace,
			   struct rd_buf *line)
{
	char *scratch = rd_xasprintf("%s/scratch/repeat.%d", c->directory, (int)getpid());
	struct inject_run run = {0};
	struct inject_trace t = {trace, c->sites, &c->target, &run};
	struct inject_verdict v;
	const char *differs;
	int r = check_about(c->setup, fault);

	if (!r)
		r = inject_run(&c->target, scratch, fault, &run);

	if (!r)
		r = judge(c, fault, &run, &v, &differs);
	if (!r && trace)
		r = inject_trace_write(&t);
	if (!r)
		inject_log_line(trace_get_sites(c->golden.trace), fault, &run, &v, line);
	inject_run_release(&run);
	rd_remove_tree(scratch);
	free(scratch);
	return r;
}

/* ---- workers ---- */

static void enter(void *context, unsigned slot)
{
	struct campaign_crew *crew = context;

	close(crew->part.fd); /* the lock of the log belongs to the leader */
	/* Runs need the same memory again, so it is not returned to the system in between. */
	mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
	crew->scratch = rd_xasprintf("%s/scratch/%u.%u.%d", crew->campaign->directory, crew->work->shard,
				     slot, (int)getpid());
}

static int work(void *context, uint64_t number, struct rd_buf *line)
{
	struct campaign_crew *crew = context;

	return do_run(crew->campaign, crew->scratch, number, &crew->run, line) ? GAVE_UP : 0;
}

static void leave(void *context)
{
	struct campaign_crew *crew = context;

	inject_run_release(&crew->run);
	rd_remove_tree(crew->scratch);
}

/* ---- the leader ---- */

/* Returns the next run that is neither finished nor in progress, or NO_RUN if there is none. */
static uint64_t next_run(struct campaign_crew *crew)
{
	unsigned step = crew->work->shards ? crew->work->shards : 1;

	while (crew->next < crew->runs && crew->taken[crew->next])
		crew->next += step;
	if (crew->next >= crew->runs)
		return NO_RUN;
	crew->taken[crew->next] = 1;
	return crew->next;
}

static void note_line(struct campaign_crew *crew, const char *text, size_t length)
{
	struct rd_names texts = RD_NAMES_INIT;
	struct runlog_run run;
	const char *wrong = runlog_parse(&run, text, length - 1, &texts);

	RD_ASSERT(!wrong);
	/* No line may follow a line that was not written completely. */
	if (!crew->error)
		crew->error = inject_part_add(&crew->part, text, length);
	inject_until_note(&crew->campaign->until, &run);
	if (!crew->error && crew->work->done)
		crew->work->done(crew->work->context, &run, true);
	rd_names_release(&texts);
}

/* Handles a worker that died before its run was finished. */
static void note_lost_run(struct campaign_crew *crew, uint64_t run, int status)
{
	crew->taken[run] = 0;
	if (run < crew->next)
		crew->next = run;
	if (crew->error)
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == GAVE_UP) {
		crew->error = rd_fail(RD_ETOOL, "inject: gave up at run %" PRIu64 "; --resume %s continues",
				      run, crew->campaign->directory);
		return;
	}
	rd_warn("inject: the process that did run %" PRIu64 " died", run);
	if (++crew->failures >= FAILURES_MAX)
		crew->error = rd_fail(
			RD_ETOOL, "inject: %u processes died one after another; the campaign can be resumed",
			crew->failures);
}

/* Hands out runs as long as there are free workers and runs that are still needed.  After an error,
 * no more runs are handed out, but those in progress are completed. */
static int give(void *context)
{
	struct campaign_crew *crew = context;
	uint64_t run;

	while (!crew->error && rd_pool_has_room(crew->pool) &&
	       !inject_until_reached(&crew->campaign->until) && (run = next_run(crew)) != NO_RUN)
		crew->error = rd_pool_submit(crew->pool, run);
	return RD_OK;
}

static int take(void *context, const struct rd_pool_event *event)
{
	struct campaign_crew *crew = context;

	if (event->what == RD_POOL_DONE) {
		crew->failures = 0;
		note_line(crew, event->answer, event->length);
	} else {
		note_lost_run(crew, event->task, event->status);
	}
	return RD_OK;
}

static int run_crew(struct campaign_crew *crew)
{
	struct rd_pool_opts opts = {.enter = enter, .work = work, .leave = leave, .context = crew};
	struct rd_pool_loop loop = {.give = give, .take = take, .context = crew};
	bool interrupted = false;
	uint64_t left = 0;

	for (uint64_t i = crew->work->shard; i < crew->runs; i += crew->work->shards ? crew->work->shards : 1)
		left += !crew->taken[i];
	if (!left)
		return 0;
	opts.workers = left < crew->work->jobs ? (unsigned)left : crew->work->jobs;
	rd_pool_open(&crew->pool, &opts);
	rd_pool_run(crew->pool, &loop, &interrupted);
	rd_pool_close(crew->pool);
	return crew->error;
}

static int count_old(void *context, const struct runlog_run *run, const char *text, size_t length)
{
	struct campaign_crew *crew = context;

	(void)text;
	(void)length;
	if (run->run >= crew->runs)
		return rd_fail(RD_EFORMAT,
			       "%s: the log has run %" PRIu64 ", but the campaign has only %" PRIu64 " runs",
			       crew->campaign->directory, run->run, crew->runs);
	inject_until_note(&crew->campaign->until, run);
	if (!crew->taken[run->run] && crew->work->done)
		crew->work->done(crew->work->context, run, false);
	crew->taken[run->run] = 1;
	return 0;
}

int inject_campaign_run(struct inject_campaign *c, const struct inject_work *work)
{
	struct campaign_crew crew = {
		.campaign = c, .work = work, .next = work->shard, .runs = inject_campaign_runs(c)};
	char *scratch = rd_xasprintf("%s/scratch", c->directory);
	int r = inject_part_open(&crew.part, c->directory, work->shards ? (int)work->shard : -1);

	crew.taken = rd_xcalloc(crew.runs + 1, 1);
	if (!r)
		r = inject_part_read_all(c->directory, count_old, &crew);
	if (!r)
		r = run_crew(&crew);
	if (inject_part_close(&crew.part) && !r)
		r = RD_ESYSTEM;
	if (!r && !work->shards)
		rd_remove_tree(scratch);
	free(scratch);
	free(crew.taken);
	return r;
}
