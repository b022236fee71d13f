// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of how classify/ uses sites, with a made-up table: which accesses obey a memory model
 * (tracks), where threads reached the two accesses of a race (occurrences), and how many runs an
 * exploration of memory has.
 */
#include "classify/occurrences-int.h"
#include "classify/tracks-int.h"
#include "classify/weaken-int.h"
#include "base/clock.h"
#include "finding/place.h"
#include "sites-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t seed = 29;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Eight accesses (those with even numbers write), a fence and a call. */
enum { ACCESSES = 8, FENCE = 9, CALL = 10, SITES = 10 };
static const char lines[] = "U\t1\t1\tprog.c\n"
			    "F\t0\t/home/a/prog.c\n"
			    "S\t1\tr\t4\t-\t0\t1\t1\tf\tx\tint\n"
			    "S\t2\tw\t4\t-\t0\t2\t1\tf\tx\tint\n"
			    "S\t3\tr\t4\t-\t0\t3\t1\tf\ty\tint\n"
			    "S\t4\tw\t4\t-\t0\t4\t1\tf\ty\tint\n"
			    "S\t5\tal\t4\tS\t0\t5\t1\tg\tz\tint\n"
			    "S\t6\tax\t4\tS\t0\t6\t1\tg\tz\tint\n"
			    "S\t7\trr\t0\t-\t0\t7\t1\tg\tp\tchar\n"
			    "S\t8\trw\t0\t-\t0\t8\t1\tg\tp\tchar\n"
			    "S\t9\tf\t0\tS\t0\t9\t1\tg\t-\t-\n"
			    "S\t10\tc\t0\t-\t0\t10\t1\tg\tfree\t-\n";

static struct trace_sites *sites;

static int start(void **state)
{
	(void)state;
	sites = made_sites(lines);
	return sites ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	trace_sites_free(sites);
	return 0;
}

/* ---- tracks for the races of a set ---- */

static struct finding *add_race(struct finding_set *set, const char *object, uint32_t a, uint32_t b)
{
	struct finding *f = finding_add(set, FINDING_RACE);
	struct schedule *s = finding_schedule_add(set, f);

	f->object.name = object;
	for (int i = 0; i < 2; i++) {
		struct schedule_goal *g = schedule_add_goal(s);

		*g = (struct schedule_goal){.thread = i ? "T_0_1" : "T_0_0",
					    .site = SITE(i ? b : a),
					    .write = (i ? b : a) % 2 == 0,
					    .place = schedule_place_of(s, sites, SITE(i ? b : a))};
	}
	return f;
}

static const struct model_track *find(const struct tracks *t, uint32_t site)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->items[i].site == site)
			return &t->items[i];
	return NULL;
}

static void test_gather(void **state)
{
	struct finding_set *set = finding_set_new();
	struct tracks t, copy;

	(void)state;
	add_race(set, "x", 1, 2);
	add_race(set, "x", 2, 2);
	add_race(set, "y", 3, 4);
	finding_add(set, FINDING_DEADLOCK);
	tracks_gather(&t, set, sites);
	assert_int_equal(t.count, 4); /* each site once */
	for (uint32_t s = 1; s <= 4; s++) {
		const struct model_track *one = find(&t, SITE(s));

		assert_non_null(one);
		assert_int_equal(one->write, s % 2 == 0);
		assert_false(one->point_only);
		assert_string_equal(one->object, s <= 2 ? "x" : "y");
	}
	tracks_copy(&copy, &t);
	assert_int_equal(copy.count, t.count);
	for (size_t i = 0; i < t.count; i++)
		assert_int_equal(copy.items[i].site, t.items[i].site);
	tracks_release(&copy);
	tracks_release(&t);
	finding_set_free(set);
}

/* ---- tracks for published stores ---- */

/* The definition, for random pairs.  If a store is published through an access of a race, the store
 * obeys the memory model like that access, and the read of the store is a point.  Without such an
 * access, both are points, provided that there are few. */
struct twin {
	bool known[SITES + 1], point_only[SITES + 1], racy[SITES + 1];
	char object[SITES + 1]; /* 0: unknown */
	bool edge[SITES + 1][128];
};

static void twin_add(struct twin *t, uint32_t site, char object, bool point_only)
{
	if (site < 1 || site > ACCESSES) /* a fence or a call does not access memory */
		return;
	if (!t->known[site]) {
		t->known[site] = true;
		t->point_only[site] = point_only;
		t->object[site] = object;
		return;
	}
	t->point_only[site] &= point_only;
	if (!t->object[site])
		t->object[site] = object;
}

static void twin_publish(struct twin *t, uint32_t store, uint32_t read, uint32_t through)
{
	bool is_race = through && t->known[through];
	char object = is_race ? t->object[through] : 0;

	if (!through) {
		twin_add(t, store, 0, true);
		twin_add(t, read, 0, true);
	}
	if (!is_race)
		return;
	twin_add(t, store, object, false);
	twin_add(t, read, object, true);
	t->edge[store][(int)object] = true;
}

/* Whether the access is tracked if only the race about this object is of interest.  A store that
 * belongs to a race itself is not attributed to races that publish it. */
static bool twin_is_of(const struct twin *t, uint32_t site, char object)
{
	return !t->object[site] || t->object[site] == object ||
	       (!t->racy[site] && t->edge[site][(int)object]);
}

static uint32_t site_or_none(uint32_t n)
{
	return n ? SITE(n) : 0;
}

/* With `only` 0, all races are tracked. */
static void check(const struct tracks *tracks, const struct twin *t, char only)
{
	char name[2] = {only, 0};
	struct track_objects one_object = {{name}, 1};
	struct schedule lists;
	size_t watches = 0, records = 0;

	schedule_init(&lists);
	tracks_fill(tracks, only ? &one_object : NULL, &lists);
	for (uint32_t s = 1; s <= SITES; s++) {
		const struct model_track *one = find(tracks, SITE(s));

		assert_int_equal(one != NULL, t->known[s]);
		if (!one)
			continue;
		assert_int_equal(one->point_only, t->point_only[s]);
		assert_int_equal(one->object ? one->object[0] : 0, t->object[s]);
		watches++;
		records += !t->point_only[s] && (!only || twin_is_of(t, s, only));
	}
	assert_int_equal(lists.watch_count, watches);
	assert_int_equal(lists.track_count, records);
	for (size_t i = 0; i < lists.watch_count; i++)
		assert_true(lists.watches[i].reads != lists.watches[i].writes);
	schedule_release(&lists);
}

static void test_published(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct finding_set *set = finding_set_new();
		struct raddle_published pairs[8];
		struct twin t = {0};
		size_t count = below(8);
		struct tracks tracks;

		for (char object = 'x'; object < (char)('x' + below(3)); object++) {
			uint32_t a = 1 + below(ACCESSES), b = 1 + below(ACCESSES);

			add_race(set, object == 'x' ? "x" : "y", a, b);
			twin_add(&t, a, object, false);
			twin_add(&t, b, object, false);
			t.racy[a] = t.racy[b] = true;
		}
		tracks_gather(&tracks, set, sites);
		for (size_t i = 0; i < count; i++) {
			uint32_t store = 1 + below(SITES), read = 1 + below(SITES), through = below(SITES);

			pairs[i] = (struct raddle_published){
				.store = SITE(store), .read = SITE(read), .through = site_or_none(through)};
			twin_publish(&t, store, read, through);
		}
		tracks_add_published(&tracks, pairs, count);
		check(&tracks, &t, 0);
		check(&tracks, &t, 'x');
		check(&tracks, &t, 'y');
		tracks_release(&tracks);
		finding_set_free(set);
	}
}

static void test_objects(void **state)
{
	struct finding_set *set = finding_set_new();
	struct track_objects objects;
	char names[BLAME_PARTS + 1][4];
	struct tracks t;

	(void)state;
	add_race(set, "x", 1, 2);
	add_race(set, "x", 2, 3);
	add_race(set, "y", 4, 5);
	tracks_gather(&t, set, sites);
	assert_true(tracks_objects(&t, &objects));
	assert_int_equal(objects.count, 2);
	assert_string_equal(objects.names[0], "x");
	assert_string_equal(objects.names[1], "y");
	tracks_release(&t);
	finding_set_free(set);
	/* Too many objects are refused. */
	t = (struct tracks){.sites = sites};
	for (size_t i = 0; i <= BLAME_PARTS; i++) {
		snprintf(names[i], sizeof names[i], "%zu", i);
		RD_GROW(t.items, t.capacity, t.count + 1);
		t.items[t.count++] = (struct model_track){.racy = true, .object = names[i]};
	}
	assert_false(tracks_objects(&t, &objects));
	tracks_release(&t);
}

/* In a program that shares much memory, only sites that belong to a race become points. */
static void test_published_many(void **state)
{
	struct raddle_published pairs[65];
	struct tracks t = {.sites = sites};

	(void)state;
	for (size_t i = 0; i < 65; i++)
		pairs[i] = (struct raddle_published){.store = SITE(2), .read = SITE(1)};
	tracks_add_published(&t, pairs, 65);
	assert_int_equal(t.count, 0);
	tracks_add_published(&t, pairs, 64);
	assert_int_equal(t.count, 2);
	tracks_release(&t);
}

/* ---- occurrences of the two accesses of a race ---- */

static const char *const threads[] = {"T_0", "T_0_0", "T_0_1"};

static struct occurrence some_occurrence(void)
{
	uint32_t site = 1 + below(ACCESSES);

	return (struct occurrence){.thread = threads[below(3)],
				   .n = below(2),
				   .address = 64 + below(8),
				   .size = 1 + below(4),
				   .site = SITE(site),
				   .write = site % 2 == 0,
				   .at = {below(2), below(2)}};
}

/* Whether two accesses share a byte, by comparing all bytes. */
static bool share_byte(const struct occurrence *a, const struct occurrence *b)
{
	for (uint64_t x = a->address; x < a->address + a->size; x++)
		for (uint64_t y = b->address; y < b->address + b->size; y++)
			if (x == y)
				return true;
	return false;
}

static void test_race(void **state)
{
	size_t seen = 0;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct occurrence a = some_occurrence(), b = some_occurrence();
		bool race = a.thread != b.thread && share_byte(&a, &b) && (a.write || b.write) &&
			    ((a.at[0] && b.at[1]) || (a.at[1] && b.at[0]));

		assert_int_equal(occurrences_race(&a, &b), race);
		assert_int_equal(occurrences_race(&b, &a), race);
		seen += race;
	}
	assert_true(seen > 100);
}

static bool at_any(const void *context, const struct trace_site *site, uint32_t number, int which)
{
	(void)context;
	(void)number;
	return which == 0 ? trace_site_accesses(site) : trace_site_writes(site);
}

/* The goal of an occurrence counts the earlier occurrences with the same thread, operation and
 * site. */
static void test_goal(void **state)
{
	enum { MOST = 30 };

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct occurrence items[MOST];
		struct occurrences s = {.sites = sites, .at = at_any, .items = items, .count = MOST};
		size_t which = below(MOST);
		struct schedule texts;
		struct schedule_goal g;
		uint64_t nth = 0;

		for (size_t i = 0; i < MOST; i++)
			items[i] = some_occurrence();
		for (size_t i = 0; i <= which; i++)
			nth += items[i].thread == items[which].thread && items[i].n == items[which].n &&
			       items[i].site == items[which].site;
		schedule_init(&texts);
		g = occurrences_goal(&s, &items[which], &texts);
		assert_string_equal(g.thread, items[which].thread);
		assert_int_equal(g.after, items[which].n);
		assert_int_equal(g.occurrence, nth);
		assert_int_equal(g.site, items[which].site);
		assert_int_equal(g.write, items[which].write);
		assert_int_equal(g.place.line, items[which].site & 0xffff);
		schedule_release(&texts);
	}
}

static void test_sites(void **state)
{
	struct occurrences s;

	(void)state;
	occurrences_init(&s, sites, at_any, NULL);
	assert_int_equal(occurrences_sites(&s, 0), ACCESSES);
	assert_int_equal(occurrences_sites(&s, 1), ACCESSES / 2);
	occurrences_release(&s);
}

/* ---- explorations of memory ---- */

/* An exploration ends after 250 runs, or after 2000 if no thread is led.  If the runs make many accesses,
 * it ends earlier, but not before 8 runs.  Their duration does not matter. */
static void test_explored(void **state)
{
	static const struct {
		uint64_t runs, extent;
		bool enough;
	} rows[] = {{1, 0, false},	 {249, 599999, false}, {250, 0, true},	   {251, 599999, true},
		    {100, 600000, true}, {8, 600000, true},    {7, 600000, false}, {7, UINT64_MAX, false}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct replay_search search = {.runs = rows[i].runs, .extent = rows[i].extent};

		assert_int_equal(weaken_has_explored(&search, VARIANT_FIRST), rows[i].enough);
		assert_int_equal(weaken_has_explored(&search, VARIANT_CONTROL),
				 rows[i].enough && rows[i].extent >= 600000);
	}
}

/* A variant with a memory model gets the tracks and watches of the lists, and nothing else of
 * them. */
static void test_variant(void **state)
{
	struct schedule_track track = {.site = SITE(2)};
	struct schedule_watch watch = {.site = SITE(1)};
	struct schedule lists = {
		.tracks = &track, .track_count = 1, .watches = &watch, .watch_count = 1, .seed = 9};
	struct variant v = {.schedule = {.seed = 4, .turns = true}};

	(void)state;
	weaken_variant(&v, &lists, "tso", 7);
	assert_string_equal(v.schedule.memory, "tso");
	assert_int_equal(v.schedule.memory_seed, 7);
	assert_ptr_equal(v.schedule.tracks, &track);
	assert_ptr_equal(v.schedule.watches, &watch);
	assert_int_equal(v.schedule.track_count, 1);
	assert_int_equal(v.schedule.watch_count, 1);
	assert_int_equal(v.schedule.seed, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gather),	cmocka_unit_test(test_published),
		cmocka_unit_test(test_objects), cmocka_unit_test(test_published_many),
		cmocka_unit_test(test_race),	cmocka_unit_test(test_goal),
		cmocka_unit_test(test_sites),	cmocka_unit_test(test_explored),
		cmocka_unit_test(test_variant),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
