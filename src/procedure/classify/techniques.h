/* SPDX-License-Identifier: Apache-2.0 */
/* The techniques on which a class may be based, by name. */
#ifndef CLASSIFY_TECHNIQUES_H
#define CLASSIFY_TECHNIQUES_H

#include "classify/classify.h"

/* Stores all techniques except those in a comma-separated list, which may be NULL. */
int classify_techniques_without(const char *text, struct classify_techniques *techniques);

#endif
