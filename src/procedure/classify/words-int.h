/* SPDX-License-Identifier: Apache-2.0 */
/* Inside classify/: sentences about what runs of a race showed. */
#ifndef CLASSIFY_WORDS_INT_H
#define CLASSIFY_WORDS_INT_H

#include "base/buf.h"
#include "classify/adhoc-int.h"
#include "classify/decide-int.h"
#include "classify/weaken-int.h"

/* Two runs, and the lines that are not compared. */
struct words_outputs {
	const struct trial *runs[2];
	const struct trial_mask *mask;
};

/* Describes where two outputs first differ: the stream, the line and both texts.  If no line
 * differs, describes how both runs ended.  `otherwise` is a phrase that states when the second
 * output occurs. */
void words_difference(struct rd_buf *out, const struct words_outputs *o, const char *otherwise);

/* Describes the run that shows a class and, if there is one, the run that it is compared with. */
void words_seen(struct rd_buf *out, const struct schedule *race, const struct decide_runs *runs,
		const struct decision *d, const struct trial_mask *mask);

/* Describes what a run under a weaker memory model did. */
void words_weakened(struct rd_buf *out, const struct schedule *race, const struct decide_runs *usual,
		    const struct weakened *r, const struct trial_mask *mask);

/* Describes what keeps the two accesses in one order. */
void words_adhoc(struct rd_buf *out, const struct schedule *race, const struct adhoc *a);

#endif
