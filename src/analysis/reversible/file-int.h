/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and descriptors that several threads use, and whether the order of their uses is certain.
 *
 * One thread writes the contents of a file and another one reads them; both move the position of a
 * stream; the number of a descriptor depends on which ones are open.  None of these is memory of
 * the program, so the clocks do not show them unless something else orders the threads.
 */
#ifndef REVERSIBLE_FILE_INT_H
#define REVERSIBLE_FILE_INT_H

#include "reversible/run.h"
#include "trace/full.h"

struct rev_files;
struct rev_files *rev_files_new(const struct rev_run *run);
void rev_files_free(struct rev_files *f); /* NULL is fine */

/* To be called with all records of a thread, in the order of the run; `segment` is its current
 * segment, `call` the function that it called last.  True: another thread has used the same file in
 * no certain order. */
bool rev_files_feed(struct rev_files *f, uint32_t thread, uint32_t segment, const char *call,
		    const struct trace_record *r);

#endif
