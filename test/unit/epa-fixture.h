/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-made full traces in memory: a site table with one piece for each kind of record, and
 * functions that append raw records to the buffer of a thread.
 */
#ifndef TEST_UNIT_EPA_FIXTURE_H
#define TEST_UNIT_EPA_FIXTURE_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "epa/walk.h"
#include "raddle/full.h"

#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FIX_SLOT 1u
#define FIX_SITE(n) (FIX_SLOT << 16 | (n))
#define FIX_THREADS 8
#define FIX_PROGRAM 0x555555550000ull /* load address of the program; `shared` is at +0x100 */

/* Sites and pieces have the same numbers. */
enum fix_site {
	FIX_MAIN = 1, /* entry of a function with the arguments argc and argv */
	FIX_LOAD,     /* of an integer of 8 bytes */
	FIX_STORE,    /* of an integer of 8 bytes */
	FIX_ALLOCA,   /* the size is in the record */
	FIX_RETURN,   /* without a value */
	FIX_MALLOC,   /* call with one argument */
	FIX_RESULT,   /* of malloc(): a pointer */
	FIX_RESTORE,
	FIX_LANDING,
	FIX_FRAME, /* entry that records the address of the frame */
	FIX_LOADP, /* of a pointer */
	FIX_BRANCH,
	FIX_STOREP, /* of a pointer */
	FIX_ENTRY,  /* entry without arguments */
	FIX_LOAD2,  /* as FIX_LOAD, but of another variable */
	FIX_STORE2,
	FIX_ALLOCA2,
	FIX_WRITE, /* call of write(), three arguments */
	FIX_RANGE, /* the bytes that write() reads */
	FIX_PRINT, /* call of printf(), a pointer and an integer */
	FIX_COPY,
	FIX_TAIL,
	FIX_WAIT, /* call of pthread_cond_wait(), two pointers */
	FIX_SITES,
};

static const char *const fix_kinds[FIX_SITES][3] = {
	/* kind of site, variable or function, operation with its fields */
	[FIX_MAIN] = {"e", "main", "e%ui4p8"},
	[FIX_LOAD] = {"r", "x", "l%ui8"},
	[FIX_STORE] = {"w", "x", "s%ui8"},
	[FIX_ALLOCA] = {"a", "local", "a%ui8"},
	[FIX_RETURN] = {"x", "-", "x%u"},
	[FIX_MALLOC] = {"c", "malloc", "c%ui8"},
	[FIX_RESULT] = {"v", "malloc", "v%up8"},
	[FIX_RESTORE] = {"st", "-", "r%u"},
	[FIX_LANDING] = {"g", "-", "g%uF8"},
	[FIX_FRAME] = {"e", "deep", "e%uF8"},
	[FIX_LOADP] = {"r", "p", "l%up8"},
	[FIX_BRANCH] = {"b", "br", "b%u"},
	[FIX_STOREP] = {"w", "p", "s%up8"},
	[FIX_ENTRY] = {"e", "leaf", "e%u"},
	[FIX_LOAD2] = {"r", "y", "l%ui8"},
	[FIX_STORE2] = {"w", "y", "s%ui8"},
	[FIX_ALLOCA2] = {"a", "other", "a%ui8"},
	[FIX_WRITE] = {"c", "write", "c%ui4p8i8"},
	[FIX_RANGE] = {"rr", "write", "b%u"},
	[FIX_PRINT] = {"c", "printf", "c%up8i8"},
	[FIX_WAIT] = {"c", "pthread_cond_wait", "c%up8p8"},
	[FIX_COPY] = {"cp", "z", "m%up8i8"},
	[FIX_TAIL] = {"c", "next", "t%u"},
};

struct fix {
	struct trace_sites *sites;
	struct trace_layout *layout;
	struct rd_buf raw[FIX_THREADS]; /* indexed by thread number */
	uint64_t q;
};

static inline uint32_t fix_size(const char *op)
{
	uint32_t size = strchr("lsarmn", *op) ? 8 : 0;
	for (const char *p = strchr(op, 'u') + 1; *p;) {
		size += (uint32_t)(p[1] - '0');
		p += 2;
	}
	return size ? 4 + size + 1 : 4;
}

static inline void fix_init(struct fix *f)
{
	struct rd_buf text = RD_BUF_INIT;
	memset(f, 0, sizeof *f);
	rd_buf_adds(&text, "raddle-sites\t1\n");
	rd_buf_addf(&text, "U\t%u\t1\tu.c\nF\t0\tu.c\nG\tshared\tshared\t64\t0\t1\tlong[8]\n", FIX_SLOT);
	for (unsigned i = 1; i < FIX_SITES; i++)
		rd_buf_addf(&text, "S\t%u\t%s\t%u\t-\t0\t%u\t1\tf\t%s\t-\n", i, fix_kinds[i][0],
			    strchr("rw", fix_kinds[i][0][0]) && !fix_kinds[i][0][1] ? 8 : 0, 10 * i,
			    fix_kinds[i][1]);
	for (unsigned i = 1; i < FIX_SITES; i++) {
		char op[32];
		snprintf(op, sizeof op, fix_kinds[i][2], i);
		rd_buf_addf(&text, "P\t%u\t1\t%u\t%s\n", i, fix_size(fix_kinds[i][2]), op);
	}
	rd_buf_adds(&text, "A\tprog\t256\t64\tshared\n");
	unsigned long long sum = XXH64(text.data, text.length, 0);
	rd_buf_addf(&text, "end\t%u\t%016llx\n", 4 + 2 * (FIX_SITES - 1), sum);
	if (trace_sites_parse(&f->sites, text.data, text.length, "fixture") ||
	    trace_layout_new(&f->layout, f->sites))
		RD_BUG("the table of the fixture");
	rd_buf_release(&text);
	for (unsigned i = 0; i < FIX_THREADS; i++)
		f->raw[i] = (struct rd_buf)RD_BUF_INIT;
}

/* Removes all records that were appended so far. */
static inline void fix_clear(struct fix *f)
{
	for (unsigned i = 0; i < FIX_THREADS; i++)
		rd_buf_clear(&f->raw[i]);
	f->q = 0;
}

static inline void fix_release(struct fix *f)
{
	for (unsigned i = 0; i < FIX_THREADS; i++)
		rd_buf_release(&f->raw[i]);
	trace_layout_free(f->layout);
	trace_sites_free(f->sites);
}

static inline void fix_put(struct fix *f, unsigned thread, uint64_t value, unsigned size)
{
	rd_buf_add(&f->raw[thread], &value, size);
}

/* Appends a record of a piece with up to three fields.  fix_kinds gives the sizes of the fields. */
static inline void fix_piece(struct fix *f, unsigned thread, enum fix_site n, const uint64_t fields[4])
{
	const char *op = fix_kinds[n][2], *p = strchr(op, 'u') + 1;
	unsigned i = 0;
	fix_put(f, thread, raddle_piece_head(FIX_SITE(n)), 4);
	if (strchr("lsarmn", *op))
		fix_put(f, thread, fields[i++] + 1, 8);
	for (; *p; p += 2)
		fix_put(f, thread, fields[i++], (unsigned)(p[1] - '0'));
	if (i)
		fix_put(f, thread, 1, 1);
}
#define FIX(f, thread, n, ...) fix_piece(f, thread, n, (const uint64_t[4]){__VA_ARGS__})

/* Appends an event.  `operands` lacks its q, time and text, which are filled in. */
static inline void fix_event(struct fix *f, unsigned thread, unsigned code, const uint64_t operands[8])
{
	const char *letters = trace_kind(code)->operands;
	unsigned i = 0;
	fix_put(f, thread, code, 1);
	for (; *letters; letters++) {
		if (*letters == 'q')
			fix_put(f, thread, ++f->q, 8);
		else if (*letters == 't')
			fix_put(f, thread, 0, 8);
		else if (*letters == 'b') {
			fix_put(f, thread, 4, 4);
			rd_buf_adds(&f->raw[thread], "prog");
		} else
			fix_put(f, thread, operands[i++], 8);
	}
}
#define FIX_EVENT(f, thread, code, ...) fix_event(f, thread, code, (const uint64_t[8]){__VA_ARGS__})

/* Appends the start of the initial thread: its stack, the program, a block of thread-local
 * variables, main(). */
static inline void fix_begin(struct fix *f, uint64_t stack, uint64_t program)
{
	FIX_EVENT(f, 0, RADDLE_THREAD_START, 0, 0, stack, 0x10000, 1);
	FIX_EVENT(f, 0, RADDLE_MODULE, program, 0x4000, program);
	FIX(f, 0, FIX_MAIN, 1, stack + 0xf000);
}

static inline struct epa_source *fix_source(struct fix *f)
{
	struct epa_source *s;
	epa_source_of_memory(&s, f->layout, f->sites);
	for (unsigned i = 0; i < FIX_THREADS; i++)
		if (f->raw[i].length)
			epa_source_add(s, i, f->raw[i].data, f->raw[i].length);
	return s;
}

#endif
