/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The golden run, stored thread by thread as canonical records in a temporary file.  The file is
 * written once.  Any number of comparisons can read it, even concurrently.  Only the current blocks
 * are in memory.
 */
#ifndef EPA_REFERENCE_H
#define EPA_REFERENCE_H

#include "epa/sanitize.h"

struct epa_reference;

/* Makes the reference by walking over the golden run.  The source must stay open. */
int epa_reference_open(struct epa_reference **reference, struct epa_source *golden);
void epa_reference_close(struct epa_reference *reference); /* `reference` may be NULL */

/* Maps the file, so that many comparisons share its pages.  If that fails, or the file is too large
 * to stay in memory, it is still read block by block. */
void epa_reference_map(struct epa_reference *reference);

const struct epa_source *epa_reference_source(const struct epa_reference *reference);
const struct epa_names *epa_reference_names(const struct epa_reference *reference);

uint64_t epa_reference_records(const struct epa_reference *reference);

/* Returns the number of threads.  Threads are indexed in the order of their first records. */
size_t epa_reference_threads(const struct epa_reference *reference);

struct epa_reference_thread {
	uint32_t name; /* number of its name in epa_reference_names() */
	uint64_t records;
	bool ended;	  /* true if the thread ended before the process exited */
	uint64_t created; /* number of threads that it created */
	/* The blocks of the thread.  Each entry is (block number in the file << 16 | number of
	 * words used). */
	uint64_t *blocks;
	size_t block_count, block_capacity;
	uint64_t *words; /* the last block, while the reference is being written */
	size_t used;
};
const struct epa_reference_thread *epa_reference_thread(const struct epa_reference *reference, size_t index);

/* Returns true if a signal or a limit ended the run before its threads ended. */
bool epa_reference_was_killed(const struct epa_reference *reference);

/* Returns the index of the thread with that name, or SIZE_MAX if there is none. */
size_t epa_reference_find(const struct epa_reference *reference, uint32_t name);

/* Unpacks a golden record from words, with the types of its values. */
void epa_reference_unpack(const struct epa_reference *reference, struct epa_record *r, const uint64_t *words);

#define EPA_BLOCK_WORDS 4096 /* the number of words in a block of the file */
/* A position among the records of a thread. */
struct epa_cursor {
	const struct epa_reference *reference;
	const struct epa_reference_thread *thread;
	const uint64_t *words; /* the current block */
	uint64_t *own;	       /* buffer for the current block; NULL if the file is mapped */
	size_t block;	       /* index of the next block */
	size_t at, used;
	uint64_t number; /* number of the current record, from 0 */
	int err;
};
void epa_cursor_open(struct epa_cursor *c, const struct epa_reference *reference, size_t thread);
void epa_cursor_close(struct epa_cursor *c);
/* `to` must be open or zeroed. */
void epa_cursor_copy(struct epa_cursor *to, const struct epa_cursor *from);
bool epa_cursor_load(struct epa_cursor *c);

/* Returns the words of the current record.  Returns NULL after the last record, or if the file
 * cannot be read (c->err). */
static inline const uint64_t *epa_cursor_peek(struct epa_cursor *c)
{
	if (c->at == c->used && !epa_cursor_load(c))
		return NULL;
	return c->words + c->at;
}

/* Advances to the next record.  There must be a current one. */
static inline void epa_cursor_skip(struct epa_cursor *c)
{
	c->at += epa_packed_size(c->words[c->at]);
	c->number++;
}

#endif
