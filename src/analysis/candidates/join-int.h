/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the joins after which a thread has certainly ended, and stores them in `joins`
 * (candidates/thread-int.h). */
#ifndef CANDIDATES_JOIN_INT_H
#define CANDIDATES_JOIN_INT_H

#include "candidates/thread-int.h"

void joins_find(struct threads *t);

#endif
