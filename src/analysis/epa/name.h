/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Canonical names describe what an address refers to, in a form that is the same in every run and
 * under every schedule.
 *
 * A name consists of two words.  Two names are equal if and only if they name the same thing.  The
 * words contain, with the number of bits in parentheses:
 *
 * 	who    kind (4 bits), thread (20), ordinal (40)    of a variable: kind, index of
 * 	                                                   trace_sites.placed; of a module: kind, number
 * 	where  site (31), offset (33, signed)              of variables, modules, blocks, threads: offset
 *
 * Threads and modules are represented by numbers from an `epa_names`, which maps equal strings to
 * equal numbers.  So names can be compared, stored and explained without a table of the objects of
 * a run.
 */
#ifndef EPA_NAME_H
#define EPA_NAME_H

#include "base/buf.h"
#include "base/map.h"
#include "trace/sites.h"

enum epa_kind {
	EPA_NONE,     /* not an address: `where` is a plain number */
	EPA_VARIABLE, /* a variable, named by its row in the site table */
	EPA_MODULE,   /* code and unnamed data of a module, named by the offset */
	/* A block of thread-local variables, named by the thread and the number among its
	 * blocks. */
	EPA_TLS,
	EPA_THREAD, /* the memory that a pthread_t points to, named by the thread */
	/* A local variable, named by the thread, the site, and the number of the site's
	 * execution. */
	EPA_STACK,
	/* Memory from malloc or new, named by the thread, the call site, and the number of the
	 * allocation there. */
	EPA_HEAP,
	/* Memory from mmap(), named like EPA_HEAP. */
	EPA_MAP,
	EPA_ARGUMENT, /* argv, and the strings that it points to, named by a number from 1 */
	/* Memory of libraries.  Its name consists of the thread that uses it, the site that used
	 * it first, and a number that distinguishes the objects of that site. */
	EPA_UNKNOWN,
	EPA_PROCESS, /* a process ID; all process IDs have the same name */
	/* A value that is smaller than a word and contains some bytes of an address.  Its name is
	 * a bit mask of the bytes that belong to the address. */
	EPA_PART,
	EPA_REGION, /* the stack of a thread; used for objects, never in names */
};

struct epa_name {
	uint64_t who, where;
};

static inline enum epa_kind epa_name_kind(struct epa_name n)
{
	return (enum epa_kind)(n.who >> 60);
}

static inline bool epa_name_same(struct epa_name a, struct epa_name b)
{
	return a.who == b.who && a.where == b.where;
}

static inline struct epa_name epa_plain(uint64_t value)
{
	return (struct epa_name){0, value};
}

#define EPA_NAME_THREAD 40 /* bit position of the thread in `who` */
#define EPA_NAME_SITE 33
#define EPA_NAME_ORDINALS ((1ull << EPA_NAME_THREAD) - 1)

/* Returns the name of the first byte of an object that a thread made.  Numbers that do not fit are
 * truncated.  Such numbers occur only in damaged traces. */
static inline struct epa_name epa_name_of(enum epa_kind kind, uint32_t thread, uint64_t ordinal)
{
	return (struct epa_name){(uint64_t)kind << 60 | (uint64_t)(thread & 0xfffff) << EPA_NAME_THREAD |
					 (ordinal & EPA_NAME_ORDINALS),
				 0};
}

/* These functions return the parts of a name. */
uint32_t epa_name_thread(struct epa_name n);
int64_t epa_name_offset(struct epa_name n);

/* Returns the name without its offset.  The result is the same for all places of one object. */
struct epa_name epa_name_base(struct epa_name n);

/* Maps strings to numbers.  A string that `base` contains keeps the number that it has there.  The
 * base is not changed, because other comparisons also use it. */
struct epa_names {
	const struct epa_names *base;
	struct rd_names list;
};
void epa_names_init(struct epa_names *names, const struct epa_names *base);
void epa_names_release(struct epa_names *names);
uint32_t epa_names_put(struct epa_names *names, const char *text, size_t length);
/* Returns "?" if there is no such number. */
const char *epa_names_text(const struct epa_names *names, uint32_t number);

/* Appends the text of a name, such as `arr[1]`, `sum.low in T_0_1 (queue.c:14)#3`, `heap T_0
 * (main.c:33)#2+8`, `T_0_1` or `argv[1]`. */
void epa_name_text(const struct epa_names *names, const struct trace_sites *sites, struct epa_name name,
		   struct rd_buf *out);

#endif
