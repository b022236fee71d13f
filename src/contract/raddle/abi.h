/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between instrumented code and the runtime.  The instrumenter inserts calls of
 * `__raddle_` functions.  The small ones, called hooks, are defined in rt/record/hook.c.  That file
 * is compiled to bitcode, which is kept beside the tool, linked into every unit as internal
 * functions, and inlined.  The others are ordinary functions of the runtime library and are
 * declared here.  Increment RADDLE_ABI_VERSION whenever either side changes, because it is part of
 * the cache key.
 *
 * The first access test
 * ---------------------
 * Between two synchronisation operations of a thread (a segment), only the first read and the first
 * write of a byte matter.  So a hook first tests whether the bytes are already marked.  Each thread
 * has a direct-mapped table of blocks.  A block
 * covers RADDLE_BLOCK_BYTES bytes of memory.  `seen` has a bit for each byte that was read or
 * written in this segment, and `written` has a bit for each byte that was written.  The tag is
 * (address / RADDLE_BLOCK_BYTES | epoch).  The epoch changes with each synchronisation operation,
 * so a new segment starts with an empty table at no cost.  If a bit is not set, the hook calls the
 * runtime, which sets it and appends a record.  So within a segment, a read after a write of the
 * same bytes is not recorded, but a write after a read is.
 *
 * The call stack
 * --------------
 * Each thread has a shadow stack of call sites.  A function that makes calls loads the pointer to
 * the top of this stack on entry.  Before each call, it stores the call's site there
 * and moves the pointer up by one.  After the call it restores the pointer, unless the next call
 * sets it before anything reads it.  A landing pad and the return of setjmp restore it too, so
 * exceptions and longjmp need nothing else.  The top bit of an entry belongs to the runtime: if it
 * is set, the entry has been written to the stream.  A new store clears it.  `self` is loaded once
 * on entry to a function and passed to each hook.  Until a thread has a state of its own, `self`
 * points to a shared placeholder, which is all zero except for its stack pointer.  Its table never
 * matches (no tag is 0), and its stack is a scratch area that is written and never read.
 */
#ifndef RADDLE_ABI_H
#define RADDLE_ABI_H

#include <stdint.h>

#define RADDLE_ABI_VERSION 7 /* the comment above states when to increment it */

#define RADDLE_BLOCK_SHIFT 6 /* log2 of a block's size in bytes; one bitmap word covers a block */
#define RADDLE_BLOCK_BYTES (1u << RADDLE_BLOCK_SHIFT)
#define RADDLE_BLOCK_WORDS (RADDLE_BLOCK_BYTES / 64)
/* The number of bits of the tag below the epoch: enough for a user address >> 6. */
#define RADDLE_EPOCH_SHIFT 42
/* The number of entries of the table, a power of two; together they cover 4 MiB. */
#define RADDLE_BLOCKS 65536u
_Static_assert((RADDLE_BLOCKS & (RADDLE_BLOCKS - 1)) == 0, "the index of a block is a mask");
/* The number of bits by which the upper part of an address is shifted down, so that it influences
 * the index.  Otherwise, addresses that are a large power of two apart would share an index. */
#define RADDLE_FOLD_SHIFT 9

/* The index of the block that covers an address.  The formula maps nearby addresses to nearby
 * indices.  So nearby addresses share pages of the table, and untouched parts cost no memory. */
#define RADDLE_BLOCK_INDEX(a)                                                                                \
	((((a) >> RADDLE_BLOCK_SHIFT) ^ ((a) >> (RADDLE_BLOCK_SHIFT + RADDLE_FOLD_SHIFT))) &                 \
	 (RADDLE_BLOCKS - 1))

struct raddle_buffer; /* session.h */

struct raddle_block {
	uint64_t tag;
	uint64_t seen[RADDLE_BLOCK_WORDS];
	uint64_t written[RADDLE_BLOCK_WORDS];
};

/* The part of a thread's state that hooks use.  The part that only the runtime uses follows it in
 * memory (rt/core/thread/thread.h). */
struct raddle_self {
	uint64_t epoch;		    /* segment number << RADDLE_EPOCH_SHIFT */
	uint32_t *stack_top;	    /* the entry for the next call site */
	struct raddle_buffer *full; /* the buffer for the next piece (full.h) */
	uint32_t target;	    /* the site of the next fault (full.h); 0 if no fault is left */
	uint32_t unused_half;
	uint64_t unused[4]; /* padding, so that `blocks` starts at a cache line */
	/* An array, because that is faster than a pointer and a mask. */
	struct raddle_block blocks[RADDLE_BLOCKS];
};

extern __thread struct raddle_self *__raddle_self __attribute__((tls_model("initial-exec")));

#if defined(__clang__)
#define RADDLE_COLD __attribute__((preserve_most, cold))
#else
/* Other compilers only check the runtime; clang builds it. */
#define RADDLE_COLD __attribute__((cold))
#endif

/* A hook calls one of these functions if a byte is not yet marked in the thread's table.  The
 * runtime cannot look up the size and direction of `site`.  So the function's name states the
 * direction, and an argument states the size. */
RADDLE_COLD void __raddle_first_read(struct raddle_self *self, uintptr_t address, uint32_t site,
				     uint32_t size);
RADDLE_COLD void __raddle_first_write(struct raddle_self *self, uintptr_t address, uint32_t site,
				      uint32_t size);

/* Called by the hook of a read followed by a write of the same bytes, if one of the bytes is not
 * marked as written.  The upper half of `sites` is the site of the write. */
RADDLE_COLD void __raddle_first_update(struct raddle_self *self, uintptr_t address, uint64_t sites,
				       uint32_t size);

/* Called by the hooks of two adjacent accesses of `size` bytes each, if a byte is not yet marked.
 * The lower half of `sites` is the site of the first access.  For updates, `first` and `second`
 * each combine the two sites of one update. */
RADDLE_COLD void __raddle_first_two_reads(struct raddle_self *self, uintptr_t address, uint64_t sites,
					  uint32_t size);
RADDLE_COLD void __raddle_first_two_writes(struct raddle_self *self, uintptr_t address, uint64_t sites,
					   uint32_t size);
RADDLE_COLD void __raddle_first_two_updates(struct raddle_self *self, uintptr_t address, uint64_t first,
					    uint64_t second, uint32_t size);

/* Records a read each time, even if it is repeated.  Used for reads whose value decides whether a
 * loop waits on a condition variable again. */
void __raddle_read_always(struct raddle_self *self, const void *p, uint32_t site, uint32_t size);

/* Called in each iteration of a loop that waits for memory to change, or that never ends
 * (instr/record/spin.c). */
void __raddle_round(void);

/* Called when a loop gets closer to its end, although it may look as if it waited for memory to change
 * (instr/full/progress.c). */
void __raddle_progress(void);

/* These functions record an access to a range of bytes, as by memcpy(), or an access that may be
 * unaligned. */
void __raddle_read_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size);
void __raddle_write_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size);

/* These functions record `count` aligned accesses of one site, the first of them at p.  `by` is 256
 * times the distance between two accesses plus the size of one access, both in bytes. */
void __raddle_read_stride(struct raddle_self *self, const void *p, uint32_t site, uint64_t count, int64_t by);
void __raddle_write_stride(struct raddle_self *self, const void *p, uint32_t site, uint64_t count,
			   int64_t by);

/* These functions record the memory that string functions access, but at most `max` bytes of it.
 * read_string and write_string record the string at p, including its NUL.  read_common records the
 * bytes of p that a comparison with `other` reads.  write_copied records as many bytes at p as the
 * string at `from` has, including its NUL.  write_appended does the same, but starts at the end of
 * the string at p. */
void __raddle_read_string(struct raddle_self *self, const char *p, uint32_t site, uint64_t max);
void __raddle_write_string(struct raddle_self *self, const char *p, uint32_t site, uint64_t max);
void __raddle_read_common(struct raddle_self *self, const char *p, const char *other, uint32_t site,
			  uint64_t max);
void __raddle_write_copied(struct raddle_self *self, const char *p, const char *from, uint32_t site,
			   uint64_t max);
void __raddle_write_appended(struct raddle_self *self, const char *p, const char *from, uint32_t site,
			     uint64_t max);

/* Returns how many of the `size` bytes at p are readable.  If `is_string` is set and p is a string
 * that ends within these bytes, the bytes after its end do not matter, and the result is `size`. */
uint64_t __raddle_readable(const char *p, uint32_t is_string, uint64_t size);

/* An edited program (base/edit.h) calls these functions.  It calls leave_out when it is about to
 * omit a synchronisation operation; `lock` is the lock that it does not take, or NULL.  It calls
 * require after it has evaluated a predicate.  It calls peek where a predicate dereferences a
 * pointer, and divisor where a predicate divides by a number that may be 0. */
int __raddle_leave_out(uint32_t number, const void *lock);
void __raddle_require(uint32_t number, uint32_t holds);
void __raddle_peek(uint32_t number, void *to, const void *from, uint64_t size);
uint64_t __raddle_divisor(uint32_t number, uint64_t value);

/* Records the first `bytes` bytes of the buffers of an iovec, as ranges.  If `count` is UINT64_MAX,
 * p points to a struct msghdr instead. */
void __raddle_vector(struct raddle_self *self, const void *p, uint32_t site, uint64_t count, uint64_t bytes);

/* __raddle_atomic_begin() is called before each atomic instruction, and __raddle_atomic_end() after
 * it.  The former takes a lock chosen by the address, so the operations on a location happen in the
 * order of their q.  `what` combines the site, the size in bytes, whether the instruction may
 * store, and RADDLE_ATOMIC_ORDERED.  Layers that stop the thread before the instruction need
 * `what`. */
#define RADDLE_ATOMIC_WHAT(site, size, writes)                                                               \
	((uint64_t)(site) | (uint64_t)(size) << 32 | (uint64_t)(writes) << 63)
/* Bits of `what` for __raddle_stop().  CALLS means that the thread does not access memory but
 * calls a function that is not instrumented.  EMITS means that this function writes to a stream.
 * SAME means that the previous __raddle_stop() was for another range of the same call.  For
 * example, the range is the destination of a copy, after its source.  COMPUTED means that the
 * program computed the size of a copy or fill.  STRING is used instead of a size.  It means that
 * the range is a string, whose length is measured at run time.  IDLE means that only values in
 * memory depend on the access (instr/full/progress.c). */
#define RADDLE_STOP_IDLE ((uint64_t)1 << 58)
#define RADDLE_STOP_COMPUTED ((uint64_t)1 << 59)
#define RADDLE_STOP_SAME ((uint64_t)1 << 60)
#define RADDLE_STOP_CALLS ((uint64_t)1 << 61)
#define RADDLE_STOP_EMITS ((uint64_t)1 << 62)
#define RADDLE_STOP_STRING 0xffff
/* The memory order is 1 to 5 for relaxed, acquire, release, acquire-release and sequentially
 * consistent.  It is 0 if the order is unknown, which is treated as the strongest.  `reads` is 1 if
 * the operation reads the value that it replaces. */
#define RADDLE_ATOMIC_ORDERED(order, reads) ((uint64_t)(order) << 48 | (uint64_t)(reads) << 51)
#define RADDLE_ATOMIC_ORDER(what) ((uint32_t)((what) >> 48) & 7)
#define RADDLE_ATOMIC_READS(what) ((what) >> 51 & 1)
#define RADDLE_ATOMIC_SIZE(what) ((uint32_t)((what) >> 32) & 0xffff)
#define RADDLE_ATOMIC_WRITES(what) ((what) >> 63 != 0)
void __raddle_atomic_begin(struct raddle_self *self, const volatile void *p, uint64_t what);
void __raddle_atomic_end(struct raddle_self *self, const volatile void *p, uint32_t site, uint32_t flags);
void __raddle_fence(struct raddle_self *self, uint32_t site);

#endif
