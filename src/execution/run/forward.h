/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwards signals to the program that Raddle runs.  A signal that a process sends to Raddle alone
 * is passed on.  A signal from the kernel, such as the terminal's, has already reached the program,
 * since it is in the same process group.  There is one such program at a time.
 */
#ifndef RUN_FORWARD_H
#define RUN_FORWARD_H

#include <stdbool.h>
#include <sys/types.h>

/* Forwards signals to the process from now on.  Forwarding must not be active already.  With
 * `keep_ignored`, a signal that we ignore stays ignored. */
void run_forward_start(pid_t pid, bool keep_ignored);

/* To be called when the process is gone: signals are no longer passed on, but are still counted. */
void run_forward_gone(void);

/* Restores our previous handling of these signals. */
void run_forward_stop(void);

/* How often a signal has asked Raddle to end since run_forward_start(). */
int run_forward_asked(void);

#endif
