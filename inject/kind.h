/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of faults: which sites each one fits, and what it does to them.  The table in kind.c is all there
 * is to know about them; doc/man/raddle-inject.1 explains it to people.
 */
#ifndef INJECT_KIND_H
#define INJECT_KIND_H

#include "inject/random.h"
#include "run/fault.h"
#include "trace/sites.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INJECT_BITS_MAX 64

/* How the mask of a fault is drawn. */
enum inject_draw {
	INJECT_FLIP,   /* bits change */
	INJECT_CLEAR,  /* bits are stuck at 0 */
	INJECT_RAISE,  /* bits are stuck at 1 */
	INJECT_GROW,   /* a size becomes larger */
	INJECT_SHRINK, /* a size becomes smaller */
	INJECT_CALL,   /* a call is left out, its result is the rule's */
};

/* A row of the table: the sites that a kind fits, or some of them. */
struct inject_rule {
	const char *kind;
	unsigned places;    /* enum inject_place */
	const char *callee; /* NULL: all */
	int argument;	    /* of places that are arguments; negative: all */
	enum inject_draw draw;
	int64_t result; /* of a call that is left out */
	int error;	/* errno after it; 0: as it was */
};

enum inject_place {
	INJECT_VALUE = 1,    /* what an instruction computes */
	INJECT_LOAD = 2,     /* what is loaded */
	INJECT_RESULT = 4,   /* what a call returns */
	INJECT_ARGUMENT = 8, /* what a call is given */
	INJECT_CALLEE = 16,  /* the call itself */
};

struct inject_kind {
	const char *name, *group, *help;
	uint8_t bits;	/* that it changes by default; 0: it is not about bits */
	bool permanent; /* from then on, not once */
};

size_t inject_kind_count(void);
const struct inject_kind *inject_kind_at(size_t index);
/* -1 if there is none of that name, upper and lower case alike. */
int inject_kind_find(const char *name, size_t length);

/* A list of kinds and groups, separated by commas, into set[inject_kind_count()]; "all" is all of them. */
int inject_kind_parse(const char *list, bool *set);

/* What a site is to faults. */
const char *inject_opcode(const struct trace_site *site); /* load, add, argument, ... */
unsigned inject_width(const struct trace_site *site);	  /* of its value, in bits; at most 64 */

/* The rule by which the kind fits the site, or NULL. */
const struct inject_rule *inject_kind_fits(size_t kind, const struct trace_site *site);

struct inject_bits {
	unsigned width; /* of the value */
	unsigned count; /* bits that change; 0: as the kind says */
	int bit;	/* this one; negative: drawn */
};

/* Fills in action, mask and repeat. */
void inject_kind_draw(size_t kind, const struct inject_rule *rule, const struct inject_bits *bits,
		      struct inject_random *random, struct run_fault *fault);

#endif
