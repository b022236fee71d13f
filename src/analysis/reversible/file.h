/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and descriptors that several threads use, and whether the order of that is certain.
 *
 * What a file holds is written by the one and read by the other; where a stream stands is moved by both; the
 * number of a descriptor depends on which ones are open.  None of these is memory of the program, and nothing
 * of it shows in a clock unless something else orders the threads.
 */
#ifndef REVERSIBLE_FILE_H
#define REVERSIBLE_FILE_H

#include "reversible/run.h"
#include "trace/full.h"

struct rev_files;
struct rev_files *rev_files_new(const struct rev_run *run);
void rev_files_free(struct rev_files *f); /* NULL is fine */

/* All records of a thread, in the order of the run; `segment` is the one that it is in, `call` the function
 * that it called last.  True: another thread has used the same, in no certain order. */
bool rev_files_feed(struct rev_files *f, uint32_t thread, uint32_t segment, const char *call,
		    const struct trace_record *r);

#endif
