/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: one attempt to settle a finding, in its own process. */
#ifndef REPLAY_SETTLE_WORK_INT_H
#define REPLAY_SETTLE_WORK_INT_H

#include "base/buf.h"
#include "replay/settle.h"
#include "replay/strategy-int.h"

struct settle_work {
	const struct replay_settle *how;
	const struct strategy *strategy; /* the findings, with what is known about them so far */
	const struct strategy_attempt *attempt;
	const char *directory; /* directory for output and trace of the run */
};

/* Makes one attempt to confirm a finding, and appends the result to `answer` as a finding document
 * for strategy_take().  Does not free its memory, because the process ends afterwards.  Returns
 * the exit status of the process. */
int settle_work(const struct settle_work *work, struct rd_buf *answer);

#endif
