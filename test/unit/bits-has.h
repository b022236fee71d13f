/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether a number is in a sparse bitmap, by visiting every member. */
#ifndef TEST_UNIT_BITS_HAS_H
#define TEST_UNIT_BITS_HAS_H

#include "ir/bits.h"

static inline bool ir_bits_has(const struct ir_bits *s, uint32_t n)
{
	struct ir_bits_iterator i = {0};

	for (uint32_t member; ir_bits_next(s, &i, &member);)
		if (member == n)
			return true;
	return false;
}

#endif
