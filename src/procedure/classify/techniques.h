/* SPDX-License-Identifier: Apache-2.0 */
/* What a class may rest on, by name. */
#ifndef CLASSIFY_TECHNIQUES_H
#define CLASSIFY_TECHNIQUES_H

#include "classify/classify.h"

/* All techniques but those that a list with commas names; NULL: all. */
int classify_techniques_without(const char *text, struct classify_techniques *techniques);

#endif
