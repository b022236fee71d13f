/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what the kernel reports about a process and its threads.  Apart from own.c (descriptors) and
 * group.c (numbers of threads), only this code reads /proc/PID.  Any result may be out of date
 * when it is returned, and the process may be gone; each function states its result in that case.
 */
#ifndef RUN_PROC_H
#define RUN_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- a thread ---- */

struct run_task {
	/* R: running or runnable; S and D: asleep; Z and X: gone; 0 if unknown. */
	char state;
	uint64_t user, system; /* clock ticks in user and kernel mode */
};

/* Reads the state of a thread.  Returns false if the thread does not exist. */
bool run_task_read(pid_t pid, pid_t tid, struct run_task *task);

/* Returns the number of context switches, voluntary or not, or 0 if the thread is gone. */
uint64_t run_task_switches(pid_t pid, pid_t tid);

/* Returns true if the thread is in a system call in which it may wait for another thread, which
 * Raddle would not notice.  Returns false if the call only sleeps, yields, or waits on a futex. */
bool run_task_in_io(pid_t pid, pid_t tid);

/* The system call that a thread is in. */
struct run_call {
	/* The thread is in no system call and runs; the other members are then unknown. */
	bool running;
	long number; /* -1 if it is blocked, but not by a system call */
	uint64_t argument[6];
	uint64_t stack; /* its stack pointer */
};

/* Reads the system call of a thread.  Returns false if the thread runs, is gone, or may not be
 * inspected. */
bool run_task_call(pid_t pid, pid_t tid, struct run_call *call);

/* ---- a process ---- */

struct run_process {
	size_t threads;
	/* The program itself, not only libc, handles a signal other than those for faults. */
	bool catches;
};

/* Reads the state of a process.  Returns false if it is gone; the caller must then assume
 * handlers. */
bool run_process_read(pid_t pid, struct run_process *process);

/* Returns true if `ancestor`, or a descendant of it, started the process. */
bool run_process_descends(pid_t pid, pid_t ancestor);

/* Returns true if no thread is running, runnable or waiting for a disk. */
bool run_process_is_asleep(pid_t pid);

/* A mapping in the memory of a process. */
struct run_mapping {
	uint64_t start, end, offset;
	bool code; /* true if it can be executed */
	/* Path of the file, with the kernel's annotations; "" for anonymous memory. */
	const char *name;
};

/* Calls `take` for each mapping until it returns true.  Returns whether it did. */
bool run_process_mappings(pid_t pid, bool (*take)(void *context, const struct run_mapping *mapping),
			  void *context);

/* Copies memory of a process.  Returns false if not all of it can be read. */
bool run_process_peek(pid_t pid, uint64_t address, void *to, size_t size);

/* ---- a process that makes no progress ---- */

struct run_still {
	/* Threads that wait for another thread, without a time limit: on a futex, or on descriptors
	 * that no other process has (own.h). */
	pid_t *waiting;
	size_t waiting_count, capacity;
	/* All threads of the process are in `waiting`, and there is at least one. */
	bool all;
	bool shared;  /* another process may be able to wake a thread in `waiting` */
	bool catches; /* the program handles signals, whose handlers could wake a thread */
	bool alone;   /* no process that this one forked is alive; set by the caller */
};

/* Examines the threads of a process.  `still` must be zeroed before, and released even if the
 * process is gone. */
void run_still_look(pid_t pid, struct run_still *still);
void run_still_release(struct run_still *still);

/* Whether, as far as the kernel knows, nothing inside or outside the process can wake its
 * threads. */
bool run_still_forever(const struct run_still *still);

#endif
