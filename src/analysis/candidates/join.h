/* SPDX-License-Identifier: Apache-2.0 */
/* Which joins end which threads for certain: fills the joins of candidates/thread.h. */
#ifndef CANDIDATES_JOIN_H
#define CANDIDATES_JOIN_H

#include "candidates/thread.h"

void joins_find(struct threads *t);

#endif
