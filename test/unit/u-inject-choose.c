/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the choice of a fault for each run of a campaign (inject/choose.h), with made-up
 * censuses.  (A census counts how often each thread executed each site.)  The slow reference lists
 * every execution of a site that the filters allow.  Each chosen fault must be at one of these
 * executions, and all of them must be chosen about equally often.  With stratified sampling, the
 * latter must be true in each stratum.  The fault of a run must not depend on the order of
 * requests.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/random.h"
#include "inject/choose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include <cmocka.h>

enum { THREADS = 3, SITES = 10, SLOT = 1, MAX_PLACES = 400 };

/* kind, variable or opcode, type, function and line of each site, from 1 */
static const char *const rows[SITES + 1][5] = {
	{0},
	{"i", "add", "i64", "f", "10"},
	{"i", "mul", "i8", "f", "11"},
	{"r", "x", "int", "f", "12"},
	{"v", "random", "i64", "g", "20"},
	{"i", "add", "i1", "g", "21"},
	{"w", "x", "int", "g", "22"},
	{"i", "xor", "i32", "h", "10"},
	{"c", "random", "-", "h", "31"},
	{"r", "y", "int", "h", "32"},
	{"i", "add", "i64", "main", "40"},
};

static struct trace_sites *sites;

static int make_sites(void **state)
{
	struct rd_buf text = RD_BUF_INIT;
	unsigned long long sum;
	int err;

	(void)state;
	rd_buf_addf(&text, "raddle-sites\t1\nU\t%d\t1\tu.c\nF\t0\t/src/dir/u.c\n", SLOT);
	for (int i = 1; i <= SITES; i++)
		rd_buf_addf(&text, "S\t%d\t%s\t%d\t-\t0\t%s\t%d\t%s\t%s\t%s\n", i, rows[i][0],
			    *rows[i][0] == 'c' ? 0 : 8, rows[i][4], 1 + i % 2, rows[i][3], rows[i][1],
			    rows[i][2]);
	sum = XXH64(text.data, text.length, 0);
	rd_buf_addf(&text, "end\t%d\t%016llx\n", SITES + 2, sum);
	err = trace_sites_parse(&sites, text.data, text.length, "table");
	rd_buf_release(&text);
	return err;
}

static int free_sites(void **state)
{
	(void)state;
	trace_sites_free(sites);
	return 0;
}

/* ---- made-up censuses and setups ---- */

struct ground {
	struct inject_setup setup;
	struct inject_census census;
	struct inject_ground all;
};

static void ground_init(struct ground *g, struct rd_random *r)
{
	static char *names[THREADS] = {"T_0", "T_0_0", "T_0_1"};

	*g = (struct ground){
		.setup = {.seed = rd_random_next(r), .runs = 50, .faults = 1, .sampling = "uniform"}};
	g->census.names = names;
	g->census.thread_count = THREADS;
	inject_list_add(&g->setup.kinds, "BitFlip");
	for (uint32_t thread = 0; thread < THREADS; thread++)
		for (uint32_t site = 1; site <= SITES; site++) {
			struct inject_entry e = {thread, SLOT << 16 | site, 1 + rd_random_below(r, 8)};

			if (rd_random_below(r, 3) == 0)
				continue;
			RD_GROW(g->census.entries, g->census.capacity, g->census.entry_count + 1);
			g->census.entries[g->census.entry_count++] = e;
		}
	g->all = (struct inject_ground){.setup = &g->setup, .census = &g->census, .sites = sites};
}

static void ground_release(struct ground *g)
{
	inject_list_release(&g->setup.kinds);
	inject_list_release(&g->setup.functions);
	inject_list_release(&g->setup.not_functions);
	inject_list_release(&g->setup.opcodes);
	inject_list_release(&g->setup.not_opcodes);
	free(g->census.entries);
}

/* ---- the twin: a list of all executions that the filters leave ---- */

struct place {
	const char *thread, *stratum;
	uint32_t site;
	uint64_t instance;
	uint64_t hits;
};

struct places {
	struct place items[MAX_PLACES];
	size_t count;
};

static bool contains(const struct inject_list *l, const char *item)
{
	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->items[i], item))
			return true;
	return false;
}

/* Whether the filters allow a site, according to the manual.  The opcode of a load is "load", and
 * that of a result is "result". */
static bool is_wanted(const struct ground *g, const struct inject_entry *e)
{
	const struct inject_setup *s = &g->setup;
	const char *const *row = rows[e->site & 0xffff];
	const char *opcode = *row[0] == 'i' ? row[1] : *row[0] == 'r' ? "load" : "result";

	if (*row[0] == 'w' || *row[0] == 'c') /* BitFlip changes values, loads and results */
		return false;
	if (s->thread != NULL && strcmp(s->thread, g->census.names[e->thread]) != 0)
		return false;
	if (s->site != 0 && s->site != e->site)
		return false;
	if (s->line != NULL &&
	    (strcmp(strchr(s->line, ':') + 1, row[4]) != 0 || strncmp(s->line, "u.c", 3) != 0))
		return false;
	if (s->functions.count != 0 && !contains(&s->functions, row[3]))
		return false;
	if (contains(&s->not_functions, row[3]) || contains(&s->not_opcodes, opcode))
		return false;
	if (s->opcodes.count != 0 && !contains(&s->opcodes, opcode))
		return false;
	return s->instance <= e->count && (s->bit == 0 || s->bit <= (!strcmp(row[2], "i1")    ? 1u
								     : !strcmp(row[2], "i8")  ? 8u
								     : !strcmp(row[2], "i32") ? 32u
											      : 64u));
}

static const char *stratum_of(const struct ground *g, const struct inject_entry *e)
{
	const char *const *row = rows[e->site & 0xffff];

	if (!strcmp(g->setup.sampling, "function"))
		return row[3];
	if (!strcmp(g->setup.sampling, "thread"))
		return g->census.names[e->thread];
	if (!strcmp(g->setup.sampling, "opcode"))
		return *row[0] == 'i' ? row[1] : *row[0] == 'r' ? "load" : "result";
	return NULL;
}

static void list_places(const struct ground *g, struct places *all)
{
	all->count = 0;
	for (size_t i = 0; i < g->census.entry_count; i++) {
		const struct inject_entry *e = &g->census.entries[i];

		if (!is_wanted(g, e))
			continue;
		for (uint64_t n = 1; n <= e->count; n++) {
			if (g->setup.instance != 0 && n != g->setup.instance)
				continue;
			assert_true(all->count < MAX_PLACES);
			all->items[all->count++] =
				(struct place){g->census.names[e->thread], stratum_of(g, e), e->site, n, 0};
		}
	}
}

static struct place *find_place(struct places *all, const struct inject_fault *f)
{
	for (size_t i = 0; i < all->count; i++) {
		struct place *p = &all->items[i];

		if (!strcmp(p->thread, f->thread) && p->site == f->faults[0].site &&
		    p->instance == f->faults[0].instance)
			return p;
	}
	return NULL;
}

static uint64_t population(const struct places *all, const char *stratum)
{
	uint64_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		n += !strcmp(all->items[i].stratum, stratum);
	return n;
}

/* ---- properties of the chosen faults ---- */

/* For all filters, each fault must be at a place in the list, and must name the stratum of that
 * place. */
static void check_choices(struct ground *g, struct places *all, uint64_t seed)
{
	struct inject_chooser *c;
	struct inject_fault f, again;

	list_places(g, all);
	if (all->count == 0) {
		rd_log_set(rd_log_discard, NULL);
		assert_int_equal(inject_chooser_open(&c, &g->all), RD_EUSAGE);
		rd_log_set(NULL, NULL);
		return;
	}
	assert_int_equal(inject_chooser_open(&c, &g->all), 0);
	assert_int_equal(inject_chooser_runs(c), g->setup.runs * g->setup.kinds.count);
	for (uint64_t run = 0; run < g->setup.runs; run++) {
		struct place *p;

		assert_int_equal(inject_choose(c, run, &f), 0);
		p = find_place(all, &f);
		if (p == NULL)
			fail_msg("seed %llu, run %llu: site %u of %s, execution %llu is none that was asked "
				 "for",
				 (unsigned long long)seed, (unsigned long long)run, f.faults[0].site & 0xffff,
				 f.thread, (unsigned long long)f.faults[0].instance);
		p->hits++;
		assert_int_equal(f.run, run);
		assert_int_equal(f.count, 1);
		assert_int_equal(f.stratum != NULL, p->stratum != NULL);
		if (p->stratum != NULL) {
			assert_string_equal(f.stratum, p->stratum);
			assert_int_equal(f.population, population(all, p->stratum));
		}
	}
	for (uint64_t run = g->setup.runs; run-- > 0;) { /* in the opposite order */
		assert_int_equal(inject_choose(c, run, &f), 0);
		assert_int_equal(inject_choose(c, run, &again), 0);
		assert_memory_equal(&f, &again, sizeof f);
	}
	inject_chooser_close(c);
}

static void choose_filters(struct ground *g, struct rd_random *r)
{
	static const char *const functions[] = {"f", "g", "h", "main"}, *const opcodes[] = {"add", "load",
											    "result", "xor"};
	static char *const samplings[] = {"uniform", "function", "opcode", "thread"};
	static char *const lines[] = {"u.c:10", "u.c:21", "u.c:32"};

	g->setup.sampling = samplings[rd_random_below(r, 4)];
	if (rd_random_below(r, 4) == 0)
		g->setup.thread = g->census.names[rd_random_below(r, THREADS)];
	if (rd_random_below(r, 6) == 0)
		g->setup.site = SLOT << 16 | (1 + rd_random_below(r, SITES));
	if (rd_random_below(r, 5) == 0)
		g->setup.line = lines[rd_random_below(r, 3)];
	if (rd_random_below(r, 4) == 0)
		inject_list_add(&g->setup.functions, functions[rd_random_below(r, 4)]);
	if (rd_random_below(r, 4) == 0)
		inject_list_add(&g->setup.not_functions, functions[rd_random_below(r, 4)]);
	if (rd_random_below(r, 4) == 0)
		inject_list_add(&g->setup.opcodes, opcodes[rd_random_below(r, 4)]);
	if (rd_random_below(r, 4) == 0)
		inject_list_add(&g->setup.not_opcodes, opcodes[rd_random_below(r, 4)]);
	if (rd_random_below(r, 4) == 0)
		g->setup.instance = 1 + rd_random_below(r, 8);
	if (rd_random_below(r, 4) == 0)
		g->setup.bit = 1 + rd_random_below(r, 40);
}

static void faults_strike_where_filters_allow(void **state)
{
	static struct places all;

	(void)state;
	print_message("seeds 1 to 400\n");
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct rd_random r = rd_random_of(seed, 7);
		struct ground g;

		ground_init(&g, &r);
		choose_filters(&g, &r);
		check_choices(&g, &all, seed);
		ground_release(&g);
	}
}

/* With uniform sampling, 200 hits are expected at each place.  Fewer than 100 or more than 300
 * hits would be 7 standard deviations from that number. */
static void uniform_sampling_is_uniform(void **state)
{
	static struct places all;
	struct rd_random r = rd_random_of(1, 8);
	struct ground g;

	(void)state;
	ground_init(&g, &r);
	list_places(&g, &all);
	g.setup.runs = 200 * all.count;
	check_choices(&g, &all, 1);
	for (size_t i = 0; i < all.count; i++)
		assert_in_range(all.items[i].hits, 100, 300);
	ground_release(&g);
}

/* With stratified sampling, the numbers of runs of two strata differ by at most one. */
static void strata_take_turns(void **state)
{
	static char *const samplings[] = {"function", "opcode", "thread"};
	static struct places all;

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct rd_random r = rd_random_of((uint64_t)k, 9);
		struct ground g;
		uint64_t low = UINT64_MAX, high = 0;

		ground_init(&g, &r);
		g.setup.sampling = samplings[k];
		g.setup.runs = 1001;
		check_choices(&g, &all, (uint64_t)k);
		for (size_t i = 0; i < all.count; i++) {
			uint64_t hits = 0;

			for (size_t n = 0; n < all.count; n++)
				if (!strcmp(all.items[n].stratum, all.items[i].stratum))
					hits += all.items[n].hits;
			low = hits < low ? hits : low;
			high = hits > high ? hits : high;
		}
		assert_true(high - low <= 1);
		ground_release(&g);
	}
}

/* Counts the sites and executions at which a kind of fault can happen, as they are shown to
 * users. */
static void fits_count_sites_and_executions(void **state)
{
	static struct places all;

	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct rd_random r = rd_random_of(seed, 10);
		bool met[SITES + 1] = {false};
		uint64_t count = 0;
		struct inject_fit fit;
		struct ground g;

		ground_init(&g, &r);
		list_places(&g, &all);
		for (size_t i = 0; i < all.count; i++) {
			count += !met[all.items[i].site & 0xffff];
			met[all.items[i].site & 0xffff] = true;
		}
		fit = inject_fits(&g.all, (size_t)inject_kind_find("BitFlip", strlen("BitFlip")));
		assert_int_equal(fit.instances, all.count);
		assert_int_equal(fit.sites, count);
		ground_release(&g);
	}
}

/* Kinds take turns, too.  A kind that applies nowhere or does not exist is an error. */
static void kinds_take_turns(void **state)
{
	struct rd_random r = rd_random_of(3, 11);
	struct inject_chooser *c = NULL;
	struct inject_fault f;
	struct ground g;

	(void)state;
	ground_init(&g, &r);
	inject_list_add(&g.setup.kinds, "StuckAt0");
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(inject_chooser_open(&c, &g.all), 0);
	assert_int_equal(inject_chooser_runs(c), 2 * g.setup.runs);
	for (uint64_t run = 0; run < 10; run++) {
		assert_int_equal(inject_choose(c, run, &f), 0);
		assert_string_equal(inject_kind_at(f.kind)->name, g.setup.kinds.items[run % 2]);
	}
	inject_chooser_close(c);
	inject_list_add(&g.setup.kinds, "MallSize"); /* nothing is allocated */
	assert_int_equal(inject_chooser_open(&c, &g.all), RD_EUSAGE);
	inject_list_release(&g.setup.kinds);
	g.setup.kinds = (struct inject_list){0};
	inject_list_add(&g.setup.kinds, "NoSuchKind");
	assert_int_equal(inject_chooser_open(&c, &g.all), RD_EFORMAT);
	rd_log_set(NULL, NULL);
	ground_release(&g);
}

/* ---- places and threads as text ---- */

static void places_are_files_lines_and_functions(void **state)
{
	char out[128];

	(void)state;
	inject_where(sites, SLOT << 16 | 4, out, sizeof out);
	assert_string_equal(out, "u.c:20:1 g");
	inject_where(sites, SLOT << 16 | 4, out, 8);
	assert_int_equal(strlen(out), 7);
}

static void names_of_threads_are_paths(void **state)
{
	struct run_fault f = {0};
	char deep[4096] = "T";

	(void)state;
	assert_true(inject_thread_parse(&f, "T_0"));
	assert_int_equal(f.depth, 0);
	assert_true(inject_thread_parse(&f, "T_0_2_1"));
	assert_int_equal(f.depth, 2);
	assert_int_equal(f.thread[0], 2);
	assert_int_equal(f.thread[1], 1);
	assert_false(inject_thread_parse(&f, "T_1x"));
	assert_false(inject_thread_parse(&f, ""));
	for (int i = 0; i < 1000; i++)
		strcat(deep, "_0");
	assert_false(inject_thread_parse(&f, deep));
	assert_int_equal(f.depth, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_strike_where_filters_allow),
		cmocka_unit_test(uniform_sampling_is_uniform),
		cmocka_unit_test(strata_take_turns),
		cmocka_unit_test(fits_count_sites_and_executions),
		cmocka_unit_test(kinds_take_turns),
		cmocka_unit_test(places_are_files_lines_and_functions),
		cmocka_unit_test(names_of_threads_are_paths),
	};

	return cmocka_run_group_tests(tests, make_sites, free_sites);
}
