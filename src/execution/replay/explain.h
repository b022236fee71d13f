/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: sentences about what a steered program did. */
#ifndef REPLAY_EXPLAIN_H
#define REPLAY_EXPLAIN_H

#include "base/buf.h"
#include "replay/board.h"
#include "replay/plan.h"
#include "trace/sites.h"

#include <sys/types.h>

/* Where the words come from. */
struct explainer {
	const struct plan *plan;
	const struct board *board;
	const struct trace_sites *sites; /* may be NULL */
	pid_t pid;			 /* its memory map names global variables; 0: do not ask */
};

/* All append to `out`. */

/* What the thread waits for, or the address: "m", "T_0_1", "table+40", "0x7f...". */
void explain_object(const struct explainer *e, const struct board_row *row, struct rd_buf *out);

/* What comes next by the plan and does not come, and what the thread does instead. */
void explain_missing(const struct explainer *e, struct rd_buf *out);

/* What a thread may have found in memory that another one wrote without an order: side 0 or 1 of the race
 * reads. */
struct replay_race;
void explain_read(const struct explainer *e, const struct replay_race *race, int side, struct rd_buf *out);

/* The runtime's difference. */
void explain_difference(const struct explainer *e, const struct raddle_steer *steer, struct rd_buf *out);

/* How far a module of a process lies from where it was linked to be; false: it is not mapped. */
bool explain_bias(pid_t pid, const char *module, uint64_t *bias);

/* Which thread of the plan the next step depends on; RADDLE_STEER_NONE: none, all is done. */
uint32_t explain_awaited(const struct explainer *e);

#endif
