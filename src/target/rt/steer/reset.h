/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a frozen program that make several runs, for the other files of steering. */
#ifndef RT_STEER_RESET_H
#define RT_STEER_RESET_H

#include <stdbool.h>
#include <stdint.h>

struct rt_reset;

/* rt/steer/reset.c. rt_reset_setup() is called before the program is frozen, and returns false if
 * memory runs out. rt_reset_freeze() freezes the program: it calls `serve` on another stack, and
 * returns only in copies, at the beginning of each run. rt_reset_run() is called by `serve` in a
 * copy. */
bool rt_reset_setup(void);
void rt_reset_freeze(void (*serve)(void));
_Noreturn void rt_reset_run(struct rt_reset *r);

/* rt_reset_end() is called when a run ends with the exit status `code`.  It returns only if the
 * process has to end. rt_reset_obey() is called while a run waits, and ends the run if the
 * replayer requests that. rt_reset_is_on() returns true in a copy that may make several runs. */
void rt_reset_end(uint32_t code);
void rt_reset_obey(void);
bool rt_reset_is_on(void);

/* rt/steer/changes.c.  Makes a system call that was trapped in such a copy. */
long rt_changes_call(long number, const long *arguments);

#endif
