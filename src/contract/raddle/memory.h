/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory models, in memory that a replayer and a steered program share.  The replayer selects the
 * model that the program's accesses obey (rt/memory/), and reads the choices that were made.  This
 * memory is part of the steering memory, at memory_at (steer.h); if memory_at is 0, no model is
 * used.  doc/design/memory.md defines the models.
 *
 * Only *tracked* bytes obey the model.  A byte becomes tracked at its first access at one of the
 * sites in `track`.  In TSO, it also becomes tracked at a store that follows a buffered store.  All
 * other bytes are plain memory, which is sequentially consistent since only one thread runs at a
 * time.
 *
 * Wherever a model allows several results, the runtime chooses one of `from` alternatives.
 * Alternative 0 is the sequentially consistent one.  Choices are numbered from 1; a case with only
 * one alternative is not a choice.  The plan lists, by ascending number, the choices for which an
 * alternative other than 0 is taken.  After the last of them, `seed` decides; without a seed,
 * alternative 0 is taken.  `made` lists the choices of the run that took an alternative other than
 * 0.  In an exploration, it lists all choices.
 *
 * In an exploration, the runtime also chooses which thread runs next.  It does so at a watched
 * access, and where a thread waits, ends or flushes its buffer.  The alternatives are all runnable
 * threads: the default first, then the others by slot number.  Such choices are numbered
 * separately, and the plan lists all choices, including those that take alternative 0.  If one of
 * them delayed a store, later stores are delayed as long as possible, because an effect of the
 * model usually needs a store that stays in its buffer while other threads continue.  Each choice
 * is recorded with a hash of the state in which it was made.  As far as tracked memory and threads
 * are concerned, the rest of the run depends only on that state.
 */
#ifndef RADDLE_MEMORY_H
#define RADDLE_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_MEMORY_SITES 1024    /* maximum number of entries of `track`, and of `published` */
#define RADDLE_MEMORY_CHOICES 32768 /* the maximum number of choices in `plan`, and in `made` */

enum raddle_memory_model {
	RADDLE_MEMORY_SC,
	RADDLE_MEMORY_TSO, /* a store buffer for each thread */
	RADDLE_MEMORY_PSO, /* a store buffer for each thread and location */
	/* A read may return the value of any write, unless a later write is between the two in
	 * happens-before order. */
	RADDLE_MEMORY_WEAK,
	RADDLE_MEMORY_COHERENT, /* weak, but no thread reads the writes of a location in reverse order */
	RADDLE_MEMORY_MODELS,
};

/* What is chosen. */
enum raddle_choice_kind {
	RADDLE_CHOICE_READ, /* the write that a read returns; alternative 0 is the latest */
	/* The buffered store that reaches memory next; the last alternative is that no store
	 * does. */
	RADDLE_CHOICE_FLUSH,
	RADDLE_CHOICE_DRAIN, /* the same, except that some store must reach memory */
	RADDLE_CHOICE_NEXT,  /* the thread that runs next */
};

struct raddle_choice {
	uint32_t at;	      /* the number of the choice, from 1 */
	uint32_t from, taken; /* the number of alternatives, and the one that was taken */
	uint32_t kind;	      /* enum raddle_choice_kind */
	uint32_t slot;	      /* the slot of the thread that chose */
	uint32_t site;	      /* the site of its access; 0 if the choice is not about an access */
	uint64_t address;     /* the address of that access */
	uint64_t state;	      /* in an exploration, a hash of the state before the choice */
};

/* The sites of three accesses: a store; a tracked store near it in the same thread; and a read by
 * another thread, which may return the old value. */
struct raddle_published {
	uint32_t store, through, read; /* `through` is 0 if no tracked store is near */
};

/* Why a model was abandoned during a run.  From then on, memory is sequentially consistent. */
enum raddle_memory_over {
	RADDLE_MEMORY_HOLDS,	 /* the model was not abandoned */
	RADDLE_MEMORY_THREADS,	 /* too many threads */
	RADDLE_MEMORY_LOCATIONS, /* too many tracked bytes */
};

struct raddle_memory {
	uint32_t model;	   /* enum raddle_memory_model */
	uint32_t explores; /* 1 if the run is part of an exploration */
	uint64_t seed;	   /* the seed of choices after the plan; 0 for no seed */
	uint32_t track_count, plan_count;
	/* The number of choices for `made`, including those that did not fit. */
	_Atomic uint32_t made_count;
	_Atomic uint32_t choices;    /* the number of choices, except those of the next thread */
	_Atomic uint32_t nexts;	     /* the number of choices of the next thread */
	_Atomic uint32_t past_count; /* the number of choices of the plan that the run has reached */
	_Atomic uint32_t strayed;    /* the first choice whose `from` differs from the plan, or 0 */
	_Atomic uint32_t delays;     /* in an exploration: 1 if the plan delayed a store */
	_Atomic uint32_t over;	     /* enum raddle_memory_over */
	_Atomic uint32_t published_count;
	_Atomic uint64_t relaxed; /* how many of `choices` took another alternative than 0 */
	uint32_t track[RADDLE_MEMORY_SITES];
	struct raddle_published published[RADDLE_MEMORY_SITES];
	struct raddle_choice plan[RADDLE_MEMORY_CHOICES], made[RADDLE_MEMORY_CHOICES];
};

#endif
