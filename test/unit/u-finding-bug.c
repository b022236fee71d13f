// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of bugs: which findings are one bug, what its id depends on, which finding stands for
 * it, and the sentences about it.
 */
#include "finding-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "finding/bug.h"
#include "finding/timeline.h"

#include <stdlib.h>
#include <string.h>

/* ---- made-up findings ---- */

struct side {
	const char *function;
	uint32_t line;
	enum finding_op op;
	const char *what;   /* NULL for the name of the object */
	const char *lock;   /* NULL if no lock is held */
	const char *inside; /* the file of a library function that makes the access; NULL if none does */
};

static void set_side(struct finding_set *set, struct finding *f, size_t i, const struct side *s)
{
	struct finding_access *a = &f->accesses[i];

	a->thread = i ? "T_0_1" : "T_0_0";
	a->op = s->op;
	a->what = s->what ? s->what : f->object.name;
	if (s->inside)
		a->stack = fixture_stack(set, FRAMES({"std::vector::push_back", s->inside, 99, 1},
						     {s->function, "src/a.cc", s->line, 1},
						     {"run", "src/a.cc", 90, 1}));
	else
		a->stack = fixture_stack(
			set, FRAMES({s->function, "src/a.cc", s->line, 1}, {"run", "src/a.cc", 90, 1}));
	if (!s->lock)
		return;
	a->locks = fixture_lock(set, s->lock, 10);
	a->lock_count = 1;
}

static struct finding *race(struct finding_set *set, const char *object, struct side a, struct side b)
{
	struct finding *f = finding_add(set, FINDING_RACE);

	f->object.name = object;
	f->object.kind = FINDING_GLOBAL;
	f->status = FINDING_CONFIRMED;
	f->accesses = finding_array(set, 2, sizeof *f->accesses);
	f->access_count = 2;
	set_side(set, f, 0, &a);
	set_side(set, f, 1, &b);
	fixture_threads(set, f);
	return f;
}

/* Makes the object one that `function` allocates. */
static struct finding *on_heap(struct finding_set *set, struct finding *f, const char *function)
{
	f->object.kind = FINDING_HEAP;
	f->object.stack = fixture_stack(set, FRAMES({function, "src/a.cc", 5, 1}));
	return f;
}

static size_t bugs_of(struct finding_set *set)
{
	struct finding_bugs bugs;
	size_t count;

	finding_set_finish(set);
	finding_bugs_list(&bugs, set);
	count = bugs.count;
	finding_bugs_release(&bugs);
	return count;
}

#define READ(function, line) ((struct side){function, line, FINDING_READ, NULL, NULL, NULL})
#define WRITE(function, line) ((struct side){function, line, FINDING_WRITE, NULL, NULL, NULL})

/* ---- which findings are one bug ---- */

static void one_variable_is_one_bug(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	race(set, "hits", WRITE("add", 1), READ("get", 2));
	race(set, "hits", WRITE("reset", 3), READ("show", 4));
	race(set, "misses", WRITE("add", 5), READ("get", 6));
	assert_int_equal(bugs_of(set), 2);
	finding_set_free(set);
}

static void elements_of_an_array_are_one_bug(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	race(set, "table[3].count", WRITE("add", 1), READ("get", 2));
	race(set, "table[4].count", WRITE("sub", 3), READ("show", 4));
	race(set, "table[4].name", WRITE("rename", 5), READ("find", 6));
	assert_int_equal(bugs_of(set), 2);
	finding_set_free(set);
}

static void fields_need_the_same_functions_and_locks(void **state)
{
	struct side locked = WRITE("push", 3);
	struct finding_set *set = finding_set_new();

	(void)state;
	race(set, "queue.head", WRITE("push", 1), READ("pop", 2));
	race(set, "queue.tail", WRITE("push", 3), READ("pop", 4));
	assert_int_equal(bugs_of(set), 1);
	finding_set_free(set);

	set = finding_set_new();
	locked.lock = "queue.lock";
	race(set, "queue.head", WRITE("push", 1), READ("pop", 2));
	race(set, "queue.closed", locked, READ("pop", 4));
	race(set, "queue.name", WRITE("rename", 5), READ("find", 6));
	assert_int_equal(bugs_of(set), 3);
	finding_set_free(set);
}

/* A reference count that is tested without its lock, and the use after free that follows. */
static void end_of_life(void **state)
{
	struct side count = {"drop", 13, FINDING_WRITE, "o->refs", NULL, NULL},
		    test = {"drop", 16, FINDING_READ, "o->refs", NULL, NULL},
		    end = {"drop", 17, FINDING_FREE, "free", NULL, NULL},
		    name = {"rename", 30, FINDING_WRITE, "o->name", NULL, NULL},
		    find = {"find", 31, FINDING_READ, "o->name", NULL, NULL};
	struct finding_set *set = finding_set_new();
	struct finding_bugs bugs;

	(void)state;
	on_heap(set, race(set, "struct object.refs", count, test), "make");
	on_heap(set, race(set, "struct object.refs", test, end), "make");
	on_heap(set, race(set, "struct object.name", name, find), "make");
	on_heap(set, race(set, "struct other.refs", count, end), "make_other");
	assert_int_equal(bugs_of(set), 3);
	finding_bugs_list(&bugs, set);
	for (size_t i = 0; i < bugs.count; i++)
		if (bugs.items[i].count == 2) /* the worse finding stands for the bug */
			assert_int_equal(finding_detail(bugs.items[i].findings[0]), FINDING_USE_AFTER_FREE);
	finding_bugs_release(&bugs);
	finding_set_free(set);
}

/* Nodes and size of a container are one bug if one line of the program touches both. */
static void containers(void **state)
{
	static const char library[] = "/usr/include/c++/12/bits/stl_vector.h";
	struct side put = {"put", 20, FINDING_WRITE, "this->_M_size", NULL, library},
		    get = {"get", 25, FINDING_READ, "this->_M_size", NULL, library},
		    other = {"tell", 40, FINDING_READ, "this->_M_size", NULL, library};
	struct finding_set *set = finding_set_new();
	struct finding_bugs bugs;
	struct rd_buf title = RD_BUF_INIT;

	(void)state;
	race(set, "cache+16", put, get);
	on_heap(set, race(set, "std::_Node", put, put), "node");
	on_heap(set, race(set, "std::_Other", other, other), "elsewhere");
	assert_int_equal(bugs_of(set), 2);
	finding_bugs_list(&bugs, set);
	finding_bug_title(&title, &bugs.items[bugs.items[0].count == 2 ? 0 : 1]);
	assert_string_equal(title.data, "data race on cache");
	rd_buf_release(&title);
	finding_bugs_release(&bugs);
	finding_set_free(set);
}

static void deadlocks(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	fixture_deadlock(set);
	fixture_deadlock(set)->cycle[0].stack.frames[0].line = 77;
	fixture_deadlock(set)->cycle[1].wants = "other";
	assert_int_equal(bugs_of(set), 2);
	finding_set_free(set);
}

/* ---- ids ---- */

/* Edits of other code move lines, and the recorded order exchanges the accesses.  Neither changes the
 * id. */
static void ids_are_stable(void **state)
{
	struct finding_set *a = finding_set_new(), *b = finding_set_new();

	(void)state;
	race(a, "hits", WRITE("add", 1), READ("get", 2));
	race(b, "hits", READ("get", 102), WRITE("add", 101));
	bugs_of(a);
	bugs_of(b);
	assert_string_equal(a->items[0]->bug, b->items[0]->bug);
	finding_set_free(a);
	finding_set_free(b);
}

static void found_by_a_part_of_the_id(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding_bugs bugs;
	char part[7];

	(void)state;
	race(set, "hits", WRITE("add", 1), READ("get", 2));
	finding_set_finish(set);
	finding_bugs_list(&bugs, set);
	snprintf(part, sizeof part, "%.6s", bugs.items[0].id);
	assert_ptr_equal(finding_bugs_find(&bugs, part), set->items[0]);
	part[5] = '\0'; /* too short */
	assert_null(finding_bugs_find(&bugs, part));
	finding_bugs_release(&bugs);
	finding_set_free(set);
}

/* The slow, obvious definition for races on variables: one bug for each name. */
static void as_many_bugs_as_variables(void **state)
{
	struct rd_random random = {.state = 7};
	static const char *const names[] = {"a", "b[1]", "b[2]", "c", "d", "e"};

	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		struct finding_set *set = finding_set_new();
		bool used[6] = {false};
		size_t expected = 0;

		for (unsigned i = 0; i < 1 + round % 20; i++) {
			uint64_t n = rd_random_below(&random, 6);

			race(set, names[n], WRITE("f", 1 + (uint32_t)rd_random_below(&random, 9)),
			     READ("g", 11 + (uint32_t)rd_random_below(&random, 9)));
			used[n == 2 ? 1 : n] = true;
		}
		for (size_t i = 0; i < 6; i++)
			expected += used[i];
		assert_int_equal(bugs_of(set), expected);
		finding_set_free(set);
	}
}

/* ---- the order of bugs ---- */

static void worst_first(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding_bugs bugs;

	(void)state;
	race(set, "harmless", WRITE("f", 1), READ("g", 2))->class = FINDING_K_WITNESS_HARMLESS;
	race(set, "unconfirmed", WRITE("f", 3), READ("g", 4))->status = FINDING_UNCONFIRMED;
	race(set, "unknown", WRITE("f", 5), READ("g", 6));
	race(set, "output", WRITE("f", 7), READ("g", 8))->class = FINDING_OUTPUT_DIFFERS;
	race(set, "crash", WRITE("f", 9), READ("g", 10))->class = FINDING_SPEC_VIOLATED;
	finding_set_finish(set);
	finding_bugs_list(&bugs, set);
	static const char *const order[] = {"crash", "output", "unknown", "harmless", "unconfirmed"};
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(bugs.items[i].findings[0]->object.name, order[i]);
	assert_int_equal(finding_bugs_fresh(&bugs), 4);
	bugs.items[0].findings[0]->known = true;
	assert_int_equal(finding_bugs_fresh(&bugs), 3);
	finding_bugs_release(&bugs);
	finding_set_free(set);
}

/* ---- why ---- */

static void assert_why(struct finding_set *set, const char *expected)
{
	struct rd_buf why = RD_BUF_INIT;
	struct finding_bugs bugs;

	finding_set_finish(set);
	finding_bugs_list(&bugs, set);
	assert_int_equal(bugs.count, 1);
	finding_why(&why, &bugs.items[0]);
	assert_string_equal(why.data, expected);
	rd_buf_release(&why);
	finding_bugs_release(&bugs);
	finding_set_free(set);
}

static void why_no_lock(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	race(set, "hits", WRITE("add", 1), READ("get", 2));
	assert_why(set, "No lock protects hits at a.cc:1 in add and a.cc:2 in get, and nothing else orders "
			"these accesses.");
	set = finding_set_new();
	race(set, "hits", WRITE("add", 1), READ("add", 1));
	assert_why(set, "Several threads execute a.cc:1 without a lock, and nothing else orders them.");
}

static void why_a_lock_is_missing(void **state)
{
	struct finding_set *set = finding_set_new();
	struct side add = WRITE("add", 1), get = READ("get", 2);

	(void)state;
	add.lock = get.lock = "m";
	race(set, "hits", add, READ("show", 3));
	race(set, "hits", get, WRITE("reset", 4));
	assert_why(set,
		   "The lock m is held at 2 of the 4 places that access hits, but not at a.cc:3 in show and "
		   "a.cc:4 in reset.");
}

/* Nothing is said about locks that are not known, or that are held for reading. */
static void why_not_about_locks(void **state)
{
	struct side add = WRITE("add", 1);
	struct finding_set *set = finding_set_new();

	(void)state;
	race(set, "hits", add, READ("get", 2))->thread_count = 0;
	assert_why(set, "");
	set = finding_set_new();
	add.lock = "rw";
	race(set, "hits", add, READ("get", 2))->accesses[0].locks[0].shared = true;
	assert_why(set, "");
	set = finding_set_new();
	race(set, "hits", WRITE("add", 1), READ("get", 2))->status = FINDING_DROPPED;
	assert_why(set, "");
	set = finding_set_new();
	race(set, "hits", WRITE("add", 1), READ("get", 2))->class = FINDING_SINGLE_ORDERING;
	assert_why(set, "");
}

/* A lock that a thread holds besides those of the cycle is not named, and does not split the bug. */
static void why_not_about_outer_locks(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding *f;
	struct finding_lock *holds;

	(void)state;
	fixture_deadlock(set);
	f = fixture_deadlock(set);
	holds = finding_array(set, 2, sizeof *holds);
	holds[0] = (struct finding_lock){.name = "outer", .kind = "mutex"};
	holds[1] = f->cycle[0].holds[0];
	f->cycle[0].holds = holds;
	f->cycle[0].hold_count = 2;
	f->cycle[0].stack.frames[0].line = 60; /* another place, or both would be one finding */
	assert_why(set, "The locks are taken in different orders: adder takes accounts[0].lock before "
			"accounts[1].lock and worker takes accounts[1].lock before accounts[0].lock.");
}

static void names_of_functions(void **state)
{
	static const struct {
		const char *function, *name;
	} table[] = {{"get", "get"},
		     {"int get(void)", "get"},
		     {"std::vector<int> Pool::all(int) const", "Pool::all"},
		     {"(anonymous namespace)::run(int)", "run"},
		     {"main::$_0::operator()() const", "lambda in main"},
		     {"Task::operator()()", "Task::operator()()"},
		     {"", ""}};
	struct rd_buf name = RD_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		finding_function_name(&name, table[i].function);
		assert_string_equal(name.data, table[i].name);
		rd_buf_clear(&name);
	}
	rd_buf_release(&name);
}

static void why_a_use_after_free(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	race(set, "o", (struct side){"drop", 17, FINDING_FREE, "free", NULL, NULL}, READ("get", 2));
	assert_why(set,
		   "Nothing prevents the object from being freed at a.cc:17 before it is used at line 2.");
}

static void why_a_deadlock(void **state)
{
	struct finding_set *set = finding_set_new();

	(void)state;
	fixture_deadlock(set);
	assert_why(set, "The locks are taken in different orders: adder takes accounts[0].lock before "
			"accounts[1].lock and worker takes accounts[1].lock before accounts[0].lock.");
}

/* ---- timelines ---- */

static void timeline_of_a_deadlock(void **state)
{
	static const char *const events[] = {"takes accounts[0].lock", "takes accounts[1].lock",
					     "waits for accounts[1].lock", "waits for accounts[0].lock"};
	struct finding_set *set = finding_set_new();
	struct finding_timeline t;

	(void)state;
	finding_timeline_make(&t, fixture_deadlock(set));
	assert_int_equal(t.count, 4);
	for (size_t i = 0; i < t.count; i++) {
		assert_string_equal(t.steps[i].event, events[i]);
		assert_int_equal(t.steps[i].last, i >= 2);
	}
	finding_timeline_release(&t);
	finding_set_free(set);
}

/* The access that the witness executes first comes first. */
static void timeline_of_a_witness(void **state)
{
	struct finding_set *set = fixture_classified();
	struct finding *f = set->items[0];
	struct finding_timeline t;

	(void)state;
	f->witnesses[0].schedule->first = "T_0_1";
	finding_timeline_make(&t, f);
	assert_int_equal(t.count, 3);
	assert_string_equal(t.steps[0].event, "reads hits");
	assert_string_equal(t.steps[1].event, "takes table[3].lock");
	assert_string_equal(t.steps[2].event, "writes hits");
	finding_timeline_release(&t);
	finding_set_free(set);
}

static void timeline_of_nothing(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding_timeline t;

	(void)state;
	finding_timeline_make(&t, finding_add(set, FINDING_FAILURE));
	assert_int_equal(t.count, 0);
	finding_timeline_release(&t);
	finding_set_free(set);
}

static void names_of_threads(void **state)
{
	static const struct {
		const char *thread, *name;
	} table[] = {{"T_0", "main"}, {"T_0_0", "adder"}, {"T_0_1", "worker"}, {"T_0_7", "thread T_0_7"}};
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "hits", 12);
	struct rd_buf name = RD_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		finding_thread_name(&name, f, table[i].thread);
		assert_string_equal(name.data, table[i].name);
		rd_buf_clear(&name);
	}
	f->threads[0].label = NULL; /* now both are known by the function that they run */
	finding_thread_name(&name, f, "T_0_1");
	assert_string_equal(name.data, "worker 2");
	rd_buf_release(&name);
	finding_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_variable_is_one_bug),
		cmocka_unit_test(elements_of_an_array_are_one_bug),
		cmocka_unit_test(fields_need_the_same_functions_and_locks),
		cmocka_unit_test(end_of_life),
		cmocka_unit_test(containers),
		cmocka_unit_test(deadlocks),
		cmocka_unit_test(ids_are_stable),
		cmocka_unit_test(found_by_a_part_of_the_id),
		cmocka_unit_test(as_many_bugs_as_variables),
		cmocka_unit_test(worst_first),
		cmocka_unit_test(why_no_lock),
		cmocka_unit_test(why_a_lock_is_missing),
		cmocka_unit_test(why_a_use_after_free),
		cmocka_unit_test(why_not_about_locks),
		cmocka_unit_test(why_not_about_outer_locks),
		cmocka_unit_test(names_of_functions),
		cmocka_unit_test(why_a_deadlock),
		cmocka_unit_test(timeline_of_a_deadlock),
		cmocka_unit_test(timeline_of_a_witness),
		cmocka_unit_test(timeline_of_nothing),
		cmocka_unit_test(names_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
