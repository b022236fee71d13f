/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are the same in every run, and how they are written and read.
 * Threads: the initial thread is T_0.  The n-th thread that a thread creates gets its creator's
 * name followed by _n, counted from 0.  A thread whose creator is unknown is T_? followed by a
 * number.
 * Objects created at run time: the kind of object, the creating thread, the place, and a counter.
 * The counter starts at 0 for each kind, thread and place: `heap T_0_1 (queue.c:14)#3`.  The place
 * is `(site 7)` if the file is unknown, and is omitted if nothing is known.
 */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For unnamed or unknown things.  The first is for lines, columns and formats; the others for
 * sentences. */
#define RD_UNKNOWN "?"
#define RD_UNKNOWN_PLACE "an unknown place"
#define RD_UNKNOWN_MEMORY "unknown memory"

bool rd_is_one_of(const char *name, const char *const *names, size_t count);

/* Whether a source file belongs to the system or the compiler, so the user will not change it. */
bool rd_is_library_source(const char *path);

/* The caller frees the result.  Creator NULL: a thread without a creator. */
char *rd_thread_name(const char *creator, uint64_t index);
char *rd_thread_unknown(uint32_t number);

/* Splits T_0_1 into its creator's name, the first `creator` bytes, and an index.  False for T_<n>,
 * which has no creator, and for names that do not end with an index.  Does not check the T. */
bool rd_thread_split(const char *name, size_t length, size_t *creator, uint32_t *index);

/* T_<n>, a thread without a creator: T_0, or a thread that libc created for itself. */
bool rd_thread_root(const char *name, size_t length, uint32_t *index);

/* The indices in the name of a descendant of T_0, outermost first: 2, 1 for T_0_2_1.  Returns how
 * many there are, or -1 if the name has another form or more than `most` indices. */
int rd_thread_path(const char *name, size_t length, uint32_t *path, int most);

/* The same for a process that descends from P_0 by forks: 2, 1 for P_0_2_1. */
int rd_process_path(const char *name, size_t length, uint32_t *path, int most);

/* Like strcmp(), but numbers are compared by value: T_0, T_0_2, T_0_10. */
int rd_thread_compare(const char *a, const char *b);

/* Where something was made: in a name, the part after the kind of object: `T_0_1 (queue.c:14)#3`.
 * File NULL and site 0: unknown. */
struct rd_maker {
	const char *thread, *file;
	uint32_t line, site;
	uint64_t number;
};
void rd_name_maker(struct rd_buf *out, const struct rd_maker *maker);

/* The name without the parts that differ between runs or change when the source is edited: the
 * numbers of threads, makers and array elements, addresses, and places. */
void rd_name_normal(struct rd_buf *out, const char *name);

/* The same for the variable or allocation alone: `table` of `table[3].lock`. */
void rd_name_root(struct rd_buf *out, const char *name);

#endif
