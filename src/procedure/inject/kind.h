/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds of faults: the instructions (sites) to which each kind applies, and what it does
 * there.  The table in kind.c is the complete definition; doc/man/raddle-inject.1 explains it.
 */
#ifndef INJECT_KIND_H
#define INJECT_KIND_H

#include "base/random.h"
#include "run/fault.h"
#include "trace/sites.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INJECT_BITS_MAX 64 /* largest number of bits of a value that can be changed */

/* What a fault does. inject_kind_draw() draws the mask of the fault accordingly. */
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
	INJECT_SKIP_STORE, /* the value is not stored */
	/* The thread waits for `result` microseconds; if that is 0, for 1 to 50 ms. */
	INJECT_DELAY,
	INJECT_KILL, /* the thread ends */
	/* No more of the resource `result` (enum raddle_resource) is available. */
	INJECT_EXHAUST
};

/* A row of the table, which describes sites to which a kind applies. */
struct inject_rule {
	const char *kind;
	unsigned places; /* a mask of enum inject_place */
	/* Functions, opcodes or variables of the site, separated by commas; NULL for all. */
	const char *callee;
	int argument; /* number of the argument or operand; negative for all */
	enum inject_draw draw;
	/* Result of a call that is left out, or another parameter of `draw`. */
	int64_t result;
	int error; /* errno after a call that is left out; 0 if it is unchanged */
	/* Comma-separated lists of the functions and the types that the site may have; NULL for
	 * all. */
	const char *functions, *types;
};

enum inject_place {
	INJECT_VALUE = 1,    /* the result of an instruction */
	INJECT_LOAD = 2,     /* a loaded value */
	INJECT_RESULT = 4,   /* the result of a call */
	INJECT_ARGUMENT = 8, /* an argument of a call */
	INJECT_CALLEE = 16,  /* the call itself */
	/* An operand of an instruction; only that instruction gets the changed value. */
	INJECT_OPERAND = 32,
};

struct inject_kind {
	const char *name, *group, *help;
	/* Number of bits that the fault changes by default; 0 if it does not change bits. */
	uint8_t bits;
	bool permanent;	    /* the fault strikes at every execution from the first one on */
	uint64_t times;	    /* number of executions at which the fault strikes; 0 means one */
	uint64_t execution; /* the first execution at which it strikes; 0 for any */
	/* 2^32 times the probability that the fault strikes at an execution; 0 if it always
	 * strikes. */
	uint32_t chance;
};

/* Adds a kind that the user has described (inject/fault-model.h).  Its strings must stay valid.  It
 * is an error if there is already a kind of that name, or if there are too many kinds. */
int inject_kind_add(const struct inject_kind *kind, const struct inject_rule *rule);

size_t inject_kind_count(void);
const struct inject_kind *inject_kind_at(size_t index);
/* Returns the index of the kind with that name, in upper or lower case, or -1 if there is no such
 * kind. */
int inject_kind_find(const char *name, size_t length);

/* Parses a comma-separated list of kinds and groups.  Sets set[i] to true if the list contains kind
 * number i; "all" selects all kinds.  `set` has inject_kind_count() elements. */
int inject_kind_parse(const char *list, bool *set);
int inject_kind_check(const char *list); /* fails if the text is not a list of kinds */

/* Returns the opcode of a site: load, add, argument and so on. */
const char *inject_opcode(const struct trace_site *site);
/* Returns the number of bits of the site's value, at most 64. */
unsigned inject_width(const struct trace_site *site);
/* Returns the number of bits of the memory to which the site's value points. */
unsigned inject_width_there(const struct trace_site *site);

/* Returns the rule by which the kind applies to the site, or NULL if it does not apply. */
const struct inject_rule *inject_kind_fits(size_t kind, const struct trace_site *site);

struct inject_bits {
	unsigned width; /* number of bits of the value */
	unsigned count; /* number of bits that change; 0 for the default of the kind */
	int bit;	/* the number of a bit that must change; negative if all bits are drawn */
};

/* Sets the action, mask, repeat and chance of a fault, drawing random numbers where needed. */
void inject_kind_draw(size_t kind, const struct inject_rule *rule, const struct inject_bits *bits,
		      struct rd_random *random, struct run_fault *fault);

#endif
