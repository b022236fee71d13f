/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises descriptors on which only their own process can cause an event.  These are pipes,
 * event counters and socket pairs that no other process has open, and epoll sets that contain
 * nothing else.
 */
#ifndef RUN_OWN_H
#define RUN_OWN_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns true if a thread waits, without a time limit, on one or more descriptors, and only its
 * own process can cause an event on them.  Returns false if in doubt. */
bool run_waits_for_own(pid_t pid, pid_t tid);

#endif
