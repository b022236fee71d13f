/* SPDX-License-Identifier: Apache-2.0 */
/* What runs showed about the two accesses of a candidate (dynamic context inference), as sites
 * report it and as the status of a hive shows it. */
#ifndef PROTOCOL_CONTEXT_H
#define PROTOCOL_CONTEXT_H

#include "base/json.h"

/* Writes `bits`, a set of RADDLE_GUARD_FIRST and the like (raddle/guard.h). */
void protocol_context_write(struct rd_json *j, uint32_t bits);

#endif
