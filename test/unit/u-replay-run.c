// SPDX-License-Identifier: Apache-2.0
/*
 * Tests whole replays of a program that is this test itself.  Started again with a mode as its
 * argument, it maps the session and acts as the runtime.  So every outcome can be produced without
 * threads.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "raddle/event.h"
#include "raddle/session.h"
#include "replay/replay.h"
#include "replay/settle.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PATIENCE_MS 2000 /* long enough for a process on a busy machine */
#define LOCK_A 0x1000
#define LOCK_B 0x2000

/* ---- the program that is replayed ---- */

static struct raddle_steer *steer;

static struct raddle_slot *slot(uint32_t number, uint32_t state)
{
	struct raddle_slot *s = &raddle_steer_slots(steer)[number];

	s->thread = number;
	s->parent = 0;
	s->index = number ? number - 1 : 0;
	s->tid = (uint32_t)getpid();
	atomic_store(&s->state, state);
	return s;
}

static void blocks(uint32_t number, uint64_t n, uint64_t wants, uint64_t has)
{
	struct raddle_slot *s = slot(number, RADDLE_SLOT_BLOCKED);

	atomic_store(&s->kind, RADDLE_MUTEX_LOCK);
	atomic_store(&s->n, n);
	atomic_store(&s->object, wants);
	atomic_store(&s->held[0], has);
	atomic_store(&s->held_count, 1);
}

static void wait_for_command(enum raddle_command what)
{
	while (atomic_load(&steer->command) != what)
		usleep(1000);
}

static void stand(uint32_t which, uint32_t number, uint32_t write)
{
	steer->spots[which] = (struct raddle_steer_spot){.slot = number,
							 .site = steer->goals[which].site,
							 .address = 0xabc0,
							 .size = 4,
							 .n = 5,
							 .write = write,
							 .frame_count = 1,
							 .frames = {77}};
	slot(number, RADDLE_SLOT_GOAL);
}

static int play_race(void)
{
	atomic_store(&steer->turn, 2);
	stand(0, 1, 1);
	stand(1, 2, 0);
	atomic_store(&steer->race_count, 1);
	steer->races[0] = (struct raddle_steer_race){.slot = {1, 2}, .site = {8, 9}, .write = {1, 0}};
	atomic_store(&steer->phase, RADDLE_MET);
	if (steer->flags & RADDLE_STEER_STAY)
		wait_for_command(RADDLE_COMMAND_GO);
	atomic_store(&steer->phase, RADDLE_RUNS_FREE);
	return 3 + (int)steer->order;
}

static _Noreturn void play_deadlock(uint64_t n)
{
	atomic_store(&steer->turn, 2);
	blocks(1, n, LOCK_B, LOCK_A);
	blocks(2, n, LOCK_A, LOCK_B);
	slot(0, RADDLE_SLOT_ENDED);
	atomic_store(&steer->phase, RADDLE_RUNS_FREE);
	for (;;)
		pause();
}

static int play_difference(void)
{
	atomic_store(&steer->turn, 1);
	steer->difference = (struct raddle_steer_difference){.cause = RADDLE_CAUSE_KIND,
							     .slot = 1,
							     .n = 2,
							     .expected = RADDLE_MUTEX_LOCK,
							     .found = RADDLE_SEM_POST};
	atomic_store(&steer->phase, RADDLE_DIVERGED);
	return 0;
}

/* All threads wait for each other until the replayer gives up. */
static int play_standstill(bool spins)
{
	slot(0, spins ? RADDLE_SLOT_RUNS : RADDLE_SLOT_LIMIT);
	slot(1, RADDLE_SLOT_GATE);
	slot(2, RADDLE_SLOT_LIMIT);
	while (atomic_load(&steer->command) != RADDLE_COMMAND_GIVE_UP)
		if (!spins)
			usleep(1000);
	steer->difference.cause = RADDLE_CAUSE_GIVE_UP;
	steer->difference.slot = RADDLE_STEER_NONE;
	atomic_store(&steer->phase, RADDLE_DIVERGED);
	return 0;
}

/* Returns how often the replayer has slept so far.  It sleeps once between two looks at the
 * program. */
static unsigned long naps_of_replayer(void)
{
	char path[64], line[256];
	unsigned long naps = 0;
	FILE *status;

	snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
	status = fopen(path, "r");
	while (status && fgets(line, sizeof line, status))
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &naps) == 1)
			break;
	if (status)
		fclose(status);
	return naps;
}

/* Returns when the replayer has looked at the current state. */
static void wait_for_looks(void)
{
	unsigned long before = naps_of_replayer();

	while (naps_of_replayer() < before + 3)
		usleep(1000);
}

/* Whatever the program writes into the shared memory, the replayer survives. */
static int play_nonsense(void)
{
	memset(steer->spots, 0xff, sizeof steer->spots);
	memset(steer->races, 0xff, sizeof steer->races);
	memset(&steer->difference, 0xff, sizeof steer->difference);
	memset(&raddle_steer_slots(steer)[0], 0xff, 8 * sizeof(struct raddle_slot));
	atomic_store(&steer->race_count, UINT32_MAX);
	atomic_store(&steer->slot_count, UINT32_MAX);
	atomic_store(&steer->turn, UINT32_MAX);
	wait_for_looks();
	atomic_store(&steer->phase, RADDLE_MET);
	wait_for_looks();
	return 0;
}

/* Stops at a watched access.  The exit status shows the answer: which thread continues, and how
 * many decisions there are. */
static int play_stand(void)
{
	struct raddle_slot *s = slot(1, RADDLE_SLOT_GOAL);

	atomic_store(&s->ready, 1);
	atomic_store(&s->n, 4);
	s->point = RADDLE_POINT_ACCESS;
	s->point_n = 4;
	s->point_count = 2;
	slot(0, RADDLE_SLOT_BLOCKED);
	slot(2, RADDLE_SLOT_GATE)->ready = 1;
	steer->ask.slot = 1;
	steer->ask.watch = 0;
	steer->ask.spot =
		(struct raddle_steer_spot){.slot = 1, .site = 8, .address = 0xabc0, .size = 4, .write = 1};
	atomic_store(&steer->asks, 1);
	atomic_store(&steer->running, RADDLE_STEER_ASKING);
	while (atomic_load(&steer->answers) != 1 && atomic_load(&steer->command) == RADDLE_COMMAND_NONE)
		usleep(1000);
	atomic_store(&steer->running, 2);
	atomic_store(&steer->past_count, 2);
	atomic_store(&steer->choices, 9);
	steer->trail = 77;
	raddle_steer_made(steer)[0] = (struct raddle_steer_decision){1, 2, 4, RADDLE_POINT_ACCESS, 2, 0, 0};
	raddle_steer_made(steer)[1] = (struct raddle_steer_decision){2, 0, 5, 1000, 1, 0, 0};
	atomic_store(&steer->made_count, 2);
	return (int)(10 * steer->next + atomic_load(&steer->decision_count));
}

/* A sanitizer may have installed a handler for this signal. */
static int crash(void)
{
	signal(SIGSEGV, SIG_DFL);
	return raise(SIGSEGV);
}

static int play(const char *mode)
{
	const char *number = getenv(RADDLE_SESSION_ENV);
	struct raddle_session *session;
	struct stat st;

	if (!number || fstat(atoi(number), &st))
		return 99;
	session = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(number), 0);
	if (session == MAP_FAILED || session->version != RADDLE_SESSION_VERSION || !session->steer_offset)
		return 98;
	steer = (struct raddle_steer *)((char *)session + session->steer_offset);
	if (!strcmp(mode, "absent"))
		return 5;
	for (uint32_t i = 0; i < 3; i++)
		slot(i, RADDLE_SLOT_RUNS);
	atomic_store(&steer->slot_count, 3);
	if (!strcmp(mode, "race"))
		return play_race();
	if (!strcmp(mode, "deadlock"))
		play_deadlock(3);
	if (!strcmp(mode, "elsewhere"))
		play_deadlock(2);
	if (!strcmp(mode, "difference"))
		return play_difference();
	if (!strcmp(mode, "gate") || !strcmp(mode, "spin"))
		return play_standstill(!strcmp(mode, "spin"));
	if (!strcmp(mode, "stand"))
		return play_stand();
	if (!strcmp(mode, "nonsense"))
		return play_nonsense();
	if (!strcmp(mode, "crash"))
		return crash();
	if (!strcmp(mode, "crash-later") && play_race())
		return crash();
	if (!strcmp(mode, "killed"))
		return raise(SIGTERM);
	return 7;
}

/* ---- replays and their outcomes ---- */

static struct schedule race, deadlock;
static struct replay_result result;
static unsigned meetings;

static void add_ops(struct schedule *s)
{
	*schedule_add_op(s) = (struct schedule_op){.thread = "T_0", .n = 2, .kind = "thread-create"};
	*schedule_add_op(s) =
		(struct schedule_op){.thread = "T_0_0", .n = 2, .kind = "mutex-lock", .object = "m"};
}

static int start(void **state)
{
	(void)state;
	schedule_init(&race);
	schedule_init(&deadlock);
	add_ops(&race);
	add_ops(&deadlock);
	for (int i = 0; i < 2; i++) {
		*schedule_add_goal(&race) = (struct schedule_goal){.thread = i ? "T_0_1" : "T_0_0",
								   .after = 5,
								   .occurrence = 1,
								   .site = 65537,
								   .write = !i};
		*schedule_add_stop(&deadlock) = (struct schedule_stop){.thread = i ? "T_0_1" : "T_0_0",
								       .n = 3,
								       .kind = "mutex-lock",
								       .object = i ? "a" : "b"};
	}
	return 0;
}

static int stop(void **state)
{
	(void)state;
	schedule_release(&race);
	schedule_release(&deadlock);
	return 0;
}

static int after(void **state)
{
	(void)state;
	replay_result_release(&result);
	return 0;
}

static int run(const char *mode, const struct schedule *s, struct replay_request request)
{
	char *argv[] = {(char[]){"u-replay-run"}, (char *)mode, NULL};
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	struct run_program ours = {.path = self, .flavour = {.executable = self}};
	struct replay_program program = {.program = &ours, .argv = argv};

	assert_true(length > 0);
	self[length] = '\0';
	request.program = &program;
	request.schedule = s;
	request.patience_ms = request.patience_ms ? request.patience_ms : PATIENCE_MS;
	return replay_run(&request, &result);
}

static void outcome(const char *mode, const struct schedule *s, enum replay_outcome expected)
{
	assert_int_equal(run(mode, s, (struct replay_request){0}), 0);
	if (result.outcome != expected)
		fail_msg("%s: %s", replay_outcome_name(result.outcome),
			 result.explanation ? result.explanation : "-");
}

static void explained(const char *text)
{
	assert_non_null(result.explanation);
	if (!strstr(result.explanation, text))
		fail_msg("\"%s\" does not say \"%s\"", result.explanation, text);
}

static void test_race(void **state)
{
	(void)state;
	outcome("race", &race, REPLAY_CONFIRMED);
	assert_int_equal(result.end, REPLAY_EXITED);
	assert_int_equal(result.status, 3);
	assert_int_equal(result.spot_count, 2);
	assert_string_equal(result.spots[0].thread, "T_0_0");
	assert_string_equal(result.spots[1].thread, "T_0_1");
	assert_true(result.spots[0].write && !result.spots[1].write);
	assert_int_equal(result.spots[1].frames[0], 77);
	assert_int_equal(result.done, 2);
	assert_int_equal(result.race_count, 1);
	assert_string_equal(result.races[0].thread[1], "T_0_1");
	assert_string_equal(replay_end_text(&result), "the program ended with status 3");
}

static bool meet(void *context, pid_t pid, const struct replay_result *so_far, unsigned *first)
{
	assert_int_equal(*(int *)context, 17);
	assert_true(pid > 0 && so_far->spot_count == 2 && so_far->order_at && so_far->command_at);
	*first = 1;
	return ++meetings == 5;
}

static void test_race_stays_until_it_is_let_go(void **state)
{
	int context = 17;

	(void)state;
	assert_int_equal(run("race", &race, (struct replay_request){.met = meet, .context = &context}), 0);
	assert_int_equal(result.outcome, REPLAY_CONFIRMED);
	assert_int_equal(meetings, 5);
	assert_int_equal(result.status, 4);
}

/* Checks where the threads are stopped, and extends the plan. */
static bool extend(void *context, const struct replay_stand *stand, struct schedule *more, const char **next)
{
	const struct replay_stander *who = &stand->threads[stand->who];

	++*(int *)context;
	assert_int_equal(stand->thread_count, 3);
	assert_string_equal(who->thread, "T_0_0");
	assert_string_equal(who->point, "access");
	assert_true(who->ready && !who->waits && who->point_n == 4 && who->point_count == 2);
	assert_true(stand->threads[0].waits && !stand->threads[0].ready);
	assert_non_null(stand->spot);
	assert_int_equal(stand->spot->address, 0xabc0);
	*schedule_add_decision(more) = (struct schedule_decision){
		.thread = "T_0_0", .n = 4, .point = "back", .count = 1, .next = "T_0_5"};
	*schedule_add_watch(more) = (struct schedule_watch){.after = SCHEDULE_ALWAYS,
							    .reads = true,
							    .address = stand->spot->address,
							    .bytes = stand->spot->size};
	more->seed = 3;
	*next = "T_0_1";
	return true;
}

static void begin_turns(struct schedule *turns)
{
	schedule_init(turns);
	turns->turns = true;
	*schedule_add_decision(turns) = (struct schedule_decision){
		.thread = "T_0", .n = 2, .point = "op", .count = 1, .next = "T_0_0"};
}

static void test_stands(void **state)
{
	struct schedule turns, exported;
	int asked = 0;

	(void)state;
	begin_turns(&turns);
	assert_int_equal(run("stand", &turns, (struct replay_request){.stands = extend, .context = &asked}),
			 0);
	assert_int_equal(asked, 1);
	assert_int_equal(result.outcome, REPLAY_CONFIRMED);
	assert_int_equal(result.status, 22);
	assert_int_equal(result.turns.taken, 2);
	assert_int_equal(result.turns.planned, 2);
	assert_null(result.turns.strayed);
	assert_true(result.turns.choices == 9 && result.turns.trail == 77 && result.turns.complete);
	assert_int_equal(replay_export(&turns, &result, SIZE_MAX, &exported), 0);
	assert_int_equal(exported.decision_count, 2);
	assert_string_equal(exported.decisions[0].next, "T_0_1");
	/* the program had written an invalid point */
	assert_string_equal(exported.decisions[1].point, "op");
	assert_int_equal(exported.seed, 0);
	schedule_release(&exported);
	assert_int_equal(replay_export(&turns, &result, 1, &exported), 0);
	assert_int_equal(exported.decision_count, 1);
	assert_string_equal(exported.decisions[0].next, "T_0_1");
	schedule_release(&exported);
	schedule_release(&turns);
}

/* Not all decisions of the schedule were reached. */
static void test_turns_end_early(void **state)
{
	struct schedule turns, exported;

	(void)state;
	begin_turns(&turns);
	outcome("exit", &turns, REPLAY_ENDED);
	explained("only 0 of 1 decisions were reached");
	assert_int_equal(replay_export(&race, &result, SIZE_MAX, &exported), RD_EFORMAT);
	schedule_release(&exported);
	schedule_release(&turns);
}

static void test_crash_after_a_race(void **state)
{
	(void)state;
	outcome("crash-later", &race, REPLAY_CONFIRMED);
	assert_int_equal(result.end, REPLAY_SIGNALLED);
	assert_int_equal(result.status, SIGSEGV);
}

static void test_deadlock(void **state)
{
	(void)state;
	outcome("deadlock", &deadlock, REPLAY_CONFIRMED);
	assert_int_equal(result.end, REPLAY_DEADLOCKED);
	assert_int_equal(result.wait_count, 2);
	assert_string_equal(result.waits[0].thread, "T_0_0");
	assert_string_equal(result.waits[0].name, "b");
	assert_string_equal(result.waits[0].waits_on, "T_0_1");
	assert_string_equal(result.waits[1].kind, "mutex-lock");
	assert_true(result.waits[1].planned && result.waits[1].core);
	assert_int_equal(result.waits[1].held_count, 1);
	assert_int_equal(result.waits[1].held[0].address, LOCK_B);
}

/* The threads wait in other operations than those of the schedule. */
static void test_other_deadlock(void **state)
{
	(void)state;
	outcome("elsewhere", &deadlock, REPLAY_DEADLOCK);
	assert_int_equal(result.end, REPLAY_DEADLOCKED);
	assert_false(result.waits[0].planned);
}

static void test_difference(void **state)
{
	(void)state;
	outcome("difference", &race, REPLAY_DIVERGED);
	explained("T_0_0 should do mutex-lock of m as its operation 2, but did sem-post at an unknown place");
	assert_int_equal(result.done, 1);
}

static void test_gate_that_nobody_opens(void **state)
{
	(void)state;
	outcome("gate", &race, REPLAY_DIVERGED);
	explained("T_0 should do its operation 2, thread-create, but is stopped at");
}

static void test_spin(void **state)
{
	(void)state;
	outcome("spin", &race, REPLAY_LIVELOCK);
}

static void test_crash_on_the_way(void **state)
{
	(void)state;
	outcome("crash", &race, REPLAY_CRASHED);
	assert_int_equal(result.status, SIGSEGV);
}

static void test_signal_from_outside(void **state)
{
	(void)state;
	outcome("killed", &race, REPLAY_STOPPED);
}

static void test_end_on_the_way(void **state)
{
	(void)state;
	outcome("end", &race, REPLAY_ENDED);
	assert_int_equal(result.status, 7);
	explained("T_0 should do its operation 2, thread-create, but");
}

static void test_nonsense(void **state)
{
	(void)state;
	assert_int_equal(run("nonsense", &race, (struct replay_request){.detect = true}), 0);
	assert_int_equal(result.race_count, RADDLE_STEER_RACES);
}

static void test_program_without_runtime(void **state)
{
	(void)state;
	assert_int_equal(run("absent", &race, (struct replay_request){0}), RD_ETOOL);
}

/* ---- replays of findings ---- */

static struct finding_set *set;

static struct finding *make_finding(const struct schedule *from)
{
	struct finding *f;
	struct rd_buf text = RD_BUF_INIT;
	struct schedule *s;

	set = finding_set_new();
	f = finding_add(set, from->stop_count ? FINDING_DEADLOCK : FINDING_RACE);
	s = finding_schedule_add(set, f);
	schedule_release(s);
	schedule_format(from, &text);
	assert_int_equal(schedule_parse(s, text.data, text.length, "test"), 0);
	rd_buf_release(&text);
	strcpy(f->id, "0123456789abcdef");
	f->access_count = 2;
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	f->accesses[0].thread = "T_0_0";
	f->accesses[1].thread = "T_0_1";
	return f;
}

static int try_finding(const char *mode, struct finding *f, struct replay_policy policy)
{
	char *argv[] = {(char[]){"u-replay-run"}, (char *)mode, NULL};
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	struct run_program ours = {.path = self, .flavour = {.executable = self}};
	struct replay_program program = {.program = &ours, .argv = argv};

	self[length] = '\0';
	policy.request.program = &program;
	policy.request.patience_ms = PATIENCE_MS;
	return replay_finding(&policy, set, f, NULL);
}

static void test_verdicts(void **state)
{
	static const struct {
		const char *mode;
		enum finding_status status;
		const char *reason;
	} cases[] = {
		{"race", FINDING_CONFIRMED, NULL},
		{"crash-later", FINDING_CONFIRMED, NULL},
		{"difference", FINDING_DROPPED, "but did sem-post"},
		{"spin", FINDING_DROPPED, "spins"},
		{"end", FINDING_DROPPED, "ended with status 7 too early"},
		{"crash", FINDING_UNCONFIRMED, "signal 11"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct finding *f = make_finding(&race);

		assert_int_equal(try_finding(cases[i].mode, f, (struct replay_policy){0}), 0);
		assert_int_equal(f->status, cases[i].status);
		assert_null(f->consequence); /* even if the program crashed later, for whatever reason */
		if (cases[i].reason)
			assert_non_null(strstr(f->reason, cases[i].reason));
		else
			assert_null(f->reason);
		finding_set_free(set);
	}
}

static void test_deadlock_is_shown(void **state)
{
	struct finding *f = make_finding(&deadlock);

	(void)state;
	assert_int_equal(try_finding("deadlock", f, (struct replay_policy){0}), 0);
	assert_int_equal(f->status, FINDING_CONFIRMED);
	assert_string_equal(f->consequence, "deadlock");
	assert_string_equal(f->notes[0],
			    "replayed: T_0_0 waits in mutex-lock of b, which T_0_1 holds; T_0_1 waits in "
			    "mutex-lock of a, which T_0_0 holds");
	finding_set_free(set);
}

/* Predicts again from a trace.  It is called in other processes. */
static int again(void *context, const char *trace, struct finding_set *of)
{
	_Atomic int *calls = context;
	char *meta = rd_xasprintf("%s/meta.json", trace);

	*calls += access(meta, R_OK) == 0 && of->count == 0;
	free(meta);
	return RD_OK;
}

/* Continues until all findings are settled. */
static void settle_all(const struct replay_settle *how, struct replay_settled *settled)
{
	struct replay_settling *s = replay_settle_open(how, set, settled);
	struct replay_news news = {.kind = REPLAY_NEWS_PROGRESS};
	uint64_t confirmed = 0;

	while (news.kind != REPLAY_NEWS_OVER) {
		assert_int_equal(replay_settle_next(s, &news), RD_OK);
		if (news.kind == REPLAY_NEWS_PROGRESS)
			assert_int_equal(news.progress.total, 1);
		if (news.kind == REPLAY_NEWS_CONFIRMED)
			assert_int_equal(news.finding->status, FINDING_CONFIRMED);
		confirmed += news.kind == REPLAY_NEWS_CONFIRMED;
	}
	assert_int_equal(confirmed, settled->confirmed); /* each confirmation was reported once */
	replay_settle_close(s);
}

/* Settles the only finding of the set.  Returns how often prediction was requested. */
static int settle(const char *mode, struct replay_settled *settled)
{
	char *argv[] = {(char[]){"u-replay-run"}, (char *)mode, NULL};
	char self[4096], *directory;
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	struct run_program ours = {.path = self, .flavour = {.executable = self}};
	struct replay_program program = {.program = &ours, .argv = argv};
	struct run_input input = {.first = -1};
	_Atomic int *calls =
		mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct replay_settle how = {
		.runs = {.program = &program, .input = &input, .recorded_ns = 100 * RD_NS_PER_MS},
		.predict = again,
		.predict_context = (void *)calls};
	int count;

	self[length] = '\0';
	assert_int_equal(rd_scratch_open(&directory, NULL, "u-replay"), RD_OK);
	how.directory = directory;
	*settled = (struct replay_settled){0};
	set->items[0]->status = FINDING_UNCONFIRMED;
	settle_all(&how, settled);
	assert_int_equal(access(directory, F_OK), -1);
	rd_scratch_close(directory);
	count = *calls;
	munmap((void *)calls, sizeof *calls);
	return count;
}

static void test_settle(void **state)
{
	struct replay_settled settled;

	(void)state;
	make_finding(&race);
	assert_int_equal(settle("race", &settled), 0);
	assert_int_equal(set->items[0]->status, FINDING_CONFIRMED);
	assert_string_equal(set->items[0]->id, "0123456789abcdef");
	assert_int_equal(settled.confirmed, 1);
	assert_int_equal(settled.replays, 1);
	finding_set_free(set);
	replay_settled_release(&settled);
}

static void test_diverged_runs_are_recorded_and_predicted_again(void **state)
{
	struct replay_settled settled;

	(void)state;
	make_finding(&race);
	assert_int_equal(settle("difference", &settled), 3);
	assert_int_equal(set->items[0]->status, FINDING_DROPPED);
	assert_non_null(strstr(set->items[0]->reason, "(5 replays)"));
	assert_true(settled.replays >= 5);
	assert_int_equal(settled.replayed, 1);
	assert_int_equal(settled.confirmed + settled.untried + settled.unfinished, 0);
	finding_set_free(set);
	replay_settled_release(&settled);
}

#define TEST(name) cmocka_unit_test_teardown(name, after)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_race),
		TEST(test_race_stays_until_it_is_let_go),
		TEST(test_stands),
		TEST(test_turns_end_early),
		TEST(test_crash_after_a_race),
		TEST(test_deadlock),
		TEST(test_other_deadlock),
		TEST(test_difference),
		TEST(test_gate_that_nobody_opens),
		TEST(test_spin),
		TEST(test_crash_on_the_way),
		TEST(test_signal_from_outside),
		TEST(test_end_on_the_way),
		TEST(test_nonsense),
		TEST(test_program_without_runtime),
		TEST(test_verdicts),
		TEST(test_deadlock_is_shown),
		TEST(test_settle),
		TEST(test_diverged_runs_are_recorded_and_predicted_again),
	};

	if (argc > 1)
		return play(argv[1]);
	return cmocka_run_group_tests(tests, start, stop);
}
