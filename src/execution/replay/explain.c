// SPDX-License-Identifier: Apache-2.0
/*
 * Describes what happened: the thread, its operation, the place, and what was expected and found.
 * In: plan, board, site table.  Out: parts of sentences without a full stop.  Numbers on the board
 * come from the program, so they are checked before they are used as indices.
 */
#include "replay/explain-int.h"

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"
#include "replay/graph-int.h"
#include "replay/replay.h"
#include "run/proc.h"
#include "trace/event.h"

#include <inttypes.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

static const char *kind_name(uint32_t kind)
{
	const char *name = kind && kind < RADDLE_ACCESS ? trace_kind(kind)->name : NULL;

	return name ? name : "an operation";
}

/* Appends a place: "counter.c:12", or "an unknown place". */
static void explain_place(const struct explainer *e, uint32_t site, struct rd_buf *out)
{
	const struct trace_site *s = trace_sites_find(e->sites, site);
	const char *file = s ? rd_base_name(trace_sites_file(e->sites, s->file)) : "";

	if (*file)
		rd_buf_addf(out, "%s:%" PRIu32, file, s->line);
	else
		rd_buf_adds(out, RD_UNKNOWN_PLACE);
}

/* ---- objects ---- */

static const char *planned_object(const struct explainer *e, const struct board_row *row)
{
	const char *thread = plan_thread_name(e->plan, row->thread);
	const struct schedule *s = e->plan->schedule;
	const struct schedule_stop *stop = plan_stop(e->plan, thread);

	if (stop && stop->n == row->n)
		return stop->object;
	for (size_t i = 0; i < s->op_count; i++)
		if (s->ops[i].n == row->n && !strcmp(s->ops[i].thread, thread))
			return s->ops[i].object;
	return NULL;
}

static bool is_position_independent(const char *path)
{
	Elf64_Ehdr header;

	return rd_file_head(path, &header, sizeof header) != sizeof header || header.e_type == ET_DYN;
}

struct module {
	const char *name;
	uint64_t bias;
};

static bool is_first_mapping(void *context, const struct run_mapping *m)
{
	struct module *module = context;

	if (m->offset || strcmp(m->name, module->name) != 0)
		return false;
	module->bias = is_position_independent(m->name) ? m->start : 0;
	return true;
}

bool explain_bias(pid_t pid, const char *name, uint64_t *bias)
{
	RD_ASSERT(name != NULL && bias != NULL);
	struct module module = {.name = name};
	bool mapped = run_process_mappings(pid, is_first_mapping, &module);

	*bias = module.bias;
	return mapped;
}

static bool add_global(const struct explainer *e, uint64_t address, struct rd_buf *out)
{
	struct module module = {.name = ""};
	bool mapped = false;

	for (size_t i = 0; e->pid && e->sites && i < e->sites->placed_count; i++) {
		const struct trace_placed *p = &e->sites->placed[i];
		const struct trace_global *g;

		if (strcmp(module.name, p->module) != 0) {
			module.name = p->module;
			mapped = run_process_mappings(e->pid, is_first_mapping, &module);
		}
		if (!mapped || address - module.bias - p->offset >= p->size)
			continue;
		g = trace_sites_global(e->sites, p->linkage);
		rd_buf_adds(out, g && *g->name ? g->name : p->linkage);
		if (address - module.bias != p->offset)
			rd_buf_addf(out, "+%" PRIu64, address - module.bias - p->offset);
		return true;
	}
	return false;
}

void explain_object(const struct explainer *e, const struct board_row *row, struct rd_buf *out)
{
	const char *planned = planned_object(e, row);

	if (row->kind == RADDLE_THREAD_JOIN && row->object < e->board->count)
		board_name(e->board, (uint32_t)row->object, out);
	else if (planned)
		rd_buf_adds(out, planned);
	else if (!add_global(e, row->object, out))
		rd_buf_addf(out, "0x%" PRIx64, row->object);
}

/* ---- threads ---- */

static void add_held_up(const struct explainer *e, const struct board_row *row, struct rd_buf *out)
{
	uint32_t number = (uint32_t)(row - e->board->rows), owner = graph_owner(e->board, NULL, number);

	rd_buf_addf(out, "waits in %s of ", kind_name(row->kind));
	explain_object(e, row, out);
	rd_buf_adds(out, " at ");
	explain_place(e, row->site, out);
	if (owner == RADDLE_STEER_NONE || row->kind == RADDLE_THREAD_JOIN)
		return;
	rd_buf_adds(out, owner == number ? ", which it holds itself" : ", which ");
	if (owner == number)
		return;
	board_name(e->board, owner, out);
	rd_buf_adds(out, " holds");
}

static void add_doing(const struct explainer *e, const struct board_row *row, struct rd_buf *out)
{
	switch (row->state) {
	case RADDLE_SLOT_BLOCKED: add_held_up(e, row, out); return;
	case RADDLE_SLOT_ENDED: rd_buf_addf(out, "has ended after %" PRIu64 " operations", row->n); return;
	case RADDLE_SLOT_GATE:
		rd_buf_addf(out, "is stopped before %s (operation %" PRIu64 ") at ", kind_name(row->kind),
			    row->n);
		break;
	case RADDLE_SLOT_LIMIT:
	case RADDLE_SLOT_STOP:
	case RADDLE_SLOT_GOAL: rd_buf_adds(out, "is stopped at "); break;
	default:
		rd_buf_addf(out, "%s after its operation %" PRIu64 ", %s at ",
			    e->pid && board_is_on_cpu(e->pid, row->tid) ? "runs" : "sleeps", row->n,
			    kind_name(row->kind));
	}
	explain_place(e, row->site, out);
}

/* ---- steps that do not happen ---- */

/* Returns the index in the plan of the first thread that has not reached its stop or goal. */
static uint32_t missing_end(const struct explainer *e)
{
	for (uint32_t i = 0; i < e->plan->thread_count; i++) {
		const struct raddle_steer_thread *t = &e->plan->threads[i];
		const struct board_row *row = board_of_plan(e->board, i);
		uint32_t there = t->stop != RADDLE_STEER_NONE ? RADDLE_SLOT_STOP : RADDLE_SLOT_GOAL;

		if (t->stop == RADDLE_STEER_NONE && t->goal == RADDLE_STEER_NONE)
			continue;
		if (!row || row->state != there)
			return i;
	}
	return RADDLE_STEER_NONE;
}

static bool ops_are_left(const struct explainer *e)
{
	return e->board->turn < e->plan->op_count;
}

uint32_t explain_awaited(const struct explainer *e)
{
	const char *thread;
	uint32_t position;

	if (!ops_are_left(e))
		return missing_end(e);
	thread = e->plan->turns[e->board->turn]->thread;
	return rd_names_find(&e->plan->names, thread, strlen(thread), &position) ? position
										 : RADDLE_STEER_NONE;
}

static void add_planned(const char *kind, const char *object, const struct schedule_place *place,
			struct rd_buf *out)
{
	rd_buf_adds(out, kind);
	if (object)
		rd_buf_addf(out, " of %s", object);
	if (place->file)
		rd_buf_addf(out, " at %s:%" PRIu32, rd_base_name(place->file), place->line);
}

static void add_access(const struct schedule_goal *h, struct rd_buf *out)
{
	rd_buf_adds(out, h->write ? "write" : "read");
	if (h->object)
		rd_buf_addf(out, " of %s", h->object);
	if (h->place.file)
		rd_buf_addf(out, " at %s:%" PRIu32, rd_base_name(h->place.file), h->place.line);
}

static const struct schedule_goal *goal_of(const struct explainer *e, const char *thread)
{
	const struct schedule *s = e->plan->schedule;

	for (size_t i = 0; i < s->goal_count; i++)
		if (!strcmp(s->goals[i].thread, thread))
			return &s->goals[i];
	return NULL;
}

/* Appends the expected step: "T_0_1 should do its operation 5, mutex-lock of m at x.c:3". */
static void add_expected(const struct explainer *e, uint32_t position, struct rd_buf *out)
{
	const char *thread = plan_thread_name(e->plan, position);
	const struct schedule_goal *h = goal_of(e, thread);
	const struct schedule_stop *t = plan_stop(e->plan, thread);

	rd_buf_addf(out, "%s should ", thread);
	if (ops_are_left(e)) {
		const struct schedule_op *op = e->plan->turns[e->board->turn];

		rd_buf_addf(out, "do its operation %" PRIu64 ", ", op->n);
		add_planned(op->kind, op->object, &op->place, out);
	} else if (h) {
		rd_buf_adds(out, "reach its ");
		add_access(h, out);
	} else if (t) {
		rd_buf_addf(out, "reach its operation %" PRIu64 ", ", t->n);
		add_planned(t->kind, t->object, &t->place, out);
	}
}

void explain_missing(const struct explainer *e, struct rd_buf *out)
{
	uint32_t position = explain_awaited(e);
	const struct board_row *row;

	if (position == RADDLE_STEER_NONE) {
		rd_buf_adds(out, "all threads reached their places, but nothing happened");
		return;
	}
	add_expected(e, position, out);
	row = board_of_plan(e->board, position);
	rd_buf_adds(out, ", but ");
	if (row)
		add_doing(e, row, out);
	else
		rd_buf_adds(out, "it was not created");
}

/* ---- differences that the runtime reported ---- */

static void add_found(const struct explainer *e, const struct raddle_steer_difference *d, struct rd_buf *out)
{
	rd_buf_addf(out, "%s at ", kind_name(d->found));
	explain_place(e, d->site, out);
}

/* Appends the operation of the schedule that the thread did not do. */
static void add_wanted(const struct explainer *e, const char *thread, const struct raddle_steer_difference *d,
		       struct rd_buf *out)
{
	const struct schedule *s = e->plan->schedule;
	const struct schedule_stop *t = plan_stop(e->plan, thread);

	for (size_t i = 0; i < s->op_count; i++) {
		if (s->ops[i].n == d->n && !strcmp(s->ops[i].thread, thread)) {
			add_planned(s->ops[i].kind, s->ops[i].object, &s->ops[i].place, out);
			return;
		}
	}
	if (t && t->n == d->n)
		add_planned(t->kind, t->object, &t->place, out);
	else
		rd_buf_adds(out, kind_name(d->expected));
}

static void add_apart(const struct explainer *e, const struct raddle_steer *steer, struct rd_buf *out)
{
	const struct raddle_steer_spot *a = &steer->spots[0], *b = &steer->spots[1];

	rd_buf_adds(out, "both threads reached their accesses, but ");
	if (!a->write && !b->write) {
		rd_buf_adds(out, "neither writes");
		return;
	}
	for (int i = 0; i < RADDLE_STEER_GOALS; i++) {
		const struct raddle_steer_spot *s = &steer->spots[i];

		board_name(e->board, s->slot, out);
		rd_buf_addf(out, " %s %" PRIu64 " bytes at 0x%" PRIx64 "%s", s->write ? "writes" : "reads",
			    s->size, s->address, i ? "" : " and ");
	}
}

/* Appends a decision that could not be followed: "decision 2 of 5 was that T_0_1 runs next at point
 * wait 1 of T_0_2 after its operation 4, but ...". */
static void add_decision(const struct explainer *e, const struct raddle_steer *steer, struct rd_buf *out)
{
	bool missed = steer->difference.cause == RADDLE_CAUSE_MISSED;
	uint32_t past = steer->difference.turn, at = missed ? past : past - 1;
	const struct raddle_steer_decision *d = at < e->plan->decision_count ? &e->plan->decisions[at] : NULL;
	const char *point = d ? schedule_point_name(d->point) : NULL;

	if (!point) {
		rd_buf_adds(out, "a decision could not be followed");
		return;
	}
	rd_buf_addf(out,
		    "decision %" PRIu32 " of %zu was that %s runs next at point %s %" PRIu32
		    " of %s after its operation %" PRIu64,
		    at + 1, e->plan->decision_count, plan_thread_name(e->plan, d->next), point, d->count,
		    plan_thread_name(e->plan, d->thread), d->n);
	if (missed)
		rd_buf_addf(out, ", but it missed that point: it is after its operation %" PRIu64,
			    steer->difference.n);
	else
		rd_buf_adds(out, ", but that thread is not runnable then");
}

void explain_difference(const struct explainer *e, const struct raddle_steer *steer, struct rd_buf *out)
{
	const struct raddle_steer_difference d = steer->difference;
	struct rd_buf name = RD_BUF_INIT;
	const struct schedule_goal *h;

	board_name(e->board, d.slot, &name);
	h = goal_of(e, name.data);
	switch (d.cause) {
	case RADDLE_CAUSE_KIND:
		rd_buf_addf(out, "%s should do ", name.data);
		add_wanted(e, name.data, &d, out);
		rd_buf_addf(out, " as its operation %" PRIu64 ", but did ", d.n);
		add_found(e, &d, out);
		break;
	case RADDLE_CAUSE_PAST:
		rd_buf_addf(out, "%s should reach its ", name.data);
		if (h)
			add_access(h, out);
		rd_buf_addf(out, ", but continued to its operation %" PRIu64 ", ", d.n);
		add_found(e, &d, out);
		break;
	case RADDLE_CAUSE_APART: add_apart(e, steer, out); break;
	case RADDLE_CAUSE_SPINS:
		rd_buf_addf(out, "%s should reach its ", name.data);
		if (h)
			add_access(h, out);
		rd_buf_adds(out, ", but waits in a loop at ");
		explain_place(e, steer->spin.site, out);
		break;
	case RADDLE_CAUSE_MISSED:
	case RADDLE_CAUSE_CANNOT: add_decision(e, steer, out); break;
	case RADDLE_CAUSE_ENDED:
		rd_buf_addf(out,
			    "%s ended after %" PRIu64
			    " operations, before it got to where the schedule leads it",
			    name.data, d.n);
		break;
	default: explain_missing(e, out);
	}
	rd_buf_release(&name);
}

void explain_read(const struct explainer *e, const struct replay_race *race, int side, struct rd_buf *out)
{
	RD_ASSERT(side == 0 || side == 1);
	rd_buf_addf(out, "%s reads at ", race->thread[side]);
	explain_place(e, race->site[side], out);
	rd_buf_addf(out, " what %s writes at ", race->thread[1 - side]);
	explain_place(e, race->site[1 - side], out);
	rd_buf_adds(out, " without an order, so its path is a matter of chance");
}
