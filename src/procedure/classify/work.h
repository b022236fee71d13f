/* SPDX-License-Identifier: Apache-2.0 */
/* Inside classify/: the class of one race, found in a process of its own. */
#ifndef CLASSIFY_WORK_H
#define CLASSIFY_WORK_H

#include "base/buf.h"
#include "classify/classify.h"

#define WORK_RUNS "runs"   /* the statistic of an answer that counts runs */
#define WORK_EDITS "edits" /* and the one with a bit for each edit that some run came to */

/* Adds a finding document with the finding, its class and witnesses.  Returns what a task of a pool does. */
int work_classify(const struct classify *how, const struct finding *f, const char *directory,
		  struct rd_buf *answer);

#endif
