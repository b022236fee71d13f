/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the sanitizer, for sanitize.c, record.c (packed records) and sanitize-pass.c (the
 * fast path). */
#ifndef EPA_SANITIZE_INT_H
#define EPA_SANITIZE_INT_H

#include "base/map.h"
#include "epa/delay-int.h"
#include "epa/sanitize.h"

#include <string.h>

#define IO_CACHE 256 /* call sites; a direct-mapped cache */
#define PADDED 16    /* words with padding that a thread may have in registers; set by hand */

/* A word that was loaded with undefined bytes: these are ignored wherever the word goes. */
struct padded_word {
	uint64_t word;
	uint8_t bytes;
};

#define CARRIED 32 /* loads of a thread whose values are parts of addresses; set by hand */

/* The result of a load: which of its bytes are part of an address. */
struct carried_part {
	uint32_t site;
	uint8_t bytes;
};

struct sanitizer_thread {
	struct carried_part carried[CARRIED];
	unsigned carried_count, carried_next; /* next: the one to be replaced if all are used */
	struct padded_word padded[PADDED];
	unsigned next, known;	  /* next: the one to be replaced; known: how many there are */
	uint64_t read, read_size; /* the last range that was read, for copies by libraries */
	uint64_t number;	  /* its ID in the kernel; 0: unknown */
};

struct epa_sanitizer {
	struct epa_walk *walk;
	struct epa_names *names;
	struct epa_objects *objects;
	const struct trace_sites *sites;
	struct epa_delay *delay;	  /* NULL: the program has no condition waits */
	struct sanitizer_thread *threads; /* by place */
	struct trace_record raw;
	bool moves; /* the program stores parts of words as it has loaded them */
	struct epa_fault faults[EPA_FAULTS];
	size_t fault_count;
	struct rd_umap numbered; /* known IDs of processes and threads */
	bool forked;		 /* events have the IDs of child processes */
	/* Properties of call sites: whether bytes enter or leave there; by number of the site. */
	struct {
		uint32_t site;
		bool known, io, barrier, numbers;
	} calls[IO_CACHE];
};

/* A process ID, which differs in every run.  All process IDs have the same name, because several
 * threads may request one in any order. */
static inline bool epa_is_process_number(const struct epa_sanitizer *s, uint64_t value)
{
	return rd_umap_get(&s->numbered, value) != NULL;
}

/* The padding bytes of a word, if it is known to have any. */
static inline uint8_t epa_padding_of(const struct sanitizer_thread *t, uint64_t word)
{
	for (unsigned i = 1; i <= t->known; i++) {
		const struct padded_word *p = &t->padded[(t->next - i) % PADDED];
		if (p->word == word)
			return p->bytes;
	}
	return 0;
}

static inline uint64_t epa_word_at(const uint8_t *p, size_t size)
{
	uint64_t word = 0;
	memcpy(&word, p, size < 8 ? size : 8);
	return word;
}

/* The head of a packed record: site (31), kind (5), event (7), slots (5), which of them are names
 * (16). */
#define EPA_KIND_SHIFT 31
#define EPA_EVENT_SHIFT 36
#define EPA_COUNT_SHIFT 43
#define EPA_MASK_SHIFT 48

#endif
