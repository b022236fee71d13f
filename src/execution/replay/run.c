// SPDX-License-Identifier: Apache-2.0
/*
 * One replay: plan, session, program, watch, verdict.  In: a request.  Out: a result.
 *
 * The loop is the collector's (record/collector.h); it calls back about each 20 ms, and there
 * the slots are read and the watchdog says what to do.  What the program shares
 * with us stays mapped after its end, so the verdict is drawn up then, from what
 * the runtime wrote and what the watchdog decided.
 *
 * Only the process that was started here is ever killed, and those of its
 * descendants that it announced in the session.
 */
#include "replay/replay.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/edit.h"
#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "record/collector.h"
#include "record/prepare.h"
#include "replay/graph.h"
#include "replay/turns.h"
#include "replay/watch.h"
#include "replay/world.h"
#include "raddle/shadow.h"
#include "run/launch.h"
#include "run/meter.h"
#include "run/proc.h"
#include "run/session.h"
#include "trace/event.h"
#include "trace/full.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 2000
#define AGAIN 3			  /* runs whose flavour went away */
#define PATIENCE_UNKNOWN_MS 10000 /* where nobody knows how long the program runs */

struct replay {
	const struct replay_request *request;
	struct replay_result *result;
	struct plan plan;
	struct run_session session;
	struct replay_world *world; /* that is given back; NULL: none */
	struct record_collector *collector;
	struct raddle_steer *steer;
	struct raddle_slot *slots;
	struct watch watch;
	struct turns turns;
	struct board board; /* memory for the next look */
	bool gave_up, stays, killed;
	const char *refused; /* the name of what a thread was refused; NULL: nothing, as far as known */
	uint32_t waiter;   /* who waits in the operation that was in the way, if only those who stand can end
			      that; NONE */
	uint64_t waiter_n; /* and its number */
	unsigned first;
	uint32_t told; /* operations that `progress` knows of */
};

static uint64_t now_ms(void)
{
	return (uint64_t)rd_now_ns() / 1000000u;
}

static const char *keep(struct replay *r, struct rd_buf *text)
{
	const char *copy = rd_arena_strndup(r->result->arena, text->data, text->length);

	rd_buf_release(text);
	return copy;
}

static const char *thread_name(struct replay *r, const struct board *b, uint32_t number)
{
	struct rd_buf name = RD_BUF_INIT;

	board_name(b, number, &name);
	return keep(r, &name);
}

/* ---- ending ---- */

static void kill_program(struct replay *r, pid_t pid)
{
	if (!r->killed)
		run_session_kill(&r->session, pid);
	r->killed = true;
}

static void command(struct replay *r, enum raddle_command what)
{
	atomic_store(&r->steer->command, what);
	syscall(SYS_futex, &r->steer->command, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* ---- what stands ---- */

static void copy_spots(struct replay *r, const struct board *b)
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
	const struct board_row *row = &b->rows[number];
	struct explainer e = {&r->plan, b, r->request->program->sites, r->watch.pid};
	uint32_t owner = graph_owner(b, r->watch.closed, number);
	struct rd_buf name = RD_BUF_INIT;

	if (row->own)
		rd_buf_adds(&name, "descriptors that only the program has");
	else
		explain_object(&e, row, &name);
	to->thread = thread_name(r, b, number);
	to->tid = row->tid;
	to->kind = trace_kind(row->own ? RADDLE_CHANNEL_RECEIVE : row->kind)->name;
	to->n = row->n;
	to->object = row->own ? 0 : row->object;
	to->name = keep(r, &name);
	to->waits_on = owner == RADDLE_STEER_NONE ? NULL : thread_name(r, b, owner);
	to->site = row->own && row->touched ? row->touched : row->site;
	to->planned = watch_at_stop(&r->watch, b, number);
	copy_held(r, row, to);
}

/* The schedule knows better names than we do: what one thread waits for by such a name is called
 * so for all. */
static void share_names(struct replay_result *result)
{
	for (size_t i = 0; i < result->wait_count; i++)
		for (size_t k = 0; k < result->wait_count && !result->waits[i].planned; k++)
			if (result->waits[k].planned && result->waits[k].object == result->waits[i].object &&
			    !strcmp(result->waits[k].kind, result->waits[i].kind))
				result->waits[i].name = result->waits[k].name;
}

/* The threads that can never go on, while the program is still there to be asked. */
static void copy_waits(struct replay *r, const struct board *b)
{
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

/* Whether the two are the accesses of the schedule, in whatever order. */
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
			to->thread[k] = thread_name(r, b, from->slot[k]);
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

/* Whether a thread of the schedule has read what another one wrote without an order: what it found there, and
 * so where it went, is chance.  The accesses of the schedule itself come too late for that. */
static bool is_chance(const struct replay *r, const struct replay_race *race, int side, const char *strayed)
{
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
	const char *strayed = known ? thread_name(r, b, r->steer->difference.slot) : NULL;

	if (result->outcome != REPLAY_DIVERGED && result->outcome != REPLAY_ENDED)
		return;
	for (size_t i = 0; i < 2 * result->race_count && !result->chance; i++) {
		const struct replay_race *race = &result->races[i / 2];
		struct rd_buf text = RD_BUF_INIT;

		if (!is_chance(r, race, (int)(i % 2), strayed))
			continue;
		explain_read(&e, race, (int)(i % 2), &text);
		result->chance = keep(r, &text);
		result->chance_read = race->site[i % 2];
		result->chance_write = race->site[1 - i % 2];
	}
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

/* Where a byte of the session lies in the program's memory; 0: it is not known. */
static uint64_t address_in_program(pid_t pid, uint64_t at)
{
	struct lookup l = {.at = at};

	run_process_mappings(pid, look_in_mapping, &l);
	return l.found;
}

/* ---- what was in the way ---- */

/* Whether nobody but the threads at their accesses is made to stand, and nothing but what these do can end
 * the wait. */
static bool is_for_goals(const struct board *b, const struct board_row *waits)
{
	if (waits->timed || b->strangers || b->others || b->catches ||
	    raddle_class(waits->kind) == RADDLE_CLASS_CHANNEL)
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (board_is_alive(&b->rows[i]) && b->rows[i].state != RADDLE_SLOT_GOAL &&
		    (b->rows[i].state != RADDLE_SLOT_BLOCKED || b->rows[i].timed))
			return false;
	return true;
}

/* The thread that the plan waits for stands in an operation: what it is about, and who has it. */
static void note_block(struct replay *r, const struct board *b)
{
	struct explainer e = {&r->plan, b, r->request->program->sites, r->watch.pid};
	struct replay_obstacle *o = &r->result->obstacle;
	uint32_t position = explain_awaited(&e), owner;
	const struct board_row *row = position == RADDLE_STEER_NONE ? NULL : board_of_plan(b, position);
	struct rd_buf name = RD_BUF_INIT;

	if (!row || row->state != RADDLE_SLOT_BLOCKED)
		return;
	explain_object(&e, row, &name);
	owner = graph_owner(b, NULL, (uint32_t)(row - b->rows));
	*o = (struct replay_obstacle){.thread = thread_name(r, b, (uint32_t)(row - b->rows)),
				      .kind = trace_kind(row->kind)->name,
				      .name = keep(r, &name),
				      .owner = owner == RADDLE_STEER_NONE ? NULL : thread_name(r, b, owner),
				      .site = row->site};
	if (is_for_goals(b, row)) {
		r->waiter = (uint32_t)(row - b->rows);
		r->waiter_n = row->n;
	}
}

/* It went on when who stood was let go. */
static void note_lifted(struct replay *r, const struct board *b)
{
	const struct board_row *row = r->waiter < b->count ? &b->rows[r->waiter] : NULL;

	if (row && r->result->end == REPLAY_EXITED)
		r->result->obstacle.lifted = row->state != RADDLE_SLOT_BLOCKED || row->n > r->waiter_n;
}

/* What it was refused has a name while the program is there to be asked. */
static void name_refused(struct replay *r, const struct board *b)
{
	struct raddle_steer_refusal *f = &r->steer->refusal;
	struct explainer e = {&r->plan, b, r->request->program->sites, r->watch.pid};
	struct rd_buf name = RD_BUF_INIT;
	struct board_row row;

	if (r->refused || b->phase != RADDLE_DIVERGED || !f->kind || f->slot >= b->count)
		return;
	row = b->rows[f->slot];
	row.n = 0; /* the attempt was an earlier operation than the one it is in now */
	row.kind = f->kind;
	row.object = f->object;
	explain_object(&e, &row, &name);
	r->refused = keep(r, &name);
	atomic_store(&f->known, 1);
	syscall(SYS_futex, &f->known, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* It was refused what it tried to take, and went another way or tried again. */
static void note_refusal(struct replay *r, const struct board *b)
{
	const struct raddle_steer_refusal *f = &r->steer->refusal;

	if (b->phase != RADDLE_DIVERGED || !f->kind || f->slot != r->steer->difference.slot)
		return;
	r->result->obstacle = (struct replay_obstacle){.thread = thread_name(r, b, f->slot),
						       .kind = trace_kind(f->kind)->name,
						       .name = r->refused,
						       .owner = thread_name(r, b, f->owner),
						       .site = f->site};
}

/* Which goal stands at that memory; -1: none. */
static int goal_at(const struct replay *r, uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < r->plan.goal_count; i++) {
		const struct raddle_steer_spot *s = &r->steer->spots[i];

		if (size && s->address < address + size && address < s->address + s->size)
			return (int)i;
	}
	return -1;
}

/* It waits in a loop. */
static void note_spin(struct replay *r, const struct board *b)
{
	const struct raddle_steer_spin *spin = &r->steer->spin;
	const struct trace_site *site;

	if (b->phase != RADDLE_DIVERGED || r->steer->difference.cause != RADDLE_CAUSE_SPINS)
		return;
	site = trace_sites_find(r->request->program->sites, spin->site);
	r->result->obstacle =
		(struct replay_obstacle){.thread = thread_name(r, b, spin->slot),
					 .name = site && site->what && *site->what ? site->what : NULL,
					 .site = spin->site,
					 .address = spin->address,
					 .size = spin->size,
					 .goal = goal_at(r, spin->address, spin->size),
					 .lifted = atomic_load(&r->steer->spin.changed) == 1};
}

/* ---- freed memory ---- */

static const char *place_of(struct replay *r, uint32_t site)
{
	const struct trace_sites *sites = r->request->program->sites;
	struct trace_frame frame = {.file = ""};
	struct rd_buf text = RD_BUF_INIT;

	if (trace_sites_find(sites, site))
		trace_sites_frames(sites, site, &frame, 1);
	if (*frame.file)
		rd_buf_addf(&text, "%s:%" PRIu32, rd_base_name(frame.file), frame.line);
	else
		rd_buf_adds(&text, RD_UNKNOWN_PLACE);
	return keep(r, &text);
}

/* The text of a predicate that the schedule is for. */
static void find_predicate(struct replay *r, uint32_t number, struct replay_fault *f)
{
	struct rd_edits edits = {0};
	struct rd_buf predicate = RD_BUF_INIT, place = RD_BUF_INIT;

	if (!rd_edits_parse(&edits, r->request->schedule->edits, "replay") && number < edits.count &&
	    edits.items[number].expression) {
		rd_buf_adds(&predicate, edits.items[number].expression);
		rd_buf_addf(&place, "%s:%" PRIu32, edits.items[number].file, edits.items[number].line);
	}
	f->predicate = keep(r, &predicate);
	f->place = keep(r, &place);
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
	r->result->fault = (struct replay_fault){.thread = thread_name(r, b, f->slot)};
	find_predicate(r, f->edit, &r->result->fault);
	r->result->fault.what = keep(r, &what);
}

static void note_fault(struct replay *r, const struct board *b)
{
	const struct raddle_steer_misuse *f = &r->steer->fault;
	static const char *const words[] = {NULL, "use after free", "double free"};
	uint32_t kind = atomic_load(&r->steer->fault.kind);

	r->result->edits = atomic_load(&r->steer->edits);
	r->result->assumed = atomic_load(&r->steer->assumed) == 1;
	if (kind == RADDLE_MISUSE_PREDICATE || kind == RADDLE_MISUSE_UNDEFINED)
		note_predicate(r, b);
	if (kind >= sizeof words / sizeof *words || !words[kind])
		return;
	r->result->fault = (struct replay_fault){
		.what = words[kind],
		.thread = thread_name(r, b, f->slot),
		.freed = f->freed_slot == RADDLE_STEER_NONE ? NULL : thread_name(r, b, f->freed_slot),
		.place = place_of(r, f->site),
		.freed_place = place_of(r, f->freed_site)};
}

/* ---- the loop ---- */

/* Whoever asked to look at the threads where they met has seen enough. */
static bool has_seen_enough(struct replay *r, pid_t pid)
{
	return r->request->met(r->request->context, pid, r->result, &r->first);
}

/* Out of the place where two threads met. */
static void look_at_meeting(struct replay *r, pid_t pid)
{
	const struct board *b = &r->watch.before;

	if (!r->request->met || b->phase != RADDLE_MET || !r->plan.goal_count)
		return;
	if (!r->stays) {
		uint64_t at = r->session.steer;

		copy_spots(r, b);
		r->result->order_at = address_in_program(pid, at + offsetof(struct raddle_steer, order));
		r->result->command_at = address_in_program(pid, at + offsetof(struct raddle_steer, command));
		r->stays = r->watch.staying = true;
	}
	if (atomic_load(&r->steer->command) == RADDLE_COMMAND_NONE && has_seen_enough(r, pid)) {
		r->steer->order = r->first;
		command(r, RADDLE_COMMAND_GO);
	}
}

/* Whether the run is one of a failure, which somebody wants to look at: there is no place to come to. */
static bool shows_failure(const struct replay *r)
{
	return r->request->met && r->request->schedule->turns && !r->plan.goal_count && !r->plan.stop_count;
}

static void look_at_crash(struct replay *r, pid_t pid)
{
	struct raddle_steer_crash *c = &r->steer->crash;
	const struct board *b = &r->watch.before;
	struct replay_result *result = r->result;

	if (!shows_failure(r) || !atomic_load(&c->signal) || atomic_load(&c->seen))
		return;
	for (uint32_t i = 0; i < b->count && !r->stays; i++)
		if (b->rows[i].tid == c->tid && b->rows[i].state != RADDLE_SLOT_UNUSED)
			result->crash_thread = thread_name(r, b, i);
	result->crash_signal = (int)atomic_load(&c->signal);
	result->crash_tid = c->tid;
	r->stays = r->watch.staying = true;
	if (has_seen_enough(r, pid))
		atomic_store(&c->seen, 1);
}

static void end_program(struct replay *r, pid_t pid)
{
	if (r->watch.end == REPLAY_DEADLOCKED && !r->result->wait_count)
		copy_waits(r, &r->watch.before);
	if (r->request->met &&
	    ((r->watch.decided && r->watch.outcome == REPLAY_CONFIRMED) ||
	     (shows_failure(r) && r->result->wait_count)) &&
	    !has_seen_enough(r, pid))
		return;
	if (r->watch.end == REPLAY_DEADLOCKED && r->request->record_into)
		record_collector_stood(r->collector);
	kill_program(r, pid);
}

static void tell_progress(struct replay *r, uint32_t done)
{
	if (r->request->progress && done > r->told && done <= r->plan.op_count)
		r->request->progress(r->request->context, r->told = done);
}

static void read_board(struct replay *r, pid_t pid)
{
	board_read(&r->board, r->steer, r->slots);
	board_ask_kernel(&r->board, pid);
}

/* A board that was read before the question does not show who stands. */
static void answer(struct replay *r, bool asked_before, pid_t pid)
{
	if (!turns_is_asked(&r->turns))
		return;
	if (!asked_before)
		read_board(r, pid);
	turns_answer(&r->turns, asked_before ? &r->watch.before : &r->board, pid);
}

static void look(void *context, pid_t pid)
{
	struct replay *r = context;
	enum watch_action action;
	bool asked = turns_is_asked(&r->turns);

	r->watch.pid = pid;
	r->watch.interrupted = run_launch_interrupted();
	read_board(r, pid);
	r->board.others = record_collector_alive(r->collector) != 0;
	r->board.handed = r->request->schedule->handed;
	action = watch_step(&r->watch, &r->board, now_ms());
	tell_progress(r, r->watch.before.turn);
	look_at_meeting(r, pid);
	look_at_crash(r, pid);
	name_refused(r, &r->watch.before);
	answer(r, asked, pid);
	if (action == WATCH_GIVE_UP && !r->gave_up) {
		r->gave_up = true;
		note_block(r, &r->watch.before);
		command(r, RADDLE_COMMAND_GIVE_UP);
	}
	if (action == WATCH_END)
		end_program(r, pid);
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
	r->result->explanation = keep(r, &text);
}

/* All stops were reached, but they did not last. */
static void explain_passed(struct replay *r)
{
	r->result->explanation = "all threads reached the deadlock, but went on";
}

static bool is_from_outside(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT ||
	       signal == SIGKILL;
}

/* How a program whose threads took turns came off the way, if it did. */
static void look_at_turns(struct replay *r, const struct board *b)
{
	struct explainer e = {&r->plan, b, r->request->program->sites, 0};
	struct replay_turns *turns = &r->result->turns;
	struct rd_buf text = RD_BUF_INIT;

	turns_draw_up(&r->turns, b, turns);
	turns_draw_memory(&r->turns, b, &r->result->memory);
	turns->strayed = r->result->memory.strayed;
	if (!r->request->schedule->turns || (b->phase != RADDLE_DIVERGED && turns->taken == turns->planned))
		return;
	if (b->phase == RADDLE_DIVERGED)
		explain_difference(&e, r->steer, &text);
	turns->early = b->phase != RADDLE_DIVERGED;
	if (turns->early)
		rd_buf_addf(&text, "only %" PRIu64 " of %" PRIu64 " decisions came up", turns->taken,
			    turns->planned);
	if (!turns->strayed)
		turns->strayed = keep(r, &text);
	rd_buf_release(&text);
}

/* A meeting counts whatever came then; where there is none to come to, all decisions must have been kept. */
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

	/* Both stood at their accesses; or it was an order that was wanted, and it was kept. */
	if (passed && !r->plan.stop_count && !r->request->free) {
		result->outcome = REPLAY_CONFIRMED;
		copy_spots(r, b);
		return;
	}
	if (r->watch.decided) {
		result->outcome = r->watch.outcome;
		if (r->watch.why.length)
			result->explanation = keep(r, &r->watch.why);
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
		result->explanation = "no two threads came to these places at the same time";
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

static int draw_up(struct replay *r, int status)
{
	struct replay_result *result = r->result;
	struct board b = {0};

	board_read(&b, r->steer, r->slots);
	note_end(r, status);
	if (!b.count && result->end == REPLAY_EXITED)
		return rd_fail(RD_ETOOL,
			       "replay: %s: it ended with status %d and did not take part; is it a record "
			       "flavour of this Raddle?",
			       r->request->program->program->flavour.executable, result->status);
	result->planned = r->plan.op_count;
	result->done = b.turn < result->planned ? b.turn : result->planned;
	tell_progress(r, b.turn);
	if (r->turns.err)
		return r->turns.err;
	look_at_turns(r, &b);
	note_spin(r, &b);
	note_lifted(r, &b);
	note_refusal(r, &b);
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
	if (r->world)
		replay_world_draw_up(r->world, run_session_outside(&r->session), result->arena,
				     &result->outside);
	board_release(&b);
	return 0;
}

/* ---- the run ---- */

static void note_times(struct replay *r, const struct run_meter *meter, pid_t pid, int status)
{
	uint64_t start_ms = (uint64_t)meter->started_ns / 1000000u;
	struct run_end end;

	run_meter_stop(meter, pid, status, &end);
	r->result->wall_seconds = (double)end.wall_us / 1e6;
	r->result->cpu_seconds = (double)end.cpu_us / 1e6;
	r->result->met_seconds = r->watch.met_ms ? (double)(r->watch.met_ms - start_ms) / 1e3 : 0;
}

static int run_launched(struct replay *r)
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
	struct run_meter meter;
	int status = 0, err;
	pid_t pid;

	run_meter_start(&meter, NULL, false);
	err = run_launch(&launch, &pid);
	if (err)
		return err;
	if (q->started && !replay_world_has_peers(r->world))
		q->started(q->context, pid);
	err = record_collector_run(r->collector, pid, &status, NULL);
	run_launch_done();
	note_times(r, &meter, pid, status);
	return err ? err : draw_up(r, status);
}

static int run_collected(struct replay *r, struct trace_meta *meta)
{
	const struct replay_request *q = r->request;
	struct record_options options = {.directory = q->record_into,
					 .sites = q->program->program->flavour.sites,
					 .meta = meta,
					 .look = look,
					 .context = r,
					 .look_ms = WATCH_LOOK_MS};
	struct trace_layout *layout = NULL;
	int err = 0;

	if (run_program_has_values(q->program->program->kind) && q->program->sites)
		err = trace_layout_new(&layout, q->program->sites);
	options.layout = layout;
	if (!err && q->begin)
		err = q->begin(q->context);
	if (!err)
		err = record_collector_open(&r->collector, &r->session, &options);
	if (!err)
		err = run_launched(r);
	if (q->ended)
		q->ended(q->context);
	if (r->collector)
		record_collector_close(r->collector);
	trace_layout_free(layout);
	return err;
}

/* The number behind a word of a file; UINT64_MAX: there is none. */
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

/* What the detector may use: half of what is free here and in our control group. */
static uint64_t detector_memory(void)
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
	       (r->request->schedule->turns && r->request->stands ? RADDLE_STEER_ASK | RADDLE_STEER_ASK_START
								  : 0u) |
	       (r->request->schedule->looks ? RADDLE_STEER_LOOK : 0u) |
	       (r->request->schedule->notes ? RADDLE_STEER_NOTE : 0u) |
	       (r->request->met && r->plan.goal_count ? RADDLE_STEER_STAY : 0u) |
	       (shows_failure(r) ? RADDLE_STEER_SHOW : 0u);
}

static void set_patience(struct replay *r)
{
	const struct replay_request *q = r->request;
	uint64_t patience = q->patience_ms;

	if (!patience)
		patience = q->recorded_ms ? 4 * q->recorded_ms : PATIENCE_UNKNOWN_MS;
	if (!q->patience_ms && patience < PATIENCE_MS)
		patience = PATIENCE_MS;
	r->watch.patience_ms = patience;
	r->watch.strict = q->strict;
	r->watch.most = q->most;
	r->watch.limit_ms = q->limit_ms ? q->limit_ms : 10 * patience;
}

/* What came to the recorded run from outside comes again. */
static int give_world(struct replay *r)
{
	int err = r->world ? run_session_world(&r->session, replay_world_size(r->world)) : 0;

	if (r->world && !err)
		replay_world_write(r->world, run_session_outside(&r->session), !r->request->streams);
	return err;
}

static int run_planned(struct replay *r)
{
	const struct replay_program *p = r->request->program;
	struct trace_meta meta = {0};
	int err = run_session_open(&r->session, p->program->path, plan_size(&r->plan));

	if (err)
		return err;
	err = give_world(r);
	if (!err && r->request->shadow)
		err = run_session_shadow(&r->session);
	if (err) {
		run_session_close(&r->session);
		return err;
	}
	r->session.shared->discard = !r->request->record_into;
	r->steer = run_session_steer(&r->session);
	plan_write(&r->plan, r->steer, flags(r), plan_first(&r->plan, r->request->first));
	if (r->request->explore && r->request->schedule->memory)
		plan_explore(&r->plan, r->request->explore, raddle_steer_memory(r->steer));
	r->steer->strategy = r->request->strategy.kind;
	r->steer->depth = r->request->strategy.depth;
	r->steer->length = r->request->strategy.length;
	r->steer->most = r->request->most;
	r->turns = (struct turns){r->request, &r->plan, r->steer, r->result->arena, 0};
	r->steer->detect_memory = detector_memory();
	memcpy(r->steer->keep, r->request->schedule->keep, sizeof r->steer->keep);
	r->slots = raddle_steer_slots(r->steer); /* before the program can change where they are */
	if (r->request->free)
		atomic_store(&r->steer->phase, RADDLE_RUNS_FREE);
	watch_start(&r->watch, &r->plan, p->sites);
	r->watch.unled = r->request->schedule->anywhere;
	set_patience(r);
	record_prepare_meta(&meta, p->program, p->argv);
	err = run_collected(r, &meta);
	if (!err && r->world && r->request->record_into)
		err = replay_world_copy(r->request->schedule->trace, r->request->record_into);
	if (!err && r->request->shadow)
		r->request->shadow(r->request->context, (char *)r->session.shared + r->session.shadow,
				   RADDLE_SHADOW_SIZE);
	record_release_meta(&meta);
	watch_release(&r->watch);
	board_release(&r->board);
	run_session_close(&r->session);
	return err;
}

static int run_once(const struct replay_request *request, struct replay_result *result)
{
	struct replay r = {
		.request = request, .result = result, .first = request->first, .waiter = RADDLE_STEER_NONE};
	int err;

	*result = (struct replay_result){.arena = rd_arena_new()};
	err = plan_compile(&r.plan, request->schedule, request->program->sites);
	if (!err && request->schedule->trace && !request->no_world)
		err = replay_world_open(&r.world, request->schedule->trace);
	for (size_t i = 0; i < request->strategy.weight_count && !err; i++)
		err = plan_expect(&r.plan, request->strategy.weights[i].thread,
				  request->strategy.weights[i].points);
	if (!err && request->record_into)
		err = record_prepare_directory(request->record_into, true);
	if (!err)
		err = run_planned(&r);
	plan_release(&r.plan);
	replay_world_close(r.world);
	if (err)
		replay_result_release(result);
	return err;
}

/* A run whose flavour went away under it says nothing, however it ended. */
int replay_run(const struct replay_request *request, struct replay_result *result)
{
	const struct run_program *program = request->program->program;
	int err = run_once(request, result);

	for (int i = 0; i < AGAIN && !rd_flavour_is_there(&program->flavour); i++) {
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
