/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the program's own code a fatal signal occurred: offsets from its load address, the
 * nearest first, ended by 0.  sketch/place.h looks them up in the debug information. */
#ifndef RADDLE_CRASH_H
#define RADDLE_CRASH_H

/* Innermost places of a crash that are kept.  A judgement: they tell one failure from another. */
#define RADDLE_CRASH_PLACES 8

#endif
