/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory models: the memory through which a replayer says which model the accesses of a steered program obey
 * (rt/memory/), and learns what was chosen.  It lies within the steering memory (steer.h: memory_at, 0: the
 * program runs on the memory that it has).  doc/design/memory.md defines the models.
 *
 * Only *tracked* bytes obey the model: those that an access at one of the sites in `track` has touched, from
 * then on.  All else is plain memory, which is sequentially consistent since one thread runs at a time.
 *
 * Whatever a model leaves open is a choice among `from` alternatives, of which 0 is what sequential
 * consistency does.  Choices are counted from 1; those with one alternative are none.  The plan lists the
 * choices that are not 0, by ascending count; behind the last one `seed` decides, if it is not 0, and
 * otherwise 0 is taken. `made` lists what was taken: what is not 0, or everything if the run is one of an
 * exploration.
 *
 * In an exploration the thread that goes on at a watched access, or where a thread waits or ends or
 * empties its buffer, is a choice too, among all that could go on: the usual one first, then the others by
 * slot number.  Such choices are counted apart.  The plan has all choices then, and each that was taken comes
 * with a hash of the state that it was taken in: as far as tracked memory and threads go, what follows
 * depends on that state alone.
 */
#ifndef RADDLE_MEMORY_H
#define RADDLE_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_MEMORY_SITES 1024    /* that are tracked, or published */
#define RADDLE_MEMORY_CHOICES 32768 /* that a plan may have, and that are listed */

enum raddle_memory_model {
	RADDLE_MEMORY_SC,
	RADDLE_MEMORY_TSO,	/* a store buffer for each thread */
	RADDLE_MEMORY_PSO,	/* one for each thread and location */
	RADDLE_MEMORY_WEAK,	/* a read takes any write that no other write hides by happens-before */
	RADDLE_MEMORY_COHERENT, /* the same, but no thread sees the writes of a location go back */
	RADDLE_MEMORY_MODELS,
};

/* What a choice is about. */
enum raddle_choice_kind {
	RADDLE_CHOICE_READ,  /* which write a read takes; 0: the latest */
	RADDLE_CHOICE_FLUSH, /* which buffered store comes to memory next; the last: none */
	RADDLE_CHOICE_NEXT,  /* who goes on */
};

struct raddle_choice {
	uint32_t at; /* which choice it is, from 1 */
	uint32_t from, taken;
	uint32_t kind;	  /* enum raddle_choice_kind */
	uint32_t slot;	  /* the thread that asked */
	uint32_t site;	  /* of the access that it asked for; 0: none */
	uint64_t address; /* of that */
	uint64_t state;	  /* of an exploration */
};

/* A store near one at a tracked site (`through`; 0: it is near none), and a read of another thread that may
 * see it late. */
struct raddle_published {
	uint32_t store, through, read; /* sites */
};

/* Why a model was left in the midst of a run: from there on, memory is sequentially consistent. */
enum raddle_memory_over {
	RADDLE_MEMORY_HOLDS,
	RADDLE_MEMORY_THREADS,	 /* there are too many threads */
	RADDLE_MEMORY_LOCATIONS, /* too many bytes are tracked */
};

struct raddle_memory {
	uint32_t model;	   /* enum raddle_memory_model */
	uint32_t explores; /* 1: the run is one of an exploration */
	uint64_t seed;	   /* 0: none */
	uint32_t track_count, plan_count;
	_Atomic uint32_t made_count; /* may exceed RADDLE_MEMORY_CHOICES */
	_Atomic uint32_t choices;    /* so many there were, but for those of who goes on */
	_Atomic uint32_t nexts;	     /* and of these */
	_Atomic uint32_t past_count; /* of the plan, taken */
	_Atomic uint32_t strayed; /* the count of a choice that had other alternatives than the plan says */
	_Atomic uint32_t over;	  /* enum raddle_memory_over */
	_Atomic uint32_t published_count;
	_Atomic uint64_t relaxed; /* choices of models that were not 0 */
	uint32_t track[RADDLE_MEMORY_SITES];
	struct raddle_published published[RADDLE_MEMORY_SITES];
	struct raddle_choice plan[RADDLE_MEMORY_CHOICES], made[RADDLE_MEMORY_CHOICES];
};

#endif
