// SPDX-License-Identifier: Apache-2.0
/*
 * The table of fault kinds.  In: a site.  Out: whether a kind applies to the site, and what a fault
 * of that kind does there.  A kind is a row with a name, and has any number of rules.  The rules
 * for calls are derived from raddle/libc.inc.
 */
#include "inject/kind.h"

#include "base/alloc.h"
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DATA (INJECT_VALUE | INJECT_LOAD | INJECT_RESULT | INJECT_ARGUMENT)
#define THRD_ERROR 2 /* the value in threads.h */

#define KIND(kind, of, text, changes, stays)                                                                 \
	{                                                                                                    \
		.name = kind, .group = of, .help = text, .bits = changes, .permanent = stays                 \
	}

static const struct inject_kind kinds[] = {
	/* The kinds in table II of the TraceSanitizer paper. */
	KIND("BitFlip", "paper", "a bit of a value flips", 1, false),
	KIND("FileSize", "paper", "calls that read or write get too large a size", 0, false),
	KIND("MallSize", "paper", "malloc, calloc, new get too small a size", 0, false),
	KIND("CallCorr", "paper", "a bit of the first argument flips", 1, false),
	KIND("InvalPtr", "paper", "a bit of an allocated pointer flips", 1, false),
	/* Faults of hardware. */
	KIND("MultiBit", "hardware", "several bits of a value flip (--bits)", 2, false),
	KIND("StuckAt0", "hardware", "a bit of a value is 0 from then on", 1, true),
	KIND("StuckAt1", "hardware", "a bit of a value is 1 from then on", 1, true),
	KIND("SrcFlip", "hardware", "a bit of an operand flips for one instruction", 1, false),
	KIND("NoInstr", "hardware", "an instruction is skipped", 0, false),
	/* Faults of locks and threads. */
	KIND("LockFail", "lock", "a lock fails with an error", 0, false),
	KIND("NoLock", "lock", "a lock is not taken, without an error", 0, false),
	KIND("NoUnlock", "lock", "a lock is not released", 0, false),
	KIND("NoSignal", "lock", "a condition is not signalled", 0, false),
	KIND("NoWait", "lock", "a wait or a join returns at once", 0, false),
	KIND("ThreadFail", "lock", "a thread is not created: EAGAIN", 0, false),
	KIND("Delay", "lock", "a thread is delayed at a lock, wait or signal", 0, false),
	KIND("KillThread", "lock", "a thread ends at a lock, wait or signal", 0, false),
	/* Faults of input and output. */
	KIND("OpenFail", "io", "a file is not opened: EMFILE", 0, false),
	KIND("NoClose", "io", "a file is not closed", 0, false),
	KIND("DiskFull", "io", "nothing is written: ENOSPC", 0, false),
	KIND("ReadError", "io", "nothing is read: EIO", 0, false),
	KIND("WriteError", "io", "nothing is written: EIO", 0, false),
	KIND("ShortRead", "io", "less is read than was asked for", 0, false),
	KIND("ShortWrite", "io", "less is written than was asked for", 0, false),
	KIND("NoOutput", "io", "nothing is printed, without an error", 0, false),
	/* Faults of memory. */
	KIND("AllocFail", "memory", "no memory is allocated: ENOMEM", 0, false),
	KIND("NoFree", "memory", "memory is not released", 0, false),
	KIND("MemFlip", "memory", "a bit of memory flips before it is read", 1, false),
	KIND("StalePtr", "memory", "a load returns the pointer it returned before", 0, false),
	/* Exhausted resources of the system. */
	KIND("NoMemory", "resource", "from then on there is no more memory", 0, false),
	KIND("NoFiles", "resource", "from then on no file can be opened", 0, false),
	KIND("NoThreads", "resource", "from then on no thread can be made", 0, false),
};

#define RULE(of, where, name, number, how)                                                                   \
	.kind = of, .places = where, .callee = name, .argument = number, .draw = how
#define CALL(kind, name, value, number)                                                                      \
	{RULE(kind, INJECT_CALLEE, name, -1, INJECT_CALL), .result = value, .error = number},
#define SIZE(kind, name, argument, draw) {RULE(kind, INJECT_ARGUMENT, name, argument, draw)},

/* The rules that raddle/libc.inc selects.  RULES_X is for functions whose action is X, and SIZES_X
 * is for functions that have a size of kind X. */
#define EVENT(kind, name, draw, what) {RULE(kind, INJECT_CALLEE, name, -1, draw), .result = what},
#define LATE(name) EVENT("Delay", name, INJECT_DELAY, 0) EVENT("KillThread", name, INJECT_KILL, 0)
#define RULES_LOCK(name, result, error)                                                                      \
	LATE(name) CALL("LockFail", name, result, error) CALL("NoLock", name, 0, 0)
#define RULES_TRY_LOCK(name, result, error) CALL("LockFail", name, result, error)
#define RULES_UNLOCK(name, result, error) LATE(name) CALL("NoUnlock", name, 0, 0)
#define RULES_SIGNAL(name, result, error) LATE(name) CALL("NoSignal", name, 0, 0)
#define RULES_WAIT(name, result, error) LATE(name) CALL("NoWait", name, 0, 0)
#define RULES_CREATE(name, result, error)                                                                    \
	EVENT("NoThreads", name, INJECT_EXHAUST, RADDLE_RESOURCE_THREADS)                                    \
	CALL("ThreadFail", name, result, error)
#define RULES_OPEN(name, result, error)                                                                      \
	EVENT("NoFiles", name, INJECT_EXHAUST, RADDLE_RESOURCE_FILES) CALL("OpenFail", name, result, error)
#define RULES_CLOSE(name, result, error) CALL("NoClose", name, 0, 0)
#define RULES_WRITE(name, result, error)                                                                     \
	CALL("DiskFull", name, result, ENOSPC) CALL("WriteError", name, result, error)
#define RULES_PRINT(name, result, error) RULES_WRITE(name, result, error) CALL("NoOutput", name, 1, 0)
#define RULES_READ(name, result, error) CALL("ReadError", name, result, error)
#define RULES_ALLOC(name, result, error)                                                                     \
	EVENT("NoMemory", name, INJECT_EXHAUST, RADDLE_RESOURCE_MEMORY) CALL("AllocFail", name, result, error)
#define RULES_FREE(name, result, error) CALL("NoFree", name, 0, 0)

#define SIZES_FILE(name, argument) SIZE("FileSize", name, argument, INJECT_GROW)
#define SIZES_READ(name, argument) SIZE("ShortRead", name, argument, INJECT_SHRINK)
#define SIZES_WRITE(name, argument) SIZE("ShortWrite", name, argument, INJECT_SHRINK)
#define SIZES_ALLOC(name, argument)                                                                          \
	SIZE("MallSize", name, argument,                                                                     \
	     INJECT_SHRINK){RULE("InvalPtr", INJECT_RESULT, name, -1, INJECT_FLIP)},

static const struct inject_rule rules[] = {
	{RULE("BitFlip", DATA, NULL, -1, INJECT_FLIP)},
	{RULE("CallCorr", INJECT_ARGUMENT, NULL, 0, INJECT_FLIP)},
	{RULE("MultiBit", DATA, NULL, -1, INJECT_FLIP)},
	{RULE("StuckAt0", DATA, NULL, -1, INJECT_CLEAR)},
	{RULE("StuckAt1", DATA, NULL, -1, INJECT_RAISE)},
	{RULE("SrcFlip", INJECT_OPERAND, NULL, -1, INJECT_FLIP)},
	{RULE("NoInstr", INJECT_VALUE | INJECT_LOAD, NULL, -1, INJECT_STALE)},
	{RULE("NoInstr", INJECT_OPERAND, "store", 1, INJECT_SKIP_STORE)},
	{RULE("MemFlip", INJECT_OPERAND, "load", 0, INJECT_MEMORY)},
	{RULE("StalePtr", INJECT_LOAD, NULL, -1, INJECT_STALE), .types = "ptr"},
#define LIBC_ACT(name, act, result, error) RULES_##act(name, result, error)
#define LIBC_SIZE(name, argument, what) SIZES_##what(name, argument)
#include "raddle/libc.inc"
};

enum { OWN = sizeof kinds / sizeof *kinds, ADDED_MAX = 64 };

/* The kinds that the user has described. */
static struct {
	struct inject_kind kinds[ADDED_MAX];
	struct inject_rule rules[ADDED_MAX];
	size_t count;
} added;

size_t inject_kind_count(void)
{
	return OWN + added.count;
}

const struct inject_kind *inject_kind_at(size_t index)
{
	return index < OWN ? &kinds[index] : &added.kinds[index - OWN];
}

int inject_kind_add(const struct inject_kind *kind, const struct inject_rule *rule)
{
	if (inject_kind_find(kind->name, strlen(kind->name)) >= 0)
		return rd_fail(RD_EUSAGE, "inject: the fault '%s' exists already", kind->name);
	if (added.count == ADDED_MAX)
		return rd_fail(RD_ELIMIT, "inject: more than %d faults of your own", ADDED_MAX);
	added.kinds[added.count] = *kind;
	added.rules[added.count++] = *rule;
	return 0;
}

int inject_kind_find(const char *name, size_t length)
{
	for (size_t i = 0; i < inject_kind_count(); i++)
		if (strlen(inject_kind_at(i)->name) == length &&
		    !strncasecmp(inject_kind_at(i)->name, name, length))
			return (int)i;
	return -1;
}

static bool add_group(const char *name, size_t length, bool *set)
{
	bool all = length == 3 && !strncasecmp(name, "all", 3), found = all;

	for (size_t i = 0; i < inject_kind_count(); i++) {
		const char *group = inject_kind_at(i)->group;
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
			return rd_fail(
				RD_EUSAGE,
				"inject: unknown fault '%.*s'; 'raddle inject --list -- PROG' "
				"shows which apply, "
				"groups are all, paper, hardware, lock, io, memory, resource, and own for "
				"faults of --model",
				(int)n, at);
		at += n;
		if (!*at)
			return 0;
	}
}

int inject_kind_check(const char *list)
{
	bool *set = rd_xcalloc(inject_kind_count(), sizeof *set);
	int r = inject_kind_parse(list, set);

	free(set);
	return r;
}

/* Returns a mask of the places of the site at which a fault can strike, or 0 if there is none.  A
 * fault can strike at a load or a result only if its value can be changed, which depends on the
 * layout of the trace. */
static unsigned inject_place_of(const struct trace_site *site)
{
	switch (site->kind) {
	case TRACE_SITE_VALUE: return INJECT_VALUE;
	case TRACE_SITE_READ: return INJECT_LOAD;
	case TRACE_SITE_RESULT: return INJECT_RESULT;
	case TRACE_SITE_ARGUMENT: return INJECT_ARGUMENT;
	case TRACE_SITE_PREVENTABLE: return INJECT_CALLEE;
	case TRACE_SITE_OPERAND: return INJECT_OPERAND;
	default: return 0;
	}
}

const char *inject_opcode(const struct trace_site *site)
{
	switch (site->kind) {
	case TRACE_SITE_VALUE:
	case TRACE_SITE_OPERAND: return site->what;
	case TRACE_SITE_READ: return "load";
	case TRACE_SITE_RESULT: return "result";
	case TRACE_SITE_ARGUMENT: return "argument";
	default: return "call";
	}
}

/* Returns true if the site is the address operand of a load or store.  The type that such a site
 * has in the site table is that of the memory at the address. */
static bool is_address(const struct trace_site *site)
{
	return site->kind == TRACE_SITE_OPERAND &&
	       (!strcmp(site->what, "load") || (!strcmp(site->what, "store") && site->argument == 1));
}

/* The type of an integer of unusual size contains the size, such as "i24".  Loads are an exception:
 * their type is that of the source code, which contains no size. */
unsigned inject_width(const struct trace_site *site)
{
	unsigned width = site->size < 8 ? site->size * 8 : 64, written;
	char *end;

	if (site->kind == TRACE_SITE_READ || is_address(site) || site->type[0] != 'i')
		return width;
	written = (unsigned)strtoul(site->type + 1, &end, 10);
	return *end || end == site->type + 1 || !written || written > width ? width : written;
}

unsigned inject_width_there(const struct trace_site *site)
{
	unsigned long written = site->type[0] == 'i' ? strtoul(site->type + 1, NULL, 10) : 0;

	if (!strcmp(site->type, "ptr") || !strcmp(site->type, "double"))
		return 64;
	if (!strcmp(site->type, "float"))
		return 32;
	return written >= 8 && written <= 64 ? (unsigned)written : 8;
}

/* Returns true if a list separated by commas contains the item.  A NULL list contains
 * everything. */
static bool has(const char *list, const char *item)
{
	size_t length = strlen(item);

	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (strcspn(at, ",") == length && !strncmp(at, item, length))
			return true;
	return !list;
}

/* Returns the LLVM type of the site's value.  For a load, the site table contains the type of the
 * source code, so this function translates it. */
static const char *type_of(const struct trace_site *site, char *room, size_t size)
{
	size_t length = strlen(site->type);

	if (site->kind != TRACE_SITE_READ || !strcmp(site->type, "float") || !strcmp(site->type, "double"))
		return site->type;
	if (length && site->type[length - 1] == '*')
		return "ptr";
	snprintf(room, size, "i%u", site->size * 8);
	return room;
}

static bool fits(const struct inject_rule *r, const struct trace_site *site)
{
	char type[24];

	return r->places & inject_place_of(site) && (r->argument < 0 || r->argument == site->argument) &&
	       has(r->callee, site->what) && has(r->functions, site->function) &&
	       has(r->types, type_of(site, type, sizeof type));
}

const struct inject_rule *inject_kind_fits(size_t kind, const struct trace_site *site)
{
	RD_ASSERT(kind < inject_kind_count());
	if (kind >= OWN)
		return fits(&added.rules[kind - OWN], site) ? &added.rules[kind - OWN] : NULL;
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!strcmp(rules[i].kind, kinds[kind].name) && fits(&rules[i], site))
			return &rules[i];
	return NULL;
}

static uint64_t draw_bits(const struct inject_kind *kind, const struct inject_bits *bits,
			  struct rd_random *random)
{
	RD_ASSERT(bits->width > 0 && bits->width <= INJECT_BITS_MAX);
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
			bit = 1ull << rd_random_below(random, width);
		while (mask & bit && ~mask << (64 - width));
		mask |= bit;
	}
	return mask;
}

void inject_kind_draw(size_t kind, const struct inject_rule *rule, const struct inject_bits *bits,
		      struct rd_random *random, struct run_fault *f)
{
	RD_ASSERT(kind < inject_kind_count() && rule != NULL);
	static const enum raddle_fault_action actions[] = {
		[INJECT_FLIP] = RADDLE_FAULT_FLIP,	 [INJECT_CLEAR] = RADDLE_FAULT_CLEAR,
		[INJECT_RAISE] = RADDLE_FAULT_RAISE,	 [INJECT_GROW] = RADDLE_FAULT_ADD,
		[INJECT_SHRINK] = RADDLE_FAULT_SCALE,	 [INJECT_CALL] = RADDLE_FAULT_CALL,
		[INJECT_SET] = RADDLE_FAULT_SET,	 [INJECT_ADD] = RADDLE_FAULT_ADD,
		[INJECT_RANDOM] = RADDLE_FAULT_SET,	 [INJECT_STALE] = RADDLE_FAULT_FORMER,
		[INJECT_MEMORY] = RADDLE_FAULT_MEMORY,	 [INJECT_SKIP_STORE] = RADDLE_FAULT_AWAY,
		[INJECT_DELAY] = RADDLE_FAULT_DELAY,	 [INJECT_KILL] = RADDLE_FAULT_KILL,
		[INJECT_EXHAUST] = RADDLE_FAULT_EXHAUST,
	};
	const struct inject_kind *k = inject_kind_at(kind);

	f->action = actions[rule->draw];
	f->repeat = k->permanent ? 0 : k->times ? k->times : 1;
	f->mask[0] = f->mask[1] = 0;
	f->chance = k->chance ? (rd_random_below(random, UINT32_MAX) << 32 | k->chance) : 0;
	switch (rule->draw) {
	case INJECT_GROW: /* the size grows by some bytes, or to a multiple */
		if (rd_random_below(random, 2)) {
			f->action = RADDLE_FAULT_SCALE;
			f->mask[0] = 2 + rd_random_below(random, 15);
			f->mask[1] = 1;
		} else {
			f->mask[0] = 1 + rd_random_below(random, 64);
		}
		break;
	case INJECT_SHRINK: /* the size becomes a fraction of its value, so it is always smaller */
		f->mask[0] = rd_random_below(random, 256);
		f->mask[1] = 256;
		break;
	case INJECT_CALL: f->mask[1] = (uint64_t)rule->error; /* fallthrough */
	case INJECT_SET:
	case INJECT_ADD:
	case INJECT_EXHAUST: f->mask[0] = (uint64_t)rule->result; break;
	case INJECT_DELAY:
		f->mask[0] = rule->result ? (uint64_t)rule->result : 1000 + rd_random_below(random, 49001);
		break;
	case INJECT_RANDOM: f->mask[0] = rd_random_next(random); break;
	case INJECT_STALE:
	case INJECT_SKIP_STORE:
	case INJECT_KILL: break;
	default: f->mask[0] = draw_bits(k, bits, random);
	}
}
