// SPDX-License-Identifier: Apache-2.0
/*
 * Runs that are led.  In: a schedule.  Out: how the program ended, what it wrote, whether it went the
 * way it was to go.
 *
 * A run that left its schedule, or did not come to an end that can be told, does not count: it says nothing
 * about the race.
 */
#include "explore/trial.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "run/orphan.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define LIMIT_MS 10000 /* of a run that should end at once */
#define LIMIT_TIMES 20 /* of the recorded run */

int trial_open(struct trial_bench *b, const struct trial_how *how, const char *directory)
{
	int err;

	*b = (struct trial_bench){.how = *how,
				  .companion = {.command = how->companion},
				  .arena = rd_arena_new(),
				  .directory = directory,
				  .given = {.input = -1}};
	err = run_streams_open(&b->streams, how->input, directory);
	return err ? err : trial_give(b, &(struct rd_override){0});
}

/* Another input is other arguments, which a process has from its start. */
static void renew_server(struct run_server *server)
{
	bool off = server->off;

	run_server_close(server);
	server->off = off;
}

int trial_give(struct trial_bench *b, const struct rd_override *given)
{
	char *scratch = rd_xasprintf("%s/given", b->directory);
	int err;

	renew_server(&b->server);
	run_override_close(&b->given);
	err = run_override_open(&b->given, given, b->how.program->argv, scratch);
	b->program = *b->how.program;
	b->program.argv = b->given.argv;
	memcpy(b->fds, b->streams.fds, sizeof b->fds);
	if (b->given.input >= 0)
		b->fds[STDIN_FILENO] = b->given.input;
	free(scratch);
	return err;
}

void trial_close(struct trial_bench *b)
{
	run_server_close(&b->server);
	run_override_close(&b->given);
	run_streams_close(&b->streams);
	rd_arena_free(b->arena);
	free(b->published);
}

/* ---- around a run ---- */

static int begin(void *context)
{
	struct trial_bench *b = context;
	int err = run_setup(b->how.setup, b->streams.fds[STDERR_FILENO]);

	run_streams_rewind(&b->streams);
	if (b->given.input >= 0 && lseek(b->given.input, 0, SEEK_SET) < 0)
		err = rd_fail_errno("classify: standard input");
	run_override_enter(&b->given);
	return err;
}

static void started(void *context, pid_t pid)
{
	struct trial_bench *b = context;

	run_override_leave(&b->given);
	run_companion_start(&b->companion, pid, b->streams.fds[STDERR_FILENO]);
}

static void ended(void *context)
{
	struct trial_bench *b = context;

	run_override_leave(&b->given);
	run_companion_stop(&b->companion);
	run_orphans_end(b->server.pid);
}

/* ---- how it ended ---- */

/* What glibc says before it aborts a program whose memory is damaged. */
static bool is_about_memory(const char *errors)
{
	static const char *const words[] = {"double free",	   "free(): ",
					    "malloc(): ",	   "realloc(): ",
					    "corrupted size vs.",  "corrupted double-linked list",
					    "*** stack smashing",  "*** buffer overflow",
					    "munmap_chunk(): ",	   "invalid fastbin",
					    "invalid stdio handle"};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(errors, words[i]))
			return true;
	return false;
}

static const char *fault_of_signal(int number, const char *errors)
{
	switch (number) {
	case SIGSEGV:
	case SIGBUS:
	case SIGILL:
	case SIGFPE:
	case SIGSYS:
	case SIGTRAP: return "crash";
	case SIGABRT:
		return strstr(errors, "Assertion `") ? "assertion"
		       : is_about_memory(errors)     ? "memory-error"
						     : "abort";
	default: return NULL;
	}
}

const char *trial_fault(enum replay_end end, int status, const char *errors)
{
	switch (end) {
	case REPLAY_DEADLOCKED: return "deadlock";
	case REPLAY_LIVELOCKED: return "hang";
	case REPLAY_SIGNALLED: return fault_of_signal(status, errors);
	default: return NULL;
	}
}

/* ---- what it wrote ---- */

bool trial_next_line(const struct trial_text *t, size_t *at, struct trial_text *line)
{
	const char *end;

	if (*at >= t->length)
		return false;
	end = memchr(t->data + *at, '\n', t->length - *at);
	line->data = t->data + *at;
	line->length = end ? (size_t)(end - line->data) + 1 : t->length - *at;
	*at += line->length;
	return true;
}

bool trial_is_masked(const struct trial_mask *mask, int stream, size_t number)
{
	return mask->all[stream] || (number < TRIAL_LINES && mask->line[stream][number]);
}

/* One that depends on the order of the lines, and one that does not. */
static void digest_text(const struct trial_text *t, const struct trial_mask *mask, int stream,
			uint64_t out[2])
{
	struct trial_text line;
	size_t at = 0;

	out[0] = out[1] = (uint64_t)stream;
	for (size_t n = 0; trial_next_line(t, &at, &line); n++) {
		uint64_t hash = trial_is_masked(mask, stream, n) ? 1 : XXH64(line.data, line.length, 1);

		out[0] = XXH64(&hash, sizeof hash, out[0]);
		out[1] += hash;
	}
	if (mask->all[stream])
		out[0] = out[1] = 0;
}

void trial_digest(struct trial *t, const struct trial_mask *mask)
{
	uint64_t texts[2], all[2][2 + TRIAL_STREAMS];

	for (int i = 0; i < 2; i++) {
		all[i][TRIAL_STREAMS] = t->end;
		all[i][TRIAL_STREAMS + 1] = (uint64_t)t->status;
	}
	for (int i = 0; i < TRIAL_STREAMS; i++) {
		digest_text(&t->text[i], mask, i, texts);
		all[0][i] = texts[0];
		all[1][i] = texts[1];
	}
	t->digest = XXH64(all[0], sizeof all[0], 0);
	t->lines = XXH64(all[1], sizeof all[1], 0);
}

static void learn_stream(struct trial_mask *mask, int stream, const struct trial_text *a,
			 const struct trial_text *b)
{
	struct trial_text x, y;
	size_t i = 0, k = 0, n = 0;
	bool has_x, has_y;

	for (;; n++) {
		has_x = trial_next_line(a, &i, &x);
		has_y = trial_next_line(b, &k, &y);
		if (!has_x || !has_y)
			break;
		if (x.length == y.length && !memcmp(x.data, y.data, x.length))
			continue;
		mask->any = true;
		if (n < TRIAL_LINES)
			mask->line[stream][n] = true;
		else
			mask->all[stream] = true;
	}
	mask->all[stream] |= has_x != has_y;
	mask->any |= has_x != has_y;
}

void trial_mask_learn(struct trial_mask *mask, const struct trial *a, const struct trial *b)
{
	for (int i = 0; i < TRIAL_STREAMS; i++)
		learn_stream(mask, i, &a->text[i], &b->text[i]);
}

static int read_texts(struct trial_bench *b, struct trial *t)
{
	int err = RD_OK;

	for (int i = 0; i < 2 && !err; i++) {
		struct rd_buf text = RD_BUF_INIT;

		err = run_streams_read(&b->streams, STDOUT_FILENO + i, &text);
		t->text[i].data = rd_arena_strndup(b->arena, text.data, text.length);
		t->text[i].length = text.length;
		rd_buf_release(&text);
	}
	return err;
}

/* ---- a run ---- */

/* Of a run that nobody will wait for; at least one, since 0 is none. */
static uint64_t left_ms(const struct trial_how *how)
{
	int64_t left = how->end_ns - rd_now_ns();

	if (!how->end_ns)
		return UINT64_MAX;
	return left < 1000000 ? 1 : (uint64_t)left / 1000000;
}

static uint64_t limit_ms(const struct trial_how *how)
{
	uint64_t ms = LIMIT_TIMES * how->recorded_ms, left = left_ms(how);

	ms = how->timeout ? how->timeout * 1000 : ms > LIMIT_MS ? ms : LIMIT_MS;
	return ms < left ? ms : left;
}

/* Whether it was on its way when it was ended. */
static bool is_cut(const struct replay_result *r)
{
	return r->end == REPLAY_RAN_ON && r->outcome == REPLAY_CONFIRMED && !r->assumed &&
	       (!r->turns.strayed || r->turns.early);
}

/* Why a run says nothing about the race; NULL: it does. */
static const char *why_not(const struct replay_result *r)
{
	if (r->assumed)
		return "an assumption of the program did not hold (raddle_assume)";
	if (r->outcome != REPLAY_CONFIRMED)
		return r->explanation ? r->explanation : "the threads did not come where they were led";
	if (r->turns.strayed && !r->turns.early)
		return r->turns.strayed;
	if (r->end == REPLAY_HUNG || r->end == REPLAY_RAN_ON)
		return "the program did not end in time";
	if (r->end == REPLAY_SIGNALLED && !r->outside.ended &&
	    (r->status == SIGKILL || r->status == SIGINT || r->status == SIGTERM))
		return "a signal from outside ended the program";
	return NULL;
}

static const char *copy_text(struct trial_bench *b, const char *text)
{
	return text ? rd_arena_strndup(b->arena, text, strlen(text)) : NULL;
}

static struct trial_obstacle copy_obstacle(struct trial_bench *b, const struct replay_obstacle *o)
{
	struct trace_frame frame = trace_sites_frame(b->how.program->sites, o->site);

	return (struct trial_obstacle){.thread = copy_text(b, o->thread),
				       .kind = copy_text(b, o->kind),
				       .name = copy_text(b, o->name),
				       .owner = copy_text(b, o->owner),
				       .file = *frame.file ? copy_text(b, frame.file) : NULL,
				       .line = frame.line,
				       .lifted = o->lifted,
				       .goal = o->goal};
}

/* Why the run says nothing about the race, of one that was ended for a fault before it came there. */
static const char *why_early(struct trial_bench *b, struct replay_result *r)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *copy;

	rd_buf_addf(&text, "before the threads had met, %s", replay_end_text(r));
	copy = copy_text(b, text.data);
	rd_buf_release(&text);
	return copy;
}

/* Where something had to be made up for the program, what it does says nothing. */
static const char *why_made_up(struct trial_bench *b, const struct replay_outside *o)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *copy;

	if (!o->lack && !o->cut)
		return NULL;
	rd_buf_addf(&text, "unmodelled: %s", o->lack ? o->lack : "the program sent more than can be kept");
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

static bool is_goal(const struct schedule_goal *g, const char *thread, const char *place)
{
	size_t length = g->place.file ? strlen(rd_base_name(g->place.file)) : 0;

	return length && thread && place && !strcmp(g->thread, thread) &&
	       !strncmp(rd_base_name(g->place.file), place, length) && place[length] == ':' &&
	       strtoul(place + length + 1, NULL, 10) == g->place.line;
}

/* Whether one thread of a race freed, at its place, what the other one used or freed at its own. */
static bool is_at_race(const struct schedule *s, const struct replay_fault *f)
{
	for (unsigned i = 0; i < 2 && s->goal_count == 2; i++)
		if (f->what && is_goal(&s->goals[i], f->thread, f->place) &&
		    is_goal(&s->goals[1 - i], f->freed, f->freed_place))
			return true;
	return false;
}

static int draw_up(struct trial_bench *b, struct replay_result *r, struct trial *t)
{
	int err = read_texts(b, t);

	note_memory(b, &r->memory, t);

	b->edits |= r->edits;
	t->outcome = r->outcome;
	t->end = r->end;
	t->status = r->status;
	t->obstacle = copy_obstacle(b, &r->obstacle);
	t->unsure = r->turns.unsure != 0;
	t->trail = r->turns.trail;
	t->text[2].data = rd_arena_strndup(b->arena, r->outside.sent, r->outside.sent_length);
	t->text[2].length = r->outside.sent_length;
	t->why = copy_text(b, why_not(r));
	if (!t->why)
		t->why = why_made_up(b, &r->outside);
	if (t->why && r->fault.what && r->outcome != REPLAY_CONFIRMED)
		t->why = why_early(b, r);
	t->counts = !t->why;
	t->cut = is_cut(r);
	t->ending = copy_text(b, replay_end_text(r));
	t->fault = err			? NULL
		   : r->fault.predicate ? "predicate"
		   : r->fault.what	? "memory-error"
					: trial_fault(t->end, t->status, t->text[1].data);
	trial_digest(t, &b->mask);
	return err;
}

static struct replay_request request_of(struct trial_bench *b, const struct schedule *s)
{
	return (struct replay_request){.program = &b->program,
				       .schedule = s,
				       .streams = b->fds,
				       .directory = b->given.directory,
				       .server = b->copies ? &b->server : NULL,
				       .record_into = b->record_into,
				       .strategy = b->strategy,
				       .strict = s->goal_count != 0,
				       .detect = b->detect,
				       .cover = b->cover,
				       .recorded_ms = b->how.recorded_ms,
				       .limit_ms = limit_ms(&b->how),
				       .most = b->most,
				       .no_world = b->how.no_world,
				       .begin = begin,
				       .started = started,
				       .ended = ended,
				       .context = b};
}

/* What a run is made for besides how it ends. */
struct purpose {
	struct replay_search *search; /* NULL: no choices are explored */
	trial_result_fn *look;	      /* NULL: nobody looks */
	void *context;
};

static int make_run(struct trial_bench *b, const struct replay_request *request, const struct purpose *p,
		    struct trial *t, struct schedule *made)
{
	const struct schedule *s = request->schedule;
	struct replay_result result = {0};
	int err = replay_run(request, &result);

	*t = (struct trial){0};
	b->runs++;
	if (made)
		*made = (struct schedule){0};
	if (!err)
		err = draw_up(b, &result, t);
	t->at_race = t->fault && is_at_race(s, &result.fault);
	if (!err && made && result.turns.complete && (!s->memory || result.memory.complete))
		err = replay_export(s, &result, made);
	if (!err && p->search)
		replay_search_took(p->search, &result.memory);
	if (!err && p->look)
		p->look(p->context, &result);
	replay_result_release(&result);
	return err;
}

static int run(struct trial_bench *b, const struct schedule *s, const struct purpose *p, struct trial *t,
	       struct schedule *made)
{
	RD_ASSERT(s->turns);
	struct replay_request request = request_of(b, s);

	request.explore = p->search;
	return make_run(b, &request, p, t, made);
}

int trial_run(struct trial_bench *b, const struct schedule *s, struct trial *t, struct schedule *made)
{
	return run(b, s, &(struct purpose){0}, t, made);
}

int trial_run_with(struct trial_bench *b, const struct schedule *s, struct trial *t, struct schedule *made,
		   trial_result_fn *look, void *context)
{
	return run(b, s, &(struct purpose){.look = look, .context = context}, t, made);
}

int trial_explore(struct trial_bench *b, const struct schedule *s, struct replay_search *search,
		  struct trial *t, struct schedule *made)
{
	return run(b, s, &(struct purpose){.search = search}, t, made);
}

/* Who looks has a context of its own. */
struct looker {
	struct trial_bench *bench;
	const struct trial_eyes *eyes;
};

static int look_begin(void *context)
{
	return begin(((struct looker *)context)->bench);
}

static void look_started(void *context, pid_t pid)
{
	started(((struct looker *)context)->bench, pid);
}

static void look_ended(void *context)
{
	ended(((struct looker *)context)->bench);
}

static bool look_stands(void *context, const struct replay_stand *stand, struct schedule *more,
			const char **next)
{
	struct looker *l = context;

	return l->eyes->stands(l->eyes->context, stand, more, next);
}

int trial_look_with(struct trial_bench *b, const struct schedule *s, const struct trial_eyes *eyes,
		    struct trial *t, struct schedule *made)
{
	struct looker l = {b, eyes};
	struct replay_request request = request_of(b, s);

	request.begin = look_begin;
	request.started = look_started;
	request.ended = look_ended;
	request.stands = look_stands;
	request.context = &l;
	return make_run(b, &request, &(struct purpose){.look = eyes->look, .context = eyes->context}, t,
			made);
}

int trial_look(struct trial_bench *b, const struct schedule *s, trial_stands_fn *stands, void *context,
	       struct trial *t)
{
	return trial_look_with(b, s, &(struct trial_eyes){.stands = stands, .context = context}, t, NULL);
}

/* ---- what depends on input ---- */

struct shadow_run {
	struct trial_bench *bench;
	struct sym_trace *trace;
	int err;
};

static int shadow_begin(void *context)
{
	return begin(((struct shadow_run *)context)->bench);
}

static void shadow_started(void *context, pid_t pid)
{
	started(((struct shadow_run *)context)->bench, pid);
}

static void shadow_ended(void *context)
{
	ended(((struct shadow_run *)context)->bench);
}

static void read_shadow(void *context, const void *memory, size_t size)
{
	struct shadow_run *r = context;

	r->err = sym_trace_read(r->trace, memory, size);
}

int trial_shadow(struct trial_bench *b, const struct replay_program *shadow, const struct schedule *s,
		 struct trial *t, struct sym_trace *trace)
{
	struct shadow_run run = {b, trace, RD_OK};
	struct replay_request request = request_of(b, s);
	struct replay_program program = {shadow->program, shadow->sites, b->given.argv};
	struct replay_result result = {0};
	int err;

	*trace = (struct sym_trace){0};
	request.program = &program;
	request.server = NULL; /* each input is run once or twice */
	request.begin = shadow_begin;
	request.started = shadow_started;
	request.ended = shadow_ended;
	request.shadow = read_shadow;
	request.context = &run;
	err = replay_run(&request, &result);
	*t = (struct trial){0};
	b->runs++;
	if (!err)
		err = run.err ? run.err : draw_up(b, &result, t);
	replay_result_release(&result);
	return err;
}
