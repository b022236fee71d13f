/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `full`.  This file defines what instrumented code writes, instruction by instruction,
 * and how a fault is injected.  doc/format/full.md is the normative description.
 *
 * Pieces
 * ------
 * A piece is a sequence of instructions without branches.  Its number identifies
 * everything that is known before the run (instructions, places, types), which the `P` records of
 * the site table list.  At run time, the code reserves room in the thread's buffer and stores the
 * number.  Each instruction then stores what only the run determines: an address, a value.  These
 * are raw bytes, which the collector compresses.  A buffer is aligned to its size, and zeroed when
 * a thread gets it.  The thread treats `used` and `open` (session.h) as one word: a single
 * instruction adds the length of a piece to `used` and 1 to `open`.  So a signal handler always
 * writes after the reserved room.  The last store of a piece sets its last byte to 1; then `open`
 * is decremented.  A buffer with an open piece is handed over only if the code that writes the
 * piece will never continue.  Before an instruction that uses an address, the address plus one is
 * stored; 0 means that the instruction did not begin.  So the last piece of a thread that died
 * shows how far the thread got.
 */
#ifndef RADDLE_FULL_H
#define RADDLE_FULL_H

#include "raddle/abi.h"
#include "raddle/session.h"

/* The first byte of a raw record.  All other codes below 0x80 are those of event.inc.  The record
 * of an event in event.inc consists of the code and the operands.  Each operand takes eight bytes,
 * except a `b` operand, which is a length in four bytes, followed by the bytes. */
enum raddle_full_code {
	RADDLE_FULL_END = 0x00,	   /* the rest of the buffer is unused */
	RADDLE_FULL_RESET = 0x01,  /* a buffer begins */
	RADDLE_FULL_RANGE = 0x03,  /* site, address, length, hash, pointers */
	RADDLE_FULL_ATOMIC = 0x04, /* site, q, address, flags, old value, new value */
	RADDLE_FULL_FENCE = 0x05,  /* site, q */
	RADDLE_FULL_FAULT = 0x08,  /* site, number of the fault, value before, value after */
	RADDLE_FULL_PIECE = 0x80,  /* the bit that is set in the first byte of a piece */
};

/* Pieces are numbered like sites: unit slot << 16 | n.  The head of a piece contains its number in
 * four bytes, with the top bit of the first byte set. */
static inline uint32_t raddle_piece_head(uint32_t piece)
{
	return RADDLE_FULL_PIECE | (piece & 0x7f) | piece >> 7 << 8;
}

static inline uint32_t raddle_piece_number(uint32_t head)
{
	return (head & 0x7f) | head >> 8 << 7;
}

#define RADDLE_PIECE_HEAD 4 /* the size of the head in bytes */
/* The maximum size of a piece in bytes; longer straight-line code is split. */
#define RADDLE_PIECE_MAX 2048
#define RADDLE_FULL_POINTERS 16 /* the maximum number of pointers in the record of a range */
/* The maximum size of a value in bytes; larger ones are recorded as ranges. */
#define RADDLE_FULL_VALUE_MAX 128
_Static_assert(RADDLE_PIECE_MAX > RADDLE_FULL_VALUE_MAX, "a piece has room for any value");

/* Returns non-zero if a word looks like an address in a position-independent program, its heap, its
 * libraries or a stack.  If the stack is unlimited, the `high` bits of mappings are 0x14, 0x15,
 * 0x2a or 0x2b. */
static inline int raddle_looks_like_pointer(uint64_t word)
{
	uint64_t high = word >> 40;

	if (high - 0x14 > 0x7f - 0x14)
		return 0;
	return high >= 0x7e || high == 0x55 || high == 0x56 || high <= 0x15 || high == 0x2a || high == 0x2b;
}

/* Returns non-zero if a word may be a pointer on kernels that randomise more bits (vm.mmap_rnd_bits
 * is 32).  These kernels shift mappings below the stack down by up to 2^44 bytes, and everything
 * else up.  A number or text may match too. */
static inline int raddle_may_be_pointer(uint64_t word)
{
	uint64_t high = word >> 40;

	if (high - 0x05 > 0x7f - 0x05)
		return 0;
	return high >= 0x6e || (high >= 0x55 && high <= 0x66) || high <= 0x15 ||
	       (high >= 0x2a && high <= 0x3b);
}

/* The hash of a range covers its words from its start; the last word is padded with 0.  Addresses
 * differ from run to run, so an aligned word that is listed as a pointer, or looks like one, is
 * hashed as 1. */
static inline uint64_t raddle_hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

/* --- faults --------------------------------------------------------------- */

/*
 * The fault plan is in the session's memory (session.h: fault_offset) and belongs to one process,
 * the first one or a forked one.  It consists of `struct raddle_faults`, thread_count threads, and
 * fault_count faults.  The faults of a thread are listed in the order in which they happen.  Only
 * one fault of a thread is due at a time.  While a fault is due, the thread counts the executions
 * of the fault's site, and the fault changes the execution with the number `instance`.  After that,
 * the thread's next fault is due, and the count starts from 0.  So an injection does not depend on
 * the schedule.
 */
#define RADDLE_FAULT_VERSION 3
/* The maximum number of forks that lead from the first process to the one that the plan belongs
 * to. */
#define RADDLE_FAULT_FORKS 16
#define RADDLE_FAULT_NONE UINT32_MAX

enum raddle_fault_action {
	RADDLE_FAULT_FLIP,  /* value ^ mask */
	RADDLE_FAULT_CLEAR, /* value & ~mask, as with bits stuck at 0 */
	RADDLE_FAULT_RAISE, /* value | mask, as with bits stuck at 1 */
	RADDLE_FAULT_ADD,   /* value + mask, modulo the value's size */
	RADDLE_FAULT_SET,   /* mask replaces the value */
	RADDLE_FAULT_SCALE, /* unsigned value * mask[0] / mask[1], for sizes */
	/* Only at sites of kind `k`: the call is skipped, its result is mask[0], and errno becomes
	 * mask[1] unless mask[1] is 0. */
	RADDLE_FAULT_CALL,
	RADDLE_FAULT_FORMER, /* the value of the site's previous execution, or 0 in the first */
	/* The value is an address.  The bits of mask[0] are flipped in the eight bytes that it
	 * points to. */
	RADDLE_FAULT_MEMORY,
	/* The value, which is an address, becomes the address of memory that no code reads. */
	RADDLE_FAULT_AWAY,
	RADDLE_FAULT_DELAY, /* the thread sleeps for mask[0] microseconds */
	RADDLE_FAULT_KILL,  /* the thread disappears: no locks are released, no handlers run */
	/* From here on, the process cannot allocate the resource mask[0] (enum raddle_resource). */
	RADDLE_FAULT_EXHAUST,
	RADDLE_FAULT_ACTIONS,
};

enum raddle_resource { RADDLE_RESOURCE_MEMORY, RADDLE_RESOURCE_FILES, RADDLE_RESOURCE_THREADS };

/* Returns non-zero if a random fault occurs in this execution.  The low half of `chance` is the
 * probability times 2^32; the upper half makes the choices of two faults differ.  If `chance` is 0,
 * the fault always occurs. */
static inline int raddle_fault_happens(uint64_t chance, uint64_t execution)
{
	uint64_t h = (execution + 1) * 0x9e3779b97f4a7c15ull ^ (chance >> 32) * 0xd6e8feb86659fd93ull;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
	return !chance || (h ^ h >> 32) % 0xffffffff < (uint32_t)chance;
}

struct raddle_fault_thread {
	/* the parent's position in this table, and the thread's number among the parent's
	 * creations; entry 0 is the initial thread */
	uint32_t parent, index;
	uint32_t first, count; /* the position of its first fault, and the number of its faults */
	/* The thread's number.  The program sets it when the thread starts; before, it is
	 * RADDLE_FAULT_NONE. */
	uint32_t number;
	uint32_t unused;
};

struct raddle_fault {
	uint32_t thread; /* the position in the table of threads */
	uint32_t site;
	uint64_t instance; /* the first execution that is changed, from 1 */
	uint64_t repeat;   /* how many executions are changed; 0 for all from `instance` on */
	uint32_t action;   /* enum raddle_fault_action */
	/* The number of the fault in records of the trace.  The author of the plan chooses it. */
	uint32_t number;
	uint64_t mask[2]; /* low half first; bits beyond the value's size are ignored */
	uint64_t chance;  /* passed to raddle_fault_happens(); 0 if the fault always occurs */

	/* Written by the program. */
	_Atomic uint64_t seen;	      /* the executions of the site while the fault was due */
	_Atomic uint64_t fired;	      /* how many executions the fault changed */
	uint64_t before[2], after[2]; /* the values before and after the first change */
};

struct raddle_faults {
	uint32_t version;
	uint32_t thread_count, fault_count;
	/* The number of forks that lead from the first process to the one that the plan belongs to.
	 * `process` contains their indices.  For P_0_2_1, there are two forks, with the indices 2
	 * and 1. */
	uint32_t forks;
	uint32_t process[RADDLE_FAULT_FORKS];
};

static inline struct raddle_fault_thread *raddle_fault_threads(struct raddle_faults *f)
{
	return (struct raddle_fault_thread *)(f + 1);
}

static inline struct raddle_fault *raddle_fault_list(struct raddle_faults *f)
{
	return (struct raddle_fault *)(raddle_fault_threads(f) + f->thread_count);
}

#define RADDLE_FAULTS_SIZE(threads, faults)                                                                  \
	(sizeof(struct raddle_faults) + (uint64_t)(threads) * sizeof(struct raddle_fault_thread) +           \
	 (uint64_t)(faults) * sizeof(struct raddle_fault))

/* --- what instrumented code calls ------------------------------------------- */

/* Reserves `size` bytes and one open piece.  Returns the old `used` in the low half and the old
 * `open` in the high half.  This is one instruction, so a signal handler runs either before or
 * after it. */
static inline uint64_t raddle_full_reserve(struct raddle_buffer *b, uint32_t size)
{
	uint64_t n = 1ull << 32 | size;

#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, (%1)" : "+r"(n) : "r"(&b->used) : "memory", "cc");
#else
	n = __atomic_fetch_add((uint64_t *)(void *)&b->used, n, __ATOMIC_RELAXED);
#endif
	return n;
}

/* Returns the buffer that contains a piece. */
static inline struct raddle_buffer *raddle_full_buffer(void *piece)
{
	return (struct raddle_buffer *)((uintptr_t)piece & -(uintptr_t)RADDLE_BUFFER_SIZE);
}

/* Records that the piece is complete. */
static inline void raddle_full_end(void *piece)
{
#if defined(__x86_64__)
	__asm__ volatile("decl %0" : "+m"(raddle_full_buffer(piece)->open) : : "memory", "cc");
#else
	__atomic_fetch_sub(&raddle_full_buffer(piece)->open, 1, __ATOMIC_RELEASE);
#endif
}

/* Hooks of rt/full/hook.c, which are inlined.  The first one reserves a piece of `size` bytes.
 * The second one is called after the piece's last byte was stored. */
void *__raddle_piece(struct raddle_self *self, uint32_t size);
void __raddle_piece_end(void *piece);

/* Called when the buffer `full` has no room for the piece. */
RADDLE_COLD void *__raddle_piece_room(struct raddle_self *self, struct raddle_buffer *full, uint32_t size);

/* At sites that a fault may strike, instrumented code also calls __raddle_inject_1 to _64 and
 * __raddle_inject_call (rt/inject/inject-x86.c).  These functions have their own calling
 * convention, so C code cannot call them. */

/* Called before each load and store in the flavour `led`.  `what` is as for
 * __raddle_atomic_begin(). */
void __raddle_stop(struct raddle_self *self, const void *p, uint64_t what);

/* Called in the flavour `led` before an access of `size` bytes at p, if the access may be out of
 * bounds.  The program computed p from the address of a variable or array, which has `extent`
 * bytes and begins at `start`. */
void __raddle_within(struct raddle_self *self, const void *p, uint64_t size, const void *start,
		     uint64_t extent, uint32_t site);

/* Called in the flavour `led` before a library function copies at most `max` bytes of the string at
 * `from`.  The destination is p or, if RADDLE_COPIES_APPENDS is set in `what`, the end of the string at
 * p.  Returns the number of bytes from p to the end of the resulting string, including its NUL. */
#define RADDLE_COPIES_APPENDS ((uint64_t)1 << 32)
uint64_t __raddle_copies(struct raddle_self *self, const char *p, const char *from, uint64_t max,
			 uint64_t what);

/* Called before a fence in the flavour `led`.  `kind` is the C11 order (as in
 * RADDLE_ATOMIC_ORDERED, minus one), or 5 for a fence that orders only stores. */
void __raddle_barrier(struct raddle_self *self, uint32_t kind);

/* Called after an atomic operation, instead of __raddle_atomic_end().  Bit 0 of `flags` is set if
 * the operation wrote to memory.  The bits from bit 8 on are the operation's size in bytes.  The
 * remaining arguments are the values before and after the operation, low words first. */
void __raddle_atomic_values(struct raddle_self *self, const volatile void *p, uint32_t site, uint32_t flags,
			    uint64_t old, uint64_t old_high, uint64_t now, uint64_t now_high);

#endif
