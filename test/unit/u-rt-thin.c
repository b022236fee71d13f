/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares thinned recordings, from which accesses at frequently executed places are left out,
 * with a slow reference.  Two threads access memory through the hooks.  The reference keeps, in
 * plain structs, which bytes a thread has accessed in its segment, how often each place was
 * recorded, and which thread owns each block.  It numbers the first accesses of each site,
 * starting again after each operation.  The recording must contain the same accesses with the same
 * numbers, and the count of omitted accesses must be equal.  A reader of the trace computes the
 * numbers from the counts in LEFT_OUT records.
 */
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wattributes"
#endif
#define RT_THIN_SAMPLED 20u
#include "rt/record/hook.c"
#include "rt/record/recorder.c"
#include "rt/record/put.c"
#include "rt/record/access.c"
#include "rt/record/pair.c"
#include "rt/record/range.c"
#include "rt/record/event.c"
#include "rt/record/thin.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/decode.h"

#include <stdlib.h>
#include <string.h>

enum {
	MEMORY = 1 << 13,
	BASE = 1 << 20,
	FIRST = 10,
	SITES = 16,
	RANGES = 22,
	COUNTERS = 30, /* sites of two updates of counters */
	EVENTS = 200000,
	TIMES = 400000
};

struct raddle_self rt_placeholder;
struct rt rt;
struct rt_guard rt_guard;
__thread struct raddle_self *__raddle_self;
static struct raddle_session session;

/* A recorded access: number `number` of its site after operation `step`. */
struct access {
	uint32_t site;
	uint64_t address, step, number;
};

/* A thread, what was recorded of it, and what the twin expects. */
struct actor {
	struct rt_thread *t;
	struct raddle_buffer *buffer;
	uint32_t shadow[8];
	struct access got[EVENTS], expected[EVENTS];
	size_t got_count, expected_count;
	uint64_t got_left, expected_left;
	uint64_t got_steps, steps;
	struct {
		uint64_t step, n;
		/* by site: counts of the reader of the trace, and of the twin */
	} read[65536], count[65536];
	bool seen[MEMORY + 256], written[MEMORY + 256];
	struct place {
		uint32_t site, records;
		uint64_t block, step; /* the last access left out; block + 1, 0: none */
	} places[RT_PLACES];
};
static struct actor actors[2];

static struct actor *actor_of(const struct rt_thread *t)
{
	return t == actors[0].t ? &actors[0] : &actors[1];
}

static uint32_t size_of(uint32_t site)
{
	site %= 32768;
	return site >= RANGES ? site / 2 % 2 ? 24 : 72 : 1u << site / 2 % 5;
}

void rt_buffer_seal(struct rt_thread *t)
{
	struct actor *a = actor_of(t);
	struct trace_decoder d = {0};
	struct trace_event e;

	if (!t->buffer)
		return;
	trace_decoder_start(&d, t->buffer->data, atomic_load(&t->buffer->used));
	while (trace_decode(&d, &e) == 1) {
		a->got_steps += raddle_is_counted(e.kind);
		if (!raddle_is_access(e.kind) && e.kind != RADDLE_LEFT_OUT)
			continue;
		if (a->read[e.site].step != a->got_steps)
			a->read[e.site].n = 0;
		a->read[e.site].step = a->got_steps;
		a->read[e.site].n += e.kind == RADDLE_LEFT_OUT ? e.values[1] : 1;
		if (e.kind == RADDLE_LEFT_OUT)
			continue;
		assert_true(a->got_count < EVENTS);
		a->got[a->got_count++] = (struct access){e.site, e.address, a->got_steps, a->read[e.site].n};
	}
	assert_null(d.error);
	trace_decoder_release(&d);
	a->got_left += t->buffer->left_out;
	t->buffer = NULL;
}

bool rt_buffer_switch(struct rt_thread *t)
{
	rt_buffer_seal(t);
	t->buffer = actor_of(t)->buffer;
	t->buffer->left_out = 0;
	t->cursor = rt_put_reset(&t->encoder, t->buffer->data);
	t->limit = t->buffer->data + RT_STACK_MAX + 4000; /* small, so that many buffers are used */
	atomic_store(&t->buffer->used, 1);
	return true;
}

void *rt_map(size_t size)
{
	return calloc(1, size);
}

void rt_unmap(void *p, size_t size)
{
	(void)size;
	free(p);
}

void rt_clear_blocks(struct rt_thread *t)
{
	(void)t;
	fail();
}

uint64_t rt_now(void)
{
	return 1;
}

uint64_t rt_now_soon(struct rt_thread *t)
{
	(void)t;
	return 1;
}

bool rt_notify_segment_ends(struct rt_thread *t)
{
	(void)t;
	fail();
	return false;
}

void rt_notify_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	(void)t, (void)address, (void)size, (void)sites;
	fail();
}

struct rt_thread *rt_thread_adopt(void)
{
	fail();
	return NULL;
}

/* The twin: owners of blocks, places, and the accesses that must be recorded. */

static struct block {
	int hand, records, changes, writes;
	bool pinned;
} blocks[(MEMORY + 256) / 64];

static bool is_quiet(const struct block *b, int hand, bool write)
{
	return (b->hand == hand && b->records == 4) || (b->changes == 3 && (b->writes == 3 || !write));
}

static void touch(struct block *b, int hand, bool write, bool cold)
{
	if ((is_quiet(b, hand, write) && !(cold && write && b->hand != hand)) || b->pinned)
		return;
	if (b->hand == hand) {
		b->records++;
		return;
	}
	if (b->hand && write && (b->writes < 3 || cold)) {
		b->writes += b->writes < 3;
		if (b->changes == 3)
			b->changes = 2;
	} else if (b->hand) {
		b->changes++;
	}
	b->hand = hand;
	b->records = 1;
}

static bool all(const bool *bytes, uint64_t at, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (!bytes[at + i])
			return false;
	return true;
}

static void mark(struct actor *a, uint64_t at, uint32_t size, bool write)
{
	memset(a->seen + at, 1, size);
	if (write)
		memset(a->written + at, 1, size);
}

/* Returns the table entry of a site, or the entry that the site will get.  A new site replaces an
 * entry that is not hot, if there is one. */
static struct place *place_in(struct actor *a, uint32_t site)
{
	struct place *first = &a->places[rt_place_index(site)], *second = &a->places[rt_place_other(site)];

	if (first->site == site)
		return first;
	if (second->site == site)
		return second;
	return first->records < RT_THIN_PLACE ? first : second;
}

static bool is_hot(struct actor *a, uint32_t site)
{
	return place_in(a, site)->site == site && place_in(a, site)->records >= RT_THIN_PLACE;
}

/* Whether an access is recorded although the block is quiet and the site is hot. */
static bool is_sampled(struct actor *a, uint32_t site, uint64_t block)
{
	return rt_line_is_sample(BASE + block * 64) &&
	       place_in(a, site)->records < RT_THIN_PLACE + RT_THIN_SAMPLED;
}

static uint64_t next_number(struct actor *a, uint32_t site)
{
	if (a->count[site].step != a->steps)
		a->count[site].n = 0;
	a->count[site].step = a->steps;
	return ++a->count[site].n;
}

static void record(struct actor *a, uint32_t site, uint64_t at)
{
	struct place *p = place_in(a, site);

	assert_true(a->expected_count < EVENTS);
	a->expected[a->expected_count++] = (struct access){site, BASE + at, a->steps, next_number(a, site)};
	if (p->site != site)
		*p = (struct place){.site = site};
	p->records++;
}

static void leave_it_out(struct actor *a, uint32_t site)
{
	next_number(a, site);
	a->expected_left++;
}

static void leave_it_out_there(struct actor *a, uint32_t site, uint64_t block)
{
	struct place *p = place_in(a, site);

	leave_it_out(a, site);
	p->block = block + 1;
	p->step = a->steps;
}

/* Whether an access of the site to this block was left out since the last operation.  In that
 * case, the owner of the block is not checked again. */
static bool follows(struct actor *a, uint32_t site, uint64_t block)
{
	const struct place *p = &a->places[rt_place_index(site)];

	return p->site == site && p->block == block + 1 && p->step == a->steps;
}

static void twin_access(struct actor *a, uint32_t site, uint64_t at)
{
	uint32_t size = size_of(site);
	int hand = (int)(a - actors) + 1;
	bool write = site % 2, quiet = true, single = site % 32768 < RANGES;

	if (all(write ? a->written : a->seen, at, size))
		return;
	mark(a, at, size, write);
	if (single && follows(a, site, at / 64)) {
		leave_it_out(a, site);
		return;
	}
	for (uint64_t b = at / 64; b <= (at + size - 1) / 64; b++)
		quiet &= is_quiet(&blocks[b], hand, write) && !is_sampled(a, site, b);
	for (uint64_t b = at / 64; b <= (at + size - 1) / 64; b++)
		touch(&blocks[b], hand, write, !is_hot(a, site));
	if (!quiet || !is_hot(a, site))
		record(a, site, at);
	else if (single)
		leave_it_out_there(a, site, at / 64);
	else
		leave_it_out(a, site);
}

/* The update of a counter is reported even if its bytes are marked. */
static void twin_counter(struct actor *a, uint32_t site, uint64_t at)
{
	int hand = (int)(a - actors) + 1;
	bool quiet = is_quiet(&blocks[at / 64], hand, true) && !is_sampled(a, site, at / 64);

	touch(&blocks[at / 64], hand, true, !is_hot(a, site));
	if (quiet && is_hot(a, site))
		leave_it_out(a, site);
	else
		record(a, site, at);
}

static void twin_update(struct actor *a, uint32_t site, uint64_t at)
{
	uint32_t size = size_of(site);
	int hand = (int)(a - actors) + 1;
	uint64_t block = at / 64;
	bool unseen = !all(a->seen, at, size), quiet = is_quiet(&blocks[block], hand, true);
	bool next = follows(a, site, block) && follows(a, site + 1, block);

	if (all(a->written, at, size))
		return;
	mark(a, at, size, true);
	quiet &= !is_sampled(a, site, block) && !is_sampled(a, site + 1, block);
	if (!next)
		touch(&blocks[block], hand, true, !is_hot(a, site + 1));
	if (next || (quiet && is_hot(a, site) && is_hot(a, site + 1))) {
		if (unseen)
			leave_it_out_there(a, site, block);
		leave_it_out_there(a, site + 1, block);
		return;
	}
	if (unseen)
		record(a, site, at);
	record(a, site + 1, at);
}

/* The recorder, called through its hooks. */

static void access_by_hook(struct actor *a, uint32_t site, uint64_t at)
{
	static void (*const hooks[])(struct raddle_self *, const void *, uint32_t) = {
		__raddle_read1,	 __raddle_write1, __raddle_read2,  __raddle_write2, __raddle_read4,
		__raddle_write4, __raddle_read8,  __raddle_write8, __raddle_read16, __raddle_write16};
	const void *p = (const void *)(uintptr_t)(BASE + at);

	if (site % 32768 >= RANGES)
		(site % 2 ? __raddle_write_range : __raddle_read_range)(&a->t->self, p, site, size_of(site));
	else
		hooks[site % 32768 % 10](&a->t->self, p, site);
}

static void update_by_hook(struct actor *a, uint32_t site, uint64_t at)
{
	static void (*const hooks[])(struct raddle_self *, const void *, uint32_t, uint32_t) = {
		__raddle_update1, __raddle_update2, __raddle_update4, __raddle_update8, __raddle_update16};

	hooks[site % 32768 / 2 % 5](&a->t->self, (const void *)(uintptr_t)(BASE + at), site, site + 1);
}

/* Makes two adjacent accesses by one hook, from the same site or from two. */
static void two_by_hook(struct actor *a, uint32_t site, uint32_t other, uint64_t at)
{
	const void *p = (const void *)(uintptr_t)(BASE + at);
	uint64_t sites = (uint64_t)other << 32 | site;

	(site % 2 ? __raddle_write_two : __raddle_read_two)(&a->t->self, p, sites, size_of(site));
}

static void two_updates_by_hook(struct actor *a, uint32_t site, uint32_t other, uint64_t at)
{
	const void *p = (const void *)(uintptr_t)(BASE + at);

	__raddle_update_two(&a->t->self, p, (uint64_t)(site + 1) << 32 | site,
			    (uint64_t)(other + 1) << 32 | other, size_of(site));
}

/* Makes two accesses or two updates.  The second site has the same size and direction, or is the
 * same. */
static void act_on_two(struct actor *a, uint32_t site, uint64_t at)
{
	uint32_t size = size_of(site), other = rand() % 2 ? site : site ^ 32768;

	if (site % 2 == 0 && rand() % 2) {
		two_updates_by_hook(a, site, other, at);
		twin_update(a, site, at);
		twin_update(a, other, at + size);
	} else {
		two_by_hook(a, site, other, at);
		twin_access(a, site, at);
		twin_access(a, other, at + size);
	}
}

static void synchronise(struct actor *a)
{
	rt_sync(a->t, RADDLE_MUTEX_LOCK, BASE, 0);
	a->steps++;
	memset(a->seen, 0, sizeof a->seen);
	memset(a->written, 0, sizeof a->written);
}

/* Makes a random access.  Each thread has its own half of the memory, which the other thread
 * seldom accesses.  Four sites share their table entries with other sites. */
static void act(struct actor *a)
{
	uint32_t site = FIRST + (uint32_t)(rand() % SITES), size = size_of(site);
	uint64_t half = (uint64_t)(a - actors) ^ (rand() % 50 == 0);
	uint64_t at = (uint64_t)rand() % (MEMORY / 2 / size) * size / 2 + half * (MEMORY / 2);

	if (site < FIRST + 4 && rand() % 1000 == 0)
		site += 32768;
	at -= site % 32768 < RANGES ? at % size : 0;
	if (rand() % 20 == 0) {
		site = COUNTERS + (uint32_t)(rand() % 2);
		/* one of these blocks is a sample */
		at = (48 + (uint64_t)rand() % 8) * 64 + half * (MEMORY / 2);
		assert_true(rt_atomic(a->t, BASE + at, site, RADDLE_ATOMIC_STORED | RADDLE_ATOMIC_PASSED));
		twin_counter(a, site, at);
	} else if (site < RANGES - 1 && size <= 8 && rand() % 4 == 0) {
		act_on_two(a, site, at);
	} else if (site % 32768 < RANGES - 1 && site % 2 == 0 && rand() % 2) {
		update_by_hook(a, site, at);
		twin_update(a, site, at);
	} else {
		access_by_hook(a, site, at);
		twin_access(a, site, at);
	}
	if (rand() % 100 == 0)
		synchronise(a);
	else if (rand() % 300 == 0)
		rt_heap(a->t, RADDLE_ALLOC, BASE, 1, 1);
}

/* Sorts by site, because the order of records of different sites is not kept
 * (rt/core/buffer/encode.h). */
static int by_site(const void *left, const void *right)
{
	const struct access *a = left, *b = right;

	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void compare(struct actor *a)
{
	rt_buffer_seal(a->t);
	assert_int_equal(a->got_left, a->expected_left);
	assert_int_equal(a->got_count, a->expected_count);
	qsort(a->got, a->got_count, sizeof *a->got, by_site);
	qsort(a->expected, a->expected_count, sizeof *a->expected, by_site);
	for (size_t i = 0; i < a->got_count; i++) {
		assert_int_equal(a->got[i].site, a->expected[i].site);
		assert_int_equal(a->got[i].step, a->expected[i].step);
		assert_int_equal(a->got[i].number, a->expected[i].number);
		assert_int_equal(a->got[i].address, a->expected[i].address);
	}
}

static void test_what_is_left_out(void **state)
{
	(void)state;
	rt_guard.alive = RT_THIN;
	session.all_accesses = 1; /* so that no thread becomes lazy */
	rt_thin_pin(BASE + 3 * 64);
	blocks[3].pinned = true;
	for (int i = 0; i < TIMES; i++)
		act(&actors[rand() % 2]);
	for (int i = 0; i < 2; i++) {
		compare(&actors[i]);
		assert_true(actors[i].expected_left > 5000);
		assert_true(actors[i].expected_count > 5000);
	}
}

/* Nothing is left out before the threads have written enough concurrently, or if the user wants all
 * accesses. */
static void test_when_it_begins(void **state)
{
	struct rt_thread *t = actors[0].t;

	(void)state;
	rt_guard.alive = RT_PLAIN;
	rt_buffer_switch(t);
	t->events = RT_THIN_EVENTS;
	session.all_accesses = 1;
	rt_thin_look(t);
	assert_int_equal(rt_guard.alive, RT_PLAIN);
	session.all_accesses = 0;
	atomic_store(&rt.others, 0); /* the thread is alone */
	rt_thin_look(t);
	assert_int_equal(rt_guard.alive, RT_PLAIN);
	atomic_store(&rt.others, 1);
	t->events = RT_THIN_EVENTS - 1;
	rt_thin_look(t);
	assert_int_equal(rt_guard.alive, RT_PLAIN);
	assert_int_equal(atomic_load(&session.processes[0].thin_q), 0);
	atomic_store(&session.sequence, 77);
	t->events = 1;
	rt_thin_look(t);
	assert_int_equal(rt_guard.alive, RT_THIN);
	assert_int_equal(atomic_load(&session.processes[0].thin_q), 77);
}

/* A lazy thread, of which little is recorded, keeps its marks across operations until memory
 * changes owners. */
static void test_lazy_threads(void **state)
{
	struct rt_thread *t = actors[0].t;
	uint64_t epoch;
	int kept = 0;

	(void)state;
	rt_guard.alive = RT_THIN;
	rt_buffer_switch(t);
	t->events = 100;
	t->buffer->left_out = 300;
	rt_thin_look(t);
	assert_int_equal(t->lazy, 0);
	t->buffer->left_out = 301;
	rt_thin_look(t);
	assert_int_equal(t->lazy, 1);
	/* the thread notices all changes of owners so far */
	rt_sync(t, RADDLE_MUTEX_LOCK, BASE, 0);
	epoch = t->self.epoch;
	for (; t->self.epoch == epoch; kept++)
		rt_sync(t, RADDLE_MUTEX_LOCK, BASE, 0);
	assert_int_equal(kept, RT_THIN_LAZY);
	epoch = t->self.epoch;
	actors[1].t->hand = 2;
	for (uint64_t i = 0; i < 8; i++) {
		rt_thin_touch(t, (1ull << 30) + i * 64, true, false);
		rt_thin_touch(actors[1].t, (1ull << 30) + i * 64, true, false);
	}
	rt_sync(t, RADDLE_MUTEX_LOCK, BASE, 0);
	assert_int_not_equal(t->self.epoch, epoch);
}

static int setup(void **state)
{
	(void)state;
	srand(7);
	rt.session = &session;
	atomic_store(&rt.others, 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct actor *a = &actors[i];
		a->t = calloc(1, sizeof *a->t);
		a->buffer = calloc(1, sizeof *a->buffer);
		a->shadow[0] = RT_STACK_EMITTED;
		a->t->number = i;
		a->t->recording = RT_PLAIN;
		a->t->self.epoch = 1ull << RADDLE_EPOCH_SHIFT;
		a->t->encoder.stack_base = a->t->self.stack_top = a->shadow + 1;
		a->t->cursor = (uint8_t *)1;
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		reset(actors[i].t);
		free(actors[i].t);
		free(actors[i].buffer);
	}
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_left_out),
		cmocka_unit_test(test_when_it_begins),
		cmocka_unit_test(test_lazy_threads),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
