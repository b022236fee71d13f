/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slow path of a read and then a write of the same bytes, which fast flavours test with one
 * hook.  The write is new; the read only if the bytes were not met before.
 */
#include "raddle/abi.h"

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_update(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	const struct raddle_block *b = &self->blocks[RADDLE_BLOCK_INDEX(address)];
	uint64_t bits = ((1ull << size) - 1) << (address % 64);

	if (b->tag != (address >> RADDLE_BLOCK_SHIFT | self->epoch) ||
	    (b->seen[address / 64 % RADDLE_BLOCK_WORDS] & bits) != bits)
		__raddle_first_read(self, address, (uint32_t)sites, size);
	__raddle_first_write(self, address, (uint32_t)(sites >> 32), size);
}
