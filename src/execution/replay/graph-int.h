/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: which thread waits for which, and whether the wait can ever end. */
#ifndef REPLAY_GRAPH_INT_H
#define REPLAY_GRAPH_INT_H

#include "replay/board-int.h"

/* Sets the entries in `closed` of the threads that can never continue, whatever the other threads
 * do. `closed` has one entry for each row of the board.  Returns the number of these threads. */
size_t graph_closed(const struct board *b, bool *closed);

/* Marks in `core` those threads of `closed` that cause the rest to wait.  The marked threads
 * either wait in a cycle for each other's locks, or wait for a notification that no remaining
 * thread can give. */
void graph_core(const struct board *b, const bool *closed, bool *core);

/* Returns the thread that owns the object for which thread `number` waits, or RADDLE_STEER_NONE if
 * the object has no single owner.  Prefers an owner that is marked in `closed`, which may be
 * NULL. */
uint32_t graph_owner(const struct board *b, const bool *closed, uint32_t number);

#endif
