/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flavours: turns a program that `raddle cc` built into the same program with hooks, through a
 * cache.  The first use takes seconds.  Later uses only hash the program's bitcode and the cached
 * files.
 */
#ifndef BITCODE_FLAVOUR_H
#define BITCODE_FLAVOUR_H

#include "base/process.h"

#include <stdbool.h>

/* CPU seconds that a program with quick code is expected to run: for one run, and for all replays
 * of a check.  Set by hand from our benchmark programs. */
#define RD_FLAVOUR_ONE_RUN 30.0
#define RD_FLAVOUR_MANY_RUNS 120.0

struct rd_flavour_opts {
	const char *name;    /* of the instrumentation, as in flavour.inc */
	bool fast;	     /* optimised code, which takes long to generate; else quick */
	bool choose;	     /* cached fast code, or quick code requested before, or what costs less */
	double expected;     /* with `choose`: CPU seconds that quick code is expected to run */
	bool debug;	     /* with debug information */
	bool optimised;	     /* of the flavour `full`: instrumented after optimisation */
	bool verbose;	     /* report by rd_info() what is done and what is left out */
	int64_t end_ns;	     /* the deadline, as rd_now_ns(); then RD_ELIMIT.  0: no deadline */
	const char *edits;   /* changes to the program, as lines (base/edit.h); NULL: no changes */
	const char *guards;  /* of `guard` and `track`: the file of instr/guard/guards.h, as text */
	const char *plugins; /* that the program loads by dlopen() from elsewhere: files or directories,
			      * separated by colons; NULL: none */
};

struct rd_flavour {
	char *executable;	/* absolute paths in the cache */
	char *sites;		/* the site table of the program and its libraries */
	char *key;		/* 32 hex digits, a hash of all inputs */
	struct rd_argv foreign; /* code in it that Raddle did not compile and that could order threads:
				 * names, for messages */
	struct rd_argv plugins; /* flavoured plug-ins: paths of the originals */
	struct rd_argv files;	/* all files in the cache that a run opens */
	bool loads_more;	/* it can load code by dlopen() that is not in `foreign` */
	bool cached;		/* it was in the cache */
	bool fast;		/* its code is optimised */
	bool by_cost;		/* its code is quick because that probably costs less: rd_flavour_spend() */
};

/* `program` is a path, or a name that is searched for in PATH.  Libraries are searched for as the
 * program would with our environment, including LD_LIBRARY_PATH. */
int rd_flavour_build(const char *program, const struct rd_flavour_opts *opts, struct rd_flavour *out);
void rd_flavour_release(struct rd_flavour *f);

/* Whether all files still exist: the cache may be emptied at any time. */
bool rd_flavour_is_there(const struct rd_flavour *f);

/* Records that the flavour has run for this many CPU seconds, for later choices; 0 announces
 * further runs. */
void rd_flavour_spend(const struct rd_flavour *f, double seconds);

/* Call this when a run of the flavour has loaded `path`.  Adds it to `foreign` if Raddle did not
 * compile it and it could order threads.  Warns if it contains bitcode but was not found before the
 * run. */
void rd_flavour_loaded(struct rd_flavour *f, const char *path);

/* All of `foreign` as text, the first few by name.  The caller frees it.  NULL: there is no foreign
 * code. */
char *rd_flavour_foreign(const struct rd_flavour *f);

#endif
