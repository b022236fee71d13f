/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: one attempt at settling a finding, in a process made for it. */
#ifndef REPLAY_SETTLE_WORK_H
#define REPLAY_SETTLE_WORK_H

#include "base/buf.h"
#include "replay/settle.h"
#include "replay/strategy.h"

struct settle_work {
	const struct replay_settle *how;
	const struct strategy *strategy; /* which has the findings, and what is known so far */
	const struct strategy_attempt *attempt;
	const char *directory; /* for output and trace of the run */
};

/* Adds the result to the answer: a finding document, for strategy_take().  Nothing is released, the process
 * is to end; the result is its exit status. */
int settle_work(const struct settle_work *work, struct rd_buf *answer);

#endif
