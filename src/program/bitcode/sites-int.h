/* SPDX-License-Identifier: Apache-2.0 */
/* Assembling a program's site table (doc/format/sites.md). */
#ifndef BITCODE_SITES_INT_H
#define BITCODE_SITES_INT_H

#include "base/buf.h"

struct bitcode_sites {
	struct rd_buf text;
};

void bitcode_sites_begin(struct bitcode_sites *s);
/* `path` is the part of the table that raddle-instr wrote for one unit. */
int bitcode_sites_add_unit(struct bitcode_sites *s, const char *path);

/* Adds the addresses of the variables of the linked file `path`, which the table calls `name`. */
int bitcode_sites_add_module(struct bitcode_sites *s, const char *path, const char *name);
int bitcode_sites_write(struct bitcode_sites *s, const char *path); /* ends the table */
void bitcode_sites_release(struct bitcode_sites *s);

#endif
