/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flavours: from a program that `raddle cc` built to the same program with
 * hooks in it, through a cache.  The first use takes seconds, the next ones
 * only the time to hash the program's bitcode.
 */
#ifndef BITCODE_FLAVOUR_H
#define BITCODE_FLAVOUR_H

#include "base/process.h"

#include <stdbool.h>

/* CPU seconds that a program whose code is not optimised is expected to run: once, and with all replays
 * of a check. */
#define RD_FLAVOUR_ONE_RUN 30.0
#define RD_FLAVOUR_MANY_RUNS 120.0

struct rd_flavour_opts {
	const char *name;  /* of the instrumentation, as in flavour.inc */
	bool fast;	   /* optimised code, slow to make; else quick */
	bool choose;	   /* fast code that is there, or quick code that was asked for, or what costs less */
	double expected;   /* for that: CPU seconds that quick code is expected to run */
	bool debug;	   /* with debug information */
	bool optimised;	   /* of the flavour `full`: instrumented after optimisation */
	bool verbose;	   /* say by rd_info() what is done and what is left out */
	int64_t end_ns;	   /* when it has to be there, as rd_now_ns(); then RD_ELIMIT.  0: it has time */
	const char *edits; /* changes to the program before all else, as lines (base/edit.h); NULL: none */
	const char *guards;  /* of the flavour `guard`: the file of instr/guard/guards.h, as text */
	const char *plugins; /* that the program loads by dlopen(), beside those near it: files or
			      * directories, separated by colons; NULL: none */
};

struct rd_flavour {
	char *executable;	/* absolute paths in the cache */
	char *sites;		/* the site table of the program and its libraries */
	char *key;		/* 32 hex digits that name all that went in */
	char *library_path;	/* a directory that LD_LIBRARY_PATH would need; NULL: none, the
				 * executable finds its flavoured libraries by itself */
	struct rd_argv foreign; /* the code in it that Raddle did not compile and that could order threads:
				 * names, for people */
	struct rd_argv plugins; /* what dlopen() finds flavoured: paths of the originals */
	struct rd_argv files;	/* all that a run of it opens, in the cache */
	bool loads_more;	/* it can load code by dlopen() that `foreign` does not name */
	bool cached;		/* it was there already */
	bool fast;		/* its code is optimised */
	bool by_cost; /* it is not, because that costs less as far as is known: rd_flavour_spend() */
};

/* `program` is a path, or a name that is looked for in PATH.  Its environment
 * is ours: LD_LIBRARY_PATH counts when its libraries are looked for. */
int rd_flavour_build(const char *program, const struct rd_flavour_opts *opts, struct rd_flavour *out);
void rd_flavour_release(struct rd_flavour *f);

/* Whether all of it is still there: the cache may be emptied at any time. */
bool rd_flavour_is_there(const struct rd_flavour *f);

/* It has run for so many CPU seconds.  Who calls this lets later choices depend on it; 0 says that there will
 * be more. */
void rd_flavour_spend(const struct rd_flavour *f, double seconds);

/* A run of it has loaded `path` by whatever means: `foreign` names it now if it is such code.  Says so if it
 * carries bitcode and was not found before the run. */
void rd_flavour_loaded(struct rd_flavour *f, const char *path);

/* All of `foreign`, for people: the first few by name.  To be freed; NULL: there is none. */
char *rd_flavour_foreign(const struct rd_flavour *f);

#endif
