// SPDX-License-Identifier: Apache-2.0
/*
 * The watchdog of a replay.  In: boards, about every 20 ms.  Out: a decision to continue, to give
 * up leading the threads, or to kill the program, and the outcome with a sentence that explains it.
 *
 * Three times are kept.  `moved_ms` is when a thread last did an operation or changed its state.
 * `led_ms` is when the plan last advanced, because an operation was done or a thread reached its
 * goal.  `lived_ms` is when anything last happened, even if only an access or use of processor
 * time.
 *
 * While the program is led and no thread runs, waiting threads cannot continue by themselves.
 * After WATCH_STAND_MS, either the owner graph shows a deadlock of the program, or the plan cannot
 * be followed and is abandoned.  If threads run, the plan has `patience` to advance.  If the plan
 * does not advance, and the thread that it waits for has used a processor all that time, then that
 * thread waits in a loop for something that only a stopped thread can do.  Otherwise the cause is
 * unknown.
 *
 * Once all threads are released, a deadlock that persists is certainly a deadlock of the program
 * itself.
 */
#include "replay/watch-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "replay/graph-int.h"
#include "raddle/event.h"
#include "run/own.h"
#include "run/proc.h"

#include <inttypes.h>
#include <stdlib.h>

/* minimum number of ticks in user mode for a spin on memory; one tick could be a rounding error */
#define MEMORY_TICKS 3
/* The runtime stops the threads at exactly the limit of points.  The extent is only read now and
 * then, so it ends a run at this multiple of the limit, and in practice only a run with few points.
 * Set by hand: with a smaller value, the time of the reading would decide where a run ends. */
#define MOST_FACTOR 2
#define MEMORY_SHARE 20 /* minimum ratio of user ticks to kernel ticks for a spin on memory */

void watch_start(struct watch *w, const struct plan *plan, const struct trace_sites *sites)
{
	*w = (struct watch){.plan = plan, .sites = sites, .why = RD_BUF_INIT, .spinner = RADDLE_STEER_NONE};
}

void watch_release(struct watch *w)
{
	board_release(&w->before);
	rd_buf_release(&w->why);
	free(w->closed);
	free(w->own);
	free(w->rest);
}

static void decide(struct watch *w, enum replay_outcome outcome)
{
	w->decided = true;
	w->outcome = outcome;
}

static enum watch_action end_program(struct watch *w, enum replay_end end)
{
	w->ended = true;
	w->end = end;
	return WATCH_END;
}

/* ---- the clocks ---- */

static bool stands_as_planned(const struct board_row *r)
{
	return r->state == RADDLE_SLOT_GOAL || r->state == RADDLE_SLOT_STOP || r->state == RADDLE_SLOT_LIMIT;
}

static void look_at_clocks(struct watch *w, const struct board *b, uint64_t now_ms)
{
	uint64_t led = (uint64_t)b->phase << 48 | (uint64_t)b->turn << 16, lived = 0, steps = 0;

	for (size_t i = 0; i < b->count; i++) {
		const struct board_row *r = &b->rows[i];

		led += stands_as_planned(r);
		lived += r->accesses + r->n + r->ran;
		steps += r->accesses + r->n;
	}
	if (!w->started || board_has_moved(b, &w->before))
		w->moved_ms = now_ms;
	if (!w->started || lived != w->lived)
		w->lived_ms = now_ms;
	if (!w->started || led != w->led)
		w->led_ms = now_ms;
	if (!w->started || steps != w->steps)
		w->step_ms = now_ms;
	w->steps = steps;
	w->start_ms = w->started ? w->start_ms : now_ms;
	w->started = true;
	w->lived = lived;
	w->led = led;
}

/* ---- descriptors ---- */

/* Finding out what can wake a thread that is blocked in the kernel is expensive.  So it is done
 * once, when there has been no progress for a while, and the result is reused until there is
 * progress. */
static void ask_for_own(struct watch *w, const struct board *b)
{
	RD_GROW(w->own, w->own_capacity, b->count + 1);
	for (size_t i = 0; i < b->count; i++)
		w->own[i] = (b->rows[i].state == RADDLE_SLOT_RUNS ||
			     (b->rows[i].state == RADDLE_SLOT_BLOCKED && !b->rows[i].timed &&
			      raddle_class(b->rows[i].kind) == RADDLE_CLASS_CHANNEL)) &&
			    run_waits_for_own(w->pid, (pid_t)b->rows[i].tid);
	w->own_count = b->count;
}

static void look_at_descriptors(struct watch *w, struct board *b, uint64_t now_ms)
{
	uint64_t last = w->lived_ms > w->moved_ms ? w->lived_ms : w->moved_ms;

	if (!w->pid || now_ms - last < WATCH_STAND_MS) {
		w->own_count = 0;
		return;
	}
	if (!w->own_count)
		ask_for_own(w, b);
	for (size_t i = 0; i < w->own_count && i < b->count; i++)
		b->rows[i].own |= w->own[i];
}

/* ---- deadlocks ---- */

static void look_at_closed(struct watch *w, const struct board *b, uint64_t now_ms)
{
	uint64_t signature = 1;

	RD_GROW(w->closed, w->closed_capacity, b->count + 1);
	w->closed_count = graph_closed(b, w->closed);
	for (size_t i = 0; i < b->count; i++)
		if (w->closed[i])
			signature = rd_hash_add(rd_hash_add(rd_hash_add(signature, i), b->rows[i].n),
						b->rows[i].object);
	if (signature != w->closed_signature)
		w->closed_ms = now_ms;
	w->closed_signature = signature;
}

/* Returns how many milliseconds a state that seems final must last before it is treated as
 * final. */
static uint64_t stand_ms(const struct board *b)
{
	return b->stuck ? 0 : b->idle ? WATCH_IDLE_MS : WATCH_STAND_MS;
}

/* Returns true if the deadlock in `closed` has lasted long enough to be reported. */
static bool watch_stands(const struct watch *w, const struct board *b, uint64_t now_ms)
{
	return w->closed_count && now_ms - w->closed_ms >= stand_ms(b);
}

bool watch_at_stop(const struct watch *w, const struct board *b, uint32_t number)
{
	RD_ASSERT(number < b->count);
	const struct board_row *r = &b->rows[number];
	const struct raddle_steer_thread *t;

	if (r->thread >= w->plan->thread_count)
		return false;
	t = &w->plan->threads[r->thread];
	return t->stop != RADDLE_STEER_NONE && r->n == t->stop_n;
}

static bool watch_is_planned(const struct watch *w, const struct board *b)
{
	size_t count = 0;

	for (uint32_t i = 0; i < b->count; i++)
		count += w->closed[i] && watch_at_stop(w, b, i);
	return w->plan->stop_count && count == w->plan->stop_count;
}

/* ---- decisions ---- */

/* Returns true if the thread runs.  A wait with a time limit ends by itself, so a thread in such a
 * wait is treated as running. */
static bool may_run(const struct board_row *r)
{
	return (r->state == RADDLE_SLOT_RUNS && !r->own) || (r->state == RADDLE_SLOT_BLOCKED && r->timed);
}

static bool is_anybody_running(const struct board *b)
{
	for (size_t i = 0; i < b->count; i++)
		if (may_run(&b->rows[i]))
			return true;
	return b->strangers || !b->count;
}

static enum watch_action give_up(struct watch *w, const struct board *b, enum replay_outcome outcome)
{
	struct explainer e = {w->plan, b, w->sites, w->pid};

	decide(w, outcome);
	explain_missing(&e, &w->why);
	return WATCH_GIVE_UP;
}

/* Returns the running thread that the plan waits for, or RADDLE_STEER_NONE.  If the thread that the
 * plan needs has not been created, or waits for a lock, this is its creator, or the owner of the
 * lock. */
static uint32_t find_spinner(const struct watch *w, const struct board *b)
{
	struct explainer e = {w->plan, b, w->sites, 0};
	uint32_t position = explain_awaited(&e), number;
	const struct board_row *row = NULL;

	while (position != RADDLE_STEER_NONE && !(row = board_of_plan(b, position)))
		position = w->plan->threads[position].parent;
	if (!row)
		return RADDLE_STEER_NONE;
	number = (uint32_t)(row - b->rows);
	for (size_t steps = 0; number != RADDLE_STEER_NONE && steps <= b->count; steps++) {
		if (b->rows[number].state == RADDLE_SLOT_RUNS)
			return number;
		number = graph_owner(b, NULL, number);
	}
	return RADDLE_STEER_NONE;
}

/* Decides whether the spinner spins on memory, which it does if it makes no system calls. */
static void look_at_kernel(struct watch *w, const struct board_row *r)
{
	if (w->user == UINT64_MAX) {
		w->user = r->user;
		w->system = r->system;
	}
	w->in_io |= run_task_in_io(w->pid, (pid_t)r->tid);
	w->in_memory = r->user >= w->user + MEMORY_TICKS &&
		       (r->system - w->system) * MEMORY_SHARE <= r->user - w->user;
}

static void look_at_spinner(struct watch *w, const struct board *b, uint64_t now_ms)
{
	uint32_t spinner = find_spinner(w, b);
	uint64_t ran = spinner == RADDLE_STEER_NONE ? 0 : b->rows[spinner].ran;

	if (ran != w->ran && spinner == w->spinner)
		w->spun_ms = now_ms;
	if (spinner != w->spinner || now_ms - w->led_ms < w->patience_ms / 2)
		w->user = UINT64_MAX;
	w->spinner = spinner;
	w->ran = ran;
	if (spinner != RADDLE_STEER_NONE && w->pid && now_ms - w->led_ms >= w->patience_ms / 2)
		look_at_kernel(w, &b->rows[spinner]);
}

/* Returns true if no other thread runs, so that only a stopped thread can end what this thread
 * waits for. */
static bool runs_alone(const struct board *b, uint32_t number)
{
	for (size_t i = 0; i < b->count; i++)
		if (i != number && may_run(&b->rows[i]))
			return false;
	return !b->strangers && !b->others;
}

/* Returns true if the thread that the plan waits for does nothing but yield, and has done so more
 * often than it could in the whole recorded run.  Its loop then waits for a stopped thread, and
 * more patience would change nothing.  This also finds loops in code that Raddle did not compile,
 * because only calls are counted. */
static bool yields_in_vain(struct watch *w, const struct board *b)
{
	const struct board_row *r = w->spinner == RADDLE_STEER_NONE ? NULL : &b->rows[w->spinner];

	if (!r || !runs_alone(b, w->spinner) || w->yielder != w->spinner ||
	    r->accesses + r->n != w->spinner_steps) {
		w->yielder = w->spinner;
		w->spinner_steps = r ? r->accesses + r->n : 0;
		w->spinner_yields = r ? r->yields : 0;
	}
	return r && w->patience_yields && r->yields - w->spinner_yields >= w->patience_yields;
}

/* Returns true if the thread that the plan waits for is the only one that runs, and has slept for longer
 * than it could in the whole recorded run while the plan made no progress. */
static bool sleeps_in_vain(struct watch *w, const struct board *b)
{
	const struct board_row *r = w->spinner == RADDLE_STEER_NONE ? NULL : &b->rows[w->spinner];

	if (!r || !runs_alone(b, w->spinner) || w->sleeper != w->spinner || w->sleeper_led != w->led) {
		w->sleeper = w->spinner;
		w->sleeper_led = w->led;
		w->slept = r ? r->slept : 0;
	}
	return r && w->patience_sleep_ns && r->slept - w->slept >= w->patience_sleep_ns;
}

static bool spins(const struct watch *w, uint64_t now_ms)
{
	return w->spinner != RADDLE_STEER_NONE && w->spun_ms && now_ms - w->spun_ms <= w->patience_ms / 2;
}

static enum watch_action step_leading(struct watch *w, const struct board *b, uint64_t now_ms)
{
	bool stands = watch_stands(w, b, now_ms), running = is_anybody_running(b);

	if (w->interrupted) {
		decide(w, REPLAY_STOPPED);
		rd_buf_adds(&w->why, "it was interrupted");
		return WATCH_GIVE_UP;
	}
	if (stands && (!running || now_ms - w->led_ms >= w->patience_ms)) {
		decide(w, REPLAY_DEADLOCK);
		return end_program(w, REPLAY_DEADLOCKED);
	}
	if (!running && now_ms - w->moved_ms >= (b->stuck ? 0 : WATCH_STAND_MS))
		return give_up(w, b, REPLAY_DIVERGED);
	if (yields_in_vain(w, b) || sleeps_in_vain(w, b))
		return give_up(w, b, REPLAY_LIVELOCK);
	if (now_ms - w->led_ms < w->patience_ms)
		return WATCH_GO_ON;
	return give_up(w, b, spins(w, now_ms) ? REPLAY_LIVELOCK : REPLAY_STUCK);
}

/* Returns the limit that the run has reached, or NONE.  When the runtime reports a limit, it has already
 * stopped all threads, so the run ends even if it has no limit of points. */
static enum replay_limit reached(const struct watch *w, const struct board *b, uint64_t now_ms)
{
	if (b->ran_on == RADDLE_LIMIT_OUTSIDE)
		return REPLAY_LIMIT_OUTSIDE;
	if (b->ran_on || (w->most && b->count > 1 && board_extent(b) >= MOST_FACTOR * w->most))
		return REPLAY_LIMIT_POINTS;
	if (w->late || now_ms - w->start_ms >= w->limit_ms)
		return REPLAY_LIMIT_TIME;
	return w->strict && b->left ? REPLAY_LIMIT_SCHEDULE : REPLAY_LIMIT_NONE;
}

/* Notes how often the threads have yielded, and how long they have slept, when a thread last did an
 * operation or changed its state. */
static void look_at_rest(struct watch *w, const struct board *b)
{
	if (w->rest_count == b->count && !board_has_moved(b, &w->before))
		return;
	RD_GROW(w->rest, w->rest_capacity, b->count + 1);
	for (size_t i = 0; i < b->count; i++)
		w->rest[i] = (struct watch_rest){b->rows[i].yields, b->rows[i].slept};
	w->rest_count = b->count;
}

/* Returns true if each thread that could do an operation has only yielded or slept since the last one,
 * and more than in the whole recorded run.  The program may be in a loop without an end, and waiting
 * for its end would show nothing more. */
static bool only_rests(const struct watch *w, const struct board *b)
{
	uint64_t most_ns = w->patience_sleep_ns > w->patience_ms * 1000000 ? w->patience_sleep_ns
									   : w->patience_ms * 1000000;
	bool any = false;

	for (size_t i = 0; i < b->count; i++) {
		const struct board_row *r = &b->rows[i];

		if (!may_run(r))
			continue;
		any = true;
		if (r->yields - w->rest[i].yields < w->patience_yields &&
		    r->slept - w->rest[i].slept < most_ns)
			return false;
	}
	return any && w->patience_yields && !b->strangers && !b->others;
}

static enum watch_action step_free(struct watch *w, const struct board *b, uint64_t now_ms)
{
	bool stands = watch_stands(w, b, now_ms);

	if (stands && (!is_anybody_running(b) || now_ms - w->closed_ms >= w->patience_ms))
		return end_program(w, REPLAY_DEADLOCKED);
	if (b->livelocked)
		return end_program(w, REPLAY_LIVELOCKED);
	if (now_ms - w->lived_ms >= w->patience_ms)
		return end_program(w, REPLAY_HUNG);
	look_at_rest(w, b);
	w->limit = only_rests(w, b) ? REPLAY_LIMIT_TIME : reached(w, b, now_ms);
	return w->limit ? end_program(w, REPLAY_RAN_ON) : WATCH_GO_ON;
}

static enum watch_action next(struct watch *w, const struct board *b, uint64_t now_ms)
{
	if (w->ended)
		return WATCH_END;
	w->met |= b->phase == RADDLE_MET || b->phase == RADDLE_RUNS_FREE || b->phase == RADDLE_GOES_ON;
	if (watch_stands(w, b, now_ms) && watch_is_planned(w, b)) {
		decide(w, REPLAY_CONFIRMED);
		return end_program(w, REPLAY_DEADLOCKED);
	}
	if (w->staying)
		return WATCH_GO_ON;
	if ((b->held_up && now_ms - w->lived_ms >= WATCH_STAND_MS) ||
	    (b->one && !b->idle && now_ms - w->step_ms >= WATCH_STEP_MS)) {
		w->held_in = b->held_in;
		return end_program(w, REPLAY_HUNG);
	}
	if (b->phase == RADDLE_LEADING && !w->decided && !w->unled)
		return step_leading(w, b, now_ms);
	if (b->phase == RADDLE_GOES_ON && w->interrupted)
		return WATCH_GIVE_UP;
	return step_free(w, b, now_ms);
}

enum watch_action watch_step(struct watch *w, struct board *b, uint64_t now_ms)
{
	RD_ASSERT(w->plan != NULL);
	enum watch_action action;
	struct board old = w->before;

	look_at_clocks(w, b, now_ms);
	look_at_descriptors(w, b, now_ms);
	look_at_closed(w, b, now_ms);
	if (b->phase == RADDLE_LEADING && !w->unled)
		look_at_spinner(w, b, now_ms);
	action = next(w, b, now_ms);
	w->before = *b;
	*b = old;
	return action;
}
