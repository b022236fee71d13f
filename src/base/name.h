/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are the same in every run, and how they are written and read.  Threads: the initial
 * thread is T_0.  The n-th thread that a thread creates gets its creator's name followed by _n,
 * counted from 0.  The name of a thread whose creator is unknown is `T_?` and a number.  Objects
 * created at run time: the name consists of the kind of object, the creating thread, the place and
 * a counter, as in `heap T_0_1 (queue.c:14)#3`.  The counter starts at 0 for each kind, thread and
 * place.  The place is `(site 7)` if the file is unknown, and is omitted if nothing is known.
 */
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts for unnamed or unknown things.  RD_UNKNOWN is for lines, columns and formats; the others
 * are for sentences. */
#define RD_UNKNOWN "?"
#define RD_UNKNOWN_PLACE "an unknown place"
#define RD_UNKNOWN_MEMORY "unknown memory"

bool rd_is_one_of(const char *name, const char *const *names, size_t count);

/* Returns true if a source file belongs to the system or the compiler.  The user will not change
 * such a file. */
bool rd_is_library_source(const char *path);

/* Returns the name of a thread.  `creator` is NULL for a thread without a creator.  The caller must
 * free the result. */
char *rd_thread_name(const char *creator, uint64_t index);
char *rd_thread_unknown(uint32_t number);

/* Splits a name such as T_0_1 into the creator's name, which is its first *creator bytes, and an
 * index.  Returns false for T_<n>, which has no creator, and for names that do not end with an
 * index.  Does not check whether the name begins with T. */
bool rd_thread_split(const char *name, size_t length, size_t *creator, uint32_t *index);

/* Returns true if the name is T_<n>, that is, if the thread has no creator.  Such a thread is T_0,
 * or a thread that libc created for itself. */
bool rd_thread_root(const char *name, size_t length, uint32_t *index);

/* Stores the indices in the name of a descendant of T_0, outermost first.  For T_0_2_1, these are 2
 * and 1.  Returns their number, or -1 if the name has another form or more than `most` indices. */
int rd_thread_path(const char *name, size_t length, uint32_t *path, int most);

/* Like rd_thread_path(), but for a process that descends from P_0 by forks.  For P_0_2_1, the
 * indices are 2 and 1. */
int rd_process_path(const char *name, size_t length, uint32_t *path, int most);

/* Like strcmp(), but numbers are compared by value, so that the order is T_0, T_0_2, T_0_10. */
int rd_thread_compare(const char *a, const char *b);

/* How an object was created.  In the name of the object this is the part after the kind, such as
 * `T_0_1 (queue.c:14)#3`.  If the place is unknown, the file is NULL and the site is 0. */
struct rd_maker {
	const char *thread, *file;
	uint32_t line, site;
	uint64_t number;
};
void rd_name_maker(struct rd_buf *out, const struct rd_maker *maker);

/* Appends the name without the parts that differ between runs or change when the source is edited:
 * the numbers of threads and objects, the indices of array elements, addresses, and places. */
void rd_name_normal(struct rd_buf *out, const char *name);

/* Like rd_name_normal(), but appends only the name of the variable or allocation, such as `table`
 * for `table[3].lock`. */
void rd_name_root(struct rd_buf *out, const char *name);

#endif
