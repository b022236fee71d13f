/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what the kernel reports about a process and its threads.  Apart from own.c (descriptors)
 * and group.c (numbers of threads), only this code reads /proc/PID.  A result may be out of date by
 * the time it is returned.  Each function states what it returns if the process is gone.
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

/* Returns true if the thread is in a system call in which it may be waiting for another thread
 * without Raddle noticing.  Returns false if the call only sleeps, yields, or waits on a futex. */
bool run_task_in_io(pid_t pid, pid_t tid);

/* The system call that a thread is in. */
struct run_call {
	/* True if the thread runs and is in no system call.  The other members are then unknown. */
	bool running;
	long number; /* -1 if the thread is blocked, but not by a system call */
	uint64_t argument[6];
	uint64_t stack; /* the thread's stack pointer */
};

/* Reads the system call of a thread.  Returns false if the thread runs, is gone, or may not be
 * inspected. */
bool run_task_call(pid_t pid, pid_t tid, struct run_call *call);

/* ---- a process ---- */

struct run_process {
	size_t threads;
	/* True if the program itself, not only libc, handles a signal other than those for
	 * faults. */
	bool catches;
};

/* Reads the state of a process.  Returns false if the process is gone.  The caller must then
 * assume that the program has signal handlers. */
bool run_process_read(pid_t pid, struct run_process *process);

/* Returns true if the process was started by `ancestor` or by a descendant of `ancestor`. */
bool run_process_descends(pid_t pid, pid_t ancestor);

/* Returns true if no thread is running, runnable or waiting for a disk. */
bool run_process_is_asleep(pid_t pid);

/* Returns the number of threads that are not asleep: they run, are runnable, wait for a disk or are
 * stopped. */
size_t run_process_awake(pid_t pid);

/* Returns the processor time of all threads of the process, or 0 if the process is gone. */
int64_t run_process_cpu_ns(pid_t pid);

/* Returns how long the living threads of a process have waited for a processor, all together. */
int64_t run_process_delay_ns(pid_t pid);

/* A mapping in the memory of a process. */
struct run_mapping {
	uint64_t start, end, offset;
	bool code; /* true if it can be executed */
	/* The path of the file, with the kernel's annotations, or "" for anonymous memory. */
	const char *name;
};

/* Calls `take` for each mapping until `take` returns true.  Returns true if that happened. */
bool run_process_mappings(pid_t pid, bool (*take)(void *context, const struct run_mapping *mapping),
			  void *context);

/* Copies memory of a process.  Returns false if not all of it can be read. */
bool run_process_peek(pid_t pid, uint64_t address, void *to, size_t size);

/* ---- a process that makes no progress ---- */

struct run_still {
	/* The threads that wait for another thread without a time limit, either on a futex or on
	 * descriptors that no other process has (own.h). */
	pid_t *waiting;
	size_t waiting_count, capacity;
	/* True if every thread of the process is in `waiting`, and there is at least one. */
	bool all;
	bool shared;  /* true if another process may be able to wake a thread in `waiting` */
	bool catches; /* true if the program has signal handlers, which could wake a thread */
	bool alone;   /* true if no process that this one forked is alive; set by the caller */
};

/* Examines the threads of a process.  The caller must zero `still` first, and release it even if
 * the process is gone. */
void run_still_look(pid_t pid, struct run_still *still);
void run_still_release(struct run_still *still);

/* Returns true if, as far as the kernel knows, nothing inside or outside the process can wake its
 * threads. */
bool run_still_forever(const struct run_still *still);

#endif
