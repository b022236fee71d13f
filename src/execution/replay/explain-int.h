/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: sentences about what a steered program did. */
#ifndef REPLAY_EXPLAIN_INT_H
#define REPLAY_EXPLAIN_INT_H

#include "base/buf.h"
#include "replay/board-int.h"
#include "replay/plan.h"
#include "trace/sites.h"

#include <sys/types.h>

/* The data from which the sentences are made. */
struct explainer {
	const struct plan *plan;
	const struct board *board;
	const struct trace_sites *sites; /* may be NULL */
	pid_t pid;			 /* process whose memory map locates global variables, or 0 */
};

/* Functions with a parameter `out` append their text to it. */

/* Appends the object that the thread waits for, by name or address: "m", "T_0_1", "table+40",
 * "0x7f...". */
void explain_object(const struct explainer *e, const struct board_row *row, struct rd_buf *out);

/* Appends which step of the plan does not happen, and what the thread does instead. */
void explain_missing(const struct explainer *e, struct rd_buf *out);

/* Appends a text about a read that is not ordered with another thread's write of the same
 * variable.  `side` is the index of the read in the race, 0 or 1. */
struct replay_race;
void explain_read(const struct explainer *e, const struct replay_race *race, int side, struct rd_buf *out);

/* Appends the difference that the runtime reported. */
void explain_difference(const struct explainer *e, const struct raddle_steer *steer, struct rd_buf *out);

/* Stores the offset between a module's link address and its load address.  Returns false if the
 * module is not mapped. */
bool explain_bias(pid_t pid, const char *module, uint64_t *bias);

/* Returns the thread that must do the next step, as its index in the plan.  Returns
 * RADDLE_STEER_NONE if all steps are done. */
uint32_t explain_awaited(const struct explainer *e);

#endif
