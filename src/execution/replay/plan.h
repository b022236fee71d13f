/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: a schedule in the form that the runtime uses (steer.h). */
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
	struct rd_names names; /* names of threads; their numbers are indices of `threads` */
	struct raddle_steer_thread *threads;
	struct raddle_steer_op *ops;	  /* grouped by thread */
	const struct schedule_op **turns; /* operations of the schedule, by turn */
	size_t thread_count, thread_capacity, op_count;
	struct raddle_steer_goal goals[RADDLE_STEER_GOALS];
	uint32_t goal_count, stop_count;

	/* The following members are for schedules with turns. */
	struct raddle_steer_watch *watches;
	struct raddle_steer_decision *decisions;
	struct plan_global *globals; /* watches that still need the address of a variable */
	size_t watch_count, watch_capacity, decision_count, decision_capacity, global_count, global_capacity;
	uint32_t *tracks; /* sites whose accesses obey the memory model */
	size_t track_count;
	/* how many entries of each table were already written to the program's memory */
	size_t written_threads, written_watches, written_decisions;
};

/* A global variable to be watched, as known before the program runs. */
struct plan_global {
	size_t watch; /* index in `watches` */
	const char *module;
	uint64_t offset;
};

/* Compiles a schedule into a plan.  Fails with a message if the schedule does not fit the program.
 * If `sites` is NULL, this is not checked.  The schedule must outlive the plan.  The plan must be
 * released even after a failure. */
int plan_compile(struct plan *p, const struct schedule *s, const struct trace_sites *sites);
void plan_release(struct plan *p);

/* Finds the site of a goal, an access before which a schedule stops a thread.  Returns false if
 * the program has no such access. */
bool plan_find_goal(const struct trace_sites *sites, const struct schedule_goal *goal, uint32_t *found);

/* Returns how well a site matches the place and the object of a goal, or 0 if it does not match.
 * Because of inlining, several sites may match equally well. */
unsigned plan_goal_fitness(const struct trace_sites *sites, const struct trace_site *site,
			   const struct schedule_goal *goal);

/* Called after plan_write(): makes the run part of an exploration, with the choices that `search`
 * plans. */
void plan_explore(const struct plan *p, const struct replay_search *search, struct raddle_memory *m);

uint64_t
plan_memory_at(const struct plan *p); /* offset of struct raddle_memory, if the schedule has a memory model */

/* Sets the expected number of points of a thread, before the plan is written. */
int plan_expect(struct plan *p, const char *thread, uint64_t points);

/* Returns the size of the steering memory, a whole number of pages. */
size_t plan_size(const struct plan *p);

/* Fills zeroed memory of plan_size() bytes. */
void plan_write(struct plan *p, struct raddle_steer *steer, uint32_t flags, uint32_t order);

/* Replaces the plan in the steering memory of a frozen program (replay/snapshot.h), so that the
 * next copy of the program follows the new plan.  `threads` is the number of threads in the old
 * plan, and `memory_at` the offset of its memory model. */
int plan_write_copy(struct plan *p, struct raddle_steer *steer, size_t threads, uint64_t memory_at);

/* Adds the watches and decisions of `more` to the plan of a stopped program.  `more` is needed
 * only during the call.  The caller sets the seed and the flags. */
int plan_extend(struct plan *p, const struct schedule *more, const struct trace_sites *sites);
int plan_write_more(struct plan *p, struct raddle_steer *steer);

/* Stores the addresses of variables in those watches that have not been written to the program's
 * memory yet. */
int plan_place_globals(struct plan *p, pid_t pid);

/* Returns the goal whose thread continues first, 0 or 1.  If the schedule does not specify this
 * goal, returns `otherwise`. */
unsigned plan_first(const struct plan *p, unsigned otherwise);

/* Returns the name of the thread with this index in the plan, or "?" if the plan has no such
 * thread. */
const char *plan_thread_name(const struct plan *p, uint32_t position);

/* Returns the stop of a thread, or NULL. */
const struct schedule_stop *plan_stop(const struct plan *p, const char *thread);

#endif
