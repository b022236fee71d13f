/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles a program's site table (doc/format/sites.md). */
#ifndef BITCODE_SITES_INT_H
#define BITCODE_SITES_INT_H

#include "base/buf.h"

struct bitcode_sites {
	struct rd_buf text;
};

void bitcode_sites_begin(struct bitcode_sites *s);
/* `path` is the part of the table that raddle-instr wrote for one unit. */
int bitcode_sites_add_unit(struct bitcode_sites *s, const char *path);

/* Adds the addresses of the variables of the linked file `path`.  The table calls this file
 * `name`. */
int bitcode_sites_add_module(struct bitcode_sites *s, const char *path, const char *name);
/* Writes the end of the table, and stores it at `path`. */
int bitcode_sites_write(struct bitcode_sites *s, const char *path);
void bitcode_sites_release(struct bitcode_sites *s);

#endif
