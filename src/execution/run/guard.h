/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ensures that a command leaves no program running, even if the command is killed or crashes.  The
 * process that the user started becomes the guard of a worker.
 */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdbool.h>

/* Splits this process into a worker and its guard.  In the worker, returns false at once, and the
 * worker continues.  In the guard, returns true after the worker has ended, and stores the
 * worker's wait status in *status.  The guard forwards signals to the worker.  If one of the two
 * dies, the other kills everything that was started.  Call this before starting anything. */
bool run_guard(int *status);

#endif
