// SPDX-License-Identifier: Apache-2.0
/*
 * Schedules with turns.  In: a program that is stopped and asks, and a callback that decides how it
 * continues.  Without a callback, only the addresses of variables are added to the plan.  Out: a
 * longer plan and, at the end, the decisions that were made, as a schedule that repeats them.
 * Nothing that the program has written is trusted, so numbers are checked before they are used as
 * indices.
 */
#include "replay/turns-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/name.h"
#include "finding/place.h"
#include "trace/event.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(RADDLE_POINTS == 10, "finding/schedule.c has a name for each");

static const char *name_of(struct rd_arena *arena, const struct board *b, uint32_t number)
{
	struct rd_buf name = RD_BUF_INIT;
	const char *copy;

	board_name(b, number, &name);
	copy = rd_arena_strndup(arena, name.data, name.length);
	rd_buf_release(&name);
	return copy;
}

/* Returns the names of all threads, by slot.  They are made once, since a run has many decisions
 * and few threads. */
static const char **name_all(struct rd_arena *arena, const struct board *b)
{
	const char **names = rd_arena_alloc(arena, (b->count + 1) * sizeof *names);

	for (uint32_t i = 0; i < b->count; i++)
		names[i] = name_of(arena, b, i);
	return names;
}

void turns_copy_spot(struct rd_arena *arena, const struct board *b, const struct raddle_steer_spot *from,
		     struct replay_spot *to)
{
	uint32_t count = from->frame_count, slot = from->slot;

	*to = (struct replay_spot){.thread = name_of(arena, b, slot),
				   .tid = slot < b->count ? b->rows[slot].tid : 0,
				   .site = from->site,
				   .address = from->address,
				   .size = from->size,
				   .n = from->n,
				   .write = from->write,
				   .atomic = from->atomic,
				   .frame_count = count < RADDLE_STEER_FRAMES ? count : RADDLE_STEER_FRAMES};
	memcpy(to->frames, from->frames, sizeof to->frames);
}

/* ---- handling a stopped program ---- */

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
	to->arrivals = row->arrivals;
}

static uint32_t number_of(const struct replay_stand *stand, const char *thread)
{
	for (uint32_t i = 0; thread && i < stand->thread_count; i++)
		if (stand->threads[i].thread && !strcmp(stand->threads[i].thread, thread))
			return i;
	return RADDLE_STEER_NONE;
}

/* Asks the callback how to continue. */
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

bool turns_is_asked(const struct turns *t)
{
	const struct raddle_steer *s = t->steer;

	return t->plan->schedule->turns && atomic_load(&s->running) == RADDLE_STEER_ASKING &&
	       atomic_load(&s->answers) != atomic_load(&s->asks);
}

bool turns_answer(struct turns *t, const struct board *b, pid_t pid)
{
	RD_ASSERT(b->count <= RADDLE_SLOTS);
	struct raddle_steer *s = t->steer;
	uint32_t asks = atomic_load(&s->asks);

	if (!turns_is_asked(t))
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

/* ---- decisions of the run ---- */

static struct schedule_place place_of(const struct turns *t, uint32_t site)
{
	return schedule_place_of(NULL, t->request->program->sites, site);
}

/* Copies what the program wrote, because the memory that it shares with the replayer is unmapped
 * before the result is used. */
static const void *copy_memory(struct rd_arena *arena, const void *from, size_t size)
{
	void *copy = rd_arena_alloc(arena, size + 1);

	memcpy(copy, from, size);
	return copy;
}

static void note_runner(const struct turns *t, const struct board *b, struct replay_turns *out)
{
	uint32_t number = atomic_load(&t->steer->running);

	if (number >= b->count || b->rows[number].state == RADDLE_SLOT_UNUSED)
		return;
	out->runner = name_of(t->arena, b, number);
	out->runner_site = b->rows[number].touched;
}

static bool is_on_its_way(const struct board_row *r)
{
	return board_is_alive(r) && r->state != RADDLE_SLOT_BLOCKED;
}

/* Returns the name of a thread.  The program may have written any number, so it is checked. */
static const char *name_at(const struct replay_turns *turns, uint32_t number, struct rd_arena *arena)
{
	char *unknown;
	const char *copy;

	if (number < turns->name_count)
		return turns->names[number];
	unknown = rd_thread_unknown(number);
	copy = rd_arena_strndup(arena, unknown, strlen(unknown));
	free(unknown);
	return copy;
}

static struct schedule_decision decision_of(const struct replay_turns *turns, struct rd_arena *arena,
					    const struct raddle_steer_decision *d)
{
	const char *point = schedule_point_name(d->point);

	return (struct schedule_decision){.thread = name_at(turns, d->thread, arena),
					  .n = d->n,
					  .point = point ? point : "op",
					  .count = d->count,
					  .next = name_at(turns, d->next, arena),
					  .place = schedule_place_of(NULL, turns->sites, d->site)};
}

static void copy_marks(const struct turns *t, struct replay_turns *out)
{
	uint32_t seen = atomic_load(&t->steer->pair_count);
	size_t count = seen < RADDLE_STEER_PAIRS ? seen : RADDLE_STEER_PAIRS;

	out->marks = rd_arena_alloc(t->arena, (count + 1) * sizeof *out->marks);
	for (size_t i = 0; i < count; i++)
		out->marks[i] = (struct replay_mark){t->steer->marks[i].made,
						     decision_of(out, t->arena, &t->steer->marks[i])};
}

void turns_result(const struct turns *t, const struct board *b, struct replay_turns *out)
{
	struct raddle_steer *s = t->steer;
	uint32_t made = atomic_load(&s->made_count), seen = atomic_load(&s->seen_count);
	const char **names;

	if (!t->plan->schedule->turns)
		return;
	names = name_all(t->arena, b);
	out->complete = made <= RADDLE_STEER_DECISIONS;
	out->made_count = out->complete ? made : RADDLE_STEER_DECISIONS;
	out->made = copy_memory(t->arena, raddle_steer_made(s), out->made_count * sizeof *out->made);
	out->names = names;
	out->name_count = b->count;
	out->seen_count = seen < RADDLE_STEER_SEEN ? seen : RADDLE_STEER_SEEN;
	out->seen = copy_memory(t->arena, s->seen, out->seen_count * sizeof *out->seen);
	out->sites = t->request->program->sites;
	out->threads = rd_arena_alloc(t->arena, (b->count + 1) * sizeof *out->threads);
	for (uint32_t i = 0; i < b->count; i++)
		if (b->rows[i].state != RADDLE_SLOT_UNUSED)
			out->threads[out->thread_count++] = (struct replay_weight){
				.thread = names[i],
				.points = b->rows[i].arrivals,
				.site = is_on_its_way(&b->rows[i]) ? b->rows[i].touched : 0};
	note_runner(t, b, out);
	out->extent = board_extent(b);
	out->choices = atomic_load(&s->choices);
	out->trail = atomic_load(&s->trail);
	out->unsure = atomic_load(&s->unsure);
	out->planned = t->plan->decision_count;
	out->taken = atomic_load(&s->past_count);
	if (out->taken > out->planned)
		out->taken = out->planned;
	copy_marks(t, out);
}

/* ---- choices of the memory model ---- */

static const char *over_text(uint32_t why)
{
	switch (why) {
	case RADDLE_MEMORY_HOLDS: return NULL;
	case RADDLE_MEMORY_THREADS: return "the program has more threads than the memory model supports";
	default: return "the program has more locations than the memory model supports";
	}
}

/* Converts a choice of the memory model that is not sequentially consistent. */
static void draw_choice(const struct turns *t, const struct board *b, const struct raddle_choice *c,
			struct schedule_choice *to)
{
	*to = (struct schedule_choice){.at = c->at,
				       .from = c->from,
				       .taken = c->taken,
				       .thread = name_of(t->arena, b, c->slot),
				       .place = place_of(t, c->site)};
}

static void draw_choices(const struct turns *t, const struct board *b, const struct raddle_memory *m,
			 struct replay_memory *out)
{
	uint32_t made = atomic_load(&m->made_count);
	struct raddle_choice *copy;

	out->complete = made <= RADDLE_MEMORY_CHOICES;
	out->made_count = out->complete ? made : RADDLE_MEMORY_CHOICES;
	copy = rd_arena_alloc(t->arena, (out->made_count + 1) * sizeof *copy);
	memcpy(copy, m->made, out->made_count * sizeof *copy);
	out->made = copy;
	out->chosen = rd_arena_alloc(t->arena, (out->made_count + 1) * sizeof *out->chosen);
	for (size_t i = 0; i < out->made_count; i++)
		if (copy[i].taken && copy[i].kind != RADDLE_CHOICE_NEXT)
			draw_choice(t, b, &copy[i], &out->chosen[out->chosen_count++]);
}

void turns_memory_result(const struct turns *t, const struct board *b, struct replay_memory *out)
{
	const struct schedule *s = t->plan->schedule;
	struct raddle_memory *m;
	struct raddle_published *published;
	uint32_t strayed, count;

	if (!s->memory)
		return;
	m = (struct raddle_memory *)((char *)t->steer + t->memory_at);
	draw_choices(t, b, m, out);
	out->choices = atomic_load(&m->choices);
	out->over = over_text(atomic_load(&m->over));
	strayed = atomic_load(&m->strayed);
	if (strayed)
		out->strayed = "a choice of memory had other alternatives than in the schedule";
	else if (atomic_load(&m->past_count) < s->choice_count)
		out->strayed = "the program ended before all choices of memory were reached";
	count = atomic_load(&m->published_count);
	out->published_count = count < RADDLE_MEMORY_SITES ? count : RADDLE_MEMORY_SITES;
	published = rd_arena_alloc(t->arena, (out->published_count + 1) * sizeof *published);
	memcpy(published, m->published, out->published_count * sizeof *published);
	out->published = published;
}

/* Makes the same schedule with the decisions of the run and without a seed. */
int replay_export(const struct schedule *schedule, const struct replay_result *result, size_t most,
		  struct schedule *out)
{
	const struct replay_turns *turns = &result->turns;
	struct schedule made = *schedule;

	if (!schedule->turns || !result->turns.complete || (schedule->memory && !result->memory.complete)) {
		schedule_init(out);
		return rd_fail(RD_EFORMAT, "replay: the schedule of the run cannot be written: %s",
			       schedule->turns ? "it took too many decisions"
					       : "its threads did not take turns");
	}
	made.decision_count = turns->made_count < most ? turns->made_count : most;
	made.decisions = rd_xcalloc(made.decision_count + 1, sizeof *made.decisions);
	for (size_t i = 0; i < made.decision_count; i++)
		made.decisions[i] = decision_of(turns, result->arena, &turns->made[i]);
	made.seed = made.memory_seed = 0;
	made.choices = result->memory.chosen;
	made.choice_count = schedule->memory ? result->memory.chosen_count : 0;
	schedule_copy(out, &made);
	free(made.decisions);
	return RD_OK;
}
