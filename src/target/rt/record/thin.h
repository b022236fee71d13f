/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thinning decides which accesses of a long run are left out.  In: first accesses of segments.
 * Out: whether an access is recorded, and how many accesses of its place were left out before it.
 *
 * A run is thinned once its concurrent threads have written RT_THIN_EVENTS events; rt_guard.alive
 * is then RT_THIN.  From then on, an access is left out if both its place and its memory are hot:
 *
 *   the place   since then, RT_THIN_PLACE accesses of this thread at this site were recorded
 *   the memory  the block of 64 bytes is quiet: a few accesses were recorded since this thread
 *               became its owner, or its owner has changed too often
 *
 * The owner of a block is the thread that accessed it last.  So everything new is recorded: places
 * that a thread rarely reaches, memory that is rarely accessed, and the first accesses after a
 * change of owner.  After a write by another thread, memory stays new for longer.  If the write is
 * at a place that is not hot, the memory becomes new again even if it was quiet.  For example, if a
 * flag is read a million times and then written by another thread, the next read is recorded.
 *
 * One block in RT_LINE_SAMPLE, chosen by its address, is not quiet for a place until
 * RT_THIN_SAMPLED more accesses were recorded at that place.  This is for blocks that an allocator
 * reuses over and over.  A block that decides whether a thread waits is never quiet (`pinned`).
 *
 * Updates of counters (RADDLE_ATOMIC_PASSED) are treated like other accesses, since they order no
 * threads.
 *
 * A schedule identifies an access by its number among the accesses of its site since the last step
 * (doc/format/schedule.md).  Accesses that are left out are numbered too.  So the next record of
 * the site is preceded by a LEFT_OUT record, which states how many accesses were left out.
 *
 * If most accesses of a thread are left out, the thread is called lazy.  Its segments end only at
 * every RT_THIN_LAZY-th operation, or when the owner of any block has changed.  So the hooks skip
 * its repeated accesses, and these are not even counted.
 *
 * In each segment, a change of owner is checked only once for each place and block.  Later accesses
 * are treated like the first one (rt_was_left_out_here() of rt/record/left-out.h).  (Even in a run
 * that is not thinned, the hooks do not report repeated accesses to the same bytes.)
 *
 * All threads use one table of blocks, in which several blocks may share an entry.  Such a block
 * seems to change its owner more often, and is quiet sooner.  Entries are updated without a lock.
 * At worst, one more access is recorded, or a change of owner is missed.
 */
#ifndef RT_RECORD_THIN_H
#define RT_RECORD_THIN_H

#include "rt/core/rt.h"

#define RT_THIN_EVENTS (1u << 22) /* the number of events before thinning begins */
#define RT_THIN_PLACE 512u	  /* the number of records after which a place is hot */
#ifndef RT_THIN_SAMPLED		  /* tests define a smaller value */
#define RT_THIN_SAMPLED 4096u
#endif
#define RT_THIN_LAZY 256u /* the maximum number of operations in a segment of a lazy thread */

/* The number of entries of the table, enough for 64 MB of memory without collisions. */
#define RT_LINES (1u << 20)
/* The number of hands; a hand is a byte other than 0 that identifies an owner. */
#define RT_HANDS 255u
/* An entry has three counts of two bits each.  They count the further records of its owner after
 * the first one, the changes of the owner without a write, and the changes of the owner by a
 * write.  These are the maximum values of the counts. */
#define RT_LINE_COUNT 3u
#define RT_LINE_CHANGES 3u
#define RT_LINE_WRITES 3u
#define RT_LINE_SAMPLE 64u

/* The low byte of an entry is the hand of its owner.  The three counts follow, in these units. */
#define RT_LINE_ONE 0x100u
#define RT_LINE_CHANGE 0x400u
#define RT_LINE_WRITE 0x1000u
/* An entry whose hand is 0.  No thread has that hand, so rt_line_after() never changes it. */
#define RT_LINE_PINNED RT_LINE_ONE

/* Returns the hand of a thread.  Threads whose numbers differ by a multiple of RT_HANDS share a
 * hand. */
static inline uint32_t rt_hand(uint32_t thread)
{
	return thread % RT_HANDS + 1;
}

static inline uint32_t rt_line_index(uintptr_t address)
{
	uintptr_t block = address >> RADDLE_BLOCK_SHIFT;

	return (uint32_t)(block ^ block >> 20) & (RT_LINES - 1);
}

static inline bool rt_line_is_sample(uintptr_t address)
{
	return (uint32_t)(address >> RADDLE_BLOCK_SHIFT) * 0x9e3779b1u >> 26 == 0;
}
_Static_assert(RT_LINE_SAMPLE == 1u << (32 - 26), "six bits of the product are 0");

/* Returns true if an access to the block is not new, either for this thread or for all threads. */
static inline bool rt_line_is_quiet(uint32_t entry, uint32_t hand, bool write)
{
	uint32_t full = RT_LINE_CHANGES * RT_LINE_CHANGE + (write ? RT_LINE_WRITES * RT_LINE_WRITE : 0);

	return (entry & (RT_LINE_CHANGE - 1)) == (hand | RT_LINE_COUNT * RT_LINE_ONE) ||
	       (entry & full) == full;
}

/* Returns the entry after a new access. */
static inline uint32_t rt_line_after(uint32_t entry, uint32_t hand, bool write, bool cold)
{
	uint32_t had = entry & 255, changes = entry / RT_LINE_CHANGE & 3, writes = entry / RT_LINE_WRITE & 3;

	if (!had && entry)
		return entry;
	if (had == hand)
		return entry + RT_LINE_ONE;
	if (had && write && (cold || writes < RT_LINE_WRITES)) {
		writes += writes < RT_LINE_WRITES;
		changes -= changes == RT_LINE_CHANGES;
	} else if (had) {
		changes++;
	}
	return hand | changes * RT_LINE_CHANGE | writes * RT_LINE_WRITE;
}

/* What a thread knows about a place.  Each place has two entries of the table that may hold it.
 * Places that share both entries replace each other. */
struct rt_place {
	uint32_t site;
	/* The number of records so far or, if the place is hot, RT_PLACE_HOT | site. */
	uint32_t heat;
	uint32_t step; /* the operation since which `left` counts */
	uint32_t left; /* the number of accesses left out since `step` */
	uint32_t more; /* the number of records since the place became hot */
	uint64_t tag;  /* the tag (raddle/abi.h) of the block of the last access that was left out */
};
/* the number of entries per thread, chosen by hand: they take 1 MiB, and few programs have more hot
 * places */
#define RT_PLACES 32768u
#define RT_PLACE_HOT 0x80000000u /* a bit of `heat` */

static inline uint32_t rt_place_index(uint32_t site)
{
	return (site ^ site >> RADDLE_SITE_LOCAL_BITS << 12) % RT_PLACES;
}

static inline uint32_t rt_place_other(uint32_t site)
{
	return site * 0x9e3779b1u >> 17;
}
_Static_assert(RT_PLACES == 1u << (32 - 17), "fifteen bits of the product");

/* Returns the entry of a place.  A new place displaces another one, preferably one that is not
 * hot. */
static inline struct rt_place *rt_place_of(struct rt_place *places, uint32_t site)
{
	struct rt_place *first = places + rt_place_index(site), *second = places + rt_place_other(site);

	if (first->site == site)
		return first;
	return second->site == site || first->heat & RT_PLACE_HOT ? second : first;
}

/* Writes a record that states how many accesses of the site were left out.  Later records are not
 * moved before this one. */
static inline uint8_t *rt_put_left_out(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t count)
{
	*p++ = RADDLE_LEFT_OUT;
	p = rt_put_delta(p, &e->site, site);
	p = rt_put_varint(p, count);
	e->floor = p;
	return p;
}

/* Returns true if an access at a hot place is recorded although its block is quiet. */
static inline bool rt_is_sampled(const struct rt_place *hot, uintptr_t address)
{
	return rt_line_is_sample(address) && hot->more < RT_THIN_SAMPLED;
}

/* The table of blocks, which all threads share, and an empty table of places for threads that have
 * no table yet. */
struct rt_thin {
	_Atomic uint16_t lines[RT_LINES];
	_Alignas(64) _Atomic uint32_t changes; /* counts the changes of owner of all blocks */
	_Alignas(64) _Atomic uint64_t events;  /* counts the events of concurrent threads */
	struct rt_place nowhere[RT_PLACES];
};
extern struct rt_thin rt_thin __attribute__((visibility("hidden")));

static inline bool rt_thin_is_quiet(const struct rt_thread *t, uintptr_t address, bool write)
{
	uint32_t entry = atomic_load_explicit(&rt_thin.lines[rt_line_index(address)], memory_order_relaxed);

	return rt_line_is_quiet(entry, t->hand, write);
}

/* Adds an access to the entry of its block.  Returns true if the access is not new.  `cold` means
 * that its place is not hot.  A write there by a thread that is not the block's owner always
 * counts as new, and makes the block new again. */
bool rt_thin_touch(const struct rt_thread *t, uintptr_t address, bool write, bool cold);

/* Like rt_thin_touch(), for all blocks of a range. */
void rt_thin_touch_range(const struct rt_thread *t, uintptr_t address, uint64_t size, bool write, bool cold);

void rt_thin_pin(uintptr_t address);

/* Returns true if the segment of a lazy thread continues after an operation. */
bool rt_thin_goes_on(struct rt_thread *t);

/* Called when the thread has filled a buffer, or has no buffer.  Decides whether the run is
 * thinned from now on, and whether the thread is lazy, that is, whether most of its accesses are
 * left out. */
void rt_thin_look(struct rt_thread *t);

#endif
