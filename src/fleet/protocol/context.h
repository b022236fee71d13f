/* SPDX-License-Identifier: Apache-2.0 */
/* The observations of dynamic context inference about a candidate, as sites report them and as the
 * status of a hive shows them. */
#ifndef PROTOCOL_CONTEXT_H
#define PROTOCOL_CONTEXT_H

#include "base/json.h"

/* Writes `bits`, a set of RADDLE_GUARD_FIRST and the like (raddle/guard.h). */
void protocol_context_write(struct rd_json *j, uint32_t bits);

#endif
