// SPDX-License-Identifier: Apache-2.0
/*
 * Makes one replay.  In: a request.  Out: a result.
 *
 * The loop is in the collector (record/collector.h), which calls back about every 20 ms.  Then the
 * slots are read, and the watchdog decides what to do.  The shared memory stays mapped after the
 * program's end, so result.c can fill in the result from it.
 *
 * Only the process that was started here, and its descendants that are listed in the session, are
 * ever killed.
 */
#include "replay/replay.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "record/collector.h"
#include "record/prepare.h"
#include "replay/run-int.h"
#include "replay/snapshot-int.h"
#include "replay/world-int.h"
#include "raddle/shadow.h"
#include "run/forward.h"
#include "run/launch.h"
#include "run/meter.h"
#include "run/proc.h"
#include "run/session.h"
#include "trace/full.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A replay waits for progress for PATIENCE_FACTOR times the length of the recorded run, which
 * allows for the slowdown by steering.  It waits for at least PATIENCE_MIN_MS.  These and the
 * limits below are in program time (run/clock.h).  They were chosen by hand: smaller values end
 * runs that are only slow, and larger values waste time. */
#define PATIENCE_FACTOR 4
#define PATIENCE_MIN_MS 2000
#define PATIENCE_UNKNOWN_MS 10000 /* patience if the length of the recorded run is not known */
#define LIMIT_FACTOR 10		  /* the whole run may take this many times the patience */
/* A thread cannot yield more often than this in a millisecond, since each system call takes at
 * least a quarter of a microsecond.  So a thread that yields more often than it could have in the
 * recorded run waits in vain. */
#define YIELDS_A_MS 4000
#define YIELDS_MIN_MS 5 /* a recorded run counts as at least this long: clocks are coarse */
/* A thread that runs alone, and has slept for so many times the length of the recorded run, waits in
 * vain.  The factor is 2, because a sleep counts in full as soon as it begins. */
#define SLEEP_FACTOR 2
/* once so many runs had to be repeated, each copy of the program makes only one run; chosen by hand */
#define REPEATED_MAX 4
/* how many times a run is repeated because the flavour was removed from the cache */
#define RENEWALS_MAX 3

/* ---- ending ---- */

/* Requests the end of the run from a copy that may make further runs and now waits in the runtime.
 * Returns false if the process has to be killed instead. */
static bool quits(const struct replay *r)
{
	const struct board *b = &r->watch.before;

	return r->copied && (b->stuck || b->ran_on) && snapshot_quit(r->request->snapshot);
}

static void kill_program(struct replay *r, pid_t pid)
{
	RD_ASSERT(pid > 1);
	if (!quits(r) && !r->gone) {
		run_session_kill(&r->session, pid);
		r->gone = true;
	}
	r->killed = true;
}

static void command(struct replay *r, enum raddle_command what)
{
	atomic_store(&r->steer->command, what);
	syscall(SYS_futex, &r->steer->command, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

struct lookup {
	uint64_t at, found;
};

static bool look_in_mapping(void *context, const struct run_mapping *m)
{
	struct lookup *l = context;

	if (!strstr(m->name, "memfd:raddle-session") || l->at < m->offset ||
	    l->at - m->offset >= m->end - m->start)
		return false;
	l->found = m->start + (l->at - m->offset);
	return true;
}

/* Returns the address at which the program sees the byte at offset `at` of the session, or 0 if
 * unknown. */
static uint64_t address_in_program(pid_t pid, uint64_t at)
{
	struct lookup l = {.at = at};

	run_process_mappings(pid, look_in_mapping, &l);
	return l.found;
}

/* ---- the loop ---- */

/* Asks the callback `met` whether the stopped threads may continue. */
static bool has_seen_enough(struct replay *r, pid_t pid)
{
	return r->request->met(r->request->context, pid, r->result, &r->first);
}

/* Handles the phase MET: two threads have met. */
static void handle_meeting(struct replay *r, pid_t pid)
{
	RD_ASSERT(r->first < 2);
	const struct board *b = &r->watch.before;

	if (!r->request->met || b->phase != RADDLE_MET || !r->plan.goal_count)
		return;
	if (!r->stays) {
		uint64_t at = r->session.steer;

		replay_copy_spots(r, b);
		r->result->order_at = address_in_program(pid, at + offsetof(struct raddle_steer, order));
		r->result->command_at = address_in_program(pid, at + offsetof(struct raddle_steer, command));
		r->stays = r->watch.staying = true;
	}
	if (atomic_load(&r->steer->command) == RADDLE_COMMAND_NONE && has_seen_enough(r, pid)) {
		r->steer->order = r->first;
		command(r, RADDLE_COMMAND_GO);
	}
}

/* Returns true if the run shows a failure that a user wants to inspect.  This is possible only if
 * the schedule has neither a goal nor a stop. */
static bool shows_failure(const struct replay *r)
{
	return r->request->met && r->request->schedule->turns && !r->plan.goal_count && !r->plan.stop_count;
}

static void handle_crash(struct replay *r, pid_t pid)
{
	struct raddle_steer_crash *c = &r->steer->crash;
	const struct board *b = &r->watch.before;
	struct replay_result *result = r->result;

	if (!shows_failure(r) || !atomic_load(&c->signal) || atomic_load(&c->seen))
		return;
	for (uint32_t i = 0; i < b->count && !r->stays; i++)
		if (b->rows[i].tid == c->tid && b->rows[i].state != RADDLE_SLOT_UNUSED)
			result->crash_thread = replay_thread_name(r, b, i);
	result->crash_signal = (int)atomic_load(&c->signal);
	result->crash_tid = c->tid;
	r->stays = r->watch.staying = true;
	if (has_seen_enough(r, pid))
		atomic_store(&c->seen, 1);
}

static void end_program(struct replay *r, pid_t pid)
{
	if (r->watch.end == REPLAY_DEADLOCKED && !r->result->wait_count)
		replay_copy_waits(r, &r->watch.before);
	if (r->request->met &&
	    ((r->watch.decided && r->watch.outcome == REPLAY_CONFIRMED) ||
	     (shows_failure(r) && r->result->wait_count)) &&
	    !has_seen_enough(r, pid))
		return;
	if (r->watch.end == REPLAY_DEADLOCKED && r->request->record_into)
		record_collector_set_hung(r->collector);
	kill_program(r, pid);
}

/* Reads the board.  The kernel is not asked at the first reading, because the program cannot have
 * failed yet, and many short runs end before the second. */
static void read_board(struct replay *r, pid_t pid)
{
	board_read(&r->board, r->steer, r->slots);
	if (r->looked || r->board.idle)
		board_ask_kernel(&r->board, pid);
	r->looked = true;
}

/* Answers the program if it asks how to continue.  A board that was read before the program asked
 * may not show all stopped threads, so in that case the board is read again. */
static void answer(struct replay *r, bool asked_before, pid_t pid)
{
	if (!turns_is_asked(&r->turns))
		return;
	if (!asked_before)
		read_board(r, pid);
	turns_answer(&r->turns, asked_before ? &r->watch.before : &r->board, pid);
}

/* Returns true if the program is frozen, so that this run and others can be copied from it. */
static bool is_frozen(const struct replay *r)
{
	return r->request->snapshot && !r->copied && atomic_load(&r->steer->freezing.state) == RADDLE_FROZEN;
}

static bool leaves(void *context)
{
	return ((struct replay *)context)->frozen != 0;
}

/* Returns true if a copy has ended its run, but may make further runs. */
static bool has_ended(void *context, int *status)
{
	struct replay *r = context;

	r->lives = r->copied && !r->gone && snapshot_has_ended(r->request->snapshot, status);
	return r->lives;
}

/* Notes what is measured in real time: the limit that the user set, and the time until the threads
 * met, which is reported.  All other limits are in program time. */
static void note_real_time(struct replay *r)
{
	int64_t real_ns = rd_now_ns() - r->started_ns;

	r->watch.late = r->request->limit_ms && real_ns >= rd_ms_to_ns(r->request->limit_ms);
	if (!r->watch.met)
		r->met_ns = real_ns;
}

static void look(void *context, pid_t pid)
{
	struct replay *r = context;
	enum watch_action action;
	bool asked = turns_is_asked(&r->turns);

	if (is_frozen(r)) {
		r->frozen = pid;
		return;
	}
	r->watch.pid = pid;
	r->watch.interrupted = run_forward_asked();
	read_board(r, pid);
	r->board.others = record_collector_alive(r->collector) != 0;
	r->board.handed = r->request->schedule->handed;
	note_real_time(r);
	action = watch_step(&r->watch, &r->board, (uint64_t)run_clock_now(&r->clock, pid) / 1000000u);
	replay_report_progress(r, r->watch.before.turn);
	handle_meeting(r, pid);
	handle_crash(r, pid);
	obstacle_name_refused(r, &r->watch.before);
	answer(r, asked, pid);
	if (action == WATCH_GIVE_UP && !r->gave_up) {
		r->gave_up = true;
		obstacle_note_block(r, &r->watch.before);
		command(r, RADDLE_COMMAND_GIVE_UP);
	}
	if (action == WATCH_END)
		end_program(r, pid);
}

/* ---- the run ---- */

static void note_times(struct replay *r, const struct run_meter *meter, pid_t pid, int status)
{
	struct run_end end;
	uint64_t cpu_ns, before;

	run_meter_stop(meter, pid, status, &end);
	if (r->copied) {
		before = snapshot_end_run(r->request->snapshot, pid, r->lives, &cpu_ns);
		end.cpu_us = r->lives ? cpu_ns / 1000 : end.cpu_us - before / 1000;
	}
	r->result->wall_seconds = (double)end.wall_us / 1e6;
	r->result->cpu_seconds = (double)end.cpu_us / 1e6;
	r->result->met_seconds = r->watch.met ? (double)r->met_ns / 1e9 : 0;
}

static int launch(struct replay *r, pid_t *pid)
{
	const struct replay_request *q = r->request;
	struct run_launch launch = {.program = q->program->program,
				    .argv = q->program->argv,
				    .session = &r->session,
				    .streams = q->streams,
				    .directory = q->directory,
				    .server = q->server,
				    .debugged = q->met != NULL,
				    .tied = true,
				    .fixed = q->schedule->turns};

	if (!r->copied)
		return run_launch(&launch, pid);
	*pid = run_launch_copy(&r->session, snapshot_copy, q->snapshot);
	return *pid > 0 ? 0 : RD_ESYSTEM;
}

static int run_launched(struct replay *r)
{
	const struct replay_request *q = r->request;
	struct run_meter meter;
	int status = 0, err;
	pid_t pid;

	run_meter_start(&meter, NULL, false);
	r->started_ns = meter.started_ns;
	r->clock = (struct run_clock){.real_ns = meter.started_ns};
	err = launch(r, &pid);
	if (err)
		return err;
	if (q->started && !replay_world_has_peers(r->world))
		q->started(q->context, pid);
	err = record_collector_run(r->collector, pid, &status, NULL);
	run_launch_done();
	if (r->frozen)
		return err;
	note_times(r, &meter, pid, status);
	return err ? err : replay_fill_result(r, status);
}

static int run_collected(struct replay *r, struct trace_meta *meta)
{
	const struct replay_request *q = r->request;
	struct record_options options = {.directory = q->record_into,
					 .sites = q->program->program->flavour.sites,
					 .meta = meta,
					 .look = look,
					 .leaves = leaves,
					 .ended = has_ended,
					 .context = r,
					 .look_ms = WATCH_LOOK_MS};
	struct trace_layout *layout = NULL;
	int err = 0;

	if (q->record_into && run_program_has_values(q->program->program->kind) && q->program->sites)
		err = trace_layout_new(&layout, q->program->sites);
	options.layout = layout;
	if (!err && q->begin)
		err = q->begin(q->context);
	if (!err && r->copied)
		err = snapshot_restore_streams(q->snapshot, q->streams);
	if (!err)
		err = record_collector_open(&r->collector, &r->session, &options);
	if (!err)
		err = run_launched(r);
	if (q->ended && !r->frozen)
		q->ended(q->context);
	if (r->collector)
		record_collector_close(r->collector);
	r->collector = NULL;
	trace_layout_free(layout);
	return err;
}

/* Returns the number that follows a word in a file, or UINT64_MAX if the word is not found. */
static uint64_t number_in(const char *path, const char *word)
{
	struct rd_buf text = RD_BUF_INIT;
	uint64_t n = UINT64_MAX;
	const char *at;

	if (rd_file_exists(path) && !rd_file_read(path, &text)) {
		at = strstr(text.data, word);
		if (at && sscanf(at + strlen(word), "%" SCNu64, &n) != 1)
			n = UINT64_MAX;
	}
	rd_buf_release(&text);
	return n;
}

/* Uses the memory that is free on this machine or, if that is less, in the control group of this
 * process. */
uint64_t replay_detector_memory(void)
{
	uint64_t free_kb = number_in("/proc/meminfo", "MemAvailable:");
	uint64_t most = number_in("/sys/fs/cgroup/memory.max", ""),
		 used = number_in("/sys/fs/cgroup/memory.current", "");
	uint64_t bytes = free_kb < UINT64_MAX / 1024 ? free_kb * 1024 : UINT64_MAX;

	if (most != UINT64_MAX && used < most && most - used < bytes)
		bytes = most - used;
	return bytes == UINT64_MAX ? 0 : bytes / 2;
}

static uint32_t flags(const struct replay *r)
{
	return (r->request->detect ? RADDLE_STEER_DETECT : 0u) |
	       (r->request->cover ? RADDLE_STEER_COVER : 0u) |
	       (r->plan.goal_count || r->plan.stop_count ? 0u : RADDLE_STEER_ORDER) |
	       (r->request->schedule->anywhere ? RADDLE_STEER_ANYWHERE : 0u) |
	       (r->request->patient ? RADDLE_STEER_PATIENT : 0u) |
	       (r->request->strategy.timeouts ? RADDLE_STEER_TIMEOUTS : 0u) |
	       (r->request->schedule->turns ? RADDLE_STEER_TURNS | RADDLE_STEER_HEAP : 0u) |
	       (r->request->schedule->turns && r->request->one ? RADDLE_STEER_ONE : 0u) |
	       (r->request->schedule->turns && r->request->trap ? RADDLE_STEER_TRAP : 0u) |
	       (r->request->schedule->turns && r->request->stands ? RADDLE_STEER_ASK | RADDLE_STEER_ASK_START
								  : 0u) |
	       (r->request->schedule->looks ? RADDLE_STEER_LOOK : 0u) |
	       (r->request->accompanied ? RADDLE_STEER_ACCOMPANIED : 0u) |
	       (r->request->schedule->notes ? RADDLE_STEER_NOTE : 0u) |
	       (r->request->met && r->plan.goal_count ? RADDLE_STEER_STAY : 0u) |
	       (shows_failure(r) ? RADDLE_STEER_SHOW : 0u);
}

static void set_patience(struct replay *r)
{
	const struct replay_request *q = r->request;
	uint64_t patience = q->patience_ms;

	if (!patience)
		patience = q->recorded_ms ? PATIENCE_FACTOR * q->recorded_ms : PATIENCE_UNKNOWN_MS;
	if (!q->patience_ms && patience < PATIENCE_MIN_MS)
		patience = PATIENCE_MIN_MS;
	r->watch.patience_ms = patience;
	if (q->recorded_ms) {
		uint64_t recorded_ms = q->recorded_ms > YIELDS_MIN_MS ? q->recorded_ms : YIELDS_MIN_MS;

		r->watch.patience_yields = YIELDS_A_MS * recorded_ms;
		r->watch.patience_sleep_ns = SLEEP_FACTOR * recorded_ms * 1000000;
	}
	r->steer->most_yields = r->watch.patience_yields;
	r->watch.strict = q->strict;
	r->watch.most = q->most;
	r->watch.limit_ms = q->work_ms ? q->work_ms : q->limit_ms ? UINT64_MAX : LIMIT_FACTOR * patience;
}

/* Replays the recorded input from outside. */
static int replay_outside_input(struct replay *r)
{
	int err = r->world ? run_session_world(&r->session, replay_world_size(r->world)) : 0;

	if (r->world && !err)
		replay_world_write(r->world, run_session_outside(&r->session), !r->request->streams);
	return err;
}

/* Writes what the request adds to the plan, and prepares the watchdog. */
static void set_run(struct replay *r)
{
	const struct replay_request *q = r->request;

	r->steer->strategy = q->strategy.kind;
	r->steer->depth = q->strategy.depth;
	r->steer->length = q->strategy.length;
	r->steer->most = q->most;
	r->turns = (struct turns){.request = q,
				  .plan = &r->plan,
				  .steer = r->steer,
				  .arena = r->result->arena,
				  .memory_at = r->copied ? q->snapshot->memory_at : plan_memory_at(&r->plan)};
	r->steer->detect_memory = q->detect_memory ? q->detect_memory : replay_detector_memory();
	memcpy(r->steer->keep, q->schedule->keep, sizeof r->steer->keep);
	watch_start(&r->watch, &r->plan, q->program->sites);
	r->watch.unled = q->schedule->anywhere;
	set_patience(r);
}

/* Returns true if the program is to be frozen in this run. */
static bool is_to_freeze(const struct replay_request *q)
{
	return q->snapshot && !q->snapshot->off && !q->snapshot->pid;
}

/* Writes the choices of the exploration to which the run belongs, if there is one. */
static void write_search(struct replay *r, struct raddle_memory *memory)
{
	if (r->request->explore && r->request->schedule->memory)
		plan_explore(&r->plan, r->request->explore, memory);
}

/* Makes the session for a program that starts, and writes the plan. */
static int open_session(struct replay *r)
{
	const struct replay_request *q = r->request;
	int err = run_session_open(&r->session, q->program->program->path, plan_size(&r->plan));

	if (err)
		return err;
	err = replay_outside_input(r);
	if (!err && q->shadow)
		err = run_session_shadow(&r->session);
	if (err) {
		run_session_close(&r->session);
		return err;
	}
	r->session.shared->discard = !q->record_into;
	r->steer = run_session_steer(&r->session);
	r->threads = r->plan.thread_count;
	plan_write(&r->plan, r->steer, flags(r), plan_first(&r->plan, q->first));
	write_search(r, raddle_steer_memory(r->steer));
	r->slots = raddle_steer_slots(r->steer); /* before the program can change their offset */
	if (q->free)
		atomic_store(&r->steer->phase, RADDLE_RUNS_FREE);
	if (is_to_freeze(q)) {
		r->steer->freezing.where = q->snapshot->freeze;
		r->steer->freezing.after = q->snapshot->after;
		r->steer->freezing.threads = q->snapshot->ahead;
	}
	set_run(r);
	return 0;
}

static int run_prepared(struct replay *r)
{
	const struct replay_program *p = r->request->program;
	struct trace_meta meta = {0};
	int err;

	record_prepare_meta(&meta, p->program, p->argv);
	err = run_collected(r, &meta);
	record_release_meta(&meta);
	watch_release(&r->watch);
	board_release(&r->board);
	return err;
}

/* Runs a copy of the frozen program.  The session and the world belong to the snapshot. */
static int run_copy(struct replay *r)
{
	struct replay_snapshot *s = r->request->snapshot;
	int err;

	r->copied = true;
	r->frozen = 0;
	r->looked = false;
	r->session = s->session;
	r->world = s->world;
	snapshot_restore(s);
	r->steer = run_session_steer(&r->session);
	r->slots = (struct raddle_slot *)((char *)r->steer + s->slots_at);
	err = plan_place_globals(&r->plan, s->pid);
	if (!err)
		err = plan_write_copy(&r->plan, r->steer, s->threads, s->memory_at);
	if (err)
		return err;
	write_search(r, (struct raddle_memory *)((char *)r->steer + s->memory_at));
	r->steer->flags = flags(r);
	r->steer->order = plan_first(&r->plan, r->request->first);
	set_run(r);
	err = run_prepared(r);
	if (err)
		replay_snapshot_close(s);
	return err;
}

/* Called when the program is frozen.  The snapshot takes the program over, and this run becomes its
 * first copy. */
static int run_from_frozen(struct replay *r)
{
	int err = snapshot_take(r->request->snapshot, r, r->frozen);

	r->world = NULL;
	return err ? err : run_copy(r);
}

static int run_started(struct replay *r)
{
	const struct replay_request *q = r->request;
	int err = open_session(r);

	if (err)
		return err;
	err = run_prepared(r);
	if (!err && r->frozen)
		return run_from_frozen(r);
	if (!err && r->world && q->record_into)
		err = replay_world_copy(q->schedule->trace, q->record_into);
	if (!err && q->shadow)
		q->shadow(q->context, (char *)r->session.shared + r->session.shadow, RADDLE_SHADOW_SIZE);
	if (is_to_freeze(q))
		snapshot_note_unfrozen(q->snapshot, r->steer);
	run_session_close(&r->session);
	return err;
}

/* Returns true if the run can be copied from a frozen program.  The memory of the frozen program
 * has room for a few more threads than its own plan names.  A run with a lower limit of points than
 * the frozen program has reached would end before that point. */
static bool is_copyable(const struct replay *r)
{
	const struct replay_snapshot *s = r->request->snapshot;
	uint64_t most = r->request->most;

	return s && s->pid && r->plan.thread_count <= s->threads + RADDLE_STEER_ROOM &&
	       (!most || s->points < most);
}

static int run_once(const struct replay_request *request, struct replay_result *result)
{
	struct replay r = {
		.request = request, .result = result, .first = request->first, .waiter = RADDLE_STEER_NONE};
	int err;

	*result = (struct replay_result){.arena = rd_arena_new()};
	err = plan_compile(&r.plan, request->schedule, request->program->sites);
	for (size_t i = 0; i < request->strategy.weight_count && !err; i++)
		err = plan_expect(&r.plan, request->strategy.weights[i].thread,
				  request->strategy.weights[i].points);
	if (!err && request->schedule->trace && !request->no_world && !is_copyable(&r))
		err = replay_world_open(&r.world, request->schedule->trace);
	if (!err && request->record_into)
		err = record_prepare_directory(request->record_into, true);
	if (!err)
		err = is_copyable(&r) ? run_copy(&r) : run_started(&r);
	plan_release(&r.plan);
	if (!r.copied)
		replay_world_close(r.world);
	if (err)
		replay_result_release(result);
	return err;
}

/* Returns true if the run has failed only because its copy was to make several runs. */
static bool needs_single(const struct replay_request *request, const struct replay_result *r)
{
	bool filtered = r->end == REPLAY_SIGNALLED && r->status == SIGSYS;

	return request->snapshot && request->snapshot->resets &&
	       (r->unfit == RADDLE_UNFIT_RESET || filtered ||
		(!request->trap && (r->unfit == RADDLE_UNFIT_EXEC || r->unfit == RADDLE_UNFIT_TRAPPED)));
}

/* Repeats a run in a copy that makes only this run. */
static int run_single(const struct replay_request *request, struct replay_result *result)
{
	struct replay_snapshot *s = request->snapshot;
	int err;

	replay_result_release(result);
	s->resets = false;
	err = run_once(request, result);
	s->resets = ++s->repeated < REPEATED_MAX;
	if (!s->resets)
		replay_snapshot_single(s, "its runs start processes, kernel threads or programs");
	return err;
}

/* A run that cannot be copied is started anew.  If the flavour was removed during a run, the run is
 * repeated, however it ended. */
int replay_run(const struct replay_request *request, struct replay_result *result)
{
	RD_ASSERT(request->schedule && request->program && request->program->argv);
	const struct run_program *program = request->program->program;
	bool frozen = request->snapshot && !request->snapshot->off;
	int err = run_once(request, result);

	if (err && frozen && request->snapshot->off) {
		request->snapshot->why = "the program that was stopped there could not be copied";
		err = run_once(request, result);
	}
	if (!err && needs_single(request, result))
		err = run_single(request, result);
	for (int i = 0; i < RENEWALS_MAX && !rd_flavour_is_there(&program->flavour); i++) {
		if (!err)
			replay_result_release(result);
		err = run_program_renew(program);
		if (!err)
			err = run_once(request, result);
	}
	return err;
}

void replay_result_release(struct replay_result *result)
{
	if (result->arena)
		rd_arena_free(result->arena);
	*result = (struct replay_result){0};
}
