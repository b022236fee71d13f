/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: which thread waits for which, and whether the wait can ever end. */
#ifndef REPLAY_GRAPH_INT_H
#define REPLAY_GRAPH_INT_H

#include "replay/board-int.h"

/* Marks in `closed`, which has one entry per row, the threads that can never continue, whatever the
 * others do.  Returns how many are marked. */
size_t graph_closed(const struct board *b, bool *closed);

/* Marks, among the closed threads, those that cause the others to wait.  These are threads on a
 * cycle of owners, and threads that wait for a notification that no remaining thread can give. */
void graph_core(const struct board *b, const bool *closed, bool *core);

/* Returns the thread that owns the object for which thread `number` waits, or RADDLE_STEER_NONE if
 * the object has no single owner.  Prefers a closed owner; `closed` may be NULL. */
uint32_t graph_owner(const struct board *b, const bool *closed, uint32_t number);

#endif
