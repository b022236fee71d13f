/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that starts programs leaves none of them behind, even if it is killed or dies of an error of its
 * own.  The process that the user started becomes the guard of the one that works.
 */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdbool.h>

/* Returns false in the process that works, which goes on, and true in the guard when that has ended, with its
 * status as waitpid() has it.  Whichever of the two dies, the other ends all that was started.  To be called
 * before anything is; signals that processes send to the guard reach the other. */
bool run_guard(int *status);

#endif
