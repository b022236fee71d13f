/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of faults: which sites each one applies to, and what it does to them.  The table in
 * kind.c is the complete definition; doc/man/raddle-inject.1 explains it.
 */
#ifndef INJECT_KIND_H
#define INJECT_KIND_H

#include "base/random.h"
#include "run/fault.h"
#include "trace/sites.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INJECT_BITS_MAX 64 /* bits of a value that can be changed */

/* How the mask of a fault is drawn. */
enum inject_draw {
	INJECT_FLIP,	   /* bits change */
	INJECT_CLEAR,	   /* bits are stuck at 0 */
	INJECT_RAISE,	   /* bits are stuck at 1 */
	INJECT_GROW,	   /* a size becomes larger */
	INJECT_SHRINK,	   /* a size becomes smaller */
	INJECT_CALL,	   /* a call is left out and returns the rule's `result` */
	INJECT_SET,	   /* the value becomes the rule's `result` */
	INJECT_ADD,	   /* the rule's `result` is added */
	INJECT_RANDOM,	   /* the value becomes a random value */
	INJECT_STALE,	   /* the value is that of the previous execution */
	INJECT_MEMORY,	   /* bits change in the memory that the value points to */
	INJECT_SKIP_STORE, /* nothing is stored */
	INJECT_DELAY,	   /* the thread waits `result` microseconds; 0: 1 to 50 ms */
	INJECT_KILL,	   /* the thread ends */
	INJECT_EXHAUST	   /* there is no more of `result` (enum raddle_resource) */
};

/* A row of the table: the sites that a kind applies to, or some of them. */
struct inject_rule {
	const char *kind;
	unsigned places;    /* enum inject_place */
	const char *callee; /* function, opcode or variable of the site; a list separated by commas; NULL:
			       all */
	int argument;	    /* number of the argument or operand; negative: all */
	enum inject_draw draw;
	int64_t result;		       /* of a call that is left out, or another parameter of `draw` */
	int error;		       /* errno after such a call; 0: unchanged */
	const char *functions, *types; /* of the site: lists separated by commas; NULL: all */
};

enum inject_place {
	INJECT_VALUE = 1,    /* the result of an instruction */
	INJECT_LOAD = 2,     /* a loaded value */
	INJECT_RESULT = 4,   /* the result of a call */
	INJECT_ARGUMENT = 8, /* an argument of a call */
	INJECT_CALLEE = 16,  /* the call itself */
	INJECT_OPERAND = 32, /* an operand of an instruction; only that instruction sees the change */
};

struct inject_kind {
	const char *name, *group, *help;
	uint8_t bits;	    /* number of bits that it changes by default; 0: it does not change bits */
	bool permanent;	    /* it strikes every execution from the first one on */
	uint64_t times;	    /* number of executions that it strikes; 0: one */
	uint64_t execution; /* the first execution that it strikes; 0: any */
	uint32_t chance;    /* 2^32 times the probability that an execution is struck; 0: certain */
};

/* Adds a kind that the user has described (inject/fault-model.h), which must stay valid.  It is an
 * error if the name exists, or if there are too many. */
int inject_kind_add(const struct inject_kind *kind, const struct inject_rule *rule);

size_t inject_kind_count(void);
const struct inject_kind *inject_kind_at(size_t index);
/* -1 if there is no such kind; case does not matter. */
int inject_kind_find(const char *name, size_t length);

/* Parses a list of kinds and groups, separated by commas, into set[inject_kind_count()]; "all"
 * selects all of them. */
int inject_kind_parse(const char *list, bool *set);
int inject_kind_check(const char *list); /* fails if it is not such a list */

/* Properties of a site for faults. */
const char *inject_opcode(const struct trace_site *site); /* load, add, argument, ... */
/* Bits of its value, at most 64, and of what its value points to. */
unsigned inject_width(const struct trace_site *site);
unsigned inject_width_there(const struct trace_site *site);

/* The rule by which the kind applies to the site, or NULL. */
const struct inject_rule *inject_kind_fits(size_t kind, const struct trace_site *site);

struct inject_bits {
	unsigned width; /* of the value */
	unsigned count; /* how many bits change; 0: the default of the kind */
	int bit;	/* one of the bits that change; negative: all are drawn */
};

/* Fills in action, mask, repeat and chance. */
void inject_kind_draw(size_t kind, const struct inject_rule *rule, const struct inject_bits *bits,
		      struct rd_random *random, struct run_fault *fault);

#endif
