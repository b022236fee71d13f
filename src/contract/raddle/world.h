/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outside world of a program: the recorded input of a run, and the memory through which a
 * replay receives the same input again.
 * Recording: a thread writes the records of world.inc into buffers of the session whose `thread`
 * has the bit RADDLE_WORLD_BUFFER.  doc/format/world.md describes the file made from them.
 * Replay: the memory lies in the session (session.h: world_offset; 0: nothing is replayed) and
 * belongs to the first process.  The replayer fills it before the program starts:
 *
 *   struct raddle_world
 *   struct raddle_world_thread      thread_count of them, a parent before its children
 *   uint64_t                        values of sources, those of a thread and source together
 *   struct raddle_world_listener    listener_count
 *   struct raddle_world_connection  connection_count
 *   struct raddle_world_arrival     arrival_count, in their order
 *   bytes                           of arrivals and random numbers, and room for what is sent
 *
 * A thread that reads a source gets the next value that was recorded for this thread and source.
 * An arrival is input from outside: a connection, bytes, or end of file.  Arrivals keep their
 * order.  Each arrives as soon as the program has sent as much as it had at that time in the
 * recorded run.  Bytes and end of file also wait until earlier bytes of their connection were
 * read.  If no thread is runnable, the next input arrives anyway.
 */
#ifndef RADDLE_WORLD_H
#define RADDLE_WORLD_H

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_WORLD_BUFFER 0x80000000u /* a bit of the thread of a buffer; thread numbers are smaller */
#define RADDLE_WORLD_VERSION 1		/* of this layout */
#define RADDLE_WORLD_NONE UINT32_MAX
#define RADDLE_WORLD_ADDRESS 128 /* bytes of an address, at most: struct sockaddr_storage */
#define RADDLE_CLOCKS 8		 /* sources that are clocks of the kernel */

enum raddle_world_record {
#define RADDLE_WORLD(code, constant, ...) RADDLE_WORLD_##constant = code,
#include "raddle/world.inc"
	RADDLE_WORLD_RECORDS
};

enum raddle_source {
#define RADDLE_SOURCE(constant, ...) RADDLE_SOURCE_##constant,
#include "raddle/world.inc"
	RADDLE_SOURCES
};

struct raddle_world_run { /* part of a table */
	uint64_t first, count;
};

struct raddle_world_thread {
	uint32_t parent, index; /* position of the parent; NONE: the initial thread */
	struct raddle_world_run values[RADDLE_SOURCES];
	struct raddle_world_run random; /* bytes */
};

struct raddle_world_address {
	uint32_t size;
	uint8_t bytes[RADDLE_WORLD_ADDRESS];
};

struct raddle_world_listener {
	struct raddle_world_address address;
};

struct raddle_world_connection {
	uint32_t listener;		     /* position; NONE: the program made the connection */
	int32_t error;			     /* errno of the failed connect() of such a connection; or 0 */
	int32_t descriptor;		     /* that the program inherited; -1: not inherited */
	struct raddle_world_address address; /* of the other side */
	uint64_t sent, sum;		     /* recorded: bytes, and their sum */
	uint64_t kept_at, kept_size;	     /* room for what is sent */
	/* Written by the program. */
	_Atomic uint64_t now_sent;
	_Atomic uint32_t begun;	 /* it was accepted or connected */
	_Atomic uint32_t closed; /* by the program */
};

enum raddle_arrival { RADDLE_ARRIVES_CONNECTION, RADDLE_ARRIVES_BYTES, RADDLE_ARRIVES_END };

struct raddle_world_arrival {
	uint32_t kind; /* enum raddle_arrival */
	uint32_t connection;
	uint64_t bytes_at, length;
	uint64_t sent_before; /* bytes that the program had sent in total */
};

/* Calls without a record, by how they were answered. */
enum raddle_world_lack {
	RADDLE_WORLD_LACK_VALUE,   /* an extrapolated clock, or an identity */
	RADDLE_WORLD_LACK_RANDOM,  /* deterministic random numbers */
	RADDLE_WORLD_LACK_CONNECT, /* a connection that was not recorded: refused */
	RADDLE_WORLD_LACK_SOCKET,  /* a socket of a kind that is not replayed: a real one */
	RADDLE_WORLD_LACKS,
};

struct raddle_world {
	uint32_t version;
	uint32_t thread_count, listener_count, connection_count, arrival_count;
	uint32_t end_signal; /* sent when everything has arrived and no thread is runnable; 0: none */
	uint32_t sockets;    /* 1: sockets are replayed; 0: they are real */
	uint32_t unused;
	uint64_t all_sent; /* recorded: bytes sent in total */
	uint64_t threads_at, values_at, listeners_at, connections_at, arrivals_at; /* from the start */
	/* Written by the program. */
	_Alignas(64) _Atomic uint32_t arrived; /* arrivals delivered so far */
	_Atomic uint32_t hurried; /* arrivals that came before the program had sent as much as in the
				   * recorded run */
	_Atomic uint32_t ended;	  /* end_signal was sent */
	_Atomic uint32_t refused; /* arrivals whose bytes could not all be delivered */
	_Atomic uint64_t sent;	  /* bytes sent in total */
	_Atomic uint64_t lacks[RADDLE_WORLD_LACKS];
};

#define RADDLE_WORLD_TABLE(type, name)                                                                       \
	static inline type *raddle_world_##name(struct raddle_world *w)                                      \
	{                                                                                                    \
		return (type *)(void *)((char *)w + w->name##_at);                                           \
	}
RADDLE_WORLD_TABLE(struct raddle_world_thread, threads)
RADDLE_WORLD_TABLE(uint64_t, values)
RADDLE_WORLD_TABLE(struct raddle_world_listener, listeners)
RADDLE_WORLD_TABLE(struct raddle_world_connection, connections)
RADDLE_WORLD_TABLE(struct raddle_world_arrival, arrivals)
#undef RADDLE_WORLD_TABLE

/* The checksum of a stream of bytes, independent of how it is split. */
static inline uint64_t raddle_world_sum(uint64_t sum, const void *bytes, uint64_t length)
{
	const unsigned char *p = (const unsigned char *)bytes;

	while (length--)
		sum = (sum + *p++ + 1) * 0x9e3779b97f4a7c15ull;
	return sum;
}

#endif
