/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's side of the memory that it shares with a guarded program (raddle/guard.h).
 *
 * Everything that the program writes there is checked before it is used, because a buggy program
 * may write anything anywhere.
 */
#ifndef SITE_SESSION_INT_H
#define SITE_SESSION_INT_H

#include "raddle/guard.h"
#include "guard/guards.h"

#include <stdbool.h>
#include <sys/types.h>

struct site_session {
	struct raddle_guard *shared;
	size_t size;
	int fd; /* the descriptor that the program inherits */
	const struct guard_table *table;
	uint8_t *flags, *regions, *left;
	struct raddle_guard_pair *pairs;
	uint32_t generation; /* the last generation that was used */
	uint32_t next;	     /* the number of the next report to take */
	const struct site_inherited *inherited;
};

/* The descriptors that the program inherits: those that were open when site_inherited_look() was
 * called.  The agent's libraries later open descriptors that the program must not inherit. */
struct site_inherited {
	bool open[1024];
};
void site_inherited_look(struct site_inherited *all);

/* A request to the program. */
struct site_order {
	uint32_t candidate; /* the candidate's number in the table */
	enum raddle_guard_order order;
	uint32_t tau_us; /* the pause of a thread; 0 if no thread is stopped */
	uint32_t skip;	 /* the number of accesses to skip, as in struct raddle_guard_task */
};

/* Opens a session.  `table` must outlive it. */
int site_session_open(struct site_session *s, const struct guard_table *table);
void site_session_close(struct site_session *s);

/* Shows the program that the agent is alive. */
void site_session_beat(struct site_session *s);
/* Allows the guards to make `calls` more calls to the runtime.  Activates those guards that are
 * inactive because they had used up their calls. */
void site_session_wake(struct site_session *s, int64_t calls);
/* If the guards of a region have nothing to do, switches the region to its copy without guards. */
void site_session_settle(struct site_session *s);
/* Switches all regions to their copies without guards, until site_session_wake() is called.
 * Changes nothing else. */
void site_session_rest(struct site_session *s);
/* Returns true if an access is being tracked, or a thread is stopped. */
bool site_session_is_busy(const struct site_session *s);
/* Deactivates all guards and removes all tasks. */
void site_session_quiet(struct site_session *s);
/* Makes the program observe the next `times` accesses of each guard.  Skips a
 * candidate if two threads have already made its two accesses at the same address. */
void site_session_observe(struct site_session *s, uint8_t times);

/* Passes a task to the program.  Returns its generation, or 0 if the program has too many tasks
 * already. */
uint32_t site_session_give(struct site_session *s, const struct site_order *order);
/* Returns the slot of a task, or NULL if there is none with this generation. */
struct raddle_guard_task *site_session_task(const struct site_session *s, uint32_t generation);

/* Takes the next valid report of the program.  Returns false if there is none yet. */
bool site_session_report(struct site_session *s, struct raddle_guard_report *report);

/* Starts `executable` with the session.  If `s` is NULL, it starts without a session. */
int site_start(const struct site_session *s, const char *executable, char *const *argv, pid_t *pid);

/* Memory that the agent shares with a program.  It consists of a descriptor, and of the
 * environment variable that passes the descriptor's number to the runtime. */
struct site_given {
	int fd;
	const char *variable;
	/* The descriptors that the program inherits; NULL for all. */
	const struct site_inherited *inherited;
};
/* Starts a program with any shared memory.  If `given` is NULL, the program starts without shared
 * memory. */
int site_start_with(const struct site_given *given, const char *executable, char *const *argv, pid_t *pid);

#endif
