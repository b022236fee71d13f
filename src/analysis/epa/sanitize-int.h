/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the sanitizer, for sanitize.c, record.c (packed records) and sanitize-pass.c (the
 * fast path). */
#ifndef EPA_SANITIZE_INT_H
#define EPA_SANITIZE_INT_H

#include "base/map.h"
#include "epa/delay-int.h"
#include "epa/sanitize.h"

#include <string.h>

#define IO_CACHE 256 /* number of call sites in a direct-mapped cache */
/* The number of words with padding that a thread may have in registers.  It was set by hand. */
#define PADDED 16

/* A word that was loaded with undefined bytes.  These bytes are ignored wherever the word is
 * used. */
struct padded_word {
	uint64_t word;
	uint8_t bytes;
};

/* The number of loads of address parts remembered for each thread; set by hand. */
#define CARRIED 32

/* The result of a load, with a mask of the bytes that are part of an address. */
struct carried_part {
	uint32_t site;
	uint8_t bytes;
};

struct sanitizer_thread {
	struct carried_part carried[CARRIED];
	/* `carried_next` is the index of the entry that is replaced next when all are used. */
	unsigned carried_count, carried_next;
	struct padded_word padded[PADDED];
	/* `next` is the index of the entry that is replaced next, and `known` is the number of
	 * entries. */
	unsigned next, known;
	uint64_t read, read_size; /* the last range that was read, for copies by libraries */
	uint64_t number;	  /* the thread's ID in the kernel; 0 if unknown */
};

struct epa_sanitizer {
	struct epa_walk *walk;
	struct epa_names *names;
	struct epa_objects *objects;
	const struct trace_sites *sites;
	struct epa_delay *delay; /* NULL if the program has no condition waits */
	/* The states of the threads, indexed by place in the walk. */
	struct sanitizer_thread *threads;
	struct trace_record raw;
	bool moves; /* true if the program loads parts of words and stores them unchanged */
	struct epa_fault faults[EPA_FAULTS];
	size_t fault_count;
	struct rd_umap numbered; /* the known IDs of processes and threads */
	bool forked;		 /* true if events contain the IDs of child processes */
	/* A cache of what is known about call sites.  `io` is true if bytes enter or leave the
	 * program there, `barrier` if a thread waits at a barrier, and `numbers` if the call
	 * returns a process ID. */
	struct {
		uint32_t site;
		bool known, io, barrier, numbers;
	} calls[IO_CACHE];
};

/* Returns true if a value is a process ID, which differs in every run.  All process IDs get the
 * same canonical name, because threads may request IDs in any order. */
static inline bool epa_is_process_number(const struct epa_sanitizer *s, uint64_t value)
{
	return rd_umap_get(&s->numbered, value) != NULL;
}

/* Returns a bit mask of the padding bytes of a word, or 0 if the word is not known to have
 * padding. */
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

/* The bits of the head of a packed record, from the lowest: site (31 bits), kind (5), event (7),
 * number of slots (5), and a mask of the slots that are names (16). */
#define EPA_KIND_SHIFT 31
#define EPA_EVENT_SHIFT 36
#define EPA_COUNT_SHIFT 43
#define EPA_MASK_SHIFT 48

#endif
