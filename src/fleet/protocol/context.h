/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what runs showed about the two accesses of a race candidate (dynamic context inference).
 * The machines that run the program send this context to a hive, which shows it in its status. */
#ifndef PROTOCOL_CONTEXT_H
#define PROTOCOL_CONTEXT_H

#include "base/json.h"

/* Writes `bits`, a set of RADDLE_GUARD_FIRST and the like (raddle/guard.h). */
void protocol_context_write(struct rd_json *j, uint32_t bits);

#endif
