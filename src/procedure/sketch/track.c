// SPDX-License-Identifier: Apache-2.0
/* Tracked runs (sketch/track.h): builds the program, opens its gates, runs it, and reports how it
 * ended.  sketch/track-events.c interprets its events. */
#include "sketch/track.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "run/launch.h"
#include "sketch/track-int.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds between two checks of a running program.  Chosen by hand: SIGCHLD ends the sleep when
 * the program ends, so this decides only how soon an exceeded limit is noticed. */
enum { LOOK_NS = 2000000 };

int track_open(struct track *t, const char *program, struct slice *slice, const struct track_how *how)
{
	struct rd_buf text = RD_BUF_INIT;
	*t = (struct track){.slice = slice};
	t->program.path = rd_find_program(program);
	if (t->program.path == NULL)
		return rd_fail(RD_ENOTFOUND, "%s: there is no such program", program);
	t->program.kind = "track";
	sketch_gates_find(&t->gates, slice, how->sigma, RADDLE_TRACK_GATES);
	sketch_gates_text(&t->gates, slice->facts, &text);
	struct rd_flavour_opts opts = {.name = "track",
				       .fast = !how->quick,
				       .debug = true,
				       .verbose = how->verbose,
				       .guards = text.length != 0 ? text.data : ""};
	int err = rd_flavour_build(program, &opts, &t->program.flavour);
	rd_buf_release(&text);
	return err;
}

void track_close(struct track *t)
{
	rd_flavour_release(&t->program.flavour);
	free(t->program.path);
	sketch_gates_release(&t->gates);
	sketch_places_release(&t->places);
	*t = (struct track){0};
}

void track_end_release(struct track_end *e)
{
	RD_FREE(e->message, e->file, e->function);
	*e = (struct track_end){0};
}

/* --------------------------------------------------------------------- one run --- */

static size_t events_of(const struct track_request *request)
{
	return request->events != 0 && request->events <= RADDLE_TRACK_EVENTS ? request->events
									      : TRACK_EVENTS;
}

static int memory_open(struct track_memory *m, size_t events)
{
	RD_ASSERT(events > 0 && events <= RADDLE_TRACK_EVENTS);
	*m = (struct track_memory){.size = RADDLE_TRACK_SIZE(events),
				   .handle.fd = memfd_create("raddle-track", MFD_CLOEXEC)};
	if (m->handle.fd < 0 || ftruncate(m->handle.fd, (off_t)m->size))
		return rd_fail_errno("cannot create the memory that is shared with the program");
	m->shared = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->handle.fd, 0);
	if (m->shared == MAP_FAILED) {
		m->shared = NULL;
		return rd_fail_errno("cannot create the memory that is shared with the program");
	}
	m->session = aligned_alloc(_Alignof(struct raddle_session), sizeof *m->session);
	if (m->session == NULL)
		return rd_fail(RD_ENOMEM, "cannot create the memory for a run");
	memset(m->session, 0, sizeof *m->session);
	m->handle.shared = m->session;
	m->shared->magic = RADDLE_TRACK_MAGIC;
	m->shared->version = RADDLE_TRACK_VERSION;
	m->shared->event_count = (uint32_t)events;
	return 0;
}

void track_memory_close(struct track_memory *m)
{
	if (m->shared != NULL)
		munmap(m->shared, m->size);
	if (m->handle.fd >= 0)
		close(m->handle.fd);
	free(m->session);
}

static void open_gates(const struct track *t, const struct track_request *request,
		       struct raddle_track *shared)
{
	uint8_t *flags = (uint8_t *)shared + RADDLE_TRACK_FLAGS_AT;
	RD_ASSERT(t->gates.count <= RADDLE_TRACK_GATES);
	for (size_t i = 0; i < t->gates.count; i++)
		flags[i] = sketch_gate_creates(&t->gates.items[i], t->slice->facts)
				   ? RADDLE_TRACK_OTHER
				   : (uint8_t)sketch_gate_flag(&t->gates.items[i], request->sigma);
	sketch_gates_beside(&t->gates, t->slice->facts, flags);
	uint32_t *groups = (void *)((char *)shared + RADDLE_TRACK_GROUPS_AT);
	for (size_t i = 0; i < t->gates.count; i++)
		groups[i] = t->slice->facts
				    ->functions[facts_function_at(t->slice->facts, t->gates.items[i].value)]
				    .name;
	shared->gate_count = (uint32_t)t->gates.count;
	shared->budget = request->budget;
	shared->watch = request->hardware;
	shared->turn = request->turn;
	shared->perturb = request->perturb;
}

/* Waits for the program.  Our handler of SIGCHLD ends the sleep early. */
static int wait_for(struct run_meter *meter, pid_t pid, int *status)
{
	const struct timespec pause = {0, LOOK_NS};
	for (;;) {
		pid_t gone = waitpid(pid, status, WNOHANG);
		if (gone == pid)
			return 0;
		if (gone < 0 && errno != EINTR)
			return rd_fail_errno("cannot wait for the program");
		run_meter_look(meter, pid);
		nanosleep(&pause, NULL);
	}
}

static int run_program(struct track *t, const struct track_request *request, struct track_memory *m,
		       struct run_end *end)
{
	struct run_launch launch = {.program = &t->program,
				    .argv = request->argv,
				    .session = &m->handle,
				    .directory = request->directory,
				    .streams = request->streams,
				    .limits = request->limits,
				    .tied = true,
				    .apart = true};
	struct run_meter meter;
	int status = 0;
	pid_t pid;
	run_meter_start(&meter, request->limits, true);
	int err = run_launch(&launch, &pid);
	if (err)
		return err;
	err = wait_for(&meter, pid, &status);
	run_launch_done();
	if (!err)
		run_meter_stop(&meter, pid, status, end);
	if (!err && end->how == RUN_INTERRUPTED)
		return rd_fail(RD_ESYSTEM, "interrupted");
	return err;
}

/* ------------------------------------------------------------ the end of a run --- */

static void find_place(struct track *t, const struct track_left *left, struct track_end *end)
{
	const char *file = left->file, *function = left->function;
	end->line = left->line;
	const struct sketch_place *place =
		end->line == 0 ? sketch_crash_place(&t->places, t->program.flavour.executable, left->places,
						    NULL, NULL)
			       : NULL;
	if (place != NULL) {
		file = place->file;
		function = place->function;
		end->line = place->line;
	}
	if (end->line == 0)
		return;
	end->file = file != NULL ? rd_xstrdup(file) : NULL;
	end->function = function != NULL ? rd_xstrdup(function) : NULL;
}

static enum sketch_outcome outcome_of(const struct track_left *left, const struct run_end *end)
{
	if (end->how == RUN_TIMED_OUT || end->how == RUN_STALLED)
		return SKETCH_HANG;
	if (end->how == RUN_EXITED)
		return WEXITSTATUS(end->status) != 0 ? SKETCH_EXIT : SKETCH_PASSED;
	return left->failed && left->line != 0 ? SKETCH_ASSERTION : SKETCH_CRASH;
}

/* Returns the signature of a failure.  Failures of the same kind at the same place have the same
 * signature. */
static char *signature_of(enum sketch_outcome outcome, const struct track_end *end)
{
	const char *function = end->function != NULL ? end->function : "?";
	const char *file = end->file != NULL ? rd_base_name(end->file) : "?";
	switch (outcome) {
	case SKETCH_PASSED: return NULL;
	case SKETCH_HANG: return rd_xstrdup("hang");
	case SKETCH_EXIT: return rd_xasprintf("exit status %d", WEXITSTATUS(end->end.status));
	case SKETCH_ASSERTION:
		return rd_xasprintf("assertion %s in %s() %s:%" PRIu32, end->message, function, file,
				    end->line);
	default: {
		int number = end->signal != 0 ? end->signal : WTERMSIG(end->end.status);
		const char *name = sigabbrev_np(number);
		return rd_xasprintf("crash SIG%s in %s() %s:%" PRIu32, name != NULL ? name : "?", function,
				    file, end->line);
	}
	}
}

static void tell_end(struct track *t, const struct track_left *left, struct sketch_run *run,
		     struct track_end *end)
{
	run->outcome = outcome_of(left, &end->end);
	end->seen = left->seen;
	end->watched = left->watched;
	end->hits = left->hits;
	end->no_hardware = left->no_hardware;
	end->spent = left->spent;
	if (left->failed && (run->outcome == SKETCH_CRASH || run->outcome == SKETCH_ASSERTION)) {
		end->signal = left->signal;
		end->fault = left->address;
		run->failed_thread = left->thread;
		find_place(t, left, end);
		if (left->line != 0)
			end->message = rd_xstrdup(left->text);
	}
	run->signature = signature_of(run->outcome, end);
}

int track_begin(struct track *t, const struct track_request *request, struct track_memory *m)
{
	int err = memory_open(m, events_of(request));
	if (!err)
		open_gates(t, request, m->shared);
	return err;
}

int track_finish(struct track *t, const struct track_request *request, const struct track_memory *m,
		 struct sketch_runs *runs, struct track_end *end)
{
	struct track_left left;
	int err = 0;
	track_read(&left, m->shared, m->size, (uint32_t)t->gates.count);
	if (left.started) {
		struct sketch_run *run = sketch_run_add(runs);
		run->perturbed = request->perturb != 0;
		run->cut = left.seen > events_of(request) || left.spent != 0;
		tell_end(t, &left, run, end);
		track_events(t, &left, runs, request->sigma);
	} else {
		err = rd_fail(RD_EFORMAT, "%s: its runtime did not start, so nothing can be tracked",
			      t->program.path);
	}
	track_left_release(&left);
	return err;
}

int track_run(struct track *t, const struct track_request *request, struct sketch_runs *runs,
	      struct track_end *end)
{
	struct track_memory m;
	*end = (struct track_end){0};
	int err = track_begin(t, request, &m);
	if (!err)
		err = run_program(t, request, &m, &end->end);
	if (!err)
		err = track_finish(t, request, &m, runs, end);
	track_memory_close(&m);
	return err;
}
