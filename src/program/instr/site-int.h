/* SPDX-License-Identifier: Apache-2.0 */
/* The site table of a unit (doc/format/sites.md), written while sites are made. */
#ifndef INSTR_SITE_INT_H
#define INSTR_SITE_INT_H

#include "base/buf.h"
#include "base/map.h"
#include "ir/debug.h"

#include <stdint.h>

struct instr_sites {
	uint64_t slot;
	uint32_t count;
	uint32_t pieces;	/* the number of pieces so far, in the flavour `full` */
	struct ir_debug *debug; /* freed with this struct */
	struct rd_names files;
	struct rd_buf text; /* the S, O, R and P records so far */
};

struct instr_site {
	const char *kind; /* the kind, as in doc/format/sites.md */
	uint64_t size;	  /* the size, as in doc/format/sites.md */
	uint64_t extent;  /* the number of bytes touched, for the name; 0 if not known here */
	const char *flags;
	/* The site gets the place of this instruction in the source. */
	LLVMValueRef inst;
	LLVMValueRef pointer; /* the address that is accessed; NULL for calls and fences */
	const char *callee;   /* the name of the called function; NULL for an indirect call */
	/* Whether to use the place of the function if the instruction has none. */
	bool of_function;
	LLVMTypeRef type; /* the type of the value; NULL for the type of the accessed memory */
	bool of_object;	  /* whether to add records that may show the name of a heap object */
};

void instr_sites_init(struct instr_sites *s, uint64_t slot, LLVMModuleRef module);
void instr_sites_release(struct instr_sites *s);

/* Adds a record and returns the site's number in the trace. */
uint32_t instr_sites_add(struct instr_sites *s, const struct instr_site *site);

/* Writes the part of the site table that describes this unit (source file): first U and F records,
 * then the records in `text`, then G and T records. */
void instr_sites_text(struct instr_sites *s, LLVMModuleRef module, struct rd_buf *out);

#endif
