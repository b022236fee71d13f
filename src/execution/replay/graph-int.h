/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: which thread waits for which, and whether the wait can ever end. */
#ifndef REPLAY_GRAPH_INT_H
#define REPLAY_GRAPH_INT_H

#include "replay/board-int.h"

/* Marks the threads that can never continue, whatever the others do, one entry for each row;
 * returns how many. */
size_t graph_closed(const struct board *b, bool *closed);

/* Of those, the cause: threads on a cycle of owners, or waiting for a notification that no thread
 * is left to give. */
void graph_core(const struct board *b, const bool *closed, bool *core);

/* The thread that owns what this one waits for; RADDLE_STEER_NONE: no single owner.  Prefers a
 * closed owner; `closed` may be NULL. */
uint32_t graph_owner(const struct board *b, const bool *closed, uint32_t number);

#endif
