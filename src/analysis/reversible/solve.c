// SPDX-License-Identifier: Apache-2.0
/*
 * Uses Z3 to decide questions that depend on the order of critical sections.  The answer to a
 * question about a skeleton is a witness, a proof that there is none, or "unknown".
 *
 * A question (struct rev_question) asks whether thread u can reach its segment r while thread t has
 * not left its segment s.  Each operation that can happen by then has an integer variable, which
 * stands for its position in the order.  A witness ends with the operation that begins segment r of
 * thread u.  Program order, and the needs between operations, are expressed as inequalities.  A
 * choice variable expresses which notification ends which wait.  Each solution is checked with the
 * machine (order/machine.h).  Two further rules are added only when a solution violates them: (1)
 * two sections of a lock do not overlap, unless one begins after the end of the witness; (2) each
 * semaphore wait is preceded by a post that it can take.
 *
 * The library is loaded when the first question is asked, because loading takes longer than
 * checking most runs.  If the library fails in any way, the answer is "unknown", never yes or no.
 */
#include "reversible/solve.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "solver/z3.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The largest number of operations in a question.  Set by hand, because larger questions exceed the
 * usual time limit. */
#define OPERATIONS_MAX 20000
/* The largest number of posts and waits of a semaphore in one constraint.  Set by hand. */
#define COUNTED_MAX 4000
/* The time limit for all questions together is BUDGET times the limit for one question.  Set by
 * hand. */
#define BUDGET 6

struct rev_solver {
	const struct rev_run *run;
	unsigned timeout_ms;
	const char *reason;
	uint64_t spent_ms;
	bool tried;
	struct solver_z3 z3;
};

/* A question that is put to Z3. */
struct z3_question {
	struct rev_solver *solver;
	const struct solver_z3 *z3;
	const struct rev_run *run;
	const struct rev_question *q;
	struct machine *m;
	Z3_context ctx;
	Z3_solver s;
	/* The variable of each operation, by its index in rev_run.ops, or NULL if the operation
	 * cannot be in a witness. */
	Z3_ast *place;
	uint32_t *bound; /* how many operations of each thread can be in a witness */
	Z3_ast end;
	unsigned next; /* number of the next variable */
	bool more;     /* a constraint was added in this round */
	/* True if the question is given up because it is too large, or because no constraint
	 * excludes a wrong order. */
	bool lost;
};

/* ---- the library ---- */

struct rev_solver *rev_solver_new(const struct rev_run *run, unsigned timeout_ms)
{
	struct rev_solver *s = rd_xcalloc(1, sizeof *s);

	s->run = run;
	s->timeout_ms = timeout_ms;
	return s;
}

void rev_solver_free(struct rev_solver *s)
{
	if (s)
		solver_z3_close(&s->z3);
	free(s);
}

const char *rev_solver_reason(const struct rev_solver *s)
{
	return s->reason ? s->reason : "the solver was not used";
}

bool rev_solver_is_spent(const struct rev_solver *s)
{
	return s->spent_ms >= (uint64_t)BUDGET * s->timeout_ms;
}

static bool load(struct rev_solver *s)
{
	if (!s->tried) {
		s->tried = true;
		solver_z3_open(&s->z3);
	}
	return s->z3.handle != NULL;
}

/* ---- formulas ---- */

static void require(struct z3_question *a, Z3_ast formula)
{
	a->z3->solver_assert(a->ctx, a->s, formula);
	a->more = true;
}

static Z3_ast either(struct z3_question *a, Z3_ast *of, unsigned count)
{
	return a->z3->mk_or(a->ctx, count, of);
}

/* Returns the formula which states that the operation is not part of the witness. */
static Z3_ast is_behind(struct z3_question *a, uint32_t at)
{
	return a->z3->mk_gt(a->ctx, a->place[at], a->end);
}

static bool is_in(const struct z3_question *a, uint32_t at)
{
	return at != REV_NONE && a->place[at] != NULL;
}

static void require_before(struct z3_question *a, uint32_t first, uint32_t second)
{
	if (is_in(a, first) && is_in(a, second))
		require(a, a->z3->mk_lt(a->ctx, a->place[first], a->place[second]));
}

/* Requires that two sections do not overlap if both begin. */
static void require_sections(struct z3_question *a, uint32_t one, uint32_t other)
{
	Z3_ast of[4];
	unsigned n = 0;
	uint32_t ends[2] = {a->run->ops[one].link, a->run->ops[other].link};

	of[n++] = is_behind(a, one);
	of[n++] = is_behind(a, other);
	if (is_in(a, ends[0]))
		of[n++] = a->z3->mk_lt(a->ctx, a->place[ends[0]], a->place[other]);
	if (is_in(a, ends[1]))
		of[n++] = a->z3->mk_lt(a->ctx, a->place[ends[1]], a->place[one]);
	require(a, either(a, of, n));
}

/* Adds a term for each operation of one kind on the object of `at`.  The term is `sign` if the
 * operation comes before `at`, and 0 otherwise. */
static bool sum_up(struct z3_question *a, const struct slots *slots, uint32_t at, Z3_ast *terms, unsigned *n,
		   int sign)
{
	uint32_t object = a->run->ops[at].object, last = slots->first[object + 1];
	Z3_sort integers = a->z3->mk_int_sort(a->ctx);
	Z3_ast none = a->z3->mk_int(a->ctx, 0, integers), one = a->z3->mk_int(a->ctx, sign, integers);

	if (slots->first[object] == last)
		return true;
	for (uint32_t i = slots->slot[slots->first[object]].begin; i < slots->slot[last - 1].end; i++) {
		uint32_t other = slots->item[i];

		if (other == at || !is_in(a, other))
			continue;
		if (*n >= COUNTED_MAX)
			return false;
		terms[(*n)++] =
			a->z3->mk_ite(a->ctx, a->z3->mk_lt(a->ctx, a->place[other], a->place[at]), one, none);
	}
	return true;
}

static void require_count(struct z3_question *a, uint32_t at)
{
	uint64_t value = a->run->objects[a->run->ops[at].object].value;
	Z3_ast *terms = rd_xcalloc(COUNTED_MAX + 1, sizeof *terms), of[2];
	Z3_sort integers = a->z3->mk_int_sort(a->ctx);
	unsigned n = 1;

	terms[0] = a->z3->mk_int(a->ctx, (int)value, integers);
	if (sum_up(a, &a->run->posts, at, terms, &n, 1) && sum_up(a, &a->run->takes, at, terms, &n, -1)) {
		of[0] = is_behind(a, at);
		of[1] = a->z3->mk_ge(a->ctx, a->z3->mk_add(a->ctx, n, terms),
				     a->z3->mk_int(a->ctx, 1, integers));
		require(a, either(a, of, 2));
	} else {
		a->lost = true;
	}
	free(terms);
}

/* ---- conditions ---- */

/* Requires that at most one of the choices is true, because a signal ends only one wait. */
static void require_exclusive(struct z3_question *a, const Z3_ast *choices, size_t count)
{
	RD_ASSERT(choices != NULL || count == 0);
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++) {
			Z3_ast of[2] = {a->z3->mk_not(a->ctx, choices[i]), a->z3->mk_not(a->ctx, choices[k])};

			require(a, either(a, of, 2));
		}
}

struct wakes {
	uint32_t *at;
	size_t count, capacity;
};

/* The notifications of a condition: item[begin] to item[end - 1]. */
struct notes {
	const uint32_t *item;
	uint32_t begin, end;
};

static struct notes notes_of(const struct rev_run *run, uint32_t object)
{
	const struct slots *s = &run->notes;
	uint32_t first = s->first[object], last = s->first[object + 1];

	return first == last ? (struct notes){s->item, 0, 0}
			     : (struct notes){s->item, s->slot[first].begin, s->slot[last - 1].end};
}

/* Requires that some notification causes the wake `at`.  `chosen` has a row for each signal and a
 * column for each wake. */
static void require_wake(struct z3_question *a, uint32_t at, Z3_ast *chosen, size_t column, size_t columns)
{
	const struct rev_op *wake = &a->run->ops[at];
	struct notes notes = notes_of(a->run, wake->object);
	Z3_ast *of = rd_xcalloc(notes.end - notes.begin + 1, sizeof *of);
	unsigned n = 1;

	of[0] = is_behind(a, at);
	for (uint32_t i = notes.begin; i < notes.end; i++) {
		uint32_t s = notes.item[i];
		Z3_ast in[2];

		if (!is_in(a, s) || a->run->ops[s].thread == wake->thread)
			continue;
		in[0] = a->z3->mk_lt(a->ctx, a->place[wake->pair], a->place[s]);
		in[1] = a->z3->mk_lt(a->ctx, a->place[s], a->place[at]);
		of[n] = a->z3->mk_const(a->ctx, a->z3->mk_int_symbol(a->ctx, (int)a->next++),
					a->z3->mk_bool_sort(a->ctx));
		require(a, a->z3->mk_implies(a->ctx, of[n], a->z3->mk_and(a->ctx, 2, in)));
		if (a->run->ops[s].kind == EXEC_SIGNAL)
			chosen[(i - notes.begin) * columns + column] = of[n];
		n++;
	}
	require(a, either(a, of, n));
	free(of);
}

static void require_condition(struct z3_question *a, uint32_t object, const struct wakes *w)
{
	struct notes notes = notes_of(a->run, object);
	size_t rows = notes.end - notes.begin, used;
	Z3_ast *chosen, *line;

	if (rows * w->count > OPERATIONS_MAX * 10) {
		a->lost = true;
		return;
	}
	chosen = rd_xcalloc(rows * w->count + 1, sizeof *chosen);
	line = rd_xcalloc(w->count + 1, sizeof *line);
	for (size_t i = 0; i < w->count; i++)
		require_wake(a, w->at[i], chosen, i, w->count);
	for (size_t r = 0; r < rows; r++) {
		used = 0;
		for (size_t i = 0; i < w->count; i++)
			if (chosen[r * w->count + i])
				line[used++] = chosen[r * w->count + i];
		require_exclusive(a, line, used);
	}
	free(chosen);
	free(line);
}

static void require_conditions(struct z3_question *a)
{
	for (uint32_t object = 0; object < a->run->object_count; object++) {
		struct wakes w = {0};

		if (a->run->objects[object].class != REV_COND)
			continue;
		for (uint32_t i = 0; i < a->run->op_count; i++) {
			const struct rev_op *op = &a->run->ops[i];

			if (op->kind != EXEC_WAKE || op->object != object || op->flags & REV_ALONE ||
			    !is_in(a, i))
				continue;
			RD_GROW(w.at, w.capacity, w.count + 1);
			w.at[w.count++] = i;
		}
		require_condition(a, object, &w);
		free(w.at);
	}
}

/* ---- posing a question ---- */

/* Returns how many operations of `thread` can happen before thread t of the question leaves its
 * segment. */
static uint32_t bound_of(const struct rev_run *run, const struct rev_question *q, uint32_t thread)
{
	uint32_t low = 0, high = (uint32_t)run->threads[thread].count;

	if (thread == q->t)
		return q->s < high ? q->s : high;
	RD_BISECT(low, high, at, rev_order_get(run, rev_run_op(run, thread, at + 1), q->t) <= q->s);
	return low;
}

/* Creates variables for the operations that can be in a witness.  Returns false if there are too
 * many. */
static bool make_places(struct z3_question *a)
{
	size_t total = 0;

	for (uint32_t t = 0; t < a->run->thread_count; t++)
		total += a->bound[t] = bound_of(a->run, a->q, t);
	if (total > OPERATIONS_MAX)
		return false;
	for (uint32_t t = 0; t < a->run->thread_count; t++)
		for (uint32_t n = 0; n < a->bound[t]; n++)
			a->place[a->run->threads[t].ops[n]] =
				a->z3->mk_const(a->ctx, a->z3->mk_int_symbol(a->ctx, (int)a->next++),
						a->z3->mk_int_sort(a->ctx));
	return true;
}

static void require_needs(struct z3_question *a)
{
	for (uint32_t i = 0; i < a->run->op_count; i++) {
		const struct rev_op *op = &a->run->ops[i];

		if (!is_in(a, i))
			continue;
		if (op->n > 1)
			require_before(a, a->run->threads[op->thread].ops[op->n - 2], i);
		if (rev_follows_pair(op))
			require_before(a, op->pair, i);
		for (size_t k = 0; op->kind == EXEC_EXIT && k < a->run->uses[op->link].count; k++)
			if (a->run->uses[op->link].enters[k] != i)
				require_before(a, a->run->uses[op->link].enters[k], i);
	}
	require_conditions(a);
}

struct placed {
	int64_t place;
	uint32_t at;
};

static int by_place(const void *x, const void *y)
{
	const struct placed *a = x, *b = y;

	return a->place != b->place ? (a->place < b->place ? -1 : 1) : (a->at > b->at) - (a->at < b->at);
}

static bool value_of(struct z3_question *a, Z3_model model, Z3_ast of, int64_t *value)
{
	Z3_ast found;

	return a->z3->model_eval(a->ctx, model, of, true, &found) &&
	       a->z3->get_numeral_int64(a->ctx, found, value);
}

/* Reads the order that the solver proposes into *w. */
static bool read_order(struct z3_question *a, struct rev_witness *w)
{
	Z3_model model = a->z3->solver_get_model(a->ctx, a->s);
	struct placed *all = rd_xcalloc(a->run->op_count + 1, sizeof *all);
	size_t count = 0;
	int64_t end = 0;
	bool good;

	a->z3->model_inc_ref(a->ctx, model);
	good = value_of(a, model, a->end, &end);
	for (uint32_t i = 0; i < a->run->op_count && good; i++) {
		if (!is_in(a, i))
			continue;
		all[count].at = i;
		good = value_of(a, model, a->place[i], &all[count].place);
		count += all[count].place <= end;
	}
	a->z3->model_dec_ref(a->ctx, model);
	qsort(all, count, sizeof *all, by_place);
	RD_GROW(w->order, w->capacity, count + 1);
	for (w->count = 0; w->count < count; w->count++)
		w->order[w->count] = all[w->count].at;
	free(all);
	return good;
}

/* Adds constraints between the operation and all current holders of its lock. */
static void require_holders(struct z3_question *a, uint32_t at)
{
	const struct rev_op *op = &a->run->ops[at];
	const struct slots *rivals = rev_rivals(a->run, op);

	for (uint32_t i = rivals->first[op->lock]; i < rivals->first[op->lock + 1]; i++) {
		const struct slot *slot = &rivals->slot[i];
		uint32_t last = slots_last(rivals, slot, rev_done(a->run, a->m, slot->thread));

		if (slot->thread != op->thread && is_in(a, last))
			require_sections(a, last, at);
	}
}

/* Adds the constraints that the proposed order violates.  If there are none, the order can
 * happen. */
static void refine(struct z3_question *a, const struct rev_witness *w)
{
	a->more = false;
	machine_reset(a->m, w->order, w->count);
	for (size_t i = 0; i < w->count; i++) {
		uint32_t at = w->order[i];

		if (!rev_can(a->run, a->m, at)) {
			if (machine_blocker(a->m, at) != EXEC_NONE)
				require_holders(a, at);
			else if (a->run->ops[at].kind == EXEC_TAKE)
				require_count(a, at);
			else
				a->lost = true;
		}
		machine_do(a->m, at);
	}
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static enum rev_answer ask(struct z3_question *a, struct rev_witness *w)
{
	uint64_t start = now_ms();

	while (!a->lost && now_ms() - start < a->solver->timeout_ms) {
		switch (a->z3->solver_check(a->ctx, a->s)) {
		case Z3_L_FALSE: return REV_NEVER;
		case Z3_L_TRUE: break;
		default:
			a->solver->reason = "the solver found no answer within its time limit";
			return REV_UNKNOWN;
		}
		if (!read_order(a, w))
			break;
		refine(a, w);
		if (!a->more && !a->lost)
			return REV_FOUND;
		if (!a->more)
			break;
	}
	a->solver->reason = a->lost ? "the question is too large for the solver"
				    : "the solver found no answer within its time limit";
	return REV_UNKNOWN;
}

static void open_solver(struct z3_question *a)
{
	a->ctx = solver_z3_context(a->z3);
	a->s = a->z3->mk_simple_solver(a->ctx);
	a->z3->solver_inc_ref(a->ctx, a->s);
	solver_z3_limit(a->z3, a->ctx, a->s, a->solver->timeout_ms);
}

static enum rev_answer solve(struct z3_question *a, struct rev_witness *w)
{
	enum rev_answer answer = REV_UNKNOWN;
	uint32_t last = a->run->threads[a->q->u].ops[a->q->r - 1];

	open_solver(a);
	if (!make_places(a)) {
		a->solver->reason = "the question is too large for the solver";
	} else if (!is_in(a, last)) {
		answer = REV_NEVER;
	} else {
		a->end = a->place[last];
		require_needs(a);
		answer = ask(a, w);
	}
	a->z3->solver_dec_ref(a->ctx, a->s);
	a->z3->del_context(a->ctx);
	return answer;
}

enum rev_answer rev_solve(struct rev_solver *s, struct machine *m, const struct rev_question *q,
			  struct rev_witness *w)
{
	RD_ASSERT(q->t != q->u);
	struct z3_question a = {.solver = s, .z3 = &s->z3, .run = s->run, .q = q, .m = m};
	enum rev_answer answer;
	uint64_t start = now_ms();

	if (!q->r || q->r > s->run->threads[q->u].count)
		return REV_NEVER;
	if (!s->timeout_ms) {
		s->reason = "the solver has no time";
		return REV_UNKNOWN;
	}
	if (rev_solver_is_spent(s)) {
		s->reason = "the time of the solver is used up";
		return REV_UNKNOWN;
	}
	if (!load(s)) {
		s->reason = "the solver, " SOLVER_Z3_LIBRARY ", cannot be loaded";
		return REV_UNKNOWN;
	}
	a.place = rd_xcalloc(s->run->op_count + 1, sizeof *a.place);
	a.bound = rd_xcalloc(s->run->thread_count + 1, sizeof *a.bound);
	answer = solve(&a, w);
	s->spent_ms += now_ms() - start;
	free(a.place);
	free(a.bound);
	return answer;
}
