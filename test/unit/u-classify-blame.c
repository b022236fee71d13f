// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of classify/blame-int.h.  The effect is a random monotone function: a set of parts
 * shows it if it contains one of some random sets.  The slow twin tries all sets of other parts.
 */
#include "classify/blame-int.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static uint64_t seed = 11;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

struct effect {
	uint32_t sets[4];
	unsigned count, asked, fails_at;
};

static bool shows(const struct effect *e, uint32_t parts)
{
	for (unsigned i = 0; i < e->count; i++)
		if ((e->sets[i] & parts) == e->sets[i])
			return true;
	return false;
}

static int ask(void *context, uint32_t parts, bool *result)
{
	struct effect *e = context;

	*result = shows(e, parts);
	return ++e->asked == e->fails_at ? RD_ESYSTEM : RD_OK;
}

/* Whether some set shows the effect with the part, but not without it. */
static bool twin(const struct effect *e, unsigned parts, unsigned own)
{
	for (uint32_t set = 0; set < UINT32_C(1) << parts; set++)
		if (!(set >> own & 1) && !shows(e, set) && shows(e, set | UINT32_C(1) << own))
			return true;
	return false;
}

static struct effect some_effect(unsigned parts)
{
	struct effect e = {.count = 1 + below(4)};

	for (unsigned i = 0; i < e.count; i++)
		e.sets[i] = 1 + below((UINT32_C(1) << parts) - 1);
	return e;
}

static void test_all_questions(void **state)
{
	unsigned causes = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		unsigned parts = 1 + below(5);
		struct effect e = some_effect(parts);
		struct blame b = {
			.parts = parts, .own = below(parts), .most = 64, .shows = ask, .context = &e};
		bool cause;

		assert_int_equal(blame_find(&b, &cause), RD_OK);
		assert_int_equal(cause, twin(&e, parts, b.own));
		causes += cause;
	}
	assert_in_range(causes, 5000, 15000);
}

/* All sets of four parts need at most 16 questions. */
static void test_four_parts(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct effect e = some_effect(4);
		struct blame b = {.parts = 4, .own = below(4), .most = 16, .shows = ask, .context = &e};
		bool cause;

		assert_int_equal(blame_find(&b, &cause), RD_OK);
		assert_int_equal(cause, twin(&e, 4, b.own));
		assert_true(e.asked <= 16);
	}
}

/* With few questions, a cause may be missed, but no other part is called a cause. */
static void test_few_questions(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		unsigned parts = 2 + below(8);
		struct effect e = some_effect(parts);
		struct blame b = {
			.parts = parts, .own = below(parts), .most = below(12), .shows = ask, .context = &e};
		bool cause;

		assert_int_equal(blame_find(&b, &cause), RD_OK);
		assert_true(e.asked <= b.most);
		assert_true(!cause || twin(&e, parts, b.own));
	}
}

static void test_failures(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct effect e = some_effect(4);
		struct blame b = {.parts = 4, .own = below(4), .most = 16, .shows = ask, .context = &e};
		bool cause;
		int err;

		e.fails_at = 1 + below(6);
		err = blame_find(&b, &cause);
		assert_int_equal(err, e.asked == e.fails_at ? RD_ESYSTEM : RD_OK);
		assert_false(err && cause);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_questions),
		cmocka_unit_test(test_four_parts),
		cmocka_unit_test(test_few_questions),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
