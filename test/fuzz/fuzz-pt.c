// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as packets of Intel PT, and any bytes as the code that they describe.  Reading ends,
 * and names only existing places.
 *
 * The input is the size of the code, the code, and the packets.
 */
#include "base/error.h"
#include "sketch/pt-int.h"

#include <stdlib.h>

enum { BASE = 0x400000, PLACES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pt_place places[PLACES];
	struct pt_left left;

	if (!size || data[0] > size - 1)
		return 0;
	for (uint32_t i = 0; i < PLACES; i++)
		places[i] = (struct pt_place){BASE + i, i};
	struct pt_code code = {BASE, data + 1, data[0]};
	struct pt_trace t = {.packets = data + 1 + data[0],
			     .size = size - 1 - data[0],
			     .code = &code,
			     .code_count = 1,
			     .places = places,
			     .place_count = PLACES,
			     .most = 2000};
	if (!pt_has_library())
		return 0;
	RD_ASSERT(pt_decode(&t, &left) == RD_OK);
	RD_ASSERT(left.instructions <= t.most);
	for (size_t i = 0; i < left.count; i++)
		RD_ASSERT(left.numbers[i] < PLACES);
	free(left.numbers);
	return 0;
}
