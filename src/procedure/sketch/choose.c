// SPDX-License-Identifier: Apache-2.0
/* Decides about the next runs of a diagnosis (sketch/choose-int.h). */
#include "sketch/choose-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIGMA 2 /* number of statements: the failing one and the one before it */
/* Minimum F-measure of a predictor that ends the search.  About one run in twenty may contradict
 * such a predictor. */
#define GOOD_F 0.95
/* Minimum F-measure of a further order that is worth an intervention.  The best order is always
 * tried. */
#define WORTH_F 0.4

/* ---- runs ---- */

struct choose_counts choose_count(const struct sketch_runs *runs, const char *signature)
{
	struct choose_counts c = {0};

	for (size_t i = 0; i < runs->count; i++) {
		c.passing += runs->items[i].outcome == SKETCH_PASSED;
		c.failing += runs->items[i].signature && !strcmp(runs->items[i].signature, signature);
	}
	RD_ASSERT(c.failing + c.passing <= runs->count);
	return c;
}

bool choose_has_enough(const struct sketch_runs *runs, const char *signature, size_t enough)
{
	struct choose_counts c = choose_count(runs, signature);

	return c.failing >= enough &&
	       (c.passing >= CHOOSE_PASSING || (!c.passing && runs->count >= CHOOSE_ALL_ALIKE));
}

bool choose_is_needless(const struct sketch_runs *runs, const char *signature, size_t enough)
{
	struct choose_counts c = choose_count(runs, signature);

	return c.failing > enough && runs->items[runs->count - 1].signature && c.passing;
}

/* ---- statements ---- */

void choose_count_back(struct sketch_runs *runs, const char *signature)
{
	unsigned char *seen = rd_xcalloc(runs->statement_count + 1, 1);

	for (size_t i = 0; i < runs->statement_count; i++)
		runs->statements[i].distance = UINT32_MAX;
	for (size_t i = 0; i < runs->count; i++) {
		const struct sketch_run *run = &runs->items[i];
		uint32_t distance = 0;

		if (!run->signature || strcmp(run->signature, signature) != 0)
			continue;
		memset(seen, 0, runs->statement_count);
		for (size_t k = run->count; k-- > 0;) {
			struct slice_statement *s = &runs->statements[run->events[k].statement];

			if (seen[run->events[k].statement]++)
				continue;
			if (distance < s->distance)
				s->distance = distance;
			distance++;
		}
	}
	free(seen);
}

void choose_bring_locks_near(struct sketch_runs *runs)
{
	for (size_t i = 0; i < runs->statement_count; i++) {
		struct slice_statement *s = &runs->statements[i];

		if (s->kind == SLICE_SYNC && s->role != SLICE_NEUTRAL && s->distance > 1)
			s->distance = 1;
	}
}

static bool is_near(const struct sketch_runs *runs, const struct sketch_event *e, uint32_t sigma)
{
	return runs->statements[e->statement].distance < sigma;
}

/* Copies the runs, but only those events that would be seen if the first `sigma` statements were
 * tracked.  These are the events of these statements, and other events that touch the same memory.
 * The statements are borrowed. */
static void make_near(const struct sketch_runs *runs, uint32_t sigma, struct sketch_runs *near)
{
	*near = (struct sketch_runs){.statements = runs->statements,
				     .statement_count = runs->statement_count};
	for (size_t i = 0; i < runs->count; i++) {
		const struct sketch_run *from = &runs->items[i];
		struct sketch_run *to = sketch_run_add(near);
		struct rd_umap touched = RD_UMAP_INIT;

		*to = *from;
		to->events = NULL;
		to->count = to->capacity = 0;
		for (size_t k = 0; k < from->count; k++)
			if (is_near(runs, &from->events[k], sigma) && from->events[k].address)
				rd_umap_put(&touched, from->events[k].address, NULL);
		for (size_t k = 0; k < from->count; k++)
			if (is_near(runs, &from->events[k], sigma) ||
			    rd_umap_get(&touched, from->events[k].address))
				sketch_event_add(to, &from->events[k]);
		rd_umap_release(&touched);
	}
}

static void release_near(struct sketch_runs *near)
{
	for (size_t i = 0; i < near->count; i++)
		free(near->items[i].events);
	free(near->items);
	*near = (struct sketch_runs){0};
}

static uint32_t farthest(const struct sketch_runs *runs)
{
	uint32_t most = 0;

	for (size_t i = 0; i < runs->statement_count; i++)
		if (runs->statements[i].distance != UINT32_MAX && runs->statements[i].distance > most)
			most = runs->statements[i].distance;
	return most;
}

/* ---- predictors ---- */

bool choose_is_good(const struct sketch_predictors *p)
{
	return p->count && p->items[0].f >= GOOD_F && p->items[0].passing < p->items[0].all_passing;
}

bool choose_is_symptom(const struct sketch_predictors *p)
{
	return choose_is_good(p) && p->items[0].type == SKETCH_VALUE;
}

static void predict_at(const struct sketch_runs *runs, const char *signature, uint32_t sigma,
		       struct sketch_predictors *p)
{
	struct sketch_runs near;

	sketch_predictors_release(p);
	make_near(runs, sigma, &near);
	sketch_predict(&near, signature, p);
	release_near(&near);
}

/* A value at the failing statement is more often a symptom than a cause, so it is used only if no
 * order is a good predictor. */
uint32_t choose_predict(const struct sketch_runs *runs, const char *signature, struct sketch_predictors *p)
{
	uint32_t sigma = FIRST_SIGMA, all = farthest(runs) + 1, first = 0;

	for (;; sigma *= 2) {
		predict_at(runs, signature, sigma, p);
		if (choose_is_good(p) && !first)
			first = sigma;
		if (sigma >= all || (choose_is_good(p) && p->items[0].type == SKETCH_ORDER))
			break;
	}
	if (first && !(choose_is_good(p) && p->items[0].type == SKETCH_ORDER))
		predict_at(runs, signature, sigma = first, p);
	return sigma;
}

/* ---- the unscheduled program ---- */

struct choose_track choose_track_begin(void)
{
	return (struct choose_track){.sigma = FIRST_SIGMA};
}

/* After a predictor was found, CHOOSE_PLAIN_MORE further failing runs are enough.  If that would
 * make more than CHOOSE_FAILING failing runs in all, one is enough. */
size_t choose_track_enough(const struct choose_track *t)
{
	if (!t->near)
		return CHOOSE_PLAIN_FEW;
	return t->before + CHOOSE_PLAIN_MORE <= CHOOSE_FAILING ? CHOOSE_PLAIN_MORE : 1;
}

bool choose_track_runs(uint64_t n, size_t failing)
{
	return n < CHOOSE_PLAIN_MOST && (failing || n < CHOOSE_PLAIN_NONE);
}

bool choose_track_delays(struct choose_track *t, struct choose_counts c)
{
	bool again = !c.failing && !t->delays;

	t->delays |= again;
	return again;
}

bool choose_track_says(struct choose_counts c)
{
	return c.failing && c.passing >= CHOOSE_PLAIN_FEW;
}

/* If the best predictor is only a value, the slice is tracked once more, up to CHOOSE_PLAIN_WHOLE
 * statements, to find the origin of the value. */
bool choose_track_next(struct choose_track *t, struct choose_counts c, const struct sketch_predictors *p,
		       uint32_t all)
{
	RD_ASSERT(t->sigma >= FIRST_SIGMA);
	t->found = choose_is_good(p) && c.failing >= choose_track_enough(t);
	if (t->near || (t->found && !choose_is_symptom(p)) || t->sigma >= all) {
		t->near = t->near ? t->near : t->sigma;
		return false;
	}
	t->before += c.failing;
	if (t->found) {
		t->near = t->sigma;
		t->sigma = (all < CHOOSE_PLAIN_WHOLE ? all : CHOOSE_PLAIN_WHOLE) / 2 + 1;
	}
	t->sigma *= 2;
	return true;
}

/* ---- interventions ---- */

/* Returns the best order that was not tried yet, or NULL.  If a cause is already known, considers
 * only orders that are at least as good as the cause and came true before it, because an order that
 * leads to a cause is the real cause.  Of these orders, returns the one that came true first. */
static struct sketch_predictor *best_order(struct sketch_predictors *p, const struct sketch_predictor *cause,
					   const bool *tried)
{
	struct sketch_predictor *next = NULL;

	for (size_t i = 0; i < p->count; i++) {
		struct sketch_predictor *now = &p->items[i];

		if (now->type != SKETCH_ORDER || tried[i])
			continue;
		if (!cause)
			return now;
		if (now->f >= cause->f && now->bound >= cause->bound &&
		    now->when < (next ? next : cause)->when)
			next = now;
	}
	return next;
}

struct sketch_predictor *choose_order(struct sketch_predictors *p, const struct sketch_predictor *cause,
				      const bool *tried, unsigned count)
{
	struct sketch_predictor *next = count < CHOOSE_INTERVENTIONS ? best_order(p, cause, tried) : NULL;

	RD_ASSERT(!next || (next->type == SKETCH_ORDER && next->count >= 2));
	return next && (!count || next->f >= WORTH_F) ? next : NULL;
}

/* Returns true if two statements of different tables are the same, judging by their lines and
 * roles. */
static bool is_same_place(const struct slice_statement *a, const struct slice_statement *b)
{
	return a->line == b->line && a->role == b->role &&
	       !strcmp(rd_base_name(a->file), rd_base_name(b->file));
}

/* Returns true if the last run of `runs` shows the order `p`.  The statements of `p` before index
 * `which` are already indices into runs->statements.  The others are still indices into
 * of->statements; this function looks for their counterparts in `runs`. */
static bool has_order_from(const struct sketch_runs *runs, const struct sketch_runs *of,
			   struct sketch_predictor *p, size_t which)
{
	uint32_t wanted;
	size_t at[3];

	RD_ASSERT(which <= p->count);
	if (which == p->count)
		return sketch_predictor_at(runs, &runs->items[runs->count - 1], p, at);
	wanted = p->statements[which];
	for (uint32_t i = 0; i < runs->statement_count; i++) {
		if (!is_same_place(&runs->statements[i], &of->statements[wanted]))
			continue;
		p->statements[which] = i;
		if (has_order_from(runs, of, p, which + 1))
			return true;
	}
	p->statements[which] = wanted;
	return false;
}

bool choose_has_order(const struct sketch_runs *runs, const struct sketch_runs *of,
		      const struct sketch_predictor *order)
{
	struct sketch_predictor p = *order;

	RD_ASSERT(runs->count > 0 && order->count <= 3);
	return has_order_from(runs, of, &p, 0);
}
