// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses faults.  In: the census, the setup, and the number of a run.  Out: a fault, which
 * consists of a thread, a site, an instance, an action and a mask.
 *
 * Each kind has a pool: the entries of the census that it applies to, with running sums of their
 * executions.  Uniform sampling draws a number below the total, which selects an entry.  For
 * stratified sampling the pool is sorted by function, opcode or thread.  Runs are assigned to the
 * strata in turn, so that each stratum gets the same number of runs.  Within a stratum the draw is
 * uniform.  The log contains the stratum and its population, from which the statistics derive
 * weights.
 */
#include "inject/choose.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/map.h"
#include "base/name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choice {
	const struct inject_entry *entry;
	const struct trace_site *site;
	const struct inject_rule *rule;
	uint64_t end; /* sum of the executions up to and including this entry */
};

struct stratum {
	const char *name;
	/* the sums of executions before the first entry of the stratum and after its last entry */
	uint64_t begin, end;
};

struct pool {
	struct choice *items;
	size_t count, capacity;
	struct stratum *strata; /* NULL if sampling is uniform */
	size_t stratum_count, stratum_capacity;
};

struct inject_chooser {
	struct inject_ground ground;
	size_t *kinds; /* the kinds of the setup, as indices for inject_kind_at() */
	struct pool *pools;
	size_t kind_count;
};

/* --- filters ---------------------------------------------------------------------------- */

static bool lists(const struct inject_list *l, const char *item)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->items[i], item))
			return true;
	return false;
}

/* Returns true if the site is at FILE:LINE[:COLUMN], where FILE may be the end of a path. */
static bool is_at(const struct inject_ground *g, const struct trace_site *site, const char *where)
{
	const char *file = trace_sites_file(g->sites, site->file), *colon = strchr(where, ':');
	size_t n = colon ? (size_t)(colon - where) : strlen(where), length = strlen(file);
	unsigned line = 0, column = 0;

	if (length < n || strncmp(file + length - n, where, n) != 0 ||
	    (length > n && n && where[0] != '/' && file[length - n - 1] != '/'))
		return false;
	if (colon && sscanf(colon, ":%u:%u", &line, &column) < 1)
		return false;
	return (!line || line == site->line) && (!column || column == site->column);
}

static bool passes(const struct inject_ground *g, const struct inject_entry *e, const struct trace_site *site)
{
	const struct inject_setup *s = g->setup;

	return (!s->thread || !strcmp(s->thread, g->census->names[e->thread])) &&
	       (!s->site || s->site == e->site) && (!s->line || is_at(g, site, s->line)) &&
	       (!s->functions.count || lists(&s->functions, site->function)) &&
	       !lists(&s->not_functions, site->function) &&
	       (!s->opcodes.count || lists(&s->opcodes, inject_opcode(site))) &&
	       !lists(&s->not_opcodes, inject_opcode(site)) && s->instance <= e->count;
}

/* Returns true if the value has the bit that the user chose (--bit).  A kind that changes no bits
 * fits any value. */
static bool is_wide(const struct inject_setup *s, size_t kind, const struct trace_site *site)
{
	return !inject_kind_at(kind)->bits || s->bit <= inject_width(site);
}

/* Returns the number of the only execution at which the fault can strike, or 0 if it can strike at
 * any. */
static uint64_t fixed_instance(const struct inject_setup *s, size_t kind)
{
	return s->instance ? s->instance : inject_kind_at(kind)->execution;
}

/* --- pools ------------------------------------------------------------------------------- */

static void fill_pool(struct pool *p, const struct inject_ground *g, size_t kind)
{
	for (size_t i = 0; i < g->census->entry_count; i++) {
		const struct inject_entry *e = &g->census->entries[i];
		const struct trace_site *site = trace_sites_find(g->sites, e->site);
		const struct inject_rule *rule = site ? inject_kind_fits(kind, site) : NULL;

		if (!rule || !passes(g, e, site) || !is_wide(g->setup, kind, site) ||
		    fixed_instance(g->setup, kind) > e->count)
			continue;
		RD_GROW(p->items, p->capacity, p->count + 1);
		p->items[p->count++] = (struct choice){e, site, rule, 0};
	}
}

static void sum_pool(struct pool *p, uint64_t instance)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->count; i++)
		p->items[i].end = sum += instance ? 1 : p->items[i].entry->count;
}

static const char *function_of(const struct inject_census *census, const struct choice *c)
{
	(void)census;
	return c->site->function;
}

static const char *opcode_of(const struct inject_census *census, const struct choice *c)
{
	(void)census;
	return inject_opcode(c->site);
}

static const char *thread_of(const struct inject_census *census, const struct choice *c)
{
	return census->names[c->entry->thread];
}

typedef const char *stratum_fn(const struct inject_census *, const struct choice *);

struct stratum_order {
	stratum_fn *name;
	const struct inject_census *census;
};

static int compare_choices(const void *a, const void *b, void *context)
{
	const struct stratum_order *order = context;
	const struct choice *x = a, *y = b;
	int r = strcmp(order->name(order->census, x), order->name(order->census, y));

	return r ? r : x->entry < y->entry ? -1 : x->entry > y->entry;
}

/* Sorts the pool by strata and records where they begin and end. */
static void divide_pool(struct pool *p, const struct inject_ground *g, stratum_fn *name, uint64_t instance)
{
	struct stratum_order order = {name, g->census};

	qsort_r(p->items, p->count, sizeof *p->items, compare_choices, &order);
	sum_pool(p, instance);
	for (size_t i = 0; i < p->count; i++) {
		const char *this = name(g->census, &p->items[i]);
		struct stratum *last = p->stratum_count ? &p->strata[p->stratum_count - 1] : NULL;

		if (last && !strcmp(last->name, this)) {
			last->end = p->items[i].end;
			continue;
		}
		RD_GROW(p->strata, p->stratum_capacity, p->stratum_count + 1);
		p->strata[p->stratum_count++] =
			(struct stratum){this, i ? p->items[i - 1].end : 0, p->items[i].end};
	}
}

static void prepare_pool(struct pool *p, const struct inject_ground *g, size_t kind)
{
	uint64_t instance = fixed_instance(g->setup, kind);
	const char *sampling = g->setup->sampling;

	if (!strcmp(sampling, "function"))
		divide_pool(p, g, function_of, instance);
	else if (!strcmp(sampling, "opcode"))
		divide_pool(p, g, opcode_of, instance);
	else if (!strcmp(sampling, "thread"))
		divide_pool(p, g, thread_of, instance);
	else
		sum_pool(p, instance);
}

struct inject_fit inject_fits(const struct inject_ground *g, size_t kind)
{
	RD_ASSERT(kind < inject_kind_count());
	struct inject_fit fit = {0};
	struct rd_umap seen = RD_UMAP_INIT;
	struct pool p = {0};

	fill_pool(&p, g, kind);
	for (size_t i = 0; i < p.count; i++) {
		fit.instances += p.items[i].entry->count;
		rd_umap_put(&seen, p.items[i].entry->site, NULL);
	}
	fit.sites = seen.count;
	rd_umap_release(&seen);
	free(p.items);
	return fit;
}

static int open_pool(struct inject_chooser *c, size_t i, const char *name)
{
	int kind = inject_kind_find(name, strlen(name));

	if (kind < 0)
		return rd_fail(RD_EFORMAT, "inject: unknown fault '%s'", name);
	c->kinds[i] = (size_t)kind;
	fill_pool(&c->pools[i], &c->ground, c->kinds[i]);
	if (!c->pools[i].count)
		return rd_fail(RD_EUSAGE, "inject: %s applies to no place that the program executes", name);
	prepare_pool(&c->pools[i], &c->ground, c->kinds[i]);
	return 0;
}

void inject_chooser_close(struct inject_chooser *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->kind_count; i++)
		RD_FREE(c->pools[i].items, c->pools[i].strata);
	RD_FREE(c->pools, c->kinds, c);
}

int inject_chooser_open(struct inject_chooser **out, const struct inject_ground *ground)
{
	struct inject_chooser *c = rd_xcalloc(1, sizeof *c);
	const struct inject_list *kinds = &ground->setup->kinds;
	int r = 0;

	c->ground = *ground;
	c->kind_count = kinds->count;
	c->kinds = rd_xcalloc(kinds->count + 1, sizeof *c->kinds);
	c->pools = rd_xcalloc(kinds->count + 1, sizeof *c->pools);
	for (size_t i = 0; i < kinds->count && !r; i++)
		r = open_pool(c, i, kinds->items[i]);
	if (r)
		inject_chooser_close(c);
	else
		*out = c;
	return r;
}

uint64_t inject_chooser_runs(const struct inject_chooser *c)
{
	return c->kind_count * c->ground.setup->runs;
}

/* --- choosing a fault --------------------------------------------------------------------- */

bool inject_thread_parse(struct run_fault *f, const char *name)
{
	int depth = strlen(name) < INJECT_THREAD_NAME
			    ? rd_thread_path(name, strlen(name), f->thread, RUN_FAULT_DEPTH)
			    : -1;

	f->depth = depth < 0 ? 0 : (uint32_t)depth;
	return depth >= 0;
}

/* Draws a number below the pool's total, for run number `index` of this kind. */
static uint64_t draw_place(const struct pool *p, uint64_t index, struct rd_random *random,
			   struct inject_fault *out)
{
	const struct stratum *s;

	if (!p->stratum_count)
		return rd_random_below(random, p->items[p->count - 1].end);
	s = &p->strata[index % p->stratum_count];
	out->stratum = s->name;
	out->population = s->end - s->begin;
	return s->begin + rd_random_below(random, out->population);
}

static const struct choice *find_choice(const struct pool *p, uint64_t place)
{
	RD_ASSERT(p->count > 0);
	size_t i = 0;

	RD_BISECT(i, p->count - 1, at, p->items[at].end <= place);
	return &p->items[i];
}

static void draw_fault(const struct inject_chooser *c, size_t kind, const struct choice *choice,
		       struct rd_random *random, struct run_fault *f)
{
	const struct inject_setup *s = c->ground.setup;
	bool there = choice->rule->draw == INJECT_MEMORY;
	struct inject_bits bits = {there ? inject_width_there(choice->site) : inject_width(choice->site),
				   (unsigned)s->bits, (int)s->bit - 1};

	f->site = choice->entry->site;
	inject_kind_draw(kind, choice->rule, &bits, random, f);
	if (s->once || s->faults > 1)
		f->repeat = 1;
}

/* --- windows ------------------------------------------------------------------------------- */

/* A place at which a further fault can strike.  The window (struct inject_setup) is a number of
 * records after the first fault.  `instance` counts executions of the place's site from the first
 * fault on. */
struct spot {
	const struct choice *choice;
	uint64_t instance;
};

static const struct choice *find_site(const struct pool *p, uint32_t thread, uint32_t site)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].entry->thread == thread && p->items[i].entry->site == site)
			return &p->items[i];
	return NULL;
}

/* Finds the places of the pool that are in the window.  The window consists of the records of the
 * thread after execution number `instance` of the first fault's site. */
static int find_window(const struct inject_chooser *c, const struct pool *p, const struct choice *first,
		       uint64_t instance, struct spot *spots)
{
	const struct inject_ground *g = &c->ground;
	struct rd_umap counts = RD_UMAP_INIT;
	uint64_t seen = 0, behind = 0, found = 0;
	struct trace_full *f;
	struct trace_record r;
	int err = trace_full_open(&f, g->trace, g->layout, g->census->streams[first->entry->thread], true);

	if (err)
		return err;
	while (behind < g->setup->window && (err = trace_full_next(f, &r)) > 0) {
		const struct choice *choice;

		if (seen >= instance) {
			behind++;
			if (!inject_census_counts(&r))
				continue;
			++*rd_umap_put(&counts, r.site, NULL);
			choice = find_site(p, first->entry->thread, r.site);
			if (choice)
				spots[found++] = (struct spot){choice, *rd_umap_get(&counts, r.site)};
		} else if (r.site == first->entry->site && inject_census_counts(&r)) {
			seen++;
		}
	}
	trace_full_close(f);
	rd_umap_release(&counts);
	return err < 0 ? err : (int)found;
}

static int compare_spots(const void *a, const void *b)
{
	const struct spot *x = *(struct spot *const *)a, *y = *(struct spot *const *)b;

	return x < y ? -1 : x > y;
}

/* Returns how often the site of place `to` is executed after place `from` up to and including `to`.
 * Both are places of the window. */
static uint64_t count_between(const struct spot *spots, const struct spot *from, const struct spot *to)
{
	uint64_t before = 0;

	for (const struct spot *s = spots; from && s <= from; s++)
		if (s->choice == to->choice)
			before = s->instance;
	return to->instance - before;
}

/* Draws the further faults of a run from the window.  The instance of each fault is counted from
 * the previous fault, as in the runtime. */
static int draw_window(const struct inject_chooser *c, const struct pool *p, const struct choice *first,
		       struct rd_random *random, struct inject_fault *out)
{
	size_t wanted = c->ground.setup->faults - 1, taken = 0;
	struct spot *spots = rd_xcalloc(c->ground.setup->window + 1, sizeof *spots),
		    *picked[INJECT_FAULTS_MAX];
	int found = find_window(c, p, first, out->faults[0].instance, spots);

	while (found > 0 && taken < wanted && taken < (size_t)found) {
		struct spot *s = &spots[rd_random_below(random, (uint64_t)found)];
		size_t i = 0;

		while (i < taken && picked[i] != s)
			i++;
		if (i == taken)
			picked[taken++] = s;
	}
	qsort(picked, taken, sizeof *picked, compare_spots);
	for (size_t i = 0; i < taken; i++) {
		struct run_fault *f = &out->faults[out->count++];

		*f = out->faults[0];
		draw_fault(c, out->kind, picked[i]->choice, random, f);
		f->instance = count_between(spots, i ? picked[i - 1] : NULL, picked[i]);
	}
	free(spots);
	return found < 0 ? found : 0;
}

int inject_choose(struct inject_chooser *c, uint64_t run, struct inject_fault *out)
{
	const struct inject_setup *s = c->ground.setup;
	size_t which = run % c->kind_count;
	const struct pool *p = &c->pools[which];
	struct rd_random random = rd_random_of(s->seed, run);
	const struct choice *choice;
	uint64_t place, begin;

	*out = (struct inject_fault){.run = run, .kind = c->kinds[which], .count = 1};
	place = draw_place(p, run / c->kind_count, &random, out);
	choice = find_choice(p, place);
	begin = choice == p->items ? 0 : choice[-1].end;
	snprintf(out->thread, sizeof out->thread, "%s", c->ground.census->names[choice->entry->thread]);
	if (!inject_thread_parse(&out->faults[0], out->thread))
		return rd_fail(RD_ELIMIT, "inject: thread %s is nested too deeply for a fault", out->thread);
	out->faults[0].instance = fixed_instance(s, out->kind);
	if (!out->faults[0].instance)
		out->faults[0].instance = place - begin + 1;
	inject_setup_process(s, &out->faults[0]); /* the other faults are derived from it */
	draw_fault(c, out->kind, choice, &random, &out->faults[0]);
	return s->faults > 1 ? draw_window(c, p, choice, &random, out) : 0;
}
