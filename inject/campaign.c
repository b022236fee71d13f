// SPDX-License-Identifier: Apache-2.0
/*
 * Doing a campaign.  This process hands out the numbers of runs and writes the log; workers, forked from it
 * when all that runs have in common is in memory, do them and send back lines.  One writer, one write() a
 * line: a line is in the log as a whole, but for the last one of a writer that was killed, which is cut off
 * before the next is written.
 *
 * A worker that dies costs its run, which is tried again by the next one.  If workers keep dying, or one says
 * that it cannot go on (a full disk), the campaign is given up, to be resumed.
 */
#include "inject/campaign.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "inject/part.h"
#include "inject/verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NO_RUN UINT64_MAX
#define FAILURES_MAX 8 /* one after another */
#define KEPT (256 << 20)
#define GAVE_UP 3 /* exit status of a worker that has said why */

struct inject_campaign {
	char *directory, *sites;
	const struct inject_setup *setup;
	struct inject_target target;
	struct inject_golden golden;
	struct inject_chooser *chooser;
};

struct worker {
	pid_t pid;
	int fd;
	uint64_t run; /* that it does; NO_RUN: none */
};

struct crew {
	struct inject_campaign *campaign;
	const struct inject_work *work;
	struct inject_part part;
	struct worker *workers;
	unsigned count;
	uint8_t *taken; /* runs that are done or being done */
	uint64_t runs, next;
	unsigned failures;
	int error;
};

/* --- the campaign ------------------------------------------------------------------------- */

int inject_campaign_open(struct inject_campaign **out, const char *directory,
			 const struct inject_setup *setup, const struct run_program *program)
{
	struct inject_campaign *c = rd_xcalloc(1, sizeof *c);
	struct inject_ground ground = {.setup = setup};
	int r;

	c->directory = rd_xstrdup(directory);
	c->sites = rd_xasprintf("%s/golden/trace/sites", directory);
	c->setup = setup;
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

void inject_campaign_close(struct inject_campaign *c)
{
	if (!c)
		return;
	inject_chooser_close(c->chooser);
	inject_golden_release(&c->golden);
	free(c->directory);
	free(c->sites);
	free(c);
}

uint64_t inject_campaign_runs(const struct inject_campaign *c)
{
	return inject_chooser_runs(c->chooser);
}

const struct inject_golden *inject_campaign_golden(const struct inject_campaign *c)
{
	return &c->golden;
}

int inject_campaign_choose(struct inject_campaign *c, uint64_t run, struct inject_fault *fault)
{
	if (run >= inject_campaign_runs(c))
		return rd_fail(RD_EUSAGE, "%s: there is no run %" PRIu64 ", the last one is %" PRIu64,
			       c->directory, run, inject_campaign_runs(c) - 1);
	return inject_choose(c->chooser, run, fault);
}

/* --- one run --------------------------------------------------------------------------------- */

static int write_plain(const char *path, const struct rd_buf *data)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int r = fd < 0 || rd_write_all(fd, data->data, data->length)
			? rd_fail_errno("%s: cannot write it", path)
			: 0;

	if (fd >= 0)
		close(fd);
	return r;
}

/* How output differs, where nobody noticed that it does. */
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

/* What is kept of a run besides its line. */
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

int inject_campaign_repeat(struct inject_campaign *c, const struct inject_fault *fault, const char *trace,
			   struct rd_buf *line)
{
	char *scratch = rd_xasprintf("%s/scratch/repeat.%d", c->directory, (int)getpid());
	struct inject_run run = {0};
	struct inject_trace t = {trace, c->sites, &c->target, &run};
	struct inject_verdict v;
	const char *differs;
	int r = inject_run(&c->target, scratch, fault, &run);

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

/* --- workers ------------------------------------------------------------------------------------ */

static _Noreturn void be_worker(struct crew *crew, unsigned index, int fd)
{
	struct inject_campaign *c = crew->campaign;
	char *scratch =
		rd_xasprintf("%s/scratch/%u.%u.%d", c->directory, crew->work->shard, index, (int)getpid());
	struct rd_buf line = RD_BUF_INIT;
	struct inject_run run = {0};
	uint64_t number;
	int r = 0;

	close(crew->part.fd); /* its lock is not ours */
	/* What one run needs the next one needs as well: it is not given back to the system in between. */
	mallopt(M_MMAP_THRESHOLD, KEPT);
	mallopt(M_TRIM_THRESHOLD, KEPT);
	while (!r && recv(fd, &number, sizeof number, 0) == (ssize_t)sizeof number) {
		rd_buf_clear(&line);
		r = do_run(c, scratch, number, &run, &line);
		if (!r && line.length > INJECT_LINE_MAX)
			r = rd_fail(RD_ELIMIT, "inject: the line of run %" PRIu64 " is too long", number);
		if (!r && send(fd, line.data, line.length, MSG_NOSIGNAL) < 0)
			break;
	}
	rd_remove_tree(scratch);
	_exit(r ? GAVE_UP : 0);
}

static int start_worker(struct crew *crew, unsigned index)
{
	struct worker *w = &crew->workers[index];
	pid_t parent = getpid();
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return rd_fail_errno("inject: cannot make a socket");
	fflush(NULL);
	w->pid = fork();
	if (w->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		for (unsigned i = 0; i < crew->count; i++)
			if (i != index && crew->workers[i].fd >= 0)
				close(crew->workers[i].fd);
		close(fds[0]);
		be_worker(crew, index, fds[1]);
	}
	close(fds[1]);
	w->fd = fds[0];
	w->run = NO_RUN;
	if (w->pid < 0) {
		close(fds[0]);
		w->fd = -1;
		return rd_fail_errno("inject: cannot start a process");
	}
	return 0;
}

/* Returns its wait status. */
static int stop_worker(struct worker *w)
{
	int status = 0;

	if (w->fd < 0)
		return 0;
	close(w->fd);
	w->fd = -1;
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* The next run that nobody has done; NO_RUN: there is none. */
static uint64_t next_run(struct crew *crew)
{
	unsigned step = crew->work->shards ? crew->work->shards : 1;

	while (crew->next < crew->runs && crew->taken[crew->next])
		crew->next += step;
	if (crew->next >= crew->runs)
		return NO_RUN;
	crew->taken[crew->next] = 1;
	return crew->next;
}

static void give_run(struct crew *crew, struct worker *w)
{
	w->run = crew->error ? NO_RUN : next_run(crew);
	if (w->run == NO_RUN)
		stop_worker(w);
	else if (send(w->fd, &w->run, sizeof w->run, MSG_NOSIGNAL) < 0)
		crew->error = rd_fail_errno("inject: cannot speak to a worker");
}

static void note_line(struct crew *crew, const char *text, size_t length)
{
	struct rd_names texts = RD_NAMES_INIT;
	struct runlog_run run;
	const char *wrong = runlog_parse(&run, text, length - 1, &texts);

	RD_ASSERT(!wrong);
	/* Behind a line that could not be written as a whole there must be no other. */
	if (!crew->error)
		crew->error = inject_part_add(&crew->part, text, length);
	if (!crew->error && crew->work->done)
		crew->work->done(crew->work->context, &run, true);
	rd_names_release(&texts);
}

/* The worker is gone, and its run not done. */
static void replace_worker(struct crew *crew, unsigned index)
{
	struct worker *w = &crew->workers[index];
	int status = stop_worker(w);

	crew->taken[w->run] = 0;
	if (w->run < crew->next)
		crew->next = w->run;
	if (crew->error)
		return;
	if (WIFEXITED(status) && WEXITSTATUS(status) == GAVE_UP) {
		crew->error = rd_fail(RD_ETOOL, "inject: given up at run %" PRIu64 "; --resume %s goes on",
				      w->run, crew->campaign->directory);
		return;
	}
	rd_warn("inject: the process that did run %" PRIu64 " died", w->run);
	if (++crew->failures >= FAILURES_MAX)
		crew->error = rd_fail(
			RD_ETOOL, "inject: %u processes died one after another; the campaign can be resumed",
			crew->failures);
	else if (!start_worker(crew, index))
		give_run(crew, w);
}

static void hear(struct crew *crew, unsigned index, char *text)
{
	struct worker *w = &crew->workers[index];
	ssize_t n = recv(w->fd, text, INJECT_LINE_MAX, 0);

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		replace_worker(crew, index);
		return;
	}
	crew->failures = 0;
	note_line(crew, text, (size_t)n);
	give_run(crew, w);
}

/* Until no worker is left. */
static void lead(struct crew *crew)
{
	struct pollfd *fds = rd_xcalloc(crew->count, sizeof *fds);
	char *text = rd_xmalloc(INJECT_LINE_MAX);

	for (;;) {
		unsigned alive = 0;
		for (unsigned i = 0; i < crew->count; i++) {
			fds[i] = (struct pollfd){.fd = crew->workers[i].fd, .events = POLLIN};
			alive += crew->workers[i].fd >= 0;
		}
		if (!alive)
			break;
		if (poll(fds, crew->count, -1) < 0 && errno != EINTR)
			break;
		for (unsigned i = 0; i < crew->count; i++)
			if (fds[i].fd >= 0 && fds[i].revents)
				hear(crew, i, text);
	}
	free(text);
	free(fds);
}

static int count_old(void *context, const struct runlog_run *run, const char *text, size_t length)
{
	struct crew *crew = context;

	(void)text;
	(void)length;
	if (run->run >= crew->runs)
		return rd_fail(RD_EFORMAT, "%s: the log has run %" PRIu64 ", the campaign has only %" PRIu64,
			       crew->campaign->directory, run->run, crew->runs);
	if (!crew->taken[run->run] && crew->work->done)
		crew->work->done(crew->work->context, run, false);
	crew->taken[run->run] = 1;
	return 0;
}

static int run_crew(struct crew *crew)
{
	uint64_t left = 0;
	int r = 0;

	for (uint64_t i = crew->work->shard; i < crew->runs; i += crew->work->shards ? crew->work->shards : 1)
		left += !crew->taken[i];
	crew->count = left < crew->work->jobs ? (unsigned)left : crew->work->jobs;
	crew->workers = rd_xcalloc(crew->count + 1, sizeof *crew->workers);
	for (unsigned i = 0; i < crew->count; i++)
		crew->workers[i].fd = -1;
	for (unsigned i = 0; i < crew->count && !r; i++) {
		r = start_worker(crew, i);
		if (!r)
			give_run(crew, &crew->workers[i]);
	}
	if (r)
		crew->error = r;
	lead(crew);
	for (unsigned i = 0; i < crew->count; i++)
		stop_worker(&crew->workers[i]);
	free(crew->workers);
	return crew->error;
}

int inject_campaign_run(struct inject_campaign *c, const struct inject_work *work)
{
	struct crew crew = {
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
