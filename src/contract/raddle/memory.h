/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory models: shared memory in which a replayer selects the model that the accesses of a
 * steered program obey (rt/memory/), and reads which choices were made.  It is part of the
 * steering memory (steer.h: memory_at; 0: the program uses the machine's memory).
 * doc/design/memory.md defines the models.
 * Only *tracked* bytes obey the model.  A byte is tracked from the first access at one of the
 * sites in `track` on; in TSO, also from a store that follows a buffered one.  All other bytes
 * are plain memory, which is sequentially consistent since one thread runs at a time.
 * Wherever a model allows several results, a choice is made among `from` alternatives; 0 is the
 * sequentially consistent one.  Choices are numbered from 1; if there is only one alternative,
 * there is no choice.  The plan lists the choices that are not 0, by ascending number.  After the
 * last one, `seed` decides, or, if `seed` is 0, alternative 0 is taken.  `made` lists the choices
 * taken: those that are not 0, or all if the run explores.
 * In an exploration it is also a choice which thread runs next: at a watched access, and where a
 * thread waits, ends or flushes its buffer.  The alternatives are all runnable threads: the
 * default first, then the others by slot number.  Such choices are numbered separately, and the
 * plan lists all choices, including those that are 0.  Each choice taken is recorded with a hash
 * of the state in which it was taken.  As far as tracked memory and threads are concerned, the
 * rest of the run depends on that state alone.
 */
#ifndef RADDLE_MEMORY_H
#define RADDLE_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_MEMORY_SITES 1024    /* maximum of tracked or published sites */
#define RADDLE_MEMORY_CHOICES 32768 /* maximum in a plan, and in `made` */

enum raddle_memory_model {
	RADDLE_MEMORY_SC,
	RADDLE_MEMORY_TSO,	/* a store buffer for each thread */
	RADDLE_MEMORY_PSO,	/* one for each thread and location */
	RADDLE_MEMORY_WEAK,	/* a read returns any write that is not hidden by a later one in
				 * happens-before */
	RADDLE_MEMORY_COHERENT, /* the same, but no thread sees the writes of a location in reverse order */
	RADDLE_MEMORY_MODELS,
};

/* What a choice is about. */
enum raddle_choice_kind {
	RADDLE_CHOICE_READ,  /* which write a read takes; 0: the latest */
	RADDLE_CHOICE_FLUSH, /* which buffered store reaches memory next; the last alternative: none */
	RADDLE_CHOICE_NEXT,  /* which thread runs next */
};

struct raddle_choice {
	uint32_t at; /* which choice it is, from 1 */
	uint32_t from, taken;
	uint32_t kind;	  /* enum raddle_choice_kind */
	uint32_t slot;	  /* the thread that chose */
	uint32_t site;	  /* of its access; 0: no access */
	uint64_t address; /* of that access */
	uint64_t state;	  /* of an exploration */
};

/* A store near a store at a tracked site (`through`; 0: it is not near one), and a read by another
 * thread that may see the store late. */
struct raddle_published {
	uint32_t store, through, read; /* sites */
};

/* Why a model was abandoned during a run: from then on, memory is sequentially consistent. */
enum raddle_memory_over {
	RADDLE_MEMORY_HOLDS,
	RADDLE_MEMORY_THREADS,	 /* too many threads */
	RADDLE_MEMORY_LOCATIONS, /* too many tracked bytes */
};

struct raddle_memory {
	uint32_t model;	   /* enum raddle_memory_model */
	uint32_t explores; /* 1: the run is one of an exploration */
	uint64_t seed;	   /* 0: none */
	uint32_t track_count, plan_count;
	_Atomic uint32_t made_count; /* may exceed RADDLE_MEMORY_CHOICES */
	_Atomic uint32_t choices;    /* how many choices there were, without those of the next thread */
	_Atomic uint32_t nexts;	     /* how many choices of the next thread there were */
	_Atomic uint32_t past_count; /* choices of the plan that were taken */
	_Atomic uint32_t strayed;    /* the number of a choice whose alternatives differ from the plan */
	_Atomic uint32_t over;	     /* enum raddle_memory_over */
	_Atomic uint32_t published_count;
	_Atomic uint64_t relaxed; /* choices of the model that were not 0 */
	uint32_t track[RADDLE_MEMORY_SITES];
	struct raddle_published published[RADDLE_MEMORY_SITES];
	struct raddle_choice plan[RADDLE_MEMORY_CHOICES], made[RADDLE_MEMORY_CHOICES];
};

#endif
