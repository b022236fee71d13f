// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of explore/cover.h, explore/sighted.h and explore/known.h with a made-up table of
 * sites: pairs of conflicting places (compared with plain loops over all pairs), races that only
 * explored schedules showed, and sites that findings suggest.
 */
#include "explore/cover.h"
#include "explore/known.h"
#include "explore/sighted.h"
#include "finding/pair.h"
#include "sites-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t seed = 17;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Sites 1 and 2 are on one line, 4 and 6 are atomic, and 5 is a call that locks.  Site 7 has no
 * file. */
enum { KNOWN = 6, SITES = 7 };
static const char lines[] = "U\t1\t1\tprog.c\n"
			    "F\t0\t/home/a/prog.c\n"
			    "S\t1\tr\t4\t-\t0\t10\t1\tf\tx\tint\n"
			    "S\t2\tw\t4\t-\t0\t10\t5\tf\tx\tint\n"
			    "S\t3\tw\t8\t-\t0\t12\t1\tg\t-\tlong\n"
			    "S\t4\tax\t4\tS\t0\t13\t1\tg\ty\tint\n"
			    "S\t5\tc\t0\t-\t0\t20\t1\tg\tpthread_mutex_lock\t-\n"
			    "S\t6\tal\t4\tS\t0\t21\t1\tg\ty\tint\n"
			    "S\t7\tr\t4\t-\t-1\t0\t0\t-\tx\tint\n";
static const uint32_t line_of[SITES + 1] = {0, 10, 10, 12, 13, 20, 21, 0};

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

/* ---- pairs of sites that occurred in some schedule ---- */

/* Each pair is stored once, with the first schedule that showed it.  The twin is a list. */
static void test_add(void **state)
{
	enum { MOST = 300 };

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct cover_pair twin[MOST];
		struct cover c = {0};
		size_t count = 0;

		for (int i = 0; i < MOST; i++) {
			uint64_t pair = (uint64_t)below(6) << 32 | below(6), first = 1 + below(100);
			size_t at = 0;

			while (at < count && twin[at].sites != pair)
				at++;
			assert_int_equal(cover_has(&c, pair), at < count);
			assert_int_equal(cover_add(&c, pair, first), at == count);
			if (at == count)
				twin[count++] = (struct cover_pair){pair, first};
			else if (first < twin[at].first)
				twin[at].first = first;
		}
		assert_int_equal(c.count, count);
		for (size_t i = 0; i < count; i++) {
			assert_true(c.pairs[i].sites == twin[i].sites);
			assert_int_equal(c.pairs[i].first, twin[i].first);
		}
		cover_release(&c);
	}
}

/* ---- pairs of places in the source ---- */

struct twin_pair {
	uint32_t line[2];
	uint64_t first[2];
};

static void lower(uint64_t *to, uint64_t value)
{
	if (!*to || value < *to)
		*to = value;
}

/* Finds the first schedules in which line a came before line b, and b before a, by looking at every
 * pair. */
static struct twin_pair twin_of(const struct cover *c, uint32_t a, uint32_t b)
{
	struct twin_pair out = {.line = {a, b}};

	for (size_t i = 0; i < c->count; i++) {
		uint32_t x = line_of[c->pairs[i].sites >> 32 & 0xffff],
			 y = line_of[c->pairs[i].sites & 0xffff];

		if (x == a && y == b)
			lower(&out.first[0], c->pairs[i].first);
		if (x == b && y == a)
			lower(&out.first[1], c->pairs[i].first);
	}
	return out;
}

static void check_described(const struct cover *c, const struct finding_set *set)
{
	static const uint32_t all[] = {10, 12, 13, 20, 21};
	size_t expected = 0;

	for (size_t i = 0; i < 5; i++)
		for (size_t k = i; k < 5; k++) {
			struct twin_pair t = twin_of(c, all[i], all[k]);
			const struct finding_pair *found = NULL;

			for (size_t n = 0; n < set->pair_count; n++)
				if (set->pairs[n].place[0].line == all[i] &&
				    set->pairs[n].place[1].line == all[k])
					found = &set->pairs[n];
			assert_int_equal(found != NULL, t.first[0] || t.first[1]);
			expected += found != NULL;
			if (!found)
				continue;
			assert_int_equal(found->first[0], t.first[0]);
			assert_int_equal(found->first[1], t.first[1]);
			assert_int_equal(found->lock, all[i] == 20 && all[k] == 20);
		}
	assert_int_equal(set->pair_count, expected);
	for (size_t n = 1; n < set->pair_count; n++) /* they are sorted */
		assert_true(set->pairs[n - 1].place[0].line < set->pairs[n].place[0].line ||
			    (set->pairs[n - 1].place[0].line == set->pairs[n].place[0].line &&
			     set->pairs[n - 1].place[1].line < set->pairs[n].place[1].line));
}

/* Places without a file and sites that are not in the table are left out. */
static void test_describe(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct finding_set *set = finding_set_new();
		struct cover c = {0};

		for (uint32_t n = below(20); n > 0; n--)
			cover_add(&c, (uint64_t)SITE(1 + below(SITES + 1)) << 32 | SITE(1 + below(SITES + 1)),
				  1 + below(50));
		for (size_t i = 0; i < c.count; i++) /* SITES + 1 is not a site */
			if ((c.pairs[i].sites & 0xffff) > SITES || (c.pairs[i].sites >> 32 & 0xffff) > SITES)
				c.pairs[i].sites |= (uint64_t)SITE(7) << 32 | SITE(7);
		for (size_t i = 0; i < c.count; i++)
			if ((c.pairs[i].sites & 0xffff) >= SITES ||
			    (c.pairs[i].sites >> 32 & 0xffff) >= SITES)
				c.pairs[i].sites = (uint64_t)SITE(SITES) << 32 | SITE(SITES);
		cover_describe(&c, sites, set);
		check_described(&c, set);
		cover_release(&c);
		finding_set_free(set);
	}
}

/* The object of a pair is named if one of the two sites knows it. */
static void test_object(void **state)
{
	struct finding_set *set = finding_set_new();
	struct cover c = {0};

	(void)state;
	cover_add(&c, (uint64_t)SITE(3) << 32 | SITE(4), 1); /* site 3 has no name for it */
	cover_add(&c, (uint64_t)SITE(5) << 32 | SITE(5), 2);
	cover_describe(&c, sites, set);
	assert_int_equal(set->pair_count, 2);
	assert_string_equal(set->pairs[0].object, "y");
	assert_null(set->pairs[1].object);
	assert_true(set->pairs[1].lock);
	cover_describe(&c, NULL, set); /* without a table there are no places */
	assert_int_equal(set->pair_count, 0);
	cover_release(&c);
	finding_set_free(set);
}

/* ---- races that only explored schedules showed ---- */

static void test_sighted(void **state)
{
	uint32_t seen[][2] = {{SITE(1), SITE(2)}, {SITE(6), SITE(4)}, {SITE(1), SITE(99)}};
	struct explore_result r = {.seen = seen, .seen_count = 3};
	struct finding_set *sighted = explore_sighted(&r, sites), *set = finding_set_new();
	struct finding *f;

	(void)state;
	assert_int_equal(sighted->count, 2); /* site 99 is not in the table */
	for (size_t i = 0; i < 2; i++) {
		f = sighted->items[i];
		assert_int_equal(f->status, FINDING_UNCONFIRMED);
		assert_int_equal(f->access_count, 2);
		assert_non_null(f->reason);
	}
	f = sighted->items[0]->accesses[0].stack.frames[0].line == 10 ? sighted->items[0] : sighted->items[1];
	assert_int_equal(f->accesses[0].op, FINDING_READ);
	assert_int_equal(f->accesses[1].op, FINDING_WRITE);
	assert_false(f->accesses[0].atomic);
	assert_string_equal(f->object.name, "x");
	f = f == sighted->items[0] ? sighted->items[1] : sighted->items[0];
	assert_true(f->accesses[0].atomic && f->accesses[1].atomic);
	assert_int_equal(f->accesses[0].op, FINDING_READ);  /* an atomic load */
	assert_int_equal(f->accesses[1].op, FINDING_WRITE); /* an atomic update */

	explore_put_sighted(set, NULL);
	assert_int_equal(set->count, 0);
	explore_put_sighted(set, sighted);
	assert_int_equal(set->count, 2);
	explore_put_sighted(set, sighted); /* they are not added again, whichever access is first */
	assert_int_equal(set->count, 2);
	finding_set_free(set);
	finding_set_free(sighted);
}

/* ---- races that are known from findings ---- */

static struct finding *add_race(struct finding_set *set, uint32_t a, uint32_t b, enum finding_status status)
{
	struct finding *f = finding_add(set, FINDING_RACE);

	f->status = status;
	f->access_count = 2;
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	for (int i = 0; i < 2; i++) {
		f->accesses[i].stack.frames = finding_array(set, 1, sizeof(struct finding_frame));
		f->accesses[i].stack.count = 1;
		f->accesses[i].stack.frames[0] =
			(struct finding_frame){.file = "/home/a/prog.c", .line = line_of[i ? b : a]};
	}
	return f;
}

/* A predicted race that no replay has met is marked if the detector saw it; a confirmed one is not. */
static void test_sighted_again(void **state)
{
	uint32_t seen[][2] = {{SITE(2), SITE(1)}, {SITE(4), SITE(6)}};
	struct explore_result r = {.seen = seen, .seen_count = 2};
	struct finding_set *sighted = explore_sighted(&r, sites), *set = finding_set_new();
	struct finding *open = add_race(set, 1, 2, FINDING_UNCONFIRMED),
		       *confirmed = add_race(set, 4, 6, FINDING_CONFIRMED);

	(void)state;
	open->reason = "not met";
	for (int i = 0; i < 2; i++) {
		explore_put_sighted(set, sighted);
		assert_int_equal(set->count, 2);
		assert_true(open->unordered && open->status == FINDING_UNCONFIRMED);
		assert_string_equal(strstr(open->reason, "; "), "; not met");
		assert_false(confirmed->unordered || confirmed->reason);
	}
	finding_set_free(set);
	finding_set_free(sighted);
}

/* A race is known if a confirmed finding has the same two places, in either order. */
static void test_known(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct finding_set *set = finding_set_new();
		uint32_t a = 1 + below(KNOWN), b = 1 + below(KNOWN), x = 1 + below(KNOWN),
			 y = 1 + below(KNOWN);
		enum finding_status status = below(2) ? FINDING_CONFIRMED : FINDING_UNCONFIRMED;
		bool same = (line_of[a] == line_of[x] && line_of[b] == line_of[y]) ||
			    (line_of[a] == line_of[y] && line_of[b] == line_of[x]);

		add_race(set, a, b, status);
		assert_int_equal(explore_is_known(set, sites, (uint32_t[]){SITE(x), SITE(y)}),
				 same && status == FINDING_CONFIRMED);
		finding_set_free(set);
	}
}

/* The accesses of races that were not dropped are suggested.  Calls are not accesses. */
static void test_suggested(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct finding_set *set = finding_set_new();
		bool expected[SITES + 1] = {false};
		uint32_t to[SITES + 1];
		size_t count, wanted = 0;

		for (uint32_t n = below(4); n > 0; n--) {
			uint32_t a = 1 + below(KNOWN), b = 1 + below(KNOWN);
			enum finding_status status = below(3) == 0   ? FINDING_CONFIRMED
						     : below(2) == 0 ? FINDING_UNCONFIRMED
								     : FINDING_DROPPED;

			add_race(set, a, b, status);
			for (uint32_t s = 1; s <= KNOWN && status != FINDING_DROPPED; s++)
				expected[s] |=
					s != 5 && (line_of[s] == line_of[a] || line_of[s] == line_of[b]);
		}
		count = explore_suggested(set, sites, to, SITES);
		for (uint32_t s = 1; s <= SITES; s++) {
			bool found = false;

			for (size_t i = 0; i < count; i++)
				found |= to[i] == SITE(s);
			assert_int_equal(found, expected[s]);
			wanted += expected[s];
		}
		assert_int_equal(count, wanted);
		assert_int_equal(explore_suggested(set, sites, to, 1),
				 wanted != 0); /* not more sites than there is room for */
		assert_int_equal(explore_suggested(set, NULL, to, SITES), 0);
		finding_set_free(set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),	      cmocka_unit_test(test_describe),
		cmocka_unit_test(test_object),	      cmocka_unit_test(test_known),
		cmocka_unit_test(test_suggested),     cmocka_unit_test(test_sighted),
		cmocka_unit_test(test_sighted_again),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
