/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds files and descriptors that several threads use in an order that is not fixed.
 *
 * Threads can affect each other through files.  One thread may write a file that another reads, or
 * both may move the position of a stream.  The number of a new descriptor depends on which
 * descriptors are open.  The shadow memory cannot show such dependences, because they are not in
 * the program's memory.
 */
#ifndef REVERSIBLE_FILE_INT_H
#define REVERSIBLE_FILE_INT_H

#include "reversible/run.h"
#include "trace/full.h"

struct rev_files;
struct rev_files *rev_files_new(const struct rev_run *run);
void rev_files_free(struct rev_files *f); /* `f` may be NULL */

/* Call this for each record of each thread, in the order of the run.  `segment` is the thread's
 * current segment, and `call` is the function that the thread called last.  Returns true if
 * another thread has used the same file and the order of the two uses is not fixed. */
bool rev_files_feed(struct rev_files *f, uint32_t thread, uint32_t segment, const char *call,
		    const struct trace_record *r);

#endif
