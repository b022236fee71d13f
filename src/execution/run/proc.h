/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel says about a process and its threads: the one reader of /proc/PID.  Everything may be
 * out of date when it is returned, and a process may be gone; each function says what it answers then.
 */
#ifndef RUN_PROC_H
#define RUN_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- a thread ---- */

struct run_task {
	char state;	       /* R runs or wants to, S and D sleep, Z and X are gone, ...; 0: unknown */
	uint64_t user, system; /* its time in the program and in the kernel, in ticks */
};

/* False if there is no such thread (any more). */
bool run_task_read(pid_t pid, pid_t tid, struct run_task *task);

/* How often it left a processor, of itself or not; 0 if it is gone. */
uint64_t run_task_switches(pid_t pid, pid_t tid);

/* Whether it waits for another thread, without a time limit. */
bool run_task_waits(pid_t pid, pid_t tid);

/* Whether it is in a system call by which others could hold it up unseen: not one that only sleeps,
 * yields, or waits for memory to change. */
bool run_task_in_io(pid_t pid, pid_t tid);

/* ---- a process ---- */

struct run_process {
	size_t threads;
	bool catches; /* signals but faults have handlers of the program's own, not only of the C library's */
};

/* False if it is gone; then nothing is known, and handlers must be expected. */
bool run_process_read(pid_t pid, struct run_process *process);

/* Whether it was started by `ancestor`, or by a process that was. */
bool run_process_descends(pid_t pid, pid_t ancestor);

/* Whether no thread of it runs, wants to, or waits for a disk. */
bool run_process_is_asleep(pid_t pid);

/* A piece of its memory. */
struct run_mapping {
	uint64_t start, end, offset;
	const char *name; /* the file, with what the kernel says behind it; "": none */
};

/* Calls back for each until that returns true; whether it did. */
bool run_process_mappings(pid_t pid, bool (*take)(void *context, const struct run_mapping *mapping),
			  void *context);

/* ---- a process that does not move ---- */

struct run_still {
	/* Threads that wait for another one, without a time limit: for memory to change, or at descriptors
	 * that no other process has (own.h). */
	pid_t *waiting;
	size_t waiting_count, capacity;
	bool all;     /* no other thread is there, and none of them runs */
	bool shared;  /* another process may be able to wake one of them */
	bool catches; /* signals have handlers, so one may bring life back */
	bool alone;   /* no process that it forked is alive: the caller's to say */
};

/* `still` is zero before, and released also if the process is gone. */
void run_still_look(pid_t pid, struct run_still *still);
void run_still_release(struct run_still *still);

/* Whether nobody, inside or outside the process, is left who could wake its threads, as far as the kernel
 * knows. */
bool run_still_forever(const struct run_still *still);

#endif
