// SPDX-License-Identifier: Apache-2.0
/*
 * Making controlled runs.  In: a schedule.  Out: how the program ended, what it wrote, and whether
 * it kept the schedule.  trial/outcome.c decides what an end means.
 */
#include "trial/trial.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "run/orphan.h"
#include "trial/files-int.h"
#include "trial/snapshots-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct trial_shared *trial_shared_new(void)
{
	struct trial_shared *s =
		mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	files_setup(s);
	return s;
}

void trial_shared_free(struct trial_shared *s)
{
	if (s) {
		pthread_mutex_destroy(&s->files);
		munmap(s, sizeof *s);
	}
}

int trial_open(struct trial_bench *b, const struct replay_conditions *conditions, const char *directory)
{
	int err;

	*b = (struct trial_bench){.conditions = *conditions,
				  .companion = {.command = conditions->companion},
				  .arena = rd_arena_new(),
				  .directory = directory,
				  .detect_memory = replay_detector_memory(),
				  .given = {.input = -1}};
	err = run_streams_open(&b->streams, conditions->input, directory);
	return err ? err : trial_set_input(b, &(struct rd_override){0});
}

/* Closes the server (run/launch.h).  A server gets its arguments when it starts, so another input
 * needs a new server. */
static void renew_server(struct run_server *server)
{
	bool off = server->off;

	run_server_close(server);
	server->off = off;
}

int trial_set_input(struct trial_bench *b, const struct rd_override *given)
{
	char *scratch = rd_xasprintf("%s/given", b->directory);
	int err;

	snapshots_close(b);
	b->resets_hold = false;
	renew_server(&b->server);
	run_override_close(&b->given);
	err = run_override_open(&b->given, given, b->conditions.program->argv, scratch);
	b->program = *b->conditions.program;
	b->program.argv = b->given.argv;
	memcpy(b->fds, b->streams.fds, sizeof b->fds);
	if (b->given.input >= 0)
		b->fds[STDIN_FILENO] = b->given.input;
	free(scratch);
	return err;
}

void trial_close(struct trial_bench *b)
{
	snapshots_close(b);
	run_server_close(&b->server);
	run_override_close(&b->given);
	run_streams_close(&b->streams);
	rd_arena_free(b->arena);
	free(b->published);
}

void trial_forget(struct trial_bench *b)
{
	rd_arena_free(b->arena);
	b->arena = rd_arena_new();
}

/* ---- before and after a run ---- */

/* A run in progress, the context of the callbacks below. */
struct running {
	struct trial_bench *bench;
	const struct trial_hooks *hooks;
	/* NULL unless the run belongs to an exploration of a memory model */
	struct replay_search *search;
	trial_shadow_fn *read_shadow;
	void *shadow_context;
	int err; /* the error of reading the shadow memory, or 0 */
};

static int begin(void *context)
{
	struct trial_bench *b = ((struct running *)context)->bench;
	int err = run_setup(b->conditions.setup, b->streams.fds[STDERR_FILENO]);

	run_streams_rewind(&b->streams);
	if (b->given.input >= 0 && lseek(b->given.input, 0, SEEK_SET) < 0)
		err = rd_fail_errno("classify: cannot rewind the standard input of the run");
	run_override_enter(&b->given);
	return err;
}

static void started(void *context, pid_t pid)
{
	struct trial_bench *b = ((struct running *)context)->bench;

	run_override_leave(&b->given);
	run_companion_start(&b->companion, pid, b->streams.fds[STDERR_FILENO]);
}

/* Ends the processes that the run left, but not those from which runs are copied. */
static void end_orphans(const struct trial_bench *b)
{
	pid_t keep[2 * TRIAL_SNAPSHOTS + 1] = {b->server.pid};

	for (size_t i = 0; i < TRIAL_SNAPSHOTS; i++) {
		keep[2 * i + 1] = b->snapshots[i].frozen.pid;
		keep[2 * i + 2] = b->snapshots[i].frozen.copy;
	}
	run_orphans_end(keep, 2 * TRIAL_SNAPSHOTS + 1);
}

static void ended(void *context)
{
	struct trial_bench *b = ((struct running *)context)->bench;

	run_override_leave(&b->given);
	b->called_off = b->companion.guard && !run_companion_runs(&b->companion);
	run_companion_stop(&b->companion);
	end_orphans(b);
}

static bool stopped(void *context, const struct replay_stand *stand, struct schedule *more, const char **next)
{
	const struct trial_hooks *hooks = ((struct running *)context)->hooks;

	return hooks->stopped(hooks->context, stand, more, next);
}

static void read_shadow(void *context, const void *memory, size_t size)
{
	struct running *r = context;

	r->err = r->read_shadow(r->shadow_context, memory, size);
}

/* ---- results of a run ---- */

static int read_texts(struct trial *t, const struct run_streams *streams, struct rd_arena *arena)
{
	int err = RD_OK;

	for (int i = 0; i < 2 && !err; i++) {
		struct rd_buf text = RD_BUF_INIT;

		err = run_streams_read(streams, STDOUT_FILENO + i, &text);
		t->text[i].data = rd_arena_copy(arena, text.data, text.length);
		t->text[i].length = text.length;
		rd_buf_release(&text);
	}
	return err;
}

static const char *copy_text(struct trial_bench *b, const char *text)
{
	return text ? rd_arena_strndup(b->arena, text, strlen(text)) : NULL;
}

static struct trial_obstacle copy_obstacle(struct trial_bench *b, const struct replay_obstacle *o)
{
	struct trace_frame frame = trace_sites_frame(b->conditions.program->sites, o->site);

	return (struct trial_obstacle){.thread = copy_text(b, o->thread),
				       .kind = copy_text(b, o->kind),
				       .name = copy_text(b, o->name),
				       .owner = copy_text(b, o->owner),
				       .file = frame.file && *frame.file ? copy_text(b, frame.file) : NULL,
				       .line = frame.line,
				       .lifted = o->lifted,
				       .goal = o->goal};
}

/* Returns the reason why a run does not count, if a fault ended it before the threads had met. */
static const char *why_early(struct trial_bench *b, struct replay_result *r)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *copy;

	rd_buf_addf(&text, "before the threads had met, %s", replay_end_text(r));
	copy = copy_text(b, text.data);
	rd_buf_release(&text);
	return copy;
}

/* Returns the reason why a run does not count if Raddle could not replay its input or keep its
 * output completely, or NULL. */
static const char *why_made_up(struct trial_bench *b, const struct replay_result *r)
{
	const struct replay_outside *o = &r->outside;
	struct rd_buf text = RD_BUF_INIT;
	const char *copy;

	if (!o->lack && !o->cut && !(b->files && r->written_lost))
		return NULL;
	rd_buf_addf(&text, "unmodelled: %s",
		    o->lack  ? o->lack
		    : o->cut ? "the program sent more than can be kept"
			     : "the program opened more files, or sent more, than can be noted");
	copy = copy_text(b, text.data);
	rd_buf_release(&text);
	return copy;
}

static bool is_known(const struct trial_bench *b, const struct raddle_published *p)
{
	for (size_t i = 0; i < b->published_count; i++)
		if (!memcmp(&b->published[i], p, sizeof *p))
			return true;
	return false;
}

static void note_memory(struct trial_bench *b, const struct replay_memory *m, struct trial *t)
{
	const struct schedule_choice *last = m->chosen_count ? &m->chosen[m->chosen_count - 1] : NULL;
	struct rd_buf text = RD_BUF_INIT;

	t->relaxed = m->chosen_count;
	t->over = m->over;
	if (last && last->place.file) {
		rd_buf_addf(&text, "%s at %s:%" PRIu32, last->thread, rd_base_name(last->place.file),
			    last->place.line);
		t->relaxed_at = copy_text(b, text.data);
		rd_buf_release(&text);
	}
	for (size_t i = 0; i < m->published_count; i++) {
		if (is_known(b, &m->published[i]))
			continue;
		RD_GROW(b->published, b->published_capacity, b->published_count + 1);
		b->published[b->published_count++] = m->published[i];
	}
}

static int describe_run(struct trial_bench *b, struct replay_result *r, struct trial *t)
{
	int err = read_texts(t, &b->streams, b->arena);

	note_memory(b, &r->memory, t);

	r->called_off = b->called_off;
	b->edits |= r->edits;
	t->outcome = r->outcome;
	t->end = r->end;
	t->status = r->status;
	t->obstacle = copy_obstacle(b, &r->obstacle);
	t->passed = copy_text(b, r->passed);
	t->unsure = r->turns.unsure != 0;
	if (r->turns.thread_count > b->threads)
		b->threads = (uint32_t)r->turns.thread_count;
	t->trail = r->turns.trail;
	t->extent = r->turns.extent;
	files_read_sent(r, t, b->arena);
	if (b->files)
		files_read(r, t, b->arena);
	t->why = copy_text(b, trial_why_not(r));
	if (!t->why)
		t->why = why_made_up(b, r);
	if (t->why && r->fault.what && r->outcome != REPLAY_CONFIRMED)
		t->why = why_early(b, r);
	t->counts = !t->why;
	t->cut = trial_is_cut(r);
	RD_ASSERT(!t->counts || !t->cut);
	t->end_text = copy_text(b, replay_end_text(r));
	t->fault = err			? NULL
		   : r->fault.predicate ? "predicate"
		   : r->fault.what	? "memory-error"
					: trial_fault(t->end, t->status, t->text[1].data);
	trial_digest(t, &b->mask);
	return err;
}

int trial_of_plain_run(struct trial *t, int wait_status, const struct run_streams *streams,
		       struct rd_arena *arena)
{
	bool exited = WIFEXITED(wait_status);
	int err;

	RD_ASSERT(exited || WIFSIGNALED(wait_status));
	*t = (struct trial){.end = exited ? REPLAY_EXITED : REPLAY_SIGNALLED,
			    .status = exited ? WEXITSTATUS(wait_status) : WTERMSIG(wait_status),
			    .text = {{"", 0}, {"", 0}, {"", 0}}};
	err = read_texts(t, streams, arena);
	if (err)
		return err;
	t->counts = true;
	t->fault = trial_fault(t->end, t->status, t->text[1].data);
	trial_digest(t, &(struct trial_mask){0});
	return RD_OK;
}

/* ---- making a run ---- */

/* Returns what is known about the program, which other processes may share. */
static struct trial_shared *known(struct trial_bench *b)
{
	return b->conditions.shared ? b->conditions.shared : &b->own;
}

static bool runs_on_one(struct trial_bench *b)
{
	return !b->evidence && !b->conditions.kernel_threads && !known(b)->unfit;
}

static struct replay_request request_of(struct running *r, const struct schedule *s)
{
	struct trial_bench *b = r->bench;
	const struct replay_conditions *c = &b->conditions;

	RD_ASSERT(s->turns);
	return (struct replay_request){
		.program = &b->program,
		.schedule = s,
		.streams = b->fds,
		.directory = b->given.directory,
		.server = b->copies && !b->evidence ? &b->server : NULL,
		.record_into = b->record_into,
		.strategy = b->strategy,
		.strict = s->goal_count != 0,
		.one = runs_on_one(b),
		.trap = known(b)->traps && !known(b)->unfit,
		.detect = b->detect,
		.detect_memory = b->detect_memory,
		.cover = b->cover,
		.recorded_ms = rd_ns_to_ms_up(c->recorded_ns),
		.limit_ms = rd_ns_to_ms(trial_limit_ns(c, rd_now_ns())),
		.work_ms = rd_ns_to_ms(trial_work_ns(c)),
		.most = b->most,
		.no_world = c->no_world,
		.accompanied = c->companion != NULL,
		.begin = begin,
		.started = started,
		.ended = ended,
		.explore = r->search,
		.stands = r->hooks->stopped ? stopped : NULL,
		.context = r,
	};
}

static bool has_stalled(const struct replay_result *r)
{
	return r->end == REPLAY_HUNG || (r->outcome == REPLAY_STUCK && r->end != REPLAY_RAN_ON);
}

/* Returns why the only kernel thread of a run made no progress, as far as that is known. */
static const char *why_stalled(const struct replay_result *r)
{
	static const struct {
		long number;
		const char *why;
	} calls[] = {
		{SYS_futex, "a library waited for a futex"},
		{SYS_read, "a thread waited in read()"},
		{SYS_write, "a thread waited in write()"},
		{SYS_writev, "a thread waited in writev()"},
		{SYS_sendto, "a thread waited in send()"},
		{SYS_sendmsg, "a thread waited in sendmsg()"},
		{SYS_recvfrom, "a thread waited in recv()"},
		{SYS_recvmsg, "a thread waited in recvmsg()"},
		{SYS_connect, "a thread waited in connect()"},
		{SYS_flock, "a thread waited in flock()"},
		{SYS_fcntl, "a thread waited in fcntl()"},
		{SYS_openat, "a thread waited in open()"},
		{SYS_wait4, "a thread waited for a child process"},
		{SYS_waitid, "a thread waited for a child process"},
		{SYS_msgrcv, "a thread waited in msgrcv()"},
		{SYS_msgsnd, "a thread waited in msgsnd()"},
		{SYS_semop, "a thread waited in semop()"},
		{SYS_semtimedop, "a thread waited in semop()"},
		{SYS_mq_timedreceive, "a thread waited in mq_receive()"},
		{SYS_mq_timedsend, "a thread waited in mq_send()"},
		{SYS_rt_sigtimedwait, "a thread waited for a signal"},
		{SYS_rt_sigsuspend, "a thread waited for a signal"},
		{SYS_pause, "a thread waited for a signal"},
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (r->held_in == calls[i].number + 1)
			return calls[i].why;
	return r->held_in	       ? "a thread waited in a system call that Raddle does not control"
	       : r->end == REPLAY_HUNG ? "a thread made no step for 3 s"
				       : "it made no progress";
}

/* Returns true if trapping the system calls of libraries may help. */
static bool is_trappable(const struct replay_result *r)
{
	long call = r->held_in - 1;

	return call == SYS_futex || call == SYS_read || call == SYS_write || call == SYS_sendto;
}

/* Returns the reason why a run has to be repeated in another way, for instance with a kernel thread
 * for each thread, or NULL if it need not be. */
static const char *why_unfit(const struct replay_request *request, const struct replay_result *r)
{
	static const char *const reasons[RADDLE_UNFITS] = {
		[RADDLE_UNFIT_PROCESSOR] = "this processor or kernel does not let programs switch threads",
		[RADDLE_UNFIT_HANDLERS] = "a signal handler might run while no thread can",
		[RADDLE_UNFIT_FOREIGN] = "it has threads that pthread_create() did not create",
		[RADDLE_UNFIT_ROBUST] = "it uses robust mutexes",
		[RADDLE_UNFIT_THREADS] = "the system refused a thread or memory",
		[RADDLE_UNFIT_ADDRESSED] = "it asks the kernel about single threads",
		[RADDLE_UNFIT_SIGNALLED] = "it sends signals to single threads",
		[RADDLE_UNFIT_VFORK] = "it calls vfork()",
		[RADDLE_UNFIT_STACK] = "a thread has an alternate stack for signal handlers",
		[RADDLE_UNFIT_CANCEL] = "a thread can be cancelled at any instruction",
		[RADDLE_UNFIT_FUTEX] = "a library makes futex calls that only the kernel can do",
		[RADDLE_UNFIT_FILTER] = "the kernel cannot trap the futex calls of its libraries",
		[RADDLE_UNFIT_TRAPPED] = "its libraries wait for futexes, and it handles SIGSYS",
		[RADDLE_UNFIT_EXEC] = "its libraries wait for futexes, and it starts another program",
		[RADDLE_UNFIT_RESET] = "a copy cannot make several runs",
	};

	if (!request->one && !request->trap)
		return NULL;
	if (r->unfit)
		return r->unfit < RADDLE_UNFITS ? reasons[r->unfit] : "the runtime gave an unknown reason";
	return request->one && has_stalled(r) ? why_stalled(r) : NULL;
}

/* Gives each thread its own kernel thread from now on. */
static void give_up_one(struct trial_bench *b, const char *why)
{
	rd_info("from now on each thread runs on a kernel thread of its own: %s", why);
	known(b)->unfit = true;
}

static int run_again(struct replay_request *request, struct replay_result *result)
{
	request->snapshot = NULL; /* the snapshot was made with the old settings */
	replay_result_release(result);
	*result = (struct replay_result){0};
	return replay_run(request, result);
}

static void set_trap(struct trial_bench *b, struct replay_request *request, bool traps, const char *why)
{
	rd_info("from now on system calls of libraries are%s trapped: %s", traps ? "" : " not", why);
	known(b)->traps = request->trap = traps;
	known(b)->untraps |= !traps;
}

/* Changes how the program is run.  `why` states why the present way did not work. */
static void change_way(struct trial_bench *b, struct replay_request *request, const struct replay_result *r,
		       const char *why)
{
	bool only_trap = r->unfit == RADDLE_UNFIT_EXEC || r->unfit == RADDLE_UNFIT_TRAPPED ||
			 r->unfit == RADDLE_UNFIT_FILTER || r->unfit == RADDLE_UNFIT_FUTEX;

	if (request->trap && only_trap) {
		set_trap(b, request, false, why);
	} else if (!request->trap && is_trappable(r) && !known(b)->untraps) {
		set_trap(b, request, true, why);
	} else {
		give_up_one(b, why);
		request->one = request->trap = false;
	}
}

/* Runs the program.  If the program does not work on one kernel thread, the run is repeated.  The
 * system calls of libraries are then trapped if that may help; otherwise each thread gets its own
 * kernel thread.  All later runs are made in the way that worked. */
static int run_on_threads(struct trial_bench *b, struct replay_request *request, struct replay_result *result)
{
	int err = replay_run(request, result);
	const char *why;

	while (!err && (why = why_unfit(request, result))) {
		change_way(b, request, result, why);
		err = run_again(request, result);
	}
	return err;
}

/* Processes that run the program at the same time write the same files.  So if they compare files,
 * the program runs once at a time, until its files have been read, unless a run has shown that it
 * writes none.  Returns true if the lock was taken. */
static bool lock_files(struct trial_bench *b)
{
	if (!b->files || !b->conditions.shared || (known(b)->looked && !known(b)->writes))
		return false;
	files_lock(known(b));
	return true;
}

static int make_run(struct running *r, struct replay_request *request, struct trial *t, struct schedule *made)
{
	const struct schedule *s = request->schedule;
	struct trial_bench *b = r->bench;
	struct replay_result result = {0};
	size_t wanted = SIZE_MAX;

	RD_ASSERT(!r->search || s->memory);
	bool locked = lock_files(b);
	int err = run_on_threads(b, request, &result);

	if (!err && files_are_written(&result))
		known(b)->writes = true;
	known(b)->looked = true;
	if (!err && !locked && files_are_written(&result)) {
		locked = lock_files(b);
		if (locked)
			err = run_again(request, &result);
	}

	*t = (struct trial){0};
	b->runs++;
	snapshots_report(b);
	if (made)
		*made = (struct schedule){0};
	if (!err)
		err = describe_run(b, &result, t);
	if (locked)
		pthread_mutex_unlock(&known(b)->files);
	t->at_race = t->fault && trial_is_at_race(s, &result.fault);
	if (!err && r->search) {
		replay_search_took(r->search, &result.memory);
		r->search->extent += result.turns.extent;
	}
	if (!err && r->hooks->result)
		wanted = r->hooks->result(r->hooks->context, &result);
	if (!err && made && wanted && result.turns.complete && (!s->memory || result.memory.complete))
		err = replay_export(s, &result, wanted, made);
	replay_result_release(&result);
	return err;
}

/* Makes a run that the caller did not ask for. */
static int make_extra_run(struct trial_bench *b, const struct replay_request *request,
			  struct replay_snapshot *snapshot, struct trial *t)
{
	struct trial_hooks none = {0};
	struct running r = {.bench = b, .hooks = &none};
	struct replay_request extra = *request;
	int err;

	extra.snapshot = snapshot;
	extra.context = &r;
	err = make_run(&r, &extra, t, NULL);
	b->runs--;
	return err;
}

/* ---- whether one kernel thread will do ---- */

/* Returns the default schedule with the input of schedule `s`.  The result borrows its texts from
 * `s`. */
static struct schedule default_schedule(const struct schedule *s)
{
	return (struct schedule){.turns = true,
				 .flavour = s->flavour,
				 .program = s->program,
				 .trace = s->trace,
				 .input = s->input,
				 .edits = s->edits,
				 .handed = s->handed};
}

static int run_by_default(struct trial_bench *b, const struct schedule *s, bool one, struct trial *t)
{
	struct trial_hooks none = {0};
	struct running r = {.bench = b, .hooks = &none};
	struct schedule usual = default_schedule(s);
	struct replay_request request = request_of(&r, &usual);

	request.one = one;
	request.record_into = NULL;
	return make_extra_run(b, &request, NULL, t);
}

/* Runs the default schedule with kernel threads.  If real time influenced the run, libraries may have
 * waited in the kernel.  Then their system calls are trapped from now on, if that helps. */
static int run_with_kernel_threads(struct trial_bench *b, const struct schedule *s, struct trial *kernel)
{
	struct trial trapped;
	int err = run_by_default(b, s, false, kernel);

	if (err || !kernel->unsure || known(b)->traps || known(b)->untraps)
		return err;
	known(b)->traps = true;
	err = run_by_default(b, s, false, &trapped);
	if (err || trapped.unsure) {
		known(b)->traps = false;
	} else if (known(b)->traps) {
		rd_info("from now on system calls of libraries are trapped: real time influenced a run");
		*kernel = trapped;
	}
	return err;
}

/* Called if the first run, which used kernel threads, differs from the run on one kernel thread.
 * The first run may have left something behind, for example a file, so another run with kernel
 * threads is made.  If the two runs with kernel threads differ from each other, too, the cause is
 * not that threads shared a kernel thread. */
static int settle_difference(struct trial_bench *b, const struct schedule *s, const struct trial *kernel,
			     const struct trial *one)
{
	struct trial again;
	int err = run_by_default(b, s, false, &again);

	if (!err && trial_differs(&again, one))
		give_up_one(b, trial_differs(kernel, &again) ? "runs of one schedule differ"
							     : "it behaves differently without");
	return err;
}

/* A program may notice that its threads share a kernel thread in ways that the runtime does not
 * see.  So before the first such run, the default schedule is run both ways, and both runs have to
 * do the same. */
static int compare_ways(struct trial_bench *b, const struct schedule *s)
{
	struct trial kernel, one;
	bool compares = runs_on_one(b), traps;
	int err = run_with_kernel_threads(b, s, &kernel);

	traps = known(b)->traps;
	if (!err && compares)
		err = run_by_default(b, s, true, &one);
	if (!err && compares && known(b)->traps != traps && !known(b)->unfit)
		err = run_by_default(b, s, false, &kernel);
	if (!err && compares && !known(b)->unfit && trial_differs(&kernel, &one))
		err = settle_difference(b, s, &kernel, &one);
	known(b)->compared = true;
	return err;
}

/* Called before a run: finds out, once, whether all threads can share one kernel thread. */
static int choose_way(struct trial_bench *b, const struct schedule *s)
{
	return !b->evidence && !known(b)->compared ? compare_ways(b, s) : RD_OK;
}

/* ---- whether copies will do ---- */

static bool do_the_same(const struct trial *a, const struct trial *b)
{
	return !trial_differs(a, b) && a->digest == b->digest;
}

/* Makes the run again in a second copy and, if this copy can make several runs, once more in the same
 * copy.  If one of these runs differs from the first, each copy makes only one run from then on, and the
 * second run is repeated in such a copy. */
static int compare_again(struct trial_bench *b, struct replay_request *request, const struct trial *first,
			 struct trial *second)
{
	struct replay_snapshot *snapshot = request->snapshot;
	struct trial third;
	int err;

	snapshot->resets = true;
	err = make_extra_run(b, request, snapshot, second);
	third = *second;
	if (!err && snapshot->copy)
		err = make_extra_run(b, request, snapshot, &third);
	if (err || (do_the_same(first, second) && do_the_same(first, &third)))
		return err;
	replay_snapshot_single(snapshot, "a copy behaves differently after a run");
	return make_extra_run(b, request, snapshot, second);
}

/* Makes a run in copies.  Once the copies of one frozen program have done the same, and could make
 * several runs, one copy of each other frozen program is enough, if it has survived its run: then it has
 * changed nothing outside (rt/steer/changes.c). */
static int run_in_copies(struct trial_bench *b, struct replay_request *request, struct trial *first,
			 struct trial *second)
{
	struct replay_snapshot *snapshot = request->snapshot;
	int err;

	snapshot->resets = b->resets_hold;
	err = make_extra_run(b, request, snapshot, first);
	*second = *first;
	if (!err && snapshot->pid && !(b->resets_hold && snapshot->copy))
		err = compare_again(b, request, first, second);
	return err;
}

/* An earlier copy may have changed something outside that a later copy needs; for example, it may
 * have removed a file.  So before copies of a frozen program are used, a schedule is run in copies
 * and once anew, and all runs have to do the same.  The caller gets the run that was made anew. */
static int run_and_compare(struct running *r, struct replay_request *request, struct trial *t,
			   struct schedule *made)
{
	struct trial_bench *b = r->bench;
	struct replay_snapshot *snapshot = request->snapshot;
	struct trial first, second, again;
	int err = run_in_copies(b, request, &first, &second);

	request->snapshot = NULL;
	if (!err)
		err = make_run(r, request, t, made);
	if (err)
		return err;
	snapshot->compared = true;
	if (snapshot->pid && (trial_differs(t, &first) || !do_the_same(&first, &second))) {
		err = make_extra_run(b, request, NULL, &again);
		replay_snapshot_close(snapshot);
		snapshot->why = err || trial_differs(t, &again) ? "runs of one schedule differ"
								: "a copy behaves differently";
	}
	b->resets_hold |= snapshot->copy != 0;
	return err;
}

/* ---- for callers ---- */

static int run(struct running *r, const struct schedule *s, struct trial *t, struct schedule *made)
{
	struct trial_bench *b = r->bench;
	struct replay_request request;
	int err = choose_way(b, s);

	if (err)
		return err;
	request = request_of(r, s);
	if (runs_on_one(b) && !r->hooks->stopped)
		request.snapshot = snapshots_find(b, s, known(b)->traps, r->search != NULL);
	return request.snapshot && !request.snapshot->compared ? run_and_compare(r, &request, t, made)
							       : make_run(r, &request, t, made);
}

int trial_run_with(struct trial_bench *b, const struct schedule *s, const struct trial_hooks *hooks,
		   struct trial *t, struct schedule *made)
{
	struct running r = {.bench = b, .hooks = hooks};

	return run(&r, s, t, made);
}

int trial_run(struct trial_bench *b, const struct schedule *s, struct trial *t, struct schedule *made)
{
	return trial_run_with(b, s, &(struct trial_hooks){0}, t, made);
}

int trial_explore(struct trial_bench *b, const struct schedule *s, struct replay_search *search,
		  struct trial *t, struct schedule *made)
{
	struct trial_hooks none = {0};
	struct running r = {.bench = b, .hooks = &none, .search = search};

	return run(&r, s, t, made);
}

int trial_shadow(struct trial_bench *b, const struct replay_program *shadow, const struct schedule *s,
		 struct trial *t, trial_shadow_fn *read, void *context)
{
	struct trial_hooks none = {0};
	struct running r = {.bench = b, .hooks = &none, .read_shadow = read, .shadow_context = context};
	struct replay_request request = request_of(&r, s);
	struct replay_program program = {shadow->program, shadow->sites, b->given.argv};
	int err;

	request.program = &program;
	request.server = NULL; /* each input is run once or twice, so a server does not pay off */
	request.shadow = read_shadow;
	err = make_run(&r, &request, t, NULL);
	return err ? err : r.err;
}
