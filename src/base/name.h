/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are the same in every run, and how they are written and read.
 *
 * Threads: the initial one is T_0, and the n-th thread that a thread creates has its creator's name and _n,
 * n from 0.  A thread whose creator is not known is T_? and its number.
 *
 * Objects that are made while the program runs: what it is, the thread that made it, where, and the how
 * manieth of its kind it is that this thread made there, from 0: `heap T_0_1 (queue.c:14)#3`.  The place is
 * `(site 7)` where no file is known, and is left out where nothing is.
 */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For what has no name or is not known: in lines, columns and formats; in sentences for people. */
#define RD_UNKNOWN "?"
#define RD_UNKNOWN_PLACE "an unknown place"
#define RD_UNKNOWN_MEMORY "unknown memory"

bool rd_is_one_of(const char *name, const char *const *names, size_t count);

/* Whether a source file came with the system or the compiler: nobody changes it. */
bool rd_is_library_source(const char *path);

/* To be freed.  Creator NULL: a thread that none created. */
char *rd_thread_name(const char *creator, uint64_t index);
char *rd_thread_lost(uint32_t number);

/* T_0_1 is made of its creator's name, the first `creator` bytes, and an index.  False: T_<n>, which has
 * none, or no name of a thread. */
bool rd_thread_split(const char *name, size_t length, size_t *creator, uint32_t *index);

/* T_<n>, a thread that none created: T_0 or one that libc made for itself. */
bool rd_thread_root(const char *name, size_t length, uint32_t *index);

/* The indices of a descendant of T_0, outermost first: 2, 1 of T_0_2_1.  Their number; -1: no such name, or
 * more than `most`. */
int rd_thread_path(const char *name, size_t length, uint32_t *path, int most);

/* The same of a process that descends from P_0 by forks: 2, 1 of P_0_2_1. */
int rd_process_path(const char *name, size_t length, uint32_t *path, int most);

/* As for strcmp(): T_0, T_0_2, T_0_10. */
int rd_thread_compare(const char *a, const char *b);

/* Where something was made: the part after its word, `T_0_1 (queue.c:14)#3`.  File NULL and site 0: not
 * known. */
struct rd_maker {
	const char *thread, *file;
	uint32_t line, site;
	uint64_t number;
};
void rd_name_maker(struct rd_buf *out, const struct rd_maker *maker);

/* The name without what differs from run to run or moves with the source: numbers of threads, makers and
 * array elements, addresses and places. */
void rd_name_normal(struct rd_buf *out, const char *name);

/* The same, of the variable or allocation alone: `table` of `table[3].lock`. */
void rd_name_root(struct rd_buf *out, const char *name);

#endif
