/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds flavours: instrumented forms of a program that `raddle cc` built.  They are kept in a
 * cache.  The first build of a flavour takes seconds.  Later builds only hash the program's
 * bitcode and the cached files.
 */
#ifndef BITCODE_FLAVOUR_H
#define BITCODE_FLAVOUR_H

#include "base/process.h"

#include <stdbool.h>

/* CPU seconds that a program with quick (not optimised) code is expected to run: in one run, and
 * in all replays of a check together.  Set by hand from our benchmark programs. */
#define RD_FLAVOUR_ONE_RUN 30.0
#define RD_FLAVOUR_MANY_RUNS 120.0

struct rd_flavour_opts {
	const char *name; /* the name of the flavour, as in raddle/flavour.inc */
	/* True for optimised code, which takes long to generate.  False for quick code. */
	bool fast;
	/* True to choose between fast (optimised) and quick code by cost.  If the cache has fast
	 * code, or quick code that a user requested, that code is used. */
	bool choose;
	double expected; /* CPU seconds that quick code is expected to run; used with `choose` */
	bool debug;	 /* true if the code has debug information */
	bool optimised;	 /* true if code of the flavour `full` is instrumented after optimisation */
	bool verbose;	 /* whether to report what is done and what is left out, by rd_info() */
	/* The time after which to fail with RD_ELIMIT, on the clock of rd_now_ns().  0 for no
	 * deadline. */
	int64_t end_ns;
	const char *edits; /* changes to the program, as lines (base/edit.h); NULL for no changes */
	/* For `guard` and `track`: the content of the file that instr/guard/guards.h describes. */
	const char *guards;
	/* Plug-ins that the program loads by dlopen() from other directories: a list of files or
	 * directories, separated by colons.  NULL if there are none. */
	const char *plugins;
};

struct rd_flavour {
	char *executable; /* the absolute path of the program in the cache */
	char *sites;	  /* the path of the site table of the program and its libraries */
	char *key;	  /* 32 hex digits, a hash of all inputs */
	/* The names, for messages, of code that could order threads and was not compiled by
	 * Raddle. */
	struct rd_argv foreign;
	struct rd_argv plugins; /* the original paths of the plug-ins that were instrumented */
	struct rd_argv files;	/* the paths of all files in the cache that a run opens */
	/* True if the program can load further code by dlopen(), which is not in `foreign`. */
	bool loads_more;
	bool cached; /* true if the flavour was already in the cache */
	bool fast;   /* true if the code is optimised */
	/* True if quick code was chosen because its total cost is probably lower
	 * (rd_flavour_spend()). */
	bool by_cost;
};

/* Builds a flavour.  `program` is a path, or a name that is searched for in PATH.  Libraries are
 * searched for as the dynamic loader would in our environment, including LD_LIBRARY_PATH. */
int rd_flavour_build(const char *program, const struct rd_flavour_opts *opts, struct rd_flavour *out);
void rd_flavour_release(struct rd_flavour *f);

/* Returns true if all files of the flavour still exist.  The cache may be emptied at any time. */
bool rd_flavour_is_there(const struct rd_flavour *f);

/* Records that the flavour has run for `seconds` CPU seconds, for later choices between fast and
 * quick code.  If `seconds` is 0, records only that further runs will follow. */
void rd_flavour_spend(const struct rd_flavour *f, double seconds);

/* Call this when a run of the flavour has loaded the file `path`.  If Raddle did not compile the
 * file, and the file could order threads, adds it to `foreign`.  Warns if the file contains
 * bitcode but was not found before the run. */
void rd_flavour_loaded(struct rd_flavour *f, const char *path);

/* Returns a text that lists the first few names in `foreign`, or NULL if there is no foreign code.
 * The caller frees it. */
char *rd_flavour_foreign(const struct rd_flavour *f);

#endif
