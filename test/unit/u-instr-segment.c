/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded code against a slow, obvious twin: random programs with loops, branches, copies and
 * synchronisation are instrumented and run, and an interpreter says what they access.  In every segment the
 * hooks must report the bytes that are read and written, no more and no fewer, however many hooks were
 * merged, moved out of loops or dropped; and the program must compute what it computes without hooks.
 */
#include "base/random.h"
#include "test/unit/instr-jit.h"

enum { ARRAYS = 4, ELEMENTS = 512, BYTES = 8 * ELEMENTS, MIDDLE = 160 };
enum { MAX_NODES = 24, MAX_DEPTH = 3, MAX_EVENTS = 6000 };

/* ---- programs ---- */

enum node_kind { NODE_READ, NODE_WRITE, NODE_UPDATE, NODE_FILL, NODE_COPY, NODE_SYNC, NODE_LOOP, NODE_IF };

struct loop {
	int64_t start, bound, step; /* bound -1: the parameter */
	const char *predicate, *flags;
	bool narrow, after, zero; /* counts in 32 bits; tests at the end; extends with zeros */
};

struct node {
	enum node_kind kind;
	int array, other;   /* of an access: the second one is a copy's source */
	bool by_pointer;    /* the address is computed from the parameter p */
	int loop_a, loop_b; /* nodes of loops whose counters are in the index; -1: none */
	int64_t scale_a, scale_b, constant;
	struct loop loop;
	int condition; /* of an IF: a bit of the parameter, or -1: the lowest bit of the counter of loop_a */
	int first, count; /* children */
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
	if (form < 2) { /* down */
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

/* Children lie side by side, so they are reserved before theirs are made. */
static int add_nodes(struct program *p, struct rd_random *r, int budget, int *loops, int depth)
{
	int first = p->count, n = budget < MAX_NODES - first ? budget : MAX_NODES - first;

	p->count += n;
	for (int i = first; i < first + n; i++)
		fill_node(p, r, i, loops, depth);
	return n;
}

/* ---- as IR ---- */

struct text {
	struct rd_buf variables, code;
	int next; /* name */
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

/* Code for the address of array `a` at the node's index; returns its name's number. */
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

static void say_nodes(struct text *t, const struct program *p, int first, int count);

static void say_step(struct text *t, const struct loop *l, int at, const char *of)
{
	rd_buf_addf(&t->code,
		    "  %%o%d = load %s, ptr %%v%d\n  %%q%d = add %s %s %%o%d, %lld\n  store %s %%q%d, ptr "
		    "%%v%d\n",
		    at, of, at, at, l->flags, of, at, (long long)l->step, of, at, at);
}

static void say_loop(struct text *t, const struct program *p, int at)
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

static void say_if(struct text *t, const struct program *p, int at)
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

static void say_nodes(struct text *t, const struct program *p, int first, int count)
{
	for (int i = first; i < first + count; i++) {
		switch (p->nodes[i].kind) {
		case NODE_SYNC: rd_buf_adds(&t->code, "  call void @sync()\n"); break;
		case NODE_LOOP: say_loop(t, p, i); break;
		case NODE_IF: say_if(t, p, i); break;
		default: say_access(t, p, &p->nodes[i]);
		}
	}
}

/* p is the address of A2, which the optimiser does not know. */
static char *text_of(const struct program *p, int top)
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

/* ---- what was accessed ---- */

struct event {
	char kind; /* r, w, or s: the segment ends */
	int array, offset, size;
};

struct journal {
	struct event items[MAX_EVENTS];
	int count;
	bool full;
};

static void note(struct journal *j, char kind, int array, int offset, int size)
{
	if (j->count == MAX_EVENTS) {
		j->full = true;
		return;
	}
	j->items[j->count++] = (struct event){kind, array, offset, size};
}

/* ---- the interpreter ---- */

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
			note(&t->journal, 'w', n->array, offset, (int)t->n);
		memset(at, 7, (size_t)t->n);
		return;
	case NODE_COPY: {
		int from = (int)index_of(t, n) * element[n->other];

		note(&t->journal, 'r', n->other, from, 12);
		note(&t->journal, 'w', n->array, offset, 12);
		memmove(at, &t->memory[n->other][from], 12);
		return;
	}
	case NODE_WRITE: value = (uint64_t)n->constant & 63; break;
	default:
		note(&t->journal, 'r', n->array, offset, size);
		memcpy(&value, at, (size_t)size);
		value += 3;
	}
	if (n->kind == NODE_READ)
		return;
	note(&t->journal, 'w', n->array, offset, size);
	memcpy(at, &value, (size_t)size);
}

static void run_nodes(struct twin *t, int first, int count)
{
	for (int i = first; i < first + count && !t->journal.full; i++) {
		const struct node *n = &t->p->nodes[i];
		const struct loop *l = &n->loop;
		int64_t *c = &t->counters[i];

		if (n->kind == NODE_SYNC) {
			note(&t->journal, 's', 0, 0, 0);
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

/* ---- hooks ---- */

static struct journal heard;
static uint8_t *arrays[ARRAYS];
static uint32_t site_count;

static void hear(char kind, const void *p, uint64_t size, uint64_t site)
{
	uintptr_t at = (uintptr_t)p;

	assert_true(site >= 1 && site <= site_count);
	if (size == 0)
		return;
	for (int a = 0; a < ARRAYS; a++) {
		uintptr_t start = (uintptr_t)arrays[a];

		if (at >= start && at < start + (uintptr_t)(element[a] * ELEMENTS)) {
			note(&heard, kind, a, (int)(at - start), (int)size);
			return;
		}
	}
	fail_msg("an access of no array: %p, %llu bytes", p, (unsigned long long)size);
}

static void *hook_enter(void)
{
	return &heard;
}

static void *hook_stack(void *self)
{
	return self;
}

static void hook_call(void *self, void *top, uint32_t site)
{
	(void)self;
	(void)top;
	assert_true(site >= 1 && site <= site_count);
}

static void hook_return(void *self, void *top)
{
	(void)self;
	(void)top;
}

#define SIZED(bytes)                                                                                         \
	static void hook_read##bytes(void *self, void *p, uint32_t site)                                     \
	{                                                                                                    \
		(void)self;                                                                                  \
		hear('r', p, bytes, site);                                                                   \
	}                                                                                                    \
	static void hook_write##bytes(void *self, void *p, uint32_t site)                                    \
	{                                                                                                    \
		(void)self;                                                                                  \
		hear('w', p, bytes, site);                                                                   \
	}                                                                                                    \
	static void hook_update##bytes(void *self, void *p, uint32_t site, uint32_t write)                   \
	{                                                                                                    \
		(void)self;                                                                                  \
		hear('r', p, bytes, site);                                                                   \
		hear('w', p, bytes, write);                                                                  \
	}
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)

static void hook_read_two(void *self, char *p, uint64_t sites, uint32_t size)
{
	(void)self;
	hear('r', p, size, (uint32_t)sites);
	hear('r', p + size, size, sites >> 32);
}

static void hook_write_two(void *self, char *p, uint64_t sites, uint32_t size)
{
	(void)self;
	hear('w', p, size, (uint32_t)sites);
	hear('w', p + size, size, sites >> 32);
}

static void hook_update_two(void *self, char *p, uint64_t low, uint64_t high, uint32_t size)
{
	(void)self;
	hear('r', p, size, (uint32_t)low);
	hear('r', p + size, size, (uint32_t)high);
	hear('w', p, size, low >> 32);
	hear('w', p + size, size, high >> 32);
}

static void hook_read_range(void *self, void *p, uint32_t site, uint64_t size)
{
	(void)self;
	hear('r', p, size, site);
}

static void hook_write_range(void *self, void *p, uint32_t site, uint64_t size)
{
	(void)self;
	hear('w', p, size, site);
}

static void hear_stride(char kind, char *p, uint32_t site, uint64_t count, int64_t by)
{
	int64_t distance = by >> 8;

	for (uint64_t i = 0; i < count; i++)
		hear(kind, p + (int64_t)i * distance, by & 255, site);
}

static void hook_read_stride(void *self, char *p, uint32_t site, uint64_t count, int64_t by)
{
	(void)self;
	hear_stride('r', p, site, count, by);
}

static void hook_write_stride(void *self, char *p, uint32_t site, uint64_t count, int64_t by)
{
	(void)self;
	hear_stride('w', p, site, count, by);
}

static void segment_ends(void)
{
	note(&heard, 's', 0, 0, 0);
}

#define HOOK_SIZED(n)                                                                                        \
	[HOOK_READ##n] = hook_read##n, [HOOK_WRITE##n] = hook_write##n, [HOOK_UPDATE##n] = hook_update##n

static void *const hooks[HOOK_COUNT] = {
	[HOOK_ENTER] = hook_enter,
	[HOOK_STACK] = hook_stack,
	[HOOK_CALL] = hook_call,
	[HOOK_RETURN] = hook_return,
	HOOK_SIZED(1),
	HOOK_SIZED(2),
	HOOK_SIZED(4),
	HOOK_SIZED(8),
	HOOK_SIZED(16),
	[HOOK_READ_TWO] = hook_read_two,
	[HOOK_WRITE_TWO] = hook_write_two,
	[HOOK_UPDATE_TWO] = hook_update_two,
	[HOOK_READ_RANGE] = hook_read_range,
	[HOOK_WRITE_RANGE] = hook_write_range,
	[HOOK_READ_STRIDE] = hook_read_stride,
	[HOOK_WRITE_STRIDE] = hook_write_stride,
};

/* ---- comparison ---- */

enum { IS_READ = 1, IS_WRITTEN = 2, IS_READ_FIRST = 4 };

/* The bytes of the segment that begins at event `from`; returns where the next one begins. */
static int segment(const struct journal *j, int from, uint8_t bytes[ARRAYS][BYTES])
{
	int i;

	memset(bytes, 0, ARRAYS * BYTES);
	for (i = from; i < j->count && j->items[i].kind != 's'; i++) {
		const struct event *e = &j->items[i];

		for (int k = e->offset; k < e->offset + e->size; k++) {
			uint8_t *byte = &bytes[e->array][k];

			if (e->kind == 'r')
				*byte |= IS_READ | (*byte == 0 ? IS_READ_FIRST : 0);
			else
				*byte |= IS_WRITTEN;
		}
	}
	return i + 1;
}

static bool is_covered(uint8_t truth, uint8_t reported, bool in_order)
{
	bool read = truth & (in_order ? IS_READ_FIRST : IS_READ);

	if ((truth & IS_WRITTEN) != (reported & IS_WRITTEN) || (reported & IS_READ & ~truth))
		return false;
	return !read || reported & (in_order ? IS_READ : IS_READ | IS_WRITTEN);
}

/* What is wrong with the reported bytes; NULL: nothing. */
static const char *compare_segments(const struct journal *truth, const struct journal *reported,
				    bool in_order)
{
	static uint8_t a[ARRAYS][BYTES], b[ARRAYS][BYTES];
	static char what[96];
	int x = 0, y = 0;

	for (int number = 0; x <= truth->count; number++) {
		if (y > reported->count)
			return "too few segments";
		x = segment(truth, x, a);
		y = segment(reported, y, b);
		for (int i = 0; i < ARRAYS; i++)
			for (int k = 0; k < BYTES; k++)
				if (!is_covered(a[i][k], b[i][k], in_order)) {
					snprintf(what, sizeof what,
						 "segment %d, A%d + %d: is %d, reported as %d", number, i, k,
						 a[i][k], b[i][k]);
					return what;
				}
	}
	return y <= reported->count ? "too many segments" : NULL;
}

static const char *compare_events(const struct journal *truth, const struct journal *reported)
{
	static char what[96];
	int n = truth->count < reported->count ? truth->count : reported->count;

	for (int i = 0; i < n; i++)
		if (memcmp(&truth->items[i], &reported->items[i], sizeof truth->items[i])) {
			snprintf(what, sizeof what, "event %d: %c of %d bytes is reported as %c of %d", i,
				 truth->items[i].kind, truth->items[i].size, reported->items[i].kind,
				 reported->items[i].size);
			return what;
		}
	return truth->count == reported->count ? NULL : "another number of events";
}

/* ---- one program, in all ways ---- */

struct way {
	const char *name;
	bool fast, keep_redundant;
};

static const struct way ways[] = {
	{"quick, every access", false, true},
	{"quick", false, false},
	{"fast, every access", true, true},
	{"fast", true, false},
};

static const char *compare_run(const struct twin *t, const struct way *way)
{
	for (int a = 0; a < ARRAYS; a++)
		if (memcmp(arrays[a], t->memory[a], (size_t)(element[a] * ELEMENTS)))
			return "another result";
	if (way->keep_redundant)
		return compare_events(&t->journal, &heard);
	return compare_segments(&t->journal, &heard, !way->fast);
}

static void check_run(struct instr_jit *j, const struct program *p, int top, int64_t n, const struct way *way,
		      uint64_t seed)
{
	static struct twin t;
	void (*f)(void *, int64_t);
	const char *wrong;

	t = (struct twin){.p = p, .n = n};
	run_nodes(&t, 0, top);
	if (t.journal.full)
		return;
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
	wrong = compare_run(&t, way);
	if (wrong != NULL) {
		char *text = text_of(p, top);

		fail_msg("seed %llu, %s, n = %lld: %s\n%s", (unsigned long long)seed, way->name, (long long)n,
			 wrong, text);
	}
}

static void check_program(uint64_t seed)
{
	static const struct instr_jit_symbol others[] = {{"sync", segment_ends}};
	struct rd_random r = rd_random_of(seed, 1);
	struct program p = {.count = 0};
	int loops[MAX_DEPTH], top = add_nodes(&p, &r, 2 + pick(&r, 4), loops, 0);
	char *text = text_of(&p, top);

	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		struct instr_jit j = {
			.options = {.fast = ways[i].fast, .keep_redundant = ways[i].keep_redundant}};

		if (i == 0 && seed % 4 != 0) /* differs little from the next one */
			continue;
		assert_int_equal(instr_jit_open(&j, RADDLE_FLAVOUR_RECORD, text), 0);
		assert_int_equal(instr_jit_instrument(&j), 0);
		site_count = j.u.sites.count;
		assert_int_equal(instr_jit_generate(&j), 0);
		instr_jit_load(&j, hooks, others, 1);
		for (int64_t n = 0; n < 8; n += 1 + (int64_t)(seed % 3))
			check_run(&j, &p, top, n, &ways[i], seed);
		instr_jit_close(&j);
	}
	free(text);
}

static void hooks_report_what_programs_access(void **state)
{
	const char *given = getenv("SEED");
	uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;
	uint64_t count = given != NULL ? 1 : getenv("RADDLE_LONG") != NULL ? 200 : 60;

	(void)state;
	print_message("seeds %llu to %llu\n", (unsigned long long)first,
		      (unsigned long long)(first + count - 1));
	for (uint64_t seed = first; seed < first + count; seed++)
		check_program(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hooks_report_what_programs_access),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
