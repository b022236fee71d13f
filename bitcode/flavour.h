/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flavours: from a program that `raddle cc` built to the same program with
 * hooks in it, through a cache.  The first use takes seconds, the next ones
 * only the time to hash the program's bitcode.
 */
#ifndef BITCODE_FLAVOUR_H
#define BITCODE_FLAVOUR_H

#include <stdbool.h>

struct rd_flavour_opts {
	const char *name; /* of the instrumentation: "record" or "full" */
	bool fast;	  /* optimised code, slow to make; else quick */
	bool debug;	  /* with debug information */
	bool verbose;	  /* say by rd_info() what is done and what is left out */
};

struct rd_flavour {
	char *executable;   /* absolute paths in the cache */
	char *sites;	    /* the site table of the program and its libraries */
	char *key;	    /* 32 hex digits that name all that went in */
	char *library_path; /* a directory that LD_LIBRARY_PATH would need; NULL: none, the
			     * executable finds its flavoured libraries by itself */
	char *foreign; /* the code in it that Raddle did not compile and that could order threads: names, for
			* people; NULL: there is none */
	bool cached;   /* it was there already */
};

/* `program` is a path, or a name that is looked for in PATH.  Its environment
 * is ours: LD_LIBRARY_PATH counts when its libraries are looked for. */
int rd_flavour_build(const char *program, const struct rd_flavour_opts *opts, struct rd_flavour *out);
void rd_flavour_release(struct rd_flavour *f);

#endif
