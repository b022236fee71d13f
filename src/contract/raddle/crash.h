/* SPDX-License-Identifier: Apache-2.0 */
/* The places in the program's own code where a fatal signal occurred, as offsets from the program's
 * load address, innermost first, terminated by 0.  sketch/place.h looks them up in the debug
 * information. */
#ifndef RADDLE_CRASH_H
#define RADDLE_CRASH_H

/* The maximum number of places that are kept for a crash.  Set by hand: eight places are enough to
 * distinguish failures. */
#define RADDLE_CRASH_PLACES 8

#endif
