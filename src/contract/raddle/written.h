/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what a replayed program writes: the files that it opens for writing, and the datagrams
 * that it sends.  Its standard streams and replayed connections are not included.  The records lie
 * directly before the slots of the steering memory (raddle/steer.h).  Only the first process of
 * the program writes them.
 *
 * A record consists of a struct raddle_written_record, the bytes of the name, and the bytes that
 * were sent.  It is padded to a multiple of 8 bytes.
 */
#ifndef RADDLE_WRITTEN_H
#define RADDLE_WRITTEN_H

#include <stdatomic.h>
#include <stdint.h>

/* Size of the records in bytes, chosen by hand: enough for thousands of files or small datagrams.  The
 * memory is sparse. */
#define RADDLE_WRITTEN_BYTES (1u << 20)

enum raddle_written_kind {
	RADDLE_WRITTEN_FILE = 1, /* the name is an absolute path */
	RADDLE_WRITTEN_DATAGRAM, /* the name is a struct sockaddr: the address of the receiver */
};

struct raddle_written_record {
	uint32_t kind; /* enum raddle_written_kind; written last */
	uint32_t name_size, sent_size;
	uint32_t unused;
	/* If the program appended to the file, the size of the file when it was opened.  Otherwise
	 * 0.  Bytes before this offset were not written by this run. */
	uint64_t from;
};

struct raddle_written {
	_Atomic uint32_t used; /* the number of bytes of records */
	_Atomic uint32_t lost; /* the number of files and datagrams that could not be noted */
	/* aligned so that the slots, which follow this struct, are aligned, too */
	_Alignas(64) char records[RADDLE_WRITTEN_BYTES];
};

static inline uint32_t raddle_written_size(uint32_t name_size, uint32_t sent_size)
{
	return (uint32_t)(sizeof(struct raddle_written_record) + name_size + sent_size + 7) / 8 * 8;
}

/* Returns the memory that lies before the slots. */
static inline struct raddle_written *raddle_written_before(void *slots)
{
	return (struct raddle_written *)((char *)slots - sizeof(struct raddle_written));
}

#endif
