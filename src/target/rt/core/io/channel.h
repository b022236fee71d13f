/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels: one thread sends through a channel and another receives from it, by whatever means.  A
 * send is reported before it takes effect, a receipt after it.  A channel is identified by a key
 * of 64 bits: a subject, and a number that distinguishes the things of that subject.  errno is
 * preserved.
 */
#ifndef RT_CHANNEL_H
#define RT_CHANNEL_H

#include "rt/common/hash.h"

#include <stdbool.h>
#include <stdint.h>

/* What a key is about.  There is room for 15. */
enum rt_subject {
	RT_PIPE = 1,  /* an inode */
	RT_INBOX,     /* of a socket of a pair: its inode */
	RT_ANONYMOUS, /* a descriptor whose file has no inode of its own: an eventfd */
	RT_PEER,      /* of a socket of a pair; the value is the other inode */
	RT_NAME,      /* an address that a socket of this process was bound to */
	RT_ARRIVALS,  /* connections to such an address */
	RT_NETWORK,   /* a connection: the two ports */
	RT_LOCAL,     /* a connection to a socket in the file system: its path */
	RT_AWAITED,   /* an epoll instance and the datum of a registration; the value is 1 + the descriptor */
	RT_FILE,      /* a message queue or a lock on a file: its inode */
	RT_MESSAGES,  /* a queue of System V: its number */
	RT_SEMAPHORE, /* of System V: its set and number; what is posted to it */
	RT_ZERO,      /* the same: what is taken, for those that wait until nothing is left */
	RT_SIGNAL,    /* a signal that is waited for: its number */
	RT_STREAM,    /* the lock of a stdio stream: its address */
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

void rt_channel_send(uint64_t key);
void rt_channel_receive(uint64_t key);

/* tells: through a path or a process, the thread is about to do something that others may notice.
 * hears: it has noticed something in this way. */
void rt_path_tells(void);
void rt_path_hears(void);

/* A thread is about to send, or has received, through whatever the descriptor refers to. */
void rt_channel_sends(int fd);
void rt_channel_receives(int fd);

/* Whether the descriptor refers to a channel. */
bool rt_channel_is(int fd);

/* The descriptor is about to be closed.  If it holds a lock on its file, closing releases the
 * lock. */
void rt_file_unlocks(int fd);

#endif
