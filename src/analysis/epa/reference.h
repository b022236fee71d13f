/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden run as canonical records, thread by thread, in a temporary file: made once, read by any number
 * of comparisons, also at the same time.  In memory there is what is being looked at and nothing else.
 */
#ifndef EPA_REFERENCE_H
#define EPA_REFERENCE_H

#include "epa/sanitize.h"

struct epa_reference;

/* Walks the golden run.  The source must stay open. */
int epa_reference_open(struct epa_reference **reference, struct epa_source *golden);
void epa_reference_close(struct epa_reference *reference); /* NULL is fine */

/* Maps the file, so that many comparisons share its pages and copy nothing.  Where that is not possible, or
 * the file is so large that it would not stay in memory, it is read as before. */
void epa_reference_map(struct epa_reference *reference);

const struct epa_source *epa_reference_source(const struct epa_reference *reference);
const struct epa_names *epa_reference_names(const struct epa_reference *reference);

/* Canonical records of all threads. */
uint64_t epa_reference_records(const struct epa_reference *reference);

/* Threads in the order of their first records. */
size_t epa_reference_threads(const struct epa_reference *reference);

struct epa_reference_thread {
	uint32_t name; /* of epa_reference_names() */
	uint64_t records;
	bool ended;	  /* by itself, not because the process exited */
	uint64_t created; /* threads that it created */
	/* for cursors */
	uint64_t *blocks; /* each: block of the file << 16 | words used */
	size_t block_count, block_capacity;
	uint64_t *words; /* the last block, while it is being written */
	size_t used;
};
const struct epa_reference_thread *epa_reference_thread(const struct epa_reference *reference, size_t index);

/* Whether something ended the run before its threads did: a signal, a limit. */
bool epa_reference_was_killed(const struct epa_reference *reference);

/* The index of the thread with that name, or SIZE_MAX. */
size_t epa_reference_find(const struct epa_reference *reference, uint32_t name);

/* A golden record of words, with the types of its values. */
void epa_reference_unpack(const struct epa_reference *reference, struct epa_record *r, const uint64_t *words);

/* A place among the records of a thread. */
#define EPA_BLOCK_WORDS 4096
struct epa_cursor {
	const struct epa_reference *reference;
	const struct epa_reference_thread *thread;
	const uint64_t *words; /* the block that it stands in */
	uint64_t *own;	       /* room for it, unless the file is mapped */
	size_t block;	       /* the next one */
	size_t at, used;
	uint64_t number; /* of the record it stands at, from 0 */
	int err;
};
void epa_cursor_open(struct epa_cursor *c, const struct epa_reference *reference, size_t thread);
void epa_cursor_close(struct epa_cursor *c);
void epa_cursor_copy(struct epa_cursor *to, const struct epa_cursor *from); /* `to` is open or zeroed */
bool epa_cursor_load(struct epa_cursor *c);

/* The words of the record, NULL at the end.  A file that cannot be read is the end, too; c->err tells. */
static inline const uint64_t *epa_cursor_peek(struct epa_cursor *c)
{
	if (c->at == c->used && !epa_cursor_load(c))
		return NULL;
	return c->words + c->at;
}

/* Behind the record; only if there is one. */
static inline void epa_cursor_skip(struct epa_cursor *c)
{
	c->at += epa_packed_size(c->words[c->at]);
	c->number++;
}

#endif
