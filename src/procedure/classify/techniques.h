/* SPDX-License-Identifier: Apache-2.0 */
/* The techniques on which a class may be based, by name. */
#ifndef CLASSIFY_TECHNIQUES_H
#define CLASSIFY_TECHNIQUES_H

#include "classify/classify.h"

/* All techniques except those in a comma-separated list; NULL: all. */
int classify_techniques_without(const char *text, struct classify_techniques *techniques);

#endif
