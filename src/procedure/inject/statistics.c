// SPDX-License-Identifier: Apache-2.0
/*
 * Counts runs, in three passes.  The first finds the groups and the number of runs in each stratum.
 * The second counts each run in the overall group, in the group of its kind of fault, and for its
 * function, line, variable and opcode.  The last turns counts into rates.
 *
 * A rate needs four sums: hits, runs, and the weights and squared weights of the runs.  Without
 * strata all weights are 1, and the effective size is the number of runs.
 */
#include "inject/statistics.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/name.h"
#include "inject/interval-int.h"
#include "inject/place-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.95 /* confidence level; the usual one */

/* The faults of the TraceSanitizer paper come first, in its order. */
static const char *const known_faults[] = {"BitFlip", "FileSize", "MallSize", "CallCorr", "InvalPtr"};

struct tally {
	uint64_t hits, runs;
	double hit_weight, weight, square;
};

/* The tallies of a group, from which its rates are computed. */
struct sums {
	struct tally outcome[RUNLOG_OUTCOMES], mpfnr[RUNLOG_OUTCOMES], shown[RUNLOG_OUTCOMES], coverage, harm;
};

struct size {
	uint64_t runs;
	double population;
};

struct work {
	struct campaign_statistics *s;
	/* Numbers the kinds of fault; the group of a kind is 1 + its number. */
	struct rd_names faults;
	struct rd_names strata; /* numbers the strata, named "fault\nstratum" */
	struct size *stratum;
	size_t stratum_count, stratum_capacity;
	struct size *stratified; /* by kind: number of its runs with strata, and their population */
	struct sums *sums;
	struct rd_names places[CAMPAIGN_BYS];
	size_t place_capacity[CAMPAIGN_BYS];
	struct rd_buf text;
};

uint64_t campaign_group_count(const struct campaign_group *g, enum runlog_outcome outcome)
{
	uint64_t n = 0;

	for (size_t i = 0; i < RUNLOG_DEVIATIONS; i++)
		n += g->count[outcome][i];
	return n;
}

static bool is_harm(const struct runlog_run *run)
{
	return run->outcome == RUNLOG_CRASH || run->outcome == RUNLOG_HANG || run->outcome == RUNLOG_SDC;
}

const char *campaign_measure_name(unsigned measure)
{
	return measure == CAMPAIGN_HARM	      ? "harm"
	       : measure == CAMPAIGN_COVERAGE ? "coverage"
					      : runlog_outcome_name(measure);
}

const char *campaign_by_name(enum campaign_by by)
{
	RD_ASSERT(by < CAMPAIGN_BYS);
	static const char *const names[CAMPAIGN_BYS] = {"function", "line", "variable", "opcode"};

	return names[by];
}

/* ---- groups and strata ---- */

static const char *keep(struct rd_names *texts, const char *text)
{
	uint32_t number = rd_names_put(texts, text, strlen(text));

	return texts->items[number];
}

static bool is_stratified(const struct runlog_run *run)
{
	return run->stratum && run->population;
}

static uint32_t stratum_of(struct work *w, const struct runlog_run *run)
{
	rd_buf_clear(&w->text);
	rd_buf_addf(&w->text, "%s\n%s", run->fault, run->stratum);
	return rd_names_put(&w->strata, w->text.data, w->text.length);
}

static void find_groups(struct work *w)
{
	const struct campaign_results *r = w->s->results;
	struct rd_names seen = RD_NAMES_INIT;
	uint32_t number;

	for (size_t i = 0; i < r->count; i++)
		rd_names_put(&seen, r->runs[i].fault, strlen(r->runs[i].fault));
	for (size_t i = 0; i < sizeof known_faults / sizeof *known_faults; i++)
		if (rd_names_find(&seen, known_faults[i], strlen(known_faults[i]), &number))
			rd_names_put(&w->faults, known_faults[i], strlen(known_faults[i]));
	for (size_t i = 0; i < seen.count; i++)
		rd_names_put(&w->faults, seen.items[i], strlen(seen.items[i]));
	rd_names_release(&seen);
}

static uint32_t fault_of(const struct work *w, const struct runlog_run *run)
{
	uint32_t fault = 0;

	rd_names_find(&w->faults, run->fault, strlen(run->fault), &fault);
	return fault;
}

static void find_strata(struct work *w)
{
	const struct campaign_results *r = w->s->results;

	for (size_t i = 0; i < r->count; i++) {
		const struct runlog_run *run = &r->runs[i];
		struct size *fault = &w->stratified[fault_of(w, run)];
		uint32_t n;

		if (!is_stratified(run))
			continue;
		n = stratum_of(w, run);
		RD_GROW(w->stratum, w->stratum_capacity, n + 1);
		if (n == w->stratum_count) {
			w->stratum[n] = (struct size){0, (double)run->population};
			fault->population += (double)run->population;
			w->stratum_count++;
		}
		w->stratum[n].runs++;
		fault->runs++;
	}
}

/* Returns the weight of a run, which is the number of instances of its stratum that it represents.
 * Weights are scaled so that the mean weight of the runs of a kind is 1, since the populations of
 * different kinds are not comparable. */
static double weight_of(struct work *w, const struct runlog_run *run)
{
	const struct size *stratum, *fault = &w->stratified[fault_of(w, run)];

	if (!is_stratified(run))
		return 1;
	stratum = &w->stratum[stratum_of(w, run)];
	return stratum->population / (double)stratum->runs * (double)fault->runs / fault->population;
}

/* ---- counting ---- */

static void tally(struct tally *t, bool hit, double weight)
{
	RD_ASSERT(weight >= 0);
	t->hits += hit;
	t->runs++;
	t->hit_weight += hit ? weight : 0;
	t->weight += weight;
	t->square += weight * weight;
}

static void count_run(struct campaign_group *g, struct sums *sums, const struct runlog_run *run,
		      double weight)
{
	bool deviates = run->deviation != RUNLOG_NONE;

	g->runs++;
	g->count[run->outcome][run->deviation]++;
	g->weighted |= is_stratified(run);
	tally(&sums->outcome[RUNLOG_INACTIVE], run->outcome == RUNLOG_INACTIVE, weight);
	tally(&sums->mpfnr[run->outcome], !deviates, weight);
	if (run->outcome == RUNLOG_INACTIVE)
		return;
	g->activated++;
	tally(&sums->coverage, deviates, weight);
	tally(&sums->harm, is_harm(run), weight);
	for (unsigned o = 0; o < RUNLOG_INACTIVE; o++) {
		tally(&sums->outcome[o], run->outcome == o, weight);
		tally(&sums->shown[o], run->outcome == o && deviates, weight);
	}
}

static struct campaign_rate rate_of(const struct campaign_statistics *s, const struct tally *t)
{
	struct campaign_rate rate = {t->hits, t->runs, 0, 0, 1, 0};

	if (t->runs) {
		struct campaign_interval i;

		rate.size = t->weight * t->weight / t->square;
		rate.value = t->hit_weight / t->weight;
		if (t->hits == t->runs)
			rate.value = 1; /* rounding could make it larger */
		i = s->results->until > 0
			    ? campaign_sequence(rate.value * rate.size, rate.size, s->results->until, LEVEL)
			    : campaign_interval(rate.value * rate.size, rate.size, LEVEL);
		rate.low = i.low;
		rate.high = i.high;
	}
	return rate;
}

static void finish_group(const struct campaign_statistics *s, struct campaign_group *g,
			 const struct sums *sums)
{
	for (unsigned o = 0; o < RUNLOG_OUTCOMES; o++) {
		g->outcome[o] = rate_of(s, &sums->outcome[o]);
		g->mpfnr[o] = rate_of(s, &sums->mpfnr[o]);
		g->shown[o] = rate_of(s, &sums->shown[o]);
	}
	g->coverage = rate_of(s, &sums->coverage);
	g->harm = rate_of(s, &sums->harm);
}

const struct campaign_rate *campaign_group_rate(const struct campaign_group *g, unsigned measure)
{
	return measure == CAMPAIGN_HARM	      ? &g->harm
	       : measure == CAMPAIGN_COVERAGE ? &g->coverage
					      : &g->outcome[measure];
}

bool campaign_is_precise(const struct campaign_statistics *s, const struct campaign_group *g)
{
	const struct campaign_rate *r = &g->outcome[s->results->until_outcome];

	return r->runs && r->high - r->low <= 2 * s->results->until + 1e-9;
}

/* ---- places ---- */

struct campaign_rate campaign_cell_rate(const struct campaign_statistics *s, const struct campaign_cell *c,
					unsigned measure)
{
	struct tally t = {c->hits[measure], c->runs, c->hit_weight[measure], c->weight, c->square};

	return rate_of(s, &t);
}

const struct campaign_cell *campaign_cell(const struct campaign_place *p, size_t group)
{
	for (size_t i = 0; i < p->cell_count; i++)
		if (p->cells[i].group == group)
			return &p->cells[i];
	return NULL;
}

static void count_cell(struct campaign_place *p, size_t group, const struct runlog_run *run, double weight)
{
	struct campaign_cell *c = (struct campaign_cell *)campaign_cell(p, group);
	bool hit[CAMPAIGN_MEASURES] = {
		[CAMPAIGN_HARM] = is_harm(run),
		[CAMPAIGN_COVERAGE] = run->deviation != RUNLOG_NONE,
	};

	hit[run->outcome] = true;
	if (!c) {
		RD_GROW(p->cells, p->cell_capacity, p->cell_count + 1);
		c = &p->cells[p->cell_count++];
		*c = (struct campaign_cell){.group = group};
	}
	c->runs++;
	c->weight += weight;
	c->square += weight * weight;
	for (unsigned m = 0; m < CAMPAIGN_MEASURES; m++) {
		c->hits[m] += hit[m];
		c->hit_weight[m] += hit[m] ? weight : 0;
	}
}

static void name_place(struct work *w, const struct runlog_run *run, enum campaign_by by)
{
	rd_buf_clear(&w->text);
	switch (by) {
	case CAMPAIGN_BY_FUNCTION: campaign_name_function(run, &w->text); break;
	case CAMPAIGN_BY_LINE: campaign_name_line(run, &w->text); break;
	case CAMPAIGN_BY_VARIABLE: campaign_name_variable(w->s->results, run, &w->text); break;
	default: rd_buf_adds(&w->text, run->opcode && *run->opcode ? run->opcode : RD_UNKNOWN);
	}
}

/* Returns the entry for what the run's fault hit: a function, line, variable or opcode, according to
 * `by`.  Adds the entry if it is new.  Lines of different files have separate entries, even if the
 * files have the same name. */
static struct campaign_place *find_place(struct work *w, const struct runlog_run *run, enum campaign_by by)
{
	struct campaign_statistics *s = w->s;
	struct campaign_spot spot = {0};
	struct campaign_place *p;
	size_t length;
	uint32_t n;

	name_place(w, run, by);
	length = w->text.length;
	if (by == CAMPAIGN_BY_LINE) {
		spot = campaign_spot(s->results, run);
		rd_buf_addf(&w->text, "\n%s", spot.file ? spot.file : "");
	}
	n = rd_names_put(&w->places[by], w->text.data, w->text.length);
	if (n == s->place_count[by]) {
		RD_GROW(s->places[by], w->place_capacity[by], n + 1);
		w->text.data[length] = '\0';
		s->places[by][n] = (struct campaign_place){
			.name = keep(&s->texts, w->text.data), .file = spot.file, .line = spot.line};
		s->place_count[by]++;
	}
	p = &s->places[by][n];
	return p;
}

static void count_place(struct work *w, const struct runlog_run *run, enum campaign_by by, double weight)
{
	RD_ASSERT(by < CAMPAIGN_BYS);
	struct campaign_place *p = find_place(w, run, by);

	count_cell(p, 0, run, weight);
	count_cell(p, fault_of(w, run) + 1, run, weight);
}

static int compare_places(const void *a, const void *b)
{
	const struct campaign_place *x = a, *y = b;

	RD_BY(y->cells->hits[CAMPAIGN_HARM], x->cells->hits[CAMPAIGN_HARM]);
	RD_BY(y->cells->runs, x->cells->runs);
	return strverscmp(x->name, y->name);
}

RD_COMPARISON(compare_cells, struct campaign_cell, group)

static void finish_places(struct work *w, enum campaign_by by)
{
	struct campaign_statistics *s = w->s;

	for (size_t i = 0; i < s->place_count[by]; i++)
		qsort(s->places[by][i].cells, s->places[by][i].cell_count, sizeof(struct campaign_cell),
		      compare_cells);
	if (s->place_count[by])
		qsort(s->places[by], s->place_count[by], sizeof *s->places[by], compare_places);
	rd_names_release(&w->places[by]);
}

/* ---- the statistics of a campaign ---- */

static void count_runs(struct work *w)
{
	struct campaign_statistics *s = w->s;

	for (size_t i = 0; i < s->results->count; i++) {
		const struct runlog_run *run = &s->results->runs[i];
		double weight = weight_of(w, run);
		uint32_t fault = fault_of(w, run);

		count_run(&s->groups[0], &w->sums[0], run, weight);
		count_run(&s->groups[fault + 1], &w->sums[fault + 1], run, weight);
		if (run->outcome != RUNLOG_INACTIVE)
			for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
				count_place(w, run, by, weight);
		s->cpu_ms += run->cpu_ms;
		s->wall_ms += run->wall_ms;
	}
}

void campaign_statistics(struct campaign_statistics *s, const struct campaign_results *results)
{
	struct work w = {.s = s, .text = RD_BUF_INIT};

	*s = (struct campaign_statistics){.results = results};
	find_groups(&w);
	s->group_count = w.faults.count + 1;
	s->groups = rd_xcalloc(s->group_count, sizeof *s->groups);
	w.stratified = rd_xcalloc(s->group_count, sizeof *w.stratified);
	find_strata(&w);
	w.sums = rd_xcalloc(s->group_count, sizeof *w.sums);
	for (size_t i = 0; i < w.faults.count; i++)
		s->groups[i + 1].fault = keep(&s->texts, w.faults.items[i]);
	count_runs(&w);
	for (size_t i = 0; i < s->group_count; i++)
		finish_group(s, &s->groups[i], &w.sums[i]);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++)
		finish_places(&w, by);
	rd_names_release(&w.faults);
	rd_names_release(&w.strata);
	rd_buf_release(&w.text);
	RD_FREE(w.stratum, w.stratified, w.sums);
}

void campaign_statistics_release(struct campaign_statistics *s)
{
	free(s->groups);
	for (unsigned by = 0; by < CAMPAIGN_BYS; by++) {
		RD_FREE_EACH(s->places[by], s->place_count[by], .cells);
		free(s->places[by]);
	}
	rd_names_release(&s->texts);
	*s = (struct campaign_statistics){0};
}
