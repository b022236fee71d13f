/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ensures that a command of Raddle leaves no program running, even if the command is killed or
 * crashes.  The process that the user started becomes the guard of a worker process, which does
 * the work.
 */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdbool.h>

/* Splits this process into a worker and its guard.  Call this before any other process is started.
 *
 * In the worker, returns false at once, and the worker continues.  In the guard, returns true
 * after the worker has ended, and stores the worker's wait status in *status.  The guard forwards
 * signals to the worker.  If one of the two dies, the other kills all processes that the command
 * has started. */
bool run_guard(int *status);

#endif
