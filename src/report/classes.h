/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the classes of races after a report. */
#ifndef REPORT_CLASSES_H
#define REPORT_CLASSES_H

#include "classify/classify.h"

#include <stdio.h>

/* Prints the number of races of each class, and how many have none. */
void report_classes(const struct finding_set *set, const struct classify_result *result, FILE *out);

#endif
