// SPDX-License-Identifier: Apache-2.0
/*
 * Looks for other inputs that lead to a race (multi-path analysis: algorithm 3 in the thesis of B.
 * Kasikci, EPFL 2015).  In: a race and its schedule.  Out: inputs with which the same schedule
 * reaches the race, but the program takes another path.
 *
 * A run of the flavour `shadow` shows which branches depend on input.  For each of these branches,
 * the solver looks for an input that flips it.  branches-int.h defines the order in which branches
 * are flipped.  The program is then run with the new input, and must reach the race by the same
 * schedule.  If its path is new, it is a primary, and its own branches are then flipped as well.
 */
#include "classify/paths-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "classify/branches-int.h"
#include "classify/variant-int.h"
#include "symbolic/join.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All of these values were set by hand.  Smaller values miss inputs, larger ones take time from
 * other races. */
/* Limits of one question to the solver, and of all questions for one race, in steps of the solver.
 * The second limit is checked only between questions.  The solver makes some five million steps in
 * a second of processor time.  A question always needs the same number of steps. */
#define QUESTION_WORK 20000000
#define SOLVER_WORK 10000000
#define BRANCH_TURNS_MAX 3 /* maximum number of times that a branch is flipped */
/* At most this many inputs are tried for each primary (new path to the race) that the caller
 * requests. */
#define TRIES_PER_PATH 16
/* At most this many dropped inputs are described, so that the notes stay readable. */
#define DROPPED_MOST 3

/* A primary (path to the race) whose branches have not been flipped yet.  It has one trace for each
 * order of the two accesses. */
struct item {
	struct rd_override given;
	struct sym_trace traces[2];
};

struct explorer {
	struct paths *p;
	struct item *queue;
	size_t count, capacity, next;
	struct rd_umap turned; /* maps site and direction of a branch to how often it was flipped */
	struct rd_umap seen;   /* the hashes of paths that were seen */
	struct rd_names tried; /* the inputs that were tried, as text */
	unsigned tries;
	bool bad;
};

/* ---- runs ---- */

static int read_trace(void *trace, const void *memory, size_t size)
{
	return sym_trace_read(trace, memory, size);
}

static int run_order(struct explorer *x, enum variant_group group, struct sym_trace *trace, struct trial *t)
{
	struct variant v;

	variant_make(&v, x->p->race, group, 0);
	v.schedule.flavour = "shadow";
	*trace = (struct sym_trace){0};
	return trial_shadow(x->p->bench, x->p->shadow, &v.schedule, t, read_trace, trace);
}

static void note_losses(struct paths *p, const struct sym_trace *t)
{
	for (unsigned i = 0; i < RADDLE_LOSSES; i++)
		p->lost[i] += t->lost[i];
}

static void free_item(struct item *i)
{
	rd_override_release(&i->given);
	sym_trace_release(&i->traces[0]);
	sym_trace_release(&i->traces[1]);
}

/* ---- contents of inputs ---- */

static bool read_file(struct rd_override_part *part)
{
	struct rd_buf text = RD_BUF_INIT;

	if (!rd_file_exists(part->name) || rd_file_read(part->name, &text))
		return false;
	part->length = text.length;
	part->data = rd_buf_detach(&text);
	return true;
}

static bool read_stdin(struct trial_bench *b, struct rd_override_part *part)
{
	char block[4096];
	struct rd_buf text = RD_BUF_INIT;
	off_t at = b->streams.offset;
	ssize_t n;

	while ((n = pread(b->streams.fds[STDIN_FILENO], block, sizeof block, at)) > 0) {
		rd_buf_add(&text, block, (size_t)n);
		at += n;
	}
	part->length = text.length;
	part->data = rd_buf_detach(&text);
	return n == 0;
}

struct contents {
	struct trial_bench *bench;
	const struct rd_override *given; /* the input of the run */
};

static bool content(void *context, struct rd_override_part *part)
{
	const struct contents *c = context;
	const struct rd_override_part *given = rd_override_find(c->given, part);
	char *const *argv = c->bench->conditions.program->argv;
	const char *text = NULL;
	size_t n = 0;

	if (part->kind == RD_OVERRIDE_STDIN && !given)
		return read_stdin(c->bench, part);
	if (part->kind == RD_OVERRIDE_FILE && !given)
		return read_file(part);
	while (argv[n])
		n++;
	if (given)
		text = given->data;
	else if (part->kind == RD_OVERRIDE_ARGV)
		text = part->number < n ? argv[part->number] : NULL;
	else
		text = getenv(part->name);
	part->length = given ? given->length : text ? strlen(text) : 0;
	part->data = text ? rd_xcalloc(part->length + 1, 1) : NULL;
	if (text)
		memcpy(part->data, text, part->length);
	return text != NULL;
}

/* ---- trying a new input ---- */

static bool is_new_input(struct explorer *x, const struct rd_override *given)
{
	struct rd_buf text = RD_BUF_INIT;
	size_t before = x->tried.count;

	rd_override_format(given, &text);
	rd_names_put(&x->tried, text.data, text.length);
	rd_buf_release(&text);
	return x->tried.count != before;
}

/* Adds a primary and analyses the race with its input. */
static int take_primary(struct explorer *x, struct item *item)
{
	struct paths *p = x->p;
	int err;

	p->primaries++;
	RD_ASSERT(p->primaries <= p->most);
	branches_describe(&item->traces[0], &p->covered);
	err = p->analyse(p->context, &item->given, &x->bad);
	RD_GROW(x->queue, x->capacity, x->count + 1);
	x->queue[x->count++] = *item;
	return err;
}

static const char *why_dropped(const struct trial *t)
{
	return t->why ? t->why : "the threads did not both reach their accesses";
}

/* Describes an input that is dropped: "argv 1 x: why". */
static void note_dropped(struct paths *p, const struct rd_override *given, const struct trial *t)
{
	size_t at = p->dropped.length;

	if (p->discarded++ >= DROPPED_MOST)
		return;
	rd_override_format(given, &p->dropped);
	for (; at < p->dropped.length; at++)
		if (p->dropped.data[at] == '\n')
			p->dropped.data[at] = at + 1 < p->dropped.length ? ',' : ':';
	rd_buf_addf(&p->dropped, " %s\n", why_dropped(t));
}

/* Runs both orders.  If the threads do not both reach their accesses in the first order, the second
 * order is not tried. */
static int run_orders(struct explorer *x, struct item *item, struct trial t[2])
{
	int err = RD_OK;

	t[1] = (struct trial){0};
	for (int i = 0; i < 2 && !err && (i == 0 || t[0].outcome == REPLAY_CONFIRMED); i++) {
		sym_trace_release(&item->traces[i]);
		err = run_order(x, i ? VARIANT_SECOND : VARIANT_FIRST, &item->traces[i], &t[i]);
		note_losses(x->p, &item->traces[i]);
	}
	return err;
}

static bool has_come(const struct trial t[2])
{
	return t[0].counts || t[1].counts;
}

/* Runs both orders with a new input.  With this input, a thread may access the bytes of the race at
 * another place first.  Then its access of the race is not counted, and the threads do not meet.  So the
 * runs are repeated, and every access counts. */
static int lead(struct explorer *x, struct item *item, struct trial t[2])
{
	struct paths *p = x->p;
	int err = run_orders(x, item, t);

	if (err || has_come(t))
		return err;
	p->lead_again(p->context, true);
	return run_orders(x, item, t);
}

/* Tries an input.  If `anyway` is set, the input is analysed even if its path is already known. */
static int try_input(struct explorer *x, const struct rd_override *given, bool anyway)
{
	struct item item = {0};
	struct trial t[2] = {{0}};
	bool is_new = false;
	int err = trial_set_input(x->p->bench, given);

	rd_override_copy(&item.given, given);
	x->tries++;
	if (!err)
		err = lead(x, &item, t);
	if (!err && has_come(t))
		rd_umap_put(&x->seen, branches_hash(item.traces), &is_new);
	else if (!err)
		note_dropped(x->p, given, &t[0]);
	if (!err && has_come(t) && (is_new || anyway))
		err = take_primary(x, &item);
	else
		free_item(&item);
	if (!x->bad)
		x->p->lead_again(x->p->context, false);
	return err;
}

/* ---- flipping branches ---- */

static bool is_over(const struct explorer *x)
{
	const struct paths *p = x->p;

	return x->bad || p->primaries >= p->most || p->bench->runs >= p->last_run ||
	       x->tries >= TRIES_PER_PATH * p->most || p->solver_work > SOLVER_WORK;
}

/* One of the two traces of a primary.  The branches of this trace are flipped. */
struct turning {
	struct explorer *x;
	const struct sym_trace *trace;
	const struct rd_override *given;
	struct sym_solver *solver; /* NULL until it is needed */
	bool *fixed;		   /* by variable: true if it keeps its value */
};

static void note_cost(struct paths *p, struct sym_solver *solver)
{
	struct sym_cost cost = sym_solver_cost(solver);

	p->solver_work += cost.work;
	p->solver_seconds += cost.seconds;
}

static int turn(struct turning *r, uint32_t step)
{
	struct explorer *x = r->x;
	struct contents c = {x->p->bench, r->given};
	uint64_t *values = rd_xcalloc(r->trace->var_count + 1, sizeof *values);
	struct sym_fact *facts = branches_facts(r->trace, step);
	struct rd_override given = {0};
	enum sym_answer answer;
	int err = RD_OK;

	sym_trace_values(r->trace, values);
	answer = sym_solve(r->solver, facts, step + 1, 1, values);
	note_cost(x->p, r->solver);
	x->p->queries++;
	x->p->unknown += answer == SYM_UNKNOWN;
	if (answer == SYM_YES) {
		err = sym_input_make(r->trace, values, r->given, content, &c, &given);
		if (!err && is_new_input(x, &given))
			err = try_input(x, &given, false);
	}
	rd_override_release(&given);
	RD_FREE(values, facts);
	return err;
}

/* Asks the solver for an input that takes both paths and for which the two orders write different
 * outputs, and tries that input.  If there is no such input, the outputs of both orders are equal
 * for all inputs that take these paths. */
static int compare_outputs(struct explorer *x, const struct item *item, const bool *fixed)
{
	struct contents c = {x->p->bench, &item->given};
	struct rd_override given = {0};
	struct sym_join j;
	struct sym_solver *solver = NULL;
	enum sym_answer answer = SYM_NO;
	uint64_t *values;
	int err = RD_OK;

	sym_join(&j, &item->traces[0], &item->traces[1]);
	values = rd_xcalloc(j.trace.var_count + 1, sizeof *values);
	if (j.differs && j.fact_count <= BRANCHES_MOST)
		solver = sym_solver_new(&j.trace, QUESTION_WORK);
	if (solver) {
		sym_solver_fix(solver, fixed);
		sym_trace_values(&j.trace, values);
		answer = sym_solve(solver, j.facts, j.fact_count, 1, values);
		x->p->queries++;
		x->p->unknown += answer == SYM_UNKNOWN;
		note_cost(x->p, solver);
	}
	x->p->equal += answer == SYM_NO && j.complete && (solver || !j.differs);
	RD_ASSERT(x->p->equal <= x->p->primaries);
	if (answer == SYM_YES) {
		err = sym_input_make(&item->traces[0], values, &item->given, content, &c, &given);
		if (!err && is_new_input(x, &given))
			err = try_input(x, &given, true);
	}
	sym_solver_free(solver);
	sym_join_release(&j);
	rd_override_release(&given);
	free(values);
	return err;
}

static bool has_solver(struct turning *r)
{
	if (!r->solver) {
		r->solver = sym_solver_new(r->trace, QUESTION_WORK);
		if (r->solver)
			sym_solver_fix(r->solver, r->fixed);
	}
	r->x->p->no_solver |= !r->solver;
	return r->solver != NULL;
}

static int turn_all(struct explorer *x, const struct item *item)
{
	struct turning r[2];
	struct path_branch *all;
	uint64_t chosen[2];
	size_t count;
	int err = RD_OK;

	for (int k = 0; k < 2; k++) {
		const struct sym_trace *t = &item->traces[k];

		r[k] = (struct turning){x, t, &item->given, NULL, rd_xcalloc(t->var_count + 1, sizeof(bool))};
		chosen[k] = sym_choose(t, &item->traces[!k], x->p->wishes, r[k].fixed);
	}
	all = branches_find(item->traces, chosen, &count);
	x->p->depends |= count != 0 || chosen[0] != 0;
	err = compare_outputs(x, item, r[0].fixed);
	for (size_t i = 0; i < count && !err && !is_over(x); i++) {
		struct turning *one = &r[all[i].trace];
		const struct raddle_shadow_step *s = &one->trace->steps[all[i].step];
		uint64_t *times = rd_umap_put(&x->turned, (uint64_t)s->site << 1 | s->taken, NULL);

		if ((*times)++ < BRANCH_TURNS_MAX && has_solver(one))
			err = turn(one, all[i].step);
	}
	x->p->cut |= count && is_over(x) && !x->bad;
	for (int k = 0; k < 2; k++) {
		sym_solver_free(r[k].solver);
		free(r[k].fixed);
	}
	free(all);
	return err;
}

/* ---- the exploration of all paths ---- */

static int start(struct explorer *x)
{
	struct item first = {0};
	struct trial t;
	int err = trial_set_input(x->p->bench, x->p->base);

	rd_override_copy(&first.given, x->p->base);
	for (int i = 0; i < 2 && !err; i++) {
		err = run_order(x, i ? VARIANT_SECOND : VARIANT_FIRST, &first.traces[i], &t);
		note_losses(x->p, &first.traces[i]);
	}
	if (!err) {
		rd_umap_put(&x->seen, branches_hash(first.traces), NULL);
		branches_describe(&first.traces[0], &x->p->covered);
	}
	x->p->primaries = 1;
	RD_GROW(x->queue, x->capacity, x->count + 1);
	x->queue[x->count++] = first;
	return err;
}

int paths_explore(struct paths *p)
{
	struct explorer x = {.p = p};
	int err;

	p->covered = p->dropped = (struct rd_buf)RD_BUF_INIT;
	err = start(&x);
	while (!err && x.next < x.count && !is_over(&x)) {
		/* a copy, because the queue may be reallocated */
		struct item item = x.queue[x.next++];

		err = turn_all(&x, &item);
	}
	for (size_t i = 0; i < x.count; i++)
		free_item(&x.queue[i]);
	RD_UMAP_RELEASE(&x.turned, &x.seen);
	rd_names_release(&x.tried);
	free(x.queue);
	return err;
}

void paths_release(struct paths *p)
{
	rd_buf_release(&p->covered);
	rd_buf_release(&p->dropped);
}
