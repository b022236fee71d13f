/* SPDX-License-Identifier: Apache-2.0 */
/* The gates of a slice.  Each gate is an instruction of the program at which events can be
 * recorded.  It has a name by which the instrumenter (instr/track/track.c) knows it. */
#ifndef SKETCH_GATES_H
#define SKETCH_GATES_H

#include "base/buf.h"
#include "sketch/run.h"
#include "slice/slice.h"

struct sketch_gate {
	uint32_t value;	    /* number of the instruction in the facts */
	uint32_t statement; /* its statement in the slice; FACTS_NONE if it is not in the slice */
	/* The nearest statement of the slice that may touch the same memory, according to points-to
	 * sets; FACTS_NONE if there is none. */
	uint32_t near;
	enum slice_kind kind;
};

struct sketch_gates {
	/* The gates of the slice come first, in the order of the slice.  The other gates follow,
	 * sorted by `near`. */
	struct sketch_gate *items;
	size_t count, capacity;
	size_t left_out; /* number of gates beyond the limit */
};

/* Finds the gates that are open in runs that track the first `sigma` statements of the slice, but
 * at most `max` gates.  If `sigma` is 0, all statements are tracked. */
void sketch_gates_find(struct sketch_gates *g, const struct slice *s, uint32_t sigma, size_t max);
void sketch_gates_release(struct sketch_gates *g);

/* Returns the flag with which a gate is opened (enum raddle_track_flag) in a run that tracks the
 * first `sigma` statements, or 0 if the gate stays shut.  If `sigma` is 0, all statements are
 * tracked. */
uint32_t sketch_gate_flag(const struct sketch_gate *gate, uint32_t sigma);

/* Returns true if the gate is at a call that creates a thread.  Such calls are always tracked, to
 * show where a thread came from. */
bool sketch_gate_creates(const struct sketch_gate *gate, const struct facts *f);

/* Sets the flag RADDLE_TRACK_BESIDE of each shut gate whose function has an open gate.  `flags` is
 * indexed by gate. */
void sketch_gates_beside(const struct sketch_gates *g, const struct facts *f, uint8_t *flags);

/* Returns the statement to which an event of that kind at the gate belongs. */
struct slice_statement sketch_gate_statement(const struct sketch_gate *gate, struct slice *s,
					     enum slice_kind kind);
/* Adds to the table of `runs` all statements to which events of the gate may belong. */
void sketch_gate_statements(const struct sketch_gate *gate, struct slice *s, struct sketch_runs *runs);

/* Appends the names of the gates, one per line. */
void sketch_gates_text(const struct sketch_gates *g, const struct facts *f, struct rd_buf *text);

#endif
