// SPDX-License-Identifier: Apache-2.0
/* Reads any bytes as a report of ThreadSanitizer, and as places that a user names
 * (classify/locate.h). */
#include "base/alloc.h"
#include "base/error.h"
#include "classify/locate.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct classify_pairs pairs;
	char *text = rd_xstrndup((const char *)data, size);

	rd_log_set(rd_log_discard, NULL);
	classify_pairs_init(&pairs);
	classify_pairs_from_tsan(&pairs, text, "input");
	classify_pairs_parse(&pairs, text);
	for (size_t i = 0; i < pairs.count; i++)
		for (int k = 0; k < 2; k++)
			RD_ASSERT(pairs.items[i].places[k].line && *pairs.items[i].places[k].file);
	classify_pairs_release(&pairs);
	free(text);
	return 0;
}
