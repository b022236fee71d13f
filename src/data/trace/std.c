/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports STD text into a trace directory.
 *
 * STD is a total order of all events, but a trace orders only synchronisation operations.  So if an
 * access follows an event of another thread, an `order` event is written before the access.  Then
 * the merge of the streams is in the order of the lines.
 *
 * Variables, locks and so on become variables of invented modules, with their names in the site
 * table.  A location becomes one site for each kind of event there, and the line of these sites is
 * the location.
 *
 * Some lines can be interpreted only with later ones.  `wait(l)`, an extension, follows its
 * `rel(l)`, so a release is deferred until the next event of its thread.  `end` means the end of a
 * thread for some tools, and the end of an atomic block for others, so it is deferred too.  Only
 * the rest of the text shows whether a join returned although the thread continued.
 */
#include "trace/std.h"

#include "base/field.h"
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "trace/encode-int.h"
#include "trace/std-int.h"
#include "trace/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define FILE_BITS 24	   /* number of bits of a place that hold the file number */
#define CHUNK (128u << 10) /* number of bytes after which a new chunk begins, as in recordings */
#define UNIT_SLOT 1u
#define SITE_COUNT_MAX ((RADDLE_SITE_MAX >> 1) - (UNIT_SLOT << RADDLE_SITE_LOCAL_BITS))
/* The largest number of messages that are printed.  Further ones are only counted. */
#define PROBLEMS_MAX 10

/* The modules that are invented for the variables and locks of the text. */
static const struct {
	const char *module;
	uint64_t base;
	unsigned size; /* bytes of one object */
	const char *type;
} spaces[STD_SPACES] = {
	[STD_VARIABLES] = {"std-variables", 0x100000000000, 8, "variable"},
	[STD_LOCKS] = {"std-locks", 0x200000000000, 64, "lock"},
	[STD_CONDS] = {"std-conds", 0x300000000000, 64, "condition"},
	[STD_BARRIERS] = {"std-barriers", 0x400000000000, 64, "barrier"},
	[STD_SEMS] = {"std-sems", 0x500000000000, 64, "semaphore"},
	[STD_ONCES] = {"std-onces", 0x600000000000, 64, "once"},
};
#define SPACE_SIZE 0x10000000000 /* bytes of a module, less than the distance between two bases */

static int bad_line(struct std_import *in, const char *what)
{
	return rd_fail(RD_EFORMAT, "std: %s:%llu: %s", in->opts->name, (unsigned long long)in->line, what);
}

void std_warn(struct std_import *in, const char *what, const char *name)
{
	if (++in->problems <= PROBLEMS_MAX)
		rd_warn("std: %s:%llu: %s %s", in->opts->name, (unsigned long long)in->line, what, name);
}

/* Reports a line that can be parsed, but describes something that no real program does. */
static int ill_formed(struct std_import *in, const char *what, const char *name)
{
	if (!in->opts->force)
		return rd_fail(RD_EFORMAT, "std: %s:%llu: %s %s", in->opts->name,
			       (unsigned long long)in->line, what, name);
	std_warn(in, what, name);
	return RD_OK;
}

static uint32_t intern_thread(struct std_import *in, const char *p, size_t n)
{
	uint32_t number = rd_names_put(&in->thread_names, p, n);
	size_t had = in->thread_capacity;
	if (number >= had) {
		RD_GROW(in->threads, in->thread_capacity, (size_t)number + 1);
		memset(in->threads + had, 0, (in->thread_capacity - had) * sizeof *in->threads);
	}
	return number;
}

/* Parses one or more digits up to `end`.  Returns false if there is anything else, or if the number
 * is too large. */
static bool parse_number(const char *p, const char *end, uint64_t *number)
{
	uint64_t v = 0;
	if (p == end || end - p > 10)
		return false;
	for (; p < end; p++) {
		if (*p < '0' || *p > '9')
			return false;
		v = v * 10 + (uint64_t)(*p - '0');
	}
	*number = v;
	return v <= UINT32_MAX;
}

/* Parses a place: a line number of the traced program, FILE:LINE, or any other text, which is
 * treated as the name of a file.  If the place is empty, returns the number of the current line of
 * the text. */
static uint64_t parse_place(struct std_import *in, struct std_span s)
{
	const char *end = s.p + s.n, *colon = s.n ? memrchr(s.p, ':', s.n) : NULL;
	uint64_t line = 0;
	if (s.n == 0)
		return (in->line & UINT32_MAX) << FILE_BITS;
	if (parse_number(s.p, end, &line))
		return line << FILE_BITS;
	line = 0;
	if (colon && colon > s.p && parse_number(colon + 1, end, &line))
		end = colon;
	return line << FILE_BITS | (rd_names_put(&in->files, s.p, (size_t)(end - s.p)) + 1);
}

static void take_line(struct std_import *in, const struct std_line *line, struct std_event *e)
{
	e->line = in->line;
	e->operation = line->operation;
	e->operand = line->operand;
	e->place = parse_place(in, line->place);
	if (!std_span_equal(line->thread, in->thread_text)) {
		in->thread_text = line->thread;
		in->thread = intern_thread(in, line->thread.p, line->thread.n);
	}
	e->thread = in->thread;
}

static uint64_t address_of(enum std_space space, uint32_t number)
{
	return spaces[space].base + (uint64_t)number * spaces[space].size;
}

static uint64_t object_of(struct std_import *in, enum std_space space, struct std_span name)
{
	return address_of(space, rd_names_put(&in->names[space], name.p, name.n));
}

struct std_lock *std_lock_of(struct std_import *in, uint32_t number)
{
	size_t had = in->lock_capacity;
	if (number >= had) {
		RD_GROW(in->locks, in->lock_capacity, (size_t)number + 1);
		memset(in->locks + had, 0, (in->lock_capacity - had) * sizeof *in->locks);
	}
	return &in->locks[number];
}

/* Returns the site for a place and an operation. */
static uint32_t site_of(struct std_import *in, const struct std_event *e)
{
	const struct std_operation *o = e->operation;
	bool is_new;
	uint64_t number = o->site ? std_operation_number(o) : STD_OPERATIONS_MAX;
	uint64_t *n = rd_umap_put(&in->site_of, e->place << 6 | number, &is_new);
	if (is_new) {
		*n = ++in->site_count;
		in->records++;
		rd_buf_addf(&in->sites, "S\t%u\t%s\t%u\t%s\t%llu\t%llu\t0\t-\t-\t-\n", in->site_count,
			    o->site ? o->site : "c", o->site ? spaces[STD_VARIABLES].size : 0,
			    o->site ? o->flags : "-",
			    (unsigned long long)(e->place & ((1u << FILE_BITS) - 1)),
			    (unsigned long long)(e->place >> FILE_BITS));
	}
	return (UNIT_SLOT << RADDLE_SITE_LOCAL_BITS) + (uint32_t)*n;
}

static int flush(struct std_import *in, uint32_t thread)
{
	struct std_thread *t = &in->threads[thread];
	int err = trace_writer_chunk(in->writer, thread, t->encoder.out.data, t->encoder.out.length);
	trace_encode_reset(&t->encoder);
	t->stack_site = 0;
	return err;
}

static void put_stack(struct std_thread *t, uint32_t site)
{
	if (t->stack_site != site)
		trace_encode_stack(&t->encoder, 0, &site, 1);
	t->stack_site = site;
}

/* Writes an event that has a q.  `values` are the operands after q, or after q and t. */
static void put_row(struct std_thread *t, enum raddle_event kind, uint64_t q, const uint64_t *values)
{
	uint64_t all[RADDLE_MAX_OPERANDS] = {q};
	const char *letters = trace_kind(kind)->operands;
	size_t skip = letters[1] == 't' ? 2 : 1;
	for (size_t i = skip; letters[i - 1] && letters[i]; i++)
		all[i] = values[i - skip];
	trace_encode_row(&t->encoder, kind, all, NULL);
}

/* Writes the deferred release.  With `wait`, it becomes a wait for a condition. */
static void put_deferred(struct std_import *in, uint32_t thread, bool wait)
{
	struct std_thread *t = &in->threads[thread];
	uint32_t number = t->deferred - 1;
	uint64_t lock = address_of(STD_LOCKS, number);
	if (!t->deferred)
		return;
	t->deferred = 0;
	put_stack(t, t->deferred_site);
	if (!wait) {
		put_row(t, t->deferred_row, t->deferred_q, (uint64_t[]){lock, 0});
		return;
	}
	const char *name = in->names[STD_LOCKS].items[number];
	t->condition = rd_names_put(&in->names[STD_CONDS], name, strlen(name));
	t->waiting = number + 1;
	put_row(t, RADDLE_COND_WAIT, t->deferred_q,
		(uint64_t[]){address_of(STD_CONDS, t->condition), lock, 0});
}

/* ---- locks ---- */

static int take_lock(struct std_import *in, const struct std_event *e, uint32_t number)
{
	struct std_lock *l = std_lock_of(in, number);
	bool shared = e->operation->action == STD_SHARE, own = l->owner == e->thread + 1;
	int err = RD_OK;
	if ((l->owner != STD_NO_OWNER && !own) || (l->readers && !shared))
		err = ill_formed(in, "another thread holds the lock", in->names[STD_LOCKS].items[number]);
	if (shared && !own) {
		l->readers++;
		return err;
	}
	if (!own)
		*l = (struct std_lock){.owner = e->thread + 1};
	l->depth++;
	return err;
}

static int give_lock(struct std_import *in, const struct std_event *e, uint32_t number)
{
	struct std_lock *l = std_lock_of(in, number);
	if (l->owner == e->thread + 1) {
		if (--l->depth == 0)
			l->owner = STD_NO_OWNER;
		return RD_OK;
	}
	if (l->readers > 0 && e->operation->event == RADDLE_RWLOCK_UNLOCK) {
		l->readers--;
		return RD_OK;
	}
	return ill_formed(
		in, l->owner == STD_NO_OWNER ? "no thread holds the lock" : "another thread holds the lock",
		in->names[STD_LOCKS].items[number]);
}

static int put_acquire(struct std_import *in, const struct std_event *e)
{
	struct std_thread *t = &in->threads[e->thread];
	uint32_t number = rd_names_put(&in->names[STD_LOCKS], e->operand.p, e->operand.n);
	uint64_t lock = address_of(STD_LOCKS, number);
	int err = take_lock(in, e, number);
	if (t->waiting == number + 1) {
		put_row(t, RADDLE_COND_WAKE, ++in->q,
			(uint64_t[]){address_of(STD_CONDS, t->condition), lock, 0});
		t->waiting = 0;
	} else {
		put_row(t, e->operation->event, ++in->q, (uint64_t[]){lock, 0});
	}
	return err;
}

static int put_release(struct std_import *in, const struct std_event *e, uint32_t site)
{
	struct std_thread *t = &in->threads[e->thread];
	uint32_t number = rd_names_put(&in->names[STD_LOCKS], e->operand.p, e->operand.n);
	int err = give_lock(in, e, number);
	t->deferred = number + 1;
	t->deferred_row = e->operation->event;
	t->deferred_q = ++in->q;
	t->deferred_site = site;
	return err;
}

/* Writes the event of cwait(c,m), which releases m and waits for c in one step. */
static int put_wait(struct std_import *in, const struct std_event *e)
{
	struct std_thread *t = &in->threads[e->thread];
	struct std_span cond, mutex;
	if (!std_line_split(e->operand, &cond, &mutex))
		return bad_line(in, "a condition and a mutex expected");
	uint32_t number = rd_names_put(&in->names[STD_LOCKS], mutex.p, mutex.n);
	int err = give_lock(in, e, number);
	t->condition = rd_names_put(&in->names[STD_CONDS], cond.p, cond.n);
	t->waiting = number + 1;
	put_row(t, RADDLE_COND_WAIT, ++in->q,
		(uint64_t[]){address_of(STD_CONDS, t->condition), address_of(STD_LOCKS, number), 0});
	return err;
}

/* ---- threads ---- */

static bool is_numbered(const char *p, size_t n)
{
	return n > 0 && *p >= '0' && *p <= '9';
}

uint32_t std_operand_thread(struct std_import *in, const struct std_event *e)
{
	const char *own = in->thread_names.items[e->thread], *p = e->operand.p;
	size_t n = e->operand.n;
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

/* Writes a fork.  Returns 1 if nothing was written, because the fork orders nothing. */
static int put_fork(struct std_import *in, const struct std_event *e)
{
	uint32_t child = std_operand_thread(in, e);
	struct std_thread *t = &in->threads[e->thread], *c = &in->threads[child];
	const char *name = in->thread_names.items[child];
	if (c->forked)
		return ill_formed(in, "forked twice:", name) ? RD_EFORMAT : 1;
	if (c->active) {
		std_warn(in, "a fork after events of its thread orders nothing:", name);
		return 1;
	}
	c->forked = true;
	c->begin_q = 0;
	put_row(t, RADDLE_THREAD_CREATE, ++in->q, (uint64_t[]){child, t->forks++, 0});
	return 0;
}

/* Records the last line of each thread that has events after the current line.  It is called when
 * the current line is the first join. */
static void find_last_lines(struct std_import *in)
{
	uint64_t line = in->line;
	uint32_t thread = 0;
	struct std_span name, last = {NULL, 0};
	in->joins = true;
	for (const char *p = in->next; p < in->end;) {
		line++;
		if (!std_line_thread(&p, in->end, &name))
			continue;
		if (!std_span_equal(name, last))
			thread = intern_thread(in, name.p, name.n);
		last = name;
		in->threads[thread].last_line = line;
	}
}

static int put_join(struct std_import *in, const struct std_event *e)
{
	if (!in->joins)
		find_last_lines(in);
	uint32_t child = std_operand_thread(in, e);
	const struct std_thread *c = &in->threads[child];
	const char *name = in->thread_names.items[child];
	if (c->last_line > in->line)
		return ill_formed(in, "joined before its last event:", name) ? RD_EFORMAT : 1;
	if (!c->seen && !c->forked) {
		std_warn(in, "a join of a thread without events orders nothing:", name);
		return 1;
	}
	put_row(&in->threads[e->thread], RADDLE_THREAD_JOIN, ++in->q, (uint64_t[]){child, 0});
	return 0;
}

/* Writes an event with the name that the thread has in the STD text.  No other event contains this
 * name. */
static void put_name(struct std_import *in, uint32_t thread)
{
	const char *name = in->thread_names.items[thread];
	uint64_t length = strlen(name);
	trace_encode_row(&in->threads[thread].encoder, RADDLE_THREAD_NAME, &length, name);
}

static void put_modules(struct std_import *in)
{
	for (unsigned i = 0; i < STD_SPACES; i++) {
		uint64_t values[4] = {spaces[i].base, SPACE_SIZE, spaces[i].base, strlen(spaces[i].module)};
		trace_encode_row(&in->threads[0].encoder, RADDLE_MODULE, values, spaces[i].module);
	}
}

static void begin_thread(struct std_import *in, uint32_t thread)
{
	struct std_thread *t = &in->threads[thread];
	t->seen = true;
	trace_encode_reset(&t->encoder);
	if (thread == 0)
		put_modules(in);
	put_name(in, thread);
}

/* ---- events ---- */

static void put_access(struct std_import *in, const struct std_event *e)
{
	struct std_thread *t = &in->threads[e->thread];
	uint64_t variable = object_of(in, STD_VARIABLES, e->operand);
	if (in->last_thread != e->thread + 1)
		put_row(t, RADDLE_ORDER, ++in->q, NULL);
	trace_encode_access(&t->encoder, site_of(in, e), variable);
}

static void put_atomic(struct std_import *in, const struct std_event *e)
{
	bool stores = e->operation->site[1] != 'l';
	put_row(&in->threads[e->thread], RADDLE_ATOMIC, ++in->q,
		(uint64_t[]){site_of(in, e), object_of(in, STD_VARIABLES, e->operand), stores});
}

static int put_semaphore(struct std_import *in, const struct std_event *e)
{
	struct std_span name, number;
	uint64_t value;
	if (!std_line_split(e->operand, &name, &number) ||
	    !parse_number(number.p, number.p + number.n, &value))
		return bad_line(in, "a semaphore and a number expected");
	put_row(&in->threads[e->thread], RADDLE_SEM_INIT, ++in->q,
		(uint64_t[]){object_of(in, STD_SEMS, name), value});
	return RD_OK;
}

static void put_once(struct std_import *in, const struct std_event *e)
{
	struct std_thread *t = &in->threads[e->thread];
	uint64_t once = object_of(in, STD_ONCES, e->operand);
	put_row(t, RADDLE_ONCE_RUN, ++in->q, (uint64_t[]){once});
	put_row(t, RADDLE_ONCE_DONE, ++in->q, (uint64_t[]){once, 0});
}

static int put_sync(struct std_import *in, const struct std_event *e)
{
	struct std_thread *t = &in->threads[e->thread];
	uint32_t site = site_of(in, e);
	enum raddle_event row = e->operation->event;
	if (e->operation->action == STD_RELEASE)
		return put_release(in, e, site);
	put_stack(t, site);
	switch (e->operation->action) {
	case STD_ACQUIRE:
	case STD_SHARE: return put_acquire(in, e);
	case STD_BUSY:
		put_row(t, row, ++in->q, (uint64_t[]){object_of(in, STD_LOCKS, e->operand), EBUSY});
		return RD_OK;
	case STD_WAIT: return put_wait(in, e);
	case STD_SEM_INIT: return put_semaphore(in, e);
	case STD_ONCE: put_once(in, e); return RD_OK;
	default:
		put_row(t, row, ++in->q, (uint64_t[]){object_of(in, e->operation->space, e->operand), 0});
		return RD_OK;
	}
}

/* Handles a `begin` line.  Some tools write a `begin` line for every thread at the start of the
 * text, and another one after the fork of the thread.  In that case the first line is dropped. */
static int defer_begin(struct std_import *in, struct std_thread *t, uint32_t site)
{
	t->end_q = 0;
	if (t->active || t->begin_q)
		return 1;
	t->begin_q = ++in->q;
	t->begin_site = site;
	return 0;
}

static void put_begin(struct std_thread *t)
{
	t->active = true;
	if (!t->begin_q)
		return;
	put_stack(t, t->begin_site);
	/* The creator is unknown here, but the fork event contains it. */
	put_row(t, RADDLE_THREAD_START, t->begin_q, (uint64_t[]){UINT32_MAX, 0, 0, 0, 0});
	t->begin_q = 0;
}

static int defer_end(struct std_import *in, struct std_thread *t, uint32_t site)
{
	t->end_q = ++in->q;
	t->end_site = site;
	return 0;
}

/* Returns true if the event is the wait to which the deferred release belongs. */
static bool is_wait_for(struct std_import *in, const struct std_event *e)
{
	const struct std_thread *t = &in->threads[e->thread];
	if (e->operation->action != STD_MONITOR_WAIT || !t->deferred)
		return false;
	const char *name = in->names[STD_LOCKS].items[t->deferred - 1];
	return strlen(name) == e->operand.n && memcmp(name, e->operand.p, e->operand.n) == 0;
}

/* Does the same as write_event(), but defers events whose meaning depends on later lines. */
static int defer_event(struct std_import *in, const struct std_event *e)
{
	struct std_thread *t = &in->threads[e->thread];
	if (e->operation->action == STD_BEGIN)
		return defer_begin(in, t, site_of(in, e));
	return e->operation->action == STD_END ? defer_end(in, t, site_of(in, e)) : 1;
}

/* Writes an event.  Returns 1 if nothing was written, or a negative number after an error. */
static int write_event(struct std_import *in, const struct std_event *e)
{
	struct std_thread *t = &in->threads[e->thread];
	bool wait = is_wait_for(in, e);
	put_begin(t);
	put_deferred(in, e->thread, wait);
	t->end_q = 0;
	switch (e->operation->action) {
	case STD_ACCESS: put_access(in, e); return 0;
	case STD_ATOMIC: put_atomic(in, e); return 0;
	case STD_MONITOR_WAIT:
		return wait ? 1
			    : ill_formed(in, "wait does not follow the release of its lock in thread",
					 in->thread_names.items[e->thread]);
	case STD_FORK: put_stack(t, site_of(in, e)); return put_fork(in, e);
	case STD_JOIN: put_stack(t, site_of(in, e)); return put_join(in, e);
	default: return put_sync(in, e);
	}
}

static bool is_deferred(enum std_action action)
{
	return action == STD_BEGIN || action == STD_END || action == STD_NOTHING;
}

int std_put_event(struct std_import *in, const struct std_event *e)
{
	if (!in->threads[e->thread].seen)
		begin_thread(in, e->thread);
	int written = is_deferred(e->operation->action) ? defer_event(in, e) : write_event(in, e);
	if (written < 0)
		return written;
	in->events++;
	if (written == 0)
		in->last_thread = e->thread + 1;
	if (in->site_count > SITE_COUNT_MAX || in->names[STD_VARIABLES].count > SPACE_SIZE / 64 ||
	    in->files.count >= (1u << FILE_BITS) - 1)
		return rd_fail(RD_ELIMIT, "std: %s: too many locations or variables", in->opts->name);
	return in->threads[e->thread].encoder.out.length > CHUNK ? flush(in, e->thread) : RD_OK;
}

/* ---- the text ---- */

/* Imports one line.  An incomplete last line is skipped with a warning, because the disk may have
 * been full or the program may have been killed.  If the incomplete line is the only one, the text
 * is not STD. */
static int read_line(struct std_import *in)
{
	struct std_line line;
	struct std_event e;
	const char *why;
	in->line++;
	enum std_verdict verdict = std_line_parse(&in->next, in->end, &line, &why);
	if (verdict == STD_EVENT) {
		take_line(in, &line, &e);
		return std_put_in_time(in, &e);
	}
	if (verdict == STD_NO_EVENT)
		return RD_OK;
	bool is_cut = in->next == in->end && in->end[-1] != '\n';
	if (!is_cut || in->line == 1)
		return bad_line(in, why);
	std_warn(in, why, "in a last line without a newline, which is left out");
	return RD_OK;
}

static int read_lines(struct std_import *in, const char *text, size_t length)
{
	int err = RD_OK;
	in->next = text;
	in->end = text + length;
	while (in->next < in->end && !err)
		err = read_line(in);
	if (!err)
		err = std_resume_all(in, true);
	if (!err && in->problems > PROBLEMS_MAX)
		rd_warn("std: %s: %llu more such lines", in->opts->name,
			(unsigned long long)(in->problems - PROBLEMS_MAX));
	return err;
}

/* ---- the site table ---- */

static void add_variables(struct std_import *in, struct rd_buf *b, enum std_space space)
{
	const struct rd_names *names = &in->names[space];
	for (size_t i = 0; i < names->count; i++) {
		rd_buf_addc(b, 'G');
		rd_field_add(b, names->items[i]);
		rd_buf_addf(b, "\t%s.%zu\t%u\t-1\t0\t%s\n", spaces[space].type, i, spaces[space].size,
			    spaces[space].type);
	}
	for (size_t i = 0; i < names->count; i++)
		rd_buf_addf(b, "A\t%s\t%zu\t%u\t%s.%zu\n", spaces[space].module, i * spaces[space].size,
			    spaces[space].size, spaces[space].type, i);
	in->records += 2 * names->count;
}

static int write_sites(struct std_import *in, const char *directory)
{
	struct rd_buf b = RD_BUF_INIT;
	char *path = rd_xasprintf("%s/sites", directory);
	rd_buf_adds(&b, "raddle-sites\t1\n");
	rd_buf_addf(&b, "U\t%u\t%u", UNIT_SLOT, (in->site_count >> RADDLE_SITE_LOCAL_BITS) + 1);
	rd_field_add(&b, in->opts->name);
	rd_buf_adds(&b, "\nF\t0");
	rd_field_add(&b, in->opts->name);
	for (size_t i = 0; i < in->files.count; i++) {
		rd_buf_addf(&b, "\nF\t%zu", i + 1);
		rd_field_add(&b, in->files.items[i]);
	}
	rd_buf_addc(&b, '\n');
	in->records += 2 + in->files.count;
	rd_buf_add(&b, in->sites.data, in->sites.length);
	for (unsigned space = 0; space < STD_SPACES; space++)
		add_variables(in, &b, space);
	uint64_t sum = XXH64(b.data, b.length, 0);
	rd_buf_addf(&b, "end\t%llu\t%016llx\n", (unsigned long long)in->records, (unsigned long long)sum);
	int err = rd_file_write(path, b.data, b.length);
	rd_buf_release(&b);
	free(path);
	return err;
}

static void put_end(struct std_import *in, uint32_t thread)
{
	struct std_thread *t = &in->threads[thread];
	if (!t->end_q)
		return;
	put_stack(t, t->end_site);
	put_row(t, RADDLE_THREAD_END, t->end_q, NULL);
}

static int finish(struct std_import *in, const char *directory)
{
	int err = RD_OK;
	for (uint32_t i = 0; i < in->thread_names.count && !err; i++) {
		if (!in->threads[i].seen)
			continue;
		put_begin(&in->threads[i]);
		put_deferred(in, i, false);
		put_end(in, i);
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

static void release(struct std_import *in)
{
	for (size_t i = 0; i < in->thread_names.count; i++) {
		free(in->threads[i].delayed);
		if (in->threads[i].seen)
			rd_buf_release(&in->threads[i].encoder.out);
	}
	free(in->threads);
	free(in->locks);
	rd_names_release(&in->thread_names);
	rd_names_release(&in->files);
	for (unsigned i = 0; i < STD_SPACES; i++)
		rd_names_release(&in->names[i]);
	rd_umap_release(&in->site_of);
	rd_buf_release(&in->sites);
}

int trace_std_import(const char *text, size_t length, const char *directory,
		     const struct trace_std_opts *opts, uint64_t *events)
{
	RD_ASSERT(text != NULL || length == 0);
	RD_ASSERT(directory != NULL && opts != NULL && events != NULL);
	struct std_import in = {.opts = opts, .sites = RD_BUF_INIT};
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
