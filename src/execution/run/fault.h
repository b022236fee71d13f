/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults for a run of the flavour `full` (raddle/full.h, doc/format/full.md), both as text and in
 * the session's memory.
 */
#ifndef RUN_FAULT_H
#define RUN_FAULT_H

#include "raddle/full.h"
#include "run/session.h"

#include <stdbool.h>

#define RUN_FAULT_DEPTH 64 /* the largest count of numbers in a thread name */

struct run_fault {
	/* The numbers in the name of the process (2, 1 for P_0_2_1).  All faults of a run name the
	 * same process. */
	uint32_t process[RADDLE_FAULT_FORKS];
	uint32_t forks;
	uint32_t thread[RUN_FAULT_DEPTH]; /* numbers in the name of the thread (2, 1 for T_0_2_1) */
	uint32_t depth;
	uint32_t site;
	uint64_t instance, repeat;
	enum raddle_fault_action action;
	uint64_t mask[2];
	uint64_t chance;
	/* The following members are results. */
	uint64_t seen, fired, before, after;
	/* The number of the thread in the trace, or RADDLE_FAULT_NONE if the thread never
	 * started. */
	uint32_t number;
};

/* Parses [PROCESS/]THREAD:SITE:INSTANCE:ACTION:MASK[:MASK2[:REPEAT[:CHANCE]]], such as
 * T_0_1:0x10005:3:flip:0x80 or P_0_0/T_0_1:0x10005:3:flip:0x80.  Actions: flip, clear, raise, add,
 * set, scale, call, former, memory, away, delay, kill, exhaust.  The default of REPEAT is 1. */
int run_fault_parse(struct run_fault *f, const char *text);

/* Parses several faults, separated by commas.  The caller frees the array, even after an error. */
int run_faults_parse(const char *list, struct run_fault **faults, size_t *count);

/* Sets the process of a fault from a process name of `length` bytes.  Returns false if the text is
 * not a process name. */
bool run_fault_process(struct run_fault *f, const char *name, size_t length);

/* Stores the faults in the session before the program starts.  The faults of each thread happen in
 * the order in which the array lists them. */
int run_fault_plan(struct run_session *s, const struct run_fault *faults, size_t count);

/* Reads the results of the faults from the session. */
void run_fault_look(const struct run_session *s, struct run_fault *faults, size_t count);

const char *run_fault_action_name(enum raddle_fault_action action);

#endif
