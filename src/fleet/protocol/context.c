// SPDX-License-Identifier: Apache-2.0
/* Contexts as JSON.  The hive reads them in hive/report.c. */
#include "protocol/context.h"

#include "raddle/guard.h"

void protocol_context_write(struct rd_json *j, uint32_t bits)
{
	rd_json_object(j, "context");
	RD_JSON(j, RD_JB("first", bits & RADDLE_GUARD_FIRST), RD_JB("second", bits & RADDLE_GUARD_SECOND),
		RD_JB("same_address", bits & RADDLE_GUARD_SAME_ADDRESS),
		RD_JB("two_threads", bits & RADDLE_GUARD_TWO_THREADS));
	rd_json_end(j);
}
