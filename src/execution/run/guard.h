/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ensures that a command leaves no program running, even if the command is killed or crashes.  The
 * process that the user started becomes the guard of a worker.
 */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdbool.h>

/* Splits this process into a worker and its guard.  Returns false in the worker, which continues.
 * Returns true in the guard when the worker has ended, and sets *status to its wait status.  If one
 * of the two dies, the other kills everything that was started.  To be called before anything is
 * started.  The guard forwards signals to the worker. */
bool run_guard(int *status);

#endif
