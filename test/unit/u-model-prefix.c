// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of which operations before a part are kept.  Random runs have a few threads with
 * locks, waits and operations without a lasting effect.  The reference executes all operations.
 * The kept operations, in the order of q, must be possible and lead to the same state: which thread
 * holds which lock, which threads wait, and the number of posts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "model/model-int.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define LOCKS 3
#define COND LOCKS
#define SEM (LOCKS + 1)
#define STEPS 60
#define NOBODY UINT32_MAX

struct state {
	uint32_t owner[LOCKS];
	uint32_t waits[THREADS]; /* the mutex with which the thread waits, or NOBODY */
	uint64_t posts;
};

struct run {
	struct state state;
	struct model_history threads[THREADS];
	size_t capacity[THREADS];
	uint64_t q, seed;
	size_t taken; /* total number of operations */
};

static uint32_t rnd(struct run *r, uint32_t below)
{
	r->seed ^= r->seed << 13;
	r->seed ^= r->seed >> 7;
	r->seed ^= r->seed << 17;
	return (uint32_t)(r->seed % below);
}

/* Executes the operation if it is possible.  Returns whether it is. */
static bool step(struct state *s, uint32_t thread, const struct model_operation *op)
{
	switch (op->kind) {
	case RADDLE_MUTEX_LOCK:
		if (s->owner[op->sync] != NOBODY || s->waits[thread] != NOBODY)
			return false;
		s->owner[op->sync] = thread;
		return true;
	case RADDLE_MUTEX_UNLOCK:
		if (s->owner[op->sync] != thread || s->waits[thread] != NOBODY)
			return false;
		s->owner[op->sync] = NOBODY;
		return true;
	case RADDLE_COND_WAIT:
		if (s->owner[op->second] != thread || s->waits[thread] != NOBODY)
			return false;
		s->owner[op->second] = NOBODY;
		s->waits[thread] = op->second;
		return true;
	case RADDLE_COND_WAKE:
		if (s->waits[thread] != op->second || s->owner[op->second] != NOBODY)
			return false;
		s->owner[op->second] = thread;
		s->waits[thread] = NOBODY;
		return true;
	case RADDLE_SEM_POST: s->posts++; return s->waits[thread] == NOBODY;
	default: return s->waits[thread] == NOBODY;
	}
}

static const struct state start = {.owner = {NOBODY, NOBODY, NOBODY}, .waits = {NOBODY, NOBODY, NOBODY}};

static void do_one(struct run *r)
{
	static const uint8_t kinds[] = {RADDLE_MUTEX_LOCK,   RADDLE_MUTEX_UNLOCK,  RADDLE_MUTEX_LOCK,
					RADDLE_MUTEX_UNLOCK, RADDLE_COND_WAIT,	   RADDLE_COND_WAKE,
					RADDLE_COND_WAKE,    RADDLE_SEM_POST,	   RADDLE_ATOMIC,
					RADDLE_FENCE,	     RADDLE_MUTEX_TRYLOCK, RADDLE_MUTEX_REQUEST};
	uint32_t thread = rnd(r, THREADS);
	struct model_history *h = &r->threads[thread];
	struct model_operation op = {.kind = kinds[rnd(r, sizeof kinds)], .q = r->q, .second = MODEL_NONE};
	struct state before = r->state;

	op.sync = op.kind == RADDLE_SEM_POST ? SEM : rnd(r, LOCKS);
	if (raddle_is_cond_wait(op.kind)) {
		op.second = op.sync;
		op.sync = COND;
	}
	op.value = op.kind == RADDLE_MUTEX_TRYLOCK; /* in this case it fails */
	if (!step(&r->state, thread, &op)) {
		r->state = before;
		return;
	}
	r->q++;
	r->taken++;
	model_prefix_trim(h);
	RD_GROW(h->operations, r->capacity[thread], h->operation_count + 1);
	h->operations[h->operation_count++] = op;
}

/* Returns the thread with the earliest remaining operation, or THREADS if there is none. */
static uint32_t earliest(const struct run *r, const size_t *at)
{
	uint32_t best = THREADS;
	uint64_t q = UINT64_MAX;

	for (uint32_t t = 0; t < THREADS; t++)
		if (at[t] < r->threads[t].operation_count && r->threads[t].operations[at[t]].q < q) {
			q = r->threads[t].operations[at[t]].q;
			best = t;
		}
	return best;
}

static size_t take_rest(const struct run *r, struct state *s)
{
	size_t at[THREADS] = {0}, left = 0;

	for (uint32_t t; (t = earliest(r, at)) < THREADS; at[t]++, left++)
		assert_true(step(s, t, &r->threads[t].operations[at[t]]));
	return left;
}

static void test_random(void **state)
{
	size_t taken = 0, left = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20000; seed++) {
		struct run r = {.state = start, .q = 1, .seed = seed * 0x9e3779b97f4a7c15ull};
		struct state again = start;
		for (int i = 0; i < STEPS; i++)
			do_one(&r);
		left += take_rest(&r, &again);
		taken += r.taken;
		assert_memory_equal(&again, &r.state, sizeof again);
		for (uint32_t t = 0; t < THREADS; t++)
			free(r.threads[t].operations);
	}
	assert_true(left < taken / 2);
}

/* A thread takes a lock, another one inside it, and spins, thousands of times.  Only a few
 * operations are kept. */
static void test_bounded(void **state)
{
	static const struct {
		uint8_t kind;
		uint32_t sync;
	} round[] = {{RADDLE_MUTEX_LOCK, 0},   {RADDLE_ATOMIC, 0}, {RADDLE_MUTEX_LOCK, 1},  {RADDLE_FENCE, 0},
		     {RADDLE_MUTEX_UNLOCK, 0}, {RADDLE_ATOMIC, 0}, {RADDLE_MUTEX_UNLOCK, 1}};
	struct model_operation operations[64] = {{0}};
	struct model_history h = {.operations = operations};

	(void)state;
	for (uint64_t i = 0; i < 7000; i++) {
		model_prefix_trim(&h);
		assert_true(h.operation_count < 8);
		operations[h.operation_count++] = (struct model_operation){
			.kind = round[i % 7].kind, .sync = round[i % 7].sync, .q = i};
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_bounded)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
