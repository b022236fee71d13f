// SPDX-License-Identifier: Apache-2.0
/*
 * Failure predictors.  In: runs, each an ordered list of events.  Out: predicates, the numbers of
 * failing and passing runs in which each is true, and their measures.
 *
 * The events of a run are visited once.  Each access is linked to the previous access to the same
 * address, and completes patterns together with the accesses before it.
 * test/unit/u-sketch-predictor.c implements the definitions as loops over all pairs and triples of
 * events, and checks that they find the same predicates.
 */
#include "sketch/predictor.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weight of the F-measure: precision counts twice as much as recall (doc/design/sketch.md). */
#define BETA 0.5
#define NO_EVENT SIZE_MAX
/* One run in EXCEPTION_IN may contradict a confirmed order (doc/design/sketch.md). */
#define EXCEPTION_IN 20
/* Larger 8-byte values are taken for pointers or hashes, and are not compared. */
#define SMALL (1u << 16)

/* ---- visiting the events of a run ---- */

/* A predicate that is true in a run, and the events that make it true. */
struct match {
	struct sketch_predictor what; /* only type, pattern, statements and value are set */
	size_t at[3];
};
typedef void match_fn(void *context, const struct match *m);

struct walk {
	const struct sketch_runs *runs;
	const struct sketch_run *run;
	match_fn *found;
	void *context;
	size_t *before; /* by event: the previous access to the same address */
};

static enum slice_role role_of(const struct walk *w, size_t at)
{
	return w->runs->statements[w->run->events[at].statement].role;
}

static bool is_access(enum slice_role role)
{
	return role == SLICE_READS || role == SLICE_WRITES;
}

static bool is_large(const struct sketch_event *e)
{
	int64_t value = (int64_t)e->value;

	return e->size == 8 && (value > (int64_t)SMALL || value < -(int64_t)SMALL);
}

static void found_order(const struct walk *w, enum sketch_pattern pattern, const size_t *at, size_t count)
{
	struct match m = {.what = {.type = SKETCH_ORDER, .pattern = pattern, .count = count}};

	RD_ASSERT(count == 2 || count == 3);
	for (size_t i = 0; i < count; i++) {
		RD_ASSERT(at[i] < w->run->count);
		m.at[i] = at[i];
		m.what.statements[i] = w->run->events[at[i]].statement;
	}
	w->found(w->context, &m);
}

static void found_value(const struct walk *w, size_t at, enum sketch_type type, enum sketch_pattern pattern,
			uint64_t value)
{
	struct match m = {.what = {.type = type, .pattern = pattern, .count = 1, .value = value}, .at = {at}};

	m.what.statements[0] = w->run->events[at].statement;
	w->found(w->context, &m);
}

/* ---- values and branches ---- */

static void look_at_value(const struct walk *w, size_t at)
{
	const struct sketch_event *e = &w->run->events[at];
	enum slice_kind kind = w->runs->statements[e->statement].kind;

	if (kind == SLICE_BRANCH) {
		found_value(w, at, SKETCH_BRANCHES, SKETCH_TAKES, e->value);
		return;
	}
	if (!e->size || kind == SLICE_SYNC)
		return;
	if (!is_large(e))
		found_value(w, at, SKETCH_VALUE, SKETCH_EQUALS, e->value);
	if (e->value && e->size == 8)
		found_value(w, at, SKETCH_VALUE, SKETCH_DIFFERS, 0);
}

/* ---- orders ---- */

static int triple_of(enum slice_role a, enum slice_role b, enum slice_role c)
{
	static const int table[2][2][2] = {
		/* Indexed by which of the accesses write. */
		{{-1, -1}, {SKETCH_RWR, SKETCH_RWW}},
		{{-1, SKETCH_WRW}, {SKETCH_WWR, -1}},
	};

	return table[a == SLICE_WRITES][b == SLICE_WRITES][c == SLICE_WRITES];
}

/* Finds pairs of accesses by different threads.  The second access is event `at`.  The first is the
 * last write to the address before it, or a read since that write. */
static void look_at_pairs(const struct walk *w, size_t at, size_t last)
{
	const struct sketch_event *events = w->run->events;
	bool writes = role_of(w, at) == SLICE_WRITES;

	for (size_t i = last; i != NO_EVENT; i = w->before[i]) {
		bool wrote = role_of(w, i) == SLICE_WRITES;

		if (events[i].thread != events[at].thread && (wrote || writes))
			found_order(w, wrote ? writes ? SKETCH_WW : SKETCH_WR : SKETCH_RW, (size_t[]){i, at},
				    2);
		if (wrote)
			return;
	}
}

/* Finds triples of accesses: two consecutive accesses by one thread, and an access by another
 * thread between them. */
static void look_at_triples(const struct walk *w, size_t at, size_t last)
{
	const struct sketch_event *events = w->run->events;
	size_t first = last;

	while (first != NO_EVENT && events[first].thread != events[at].thread)
		first = w->before[first];
	if (first == NO_EVENT)
		return;
	for (size_t i = last; i != first; i = w->before[i]) {
		int pattern = triple_of(role_of(w, first), role_of(w, i), role_of(w, at));

		if (pattern >= 0)
			found_order(w, (enum sketch_pattern)pattern, (size_t[]){first, i, at}, 3);
	}
}

/* Finds pairs of statements such that the last read of the first came before the last write of the
 * second.  The first statement then never read the final value.  For each address, this function
 * makes a chain, in the order of time, that contains only the last event of each statement.  It
 * stores the links of these chains in `before`. */
static void look_at_last(const struct walk *w)
{
	const struct sketch_event *events = w->run->events;
	struct rd_pmap seen = {0}; /* pairs of an address and a statement */
	/* Maps an address to 1 + the index of the first event in the chain of this address. */
	struct rd_umap heads = RD_UMAP_INIT;
	bool fresh;

	for (size_t i = w->run->count; i-- > 0;) {
		if (!is_access(role_of(w, i)))
			continue;
		rd_pmap_put(&seen, events[i].address, events[i].statement, &fresh);
		if (!fresh)
			continue;
		uint64_t *head = rd_umap_put(&heads, events[i].address, NULL);
		w->before[i] = *head ? (size_t)*head - 1 : NO_EVENT;
		*head = i + 1;
		for (size_t k = w->before[i]; k != NO_EVENT && role_of(w, i) == SLICE_READS; k = w->before[k])
			if (role_of(w, k) == SLICE_WRITES && events[k].thread != events[i].thread)
				found_order(w, SKETCH_RW_LAST, (size_t[]){i, k}, 2);
	}
	rd_pmap_release(&seen);
	rd_umap_release(&heads);
}

/* ---- locks ---- */

/* Returns true if the thread releases the lock between the two events. */
static bool releases(const struct walk *w, size_t from, size_t to)
{
	const struct sketch_event *e = &w->run->events[from];

	for (size_t i = from + 1; i < to; i++)
		if (w->run->events[i].thread == e->thread && w->run->events[i].address == e->address &&
		    role_of(w, i) == SLICE_RELEASES)
			return true;
	return false;
}

/* Returns the last event before `at` in which the same thread acquired a different lock that it has
 * not released since, or NO_EVENT if there is none. */
static size_t held_by(const struct walk *w, size_t at)
{
	const struct sketch_event *events = w->run->events;

	for (size_t i = at; i-- > 0;)
		if (events[i].thread == events[at].thread && role_of(w, i) == SLICE_ACQUIRES &&
		    events[i].address != events[at].address && !releases(w, i, at))
			return i;
	return NO_EVENT;
}

/* Returns the last event between `holds` and `at` in which the thread of `holds` tried to take the
 * lock that event `first` took, or NO_EVENT if there is none. */
static size_t wanted_by(const struct walk *w, size_t holds, size_t first, size_t at)
{
	const struct sketch_event *events = w->run->events;

	for (size_t i = at; i-- > holds + 1;)
		if (events[i].thread == events[holds].thread && events[i].address == events[first].address &&
		    role_of(w, i) == SLICE_ACQUIRES)
			return i;
	return NO_EVENT;
}

/* Finds lock cycles that event `at` completes.  At this event, a thread that holds one lock tries
 * to acquire a second lock, which another thread acquired in the meantime and still holds.  If the
 * other thread also waits for the first lock, both orders are found, whichever thread came
 * first. */
static void look_at_locks(const struct walk *w, size_t at)
{
	const struct sketch_event *events = w->run->events;
	size_t first = held_by(w, at);

	for (size_t i = at; i-- > 0 && first != NO_EVENT;) {
		if (events[i].thread == events[at].thread || events[i].address != events[at].address ||
		    role_of(w, i) != SLICE_ACQUIRES || releases(w, i, at))
			continue;
		size_t wanted = wanted_by(w, i, first, at);
		if (i > first || (wanted != NO_EVENT && wanted > first))
			found_order(w, SKETCH_HOLD, (size_t[]){first, i, at}, 3);
		if (wanted != NO_EVENT && wanted > first)
			found_order(w, SKETCH_HOLD, (size_t[]){i, first, wanted}, 3);
	}
}

static void walk(struct walk *w)
{
	/* Maps an address to 1 + the index of the event that last accessed it. */
	struct rd_umap last = RD_UMAP_INIT;

	w->before = rd_xcalloc(w->run->count + 1, sizeof *w->before);
	for (size_t i = 0; i < w->run->count; i++) {
		look_at_value(w, i);
		if (role_of(w, i) == SLICE_ACQUIRES)
			look_at_locks(w, i);
		if (!is_access(role_of(w, i)))
			continue;
		uint64_t *slot = rd_umap_put(&last, w->run->events[i].address, NULL);
		w->before[i] = *slot ? (size_t)*slot - 1 : NO_EVENT;
		look_at_pairs(w, i, w->before[i]);
		look_at_triples(w, i, w->before[i]);
		*slot = i + 1;
	}
	if (!w->run->cut)
		look_at_last(w);
	rd_umap_release(&last);
	free(w->before);
}

/* ---- counting ---- */

struct tally {
	struct sketch_predictors *out;
	struct rd_names keys;
	size_t *seen; /* by predicate: 1 + the last run in which it was true */
	size_t seen_capacity;
	size_t run;
	bool fails;
};

static struct sketch_predictor *entry(struct tally *t, const struct sketch_predictor *p, size_t *number)
{
	char key[128];
	int length = snprintf(key, sizeof key, "%d %u %u %u %zu %llx", p->pattern, p->statements[0],
			      p->statements[1], p->statements[2], p->count, (unsigned long long)p->value);

	RD_ASSERT(length > 0 && (size_t)length < sizeof key);
	*number = rd_names_put(&t->keys, key, (size_t)length);
	RD_ASSERT(*number <= t->out->count);
	if (*number == t->out->count) {
		RD_GROW(t->out->items, t->out->capacity, t->out->count + 1);
		RD_GROW(t->seen, t->seen_capacity, t->out->count + 1);
		t->out->items[t->out->count] = *p;
		t->seen[t->out->count++] = 0;
	}
	return &t->out->items[*number];
}

static void count(struct tally *t, const struct sketch_predictor *what)
{
	size_t number;
	struct sketch_predictor *p = entry(t, what, &number);

	if (t->seen[number] == t->run + 1)
		return;
	t->seen[number] = t->run + 1;
	if (t->fails)
		p->failing++;
	else
		p->passing++;
}

static void count_match(void *context, const struct match *m)
{
	count(context, &m->what);
}

/* Returns the first event of statement `read` that came too early: before it, no other thread had
 * executed statement `write` with the same address.  Returns NO_EVENT if there is no such event. */
static size_t too_early(const struct sketch_run *run, uint32_t read, uint32_t write)
{
	for (size_t i = 0; i < run->count; i++) {
		bool came = false;

		if (run->events[i].statement != read)
			continue;
		for (size_t k = 0; k < i && !came; k++)
			came = run->events[k].statement == write &&
			       run->events[k].address == run->events[i].address &&
			       run->events[k].thread != run->events[i].thread;
		return came ? NO_EVENT : i;
	}
	return NO_EVENT;
}

static bool has(const struct sketch_run *run, uint32_t statement)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->events[i].statement == statement)
			return true;
	return false;
}

/* Returns true if the run failed after a read that came too early, so that the write of the order
 * did not happen.  The run nevertheless has the order "read before write" (RW). */
static bool is_cut_short(const struct sketch_run *run, const struct sketch_predictor *order, size_t *at)
{
	if (order->pattern != SKETCH_WR || run->cut || run->outcome == SKETCH_PASSED ||
	    run->outcome == SKETCH_EXIT || run->outcome == SKETCH_OUTPUT || has(run, order->statements[0]))
		return false;
	*at = too_early(run, order->statements[1], order->statements[0]);
	return *at != NO_EVENT;
}

static struct sketch_predictor turned(const struct sketch_predictor *p)
{
	return (struct sketch_predictor){.type = SKETCH_ORDER,
					 .pattern = SKETCH_RW,
					 .count = 2,
					 .statements = {p->statements[1], p->statements[0]}};
}

static void count_cut_short(struct tally *t, const struct sketch_run *run, size_t known)
{
	size_t at;

	for (size_t i = 0; i < known; i++)
		if (is_cut_short(run, &t->out->items[i], &at)) {
			struct sketch_predictor p = turned(&t->out->items[i]);

			count(t, &p);
		}
}

/* Returns the last event of a branch that never takes the direction `way` in the run.  Returns
 * NO_EVENT if the run does not reach the branch, or if the branch does take that direction.
 */
static size_t never_takes(const struct sketch_run *run, uint32_t branch, uint64_t way)
{
	size_t last = NO_EVENT;

	for (size_t i = 0; i < run->count; i++) {
		if (run->events[i].statement != branch)
			continue;
		if (run->events[i].value == way)
			return NO_EVENT;
		last = i;
	}
	return last;
}

static void count_never(struct tally *t, const struct sketch_runs *runs, const struct sketch_run *run,
			size_t known)
{
	struct rd_umap met = RD_UMAP_INIT; /* set of the branches that the run reached */
	struct rd_pmap ways = {0};

	for (size_t i = 0; i < run->count && !run->cut; i++)
		if (runs->statements[run->events[i].statement].kind == SLICE_BRANCH) {
			rd_umap_put(&met, run->events[i].statement, NULL);
			rd_pmap_put(&ways, run->events[i].statement, run->events[i].value, NULL);
		}
	for (size_t i = 0; i < known; i++) {
		struct sketch_predictor p = t->out->items[i];

		if (p.pattern != SKETCH_TAKES || !rd_umap_get(&met, p.statements[0]) ||
		    rd_pmap_get(&ways, p.statements[0], p.value))
			continue;
		p.pattern = SKETCH_NEVER;
		p.failing = p.passing = 0;
		count(t, &p);
	}
	rd_umap_release(&met);
	rd_pmap_release(&ways);
}

/* Returns true if the run takes part in the comparison. */
static bool counts(const struct sketch_run *run, const char *signature)
{
	return run->outcome == SKETCH_PASSED || (run->signature && !strcmp(run->signature, signature));
}

/* ---- measures ---- */

/* Returns the lower bound of Wilson's score interval at 95 %. */
static double lower_bound(double part, double whole)
{
	const double z = 1.96;
	double p;

	if (whole <= 0)
		return 0;
	p = part / whole;
	return (p + z * z / (2 * whole) - z * sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))) /
	       (1 + z * z / whole);
}

void sketch_measure(struct sketch_predictor *p)
{
	double told = (double)(p->failing + p->passing);

	p->precision = told > 0 ? (double)p->failing / told : 0;
	p->recall = p->all_failing ? (double)p->failing / (double)p->all_failing : 0;
	p->f = p->precision + p->recall > 0 ? (1 + BETA * BETA) * p->precision * p->recall /
						      (BETA * BETA * p->precision + p->recall)
					    : 0;
	p->bound = lower_bound((double)p->failing, told);
	RD_ASSERT(p->precision <= 1 && p->recall <= 1 && p->f <= 1 && p->bound <= 1);
}

static uint32_t nearest(const struct sketch_runs *runs, const struct sketch_predictor *p)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < p->count; i++)
		if (runs->statements[p->statements[i]].distance < least)
			least = runs->statements[p->statements[i]].distance;
	return least;
}

/* ---- ranking ---- */

bool sketch_is_confirmed(const struct sketch_predictor *p)
{
	RD_ASSERT(p->forced.failed <= p->forced.runs && p->prevented.failed <= p->prevented.runs);
	return p->forced.runs && p->prevented.runs &&
	       (p->forced.runs - p->forced.failed) * EXCEPTION_IN <= p->forced.runs &&
	       p->prevented.failed * EXCEPTION_IN <= p->prevented.runs;
}

/* Returns what interventions showed about a predictor: 2 if it is a cause, 1 if it was not tried, 0
 * if it is not a cause. */
static int standing(const struct sketch_predictor *p)
{
	if (!p->forced.runs || !p->prevented.runs)
		return 1;
	return sketch_is_confirmed(p) ? 2 : 0;
}

static int by_number(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare(const void *a, const void *b)
{
	const struct sketch_predictor *p = a, *q = b;
	int order = standing(q) - standing(p);

	if (!order)
		order = by_number(p->f, q->f);
	if (!order)
		order = by_number(p->bound, q->bound);
	if (!order)
		order = (int)p->type - (int)q->type;
	if (!order && sketch_is_confirmed(p))
		order = (p->when > q->when) - (p->when < q->when);
	if (!order)
		order = (p->distance > q->distance) - (p->distance < q->distance);
	if (!order)
		order = (int)p->count - (int)q->count;
	if (!order)
		order = (int)p->pattern - (int)q->pattern;
	for (size_t i = 0; i < 3 && !order; i++)
		order = (p->statements[i] > q->statements[i]) - (p->statements[i] < q->statements[i]);
	return order ? order : (p->value > q->value) - (p->value < q->value);
}

void sketch_predictors_sort(struct sketch_predictors *p)
{
	if (p->count)
		qsort(p->items, p->count, sizeof *p->items, compare);
}

/* Returns true if the predicate distinguishes failing from passing runs, that is, if it is true in
 * a larger share of the failing runs than of the passing ones.  If there are no passing runs, all
 * predicates are kept. */
static bool tells_apart(const struct sketch_predictor *p)
{
	return !p->all_passing || p->failing * p->all_passing > p->passing * p->all_failing;
}

static bool says_as_much(const struct sketch_predictor *p, const struct sketch_predictor *than)
{
	return p->failing >= than->failing && p->passing <= than->passing;
}

/* Returns true if a simpler predicate is as good as this one.  For "the last read came before the
 * last write", the simpler one is "a read came before a write"; `pairs` maps the two statements to
 * it.  For "the branch never took this direction", it is "the branch took another direction". */
static bool is_needless(const struct sketch_predictors *p, const struct sketch_predictor *now,
			const struct rd_pmap *pairs)
{
	const uint64_t *pair = now->pattern == SKETCH_RW_LAST
				       ? rd_pmap_get(pairs, now->statements[0], now->statements[1])
				       : NULL;

	for (size_t i = 0; i < p->count && now->pattern == SKETCH_NEVER; i++)
		if (p->items[i].pattern == SKETCH_TAKES && p->items[i].statements[0] == now->statements[0] &&
		    says_as_much(&p->items[i], now))
			return true;
	return pair && says_as_much(&p->items[*pair], now);
}

static void drop_needless(struct sketch_predictors *p)
{
	struct sketch_predictors all = *p;
	struct rd_pmap pairs = {0};

	*p = (struct sketch_predictors){0};
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i].pattern == SKETCH_RW)
			*rd_pmap_put(&pairs, all.items[i].statements[0], all.items[i].statements[1], NULL) =
				i;
	for (size_t i = 0; i < all.count; i++) {
		if (is_needless(&all, &all.items[i], &pairs))
			continue;
		RD_GROW(p->items, p->capacity, p->count + 1);
		p->items[p->count++] = all.items[i];
	}
	rd_pmap_release(&pairs);
	free(all.items);
}

static void finish(const struct sketch_runs *runs, struct sketch_predictors *p, size_t failing,
		   size_t passing)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->count; i++) {
		struct sketch_predictor *now = &p->items[i];

		RD_ASSERT(now->failing <= failing && now->passing <= passing);
		now->all_failing = failing;
		now->all_passing = passing;
		if (!now->failing || !tells_apart(now))
			continue;
		now->distance = nearest(runs, now);
		now->when = SIZE_MAX;
		sketch_measure(now);
		p->items[kept++] = *now;
	}
	p->count = kept;
	drop_needless(p);
	sketch_predictors_sort(p);
}

void sketch_predict(const struct sketch_runs *runs, const char *signature, struct sketch_predictors *out)
{
	struct tally t = {.out = out, .keys = RD_NAMES_INIT};
	size_t failing = 0, passing = 0, known;

	*out = (struct sketch_predictors){0};
	for (size_t pass = 0; pass < 2; pass++) {
		known = out->count;
		for (t.run = 0; t.run < runs->count; t.run++) {
			const struct sketch_run *run = &runs->items[t.run];
			struct walk w = {.runs = runs, .run = run, .found = count_match, .context = &t};

			if (!counts(run, signature))
				continue;
			t.fails = run->outcome != SKETCH_PASSED;
			if (pass) {
				count_cut_short(&t, run, known);
				count_never(&t, runs, run, known);
				continue;
			}
			walk(&w);
			failing += t.fails;
			passing += !t.fails;
		}
	}
	finish(runs, out, failing, passing);
	rd_names_release(&t.keys);
	free(t.seen);
}

void sketch_predictors_release(struct sketch_predictors *p)
{
	free(p->items);
	*p = (struct sketch_predictors){0};
}

/* ---- asking ---- */

const struct sketch_predictor *sketch_best(const struct sketch_predictors *p, enum sketch_type type)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].type == type)
			return &p->items[i];
	return NULL;
}

struct finder {
	const struct sketch_predictor *wanted;
	size_t *at;
	bool found;
};

static void find_match(void *context, const struct match *m)
{
	struct finder *f = context;

	if (m->what.type != f->wanted->type || m->what.pattern != f->wanted->pattern ||
	    m->what.value != f->wanted->value ||
	    memcmp(m->what.statements, f->wanted->statements, sizeof m->what.statements) != 0)
		return;
	memcpy(f->at, m->at, sizeof m->at);
	f->found = true;
}

bool sketch_predictor_at(const struct sketch_runs *runs, const struct sketch_run *run,
			 const struct sketch_predictor *p, size_t at[3])
{
	struct finder f = {p, at, false};
	struct walk w = {.runs = runs, .run = run, .found = find_match, .context = &f};
	struct sketch_predictor other = {.pattern = SKETCH_WR,
					 .statements = {p->statements[1], p->statements[0]}};

	at[0] = at[1] = at[2] = NO_EVENT;
	if (p->pattern == SKETCH_NEVER) {
		at[0] = never_takes(run, p->statements[0], p->value);
		return at[0] != NO_EVENT;
	}
	walk(&w);
	if (!f.found && p->pattern == SKETCH_RW)
		return is_cut_short(run, &other, &at[0]);
	return f.found;
}

static size_t came_true(const struct sketch_runs *runs, const struct sketch_run *run,
			const struct sketch_predictor *p)
{
	size_t at[3], when = 0;

	if (!sketch_predictor_at(runs, run, p, at))
		return SIZE_MAX;
	for (size_t i = 0; i < p->count; i++)
		if (at[i] != NO_EVENT && at[i] > when)
			when = at[i];
	RD_ASSERT(when < run->count);
	return when;
}

void sketch_predictors_time(const struct sketch_runs *runs, const char *signature,
			    struct sketch_predictors *p, size_t count)
{
	for (size_t i = 0; i < runs->count; i++) {
		const struct sketch_run *run = &runs->items[i];
		bool all = true;

		if (run->outcome == SKETCH_PASSED || !counts(run, signature))
			continue;
		for (size_t k = 0; k < p->count && k < count; k++) {
			p->items[k].when = came_true(runs, run, &p->items[k]);
			all &= p->items[k].when != SIZE_MAX;
		}
		if (all)
			return;
	}
}

const char *sketch_type_name(enum sketch_type type)
{
	static const char *const names[] = {"order", "value", "branch"};

	RD_ASSERT(type < sizeof names / sizeof *names);
	return names[type];
}

const char *sketch_pattern_name(enum sketch_pattern pattern)
{
	static const char *const names[SKETCH_PATTERNS] = {
		"RWR", "WWR",	  "RWW", "WRW", "WW",	  "WR",	  "RW",
		"LLL", "RW-last", "==",	 "!=",	"branch", "never"};

	RD_ASSERT(pattern < SKETCH_PATTERNS);
	return names[pattern];
}
