/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: who waits for whom, and whether it can ever end. */
#ifndef REPLAY_GRAPH_H
#define REPLAY_GRAPH_H

#include "replay/board.h"

/* Marks, with a place for each row, the threads that can never go on whatever the
 * others do; returns how many. */
size_t graph_closed(const struct board *b, bool *closed);

/* Of those, the ones that are the cause: on a cycle of owners, or waiting for a
 * notification that nobody is left to give. */
void graph_core(const struct board *b, const bool *closed, bool *core);

/* The thread that has what this one waits for; RADDLE_STEER_NONE: nobody in particular.  Of
 * several it is one that is closed, if there is one; `closed` may be NULL. */
uint32_t graph_owner(const struct board *b, const bool *closed, uint32_t number);

#endif
