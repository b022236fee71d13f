/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: sentences about what a steered program did. */
#ifndef REPLAY_EXPLAIN_INT_H
#define REPLAY_EXPLAIN_INT_H

#include "base/buf.h"
#include "replay/board-int.h"
#include "replay/plan.h"
#include "trace/sites.h"

#include <sys/types.h>

/* Sources for the sentences. */
struct explainer {
	const struct plan *plan;
	const struct board *board;
	const struct trace_sites *sites; /* may be NULL */
	pid_t pid;			 /* its memory map names global variables; 0: not available */
};

/* All append to `out`. */

/* What the thread waits for, or the address: "m", "T_0_1", "table+40", "0x7f...". */
void explain_object(const struct explainer *e, const struct board_row *row, struct rd_buf *out);

/* Which step of the plan does not happen, and what the thread does instead. */
void explain_missing(const struct explainer *e, struct rd_buf *out);

/* Which value a thread may have read that another thread wrote without an order.  Side 0 or 1 of
 * the race is the read. */
struct replay_race;
void explain_read(const struct explainer *e, const struct replay_race *race, int side, struct rd_buf *out);

/* The difference that the runtime reported. */
void explain_difference(const struct explainer *e, const struct raddle_steer *steer, struct rd_buf *out);

/* The offset between a module's link address and its load address; false: it is not mapped. */
bool explain_bias(pid_t pid, const char *module, uint64_t *bias);

/* The thread of the plan that the next step needs; RADDLE_STEER_NONE: all steps are done. */
uint32_t explain_awaited(const struct explainer *e);

#endif
