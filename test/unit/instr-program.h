/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs with loops, branches, copies and synchronisation, for tests of instrumented
 * code.  Each program is written as LLVM text, and is also run by an interpreter.  The interpreter
 * notes each access, with the site number that the instrumenter would assign if it omitted no
 * access.
 */
#ifndef TEST_INSTR_PROGRAM_H
#define TEST_INSTR_PROGRAM_H

#include "base/random.h"
#include "test/unit/instr-jit.h"

enum { ARRAYS = 4, ELEMENTS = 512, BYTES = 8 * ELEMENTS, MIDDLE = 160 };
enum { MAX_NODES = 24, MAX_DEPTH = 3, MAX_EVENTS = 6000 };

/* ---- random programs, as trees of nodes ---- */

enum node_kind { NODE_READ, NODE_WRITE, NODE_UPDATE, NODE_FILL, NODE_COPY, NODE_SYNC, NODE_LOOP, NODE_IF };

struct loop {
	int64_t start, bound, step; /* if bound is -1, the parameter n is the bound */
	const char *predicate, *flags;
	/* the counter has 32 bits; the loop tests at its end; the counter is zero-extended */
	bool narrow, after, zero;
};

struct node {
	enum node_kind kind;
	int array, other;   /* indices of the arrays: the accessed one, and the source of a copy */
	bool by_pointer;    /* the address is computed from the parameter p */
	int loop_a, loop_b; /* nodes of loops whose counters are in the index; -1: none */
	int64_t scale_a, scale_b, constant;
	struct loop loop;
	/* of an IF: which bit of the parameter n; -1: the lowest bit of the counter of loop_a */
	int condition;
	int first, count; /* children */
	int site;	  /* of the first access of this node */
};

struct program {
	struct node nodes[MAX_NODES];
	int count;
};

static const int element[ARRAYS] = {1, 2, 4, 8};
static const char *const type[ARRAYS] = {"i8", "i16", "i32", "i64"};

static int pick(struct rd_random *r, int n)
{
	return (int)rd_random_below(r, (uint64_t)n);
}

static void choose_loop(struct rd_random *r, struct loop *l)
{
	static const char *const below[] = {"slt", "ult", "sle", "ule"};
	int form = pick(r, 8);

	*l = (struct loop){.start = pick(r, 4), .step = 1, .narrow = pick(r, 2), .zero = pick(r, 2)};
	l->bound = pick(r, 3) ? l->start + 1 + pick(r, 9) : -1;
	l->after = l->bound >= 0 && pick(r, 2);
	l->predicate = below[pick(r, 4)];
	l->flags = pick(r, 3) ? "nsw" : "";
	if (form < 2) { /* counts down */
		l->start = 3 + pick(r, 8);
		l->bound = pick(r, 3);
		l->step = pick(r, 4) ? -1 : -2;
		l->predicate = pick(r, 2) ? "sgt" : "sge";
		l->zero = false;
	} else if (form == 2) {
		l->predicate = "ne";
		l->start = l->bound < 0 ? 0 : l->start;
	} else if (form < 6) {
		l->step = 1 + pick(r, 3);
		l->flags = pick(r, 2) ? "nuw nsw" : "nsw";
	}
}

static void choose_access(struct rd_random *r, struct node *n, const int *loops, int depth)
{
	n->array = pick(r, ARRAYS);
	n->other = pick(r, ARRAYS);
	n->by_pointer = pick(r, 4) == 0;
	n->loop_a = depth > 0 && pick(r, 4) ? loops[pick(r, depth)] : -1;
	n->loop_b = depth > 1 && pick(r, 3) == 0 ? loops[pick(r, depth)] : -1;
	n->scale_a = pick(r, 3) ? 1 : pick(r, 6) - 2;
	n->scale_b = pick(r, 5) - 1;
	n->constant = MIDDLE + pick(r, 6);
}

static int add_nodes(struct program *p, struct rd_random *r, int budget, int *loops, int depth);

static void fill_node(struct program *p, struct rd_random *r, int at, int *loops, int depth)
{
	struct node n = {.kind = NODE_READ, .loop_a = -1, .loop_b = -1};
	int what = pick(r, 16), room = MAX_NODES - p->count;

	choose_access(r, &n, loops, depth);
	if (what < 4) {
		n.kind = NODE_WRITE;
	} else if (what < 7) {
		n.kind = NODE_UPDATE;
	} else if (what == 7) {
		n.kind = pick(r, 2) ? NODE_FILL : NODE_COPY;
	} else if (what == 8) {
		n.kind = NODE_SYNC;
	} else if (what < 12 && depth < MAX_DEPTH && room > 1) {
		n.kind = NODE_LOOP;
		choose_loop(r, &n.loop);
		loops[depth] = at;
		n.first = p->count;
		n.count = add_nodes(p, r, 1 + pick(r, room < 4 ? room : 4), loops, depth + 1);
	} else if (what == 12 && room > 1) {
		n.kind = NODE_IF;
		n.condition = n.loop_a >= 0 && pick(r, 2) ? -1 : pick(r, 2);
		n.first = p->count;
		n.count = add_nodes(p, r, 1 + pick(r, room < 3 ? room : 3), loops, depth);
	}
	p->nodes[at] = n;
}

/* Children have consecutive indices, so all of them are reserved before their own children are
 * added. */
static int add_nodes(struct program *p, struct rd_random *r, int budget, int *loops, int depth)
{
	int first = p->count, n = budget < MAX_NODES - first ? budget : MAX_NODES - first;

	p->count += n;
	for (int i = first; i < first + n; i++)
		fill_node(p, r, i, loops, depth);
	return n;
}

/* ---- the program as LLVM IR ---- */

struct text {
	struct rd_buf variables, code;
	int next, site; /* the next free name, and the last site */
};

static void say_index(struct text *t, const struct program *p, const struct node *n)
{
	const int loops[] = {n->loop_a, n->loop_b};
	const int64_t scales[] = {n->scale_a, n->scale_b};
	int sum = t->next++;

	rd_buf_addf(&t->code, "  %%x%d = add i64 %lld, 0\n", sum, (long long)n->constant);
	for (int i = 0; i < 2; i++) {
		if (loops[i] < 0)
			continue;
		const struct loop *l = &p->nodes[loops[i]].loop;
		int c = t->next++, next = t->next++;

		rd_buf_addf(&t->code, "  %%n%d = load %s, ptr %%v%d\n", c, l->narrow ? "i32" : "i64",
			    loops[i]);
		if (l->narrow)
			rd_buf_addf(&t->code, "  %%c%d = %s i32 %%n%d to i64\n", c, l->zero ? "zext" : "sext",
				    c);
		else
			rd_buf_addf(&t->code, "  %%c%d = add i64 %%n%d, 0\n", c, c);
		rd_buf_addf(&t->code, "  %%m%d = mul i64 %%c%d, %lld\n  %%x%d = add i64 %%x%d, %%m%d\n", next,
			    c, (long long)scales[i], next, sum, next);
		sum = next;
	}
	rd_buf_addf(&t->code, "  %%i%d = add i64 %%x%d, 0\n", t->next, sum);
}

/* Writes code for the address of array `a` at the node's index.  Returns the number that names the
 * address. */
static int say_address(struct text *t, const struct program *p, const struct node *n, int a)
{
	say_index(t, p, n);
	if (n->by_pointer && a == 2)
		rd_buf_addf(&t->code, "  %%a%d = getelementptr i32, ptr %%p, i64 %%i%d\n", t->next, t->next);
	else
		rd_buf_addf(&t->code, "  %%a%d = getelementptr %s, ptr @A%d, i64 %%i%d\n", t->next, type[a],
			    a, t->next);
	return t->next++;
}

static void say_access(struct text *t, const struct program *p, const struct node *n)
{
	int a = say_address(t, p, n, n->array), from;
	const char *of = type[n->array];

	switch (n->kind) {
	case NODE_WRITE:
		rd_buf_addf(&t->code, "  store %s %lld, ptr %%a%d\n", of, (long long)n->constant & 63, a);
		break;
	case NODE_FILL:
		rd_buf_addf(&t->code, "  call void @llvm.memset.p0.i64(ptr %%a%d, i8 7, i64 %%n, i1 false)\n",
			    a);
		break;
	case NODE_COPY:
		from = say_address(t, p, n, n->other);
		rd_buf_addf(&t->code,
			    "  call void @llvm.memmove.p0.p0.i64(ptr %%a%d, ptr %%a%d, i64 12, i1 false)\n",
			    a, from);
		break;
	default:
		rd_buf_addf(&t->code, "  %%l%d = load %s, ptr %%a%d\n", a, of, a);
		if (n->kind == NODE_UPDATE)
			rd_buf_addf(&t->code, "  %%s%d = add %s %%l%d, 3\n  store %s %%s%d, ptr %%a%d\n", a,
				    of, a, of, a, a);
	}
}

static void say_nodes(struct text *t, struct program *p, int first, int count);

static void say_step(struct text *t, const struct loop *l, int at, const char *of)
{
	rd_buf_addf(&t->code,
		    "  %%o%d = load %s, ptr %%v%d\n  %%q%d = add %s %s %%o%d, %lld\n  store %s %%q%d, ptr "
		    "%%v%d\n",
		    at, of, at, at, l->flags, of, at, (long long)l->step, of, at, at);
}

static void say_loop(struct text *t, struct program *p, int at)
{
	const struct loop *l = &p->nodes[at].loop;
	const char *of = l->narrow ? "i32" : "i64";
	char bound[24];

	snprintf(bound, sizeof bound, "%lld", (long long)l->bound);
	if (l->bound < 0)
		snprintf(bound, sizeof bound, "%s", l->narrow ? "%m" : "%n");
	rd_buf_addf(&t->variables, "  %%v%d = alloca %s\n", at, of);
	rd_buf_addf(&t->code, "  store %s %lld, ptr %%v%d\n  br label %%%s%d\n", of, (long long)l->start, at,
		    l->after ? "body" : "head", at);
	if (!l->after)
		rd_buf_addf(&t->code,
			    "head%d:\n  %%h%d = load %s, ptr %%v%d\n  %%t%d = icmp %s %s %%h%d, %s\n  br i1 "
			    "%%t%d, "
			    "label %%body%d, label %%done%d\n",
			    at, at, of, at, at, l->predicate, of, at, bound, at, at, at);
	rd_buf_addf(&t->code, "body%d:\n", at);
	say_nodes(t, p, p->nodes[at].first, p->nodes[at].count);
	say_step(t, l, at, of);
	if (l->after)
		rd_buf_addf(&t->code,
			    "  %%t%d = icmp %s %s %%q%d, %s\n  br i1 %%t%d, label %%body%d, label %%done%d\n",
			    at, l->predicate, of, at, bound, at, at, at);
	else
		rd_buf_addf(&t->code, "  br label %%head%d\n", at);
	rd_buf_addf(&t->code, "done%d:\n", at);
}

static void say_if(struct text *t, struct program *p, int at)
{
	const struct node *n = &p->nodes[at];
	const char *of = n->condition < 0 && p->nodes[n->loop_a].loop.narrow ? "i32" : "i64";

	if (n->condition < 0)
		rd_buf_addf(&t->code, "  %%f%d = load %s, ptr %%v%d\n", at, of, n->loop_a);
	else
		rd_buf_addf(&t->code, "  %%f%d = lshr i64 %%n, %d\n", at, n->condition);
	rd_buf_addf(&t->code,
		    "  %%g%d = trunc %s %%f%d to i1\n  br i1 %%g%d, label %%yes%d, label %%no%d\nyes%d:\n",
		    at, of, at, at, at, at, at);
	say_nodes(t, p, n->first, n->count);
	rd_buf_addf(&t->code, "  br label %%no%d\nno%d:\n", at, at);
}

/* Numbers the sites in the order of the text. */
static void say_nodes(struct text *t, struct program *p, int first, int count)
{
	for (int i = first; i < first + count; i++) {
		struct node *n = &p->nodes[i];

		n->site = t->site + 1;
		if (n->kind != NODE_LOOP && n->kind != NODE_IF)
			t->site += n->kind == NODE_UPDATE || n->kind == NODE_COPY ? 2 : 1;
		switch (n->kind) {
		case NODE_SYNC: rd_buf_adds(&t->code, "  call void @sync()\n"); break;
		case NODE_LOOP: say_loop(t, p, i); break;
		case NODE_IF: say_if(t, p, i); break;
		default: say_access(t, p, n);
		}
	}
}

/* Writes a function whose parameter p is the address of A2.  The optimiser does not know that. */
static char *text_of(struct program *p, int top)
{
	struct text t = {.variables = RD_BUF_INIT, .code = RD_BUF_INIT};
	struct rd_buf all = RD_BUF_INIT;

	say_nodes(&t, p, 0, top);
	for (int a = 0; a < ARRAYS; a++)
		rd_buf_addf(&all, "@A%d = global [%d x %s] zeroinitializer, align 16\n", a, ELEMENTS,
			    type[a]);
	rd_buf_addf(&all,
		    "declare void @sync()\ndeclare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
		    "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n"
		    "define void @f(ptr %%p, i64 %%n) {\n%s  %%m = trunc i64 %%n to i32\n%s  ret void\n}\n",
		    t.variables.length ? t.variables.data : "", t.code.data);
	rd_buf_release(&t.variables);
	rd_buf_release(&t.code);
	return all.data;
}

/* ---- journals of accesses ---- */

struct event {
	char kind; /* r: read, w: write, s: end of a segment */
	int array, offset, size;
	int site;
};

struct journal {
	struct event items[MAX_EVENTS];
	int count;
	bool full;
};

static void note(struct journal *j, struct event event)
{
	if (j->count == MAX_EVENTS) {
		j->full = true;
		return;
	}
	j->items[j->count++] = event;
}

/* ---- an interpreter, whose journal is the expected one ---- */

struct twin {
	const struct program *p;
	int64_t n, counters[MAX_NODES];
	uint8_t memory[ARRAYS][BYTES];
	struct journal journal;
};

static int64_t index_of(const struct twin *t, const struct node *n)
{
	int64_t at = n->constant;

	if (n->loop_a >= 0)
		at += n->scale_a * t->counters[n->loop_a];
	if (n->loop_b >= 0)
		at += n->scale_b * t->counters[n->loop_b];
	return at;
}

static bool goes_on(const struct twin *t, const struct loop *l, int64_t counter)
{
	int64_t bound = l->bound < 0 ? t->n : l->bound;

	if (!strcmp(l->predicate, "ne"))
		return counter != bound;
	if (l->predicate[1] == 'g')
		return l->predicate[2] == 'e' ? counter >= bound : counter > bound;
	return l->predicate[2] == 'e' ? counter <= bound : counter < bound;
}

static void run_access(struct twin *t, const struct node *n)
{
	int size = element[n->array], offset = (int)index_of(t, n) * size;
	uint8_t *at = &t->memory[n->array][offset];
	uint64_t value = 0;

	switch (n->kind) {
	case NODE_FILL:
		if (t->n > 0)
			note(&t->journal, (struct event){'w', n->array, offset, (int)t->n, n->site});
		memset(at, 7, (size_t)t->n);
		return;
	case NODE_COPY: {
		int from = (int)index_of(t, n) * element[n->other];

		note(&t->journal, (struct event){'r', n->other, from, 12, n->site});
		note(&t->journal, (struct event){'w', n->array, offset, 12, n->site + 1});
		memmove(at, &t->memory[n->other][from], 12);
		return;
	}
	case NODE_WRITE: value = (uint64_t)n->constant & 63; break;
	default:
		note(&t->journal, (struct event){'r', n->array, offset, size, n->site});
		memcpy(&value, at, (size_t)size);
		value += 3;
	}
	if (n->kind == NODE_READ)
		return;
	note(&t->journal, (struct event){'w', n->array, offset, size, n->site + (n->kind == NODE_UPDATE)});
	memcpy(at, &value, (size_t)size);
}

static void run_nodes(struct twin *t, int first, int count)
{
	for (int i = first; i < first + count && !t->journal.full; i++) {
		const struct node *n = &t->p->nodes[i];
		const struct loop *l = &n->loop;
		int64_t *c = &t->counters[i];

		if (n->kind == NODE_SYNC) {
			note(&t->journal, (struct event){'s', 0, 0, 0, n->site});
		} else if (n->kind == NODE_LOOP) {
			for (*c = l->start; (l->after && *c == l->start) || goes_on(t, l, *c);
			     *c += l->step) {
				run_nodes(t, n->first, n->count);
				if (t->journal.full)
					break;
			}
		} else if (n->kind == NODE_IF) {
			if ((n->condition < 0 ? t->counters[n->loop_a] : t->n >> n->condition) & 1)
				run_nodes(t, n->first, n->count);
		} else {
			run_access(t, n);
		}
	}
}

/* ---- the journal of the accesses that the hooks report ---- */

static struct journal heard;
static uint8_t *arrays[ARRAYS]; /* their addresses in the program */

static void hear(char kind, const void *p, uint64_t size, uint64_t site)
{
	uintptr_t at = (uintptr_t)p;

	if (size == 0)
		return;
	for (int a = 0; a < ARRAYS; a++) {
		uintptr_t start = (uintptr_t)arrays[a];

		if (at >= start && at < start + (uintptr_t)(element[a] * ELEMENTS)) {
			note(&heard, (struct event){kind, a, (int)(at - start), (int)size, (int)site});
			return;
		}
	}
	fail_msg("an access of no array: %p, %llu bytes", p, (unsigned long long)size);
}

/* Runs the program, with all arrays zero. */
static void run_it(struct instr_jit *j, int64_t n)
{
	void (*f)(void *, int64_t);

	for (int a = 0; a < ARRAYS; a++) {
		char name[8];

		snprintf(name, sizeof name, "A%d", a);
		arrays[a] = instr_jit_variable(j, name);
		memset(arrays[a], 0, (size_t)(element[a] * ELEMENTS));
	}
	heard.count = 0;
	heard.full = false;
	*(void **)&f = instr_jit_find(j, "f");
	f(arrays[2], n);
}

static bool has_same_result(const struct twin *t)
{
	for (int a = 0; a < ARRAYS; a++)
		if (memcmp(arrays[a], t->memory[a], (size_t)(element[a] * ELEMENTS)))
			return false;
	return true;
}

/* Describes the first difference between two journals.  Returns NULL if they are equal. */
static const char *compare_events(const struct journal *truth, const struct journal *reported)
{
	static char what[160];
	int n = truth->count < reported->count ? truth->count : reported->count;

	for (int i = 0; i < n; i++) {
		const struct event *a = &truth->items[i], *b = &reported->items[i];

		if (a->kind != b->kind || a->array != b->array || a->offset != b->offset ||
		    a->size != b->size || a->site != b->site) {
			snprintf(what, sizeof what,
				 "event %d: %c%d of A%d + %d at %d is reported as %c%d of A%d + %d at %d", i,
				 a->kind, a->size, a->array, a->offset, a->site, b->kind, b->size, b->array,
				 b->offset, b->site);
			return what;
		}
	}
	return truth->count == reported->count ? NULL : "another number of events";
}

#endif
