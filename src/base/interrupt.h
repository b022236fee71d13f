/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that end a long task: SIGINT, SIGTERM and SIGHUP. They are blocked between
 * rd_interrupt_begin() and rd_interrupt_end(), so that the task can check for them at points where
 * it can stop in an orderly way.  A child process inherits the signal mask, so it must call
 * rd_interrupt_end() before it does anything else.
 */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <signal.h>
#include <stdint.h>

struct rd_interrupt {
	sigset_t signals, before;
};

void rd_interrupt_begin(struct rd_interrupt *i);
void rd_interrupt_end(const struct rd_interrupt *i); /* restores the previous signal mask */

/* Returns the signal that has arrived or arrives within this time, or 0 if there is none. */
int rd_interrupt_wait(const struct rd_interrupt *i, uint32_t milliseconds);

#endif
