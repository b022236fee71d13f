/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults in a process of the flavour `full` or `led` (raddle/full.h).  The other layers do not
 * call this one: it is notified of threads through its table, and of values by instrumented code.
 */
#ifndef RT_INJECT_H
#define RT_INJECT_H

#include <stdint.h>

/* Called when the code has reached the site that is the target of a fault.  Returns the value that
 * the code continues with.  `bits` is the width of the value: an integer of up to 64 bits, a
 * pointer, or the bits of a float.  If `bits` is 0, the value is the function to call. */
uint64_t rt_inject(uint32_t site, uint64_t value, uint32_t bits);
void rt_inject_ready(void); /* rt/inject/inject-x86.c: called before any site is a target */

#endif
