/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Injects faults into a process of the flavour `full` or `led` (raddle/full.h).  The runtime
 * tells this layer about threads through the layer's table of callbacks, and instrumented code
 * passes values to it.  Other layers do not call it.
 */
#ifndef RT_INJECT_H
#define RT_INJECT_H

#include <stdint.h>

/* Called when a thread has reached the site that is the target of a fault.  `value` is an integer
 * of up to 64 bits, a pointer, or the bits of a float, and `bits` is its width.  If `bits` is 0,
 * `value` is the address of the function that the code is about to call.  Returns the value that
 * the code continues with. */
uint64_t rt_inject(uint32_t site, uint64_t value, uint32_t bits);
void rt_inject_ready(void); /* rt/inject/inject-x86.c: called before any site is a target */

#endif
