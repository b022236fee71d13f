// SPDX-License-Identifier: Apache-2.0
/*
 * A recorded run.  Sets up the session, the collector, the program and the watchdog, and tears
 * them down.  The input is a flavoured program and the directory for its trace.  The results are
 * the trace, the program's status and, if the program was deadlocked, an explanation.
 */
#include "record/run.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/process.h"
#include "record/collector.h"
#include "record/prepare.h"
#include "run/forward.h"
#include "run/launch.h"
#include "run/session.h"
#include "trace/full.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Milliseconds between two checks of the recorded program.  Chosen by hand; equal to the
 * collector's longest sleep. */
#define LOOK_MS 100

struct parts {
	const struct record_run *run;
	struct run_session session;
	struct record_collector *collector;
	struct record_watch watch;
	struct run_meter meter;
	struct record_result *result;
	struct run_clock rest;	     /* program time of the processes that outlive the program */
	uint64_t events;	     /* number of events at the last check */
	int64_t event_ns;	     /* when the last new events were noticed */
	struct trace_sites *sites;   /* NULL if this is not a full trace */
	struct trace_layout *layout; /* NULL if this is not a full trace */
};

/* ---- ending the program early ---- */

static bool has_enough(struct parts *p)
{
	uint64_t events = record_collector_events(p->collector);
	int64_t now_ns = rd_now_ns();

	if (events != p->events || !p->event_ns) {
		p->events = events;
		p->event_ns = now_ns;
	}
	return record_has_enough(&p->run->enough, now_ns, events, p->event_ns, &p->result->full,
				 &p->result->quiet);
}

/* Returns true if processes that outlive the program get more time, for example a daemon whose
 * client is still running. */
static bool may_outlive(void *context)
{
	struct parts *p = context;
	uint64_t ms = (uint64_t)(rd_now_ns() - p->result->ended_ns) / 1000000, most = p->run->outlive_most_ms;
	bool accompanied = p->run->companion && p->run->companion->command;
	struct run_clock_look look;

	if (run_forward_asked() || (most && ms >= most))
		return false;
	if (accompanied)
		return run_companion_runs(p->run->companion);
	record_collector_measure(p->collector, &look);
	run_clock_step(&p->rest, &look);
	return rd_ns_to_ms(p->rest.now_ns) < p->run->outlive_ms;
}

/* Forks a copy of this process, which follows the processes that outlive the program and completes
 * their traces.  The copy runs in the background, without our standard streams. */
static bool follow_rest(struct parts *p)
{
	struct record_collector *c = p->collector;

	if (p->run->outlive_ms)
		record_collector_rest(c, may_outlive, p);
	if (!record_collector_alive(c))
		return false;
	if (fork() != 0)
		return true;
	run_launch_done();
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	rd_leave_streams();
	record_collector_rest(c, NULL, NULL);
	record_collector_close(c);
	_exit(0);
}

static void look(void *context, pid_t pid)
{
	struct parts *p = context;

	if (p->run->stands && !p->layout)
		record_watch_look(&p->watch, pid);
	if (has_enough(p))
		run_meter_expire(&p->meter);
	run_meter_look(&p->meter, pid);
}

static int launch(struct parts *p, pid_t *pid)
{
	struct run_launch how = {.program = p->run->program,
				 .argv = p->run->argv,
				 .session = &p->session,
				 .streams = p->run->streams};
	int r;

	run_meter_start(&p->meter, &p->run->limits, false);
	r = run_launch(&how, pid);
	if (!r && p->run->companion)
		run_companion_start(p->run->companion, *pid, STDERR_FILENO);
	return r;
}

static int run_collected(struct parts *p, struct trace_meta *meta)
{
	struct record_result *result = p->result;
	struct record_options record = {.directory = p->run->directory,
					.sites = p->run->program->flavour.sites,
					.meta = meta,
					.limit = p->run->limit,
					.layout = p->layout,
					.look = look,
					.context = p,
					.look_ms = LOOK_MS};
	int status, r = record_collector_open(&p->collector, &p->session, &record);
	pid_t pid;

	p->watch = (struct record_watch){.session = &p->session,
					 .answer = RD_BUF_INIT,
					 .collector = p->collector,
					 .stands = p->run->stands,
					 .directory = p->run->directory};
	if (!r)
		r = launch(p, &pid);
	if (r)
		return r;
	r = record_collector_run(p->collector, pid, &status, &result->meta);
	result->ended_ns = rd_now_ns();
	if (result->meta.stopped)
		/* The collector owns this text, so it is copied. */
		result->meta.stopped = rd_xstrdup(result->meta.stopped);
	run_forward_gone();
	run_meter_stop(&p->meter, pid, status, &result->end);
	result->stood = p->watch.stood;
	result->answer = p->watch.answer;
	record_watch_close(&p->watch);
	return r;
}

static int run_parts(struct parts *p, struct trace_meta *meta)
{
	int r = run_session_open(&p->session, meta->program, 0);

	if (!r && p->run->fault_count)
		r = run_fault_plan(&p->session, p->run->faults, p->run->fault_count);
	if (r)
		return r;
	p->session.shared->world = !p->run->no_world && !p->layout;
	p->session.shared->all_accesses = p->run->all_accesses;
	r = run_collected(p, meta);
	run_fault_look(&p->session, p->run->faults, p->run->fault_count);
	if (!r && follow_rest(p))
		record_collector_abandon(p->collector);
	else if (p->collector)
		record_collector_close(p->collector);
	run_launch_done();
	run_session_close(&p->session);
	return r;
}

/* Reads the layout by which a full trace is packed. */
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

int record_run(const struct record_run *run, struct record_result *result)
{
	RD_ASSERT(run->argv && run->argv[0] && run->directory);
	struct parts p = {.run = run, .result = result};
	struct trace_meta meta = {0};
	int r = run_program_renew(run->program);

	if (!r)
		r = read_layout(&p);

	*result = (struct record_result){.answer = RD_BUF_INIT};
	record_prepare_meta(&meta, run->program, run->argv);
	/* The result owns the strings.  The numbers are filled in by the run, if it takes place. */
	result->meta = meta;
	if (!r)
		r = run_parts(&p, &meta);
	trace_layout_free(p.layout);
	trace_sites_free(p.sites);
	return r;
}

void record_result_release(struct record_result *result)
{
	rd_buf_release(&result->answer);
	record_release_meta(&result->meta);
}
