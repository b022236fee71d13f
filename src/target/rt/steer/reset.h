/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a frozen program that make several runs, for the other files of steering. */
#ifndef RT_STEER_RESET_H
#define RT_STEER_RESET_H

#include <stdbool.h>
#include <stdint.h>

struct rt_reset;

/* rt/steer/reset.c.  rt_reset_setup() is called before the program is frozen, and returns false if
 * there is no memory.  rt_reset_freeze() calls `serve` on another stack and returns in each copy, at
 * the beginning of each of its runs.  rt_reset_run() is called by `serve` in a copy. */
bool rt_reset_setup(void);
void rt_reset_freeze(void (*serve)(void));
_Noreturn void rt_reset_run(struct rt_reset *r);

/* rt_reset_end() is called when a run ends with this exit status.  It returns if the process has to end.
 * rt_reset_obey() is called while a run waits, and ends it if the replayer requests that.  rt_reset_is_on()
 * returns true in a copy that may make several runs. */
void rt_reset_end(uint32_t code);
void rt_reset_obey(void);
bool rt_reset_is_on(void);

/* rt/steer/changes.c.  Makes a system call that was trapped in such a copy. */
long rt_changes_call(long number, const long *arguments);

#endif
