// SPDX-License-Identifier: Apache-2.0
/* Reads any bytes as the table of a guarded program.  All numbers of an accepted table must be
 * within their bounds. */
#include "base/error.h"
#include "guard/guards.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct guard_table table;

	rd_log_set(rd_log_discard, NULL);
	/* The text after the first zero byte is about regions. */
	const char *text = (const char *)data, *zero = memchr(text, 0, size);
	size_t length = zero != NULL ? (size_t)(zero - text) : size;
	struct guard_text both = {text, zero != NULL ? zero + 1 : NULL, length,
				  zero != NULL ? size - length - 1 : 0};
	if (guard_table_parse(&table, &both, "fuzz") == RD_OK) {
		RD_ASSERT(table.first[0] == 0);
		for (size_t i = 0; i < table.count; i++)
			RD_ASSERT(table.candidates[i].guard[0] < table.guards &&
				  table.candidates[i].guard[1] < table.guards &&
				  strlen(table.candidates[i].id) == CANDIDATE_ID_SIZE - 1);
		for (uint32_t i = 0; i < table.guards; i++)
			RD_ASSERT(table.first[i] <= table.first[i + 1]);
		for (uint32_t i = 0; i < table.first[table.guards]; i++)
			RD_ASSERT(table.regions[i] < RADDLE_GUARDS);
	}
	guard_table_release(&table);
	return 0;
}
