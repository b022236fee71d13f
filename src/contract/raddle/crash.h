/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the program's own code a fatal signal occurred: offsets from its load address,
 * innermost first, terminated by 0.  sketch/place.h looks them up in the debug information. */
#ifndef RADDLE_CRASH_H
#define RADDLE_CRASH_H

/* How many places of a crash are kept, innermost first.  Chosen by hand: 8 places are enough to
 * distinguish failures. */
#define RADDLE_CRASH_PLACES 8

#endif
