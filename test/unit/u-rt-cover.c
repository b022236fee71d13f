/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which pairs of conflicting places the runtime notes as executed one directly after the
 * other.  The results are compared with a reference that keeps every access.  A few threads access
 * a few words at random.  Meanwhile, memory is reused for other objects, and threads are sometimes
 * alone.
 */
#include "rt/cover/cover.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define THREADS READS /* so that the last read of each thread is kept */
#define PLACES 12
#define STEPS 400
#define BASE 0x10000u
#define CELLS 6

struct rt rt;
static struct raddle_steer steer;
static struct rt_thread *threads[THREADS];
static uint64_t seed = 5;

void *rt_map(size_t size)
{
	return calloc(1, size);
}

struct raddle_steer *rt_steer_memory(void)
{
	return &steer;
}

size_t rt_usable_size(void *p)
{
	(void)p;
	return 0;
}

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- the twin: a list of all accesses ---- */

static struct past {
	uint32_t thread, site, word;
	bool write;
} past[STEPS];
static size_t past_count;
static bool expected[PLACES + 1][PLACES + 1];

/* Whether any thread writes the word after this access. */
static bool is_covered(size_t from, uint32_t word)
{
	for (size_t i = from + 1; i < past_count; i++)
		if (past[i].word == word && past[i].write)
			return true;
	return false;
}

/* Of a thread's reads since the last write, the latest represents all. */
static bool is_latest(size_t from)
{
	for (size_t i = from + 1; i < past_count; i++)
		if (past[i].word == past[from].word && past[i].thread == past[from].thread && !past[i].write)
			return false;
	return true;
}

static void twin_access(const struct past *now)
{
	for (size_t i = 0; i < past_count; i++)
		if (past[i].word == now->word && past[i].thread != now->thread &&
		    (past[i].write || now->write) && !is_covered(i, now->word) &&
		    (past[i].write || is_latest(i)))
			expected[past[i].site][now->site] = true;
	past[past_count++] = *now;
}

static void twin_forget(uint32_t word)
{
	for (size_t i = 0; i < past_count; i++)
		if (word == UINT32_MAX || past[i].word == word)
			past[i].word = UINT32_MAX;
}

/* ---- comparison of the pairs that were found ---- */

static void begin(void)
{
	memset(&steer, 0, sizeof steer);
	memset(expected, 0, sizeof expected);
	past_count = 0;
	steer.flags = RADDLE_STEER_COVER;
	assert_true(setup());
	atomic_store(&rt.others, THREADS - 1);
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i] = calloc(1, sizeof **threads);
		threads[i]->layer[RT_LAYER_COVER] = calloc(1, sizeof(struct own));
		threads[i]->number = i;
		begins(threads[i]);
	}
}

static void end(void)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		free(threads[i]->layer[RT_LAYER_COVER]);
		free(threads[i]);
	}
	free(rt.layer[RT_LAYER_COVER]);
	rt.layer[RT_LAYER_COVER] = NULL;
}

static void compare(void)
{
	bool found[PLACES + 1][PLACES + 1] = {{false}};

	for (uint32_t i = 0; i < steer.pair_count; i++) {
		uint32_t before = (uint32_t)(steer.pairs[i] >> 32), site = (uint32_t)steer.pairs[i];

		assert_false(found[before][site]);
		found[before][site] = true;
	}
	assert_memory_equal(found, expected, sizeof found);
}

static void step(void)
{
	struct past now = {below(THREADS), 1 + below(PLACES), below(CELLS), below(3) == 0};

	switch (below(30)) {
	case 0:
		forget(threads[0], BASE + 8 * now.word, 8);
		twin_forget(now.word);
		break;
	case 1:
		atomic_store(&rt.others, 0);
		touches(threads[0], BASE, 8, 1, RT_ACCESS_WRITE);
		atomic_store(&rt.others, THREADS - 1);
		twin_forget(UINT32_MAX);
		break;
	default:
		touches(threads[now.thread], BASE + 8 * now.word + below(8), 1, now.site,
			now.write ? RT_ACCESS_WRITE : RT_ACCESS_READ);
		twin_access(&now);
	}
}

static void test_twin(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++) {
		begin();
		for (uint32_t i = below(STEPS); i > 0; i--)
			step();
		compare();
		end();
	}
}

/* Accesses to a stack before its current thread began do not conflict with those of this thread. */
static void test_stack(void **state)
{
	(void)state;
	begin();
	touches(threads[1], BASE, 8, 1, RT_ACCESS_WRITE);
	begins(threads[2]);
	threads[2]->stack_low = BASE;
	threads[2]->stack_high = BASE + 64;
	touches(threads[2], BASE, 8, 2, RT_ACCESS_WRITE);
	assert_int_equal(steer.pair_count, 0);
	touches(threads[1], BASE, 8, 3, RT_ACCESS_READ);
	assert_int_equal(steer.pair_count, 1);
	assert_true(steer.pairs[0] == (2ull << 32 | 3));
	end();
}

/* If there are more pairs than room, the first ones are kept. */
static void test_full(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < RADDLE_STEER_PAIRS + 100; i++)
		touches(threads[i % 2], BASE, 8, i + 1, RT_ACCESS_WRITE);
	assert_int_equal(steer.pair_count, RADDLE_STEER_PAIRS);
	forget(threads[0], 0, UINT64_MAX);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twin),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
