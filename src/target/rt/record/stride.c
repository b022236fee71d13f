/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records accesses at equal distances, such as those of a loop over every second element or down a
 * column.  Code of the mode `fast` makes one call before such a loop, in place of a hook in each
 * iteration.
 *
 * The accesses to one block are tested and marked together.  Consecutive blocks that contain a byte
 * that is not marked form a run, and each run becomes one STRIDE record.  (If such a block also
 * contains accesses that were already marked, they are recorded again, which does no harm.)  The
 * encoder is taken while a run is marked, so that a signal handler sees no half-marked block.  A
 * handler that interrupted the encoder uses the code for single accesses.
 */
#include "rt/core/layer.h"
#include "rt/record/thin.h"

struct stride {
	uintptr_t at;
	uint64_t left;
	/* The distance in bytes; never negative, since the walk starts at the lowest address. */
	uint64_t by;
	uint32_t size;
	/* A mask of the bytes of a block that are accessed, if one of the accesses begins at the
	 * first byte of the block. */
	uint64_t pattern;
};

static struct stride stride_of(const void *p, uint64_t count, int64_t by)
{
	struct stride s = {.at = (uintptr_t)p, .left = count, .size = by & 255};
	int64_t distance = by >> 8;

	if (distance < 0 && count != 0) {
		s.at += (count - 1) * (uint64_t)distance;
		distance = -distance;
	}
	s.by = (uint64_t)distance;
	for (uint64_t o = 0; o < 64; o += s.by) {
		s.pattern |= ((1ull << s.size) - 1) << o;
		if (s.by == 0)
			break;
	}
	return s;
}

/* Returns how many of the next accesses are in one block, and stores the mask of their bytes in
 * *bits. */
static uint64_t block_bits(const struct stride *s, uint64_t *bits)
{
	uint32_t offset = s->at % 64;
	uint64_t n = s->by == 0 ? s->left : s->by >= 64 ? 1 : (63 - offset) / (uint32_t)s->by + 1;

	*bits = s->pattern << offset;
	if (n > s->left) {
		n = s->left;
		*bits &= ((1ull << (n * s->by)) - 1) << offset;
	}
	return n;
}

/* Skips accesses that are already marked, and then marks the following accesses, up to the next
 * one that is already marked.  Returns how many accesses were newly marked. */
static uint64_t next_run(struct raddle_self *self, struct stride *s, bool write)
{
	uint64_t run = 0;

	while (s->left != 0 && run < RADDLE_STRIDE_MAX - 64) {
		uint64_t bits, n = block_bits(s, &bits), tag = s->at >> RADDLE_BLOCK_SHIFT | self->epoch;
		struct raddle_block *b = &self->blocks[RADDLE_BLOCK_INDEX(s->at)];
		bool mine = b->tag == tag;
		if (mine && ((write ? b->written[0] : b->seen[0]) & bits) == bits) {
			if (run != 0)
				break;
		} else {
			if (n > RADDLE_STRIDE_MAX - 64)
				n = RADDLE_STRIDE_MAX - 64;
			b->tag = tag;
			b->seen[0] = (mine ? b->seen[0] : 0) | bits;
			b->written[0] = (mine ? b->written[0] : 0) | (write ? bits : 0);
			run += n;
		}
		s->at += n * s->by;
		s->left -= n;
	}
	return run;
}

_Static_assert(RADDLE_BLOCK_WORDS == 1, "a stride marks one word a block");

static void one_by_one(struct raddle_self *self, const struct stride *s, uint32_t site, bool write)
{
	for (uint64_t i = 0; i < s->left; i++) {
		if (write)
			__raddle_first_write(self, s->at + i * s->by, site, s->size);
		else
			__raddle_first_read(self, s->at + i * s->by, site, s->size);
	}
}

/* Used if layers listen.  Writes the record of each run, and then notifies the layers. */
static __attribute__((noinline, cold)) void walk_listened(struct rt_thread *t, struct stride s, uint32_t site,
							  bool write)
{
	while (t->recording && s.left != 0) {
		struct rt_record r = {.code = RADDLE_STRIDE, .site = site, .count = 3};
		uint32_t taken = rt_encoder_take(t);
		if (!taken) {
			one_by_one(&t->self, &s, site, write);
			return;
		}
		r.code |= taken;
		r.operand[1] = s.by;
		r.operand[2] = next_run(&t->self, &s, write);
		r.operand[0] = s.at - r.operand[2] * s.by;
		if (r.operand[2] == 0) {
			rt_encoder_leave(t);
			continue;
		}
		if (rt_unread())
			rt_encoder_leave(t);
		else
			rt_emit(t, &r);
		rt_notify_stride(t, &r, s.size, write ? RT_ACCESS_WRITE : RT_ACCESS_READ);
	}
}

/* A run is never left out, but its accesses make this thread the owner of the blocks
 * (rt/record/thin.h). */
static void touch(const struct rt_thread *t, uintptr_t at, uint64_t by, uint64_t count, bool write)
{
	uint64_t skip = by == 0 ? count : by < RADDLE_BLOCK_BYTES ? RADDLE_BLOCK_BYTES / by : 1;

	for (uint64_t i = 0; i < count; i += skip)
		rt_thin_touch(t, at + i * by, write, false);
}

static void walk(struct raddle_self *self, struct stride s, uint32_t site, bool write)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;

	while (t && s.left != 0) {
		uint64_t run;
		uint32_t taken;
		if (t->recording != RT_PLAIN) {
			walk_listened(t, s, site, write);
			return;
		}
		taken = rt_encoder_take(t);
		if (!taken) {
			one_by_one(&t->self, &s, site, write);
			return;
		}
		run = next_run(&t->self, &s, write);
		if (RT_UNLIKELY(rt_guard.alive == RT_THIN) && t->hand)
			touch(t, s.at - run * s.by, s.by, run, write);
		if (run != 0)
			rt_emit(t, &(struct rt_record){.code = RADDLE_STRIDE | taken,
						       .site = site,
						       .count = 3,
						       .operand = {s.at - run * s.by, s.by, run}});
		else
			rt_encoder_leave(t);
	}
}

__attribute__((visibility("default"))) void __raddle_read_stride(struct raddle_self *self, const void *p,
								 uint32_t site, uint64_t count, int64_t by)
{
	walk(self, stride_of(p, count, by), site, false);
}

__attribute__((visibility("default"))) void __raddle_write_stride(struct raddle_self *self, const void *p,
								  uint32_t site, uint64_t count, int64_t by)
{
	walk(self, stride_of(p, count, by), site, true);
}
