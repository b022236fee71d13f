// SPDX-License-Identifier: Apache-2.0
/*
 * The table of fault kinds.  In: a site.  Out: whether a kind fits it, and what a fault of that kind does
 * there.  A kind is one row with its name and any number of rules; those about calls are made of what
 * raddle/libc.inc knows about functions.
 */
#include "inject/kind.h"

#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DATA (INJECT_VALUE | INJECT_LOAD | INJECT_RESULT | INJECT_ARGUMENT)
#define THRD_ERROR 2 /* of threads.h */

static const struct inject_kind kinds[] = {
	/* table II of the paper */
	{"BitFlip", "paper", "a bit of a value flips", 1, false},
	{"FileSize", "paper", "fread, fwrite get too large a size", 0, false},
	{"MallSize", "paper", "malloc, calloc, new get too small a size", 0, false},
	{"CallCorr", "paper", "a bit of the first argument flips", 1, false},
	{"InvalPtr", "paper", "a bit of an allocated pointer flips", 1, false},
	/* of the hardware */
	{"MultiBit", "hardware", "several bits of a value flip (--bits)", 2, false},
	{"StuckAt0", "hardware", "a bit of a value is 0 from then on", 1, true},
	{"StuckAt1", "hardware", "a bit of a value is 1 from then on", 1, true},
	/* of locks and threads */
	{"LockFail", "lock", "a lock fails with an error", 0, false},
	{"NoLock", "lock", "a lock is not taken, and nobody is told", 0, false},
	{"NoUnlock", "lock", "a lock is not released", 0, false},
	{"NoSignal", "lock", "a condition is not signalled", 0, false},
	{"NoWait", "lock", "a wait or a join returns at once", 0, false},
	{"ThreadFail", "lock", "a thread is not created: EAGAIN", 0, false},
	/* of input and output */
	{"OpenFail", "io", "a file is not opened: EMFILE", 0, false},
	{"NoClose", "io", "a file is not closed", 0, false},
	{"DiskFull", "io", "nothing is written: ENOSPC", 0, false},
	{"ReadError", "io", "nothing is read: EIO", 0, false},
	{"WriteError", "io", "nothing is written: EIO", 0, false},
	{"ShortRead", "io", "less is read than was asked for", 0, false},
	{"ShortWrite", "io", "less is written than was asked for", 0, false},
	{"NoOutput", "io", "nothing is printed, and nobody is told", 0, false},
	/* of memory */
	{"AllocFail", "memory", "no memory is allocated: ENOMEM", 0, false},
	{"NoFree", "memory", "memory is not released", 0, false},
};

#define CALL(kind, name, result, error) {kind, INJECT_CALLEE, name, -1, INJECT_CALL, result, error},
#define SIZE(kind, name, argument, draw) {kind, INJECT_ARGUMENT, name, argument, draw, 0, 0},

/* What can go wrong with what a function does, and with how much of it. */
#define RULES_LOCK(name, result, error) CALL("LockFail", name, result, error) CALL("NoLock", name, 0, 0)
#define RULES_TRY_LOCK(name, result, error) CALL("LockFail", name, result, error)
#define RULES_UNLOCK(name, result, error) CALL("NoUnlock", name, 0, 0)
#define RULES_SIGNAL(name, result, error) CALL("NoSignal", name, 0, 0)
#define RULES_WAIT(name, result, error) CALL("NoWait", name, 0, 0)
#define RULES_CREATE(name, result, error) CALL("ThreadFail", name, result, error)
#define RULES_OPEN(name, result, error) CALL("OpenFail", name, result, error)
#define RULES_CLOSE(name, result, error) CALL("NoClose", name, 0, 0)
#define RULES_WRITE(name, result, error)                                                                     \
	CALL("DiskFull", name, result, ENOSPC) CALL("WriteError", name, result, error)
#define RULES_PRINT(name, result, error) RULES_WRITE(name, result, error) CALL("NoOutput", name, 1, 0)
#define RULES_READ(name, result, error) CALL("ReadError", name, result, error)
#define RULES_ALLOC(name, result, error) CALL("AllocFail", name, result, error)
#define RULES_FREE(name, result, error) CALL("NoFree", name, 0, 0)

#define SIZES_FILE(name, argument) SIZE("FileSize", name, argument, INJECT_GROW)
#define SIZES_READ(name, argument) SIZE("ShortRead", name, argument, INJECT_SHRINK)
#define SIZES_WRITE(name, argument) SIZE("ShortWrite", name, argument, INJECT_SHRINK)
#define SIZES_ALLOC(name, argument)                                                                          \
	SIZE("MallSize", name, argument, INJECT_SHRINK){"InvalPtr", INJECT_RESULT, name, -1, INJECT_FLIP, 0, \
							0},

static const struct inject_rule rules[] = {
	{"BitFlip", DATA, NULL, -1, INJECT_FLIP, 0, 0},
	{"CallCorr", INJECT_ARGUMENT, NULL, 0, INJECT_FLIP, 0, 0},
	{"MultiBit", DATA, NULL, -1, INJECT_FLIP, 0, 0},
	{"StuckAt0", DATA, NULL, -1, INJECT_CLEAR, 0, 0},
	{"StuckAt1", DATA, NULL, -1, INJECT_RAISE, 0, 0},
#define LIBC_ACT(name, act, result, error) RULES_##act(name, result, error)
#define LIBC_SIZE(name, argument, what) SIZES_##what(name, argument)
#include "raddle/libc.inc"
};

size_t inject_kind_count(void)
{
	return sizeof kinds / sizeof *kinds;
}

const struct inject_kind *inject_kind_at(size_t index)
{
	return &kinds[index];
}

int inject_kind_find(const char *name, size_t length)
{
	for (size_t i = 0; i < inject_kind_count(); i++)
		if (strlen(kinds[i].name) == length && !strncasecmp(kinds[i].name, name, length))
			return (int)i;
	return -1;
}

static bool add_group(const char *name, size_t length, bool *set)
{
	bool all = length == 3 && !strncasecmp(name, "all", 3), found = all;

	for (size_t i = 0; i < inject_kind_count(); i++) {
		const char *group = kinds[i].group;
		if (all || (strlen(group) == length && !strncasecmp(group, name, length)))
			set[i] = found = true;
	}
	return found;
}

int inject_kind_parse(const char *list, bool *set)
{
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		int one = inject_kind_find(at, n);

		if (one >= 0)
			set[one] = true;
		else if (!add_group(at, n, set))
			return rd_fail(RD_EUSAGE,
				       "inject: there is no fault '%.*s'; 'raddle inject --list -- PROG' "
				       "shows which fit, "
				       "groups are all, paper, hardware, lock, io and memory",
				       (int)n, at);
		at += n;
		if (!*at)
			return 0;
	}
}

/* Where a fault can strike at the site, 0: nowhere.  (A load or a result only if its value is one that can be
 * changed; the layout of the trace knows.) */
static unsigned inject_place_of(const struct trace_site *site)
{
	switch (site->kind) {
	case TRACE_SITE_VALUE: return INJECT_VALUE;
	case TRACE_SITE_READ: return INJECT_LOAD;
	case TRACE_SITE_RESULT: return INJECT_RESULT;
	case TRACE_SITE_ARGUMENT: return INJECT_ARGUMENT;
	case TRACE_SITE_PREVENTABLE: return INJECT_CALLEE;
	default: return 0;
	}
}

const char *inject_opcode(const struct trace_site *site)
{
	switch (site->kind) {
	case TRACE_SITE_VALUE: return site->what;
	case TRACE_SITE_READ: return "load";
	case TRACE_SITE_RESULT: return "result";
	case TRACE_SITE_ARGUMENT: return "argument";
	default: return "call";
	}
}

/* Integers of odd sizes say theirs in their type; that of a load is the source's, and says nothing. */
unsigned inject_width(const struct trace_site *site)
{
	unsigned width = site->size < 8 ? site->size * 8 : 64, written;
	char *end;

	if (site->kind == TRACE_SITE_READ || site->type[0] != 'i')
		return width;
	written = (unsigned)strtoul(site->type + 1, &end, 10);
	return *end || end == site->type + 1 || !written || written > width ? width : written;
}

const struct inject_rule *inject_kind_fits(size_t kind, const struct trace_site *site)
{
	unsigned place = inject_place_of(site);

	for (size_t i = 0; place && i < sizeof rules / sizeof *rules; i++) {
		const struct inject_rule *r = &rules[i];
		if (r->places & place && !strcmp(r->kind, kinds[kind].name) &&
		    (r->argument < 0 || r->argument == site->argument) &&
		    (!r->callee || !strcmp(r->callee, site->what)))
			return r;
	}
	return NULL;
}

static uint64_t draw_bits(const struct inject_kind *kind, const struct inject_bits *bits,
			  struct inject_random *random)
{
	unsigned count = bits->count ? bits->count : kind->bits, width = bits->width;
	uint64_t mask = 0;

	if (bits->bit >= 0) {
		mask = 1ull << bits->bit;
		count--;
	}
	if (count > width)
		count = width;
	for (; count; count--) {
		uint64_t bit;
		do
			bit = 1ull << inject_random_below(random, width);
		while (mask & bit && ~mask << (64 - width));
		mask |= bit;
	}
	return mask;
}

void inject_kind_draw(size_t kind, const struct inject_rule *rule, const struct inject_bits *bits,
		      struct inject_random *random, struct run_fault *f)
{
	static const enum raddle_fault_action actions[] = {
		[INJECT_FLIP] = RADDLE_FAULT_FLIP,    [INJECT_CLEAR] = RADDLE_FAULT_CLEAR,
		[INJECT_RAISE] = RADDLE_FAULT_RAISE,  [INJECT_GROW] = RADDLE_FAULT_ADD,
		[INJECT_SHRINK] = RADDLE_FAULT_SCALE, [INJECT_CALL] = RADDLE_FAULT_CALL,
	};

	f->action = actions[rule->draw];
	f->repeat = kinds[kind].permanent ? 0 : 1;
	f->mask[1] = 0;
	switch (rule->draw) {
	case INJECT_GROW: /* by some bytes, or to a multiple */
		if (inject_random_below(random, 2)) {
			f->action = RADDLE_FAULT_SCALE;
			f->mask[0] = 2 + inject_random_below(random, 15);
			f->mask[1] = 1;
		} else {
			f->mask[0] = 1 + inject_random_below(random, 64);
		}
		break;
	case INJECT_SHRINK: /* to some part of it; so it is smaller whatever it was */
		f->mask[0] = inject_random_below(random, 256);
		f->mask[1] = 256;
		break;
	case INJECT_CALL:
		f->mask[0] = (uint64_t)rule->result;
		f->mask[1] = (uint64_t)rule->error;
		break;
	default: f->mask[0] = draw_bits(&kinds[kind], bits, random);
	}
}
