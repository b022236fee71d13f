/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals by which somebody ends a long task: SIGINT, SIGTERM, SIGHUP.  Between begin and end they are kept
 * back, so that the task notices them where it can stop in an orderly way, and nowhere else.  Processes that
 * it starts meanwhile inherit the blocked signals and call rd_interrupt_end() first.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <signal.h>
#include <stdint.h>

struct rd_interrupt {
	sigset_t signals, before;
};

void rd_interrupt_begin(struct rd_interrupt *i);
void rd_interrupt_end(const struct rd_interrupt *i); /* the signals are as they were before */

/* The signal that has come, or comes within that time; 0: none. */
int rd_interrupt_wait(const struct rd_interrupt *i, uint32_t milliseconds);

#endif
