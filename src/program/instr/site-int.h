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
	uint32_t pieces;	/* of the flavour full */
	struct ir_debug *debug; /* owned */
	struct rd_names files;
	struct rd_buf text; /* S, O, R and P records */
};

struct instr_site {
	const char *kind; /* as in sites.md */
	uint64_t size;	  /* as in sites.md */
	uint64_t extent;  /* bytes touched, for the name; 0 if not known here */
	const char *flags;
	LLVMValueRef inst;    /* where */
	LLVMValueRef pointer; /* what is accessed; NULL for calls and fences */
	const char *callee;   /* for calls; NULL: indirect */
	bool of_function;     /* if the instruction has no place, that of the function is used */
	LLVMTypeRef type;     /* of a value; NULL: that of what is accessed */
	bool of_object;	      /* also add what may show the name of a heap object */
};

void instr_sites_init(struct instr_sites *s, uint64_t slot, LLVMModuleRef module);
void instr_sites_release(struct instr_sites *s);

/* Adds a record and returns the site's number in the trace. */
uint32_t instr_sites_add(struct instr_sites *s, const struct instr_site *site);

/* The whole part of this unit: U and F records, those in `text`, G and T records. */
void instr_sites_text(struct instr_sites *s, LLVMModuleRef module, struct rd_buf *out);

#endif
