// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of candidates/lock-int.h.  Sets of locks are compared with arrays of truth values.
 * The effect of a release is compared with its definition.  The effect of calls on lock names is
 * tested on a hand-made program.  Guards are compared with a machine that computes addresses: if
 * two guards exclude each other and the data is the same, a lock must be the same, too.
 */
#include "candidates-fixture.h"

#include "base/alloc.h"
#include "candidates/lock-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GLOBALS = 4, OFFSETS = 3, NAMED = GLOBALS * OFFSETS, LOCKS = NAMED + 6, ROUNDS = 3000 };

struct tables {
	struct made m;
	struct program p;
	struct candidates out;
	struct locks l;
	uint32_t operands[LOCKS]; /* addresses of locks: first of globals, then in pointers */
	uint32_t lock[LOCKS];
};

/* Makes globals with three places each, and pointers to some of these places.  The pointers are
 * arguments. */
static void begin(struct tables *t, uint64_t seed)
{
	struct made *m = &t->m;

	*t = (struct tables){0};
	made_begin(m, seed);
	for (uint32_t i = 0; i < GLOBALS; i++) {
		made_global(m, "lock", 0);
		for (uint32_t k = 0; k < OFFSETS; k++)
			made_place(m, i, (int64_t)k * 16);
	}
	for (uint32_t i = 0; i < NAMED; i++) {
		uint32_t set = made_set(m, UINT64_C(1) << i);
		t->operands[i] =
			made_constant(m, FACTS_CONSTANT_GLOBAL, i / OFFSETS, (int64_t)(i % OFFSETS) * 16);
		m->f->constants[t->operands[i] & ~FACTS_CONSTANT].set = set;
	}
	made_function(m, "f", LOCKS - NAMED, FACTS_FUNCTION_ROOT);
	made_block(m);
	made_value(m, FACTS_RETURN, 0);
	for (uint32_t i = NAMED; i < LOCKS; i++) {
		uint64_t places = 0;
		for (int k = 0; k < 3; k++)
			places |= UINT64_C(1) << below(m, NAMED);
		/* at least two places, so that the pointer does not identify a single lock */
		places |= UINT64_C(1) << (i % NAMED) | UINT64_C(1) << ((i + 1) % NAMED);
		t->operands[i] = i - NAMED;
		m->f->values[i - NAMED].set = made_set(m, places);
	}
	program_init(&t->p, m->f, &t->out);
	locks_init(&t->l, &t->p);
	for (uint32_t i = 0; i < LOCKS; i++)
		t->lock[i] = lock_at(&t->l, t->operands[i], false);
}

static void end(struct tables *t)
{
	locks_release(&t->l);
	program_release(&t->p);
	facts_free(t->m.f);
}

/* A set of locks as an array. */
struct twin {
	bool has[LOCKS];
};

static size_t count_of(const struct twin *s)
{
	size_t n = 0;
	for (int i = 0; i < LOCKS; i++)
		n += s->has[i];
	return n;
}

static void check_same(struct tables *t, uint32_t set, const struct twin *s)
{
	uint32_t items[LOCKS_MAX];
	size_t count = lockset_copy(&t->l, set, items);

	assert_int_equal(count, count_of(s));
	for (size_t i = 0; i < count; i++) {
		bool found = false;
		for (int k = 0; k < LOCKS; k++)
			found |= s->has[k] && t->lock[k] == items[i];
		assert_true(found);
	}
	for (int k = 0; k < LOCKS; k++)
		assert_int_equal(lockset_has(&t->l, set, t->lock[k]), s->has[k]);
}

/* Every address is a separate lock, and gets the same number whenever it is looked up. */
static void test_numbers(void **state)
{
	struct tables t;

	(void)state;
	begin(&t, 1);
	for (int i = 0; i < LOCKS; i++) {
		assert_int_equal(lock_at(&t.l, t.operands[i], false), t.lock[i]);
		assert_int_not_equal(lock_at(&t.l, t.operands[i], true), t.lock[i]);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(t.lock[i], t.lock[k]);
		assert_int_equal(t.l.items[t.lock[i]].path.kind, i < NAMED ? PATH_OBJECT : PATH_VALUE);
	}
	end(&t);
}

/* Whether two operands may be the same lock, by the definition: both may point to one place. */
static bool may_be_one(const struct tables *t, int a, int b)
{
	const struct facts *f = t->m.f;
	struct facts_run x = facts_members_of(f, facts_operand_set(f, t->operands[a]));
	struct facts_run y = facts_members_of(f, facts_operand_set(f, t->operands[b]));

	for (uint32_t i = x.first; i < x.end; i++)
		for (uint32_t k = y.first; k < y.end; k++)
			if (f->members[i].place == f->members[k].place)
				return true;
	return false;
}

static void take_away(const struct tables *t, struct twin *s, int lock)
{
	bool exact = s->has[lock];
	for (int i = 0; i < LOCKS; i++)
		s->has[i] = s->has[i] && (exact ? i != lock : !may_be_one(t, i, lock));
}

static void test_sets(void **state)
{
	struct tables t;
	struct twin twins[2] = {0};
	uint32_t sets[2] = {0};
	size_t full = 0, removed = 0, guessed = 0, met = 0;

	(void)state;
	begin(&t, 2);
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t i = below(&t.m, 2), lock = below(&t.m, LOCKS);
		struct twin *s = &twins[i], *other = &twins[!i];
		size_t before = count_of(s);
		switch (below(&t.m, 6)) {
		case 0:
		case 1:
		case 2:
			sets[i] = lockset_add(&t.l, sets[i], t.lock[lock]);
			full += before == LOCKS_MAX;
			s->has[lock] |= before < LOCKS_MAX;
			break;
		case 3:
			guessed += !s->has[lock];
			sets[i] = lockset_remove(&t.l, sets[i], t.lock[lock]);
			take_away(&t, s, (int)lock);
			removed += count_of(s) < before;
			break;
		case 4:
			if (below(&t.m, 4) != 0)
				break;
			sets[i] = lockset_meet(&t.l, sets[0], sets[1]);
			for (int k = 0; k < LOCKS; k++)
				s->has[k] &= other->has[k];
			met += count_of(s) != 0;
			break;
		default:
			if (below(&t.m, 8) != 0 || count_of(s) + count_of(other) > LOCKS_MAX)
				break;
			sets[i] = lockset_unite(&t.l, sets[i], sets[!i]);
			for (int k = 0; k < LOCKS; k++)
				s->has[k] |= other->has[k];
			break;
		}
		check_same(&t, sets[i], s);
		/* The number of a set depends on its members, not on the operations that made
		 * it. */
		assert_int_equal(sets[0] == sets[1], memcmp(&twins[0], &twins[1], sizeof twins[0]) == 0);
	}
	assert_true(full > 10 && removed > 100 && guessed > 50 && met > 5);
	end(&t);
}

static void test_overlap(void **state)
{
	struct tables t;
	size_t apart = 0, together = 0;

	(void)state;
	begin(&t, 3);
	for (int round = 0; round < 500; round++) {
		uint32_t sets[2] = {0};
		struct twin twins[2] = {0};
		bool expected = false;
		for (int i = 0; i < 2; i++)
			for (uint32_t n = 1 + below(&t.m, 2); n > 0; n--) {
				uint32_t lock = below(&t.m, LOCKS);
				sets[i] = lockset_add(&t.l, sets[i], t.lock[lock]);
				twins[i].has[lock] = true;
			}
		for (int i = 0; i < LOCKS; i++)
			for (int k = 0; k < LOCKS; k++)
				expected |= twins[0].has[i] && twins[1].has[k] && may_be_one(&t, i, k);
		assert_int_equal(locksets_overlap(&t.l, sets[0], sets[1]), expected);
		assert_false(locksets_overlap(&t.l, sets[0], 0));
		together += expected;
		apart += !expected;
	}
	assert_true(apart > 50 && together > 50);
	end(&t);
}

/* A lock held for reading excludes writers, but not other readers. */
static void test_reading(void **state)
{
	struct tables t;
	struct path data = {.kind = PATH_NONE, .index = FACTS_NONE};
	uint32_t reads, writes, nothing, other;

	(void)state;
	begin(&t, 4);
	reads = guards_of(&t.l, lockset_add(&t.l, 0, lock_at(&t.l, t.operands[0], true)), &data);
	writes = guards_of(&t.l, lockset_add(&t.l, 0, t.lock[0]), &data);
	other = guards_of(&t.l, lockset_add(&t.l, 0, t.lock[1]), &data);
	nothing = guards_of(&t.l, 0, &data);
	assert_false(guards_exclude(&t.l, reads, reads));
	assert_true(guards_exclude(&t.l, reads, writes));
	assert_true(guards_exclude(&t.l, writes, reads));
	assert_true(guards_exclude(&t.l, writes, writes));
	assert_false(guards_exclude(&t.l, writes, other));
	assert_false(guards_exclude(&t.l, writes, nothing));
	assert_false(guards_exclude(&t.l, nothing, nothing));
	end(&t);
}

/* ---- locks across calls ---- */

/* In this program, f(p, q) calls g(&p->member, q) and k(q).  The lock of g(a, b) is (*a)->lock, and
 * that of k(c) is at c + 40. */
struct calls {
	struct made m;
	struct program p;
	struct candidates out;
	struct locks l;
	uint32_t f, g, k;
	uint32_t member, own; /* addresses in f: &p->member, &q->own */
	uint32_t call_g, call_k;
	uint32_t of_a, of_c; /* addresses of the locks in g and k */
};

static uint32_t add_address(struct made *m, uint32_t base, int64_t offset)
{
	uint32_t v = made_value(m, FACTS_ADDRESS, 0);
	m->f->values[v].number = offset;
	made_operand(m, base, 0);
	return v;
}

static uint32_t add_call(struct made *m, uint32_t function, uint32_t first, uint32_t second)
{
	uint32_t callee = made_constant(m, FACTS_CONSTANT_FUNCTION, function, 0);
	uint32_t v = made_value(m, FACTS_CALL, 0);
	made_operand(m, first, 0);
	if (second != FACTS_NONE)
		made_operand(m, second, 0);
	made_operand(m, callee, 0);
	made_call_edge(m, v, function, FACTS_EDGE_CALL);
	return v;
}

static void begin_calls(struct calls *c)
{
	struct made *m = &c->m;
	uint32_t p, q, load;

	*c = (struct calls){0};
	made_begin(m, 1);
	c->f = made_function(m, "f", 2, FACTS_FUNCTION_ROOT);
	p = m->f->functions[c->f].values;
	q = p + 1;
	made_block(m);
	c->member = add_address(m, p, 24);
	c->own = add_address(m, q, 40);
	c->call_g = add_call(m, 1, c->member, q);
	c->call_k = add_call(m, 2, q, FACTS_NONE);
	made_value(m, FACTS_RETURN, 0);
	c->g = made_function(m, "g", 2, 0);
	made_block(m);
	load = made_value(m, FACTS_LOAD, 0);
	made_operand(m, m->f->functions[c->g].values, 0);
	c->of_a = add_address(m, load, 8);
	made_value(m, FACTS_RETURN, 0);
	c->k = made_function(m, "k", 1, 0);
	made_block(m);
	c->of_c = add_address(m, m->f->functions[c->k].values, 40);
	made_value(m, FACTS_RETURN, 0);
	program_init(&c->p, m->f, &c->out);
	locks_init(&c->l, &c->p);
}

static void end_calls(struct calls *c)
{
	locks_release(&c->l);
	program_release(&c->p);
	facts_free(c->m.f);
}

/* Locks that f holds get new names in g and k: a lock that an argument leads to is named by that
 * argument. */
static void test_enter(void **state)
{
	struct calls c;
	uint32_t held, seen, items[LOCKS_MAX];

	(void)state;
	begin_calls(&c);
	held = lockset_add(&c.l, 0, lock_at(&c.l, c.own, false));
	held = lockset_add(&c.l, held, lock_at(&c.l, c.member, false));

	seen = lockset_enter(&c.l, held, c.call_k, c.k);
	assert_int_equal(lockset_copy(&c.l, seen, items), 1);
	assert_true(lockset_has(&c.l, seen, lock_at(&c.l, c.of_c, false)));

	seen = lockset_enter(&c.l, held, c.call_g, c.g);
	assert_int_equal(lockset_copy(&c.l, seen, items), 2);
	for (int i = 0; i < 2; i++) {
		const struct path *path = &c.l.items[items[i]].path;
		uint32_t first = c.m.f->functions[c.g].values;
		assert_int_equal(path->kind, PATH_VALUE);
		assert_int_equal(path->loads, 0);
		assert_true((path->root == first && path->offsets[0] == 0) ||
			    (path->root == first + 1 && path->offsets[0] == 40));
	}
	assert_int_equal(lockset_enter(&c.l, 0, c.call_g, c.g), 0);
	end_calls(&c);
}

/* Locks that g and k hold get names of f. */
static void test_leave(void **state)
{
	struct calls c;
	uint32_t out, p, own;

	(void)state;
	begin_calls(&c);
	p = c.m.f->functions[c.f].values;
	own = lock_at(&c.l, c.own, false);
	assert_true(lock_leave(&c.l, lock_at(&c.l, c.of_c, false), c.call_k, c.k, &out));
	assert_true(path_equal(&c.l.items[out].path, &c.l.items[own].path));

	assert_true(lock_leave(&c.l, lock_at(&c.l, c.of_a, true), c.call_g, c.g, &out));
	assert_int_equal(c.l.items[out].path.root, p);
	assert_int_equal(c.l.items[out].path.loads, 1);
	assert_int_equal(c.l.items[out].path.offsets[0], 24);
	assert_int_equal(c.l.items[out].path.offsets[1], 8);
	assert_true(c.l.items[out].read);

	/* A lock that no argument leads to has no name in the caller. */
	assert_false(lock_leave(&c.l, lock_at(&c.l, c.own, false), c.call_k, c.k, &out));
	end_calls(&c);
}

/* ---- guards: locks by their relation to the data ---- */

/* If o->lock guards o->count, the lock is at a fixed distance from the data, whatever o is
 * called. */
static void test_near(void **state)
{
	struct calls c;
	struct path data, elsewhere, element;
	uint32_t one, two;

	(void)state;
	begin_calls(&c);
	/* In f the data is at q + 8, and in k at c + 8.  In both, the lock is 40 after the
	 * pointer. */
	data = path_of(c.m.f, c.own);
	data.offsets[0] = 8;
	elsewhere = path_of(c.m.f, c.of_c);
	elsewhere.offsets[0] = 8;
	one = guards_of(&c.l, lockset_add(&c.l, 0, lock_at(&c.l, c.own, false)), &data);
	two = guards_of(&c.l, lockset_add(&c.l, 0, lock_at(&c.l, c.of_c, false)), &elsewhere);
	assert_true(guards_exclude(&c.l, one, two));
	/* Other data of the same object has the lock at another distance. */
	elsewhere.offsets[0] = 16;
	two = guards_of(&c.l, lockset_add(&c.l, 0, lock_at(&c.l, c.of_c, false)), &elsewhere);
	assert_false(guards_exclude(&c.l, one, two));
	/* An index into an array in the object does not change where the object's lock is. */
	element = data;
	element.index = 1;
	element.stride = 4;
	two = guards_of(&c.l, lockset_add(&c.l, 0, lock_at(&c.l, c.own, false)), &element);
	assert_true(guards_exclude(&c.l, one, two));
	/* A lock of another object is not a guard. */
	two = guards_of(&c.l, lockset_add(&c.l, 0, lock_at(&c.l, c.member, false)), &data);
	assert_int_equal(two, guards_of(&c.l, 0, &data));
	end_calls(&c);
}

/* If locks[i] guards data[i], both have the same index.  The elements of each array must have one
 * size. */
static void test_indexed(void **state)
{
	struct tables t;
	struct path lock = {.kind = PATH_GLOBAL, .root = 1, .index = 2, .stride = 40};
	struct path data = {.kind = PATH_GLOBAL, .root = 2, .index = 2, .stride = 8}, wrong;
	struct locks *l = &t.l;
	uint32_t one, two, set;

	(void)state;
	begin(&t, 5);
	/* Such a lock comes from code that computes an address in a global with an index. */
	RD_GROW(l->items, l->capacity, l->count + 1);
	uint32_t numbers[PATH_NUMBERS + 2];
	size_t n = path_numbers(&lock, numbers);
	numbers[n++] = 0;
	numbers[n++] = 0;
	assert_int_equal(rd_tuples_put(&l->known, numbers, n, rd_tuple_hash(numbers, n), NULL), l->count);
	l->items[l->count++] = (struct lock){.path = lock};
	set = lockset_add(l, 0, (uint32_t)l->count - 1);

	one = guards_of(l, set, &data);
	assert_true(guards_exclude(l, one, one));
	wrong = data;
	wrong.index = 3;
	assert_int_equal(guards_of(l, set, &wrong), guards_of(l, 0, &data));
	wrong = data;
	wrong.stride = 16;
	two = guards_of(l, set, &wrong);
	assert_false(guards_exclude(l, one, two));
	assert_true(guards_exclude(l, two, two));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_sets),
		cmocka_unit_test(test_overlap), cmocka_unit_test(test_reading),
		cmocka_unit_test(test_enter),	cmocka_unit_test(test_leave),
		cmocka_unit_test(test_near),	cmocka_unit_test(test_indexed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
