// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of epa/rename-int.h.  A run is the golden run with some objects added and some removed
 * at each site.  The reference knows which golden object each object of the run is.  Every reported
 * match is applied to the reference, too.
 */
#include "epa/rename-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 3, SITES = 3, OBJECTS = 40, RUNS = 300 };

static uint64_t seed = 11;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

static struct epa_name name(enum epa_kind kind, uint32_t thread, uint32_t site, uint64_t ordinal,
			    int64_t offset)
{
	struct epa_name n = epa_name_of(kind, thread, ordinal);

	n.where = (uint64_t)site << EPA_NAME_SITE | ((uint64_t)offset & ((UINT64_C(1) << EPA_NAME_SITE) - 1));
	return n;
}

static void test_parts(void **state)
{
	struct epa_name n = name(EPA_HEAP, 7, 99, 12345, -8);

	(void)state;
	assert_int_equal(epa_name_kind(n), EPA_HEAP);
	assert_int_equal(epa_name_thread(n), 7);
	assert_int_equal(epa_name_offset(n), -8);
	assert_true(epa_name_same(epa_name_base(n), name(EPA_HEAP, 7, 99, 12345, 0)));
	assert_false(epa_name_same(n, epa_name_base(n)));
}

/* The objects that one thread allocates at one site. golden[i] is the golden ordinal of the run's
 * object i; -1 means that the golden run does not have the object. */
struct site {
	int64_t golden[OBJECTS];
	size_t count;
};

static void random_site(struct site *s)
{
	int64_t next = 0;

	s->count = 0;
	while (s->count < OBJECTS) {
		switch (below(12)) {
		case 0: next += 1 + below(3); break; /* objects that the run lacks */
		case 1: s->golden[s->count++] = -1; break;
		default: s->golden[s->count++] = next++; break;
		}
	}
}

/* Objects are matched when they are allocated.  From then on, each has its golden name. */
static void test_follows(void **state)
{
	size_t shifted = 0;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		static struct site sites[THREADS][SITES];
		struct epa_renames r = {0};
		for (uint32_t t = 0; t < THREADS; t++)
			for (uint32_t s = 0; s < SITES; s++)
				random_site(&sites[t][s]);
		for (size_t i = 0; i < OBJECTS; i++)
			for (uint32_t t = 0; t < THREADS; t++)
				for (uint32_t s = 0; s < SITES; s++) {
					int64_t golden = sites[t][s].golden[i];
					struct epa_name mine = name(EPA_HEAP, t, s, i, 0), theirs;
					if (golden < 0)
						continue;
					theirs = name(EPA_HEAP, t, s, (uint64_t)golden, 0);
					epa_renames_match(&r, mine, theirs);
					assert_true(epa_name_same(epa_renames_apply(&r, mine), theirs));
					shifted += golden != (int64_t)i;
				}
		/* All names are still right at the end, also with offsets. */
		for (uint32_t t = 0; t < THREADS; t++)
			for (uint32_t s = 0; s < SITES; s++)
				for (size_t i = 0; i < OBJECTS; i++) {
					int64_t golden = sites[t][s].golden[i];
					if (golden < 0)
						continue;
					assert_true(epa_name_same(
						epa_renames_apply(&r, name(EPA_HEAP, t, s, i, 24)),
						name(EPA_HEAP, t, s, (uint64_t)golden, 24)));
				}
		epa_renames_release(&r);
	}
	assert_true(shifted > 1000);
}

/* After a match, later objects are expected to differ by the same number. */
static void test_goes_on(void **state)
{
	struct epa_renames r = {0};

	(void)state;
	epa_renames_match(&r, name(EPA_HEAP, 1, 2, 10, 0), name(EPA_HEAP, 1, 2, 8, 0));
	assert_true(
		epa_name_same(epa_renames_apply(&r, name(EPA_HEAP, 1, 2, 9, 0)), name(EPA_HEAP, 1, 2, 9, 0)));
	assert_true(epa_name_same(epa_renames_apply(&r, name(EPA_HEAP, 1, 2, 15, 4)),
				  name(EPA_HEAP, 1, 2, 13, 4)));
	/* From here on, the run has fewer objects than the golden run, not more. */
	epa_renames_match(&r, name(EPA_HEAP, 1, 2, 20, 0), name(EPA_HEAP, 1, 2, 25, 0));
	assert_true(epa_name_same(epa_renames_apply(&r, name(EPA_HEAP, 1, 2, 21, 0)),
				  name(EPA_HEAP, 1, 2, 26, 0)));
	assert_true(epa_name_same(epa_renames_apply(&r, name(EPA_HEAP, 1, 2, 15, 0)),
				  name(EPA_HEAP, 1, 2, 13, 0)));
	/* Matches do not affect other threads, sites and kinds. */
	assert_true(epa_name_same(epa_renames_apply(&r, name(EPA_HEAP, 2, 2, 15, 0)),
				  name(EPA_HEAP, 2, 2, 15, 0)));
	assert_true(epa_name_same(epa_renames_apply(&r, name(EPA_HEAP, 1, 3, 15, 0)),
				  name(EPA_HEAP, 1, 3, 15, 0)));
	assert_true(
		epa_name_same(epa_renames_apply(&r, name(EPA_MAP, 1, 2, 15, 0)), name(EPA_MAP, 1, 2, 15, 0)));
	epa_renames_release(&r);
}

/* Two names do not match if they differ in more than the ordinal.  Variables, which no thread
 * allocates, never match. */
static void test_ignored(void **state)
{
	struct epa_renames r = {0};

	(void)state;
	epa_renames_match(&r, name(EPA_HEAP, 1, 2, 10, 0), name(EPA_HEAP, 2, 2, 8, 0));
	epa_renames_match(&r, name(EPA_HEAP, 1, 2, 10, 0), name(EPA_HEAP, 1, 3, 8, 0));
	epa_renames_match(&r, name(EPA_HEAP, 1, 2, 10, 0), name(EPA_STACK, 1, 2, 8, 0));
	epa_renames_match(&r, name(EPA_HEAP, 1, 2, 10, 8), name(EPA_HEAP, 1, 2, 8, 8));
	epa_renames_match(&r, name(EPA_VARIABLE, 0, 2, 10, 0), name(EPA_VARIABLE, 0, 2, 8, 0));
	epa_renames_match(&r, name(EPA_HEAP, 1, 2, 10, 0), name(EPA_HEAP, 1, 2, 10, 0));
	assert_int_equal(r.count, 0);
	assert_true(epa_name_same(epa_renames_apply(&r, epa_plain(10)), epa_plain(10)));
	epa_renames_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_ignored),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
