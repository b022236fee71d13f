/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules of failing runs as files. */
#ifndef SKETCH_SCHEDULES_H
#define SKETCH_SCHEDULES_H

#include "sketch/sketch.h"

/* Writes DIRECTORY/N.schedule for each sketch that has a schedule, and stores the path in the
 * sketch. */
int sketch_write_schedules(struct sketch_set *set, const char *directory);

#endif
