/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The outside world of a program.  This file defines the recorded input of a run, and the memory
 * through which a replay receives the same input again.  Recording: a thread writes the records of
 * world.inc into buffers of the session whose `thread` has the bit RADDLE_WORLD_BUFFER.
 * doc/format/world.md describes the file made from them.  Replay: the memory is part of the
 * session, at world_offset (session.h), and belongs to the first process.  If world_offset is 0, no
 * input is replayed.  The replayer fills the memory before the program starts:
 *
 *   struct raddle_world
 *   struct raddle_world_thread      thread_count times, a parent before its children
 *   uint64_t                        the values of sources, by thread and source
 *   struct raddle_world_listener    listener_count times
 *   struct raddle_world_connection  connection_count times
 *   struct raddle_world_arrival     arrival_count times, in the order of arrival
 *   bytes                           bytes of arrivals, random numbers, and room for sent bytes
 *
 * A thread that reads a source gets the next value that was recorded for this thread and source.
 * An arrival is input from outside: a connection, bytes, or end of file.  Arrivals keep their
 * order.  An arrival is delivered once the program has sent as many bytes as it had sent when the
 * input arrived in the recorded run.  Bytes and end of file also wait until earlier bytes of their
 * connection were read.  If no thread is runnable, the next arrival is delivered anyway.
 */
#ifndef RADDLE_WORLD_H
#define RADDLE_WORLD_H

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_WORLD_BUFFER 0x80000000u /* a bit of a buffer's `thread`, above all thread numbers */
#define RADDLE_WORLD_VERSION 1		/* the version of this layout */
#define RADDLE_WORLD_NONE UINT32_MAX
#define RADDLE_WORLD_ADDRESS 128 /* the maximum size in bytes: that of struct sockaddr_storage */
#define RADDLE_CLOCKS 8		 /* the first 8 sources are clocks of the kernel */

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

/* A range of entries in a table. */
struct raddle_world_run {
	uint64_t first, count;
};

struct raddle_world_thread {
	/* `parent` is the position of the creating thread in this table, or RADDLE_WORLD_NONE for
	 * the initial thread.  `index` is the number of this thread among those that its parent
	 * created. */
	uint32_t parent, index;
	struct raddle_world_run values[RADDLE_SOURCES];
	struct raddle_world_run random; /* its random bytes */
};

struct raddle_world_address {
	uint32_t size;
	uint8_t bytes[RADDLE_WORLD_ADDRESS];
};

struct raddle_world_listener {
	struct raddle_world_address address;
};

struct raddle_world_connection {
	/* the position of the listener that accepted it; NONE for other connections */
	uint32_t listener;
	int32_t error;			     /* errno if connect() failed; otherwise 0 */
	int32_t descriptor;		     /* the inherited descriptor; -1 if not inherited */
	struct raddle_world_address address; /* the address of the other side */
	uint64_t sent, sum; /* the number of bytes sent in the recorded run, and their checksum */
	/* The offset and size of the room for the bytes that the replay sends. */
	uint64_t kept_at, kept_size;
	/* Written by the program. */
	_Atomic uint64_t now_sent; /* the number of bytes sent in the replay */
	_Atomic uint32_t begun;	   /* 1 if the connection was accepted or connected */
	_Atomic uint32_t closed;   /* 1 if the program has closed it */
};

enum raddle_arrival { RADDLE_ARRIVES_CONNECTION, RADDLE_ARRIVES_BYTES, RADDLE_ARRIVES_END };

struct raddle_world_arrival {
	uint32_t kind; /* enum raddle_arrival */
	uint32_t connection;
	uint64_t bytes_at, length;
	/* The total number of bytes that the program had sent before the arrival. */
	uint64_t sent_before;
};

/* Kinds of calls for which nothing was recorded.  The comments tell what the replay returns for
 * them. */
enum raddle_world_lack {
	RADDLE_WORLD_LACK_VALUE,   /* an extrapolated time, or a process ID that another thread got */
	RADDLE_WORLD_LACK_RANDOM,  /* deterministic pseudo-random bytes */
	RADDLE_WORLD_LACK_CONNECT, /* the connection is refused */
	RADDLE_WORLD_LACK_SOCKET,  /* a real socket, of a kind that is not replayed */
	RADDLE_WORLD_LACKS,
};

struct raddle_world {
	uint32_t version;
	uint32_t thread_count, listener_count, connection_count, arrival_count;
	/* The signal raised when no input is left and no thread is runnable; 0 for none. */
	uint32_t end_signal;
	uint32_t sockets; /* 1 if sockets are replayed, 0 if they are real */
	uint32_t unused;
	uint64_t all_sent; /* the total number of bytes sent in the recorded run */
	/* The offsets of the tables in this memory. */
	uint64_t threads_at, values_at, listeners_at, connections_at, arrivals_at;
	/* Written by the program. */
	_Alignas(64) _Atomic uint32_t arrived; /* the number of arrivals delivered so far */
	/* The number of arrivals that were delivered too early: the program had not yet sent as
	 * many bytes as in the recorded run. */
	_Atomic uint32_t hurried;
	_Atomic uint32_t ended;	  /* 1 if end_signal was raised */
	_Atomic uint32_t refused; /* the number of arrivals whose bytes were not all delivered */
	_Atomic uint64_t sent;	  /* the total number of bytes sent in the replay */
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

/* Adds bytes to the checksum of a stream.  The result does not depend on how the stream is
 * split. */
static inline uint64_t raddle_world_sum(uint64_t sum, const void *bytes, uint64_t length)
{
	const unsigned char *p = (const unsigned char *)bytes;

	while (length--)
		sum = (sum + *p++ + 1) * 0x9e3779b97f4a7c15ull;
	return sum;
}

#endif
