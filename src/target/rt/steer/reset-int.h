/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Internal to steering: copies of a frozen program that make several runs. rt/steer/reset.c
 * contains the loop over the runs.  Between two runs, rt/steer/pages.c restores the memory of the
 * program, and rt/steer/changes.c undoes other changes or notices that this is impossible.
 *
 * The state is kept in a struct rt_reset, which is not restored itself.
 */
#ifndef RT_STEER_RESET_INT_H
#define RT_STEER_RESET_INT_H

#include "rt/steer/turn-int.h"

/* All values were chosen by hand; copies of a program that exceeds one of them make one run each. */
#define RT_RESET_STACK 65536	     /* bytes of the stack on which a frozen program and its copies wait */
#define RT_RESET_RESERVE (16u << 20) /* bytes that the runtime may need in a run */
#define RT_RESET_RANGES 1024	     /* maximum number of private writable mappings */
#define RT_RESET_PAGES 16384	     /* maximum number of pages that runs change: 64 MB */
#define RT_RESET_SPACE (1 << 20)     /* maximum number of pages of these mappings, resident or not: 4 GB */
#define RT_RESET_EMPTIED 64	     /* maximum number of ranges that runs empty */
#define RT_RESET_MADE 256	     /* maximum number of mappings that one run makes */

/* The addresses [start, end). */
struct rt_range {
	uintptr_t start, end;
};

/* Private memory of the frozen program, and the pages of it that runs have changed. */
struct rt_pages {
	pid_t origin; /* the frozen program, whose memory never changes */
	struct rt_range ranges[RT_RESET_RANGES];
	size_t range_count;
	struct rt_range kept; /* part of a page that the kernel writes (rseq), and that is not restored */
	uint64_t faults;      /* number of page faults when the pages were last examined */
	uintptr_t changed[RT_RESET_PAGES];
	size_t changed_count, saved_count;	   /* pages whose content is not saved yet come last */
	char *saved;				   /* the original content of these pages */
	uint8_t *known;				   /* a bit for each page of `ranges`: it is in `changed` */
	struct rt_range emptied[RT_RESET_EMPTIED]; /* ranges that runs have emptied */
	size_t emptied_count;
	uint64_t *flags; /* entries of /proc/self/pagemap for some pages */
	size_t size;	 /* bytes of `saved`, `known` and `flags` */
};

/* What a run has changed besides the content of memory. */
struct rt_changes {
	bool lasting; /* the run has made a change that cannot be undone */
	uintptr_t program_break;
	struct rt_range made[RT_RESET_MADE]; /* mappings that the run has made */
	size_t made_count;
};

struct rt_reset {
	struct rt_context frozen; /* where copies continue */
	struct rt_context server; /* where the frozen program and its copies wait */
	struct rt_context run;	  /* of the run that has ended; never continued */
	bool able;		  /* the memory of copies can be restored */
	bool on;		  /* this process is a copy that may make several runs */
	uint32_t status;	  /* the wait status of a run that has ended */
	struct rt_pages pages;
	struct rt_changes changes;
	_Alignas(64) char stack[RT_RESET_STACK];
};

/* Returns NULL if the program was never frozen. */
static inline struct rt_reset *rt_reset(void)
{
	return rt_steering()->frozen.reset;
}

/* rt/steer/pages.c. rt_pages_fit() and rt_pages_list() are called in the frozen program before the
 * first copy is made. rt_pages_begin() is called in a copy before its first run.
 * rt_pages_restore() restores the memory of a copy.  All four return false if memory cannot be
 * restored. */
bool rt_pages_fit(void);
bool rt_pages_list(struct rt_pages *p);
bool rt_pages_begin(void);
bool rt_pages_restore(struct rt_pages *p);
/* Called when the program is about to empty a range (MADV_DONTNEED).  The function may instead
 * clear the pages of the range itself.  In that case it sets *cleared.  Returns false if the range
 * cannot be restored. */
bool rt_pages_empty(struct rt_pages *p, uintptr_t start, size_t length, bool *cleared);

/* rt/steer/changes.c.  rt_changes_watch() is called once in a copy.  It returns false if the program has
 * signal handlers, or if the kernel does not let the runtime watch system calls.  rt_changes_undo() undoes
 * the changes of the run, and returns false if it cannot undo all of them. */
bool rt_changes_watch(struct rt_changes *c);
bool rt_changes_undo(struct rt_changes *c);

#endif
