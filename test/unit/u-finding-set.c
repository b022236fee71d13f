// SPDX-License-Identifier: Apache-2.0
/* Unit tests of finding/finding.h: identity, duplicates, order, lookup. */
#include "finding-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *only_id(struct finding_set *set)
{
	finding_set_finish(set);
	assert_int_equal(set->count, 1);
	assert_int_equal(strlen(set->items[0]->id), FINDING_ID_SIZE - 1);
	return set->items[0]->id;
}

/* Stores the id of the fixture's race after a change to it. */
static void id_after(void (*change)(struct finding_set *, struct finding *), char id[FINDING_ID_SIZE])
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "table[3].hits", 12);

	if (change)
		change(set, f);
	strcpy(id, only_id(set));
	finding_set_free(set);
}

static void move_lines(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->accesses[0].stack.frames[0].line += 7;
	f->accesses[1].stack.frames[0].line += 7;
	f->accesses[1].stack.frames[0].column = 1;
	f->accesses[0].stack.frames[1].line = 1;
}

static void build_elsewhere(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->accesses[0].stack.frames[0].file = "/build/reproducible/src/counter.c";
}

static void other_threads(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->accesses[0].thread = "T_0_7";
	f->accesses[1].thread = "T_0_3_1";
}

static void other_element(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->object.name = "table[12].hits";
}

static void other_side_first(struct finding_set *set, struct finding *f)
{
	struct finding_access first = f->accesses[0];

	(void)set;
	f->accesses[0] = f->accesses[1];
	f->accesses[1] = first;
}

static void caught_at_read(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->accesses[0].op = FINDING_READ;
}

static void other_function(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->accesses[0].stack.frames[0].function = "add_two";
}

static void other_object(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->object.name = "other[3].hits";
}

/* A struct is copied.  In another run, the race is found at another of its fields. */
static void other_field(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->object.name = "table[3].misses";
	f->accesses[1].subject = f->accesses[1].what;
	f->accesses[1].what = "table[].misses";
}

static void other_statement(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->accesses[1].subject = "table[].misses";
}

static void other_ordinal(struct finding_set *set, struct finding *f)
{
	(void)set;
	f->accesses[1].ordinal = 1;
}

static void ids_survive(void **state)
{
	void (*const changes[])(struct finding_set *, struct finding *) = {
		move_lines,	  build_elsewhere, other_threads, other_element,
		other_side_first, caught_at_read,  other_field};
	char id[FINDING_ID_SIZE], changed[FINDING_ID_SIZE];

	(void)state;
	id_after(NULL, id);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		id_after(changes[i], changed);
		assert_string_equal(changed, id);
	}
}

static void ids_differ(void **state)
{
	void (*const changes[])(struct finding_set *, struct finding *) = {other_function, other_object,
									   other_ordinal, other_statement};
	char id[FINDING_ID_SIZE], changed[FINDING_ID_SIZE];

	(void)state;
	id_after(NULL, id);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		id_after(changes[i], changed);
		assert_string_not_equal(changed, id);
	}
}

/* Heap objects are identified by their allocation, not by number or offset. */
static void heap_ids(void **state)
{
	char ids[3][FINDING_ID_SIZE];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct finding_set *set = finding_set_new();
		struct finding *f = fixture_race(set, i ? "heap T_0_2#9+4816" : "heap T_0#4+16", 12);

		f->object.kind = FINDING_HEAP;
		f->object.stack =
			fixture_stack(set, FRAMES({i == 2 ? "list_new" : "table_new", "t.c", i, 0}));
		strcpy(ids[i], only_id(set));
		finding_set_free(set);
	}
	assert_string_equal(ids[0], ids[1]);
	assert_string_not_equal(ids[0], ids[2]);
}

/* A lock on the heap is named by the place of its allocation.  Findings from before this rule keep
 * their IDs, so that they stay in baselines. */
static void heap_lock_ids(void **state)
{
	static const char *const names[] = {"heap T_0#4+16", "heap T_0 (main.c:33)#0+16",
					    "heap T_0_1 (site 7)#2+16"};
	char ids[3][FINDING_ID_SIZE];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct finding_set *set = finding_set_new();

		fixture_race(set, names[i], 12);
		strcpy(ids[i], only_id(set));
		finding_set_free(set);
	}
	assert_string_equal(ids[0], ids[1]);
	assert_string_equal(ids[0], ids[2]);
}

static void duplicates_merge(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct finding *f = fixture_race(set, i % 2 ? "table[1].hits" : "table[2].hits", 12);

		f->accesses[0].thread = i % 2 ? "T_0_5" : "T_0_6";
		f->status = i == 3 ? FINDING_CONFIRMED : i == 1 ? FINDING_DROPPED : FINDING_UNCONFIRMED;
	}
	finding_set_finish(set);
	assert_int_equal(set->count, 1);
	assert_int_equal(set->items[0]->count, 5);
	assert_int_equal(set->items[0]->status, FINDING_CONFIRMED);
	finding_set_finish(set);
	assert_int_equal(set->items[0]->count, 5);
	finding_set_free(set);
}

/* Of the races of x++, the one of two writes is shown. */
static void writes_win(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	fixture_race(set, "hits", 12);
	fixture_race(set, "hits", 12)->accesses[1].op = FINDING_WRITE;
	fixture_race(set, "hits", 12);
	finding_set_finish(set);
	assert_int_equal(set->count, 1);
	assert_int_equal(set->items[0]->accesses[1].op, FINDING_WRITE);
	finding_set_free(set);
}

/* Even without ordinals, places in the same function have different IDs.  They follow the order of
 * the source, whatever the order of discovery. */
static void ids_are_unique(void **state)
{
	char ids[2][3][FINDING_ID_SIZE];
	static const uint32_t lines[2][3] = {{12, 14, 16}, {26, 22, 24}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct finding_set *set = finding_set_new();

		for (unsigned k = 0; k < 3; k++)
			fixture_race(set, "hits", lines[i][k]);
		finding_set_finish(set);
		assert_int_equal(set->count, 3);
		for (unsigned k = 0; k < 3; k++)
			strcpy(ids[i][k], set->items[k]->id);
		assert_string_not_equal(ids[i][0], ids[i][1]);
		assert_string_not_equal(ids[i][1], ids[i][2]);
		finding_set_free(set);
	}
	assert_memory_equal(ids[0], ids[1], sizeof ids[0]);
}

static void deadlock_ids(void **state)
{
	struct finding_set *a = finding_set_new(), *b = finding_set_new();
	struct finding *f = fixture_deadlock(a), *g = fixture_deadlock(b);
	struct finding_wait first = g->cycle[0];

	(void)state;
	g->cycle[0] = g->cycle[1];
	g->cycle[1] = first;
	g->cycle[0].stack.frames[0].line = 99;
	finding_set_finish(a);
	finding_set_finish(b);
	assert_string_equal(f->id, g->id);
	assert_string_not_equal(f->fingerprint, g->fingerprint);
	finding_set_free(a);
	finding_set_free(b);
}

/* The id of a deadlock includes which line of the function waits.  It does not depend on what else
 * was found. */
static void deadlock_ids_alone(void **state)
{
	struct finding_set *alone = finding_set_new(), *both = finding_set_new();
	struct finding *f = fixture_deadlock(alone), *first = fixture_deadlock(both),
		       *g = fixture_deadlock(both);

	(void)state;
	f->cycle[0].ordinal = g->cycle[0].ordinal = 1;
	f->cycle[0].stack.frames[0].line = g->cycle[0].stack.frames[0].line = 99;
	finding_set_finish(alone);
	finding_set_finish(both);
	assert_int_equal(both->count, 2);
	assert_string_equal(f->id, g->id);
	assert_string_not_equal(f->id, first->id);
	finding_set_free(alone);
	finding_set_free(both);
}

static void sorted_by_worth(void **state)
{
	struct finding_set *set = fixture_set();

	(void)state;
	assert_int_equal(set->count, 4);
	assert_int_equal(set->items[0]->kind, FINDING_RACE);
	assert_int_equal(set->items[1]->kind, FINDING_DEADLOCK);
	assert_int_equal(set->items[2]->status, FINDING_UNCONFIRMED);
	assert_int_equal(set->items[3]->status, FINDING_DROPPED);
	assert_int_equal(finding_set_count(set, FINDING_CONFIRMED, true), 2);
	set->items[0]->known = true;
	set->items[1]->suppressed = "race:x";
	assert_int_equal(finding_set_count(set, FINDING_CONFIRMED, true), 0);
	assert_int_equal(finding_set_count(set, FINDING_CONFIRMED, false), 2);
	finding_set_free(set);
}

static void found_by_id(void **state)
{
	struct finding_set *set = fixture_set();
	struct finding *f = set->items[2];
	char prefix[7];

	(void)state;
	snprintf(prefix, sizeof prefix, "%.6s", f->id);
	assert_ptr_equal(finding_find(set, f->id), f);
	assert_ptr_equal(finding_find(set, prefix), f);
	prefix[5] = '\0';
	assert_null(finding_find(set, prefix));
	assert_null(finding_find(set, "ffffffffffffffff"));
	assert_null(finding_find(set, "00000000000000000000000"));
	finding_set_free(set);
}

static void empty_set(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	finding_set_finish(set);
	assert_int_equal(set->count, 0);
	finding_set_free(set);
	finding_set_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_survive),	      cmocka_unit_test(ids_differ),
		cmocka_unit_test(heap_ids),	      cmocka_unit_test(heap_lock_ids),
		cmocka_unit_test(duplicates_merge),   cmocka_unit_test(writes_win),
		cmocka_unit_test(ids_are_unique),     cmocka_unit_test(deadlock_ids),
		cmocka_unit_test(deadlock_ids_alone), cmocka_unit_test(sorted_by_worth),
		cmocka_unit_test(found_by_id),	      cmocka_unit_test(empty_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
