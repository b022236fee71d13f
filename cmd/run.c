// SPDX-License-Identifier: Apache-2.0
/*
 * A recorded run: session, collector, program and watchdog are put together, and taken
 * apart again.  In: a flavoured program and the directory for its trace.  Out: the trace,
 * the program's status, and if it stood still for good, in what.
 */
#include "cmd/run.h"

#include "base/alloc.h"
#include "base/error.h"
#include "cmd/standing.h"
#include "record/collector.h"
#include "record/prepare.h"
#include "record/watch.h"
#include "run/launch.h"
#include "run/session.h"
#include "trace/full.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_MS 100

struct parts {
	const struct cmd_run *run;
	struct run_session session;
	struct record_collector *collector;
	struct record_watch watch;
	struct cmd_standing standing;
	struct trace_sites *sites;   /* of a full trace */
	struct trace_layout *layout; /* NULL: it is none */
};

/* Forked processes that outlive the program are followed by a copy of us in the
 * background, which holds none of our streams.  The traces are the copy's then. */
static bool follow_rest(struct record_collector *c)
{
	int null;

	if (!record_collector_alive(c))
		return false;
	if (fork() != 0)
		return true;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; fd <= 2 && null >= 0; fd++)
		dup2(null, fd);
	record_collector_rest(c);
	record_collector_close(c);
	_exit(0);
}

static void look(void *context, pid_t pid)
{
	struct parts *p = context;

	if (!p->run->no_watchdog && !p->layout)
		record_watch_look(&p->watch, pid);
	if (p->run->look)
		p->run->look(p->run->context, pid);
}

static int launch(struct parts *p, pid_t *pid)
{
	struct run_launch how = {.program = p->run->program,
				 .argv = p->run->argv,
				 .session = &p->session,
				 .streams = p->run->streams};

	return run_launch(&how, pid);
}

static int run_collected(struct parts *p, struct trace_meta *meta, struct cmd_run_result *result)
{
	struct record_options record = {.directory = p->run->directory,
					.sites = p->run->program->flavour.sites,
					.meta = meta,
					.limit = p->run->limit,
					.layout = p->layout,
					.look = look,
					.context = p,
					.look_ms = LOOK_MS};
	struct trace_meta last = {0};
	pid_t pid;
	int r = record_collector_open(&p->collector, &p->session, &record);

	p->watch = (struct record_watch){.session = &p->session,
					 .collector = p->collector,
					 .stands = cmd_standing_look,
					 .context = &p->standing};
	if (!r)
		r = launch(p, &pid);
	if (r)
		return r;
	r = record_collector_run(p->collector, pid, &result->status, &last);
	record_watch_close(&p->watch);
	run_launch_done();
	if (!r && p->watch.stood)
		r = cmd_standing_read(&p->standing, &result->standing);
	if (p->run->ended)
		p->run->ended(p->run->context, &last);
	return r;
}

static int run_parts(struct parts *p, struct trace_meta *meta, struct cmd_run_result *result)
{
	int r = run_session_open(&p->session, meta->program, 0);

	if (!r && p->run->fault_count)
		r = run_fault_plan(&p->session, p->run->faults, p->run->fault_count);
	if (r)
		return r;
	r = run_collected(p, meta, result);
	run_fault_look(&p->session, p->run->faults, p->run->fault_count);
	if (!r && follow_rest(p->collector))
		record_collector_abandon(p->collector);
	else if (p->collector)
		record_collector_close(p->collector);
	run_session_close(&p->session);
	return r;
}

/* What the collector needs to pack a full trace. */
static int read_layout(struct parts *p)
{
	int r;

	if (!run_program_has_values(p->run->program->kind))
		return 0;
	if (!p->run->program->flavour.sites)
		return rd_fail(RD_EUSAGE, "%s: a full trace needs the site table of the flavour",
			       p->run->program->path);
	r = trace_sites_read(&p->sites, p->run->program->flavour.sites);
	return r ? r : trace_layout_new(&p->layout, p->sites);
}

int cmd_run(const struct cmd_run *run, struct cmd_run_result *result)
{
	struct parts p = {.run = run};
	struct trace_meta meta = {0};
	int r;

	*result = (struct cmd_run_result){0};
	r = cmd_standing_open(&p.standing, run->directory);
	if (r)
		return r;
	record_prepare_meta(&meta, run->program, run->argv);
	r = read_layout(&p);
	if (!r)
		r = run_parts(&p, &meta, result);
	record_release_meta(&meta);
	trace_layout_free(p.layout);
	trace_sites_free(p.sites);
	cmd_standing_close(&p.standing);
	return r;
}

void cmd_run_release(struct cmd_run_result *result)
{
	finding_set_free(result->standing);
	result->standing = NULL;
}
