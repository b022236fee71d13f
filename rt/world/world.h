/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world around the program, which is recorded (rt/world/note.c).  This header is for the files of the
 * layer.
 */
#ifndef RT_WORLD_H
#define RT_WORLD_H

#include "raddle/world.h"
#include "rt/core/outside.h"

#define RT_WORLD_FDS 65536 /* descriptors above are not of the world */

/* A thread that is recorded. */
struct rt_noted {
	struct raddle_buffer *buffer; /* NULL: it has none yet */
	uint8_t *cursor;
	uint32_t buffers, events, lost;
	volatile uintptr_t busy;		/* the frame of the one who writes a record; 0: nobody does */
	uint64_t order, values[RADDLE_SOURCES]; /* what the reader of the buffer knows */
};

#define RT_LINEAGE 4096 /* threads whose descent is known, by number */
#define RT_DESCENT 64	/* creations from the initial thread, at most */

struct rt_lineage {
	uint32_t parent, index;
};

/* The process. */
struct rt_world {
	struct rt_lineage lineage[RT_LINEAGE];
	_Atomic uint32_t numbers;	     /* of connections and listeners that were given out */
	_Atomic uint64_t bytes;		     /* that were received and kept */
	_Atomic uint32_t fds[RT_WORLD_FDS];  /* enum rt_world_fd and a number */
	_Atomic uint64_t sums[RT_WORLD_FDS]; /* of what was sent, by connection */
};

/* What a descriptor is, above its number. */
enum rt_world_fd {
	RT_FD_NONE,
	RT_FD_LISTENER = 1 << 28,
	RT_FD_CONNECTION = 2 << 28,
	RT_FD_INPUT = 3 << 28, /* a connection that no record tells of yet */
	RT_FD_KINDS = 7 << 28,
};

/* rt/world/note.c: the table for a process that is recorded. */
extern const struct rt_outside rt_world_notes;
bool rt_world_note_setup(void);
void rt_world_note_begin(struct rt_thread *t);
void rt_world_note_end(struct rt_thread *t);

#endif
