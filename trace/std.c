/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STD text comes in, a trace directory goes out.
 *
 * STD is a total order of all events; a trace orders synchronisation operations only.
 * An access that follows an event of another thread therefore gets an `order`
 * event before it, and the merge of the streams is the order of the lines again.
 *
 * Variables, locks and condition variables become variables of three invented
 * modules, with their names in the site table; a location becomes a site for each
 * kind of event at it, whose line is the location.
 *
 * `wait(l)`, an extension, follows the `rel(l)` it belongs to.  A release is
 * therefore held back until the next event of its thread is known.
 */
#include "trace/std.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "trace/encode.h"
#include "trace/writer.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define CHUNK (128u << 10) /* begin a new one beyond this */
#define UNIT_SLOT 1u
#define SITE_COUNT_MAX ((RADDLE_SITE_MAX >> 1) - (UNIT_SLOT << RADDLE_SITE_LOCAL_BITS))
#define NOBODY 0
#define PROBLEMS_MAX 10 /* messages; further ones are only counted */

/* The invented modules. */
enum space { VARIABLES, LOCKS, CONDS, SPACES };
static const struct {
	const char *module;
	uint64_t base;
	unsigned size; /* of one object */
	const char *type;
} spaces[SPACES] = {
	[VARIABLES] = {"std-variables", 0x100000000000, 8, "variable"},
	[LOCKS] = {"std-locks", 0x200000000000, 64, "lock"},
	[CONDS] = {"std-conds", 0x300000000000, 64, "condition"},
};
#define SPACE_SIZE 0x10000000000

enum op {
	OP_ACQ,
	OP_REL,
	OP_R,
	OP_W,
	OP_FORK,
	OP_JOIN,
	OP_BEGIN,
	OP_END,
	OP_DUMMY,
	OP_REQ,
	OP_WAIT,
	OP_NOTIFY,
	OP_ALL
};

struct thread {
	struct trace_encoder encoder;
	uint32_t forks;
	uint32_t stack_site; /* top of the encoded call stack, 0: empty */
	uint32_t held_back;  /* lock + 1 whose release waits to be written */
	uint64_t held_q;
	uint32_t held_site;
	uint32_t waiting; /* lock + 1 of a wait that has not returned */
	bool seen, forked, begun, ended, joined;
};

struct lock {
	uint32_t owner; /* thread + 1 */
	uint32_t depth;
};

struct import {
	const struct trace_std_opts *opts;
	struct trace_writer *writer;
	struct rd_names thread_names, names[SPACES], places;
	struct thread *threads;
	struct lock *locks;
	size_t thread_capacity, lock_capacity;
	struct rd_umap site_of; /* location and kind to n */
	struct rd_buf sites;	/* their S records */
	uint32_t site_count;
	uint64_t records; /* of the site table */
	uint64_t q, line, events, problems;
	uint32_t last_thread; /* thread + 1 of the event before */
	bool blanks;	      /* the text has some, so each line must be looked at */
};

/* One line, taken apart. */
struct event {
	const char *operand;
	size_t operand_length;
	enum op op;
	uint32_t thread;
	uint64_t place; /* location << 1, or number of a location that is no number << 1 | 1 */
};

static int bad_line(const struct import *in, const char *what)
{
	return rd_fail(RD_EFORMAT, "std: %s:%llu: %s", in->opts->name, (unsigned long long)in->line, what);
}

/* The line is readable, but no program does that. */
static int ill_formed(struct import *in, const char *what, const char *name)
{
	if (++in->problems > PROBLEMS_MAX)
		return in->opts->force ? RD_OK : RD_EFORMAT;
	if (!in->opts->force)
		return rd_fail(RD_EFORMAT, "std: %s:%llu: %s %s", in->opts->name,
			       (unsigned long long)in->line, what, name);
	rd_warn("std: %s:%llu: %s %s", in->opts->name, (unsigned long long)in->line, what, name);
	return RD_OK;
}

static const struct {
	const char *name;
	enum op op;
	bool operand;
} operations[] = {
	{"acq", OP_ACQ, true},	     {"rel", OP_REL, true},	  {"r", OP_R, true},
	{"w", OP_W, true},	     {"fork", OP_FORK, true},	  {"join", OP_JOIN, true},
	{"begin", OP_BEGIN, false},  {"end", OP_END, false},	  {"dummy", OP_DUMMY, false},
	{"req", OP_REQ, true},	     {"wait", OP_WAIT, true},	  {"notify", OP_NOTIFY, true},
	{"signal", OP_NOTIFY, true}, {"notifyAll", OP_ALL, true}, {"broadcast", OP_ALL, true},
};

static int parse_operation(const struct import *in, const char *p, const char *end, struct event *e)
{
	const char *open = memchr(p, '(', (size_t)(end - p));
	size_t n = (size_t)((open ? open : end) - p);
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		if (strlen(operations[i].name) != n || memcmp(operations[i].name, p, n) != 0)
			continue;
		e->op = operations[i].op;
		if (open && end[-1] != ')')
			return bad_line(in, "the operand has no closing parenthesis");
		e->operand = open ? open + 1 : end;
		e->operand_length = open ? (size_t)(end - 1 - e->operand) : 0;
		if (operations[i].operand && e->operand_length == 0)
			return bad_line(in, "the operation needs an operand");
		return RD_OK;
	}
	return bad_line(in, "unknown operation");
}

static void parse_place(struct import *in, const char *p, const char *end, struct event *e)
{
	uint64_t v = 0;
	const char *c = p;
	while (c < end && *c >= '0' && *c <= '9' && v <= UINT32_MAX)
		v = v * 10 + (uint64_t)(*c++ - '0');
	if (c == end && c > p && v <= UINT32_MAX)
		e->place = v << 1;
	else
		e->place = (uint64_t)rd_names_put(&in->places, p, (size_t)(end - p)) << 1 | 1;
}

static uint32_t intern_thread(struct import *in, const char *p, size_t n)
{
	uint32_t number = rd_names_put(&in->thread_names, p, n);
	size_t had = in->thread_capacity;
	if (number >= had) {
		RD_GROW(in->threads, in->thread_capacity, (size_t)number + 1);
		memset(in->threads + had, 0, (in->thread_capacity - had) * sizeof *in->threads);
	}
	return number;
}

static bool has_blank(const char *p, size_t n)
{
	return memchr(p, ' ', n) || memchr(p, '\t', n) || memchr(p, '\0', n);
}

static int parse_line(struct import *in, const char *p, const char *end, struct event *e)
{
	const char *bar = memchr(p, '|', (size_t)(end - p));
	const char *second = bar ? memchr(bar + 1, '|', (size_t)(end - bar - 1)) : NULL;
	if (!second || memchr(second + 1, '|', (size_t)(end - second - 1)))
		return bad_line(in, "not three fields separated by |");
	if (bar == p || (in->blanks && has_blank(p, (size_t)(end - p))))
		return bad_line(in, "an empty thread name, a blank or a NUL");
	int err = parse_operation(in, bar + 1, second, e);
	if (err)
		return err;
	parse_place(in, second + 1, end, e);
	const char *last = in->last_thread ? in->thread_names.items[in->last_thread - 1] : "";
	if (strncmp(last, p, (size_t)(bar - p)) == 0 && !last[bar - p])
		e->thread = in->last_thread - 1;
	else
		e->thread = intern_thread(in, p, (size_t)(bar - p));
	return RD_OK;
}

static uint64_t address_of(enum space space, uint32_t number)
{
	return spaces[space].base + (uint64_t)number * spaces[space].size;
}

static struct lock *lock_of(struct import *in, uint32_t number)
{
	size_t had = in->lock_capacity;
	if (number >= had) {
		RD_GROW(in->locks, in->lock_capacity, (size_t)number + 1);
		memset(in->locks + had, 0, (in->lock_capacity - had) * sizeof *in->locks);
	}
	return &in->locks[number];
}

/* The site of a location and a kind: 'r', 'w' or 'c'. */
static uint32_t site_of(struct import *in, uint64_t place, char kind)
{
	bool is_new;
	uint64_t *n = rd_umap_put(&in->site_of,
				  place << 2 | (kind == 'r'   ? 0
						: kind == 'w' ? 1
							      : 2),
				  &is_new);
	if (is_new) {
		bool named = place & 1;
		*n = ++in->site_count;
		in->records++;
		rd_buf_addf(&in->sites, "S\t%u\t%c\t%u\t-\t%llu\t%llu\t0\t-\t-\t-\n", in->site_count, kind,
			    kind == 'c' ? 0 : spaces[VARIABLES].size,
			    named ? (unsigned long long)(place >> 1) + 1 : 0,
			    named ? 0 : (unsigned long long)(place >> 1));
	}
	return (UNIT_SLOT << RADDLE_SITE_LOCAL_BITS) + (uint32_t)*n;
}

static int flush(struct import *in, uint32_t thread)
{
	struct thread *t = &in->threads[thread];
	int err = trace_writer_chunk(in->writer, thread, t->encoder.out.data, t->encoder.out.length);
	trace_encode_reset(&t->encoder);
	t->stack_site = 0;
	return err;
}

static void put_stack(struct thread *t, uint32_t site)
{
	if (t->stack_site != site)
		trace_encode_stack(&t->encoder, 0, &site, 1);
	t->stack_site = site;
}

/* Any event with q; `values` behind q, or behind q and t. */
static void put_row(struct thread *t, enum raddle_event kind, uint64_t q, const uint64_t *values)
{
	uint64_t all[RADDLE_MAX_OPERANDS] = {q};
	const char *letters = trace_kind(kind)->operands;
	size_t skip = letters[1] == 't' ? 2 : 1;
	for (size_t i = skip; letters[i - 1] && letters[i]; i++)
		all[i] = values[i - skip];
	trace_encode_row(&t->encoder, kind, all, NULL);
}

/* Writes the release that was held back: as a wait if that is what it was. */
static void put_held_back(struct import *in, uint32_t thread, bool wait)
{
	struct thread *t = &in->threads[thread];
	uint32_t number = t->held_back - 1;
	uint64_t lock = address_of(LOCKS, number);
	if (!t->held_back)
		return;
	t->held_back = 0;
	put_stack(t, t->held_site);
	if (!wait) {
		put_row(t, RADDLE_MUTEX_UNLOCK, t->held_q, (uint64_t[]){lock, 0});
		return;
	}
	const char *name = in->names[LOCKS].items[number];
	uint32_t cond = rd_names_put(&in->names[CONDS], name, strlen(name));
	put_row(t, RADDLE_COND_WAIT, t->held_q, (uint64_t[]){address_of(CONDS, cond), lock, 0});
	t->waiting = number + 1;
}

static int put_acquire(struct import *in, const struct event *e)
{
	struct thread *t = &in->threads[e->thread];
	uint32_t number = rd_names_put(&in->names[LOCKS], e->operand, e->operand_length);
	struct lock *l = lock_of(in, number);
	int err = RD_OK;
	if (l->owner != NOBODY && l->owner != e->thread + 1)
		err = ill_formed(in, "another thread holds the lock", in->names[LOCKS].items[number]);
	if (l->owner != e->thread + 1)
		*l = (struct lock){.owner = e->thread + 1};
	l->depth++;
	if (t->waiting == number + 1) {
		const char *name = in->names[LOCKS].items[number];
		uint32_t cond = rd_names_put(&in->names[CONDS], name, strlen(name));
		put_row(t, RADDLE_COND_WAKE, ++in->q,
			(uint64_t[]){address_of(CONDS, cond), address_of(LOCKS, number), 0});
		t->waiting = 0;
	} else {
		put_row(t, RADDLE_MUTEX_LOCK, ++in->q, (uint64_t[]){address_of(LOCKS, number), 0});
	}
	return err;
}

static int put_release(struct import *in, const struct event *e, uint32_t site)
{
	struct thread *t = &in->threads[e->thread];
	uint32_t number = rd_names_put(&in->names[LOCKS], e->operand, e->operand_length);
	struct lock *l = lock_of(in, number);
	int err = RD_OK;
	if (l->owner != e->thread + 1)
		err = ill_formed(
			in, l->owner == NOBODY ? "nobody holds the lock" : "another thread holds the lock",
			in->names[LOCKS].items[number]);
	else if (--l->depth == 0)
		l->owner = NOBODY;
	t->held_back = number + 1;
	t->held_q = ++in->q;
	t->held_site = site;
	return err;
}

static bool is_numbered(const char *p, size_t n)
{
	return n > 0 && *p >= '0' && *p <= '9';
}

/* The thread that is forked or joined.  Some writers leave out the T there, as in T0|fork(1). */
static uint32_t operand_thread(struct import *in, const struct event *e)
{
	const char *own = in->thread_names.items[e->thread], *p = e->operand;
	size_t n = e->operand_length;
	char name[32] = "T";

	if (own[0] == 'T' && is_numbered(own + 1, strlen(own + 1)) && is_numbered(p, n) &&
	    n < sizeof name - 1) {
		memcpy(name + 1, p, n);
		return intern_thread(in, name, n + 1);
	}
	if (is_numbered(own, strlen(own)) && n > 1 && *p == 'T' && is_numbered(p + 1, n - 1))
		return intern_thread(in, p + 1, n - 1);
	return intern_thread(in, p, n);
}

static int put_fork(struct import *in, const struct event *e)
{
	uint32_t child = operand_thread(in, e);
	struct thread *t = &in->threads[e->thread], *c = &in->threads[child];
	int err = RD_OK;
	if (c->seen || c->forked)
		err = ill_formed(in, c->forked ? "forked twice:" : "the thread had events before its fork:",
				 in->thread_names.items[child]);
	c->forked = true;
	put_row(t, RADDLE_THREAD_CREATE, ++in->q, (uint64_t[]){child, t->forks++, 0});
	return err;
}

static int put_join(struct import *in, const struct event *e)
{
	uint32_t child = operand_thread(in, e);
	int err = RD_OK;
	if (!in->threads[child].seen && !in->threads[child].forked)
		err = ill_formed(in, "joins a thread that never was:", in->thread_names.items[child]);
	in->threads[child].joined = true;
	put_row(&in->threads[e->thread], RADDLE_THREAD_JOIN, ++in->q, (uint64_t[]){child, 0});
	return err;
}

/* The name is the trace's only memory of what STD called the thread. */
static void put_name(struct import *in, uint32_t thread)
{
	const char *name = in->thread_names.items[thread];
	uint64_t length = strlen(name);
	trace_encode_row(&in->threads[thread].encoder, RADDLE_THREAD_NAME, &length, name);
}

static void put_modules(struct import *in)
{
	for (unsigned i = 0; i < SPACES; i++) {
		uint64_t values[4] = {spaces[i].base, SPACE_SIZE, spaces[i].base, strlen(spaces[i].module)};
		trace_encode_row(&in->threads[0].encoder, RADDLE_MODULE, values, spaces[i].module);
	}
}

/* What every event of a thread must respect. */
static int check_thread(struct import *in, const struct event *e)
{
	struct thread *t = &in->threads[e->thread];
	const char *name = in->thread_names.items[e->thread];
	int err = RD_OK;
	if (t->ended || t->joined)
		err = ill_formed(
			in, t->ended ? "an event behind the end of thread" : "an event of a joined thread:",
			name);
	if (!err && e->op == OP_BEGIN && t->begun)
		err = ill_formed(in, "the thread begins twice:", name);
	if (!t->seen) {
		trace_encode_reset(&t->encoder);
		if (e->thread == 0)
			put_modules(in);
		put_name(in, e->thread);
	}
	t->seen = true;
	t->begun |= e->op == OP_BEGIN;
	t->ended |= e->op == OP_END;
	return err;
}

static void put_begin(struct import *in, const struct event *e)
{
	/* Who forked it is known from the fork. */
	put_row(&in->threads[e->thread], RADDLE_THREAD_START, ++in->q, (uint64_t[]){UINT32_MAX, 0, 0, 0, 0});
}

static void put_access(struct import *in, const struct event *e)
{
	struct thread *t = &in->threads[e->thread];
	uint32_t variable = rd_names_put(&in->names[VARIABLES], e->operand, e->operand_length);
	if (in->last_thread != e->thread + 1)
		put_row(t, RADDLE_ORDER, ++in->q, NULL);
	trace_encode_access(&t->encoder, site_of(in, e->place, e->op == OP_W ? 'w' : 'r'),
			    address_of(VARIABLES, variable));
}

static void put_notify(struct import *in, const struct event *e)
{
	uint32_t cond = rd_names_put(&in->names[CONDS], e->operand, e->operand_length);
	put_row(&in->threads[e->thread], e->op == OP_ALL ? RADDLE_COND_BROADCAST : RADDLE_COND_SIGNAL,
		++in->q, (uint64_t[]){address_of(CONDS, cond)});
}

static int put_sync(struct import *in, const struct event *e)
{
	struct thread *t = &in->threads[e->thread];
	uint32_t site = site_of(in, e->place, 'c');
	if (e->op == OP_REL)
		return put_release(in, e, site);
	if (e->op == OP_WAIT)
		return ill_formed(in, "wait does not follow the release of its lock in thread",
				  in->thread_names.items[e->thread]);
	put_stack(t, site);
	switch (e->op) {
	case OP_ACQ:
		return put_acquire(in, e);
	case OP_FORK:
		return put_fork(in, e);
	case OP_JOIN:
		return put_join(in, e);
	case OP_BEGIN:
		put_begin(in, e);
		return RD_OK;
	case OP_END:
		put_row(t, RADDLE_THREAD_END, ++in->q, NULL);
		return RD_OK;
	case OP_REQ:
		put_row(t, RADDLE_MUTEX_REQUEST, ++in->q,
			(uint64_t[]){address_of(
				LOCKS, rd_names_put(&in->names[LOCKS], e->operand, e->operand_length))});
		return RD_OK;
	default:
		put_notify(in, e);
		return RD_OK;
	}
}

/* Whether the event is the wait that the held back release belongs to. */
static bool is_wait_for(struct import *in, const struct event *e)
{
	const struct thread *t = &in->threads[e->thread];
	if (e->op != OP_WAIT || !t->held_back)
		return false;
	const char *name = in->names[LOCKS].items[t->held_back - 1];
	return strlen(name) == e->operand_length && memcmp(name, e->operand, e->operand_length) == 0;
}

static int put_event(struct import *in, const struct event *e)
{
	int err = check_thread(in, e);
	if (err)
		return err;
	bool wait = is_wait_for(in, e);
	put_held_back(in, e->thread, wait);
	if (e->op == OP_R || e->op == OP_W)
		put_access(in, e);
	else if (!wait && e->op != OP_DUMMY)
		err = put_sync(in, e);
	in->events++;
	if (!wait && e->op != OP_DUMMY)
		in->last_thread = e->thread + 1;
	if (!err && in->threads[e->thread].encoder.out.length > CHUNK)
		err = flush(in, e->thread);
	if (!err && (in->site_count > SITE_COUNT_MAX || in->names[VARIABLES].count > SPACE_SIZE / 64))
		err = rd_fail(RD_ELIMIT, "std: %s: too many locations or variables", in->opts->name);
	return err;
}

static int read_lines(struct import *in, const char *text, size_t length)
{
	const char *end = text + length;
	int err = RD_OK;
	in->blanks = length > 0 && has_blank(text, length);
	for (const char *p = text; p < end && !err;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		struct event e = {0};
		in->line++;
		if (stop > p && stop[-1] == '\r')
			stop--;
		if (stop > p)
			err = parse_line(in, p, stop, &e);
		if (stop > p && !err)
			err = put_event(in, &e);
		p = newline ? newline + 1 : end;
	}
	if (!err && in->problems > PROBLEMS_MAX)
		rd_warn("std: %s: %llu more ill-formed lines", in->opts->name,
			(unsigned long long)(in->problems - PROBLEMS_MAX));
	return err;
}

/* A field of the site table. */
static void add_field(struct rd_buf *b, const char *s)
{
	rd_buf_addc(b, '\t');
	if (!*s || strcmp(s, "-") == 0)
		rd_buf_adds(b, *s ? "\\-" : "-");
	else
		for (; *s; s++) {
			if (*s == '\\')
				rd_buf_addc(b, '\\');
			rd_buf_addc(b, *s);
		}
}

static void add_variables(struct import *in, struct rd_buf *b, enum space space)
{
	const struct rd_names *names = &in->names[space];
	for (size_t i = 0; i < names->count; i++) {
		rd_buf_addc(b, 'G');
		add_field(b, names->items[i]);
		rd_buf_addf(b, "\t%s.%zu\t%u\t-1\t0\t%s\n", spaces[space].type, i, spaces[space].size,
			    spaces[space].type);
	}
	for (size_t i = 0; i < names->count; i++)
		rd_buf_addf(b, "A\t%s\t%zu\t%u\t%s.%zu\n", spaces[space].module, i * spaces[space].size,
			    spaces[space].size, spaces[space].type, i);
	in->records += 2 * names->count;
}

static int write_sites(struct import *in, const char *directory)
{
	struct rd_buf b = RD_BUF_INIT;
	char *path = rd_xasprintf("%s/sites", directory);
	rd_buf_adds(&b, "raddle-sites\t1\n");
	rd_buf_addf(&b, "U\t%u\t%u", UNIT_SLOT, (in->site_count >> RADDLE_SITE_LOCAL_BITS) + 1);
	add_field(&b, in->opts->name);
	rd_buf_adds(&b, "\nF\t0");
	add_field(&b, in->opts->name);
	for (size_t i = 0; i < in->places.count; i++) {
		rd_buf_addf(&b, "\nF\t%zu", i + 1);
		add_field(&b, in->places.items[i]);
	}
	rd_buf_addc(&b, '\n');
	in->records += 2 + in->places.count;
	rd_buf_add(&b, in->sites.data, in->sites.length);
	for (unsigned space = 0; space < SPACES; space++)
		add_variables(in, &b, space);
	uint64_t sum = XXH64(b.data, b.length, 0);
	rd_buf_addf(&b, "end\t%llu\t%016llx\n", (unsigned long long)in->records, (unsigned long long)sum);
	int err = rd_file_write(path, b.data, b.length);
	rd_buf_release(&b);
	free(path);
	return err;
}

static int finish(struct import *in, const char *directory)
{
	int err = RD_OK;
	for (uint32_t i = 0; i < in->thread_names.count && !err; i++) {
		if (!in->threads[i].seen)
			continue;
		put_held_back(in, i, false);
		err = flush(in, i);
	}
	if (!err)
		err = write_sites(in, directory);
	char *argv[] = {(char *)in->opts->name};
	struct trace_meta meta = {.program = argv[0],
				  .argv = argv,
				  .argc = 1,
				  .complete = true,
				  .threads = in->thread_names.count,
				  .events = in->events,
				  .bytes = trace_writer_bytes(in->writer),
				  .flavour = (char[]){TRACE_STD_FLAVOUR}};
	return err ? err : trace_writer_meta(in->writer, &meta);
}

static void release(struct import *in)
{
	for (size_t i = 0; i < in->thread_names.count; i++) {
		if (in->threads[i].seen)
			rd_buf_release(&in->threads[i].encoder.out);
	}
	free(in->threads);
	free(in->locks);
	rd_names_release(&in->thread_names);
	rd_names_release(&in->places);
	for (unsigned i = 0; i < SPACES; i++)
		rd_names_release(&in->names[i]);
	rd_umap_release(&in->site_of);
	rd_buf_release(&in->sites);
}

int trace_std_import(const char *text, size_t length, const char *directory,
		     const struct trace_std_opts *opts, uint64_t *events)
{
	struct import in = {.opts = opts, .sites = RD_BUF_INIT};
	int err = trace_writer_open(&in.writer, directory);
	if (!err)
		err = read_lines(&in, text, length);
	if (!err)
		err = finish(&in, directory);
	int closed = trace_writer_close(in.writer);
	*events = in.events;
	release(&in);
	return err ? err : closed;
}
