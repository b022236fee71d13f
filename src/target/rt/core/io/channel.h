/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels, such as pipes, sockets and file locks.  One thread sends through a channel, and
 * another receives from it.  A send is reported before it takes effect, and a receipt afterwards.
 * A channel is identified by a key of 64 bits, which consists of a subject (the kind of the
 * channel) and a number.  These functions preserve errno.
 */
#ifndef RT_CHANNEL_H
#define RT_CHANNEL_H

#include "rt/common/hash.h"

#include <stdbool.h>
#include <stdint.h>

/* The subject of a key: what its number identifies.  A key has room for 15 subjects. */
enum rt_subject {
	RT_PIPE = 1,  /* a pipe, by its inode */
	RT_INBOX,     /* what one socket of a pair receives, by its inode */
	RT_ANONYMOUS, /* a file without an inode of its own, such as an eventfd, by its descriptor */
	RT_PEER,      /* a socket of a pair, by its inode; the value of the key is the other inode */
	RT_NAME,      /* an address that a socket of this process was bound to */
	RT_ARRIVALS,  /* the connections made to such an address */
	RT_NETWORK,   /* a connection, by its two ports */
	RT_LOCAL,     /* a connection to a socket in the file system, by the socket's path */
	RT_AWAITED,   /* an epoll registration, by instance and datum; the value is the descriptor plus 1 */
	RT_FILE,      /* a message queue or a lock on a file, by its inode */
	RT_MESSAGES,  /* a queue of System V, by its number */
	RT_SEMAPHORE, /* posts of a System V semaphore, by the semaphore's set and number */
	RT_ZERO,      /* decrements of such a semaphore, for threads that wait until it is 0 */
	RT_SIGNAL,    /* a signal that threads wait for, by its number */
	RT_STREAM,    /* the lock of a stdio stream, by its address */
};

_Static_assert(RT_STREAM < 16, "a subject is the upper four bits of a key");

static inline uint64_t rt_channel_key(enum rt_subject subject, uint64_t value)
{
	return (uint64_t)subject << 60 | (value & ~0ull >> 4);
}

static inline uint64_t rt_channel_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ rt_hash(b)) * 0xff51afd7ed558ccdull;

	return h ^ h >> 32;
}

/* For layers, everything outside the program is one channel, with this address.  It causes no
 * channel events. */
#define RT_CHANNEL_OUTSIDE (RADDLE_CHANNELS + (uintptr_t)RADDLE_CHANNEL_COUNT * RADDLE_CHANNEL_BYTES)

void rt_channel_send(uint64_t key);
void rt_channel_receive(uint64_t key);

/* A thread calls tells() when it is about to change the file system, or to start or end a process.
 * A thread that may have noticed such a change calls hears(). */
void rt_path_tells(void);
void rt_path_hears(void);

/* The thread is about to send through whatever the descriptor refers to, or has received from
 * it. */
void rt_channel_sends(int fd);
void rt_channel_receives(int fd);

/* Returns true if the socket with this inode is one of a pair that this process made. */
bool rt_channel_is_pair(uint64_t inode);

bool rt_channel_is(int fd);

/* Call rt_datagram_sends() before a message is sent through a descriptor, which may be of any
 * kind.  Call rt_datagram_is_own() after a datagram was received from a socket.  It returns true
 * if the program itself had sent the datagram. */
struct msghdr;
bool rt_datagram_is(int fd);
void rt_datagram_sends(int fd, const struct msghdr *message);
bool rt_datagram_is_own(int fd);

/* Call this before a descriptor is closed.  If it holds a lock on its file, closing it releases the
 * lock. */
void rt_file_unlocks(int fd);

#endif
