/* SPDX-License-Identifier: Apache-2.0 */
/* What dynamic context inference saw of a candidate, as reports of sites and the status of a hive
 * have it. */
#ifndef PROTOCOL_CONTEXT_H
#define PROTOCOL_CONTEXT_H

#include "base/json.h"

/* `bits` as RADDLE_GUARD_FIRST and the like (raddle/guard.h). */
void protocol_context_write(struct rd_json *j, uint32_t bits);

#endif
