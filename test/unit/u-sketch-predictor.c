// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of failure predictors.  They use hand-made runs of known bugs, and compare random runs
 * with the definitions as loops over all pairs and triples of events.
 */
#include "sketch/predictor.h"

#include "base/alloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint32_t statement(struct sketch_runs *r, uint32_t line, enum slice_role role)
{
	struct slice_statement s = {
		.file = "a.c", .function = "f", .line = line, .role = role, .distance = line};

	s.kind = role == SLICE_WRITES	 ? SLICE_WRITE
		 : role == SLICE_READS	 ? SLICE_READ
		 : role == SLICE_NEUTRAL ? SLICE_BRANCH
					 : SLICE_SYNC;
	return sketch_statement(r, &s);
}

static struct sketch_run *begin(struct sketch_runs *r, const char *signature)
{
	struct sketch_run *run = sketch_run_add(r);

	if (signature) {
		run->outcome = SKETCH_CRASH;
		run->signature = rd_xstrdup(signature);
	}
	return run;
}

static void add(struct sketch_run *run, uint32_t thread, uint32_t number, uint64_t address, uint64_t value)
{
	sketch_event_add(run, &(struct sketch_event){thread, number, address, value, 8});
}

static const struct sketch_predictor *find(const struct sketch_predictors *p, enum sketch_pattern pattern,
					   uint32_t a, uint32_t b, uint32_t c)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].pattern == pattern && p->items[i].statements[0] == a &&
		    (p->items[i].count < 2 || p->items[i].statements[1] == b) &&
		    (p->items[i].count < 3 || p->items[i].statements[2] == c))
			return &p->items[i];
	return NULL;
}

/* Figure 11 of the thesis: one execution contains one RWR and two WR patterns. */
static void figure_11(void **state)
{
	struct sketch_runs r = {0};
	uint32_t r1 = statement(&r, 1, SLICE_READS), w = statement(&r, 2, SLICE_WRITES),
		 r2 = statement(&r, 3, SLICE_READS), r3 = statement(&r, 4, SLICE_READS);
	struct sketch_run *run = begin(&r, "crash");
	struct sketch_predictors p;
	size_t orders = 0, at[3];

	(void)state;
	add(run, 0, r1, 16, 5);
	add(run, 1, w, 16, 0);
	add(run, 0, r2, 16, 0);
	add(run, 0, r3, 16, 0);
	sketch_predict(&r, "crash", &p);
	for (size_t i = 0; i < p.count; i++)
		orders += p.items[i].type == SKETCH_ORDER;
	assert_int_equal(orders, 4);
	assert_non_null(find(&p, SKETCH_RWR, r1, w, r2));
	assert_non_null(find(&p, SKETCH_WR, w, r2, 0));
	assert_non_null(find(&p, SKETCH_WR, w, r3, 0));
	assert_non_null(find(&p, SKETCH_RW, r1, w, 0));
	assert_true(sketch_predictor_at(&r, &r.items[0], find(&p, SKETCH_WR, w, r3, 0), at));
	assert_int_equal(at[0], 1);
	assert_int_equal(at[1], 3);
	sketch_predictors_release(&p);
	sketch_runs_release(&r);
}

/* F with beta 0.5, computed by hand for P = 3/4 and R = 3/5. */
static void measures(void **state)
{
	struct sketch_predictor p = {.failing = 3, .passing = 1, .all_failing = 5, .all_passing = 10};

	(void)state;
	sketch_measure(&p);
	assert_true(fabs(p.precision - 0.75) < 1e-9);
	assert_true(fabs(p.recall - 0.6) < 1e-9);
	assert_true(fabs(p.f - 1.25 * 0.45 / (0.25 * 0.75 + 0.6)) < 1e-9);
	assert_true(p.bound > 0.30 && p.bound < 0.31);
	p = (struct sketch_predictor){.all_failing = 5};
	sketch_measure(&p);
	assert_true(p.f == 0 && p.bound == 0);
}

/* A use after free: the write comes before the read in all failing runs and in no passing one.  A
 * failure of another kind is ignored. */
static void order_of_two(void **state)
{
	struct sketch_runs r = {0};
	uint32_t use = statement(&r, 1, SLICE_READS), end = statement(&r, 2, SLICE_WRITES);
	struct sketch_predictors p;

	(void)state;
	for (uint64_t i = 0; i < 40; i++) {
		bool fails = i % 10 == 0;
		struct sketch_run *run = begin(&r, fails ? "crash" : i % 10 == 1 ? "other" : NULL);

		if (fails)
			add(run, 1, end, 4096 + i, 0);
		add(run, 0, use, 4096 + i, fails ? 0 : 77 + (i << 32));
		if (!fails)
			add(run, 1, end, 4096 + i, 0);
	}
	sketch_predict(&r, "crash", &p);
	assert_int_equal(p.items[0].pattern, SKETCH_WR);
	assert_int_equal(p.items[0].failing, 4);
	assert_int_equal(p.items[0].passing, 0);
	assert_int_equal(p.items[0].all_passing, 32);
	assert_true(p.items[0].f == 1);
	assert_int_equal(sketch_best(&p, SKETCH_VALUE)->statements[0], use);
	assert_int_equal(sketch_best(&p, SKETCH_VALUE)->value, 0);
	assert_null(sketch_best(&p, SKETCH_BRANCHES));
	sketch_predictors_release(&p);
	sketch_runs_release(&r);
}

/* A run crashes at a read that came too early, so the write does not happen in it. */
static void cut_short(void **state)
{
	struct sketch_runs r = {0};
	uint32_t use = statement(&r, 1, SLICE_READS), set = statement(&r, 2, SLICE_WRITES);
	struct sketch_predictors p;
	const struct sketch_predictor *rw;
	size_t at[3];

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct sketch_run *run = begin(&r, i < 2 ? "crash" : NULL);

		if (i >= 2)
			add(run, 0, set, 64, 1);
		add(run, 1, use, 64, i >= 2);
	}
	sketch_predict(&r, "crash", &p);
	rw = find(&p, SKETCH_RW, use, set, 0);
	assert_non_null(rw);
	assert_ptr_equal(rw, &p.items[0]);
	assert_int_equal(rw->failing, 2);
	assert_int_equal(rw->passing, 0);
	assert_true(sketch_predictor_at(&r, &r.items[0], rw, at));
	assert_int_equal(at[0], 0);
	assert_true(at[1] == SIZE_MAX);
	assert_false(sketch_predictor_at(&r, &r.items[5], rw, at));
	sketch_predictors_release(&p);
	sketch_runs_release(&r);
}

/* Two threads take two locks in opposite order.  The pattern requires that one lock is taken
 * between the other thread's two. */
static void deadlock(void **state)
{
	struct sketch_runs r = {0};
	uint32_t a1 = statement(&r, 1, SLICE_ACQUIRES), b1 = statement(&r, 2, SLICE_ACQUIRES),
		 b2 = statement(&r, 3, SLICE_ACQUIRES), a2 = statement(&r, 4, SLICE_ACQUIRES),
		 give = statement(&r, 5, SLICE_RELEASES);
	struct sketch_predictors p;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct sketch_run *run = begin(&r, i ? NULL : "hang");

		add(run, 0, a1, 1, 0);
		if (!i)
			add(run, 1, b2, 2, 0);
		add(run, 0, b1, 2, 0);
		if (i) {
			add(run, 0, give, 2, 0);
			add(run, 0, give, 1, 0);
			add(run, 1, b2, 2, 0);
		}
		add(run, 1, a2, 1, 0);
	}
	sketch_predict(&r, "hang", &p);
	assert_int_equal(p.items[0].pattern, SKETCH_HOLD);
	assert_true(p.items[0].f == 1);
	assert_non_null(find(&p, SKETCH_HOLD, a1, b2, b1));
	sketch_predictors_release(&p);
	sketch_runs_release(&r);
}

/* Two threads want each other's lock.  The pattern is the same, whichever thread came first. */
static void deadlock_of_both(void **state)
{
	struct sketch_runs r = {0};
	uint32_t a1 = statement(&r, 1, SLICE_ACQUIRES), b1 = statement(&r, 2, SLICE_ACQUIRES),
		 b2 = statement(&r, 3, SLICE_ACQUIRES), a2 = statement(&r, 4, SLICE_ACQUIRES);
	struct sketch_predictors p;
	size_t at[3];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct sketch_run *run = begin(&r, "hang");

		add(run, (uint32_t)i, i ? b2 : a1, i ? 2 : 1, 0);
		add(run, (uint32_t)!i, i ? a1 : b2, i ? 1 : 2, 0);
		add(run, (uint32_t)i, i ? a2 : b1, i ? 1 : 2, 0);
		add(run, (uint32_t)!i, i ? b1 : a2, i ? 2 : 1, 0);
	}
	/* A thread that waits for a lock whose holder wants nothing is not part of the pattern. */
	struct sketch_run *passes = begin(&r, NULL);
	add(passes, 1, b2, 2, 0);
	add(passes, 0, a1, 1, 0);
	add(passes, 0, b1, 2, 0);
	sketch_predict(&r, "hang", &p);
	for (int i = 0; i < 2; i++) {
		const struct sketch_predictor *one =
			i ? find(&p, SKETCH_HOLD, a1, b2, b1) : find(&p, SKETCH_HOLD, b2, a1, a2);

		assert_non_null(one);
		assert_int_equal(one->failing, 2);
		assert_int_equal(one->passing, 0);
		assert_true(sketch_predictor_at(&r, &r.items[0], one, at));
	}
	sketch_predictors_release(&p);
	sketch_runs_release(&r);
}

/* A thread reads repeatedly.  In failing runs, its last read comes before the write. */
static void last_look(void **state)
{
	struct sketch_runs r = {0};
	uint32_t look = statement(&r, 1, SLICE_READS), put = statement(&r, 2, SLICE_WRITES);
	struct sketch_predictors p;
	size_t at[3];

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct sketch_run *run = begin(&r, i < 2 ? "crash" : NULL);

		add(run, 0, look, 64, 0);
		add(run, 0, look, 64, 0);
		add(run, 1, put, 64, 1);
		if (i >= 2)
			add(run, 0, look, 64, 1);
	}
	sketch_predict(&r, "crash", &p);
	assert_null(find(&p, SKETCH_RW, look, put, 0)); /* this is true of all runs */
	assert_ptr_equal(find(&p, SKETCH_RW_LAST, look, put, 0), &p.items[0]);
	assert_int_equal(p.items[0].failing, 2);
	assert_int_equal(p.items[0].passing, 0);
	assert_true(sketch_predictor_at(&r, &r.items[1], &p.items[0], at));
	assert_int_equal(at[0], 1);
	assert_int_equal(at[1], 2);
	assert_false(sketch_predictor_at(&r, &r.items[3], &p.items[0], at));
	sketch_predictors_release(&p);
	sketch_runs_release(&r);
}

/* A branch goes both ways in runs that pass, and only one way in runs that fail. */
static void never(void **state)
{
	struct sketch_runs r = {0};
	uint32_t branch = statement(&r, 1, SLICE_NEUTRAL);
	struct sketch_predictors p;
	size_t at[3];

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct sketch_run *run = begin(&r, i < 2 ? "crash" : NULL);

		add(run, 0, branch, 0, 0);
		add(run, 0, branch, 0, i >= 2);
	}
	sketch_predict(&r, "crash", &p);
	/* the branch goes the other way in all runs, which distinguishes nothing */
	assert_int_equal(p.count, 1);
	assert_int_equal(p.items[0].pattern, SKETCH_NEVER);
	assert_int_equal(p.items[0].value, 1);
	assert_true(p.items[0].f == 1);
	assert_true(sketch_predictor_at(&r, &r.items[0], &p.items[0], at));
	assert_int_equal(at[0], 1);
	assert_false(sketch_predictor_at(&r, &r.items[5], &p.items[0], at));
	sketch_predictors_release(&p);
	sketch_runs_release(&r);
}

/* Runs without threads are distinguished by a value and a branch. */
static void without_threads(void **state)
{
	struct sketch_runs r = {0};
	uint32_t x = statement(&r, 9, SLICE_READS), branch = statement(&r, 3, SLICE_NEUTRAL);
	struct sketch_predictors p;

	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		struct sketch_run *run = begin(&r, i < 3 ? "exit" : NULL);

		add(run, 0, x, 8, i < 3 ? 0 : i);
		add(run, 0, branch, 0, i < 4);
	}
	sketch_predict(&r, "exit", &p);
	assert_int_equal(p.items[0].type, SKETCH_VALUE);
	assert_int_equal(p.items[0].value, 0);
	assert_true(p.items[0].f == 1);
	assert_int_equal(sketch_best(&p, SKETCH_BRANCHES)->passing, 1);
	sketch_predictors_release(&p);
	sketch_runs_release(&r);
}

/* ---- the twin: patterns found by loops over all events ---- */

#define LINES 6
#define MOST 24

struct twin {
	bool pair[LINES][LINES], triple[LINES][LINES][LINES];
};

static bool writes(const struct sketch_runs *r, const struct sketch_event *e)
{
	return r->statements[e->statement].role == SLICE_WRITES;
}

/* Whether another access to the address is between two events: a write if `thread` is negative,
 * otherwise one by that thread. */
static bool between(const struct sketch_runs *r, const struct sketch_run *run, size_t from, size_t to,
		    int thread)
{
	for (size_t i = from + 1; i < to; i++)
		if (run->events[i].address == run->events[to].address &&
		    (thread < 0 ? writes(r, &run->events[i]) : (int)run->events[i].thread == thread))
			return true;
	return false;
}

static bool is_pattern(const char *p)
{
	return !strcmp(p, "RWR") || !strcmp(p, "WWR") || !strcmp(p, "RWW") || !strcmp(p, "WRW");
}

static void twin_triples(const struct sketch_runs *r, const struct sketch_run *run, size_t i, size_t k,
			 struct twin *t)
{
	const struct sketch_event *e = run->events;

	if (e[i].thread != e[k].thread || between(r, run, i, k, (int)e[k].thread))
		return;
	for (size_t j = i + 1; j < k; j++) {
		char name[4] = {writes(r, &e[i]) ? 'W' : 'R', writes(r, &e[j]) ? 'W' : 'R',
				writes(r, &e[k]) ? 'W' : 'R', 0};

		if (e[j].address == e[k].address && is_pattern(name))
			t->triple[e[i].statement][e[j].statement][e[k].statement] = true;
	}
}

static void twin(const struct sketch_runs *r, const struct sketch_run *run, struct twin *t)
{
	const struct sketch_event *e = run->events;

	for (size_t k = 0; k < run->count; k++)
		for (size_t i = 0; i < k; i++) {
			if (e[i].address != e[k].address)
				continue;
			if (e[i].thread != e[k].thread && (writes(r, &e[i]) || writes(r, &e[k])) &&
			    !between(r, run, i, k, -1))
				t->pair[e[i].statement][e[k].statement] = true;
			twin_triples(r, run, i, k, t);
		}
}

static void random_runs(void **state)
{
	(void)state;
	srand(11);
	for (int round = 0; round < 400; round++) {
		struct sketch_runs r = {0};
		struct twin t = {0};
		struct sketch_predictors p;
		struct sketch_run *run;
		size_t expected = 0, found = 0;

		for (uint32_t i = 0; i < LINES; i++)
			statement(&r, i + 1, i % 2 ? SLICE_WRITES : SLICE_READS);
		run = begin(&r, "crash");
		for (int i = rand() % MOST; i >= 0; i--)
			add(run, (uint32_t)rand() % 3, (uint32_t)rand() % LINES, 8 + (uint64_t)rand() % 2, 1);
		twin(&r, run, &t);
		run->cut = true; /* events that did not happen are tested above */
		sketch_predict(&r, "crash", &p);
		for (size_t i = 0; i < p.count; i++) {
			const uint32_t *s = p.items[i].statements;

			if (p.items[i].type != SKETCH_ORDER)
				continue;
			found++;
			assert_true(p.items[i].count == 3 ? t.triple[s[0]][s[1]][s[2]] : t.pair[s[0]][s[1]]);
		}
		for (size_t i = 0; i < sizeof t; i++)
			expected += ((const unsigned char *)&t)[i];
		assert_int_equal(found, expected);
		sketch_predictors_release(&p);
		sketch_runs_release(&r);
	}
}

static size_t last_of(const struct sketch_run *run, uint32_t statement, uint64_t address)
{
	for (size_t i = run->count; i-- > 0;)
		if (run->events[i].statement == statement && run->events[i].address == address)
			return i;
	return SIZE_MAX;
}

/* The definition of RW_LAST: both access one address, and the last accesses are a read and then a
 * write by different threads. */
static bool is_last(const struct sketch_run *run, uint32_t read, uint32_t write)
{
	for (uint64_t address = 8; address < 10; address++) {
		size_t a = last_of(run, read, address), b = last_of(run, write, address);

		if (a != SIZE_MAX && b != SIZE_MAX && a < b && run->events[a].thread != run->events[b].thread)
			return true;
	}
	return false;
}

static void random_last(void **state)
{
	(void)state;
	srand(12);
	for (int round = 0; round < 400; round++) {
		struct sketch_runs r = {0};
		struct sketch_run *run;
		size_t at[3];

		for (uint32_t i = 0; i < LINES; i++)
			statement(&r, i + 1, i % 2 ? SLICE_WRITES : SLICE_READS);
		run = begin(&r, "crash");
		for (int i = rand() % MOST; i >= 0; i--)
			add(run, (uint32_t)rand() % 3, (uint32_t)rand() % LINES, 8 + (uint64_t)rand() % 2, 1);
		for (uint32_t a = 0; a < LINES; a += 2)
			for (uint32_t b = 1; b < LINES; b += 2) {
				struct sketch_predictor p = {.type = SKETCH_ORDER,
							     .pattern = SKETCH_RW_LAST,
							     .count = 2,
							     .statements = {a, b}};

				assert_int_equal(sketch_predictor_at(&r, run, &p, at), is_last(run, a, b));
			}
		sketch_runs_release(&r);
	}
}

/* ---- in how many runs a predictor is true ---- */

/* Makes random runs of reads, writes, locks and branches. */
static void some_runs(struct sketch_runs *r)
{
	static const enum slice_role roles[] = {SLICE_READS,	SLICE_WRITES,	SLICE_ACQUIRES,
						SLICE_RELEASES, SLICE_ACQUIRES, SLICE_RELEASES,
						SLICE_NEUTRAL,	SLICE_READS};
	enum { KINDS = sizeof roles / sizeof *roles };

	for (uint32_t i = 0; i < KINDS; i++)
		statement(r, i + 1, roles[i]);
	for (int n = 1 + rand() % 6; n > 0; n--) {
		struct sketch_run *run = begin(r, rand() % 2 ? "crash" : rand() % 4 ? NULL : "other");

		run->cut = rand() % 4 == 0;
		for (int i = rand() % MOST; i > 0; i--)
			add(run, (uint32_t)rand() % 2, (uint32_t)rand() % KINDS, 8 + (uint64_t)rand() % 2,
			    (uint64_t)rand() % 2);
	}
}

static bool belongs(const struct sketch_run *run)
{
	return run->outcome == SKETCH_PASSED || (run->signature && !strcmp(run->signature, "crash"));
}

/* Whether the two accesses occurred in the opposite order in one of the runs that are compared. */
static bool met_as_wr(const struct sketch_runs *r, const struct sketch_predictor *rw)
{
	struct sketch_predictor wr = {.type = SKETCH_ORDER,
				      .pattern = SKETCH_WR,
				      .count = 2,
				      .statements = {rw->statements[1], rw->statements[0]}};
	size_t at[3];

	for (size_t i = 0; i < r->count; i++)
		if (belongs(&r->items[i]) && sketch_predictor_at(r, &r->items[i], &wr, at))
			return true;
	return false;
}

/* Each predicate is counted for exactly those runs in which it is true, tested one by one.  Runs
 * that fail in another way are ignored.  Predicates that distinguish nothing are omitted. */
static void counts(void **state)
{
	size_t seen[SKETCH_PATTERNS] = {0};

	(void)state;
	srand(13);
	for (int round = 0; round < 1500; round++) {
		struct sketch_runs r = {0};
		struct sketch_predictors p;
		size_t failing = 0, passing = 0;

		some_runs(&r);
		for (size_t i = 0; i < r.count; i++) {
			passing += r.items[i].outcome == SKETCH_PASSED;
			failing += r.items[i].signature && !strcmp(r.items[i].signature, "crash");
		}
		sketch_predict(&r, "crash", &p);
		for (size_t n = 0; n < p.count; n++) {
			const struct sketch_predictor *one = &p.items[n];
			size_t fails = 0, passes = 0, at[3];

			for (size_t i = 0; i < r.count; i++) {
				const struct sketch_run *run = &r.items[i];
				/* In a run that lost events, it is unknown whether a branch never
				 * went a way. */
				bool is = !(run->cut && one->pattern == SKETCH_NEVER) &&
					  sketch_predictor_at(&r, run, one, at);

				/* A read without the write that would follow, in a run that
				 * crashed. */
				if (is && one->pattern == SKETCH_RW && at[1] == SIZE_MAX) {
					assert_true(!run->cut && run->outcome == SKETCH_CRASH);
					is = met_as_wr(&r, one);
				}
				passes += is && run->outcome == SKETCH_PASSED;
				fails += is && run->signature && !strcmp(run->signature, "crash");
			}
			assert_int_equal(one->failing, fails);
			assert_int_equal(one->passing, passes);
			assert_int_equal(one->all_failing, failing);
			assert_int_equal(one->all_passing, passing);
			assert_true(fails && (!passing || fails * passing > passes * failing));
			seen[one->pattern]++;
		}
		sketch_predictors_release(&p);
		sketch_runs_release(&r);
	}
	for (size_t i = 0; i < SKETCH_PATTERNS; i++)
		if (!seen[i])
			fail_msg("%s never came up", sketch_pattern_name((enum sketch_pattern)i));
}

/* The best predictor comes first.  The order is total: every permutation is sorted in the same
 * way. */
static void total_order(void **state)
{
	(void)state;
	srand(14);
	for (int round = 0; round < 300; round++) {
		struct sketch_runs r = {0};
		struct sketch_predictors p;
		struct sketch_predictor *items;

		some_runs(&r);
		sketch_predict(&r, "crash", &p);
		items = rd_xcalloc(p.count + 1, sizeof *items);
		if (p.count)
			memcpy(items, p.items, p.count * sizeof *items);
		for (size_t i = 1; i < p.count; i++) {
			size_t k = (size_t)rand() % (i + 1);
			struct sketch_predictor one = p.items[i];

			p.items[i] = p.items[k];
			p.items[k] = one;
			assert_true(items[i - 1].f >= items[i].f);
		}
		sketch_predictors_sort(&p);
		for (size_t i = 0; i < p.count; i++) {
			assert_int_equal(p.items[i].pattern, items[i].pattern);
			assert_memory_equal(p.items[i].statements, items[i].statements,
					    sizeof items[i].statements);
			assert_true(p.items[i].value == items[i].value);
		}
		free(items);
		sketch_predictors_release(&p);
		sketch_runs_release(&r);
	}
}

/* ---- predictors about locks ---- */

static bool is_of(const struct sketch_runs *r, const struct sketch_event *e, enum slice_role role)
{
	return r->statements[e->statement].role == role;
}

/* Whether the thread of event `from` still holds the lock that it took there when event `at`
 * happens. */
static bool holds(const struct sketch_runs *r, const struct sketch_run *run, size_t from, size_t at)
{
	const struct sketch_event *e = run->events;

	for (size_t i = from + 1; i < at; i++)
		if (e[i].thread == e[from].thread && e[i].address == e[from].address &&
		    is_of(r, &e[i], SLICE_RELEASES))
			return false;
	return true;
}

/* Returns the last event at which the thread of event `at` took a lock, with another address, that
 * it still holds. */
static size_t last_held(const struct sketch_runs *r, const struct sketch_run *run, size_t at)
{
	const struct sketch_event *e = run->events;
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < at; i++)
		if (e[i].thread == e[at].thread && e[i].address != e[at].address &&
		    is_of(r, &e[i], SLICE_ACQUIRES) && holds(r, run, i, at))
			found = i;
	return found;
}

/* The definition of HOLD: thread a holds one lock and wants another, which b took and still holds.
 * Either b took it after a took the first, or b has wanted the first one since then. */
static bool is_hold(const struct sketch_runs *r, const struct sketch_run *run, size_t first, size_t other,
		    size_t at)
{
	const struct sketch_event *e = run->events;
	bool wants = false;

	if (!is_of(r, &e[at], SLICE_ACQUIRES) || last_held(r, run, at) != first ||
	    !is_of(r, &e[other], SLICE_ACQUIRES) || e[other].thread == e[at].thread ||
	    e[other].address != e[at].address || !holds(r, run, other, at))
		return false;
	for (size_t i = other + 1; i < at; i++)
		wants |= i > first && e[i].thread == e[other].thread && e[i].address == e[first].address &&
			 is_of(r, &e[i], SLICE_ACQUIRES);
	return other > first || wants;
}

static void random_locks(void **state)
{
	size_t seen = 0;

	(void)state;
	srand(15);
	for (int round = 0; round < 1500; round++) {
		struct sketch_runs r = {0};
		struct sketch_run *run;

		for (uint32_t i = 0; i < LINES; i++)
			statement(&r, i + 1, i % 2 ? SLICE_RELEASES : SLICE_ACQUIRES);
		run = begin(&r, "hang");
		for (int i = 3 + rand() % 8; i > 0; i--)
			add(run, (uint32_t)rand() % 2, (uint32_t)rand() % LINES, 8 + (uint64_t)rand() % 2, 1);
		for (size_t i = 0; i < run->count; i++)
			for (size_t k = 0; k < run->count; k++)
				for (size_t n = 0; n < run->count; n++) {
					const struct sketch_event *e = run->events;
					struct sketch_predictor p = {.type = SKETCH_ORDER,
								     .pattern = SKETCH_HOLD,
								     .count = 3,
								     .statements = {e[i].statement,
										    e[k].statement,
										    e[n].statement}};
					size_t at[3];

					if (i >= n || k >= n || !is_hold(&r, run, i, k, n))
						continue;
					seen++;
					assert_true(sketch_predictor_at(&r, run, &p, at));
				}
		sketch_runs_release(&r);
	}
	assert_true(seen > 100);
}

/* The results of interventions outweigh counts. */
static void interventions(void **state)
{
	struct sketch_predictor items[] = {{.f = 1, .forced = {20, 3}, .prevented = {20, 2}},
					   {.f = 0.9, .forced = {20, 20}, .prevented = {20, 0}},
					   {.f = 0.8}};
	struct sketch_predictors p = {items, 3, 0};

	(void)state;
	sketch_predictors_sort(&p);
	assert_true(items[0].f == 0.9);
	assert_true(items[1].f == 0.8);
	assert_true(sketch_is_confirmed(&items[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figure_11),
		cmocka_unit_test(measures),
		cmocka_unit_test(order_of_two),
		cmocka_unit_test(cut_short),
		cmocka_unit_test(deadlock),
		cmocka_unit_test(without_threads),
		cmocka_unit_test(random_runs),
		cmocka_unit_test(interventions),
		cmocka_unit_test(deadlock_of_both),
		cmocka_unit_test(last_look),
		cmocka_unit_test(never),
		cmocka_unit_test(random_last),
		cmocka_unit_test(counts),
		cmocka_unit_test(total_order),
		cmocka_unit_test(random_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
