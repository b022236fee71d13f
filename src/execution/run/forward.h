/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwards signals to the program that Raddle runs.  If a process sends a signal to Raddle alone,
 * Raddle passes it on.  A signal from the kernel, such as one caused by the terminal, has already
 * reached the program, because the program is in the same process group.  Raddle runs only one
 * such program at a time.
 */
#ifndef RUN_FORWARD_H
#define RUN_FORWARD_H

#include <stdbool.h>
#include <sys/types.h>

/* Forwards signals to the process from now on.  Forwarding must not be active already.  If
 * `keep_ignored` is set, a signal that we ignore stays ignored. */
void run_forward_start(pid_t pid, bool keep_ignored);

/* Call this when the process is gone.  Signals are no longer passed on, but they are still
 * counted. */
void run_forward_gone(void);

/* Restores our previous handling of these signals. */
void run_forward_stop(void);

/* Returns how many signals have asked Raddle to end since run_forward_start(). */
int run_forward_asked(void);

#endif
