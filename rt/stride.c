/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses at equal distances, as a loop over every second element or down a column
 * makes them: fast flavours put one call before the loop instead of a hook into it.
 * The accesses that lie in one block are tested together; the ones that are new are
 * recorded one by one, as their hooks would have done.
 */
#include "raddle/abi.h"

#include <stdbool.h>

struct stride {
	uintptr_t at;
	uint64_t left;
	int64_t by;
	uint32_t size;
};

/* The bits of the accesses from `s->at` on that lie in its block; *count tells how many. */
static uint64_t block_bits(const struct stride *s, uint64_t *count)
{
	uint64_t one = (1ull << s->size) - 1, bits = 0, n = 0;
	uintptr_t a = s->at;

	do {
		bits |= one << (a % 64);
		a += s->by;
		n++;
	} while (n < s->left && a / 64 == s->at / 64);
	*count = n;
	return bits;
}

static inline bool is_marked(const struct raddle_self *self, uintptr_t a, uint64_t bits, bool write)
{
	const struct raddle_block *b = &self->blocks[RADDLE_BLOCK_INDEX(a)];
	const uint64_t *marks = write ? b->written : b->seen;

	return b->tag == (a >> RADDLE_BLOCK_SHIFT | self->epoch) &&
	       (marks[a / 64 % RADDLE_BLOCK_WORDS] & bits) == bits;
}

static void walk(struct raddle_self *self, struct stride s, uint32_t site, bool write)
{
	while (s.left != 0) {
		uint64_t n, bits = block_bits(&s, &n);

		s.left -= n;
		if (is_marked(self, s.at, bits, write)) {
			s.at += n * s.by;
			continue;
		}
		for (; n != 0; n--, s.at += s.by) {
			if (is_marked(self, s.at, ((1ull << s.size) - 1) << (s.at % 64), write))
				continue;
			if (write)
				__raddle_first_write(self, s.at, site, s.size);
			else
				__raddle_first_read(self, s.at, site, s.size);
		}
	}
}

__attribute__((visibility("default"))) void __raddle_read_stride(struct raddle_self *self, const void *p,
								 uint32_t site, uint64_t count, int64_t by)
{
	walk(self, (struct stride){(uintptr_t)p, count, by >> 8, by & 255}, site, false);
}

__attribute__((visibility("default"))) void __raddle_write_stride(struct raddle_self *self, const void *p,
								  uint32_t site, uint64_t count, int64_t by)
{
	walk(self, (struct stride){(uintptr_t)p, count, by >> 8, by & 255}, site, true);
}
