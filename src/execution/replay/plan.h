/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: a schedule in the form in which the runtime keeps it (steer.h). */
#ifndef REPLAY_PLAN_H
#define REPLAY_PLAN_H

#include "base/map.h"
#include "finding/schedule.h"
#include "raddle/memory.h"
#include "raddle/steer.h"
#include "replay/search.h"
#include "trace/sites.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct plan {
	const struct schedule *schedule;
	struct rd_names names; /* of threads: the number is the position in `threads` */
	struct raddle_steer_thread *threads;
	struct raddle_steer_op *ops;	  /* those of a thread together */
	const struct schedule_op **turns; /* by turn */
	size_t thread_count, thread_capacity, op_count;
	struct raddle_steer_goal goals[RADDLE_STEER_GOALS];
	uint32_t goal_count, stop_count;

	/* Going on. */
	struct raddle_steer_watch *watches;
	struct raddle_steer_decision *decisions;
	struct plan_global *globals; /* watches that wait for the address of a variable */
	size_t watch_count, watch_capacity, decision_count, decision_capacity, global_count, global_capacity;
	uint32_t *tracks; /* sites whose accesses obey the memory model */
	size_t track_count;
	size_t written_threads, written_watches, written_decisions; /* that the program has */
};

/* A variable, by what is known before the program runs. */
struct plan_global {
	size_t watch; /* position in `watches` */
	const char *module;
	uint64_t offset;
};

/* Fails with a message if the schedule does not fit the program; `sites` may be NULL
 * where that cannot be known.  The schedule must live as long.  To be released also
 * after a failure. */
int plan_compile(struct plan *p, const struct schedule *s, const struct trace_sites *sites);
void plan_release(struct plan *p);

/* The site of an access that a schedule leads to; false: the program has none there. */
bool plan_find_goal(const struct trace_sites *sites, const struct schedule_goal *goal, uint32_t *found);

/* How well a site fits the place and the object of a goal; 0: not at all.  Where functions are copied into
 * others, several sites fit best. */
unsigned plan_goal_fitness(const struct trace_sites *sites, const struct trace_site *site,
			   const struct schedule_goal *goal);

/* Behind plan_write(): the run is one of an exploration. */
void plan_explore(const struct plan *p, const struct replay_search *search, struct raddle_memory *m);

uint64_t
plan_memory_at(const struct plan *p); /* where struct raddle_memory is, if the schedule has a model */

/* How many points a thread is expected to come to; before the plan is written. */
int plan_expect(struct plan *p, const char *thread, uint64_t points);

/* What the steering memory needs, a whole number of pages. */
size_t plan_size(const struct plan *p);

/* Fills zeroed memory of that size. */
void plan_write(struct plan *p, struct raddle_steer *steer, uint32_t flags, uint32_t order);

/* Further watches and decisions, for a program that stands: `more` needs to live no longer than the call. The
 * seed and flags are the caller's. */
int plan_extend(struct plan *p, const struct schedule *more, const struct trace_sites *sites);
int plan_write_more(struct plan *p, struct raddle_steer *steer);

/* Puts the addresses of variables into watches that the program has not got yet. */
int plan_place_globals(struct plan *p, pid_t pid);

/* Which goal goes first, where the schedule says so. */
unsigned plan_first(const struct plan *p, unsigned otherwise);

/* The name of a thread of the plan; "?" for a position it does not have. */
const char *plan_thread_name(const struct plan *p, uint32_t position);

/* The stop of a thread, or NULL. */
const struct schedule_stop *plan_stop(const struct plan *p, const char *thread);

#endif
