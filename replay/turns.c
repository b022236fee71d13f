// SPDX-License-Identifier: Apache-2.0
/*
 * Schedules that go on.  In: a program that stands and asks, and a caller who knows how it is to go on; or
 * none, and the plan is only completed by what was not known before the program ran.  Out: a longer plan; in
 * the end what was decided, as a schedule that repeats it.
 *
 * Nothing that the program has written is believed: numbers are checked before they are used as indices.
 */
#include "replay/turns.h"

#include "base/alloc.h"
#include "base/error.h"
#include "trace/event.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(RADDLE_POINTS == 9, "finding/schedule.c has a name for each");

static const char *name_of(struct rd_arena *arena, const struct board *b, uint32_t number)
{
	struct rd_buf name = RD_BUF_INIT;
	const char *copy;

	board_name(b, number, &name);
	copy = rd_arena_strndup(arena, name.data, name.length);
	rd_buf_release(&name);
	return copy;
}

void turns_copy_spot(struct rd_arena *arena, const struct board *b, const struct raddle_steer_spot *from,
		     struct replay_spot *to)
{
	uint32_t count = from->frame_count, slot = from->slot;

	to->thread = name_of(arena, b, slot);
	to->tid = slot < b->count ? b->rows[slot].tid : 0;
	to->site = from->site;
	to->address = from->address;
	to->size = from->size;
	to->n = from->n;
	to->write = from->write;
	to->atomic = from->atomic;
	to->frame_count = count < RADDLE_STEER_FRAMES ? count : RADDLE_STEER_FRAMES;
	memcpy(to->frames, from->frames, sizeof to->frames);
}

/* ---- a program that stands ---- */

static void copy_thread(struct rd_arena *arena, const struct board *b, uint32_t number,
			struct replay_stander *to)
{
	const struct board_row *row = &b->rows[number];
	const struct trace_kind *kind = row->kind < RADDLE_ACCESS ? trace_kind(row->kind) : NULL;

	*to = (struct replay_stander){0};
	if (row->state == RADDLE_SLOT_UNUSED)
		return;
	to->thread = name_of(arena, b, number);
	to->tid = row->tid;
	to->ready = row->ready;
	to->waits = row->state == RADDLE_SLOT_BLOCKED;
	to->ended = row->state == RADDLE_SLOT_ENDED;
	to->kind = kind && kind->name ? kind->name : "";
	to->n = row->n;
	to->object = row->object;
	to->site = row->site;
	to->point = schedule_point_name(row->point);
	to->point_n = row->point_n;
	to->point_count = row->point_count;
}

static uint32_t number_of(const struct replay_stand *stand, const char *thread)
{
	for (uint32_t i = 0; thread && i < stand->thread_count; i++)
		if (stand->threads[i].thread && !strcmp(stand->threads[i].thread, thread))
			return i;
	return RADDLE_STEER_NONE;
}

/* Asks the caller how it goes on. */
static int extend(struct turns *t, const struct board *b, pid_t pid)
{
	struct rd_arena *arena = rd_arena_new();
	struct replay_stander *threads = rd_arena_alloc(arena, (b->count + 1) * sizeof *threads);
	struct replay_stand stand = {.pid = pid,
				     .threads = threads,
				     .thread_count = b->count,
				     .who = t->steer->ask.slot,
				     .taken = atomic_load(&t->steer->past_count)};
	struct replay_spot spot;
	struct schedule more;
	const char *next = NULL;
	int err;

	schedule_init(&more);
	for (uint32_t i = 0; i < b->count; i++)
		copy_thread(arena, b, i, &threads[i]);
	if (t->steer->ask.watch != RADDLE_STEER_NONE) {
		turns_copy_spot(arena, b, &t->steer->ask.spot, &spot);
		stand.spot = &spot;
	}
	if (!t->request->stands(t->request->context, &stand, &more, &next))
		t->steer->flags &= ~(uint32_t)RADDLE_STEER_ASK;
	t->steer->next = number_of(&stand, next);
	if (more.seed)
		t->steer->seed = more.seed;
	err = plan_extend(t->plan, &more, t->request->program->sites);
	schedule_release(&more);
	rd_arena_free(arena);
	return err;
}

bool turns_answer(struct turns *t, const struct board *b, pid_t pid)
{
	struct raddle_steer *s = t->steer;
	uint32_t asks = atomic_load(&s->asks);

	if (!t->plan->schedule->turns || atomic_load(&s->running) != RADDLE_STEER_ASKING ||
	    atomic_load(&s->answers) == asks)
		return false;
	if (!t->err && t->request->stands)
		t->err = extend(t, b, pid);
	if (!t->err)
		t->err = plan_place_globals(t->plan, pid);
	if (!t->err)
		t->err = plan_write_more(t->plan, s);
	if (t->err)
		atomic_store(&s->command, RADDLE_COMMAND_GIVE_UP);
	atomic_store(&s->answers, asks);
	syscall(SYS_futex, &s->answers, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	return true;
}

/* ---- what was decided ---- */

void turns_draw_up(const struct turns *t, const struct board *b, struct replay_turns *out)
{
	struct raddle_steer *s = t->steer;
	uint32_t made = atomic_load(&s->made_count);

	if (!t->plan->schedule->turns)
		return;
	out->complete = made <= RADDLE_STEER_DECISIONS;
	out->made_count = out->complete ? made : RADDLE_STEER_DECISIONS;
	out->made = rd_arena_alloc(t->arena, (out->made_count + 1) * sizeof *out->made);
	out->choices = atomic_load(&s->choices);
	out->trail = atomic_load(&s->trail);
	out->unsure = atomic_load(&s->unsure);
	out->planned = t->plan->decision_count;
	out->taken = atomic_load(&s->past_count);
	if (out->taken > out->planned)
		out->taken = out->planned;
	for (size_t i = 0; i < out->made_count; i++) {
		const struct raddle_steer_decision d = raddle_steer_made(s)[i];
		const char *point = schedule_point_name(d.point);

		out->made[i] = (struct schedule_decision){.thread = name_of(t->arena, b, d.thread),
							  .n = d.n,
							  .point = point ? point : "op",
							  .count = d.count,
							  .next = name_of(t->arena, b, d.next)};
	}
}

/* The schedule as it was, with other decisions and without a seed; through its text, so that it owns its
 * strings. */
int replay_export(const struct schedule *schedule, const struct replay_result *result, struct schedule *out)
{
	struct schedule made = *schedule;
	struct rd_buf text = RD_BUF_INIT;
	int err;

	if (!schedule->turns || !result->turns.complete) {
		schedule_init(out);
		return rd_fail(RD_EFORMAT, "replay: the schedule of the run cannot be written: %s",
			       schedule->turns ? "it took too many decisions" : "its threads took no turns");
	}
	made.decisions = result->turns.made;
	made.decision_count = result->turns.made_count;
	made.seed = 0;
	schedule_format(&made, &text);
	err = schedule_parse(out, text.data, text.length, "the run");
	rd_buf_release(&text);
	return err;
}
