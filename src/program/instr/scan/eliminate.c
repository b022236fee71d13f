/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds redundant events.  A segment is what a thread does between two operations.  In a trace,
 * one read and one write of a byte represent all accesses to that byte in the same segment
 * (doc/format/trace.md).  The runtime drops the others.  This code finds the events that the
 * runtime would drop in every run. ir/redundant.h defines the rule, and number.c determines which
 * bytes are the same.
 */
#include "base/error.h"
#include "instr/scan/event.h"
#include "instr/scan/number.h"

#include "base/alloc.h"

#include <stdlib.h>

static bool is_plain(const struct instr_event *event)
{
	return event->size != 0 && event->libc == NULL &&
	       (event->kind == EVENT_READ || event->kind == EVENT_WRITE || event->kind == EVENT_RANGE_READ ||
		event->kind == EVENT_RANGE_WRITE);
}

static bool forgets(const struct instr_event *event)
{
	switch (event->kind) {
	case EVENT_ATOMIC_LOAD:
	case EVENT_ATOMIC_STORE:
	case EVENT_ATOMIC_RMW:
	case EVENT_ATOMIC_CAS:
	case EVENT_FENCE:
	case EVENT_FORGET: return true;
	case EVENT_CALL: return event->flags & EVENT_SYNCS;
	default: return false;
	}
}

bool instr_keeps_redundant(const struct instr_unit *u, const struct facts_loops *loops, uint32_t block)
{
	return u->options->flavour->number == RADDLE_FLAVOUR_SHADOW && loops->innermost[block] == FACTS_NONE;
}

void instr_eliminate(struct instr_function *f)
{
	RD_ASSERT(f->count == 0 || f->events != NULL);
	struct facts_loops loops;
	struct instr_numbering *n = instr_numbering_new(f->unit->layout);
	struct ir_step *steps = rd_xcalloc(f->count + 1, sizeof *steps);
	struct instr_event **events = rd_xcalloc(f->count + 1, sizeof *events);
	bool *redundant = rd_xcalloc(f->count + 1, sizeof *redundant);
	struct ir_steps all = {.items = steps};
	for (size_t i = 0; i < f->count; i++) {
		struct instr_event *event = &f->events[i];
		struct ir_step step = {.block = event->block, .kind = IR_STEP_FORGET};
		if (is_plain(event)) {
			step.key = instr_numbering_key(n, event->pointer, event->size);
			bool read = event->kind == EVENT_READ || event->kind == EVENT_RANGE_READ;
			step.kind = read ? IR_STEP_READ : IR_STEP_WRITE;
		} else if (!forgets(event)) {
			continue;
		}
		steps[all.count] = step;
		events[all.count++] = event;
	}
	all.keys = instr_numbering_keys(n, &all.key_count);
	ir_redundant(&f->cfg.graph, &all, redundant);
	facts_graph_dominators(&f->cfg.graph);
	facts_loops_init(&loops, &f->cfg.graph);
	for (size_t i = 0; i < all.count; i++)
		if (redundant[i] && !(events[i]->flags & EVENT_WAIT_LOOP) &&
		    !instr_keeps_redundant(f->unit, &loops, events[i]->block))
			events[i]->flags |= EVENT_REDUNDANT;
	facts_loops_release(&loops);
	RD_FREE(steps, events, redundant);
	instr_numbering_free(n);
}
