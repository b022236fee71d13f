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
	INJECT_SET,    /* it becomes the rule's `result` */
	INJECT_ADD,    /* that is added */
	INJECT_RANDOM, /* it becomes any value */
	INJECT_FORMER, /* it is what it was there the time before */
	INJECT_MEMORY, /* bits change in the memory that it is the address of */
	INJECT_AWAY,   /* nothing is stored */
	INJECT_DELAY,  /* the thread waits, `result` microseconds or up to 50 ms */
	INJECT_KILL,   /* the thread ends */
	INJECT_EXHAUST /* there is no more of `result` (enum raddle_resource) */
};

/* A row of the table: the sites that a kind fits, or some of them. */
struct inject_rule {
	const char *kind;
	unsigned places;    /* enum inject_place */
	const char *callee; /* what the site is about: function, opcode or variable; a list with commas; NULL:
			       all */
	int argument;	    /* of places that are arguments; negative: all */
	enum inject_draw draw;
	int64_t result;		       /* of a call that is left out */
	int error;		       /* errno after it; 0: as it was */
	const char *functions, *types; /* it lies in, it has: lists with commas; NULL: all */
};

enum inject_place {
	INJECT_VALUE = 1,    /* what an instruction computes */
	INJECT_LOAD = 2,     /* what is loaded */
	INJECT_RESULT = 4,   /* what a call returns */
	INJECT_ARGUMENT = 8, /* what a call is given */
	INJECT_CALLEE = 16,  /* the call itself */
	INJECT_OPERAND = 32, /* what an instruction uses, for it alone */
};

struct inject_kind {
	const char *name, *group, *help;
	uint8_t bits;	    /* that it changes by default; 0: it is not about bits */
	bool permanent;	    /* from then on, not once */
	uint64_t times;	    /* so often, if not 0 */
	uint64_t execution; /* only this one; 0: any */
	uint32_t chance;    /* 2^32 times the probability of each execution to be struck; 0: certain */
};

/* Faults that the user has described (inject/model.h) are kinds as well; they outlive everything.  An error:
 * there is one of that name, or there are too many. */
int inject_kind_add(const struct inject_kind *kind, const struct inject_rule *rule);

size_t inject_kind_count(void);
const struct inject_kind *inject_kind_at(size_t index);
/* -1 if there is none of that name, upper and lower case alike. */
int inject_kind_find(const char *name, size_t length);

/* A list of kinds and groups, separated by commas, into set[inject_kind_count()]; "all" is all of them. */
int inject_kind_parse(const char *list, bool *set);
int inject_kind_check(const char *list); /* whether it is such a list */

/* What a site is to faults. */
const char *inject_opcode(const struct trace_site *site); /* load, add, argument, ... */
unsigned inject_width(const struct trace_site *site);	  /* of its value, in bits; at most 64 */
unsigned
inject_width_there(const struct trace_site *site); /* of what an address that is loaded from leads to */

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
