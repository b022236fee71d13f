// SPDX-License-Identifier: Apache-2.0
/*
 * The result of a replay.  In: what the runtime wrote to the steering memory, and what the watchdog
 * decided.  Out: struct replay_result.  The program can write to the steering memory, so the counts
 * in it are bounded before they are used.
 */
#include "base/alloc.h"
#include "base/edit.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "replay/explain-int.h"
#include "raddle/written.h"
#include "replay/graph-int.h"
#include "replay/run-int.h"
#include "replay/world-int.h"
#include "trace/event.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *replay_keep(struct replay *r, struct rd_buf *text)
{
	RD_ASSERT(r->result->arena != NULL);
	const char *copy = rd_arena_strndup(r->result->arena, text->data, text->length);

	rd_buf_release(text);
	return copy;
}

const char *replay_thread_name(struct replay *r, const struct board *b, uint32_t number)
{
	struct rd_buf name = RD_BUF_INIT;

	board_name(b, number, &name);
	return replay_keep(r, &name);
}

void replay_report_progress(struct replay *r, uint32_t done)
{
	if (r->request->progress && done > r->reported && done <= r->plan.op_count)
		r->request->progress(r->request->context, r->reported = done);
}

/* ---- threads, waits and races of the run ---- */

void replay_copy_spots(struct replay *r, const struct board *b)
{
	for (uint32_t i = 0; i < r->plan.goal_count; i++)
		turns_copy_spot(r->result->arena, b, &r->steer->spots[i], &r->result->spots[i]);
	r->result->spot_count = r->plan.goal_count;
}

static void copy_held(struct replay *r, const struct board_row *row, struct replay_wait *to)
{
	to->held = rd_arena_alloc(r->result->arena, (row->held_count + 1) * sizeof *to->held);
	for (uint32_t i = 0; i < row->held_count; i++) {
		if (!(row->held[i] & ~1ull))
			continue;
		to->held[to->held_count].address = row->held[i] & ~1ull;
		to->held[to->held_count++].shared = row->held[i] & 1;
	}
}

static void copy_wait(struct replay *r, const struct board *b, uint32_t number, struct replay_wait *to)
{
	RD_ASSERT(number < b->count);
	const struct board_row *row = &b->rows[number];
	struct explainer e = {&r->plan, b, r->request->program->sites, r->watch.pid};
	uint32_t owner = graph_owner(b, r->watch.closed, number);
	struct rd_buf name = RD_BUF_INIT;

	if (row->futex)
		rd_buf_adds(&name, "a futex of a library");
	else if (row->own)
		rd_buf_adds(&name, "descriptors that only the program has");
	else
		explain_object(&e, row, &name);
	to->thread = replay_thread_name(r, b, number);
	to->tid = row->tid;
	to->kind = trace_kind(row->futex ? RADDLE_COND_WAKE
			      : row->own ? RADDLE_CHANNEL_RECEIVE
					 : row->kind)
			   ->name;
	to->n = row->n;
	to->object = row->own ? 0 : row->object;
	to->name = replay_keep(r, &name);
	to->waits_on = owner == RADDLE_STEER_NONE ? NULL : replay_thread_name(r, b, owner);
	to->site = row->own && row->touched ? row->touched : row->site;
	to->planned = watch_at_stop(&r->watch, b, number);
	copy_held(r, row, to);
}

/* Copies names from planned waits to other waits for the same object, because the schedule has
 * better names than the board. */
static void share_names(struct replay_result *result)
{
	for (size_t i = 0; i < result->wait_count; i++)
		for (size_t k = 0; k < result->wait_count && !result->waits[i].planned; k++)
			if (result->waits[k].planned && result->waits[k].object == result->waits[i].object &&
			    !strcmp(result->waits[k].kind, result->waits[i].kind))
				result->waits[i].name = result->waits[k].name;
}

/* Copies the threads that can never continue. */
void replay_copy_waits(struct replay *r, const struct board *b)
{
	RD_ASSERT(r->watch.closed != NULL);
	struct replay_result *result = r->result;
	bool *core = rd_xcalloc(b->count + 1, sizeof *core);

	graph_core(b, r->watch.closed, core);
	result->waits = rd_arena_alloc(result->arena, (b->count + 1) * sizeof *result->waits);
	result->wait_count = 0;
	for (uint32_t i = 0; i < b->count; i++) {
		if (!r->watch.closed[i])
			continue;
		result->waits[result->wait_count].core = core[i];
		copy_wait(r, b, i, &result->waits[result->wait_count++]);
	}
	share_names(result);
	free(core);
}

/* Returns true if the accesses of the race are those of the schedule, in either order. */
static bool is_planned_race(const struct replay *r, const struct raddle_steer_race *race)
{
	const struct raddle_steer_goal *h = r->plan.goals;

	return r->plan.goal_count == 2 && ((race->site[0] == h[0].site && race->site[1] == h[1].site) ||
					   (race->site[0] == h[1].site && race->site[1] == h[0].site));
}

static void copy_races(struct replay *r, const struct board *b)
{
	uint32_t seen = atomic_load(&r->steer->race_count);
	uint32_t count = seen < RADDLE_STEER_RACES ? seen : RADDLE_STEER_RACES;

	r->result->races_seen = seen;
	r->result->races = rd_arena_alloc(r->result->arena, (count + 1) * sizeof *r->result->races);
	for (uint32_t i = 0; i < count; i++) {
		const struct raddle_steer_race *from = &r->steer->races[i];
		struct replay_race *to = &r->result->races[i];

		for (int k = 0; k < 2; k++) {
			to->thread[k] = replay_thread_name(r, b, from->slot[k]);
			to->site[k] = from->site[k];
			to->write[k] = from->write[k];
			to->atomic[k] = from->atomic[k];
		}
		to->address = from->address;
		to->size = from->size;
		to->planned = is_planned_race(r, from);
		r->result->unordered |= to->planned;
	}
	r->result->race_count = count;
	r->result->lacked = atomic_load(&r->steer->lacked);
	r->result->unfit = atomic_load(&r->steer->unfit);
	r->result->held_in = r->watch.held_in;
	r->result->limit = r->watch.limit;
	r->result->detect_over = atomic_load(&r->steer->detect_over) == 1;
}

static void copy_pairs(struct replay *r)
{
	uint32_t seen = atomic_load(&r->steer->pair_count);
	size_t count = seen < RADDLE_STEER_PAIRS ? seen : RADDLE_STEER_PAIRS;
	uint64_t *pairs = rd_arena_alloc(r->result->arena, (count + 1) * sizeof *pairs);

	memcpy(pairs, r->steer->pairs, count * sizeof *pairs);
	r->result->pairs = pairs;
	r->result->pair_count = count;
}

/* Returns true if a thread of the schedule has read a value that another thread wrote without an
 * order.  Then the value, and so the path of the thread, is a matter of chance.  The accesses of
 * the schedule itself do not count, because they come at its end. */
static bool is_chance(const struct replay *r, const struct replay_race *race, int side, const char *strayed)
{
	RD_ASSERT(side == 0 || side == 1);
	const uint32_t *keep = r->steer->keep;

	if (atomic_load(&r->steer->kept) == 1 && (race->site[0] == keep[0] || race->site[0] == keep[1]) &&
	    (race->site[1] == keep[0] || race->site[1] == keep[1]))
		return false;
	return !race->planned && !race->write[side] && race->write[1 - side] &&
	       (!strayed || strcmp(strayed, race->thread[side]) == 0);
}

static void look_for_chance(struct replay *r, const struct board *b)
{
	struct replay_result *result = r->result;
	struct explainer e = {&r->plan, b, r->request->program->sites, 0};
	uint32_t cause = r->steer->difference.cause;
	bool known = cause == RADDLE_CAUSE_KIND || cause == RADDLE_CAUSE_PAST || cause == RADDLE_CAUSE_ENDED;
	const char *strayed = known ? replay_thread_name(r, b, r->steer->difference.slot) : NULL;

	if (result->outcome != REPLAY_DIVERGED && result->outcome != REPLAY_ENDED)
		return;
	for (size_t i = 0; i < 2 * result->race_count && !result->chance; i++) {
		const struct replay_race *race = &result->races[i / 2];
		struct rd_buf text = RD_BUF_INIT;

		if (!is_chance(r, race, (int)(i % 2), strayed))
			continue;
		explain_read(&e, race, (int)(i % 2), &text);
		result->chance = replay_keep(r, &text);
		result->chance_read = race->site[i % 2];
		result->chance_write = race->site[1 - i % 2];
	}
}

/* ---- misuse of freed memory ---- */

static const char *place_of(struct replay *r, uint32_t site)
{
	struct trace_frame frame = trace_sites_frame(r->request->program->sites, site);
	struct rd_buf text = RD_BUF_INIT;

	if (*frame.file)
		rd_buf_addf(&text, "%s:%" PRIu32, rd_base_name(frame.file), frame.line);
	else
		rd_buf_adds(&text, RD_UNKNOWN_PLACE);
	return replay_keep(r, &text);
}

/* Stores the text of the schedule's predicate. */
static void find_predicate(struct replay *r, uint32_t number, struct replay_fault *f)
{
	struct rd_edits edits = {0};
	struct rd_buf predicate = RD_BUF_INIT, place = RD_BUF_INIT;

	if (!rd_edits_parse(&edits, r->request->schedule->edits, "replay") && number < edits.count &&
	    edits.items[number].expression) {
		rd_buf_adds(&predicate, edits.items[number].expression);
		rd_buf_addf(&place, "%s:%" PRIu32, edits.items[number].file, edits.items[number].line);
	}
	f->predicate = replay_keep(r, &predicate);
	f->place = replay_keep(r, &place);
	rd_edits_release(&edits);
}

static void note_predicate(struct replay *r, const struct board *b)
{
	const struct raddle_steer_misuse *f = &r->steer->fault;
	struct rd_buf what = RD_BUF_INIT;

	if (atomic_load(&f->kind) == RADDLE_MISUSE_PREDICATE)
		rd_buf_adds(&what, "does not hold");
	else if (f->address)
		rd_buf_addf(&what, "has no value, because there is no memory at %#" PRIx64, f->address);
	else
		rd_buf_adds(&what, "has no value, because it divides by zero");
	r->result->fault = (struct replay_fault){.thread = replay_thread_name(r, b, f->slot)};
	find_predicate(r, f->edit, &r->result->fault);
	r->result->fault.what = replay_keep(r, &what);
}

static void note_fault(struct replay *r, const struct board *b)
{
	const struct raddle_steer_misuse *f = &r->steer->fault;
	static const char *const words[] = {NULL, "use after free", "double free", REPLAY_OVERRUN,
					    REPLAY_OUTSIDE};
	uint32_t kind = atomic_load(&r->steer->fault.kind);

	r->result->edits = atomic_load(&r->steer->edits);
	r->result->assumed = atomic_load(&r->steer->assumed) == 1;
	if (kind == RADDLE_MISUSE_PREDICATE || kind == RADDLE_MISUSE_UNDEFINED)
		note_predicate(r, b);
	if (kind >= sizeof words / sizeof *words || !words[kind])
		return;
	r->result->fault = (struct replay_fault){
		.what = words[kind],
		.thread = replay_thread_name(r, b, f->slot),
		.freed = f->freed_slot == RADDLE_STEER_NONE ? NULL : replay_thread_name(r, b, f->freed_slot),
		.place = place_of(r, f->site),
		.freed_place = place_of(r, f->freed_site)};
}

/* ---- the verdict ---- */

static void explain(struct replay *r, const struct board *b, bool ended)
{
	struct explainer e = {&r->plan, b, r->request->program->sites, 0};
	struct rd_buf text = RD_BUF_INIT;

	if (ended)
		explain_missing(&e, &text);
	else
		explain_difference(&e, r->steer, &text);
	r->result->explanation = replay_keep(r, &text);
}

/* Explains a run in which all stops were reached, but the threads continued. */
static void explain_passed(struct replay *r)
{
	r->result->explanation = "all threads reached the deadlock, but continued";
}

static bool is_from_outside(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT ||
	       signal == SIGKILL;
}

/* Stores how a run with turns left its schedule, if it did. */
static void look_at_turns(struct replay *r, const struct board *b)
{
	struct explainer e = {&r->plan, b, r->request->program->sites, 0};
	struct replay_turns *turns = &r->result->turns;
	struct rd_buf text = RD_BUF_INIT;

	turns_result(&r->turns, b, turns);
	turns_memory_result(&r->turns, b, &r->result->memory);
	turns->strayed = r->result->memory.strayed;
	if (!r->request->schedule->turns || (b->phase != RADDLE_DIVERGED && turns->taken == turns->planned))
		return;
	if (b->phase == RADDLE_DIVERGED)
		explain_difference(&e, r->steer, &text);
	turns->early = b->phase != RADDLE_DIVERGED;
	if (turns->early)
		rd_buf_addf(&text, "only %" PRIu64 " of %" PRIu64 " decisions were reached", turns->taken,
			    turns->planned);
	if (!turns->strayed)
		turns->strayed = replay_keep(r, &text);
	rd_buf_release(&text);
}

/* Returns true if the run did what the schedule wants.  A meeting counts whatever follows it.
 * Without a goal, all decisions must have been followed. */
static bool has_met(const struct replay *r, const struct board *b)
{
	if (!r->request->schedule->turns)
		return false;
	if (r->plan.goal_count)
		return b->phase == RADDLE_GOES_ON || atomic_load(&r->steer->met) == 1;
	return b->phase == RADDLE_GOES_ON && !r->result->turns.strayed;
}

static void conclude(struct replay *r, const struct board *b)
{
	struct replay_result *result = r->result;
	bool passed = b->phase == RADDLE_MET || b->phase == RADDLE_RUNS_FREE || has_met(r, b);

	/* Both threads were stopped at their accesses; or the schedule is an order, and it was
	 * followed. */
	if (passed && !r->plan.stop_count && !r->request->free) {
		result->outcome = REPLAY_CONFIRMED;
		replay_copy_spots(r, b);
		return;
	}
	if (r->watch.decided) {
		result->outcome = r->watch.outcome;
		if (r->watch.why.length)
			result->explanation = replay_keep(r, &r->watch.why);
		return;
	}
	if (b->phase == RADDLE_DIVERGED)
		result->outcome =
			r->steer->difference.cause == RADDLE_CAUSE_SPINS ? REPLAY_LIVELOCK : REPLAY_DIVERGED;
	else if (result->end == REPLAY_DEADLOCKED)
		result->outcome = REPLAY_DEADLOCK;
	else if (result->end == REPLAY_SIGNALLED)
		result->outcome = is_from_outside(result->status) ? REPLAY_STOPPED : REPLAY_CRASHED;
	else
		result->outcome = result->end == REPLAY_EXITED ? REPLAY_ENDED : REPLAY_STUCK;
	if (passed)
		explain_passed(r);
	else if (r->watch.unled)
		result->explanation = "no two threads reached these places at the same time";
	else if (result->turns.strayed)
		result->explanation = result->turns.strayed;
	else
		explain(r, b, b->phase != RADDLE_DIVERGED);
}

static void note_end(struct replay *r, int status)
{
	struct replay_result *result = r->result;

	result->end = r->killed ? r->watch.end : WIFSIGNALED(status) ? REPLAY_SIGNALLED : REPLAY_EXITED;
	result->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

int replay_fill_result(struct replay *r, int status)
{
	struct replay_result *result = r->result;
	struct board b = {0};

	board_read(&b, r->steer, r->slots);
	note_end(r, status);
	if (!b.count && result->end == REPLAY_EXITED)
		return rd_fail(RD_ETOOL,
			       "replay: %s: it ended with status %d and did not take part in the replay; is "
			       "it a record flavour of this Raddle?",
			       r->request->program->program->flavour.executable, result->status);
	result->planned = r->plan.op_count;
	result->done = b.turn < result->planned ? b.turn : result->planned;
	replay_report_progress(r, b.turn);
	if (r->turns.err)
		return r->turns.err;
	look_at_turns(r, &b);
	obstacle_note_spin(r, &b);
	obstacle_note_lifted(r, &b);
	obstacle_note_refusal(r, &b);
	obstacle_note_passed(r, &b);
	note_fault(r, &b);
	if (atomic_load(&r->steer->crash.signal))
		memcpy(result->crash_places, r->steer->crash.places, sizeof result->crash_places);
	conclude(r, &b);
	result->observable =
		!r->watch.in_io && (result->outcome == REPLAY_LIVELOCK ||
				    result->outcome == REPLAY_DIVERGED || result->outcome == REPLAY_ENDED);
	result->in_memory = result->outcome == REPLAY_LIVELOCK && r->watch.in_memory;
	copy_races(r, &b);
	copy_pairs(r);
	look_for_chance(r, &b);
	replay_copy_written(raddle_written_before(r->slots), result);
	if (r->world)
		replay_world_result(r->world, run_session_outside(&r->session), result->arena,
				    &result->outside);
	board_release(&b);
	return 0;
}
