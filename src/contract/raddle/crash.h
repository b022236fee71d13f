/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the program's own code a fatal signal came: distances from where it is loaded, the nearest place
 * first, 0 behind the last; for who reads its debug information (sketch/place.h). */
#ifndef RADDLE_CRASH_H
#define RADDLE_CRASH_H

#define RADDLE_CRASH_PLACES 8

#endif
