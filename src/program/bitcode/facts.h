/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the facts of a whole program (doc/format/facts.md), or takes them from the cache. */
#ifndef BITCODE_FACTS_H
#define BITCODE_FACTS_H

/* `program` is a path, or a name that is searched for in PATH.  Stores in *path the path of a file
 * in the cache that contains the facts.  The caller frees the path. */
int rd_facts_build(const char *program, char **path);

struct facts;

/* Does the same as rd_facts_build(), but also reads the facts.  The caller frees them with
 * facts_free(). */
int rd_facts_open(const char *program, struct facts **f);

#endif
