/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event codes and the byte-level rules that the runtime's encoder and the
 * trace reader share.  doc/format/trace.md is the normative description.
 *
 * A stream is a sequence of records.  The first byte is the kind:
 *
 *   0x80..0xff  a plain access: the low seven bits are zigzag(site - previous
 *               site) if it is below 127.  If they are 127, it follows as a varint.
 *               Then zigzag(address - last address of this site's slot),
 *               varint.  The site table has the direction and the size.
 *   0x01        RESET: the decoder state returns to its initial value.  Every
 *               buffer the runtime hands over starts with one.
 *   0x02        STACK: varint keep, varint count, then count sites, each as
 *               zigzag(site - previous pushed site) varint (the first one
 *               relative to 0).  The call stack becomes its first `keep`
 *               entries followed by the pushed ones, outermost first.
 *   0x03        RANGE: varint zigzag(site - previous site), varint zigzag of
 *               the address as in a plain access, varint length.
 *   0x04        ATOMIC: q, site and address as in RANGE, varint flags
 *               (RADDLE_ATOMIC_STORED, RADDLE_ATOMIC_PASSED).  The site table
 *               has the size, order and operation.
 *   0x05        FENCE: q, site as in RANGE.
 *   0x06        STRIDE: site and address as in RANGE, varint zigzag(distance),
 *               varint count (1 to RADDLE_STRIDE_MAX): the same as count plain
 *               accesses of the site, each `distance` bytes after the last.
 *   0x07        RANGES: site, address and distance as in STRIDE, varint length,
 *               varint count as in STRIDE: the same as count ranges of that length.
 *   0x08        LEFT_OUT: site as in RANGE, varint count: the number of accesses of the site that
 *               were not written here.
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

#define RADDLE_FIRST_ROW 0x10 /* the first code of event.inc; lower codes have other encodings */
/* In the first byte of an access, the bit FLAG is set.  The other bits are the difference between
 * the access's site and the previous site.  If they are ESCAPE, the difference follows as a
 * varint. */
#define RADDLE_ACCESS_FLAG 0x80
#define RADDLE_ACCESS_ESCAPE 127
#define RADDLE_STRIDE_MAX 65536 /* maximum count in STRIDE and RANGES; bounds the reader's work */
#define RADDLE_SITE_SLOTS 256	/* slots for previous addresses; a site uses slot site % 256 */

/* Flags of an ATOMIC record. */
#define RADDLE_ATOMIC_STORED 1u /* the operation wrote to memory */
#define RADDLE_ATOMIC_PASSED 2u /* the operation did not end a segment */

enum raddle_event {
#define RADDLE_EVENT(code, constant, ...) RADDLE_##constant = code,
#define RADDLE_RECORD RADDLE_EVENT
#include "raddle/event.inc"
};

enum raddle_class {
#define RADDLE_CLASS(constant, ...) RADDLE_CLASS_##constant,
#include "raddle/event.inc"
	RADDLE_CLASS_COUNT
};

enum raddle_role {
#define RADDLE_ROLE(constant, ...) RADDLE_ROLE_##constant,
#include "raddle/event.inc"
	RADDLE_ROLE_COUNT
};

enum raddle_manner {
#define RADDLE_MANNER(constant, ...) RADDLE_MANNER_##constant,
#include "raddle/event.inc"
	RADDLE_MANNER_COUNT
};

/* The columns of event.inc that hot loops need, by code. */
struct raddle_event_row {
	uint8_t class, role, manner;
	bool counts;
	bool has_q;
	/* The position of the last operand, counted from 0; also 0 if there are no operands. */
	uint8_t last;
};

static const struct raddle_event_row raddle_event_rows[RADDLE_ACCESS + 1] = {
#define RADDLE_COUNTS_STEP true
#define RADDLE_COUNTS_ASIDE false
#define RADDLE_EVENT(code, constant, name, class, role, manner, counts, operands, ...)                       \
	[code] = {RADDLE_CLASS_##class,	  RADDLE_ROLE_##role, RADDLE_MANNER_##manner,                        \
		  RADDLE_COUNTS_##counts, operands[0] == 'q', sizeof operands - 1 - (sizeof operands > 1)},
#define RADDLE_RECORD RADDLE_EVENT
#include "raddle/event.inc"
#undef RADDLE_COUNTS_STEP
#undef RADDLE_COUNTS_ASIDE
};

static inline const struct raddle_event_row *raddle_event_row(uint32_t kind)
{
	return &raddle_event_rows[kind < RADDLE_ACCESS ? kind : RADDLE_ACCESS];
}

static inline enum raddle_class raddle_class(uint32_t kind)
{
	return (enum raddle_class)raddle_event_row(kind)->class;
}

static inline enum raddle_role raddle_role(uint32_t kind)
{
	return (enum raddle_role)raddle_event_row(kind)->role;
}

static inline enum raddle_manner raddle_manner(uint32_t kind)
{
	return (enum raddle_manner)raddle_event_row(kind)->manner;
}

/* Returns true if the operation is a step of schedules, that is, if it is marked STEP in
 * event.inc. */
static inline bool raddle_is_counted(uint32_t kind)
{
	return raddle_event_row(kind)->counts;
}

static inline bool raddle_has_q(uint32_t kind)
{
	return kind < RADDLE_ACCESS && raddle_event_rows[kind].has_q;
}

/* Returns true if the event is a memory access: plain, of a range, or atomic. */
static inline bool raddle_is_access(uint32_t kind)
{
	return kind >= RADDLE_ACCESS || raddle_event_rows[kind].class == RADDLE_CLASS_ACCESS;
}

/* Returns true if the event concerns a synchronisation object. */
static inline bool raddle_is_sync(uint32_t kind)
{
	return raddle_class(kind) >= RADDLE_CLASS_MUTEX && raddle_class(kind) <= RADDLE_CLASS_CHANNEL;
}

static inline bool raddle_is_lock_class(enum raddle_class class)
{
	return class >= RADDLE_CLASS_MUTEX && class <= RADDLE_CLASS_SPIN;
}

static inline bool raddle_is_lock(uint32_t kind)
{
	return raddle_is_lock_class(raddle_class(kind));
}

static inline bool raddle_is(uint32_t kind, enum raddle_class class, enum raddle_role role)
{
	return raddle_class(kind) == class && raddle_role(kind) == role;
}

/* Returns true if the event begins or ends a wait on a condition variable.  Such a wait releases
 * its mutex, and reacquires it when it ends. */
static inline bool raddle_is_cond_wait(uint32_t kind)
{
	return raddle_class(kind) == RADDLE_CLASS_COND &&
	       (raddle_role(kind) == RADDLE_ROLE_WAIT || raddle_role(kind) == RADDLE_ROLE_WAKE);
}

/* Returns true if the event acquires an object, or tries to, whether exclusively or shared. */
static inline bool raddle_takes(uint32_t kind)
{
	return raddle_role(kind) == RADDLE_ROLE_ACQUIRE || raddle_role(kind) == RADDLE_ROLE_SHARE;
}

/* Returns true if the event does not wait, or waits only for a limited time. */
static inline bool raddle_is_limited(uint32_t kind)
{
	return raddle_manner(kind) == RADDLE_MANNER_TRY || raddle_manner(kind) == RADDLE_MANNER_TIMED;
}

/* Returns true if the accesses after the event belong to a new segment of their thread.  `last` is
 * the event's last operand. */
static inline bool raddle_ends_segment(uint32_t kind, uint64_t last)
{
	return raddle_has_q(kind) && raddle_class(kind) != RADDLE_CLASS_MEMORY &&
	       raddle_class(kind) != RADDLE_CLASS_OUTSIDE &&
	       !(kind == RADDLE_ATOMIC && last & RADDLE_ATOMIC_PASSED);
}

/* Returns the first event in the table that has this class, role and manner, or 0 if there is
 * none. */
static inline uint32_t raddle_event_of(enum raddle_class class, enum raddle_role role,
				       enum raddle_manner manner)
{
	for (uint32_t kind = 1; kind <= RADDLE_ACCESS; kind++)
		if (raddle_is(kind, class, role) && raddle_manner(kind) == manner)
			return kind;
	return 0;
}

/* If this event begins a wait, returns the event that ends the wait.  Otherwise returns the event
 * itself.  A request for a read-write lock is treated as a writer's request. */
static inline uint32_t raddle_awaited(uint32_t kind)
{
	enum raddle_class class = raddle_class(kind);

	if (raddle_role(kind) == RADDLE_ROLE_WAIT)
		return raddle_event_of(class, RADDLE_ROLE_WAKE, RADDLE_MANNER_PLAIN);
	if (raddle_role(kind) != RADDLE_ROLE_REQUEST)
		return kind;
	return raddle_event_of(class,
			       class == RADDLE_CLASS_THREAD ? RADDLE_ROLE_JOIN
			       : class == RADDLE_CLASS_ONCE ? RADDLE_ROLE_PASS
							    : RADDLE_ROLE_ACQUIRE,
			       RADDLE_MANNER_PLAIN);
}

/* File descriptors are recorded as memory at addresses that no program uses.  A use of a descriptor
 * is recorded as a read of one byte.  Closing a descriptor is recorded as a write of one byte, and
 * opening it as a write of two bytes. */
#define RADDLE_DESCRIPTORS 0x10000u
#define RADDLE_DESCRIPTOR_BYTES 16u
#define RADDLE_DESCRIPTOR_COUNT 65536u

static inline bool raddle_is_descriptor(uint64_t address)
{
	return address - RADDLE_DESCRIPTORS < (uint64_t)RADDLE_DESCRIPTOR_COUNT * RADDLE_DESCRIPTOR_BYTES;
}

/* Channels, too, are recorded at addresses that no program uses, starting at RADDLE_CHANNELS. */
#define RADDLE_CHANNELS 0x200000u
#define RADDLE_CHANNEL_BYTES 16u
#define RADDLE_CHANNEL_COUNT 65536u
_Static_assert(RADDLE_CHANNELS >= RADDLE_DESCRIPTORS + RADDLE_DESCRIPTOR_COUNT * RADDLE_DESCRIPTOR_BYTES,
	       "descriptors and channels have different addresses");

static inline bool raddle_is_channel(uint64_t address)
{
	return address - RADDLE_CHANNELS < (uint64_t)RADDLE_CHANNEL_COUNT * RADDLE_CHANNEL_BYTES;
}

/* What an operation on a lock, semaphore or similar object does with the object's memory.  An
 * object may be used only between its initialisation and its destruction. */
enum raddle_handling { RADDLE_HANDLES_NOT, RADDLE_USES, RADDLE_INITIALISES, RADDLE_DESTROYS };

static inline enum raddle_handling raddle_handling(uint32_t kind)
{
	if (!raddle_is_sync(kind) || raddle_class(kind) >= RADDLE_CLASS_ONCE)
		return RADDLE_HANDLES_NOT;
	switch (raddle_role(kind)) {
	case RADDLE_ROLE_INIT: return RADDLE_INITIALISES;
	case RADDLE_ROLE_DESTROY: return RADDLE_DESTROYS;
	case RADDLE_ROLE_WAKE:
	case RADDLE_ROLE_OTHER:
	case RADDLE_ROLE_REQUEST: return RADDLE_HANDLES_NOT;
	default: return RADDLE_USES;
	}
}

static inline uint32_t raddle_object_size(uint32_t kind)
{
	static const uint8_t sizes[] = {
#define RADDLE_CLASS(constant, name, size) size,
#include "raddle/event.inc"
	};
	return sizes[raddle_class(kind)];
}

/* The operand `kind` of ALLOC and FREE. */
enum raddle_alloc_kind {
	RADDLE_ALLOC_MALLOC = 0,    /* malloc, calloc, realloc, strdup, ... */
	RADDLE_ALLOC_ALIGNED = 1,   /* aligned_alloc, posix_memalign, memalign */
	RADDLE_ALLOC_NEW = 2,	    /* C++ operator new */
	RADDLE_ALLOC_NEW_ARRAY = 3, /* C++ operator new[] */
	RADDLE_ALLOC_MMAP = 4,	    /* mmap, mremap */
};

/*
 * A site has 31 bits.  The upper bits are the number of a unit's slot, and the lower
 * RADDLE_SITE_LOCAL_BITS bits are the number of the site within that slot.  A unit with more sites
 * takes several consecutive slots.  Site 0 means that the place is unknown.
 */
#define RADDLE_SITE_LOCAL_BITS 16
#define RADDLE_SITE_MAX 0x7fffffffu

/* The maximum number of operands in a row of event.inc. */
#define RADDLE_MAX_OPERANDS 8

#endif
