/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors at which only the process that has them can make something happen: its pipes, event counters
 * and pairs of sockets, if no other process has them open, and sets of epoll with nothing else in them.
 */
#ifndef RUN_OWN_H
#define RUN_OWN_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a thread waits at such descriptors, at least one, and at no others, without a time limit.  In doubt
 * it does not. */
bool run_waits_for_own(pid_t pid, pid_t tid);

#endif
