/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event codes and the byte-level rules that the runtime's encoder and the
 * trace reader share.  doc/format/trace.md is the normative description.
 *
 * A stream is a sequence of records.  The first byte tells the kind:
 *
 *   0x80..0xff  a plain access: the low seven bits are zigzag(site - previous
 *               site) if below 127; 127 means that number follows as a varint.
 *               Then zigzag(address - last address of this site's slot),
 *               varint.  The site table tells read or write, and the size.
 *   0x01        RESET: the decoder state returns to its initial value.  Every
 *               buffer the runtime hands over starts with one.
 *   0x02        STACK: varint keep, varint count, then count sites, each as
 *               zigzag(site - previous pushed site) varint (the first one
 *               relative to 0).  The call stack becomes its first `keep`
 *               entries followed by the pushed ones, outermost first.
 *   0x03        RANGE: varint zigzag(site - previous site), varint zigzag of
 *               the address as in a plain access, varint length.
 *   0x04        ATOMIC: q, site and address as in RANGE, varint flags (bit 0:
 *               the operation stored).  Size, order and operation are the
 *               site's.
 *   0x05        FENCE: q, site as in RANGE.
 *   0x06        STRIDE: site and address as in RANGE, varint zigzag(distance),
 *               varint count (1 to RADDLE_STRIDE_MAX): the same as count plain
 *               accesses of the site, each `distance` behind the one before.
 *   others      a row of event.inc.
 *
 * q, t and a operands are zigzag varints of the difference to the previous
 * operand of the same letter.  Decoder state after RESET: previous site, q, t
 * and a are 0, all address slots are 0, the call stack is empty.
 *
 * A varint is little-endian base 128, at most ten bytes.
 */
#ifndef RADDLE_EVENT_H
#define RADDLE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#define RADDLE_ACCESS_FLAG 0x80
#define RADDLE_ACCESS_ESCAPE 127
#define RADDLE_STRIDE_MAX 65536 /* so that no few bytes stand for endless work */
#define RADDLE_SITE_SLOTS 256	/* slot = site % RADDLE_SITE_SLOTS */

enum raddle_event {
	RADDLE_RESET = 0x01,
	RADDLE_STACK = 0x02,
	RADDLE_RANGE = 0x03,
	RADDLE_ATOMIC = 0x04,
	RADDLE_FENCE = 0x05,
	RADDLE_STRIDE = 0x06,
#define RADDLE_EVENT(code, constant, name, operands, operand_names, meaning) RADDLE_##constant = code,
#include "raddle/event.inc"
#undef RADDLE_EVENT
	RADDLE_ACCESS = RADDLE_ACCESS_FLAG, /* any code with this bit */
};

/* Whether an operation counts in schedules (doc/format/schedule.md).  Runtime and prediction
 * number the operations of a thread by it, so both must agree. */
static inline bool raddle_is_counted(enum raddle_event kind)
{
	switch (kind) {
	case RADDLE_MUTEX_INIT:
	case RADDLE_MUTEX_DESTROY:
	case RADDLE_MUTEX_REQUEST:
	case RADDLE_RWLOCK_INIT:
	case RADDLE_RWLOCK_DESTROY:
	case RADDLE_RWLOCK_REQUEST:
	case RADDLE_SPIN_INIT:
	case RADDLE_SPIN_DESTROY:
	case RADDLE_SPIN_REQUEST:
	case RADDLE_COND_INIT:
	case RADDLE_COND_DESTROY:
	case RADDLE_BARRIER_INIT:
	case RADDLE_BARRIER_DESTROY:
	case RADDLE_SEM_INIT:
	case RADDLE_SEM_DESTROY:
	case RADDLE_SEM_REQUEST:
	case RADDLE_JOIN_REQUEST:
	case RADDLE_ONCE_REQUEST:
		return false;
	default:
		return kind >= RADDLE_THREAD_START && kind <= RADDLE_ONCE_REQUEST;
	}
}

/* File descriptors are recorded as if they were memory, where no program has any: using one is a read
 * of one byte, closing it a write; opening it is a write of two bytes. */
#define RADDLE_DESCRIPTORS 0x10000u
#define RADDLE_DESCRIPTOR_BYTES 16u
#define RADDLE_DESCRIPTOR_COUNT 65536u

static inline bool raddle_is_descriptor(uint64_t address)
{
	return address - RADDLE_DESCRIPTORS < (uint64_t)RADDLE_DESCRIPTOR_COUNT * RADDLE_DESCRIPTOR_BYTES;
}

/* What an operation on a lock, semaphore and so on is to the memory of that object, whatever else it
 * means: a use has to come between the object's initialisation and its destruction. */
enum raddle_handling { RADDLE_HANDLES_NOT, RADDLE_USES, RADDLE_INITIALISES, RADDLE_DESTROYS };

static inline enum raddle_handling raddle_handling(enum raddle_event kind)
{
	switch (kind) {
	case RADDLE_MUTEX_INIT:
	case RADDLE_RWLOCK_INIT:
	case RADDLE_SPIN_INIT:
	case RADDLE_COND_INIT:
	case RADDLE_BARRIER_INIT:
	case RADDLE_SEM_INIT:
		return RADDLE_INITIALISES;
	case RADDLE_MUTEX_DESTROY:
	case RADDLE_RWLOCK_DESTROY:
	case RADDLE_SPIN_DESTROY:
	case RADDLE_COND_DESTROY:
	case RADDLE_BARRIER_DESTROY:
	case RADDLE_SEM_DESTROY:
		return RADDLE_DESTROYS;
	case RADDLE_COND_WAKE:
	case RADDLE_BARRIER_EXIT:
		return RADDLE_HANDLES_NOT;
	default:
		return kind >= RADDLE_MUTEX_INIT && kind <= RADDLE_SEM_POST && raddle_is_counted(kind)
			       ? RADDLE_USES
			       : RADDLE_HANDLES_NOT;
	}
}

/* The size of the object that such an operation is about (x86-64, glibc). */
static inline uint32_t raddle_object_size(enum raddle_event kind)
{
	return kind <= RADDLE_MUTEX_UNLOCK     ? 40
	       : kind <= RADDLE_RWLOCK_UNLOCK  ? 56
	       : kind <= RADDLE_SPIN_UNLOCK    ? 4
	       : kind <= RADDLE_COND_BROADCAST ? 48
					       : 32;
}

/* Operand values of ALLOC and FREE. */
enum raddle_alloc_kind {
	RADDLE_ALLOC_MALLOC = 0,    /* malloc, calloc, realloc, strdup, ... */
	RADDLE_ALLOC_ALIGNED = 1,   /* aligned_alloc, posix_memalign, memalign */
	RADDLE_ALLOC_NEW = 2,	    /* C++ operator new */
	RADDLE_ALLOC_NEW_ARRAY = 3, /* C++ operator new[] */
	RADDLE_ALLOC_MMAP = 4,	    /* mmap, mremap */
};

/*
 * A site is 31 bits: the upper bits number a translation unit's slot, the lower
 * RADDLE_SITE_LOCAL_BITS the place within it.  A unit with more sites takes
 * several consecutive slots.  Site 0 means "unknown place".
 */
#define RADDLE_SITE_LOCAL_BITS 16
#define RADDLE_SITE_MAX 0x7fffffffu

/* The most operands a row of event.inc may have. */
#define RADDLE_MAX_OPERANDS 8

#endif
