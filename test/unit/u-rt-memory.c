// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the memory models (rt/memory/model.c).  Each litmus test in each model, under all
 * choices, must have the outcomes that the slow reference derives from the definition.  Also tests
 * what the reference does not cover: atomics, locks, and parts of cells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "litmus.h"
#include "replay/search.h"
#include "rt/memory/model.c"

static struct memory *m;
static struct replay_search search;
static struct raddle_choice list[RADDLE_MEMORY_CHOICES]; /* the choices of a run */
static size_t made;
static struct memory_write *pages;
static size_t page_count;

static void *get(size_t size)
{
	char *p = (char *)(pages + page_count);

	page_count += size / sizeof *pages;
	memset(p, 0, size);
	return p;
}

/* Makes a choice: as planned, then always 0.  Records each choice with its state. */
static uint32_t decide(enum raddle_choice_kind kind, uint32_t from, uint64_t state)
{
	uint32_t taken = made < search.planned ? search.choices[made].taken : 0;

	if (from < 2)
		return 0;
	list[made++] = (struct raddle_choice){.from = from, .taken = taken, .kind = kind, .state = state};
	return taken;
}

static uint32_t choose(void *context, enum raddle_choice_kind kind, uint32_t from)
{
	const uint64_t *step = context;

	return decide(kind, from, memory_state(m) ^ *step << 32);
}

static uint64_t step; /* what the thread that makes the choice is about to do */

static void begin(enum raddle_memory_model model)
{
	memset(m, 0, sizeof *m);
	page_count = 0;
	made = 0;
	m->model = model;
	m->choose = choose;
	m->context = &step;
	m->get = get;
}

static struct memory_part part(int place)
{
	uintptr_t base = 64 * ((uintptr_t)place + 1);

	return (struct memory_part){memory_track(m, base, 0xffffffffu, 0), 0xffffffffu};
}

static void run_op(uint32_t t, const struct litmus_op *op, int *results)
{
	switch (op->kind) {
	case 'W': memory_store(m, t, part(op->place), (uint64_t)op->value, MEMORY_RELAXED); break;
	case 'R': results[op->result] = (int)memory_load(m, t, part(op->place), MEMORY_RELAXED); break;
	case 'X':
		results[op->result] = (int)memory_update(m, t, part(op->place), MEMORY_SEQ);
		memory_updated(m, t, part(op->place), (uint64_t)op->value, MEMORY_SEQ);
		break;
	case 'F': memory_fence(m, t, MEMORY_FENCE_FULL); break;
	default: memory_fence(m, t, MEMORY_FENCE_STORE);
	}
}

/* Runs the test once.  Which thread runs next is also a choice. */
static void execute(const struct litmus *l, struct litmus_set *out)
{
	int at[LITMUS_THREADS] = {0}, results[TWIN_EVENTS], finals[LITMUS_PLACES];
	char said[LITMUS_SAID];

	for (int i = 0; i < l->places; i++)
		part(i);
	for (int t = 0; t < l->threads; t++)
		memory_create(m, 0, (uint32_t)t + 1);
	for (;;) {
		int ready[LITMUS_THREADS], n = 0, t;

		for (t = 0; t < l->threads; t++)
			if (at[t] <= l->count[t])
				ready[n++] = t;
		if (!n)
			break;
		t = ready[decide(RADDLE_CHOICE_NEXT, (uint32_t)n, memory_state(m))];
		step = (uint64_t)t + 1;
		if (at[t] < l->count[t])
			run_op((uint32_t)t + 1, &l->ops[t][at[t]], results);
		else
			memory_drain(m, (uint32_t)t + 1);
		m->threads[t + 1].past += (uint64_t)++at[t] << 40;
	}
	for (int t = 0; t < l->threads; t++)
		memory_join(m, 0, (uint32_t)t + 1);
	for (int i = 0; i < l->places; i++) {
		step = 16 + (uint64_t)i;
		finals[i] = (int)memory_load(m, 0, part(i), MEMORY_RELAXED);
	}
	litmus_say(l, results, finals, said);
	litmus_add(out, said);
}

/* Runs the test with all choices. */
static void explore(const struct litmus *l, enum raddle_memory_model model, struct litmus_set *out)
{
	do {
		begin(model);
		execute(l, out);
		search.count = 0;
		for (size_t i = 0; i < made; i++)
			replay_search_add(&search, &list[i]);
	} while (replay_search_next(&search));
	replay_search_release(&search);
}

static void show(const char *name, const struct litmus_set *s)
{
	fprintf(stderr, "  %s:", name);
	for (size_t i = 0; i < s->count; i++)
		fprintf(stderr, " %s", s->items[i]);
	fprintf(stderr, "\n");
}

static void compare(const char *name, const char *text, enum raddle_memory_model model)
{
	struct litmus_set found = {0}, expected = {0};
	struct litmus l;

	assert_true(litmus_parse(&l, text));
	litmus_twin(&l, model, &expected);
	explore(&l, model, &found);
	if (!litmus_within(&found, &expected) || !litmus_within(&expected, &found)) {
		show("found", &found);
		show("expected", &expected);
		fail_msg("%s under %s", name, litmus_models[model]);
	}
	litmus_release(&found);
	litmus_release(&expected);
}

static void known(void **state)
{
	(void)state;
	for (size_t i = 0; i < LITMUS_COUNT; i++)
		for (unsigned model = 0; model < RADDLE_MEMORY_MODELS; model++)
			compare(litmus_tests[i].name, litmus_tests[i].text, model);
}

/* Compares random tests of two or three threads. */
static void random_tests(void **state)
{
	static const char kinds[] = "WWWWRRRRRXFG";
	int count = getenv("RADDLE_LONG") ? 150 : 50;
	uint64_t draw = 1;

	(void)state;
	for (int i = 0; i < count; i++) {
		char text[128];
		int n = 0, threads = 2 + i % 2;

		for (int t = 0; t < threads; t++) {
			for (int k = 0; k < 5 - threads; k++) {
				char kind;

				draw = draw * 6364136223846793005ull + 1442695040888963407ull;
				kind = kinds[(draw >> 33) % (sizeof kinds - 1)];
				n += sprintf(text + n, "%s%c", k ? " " : t ? "|" : "", kind);
				if (kind != 'F' && kind != 'G')
					text[n++] = "xy"[draw >> 50 & 1];
				if (kind == 'W' || kind == 'X')
					text[n++] = "12"[draw >> 52 & 1];
				text[n] = '\0';
			}
		}
		for (unsigned model = 0; model < RADDLE_MEMORY_MODELS; model++)
			compare(text, text, model);
	}
}

/* ---- situations that the twin does not cover ---- */

/* Returns all results of a scene: bit n means that the scene returned n under some choices. */
static uint64_t outcomes(enum raddle_memory_model model, int (*scene)(void))
{
	uint64_t seen = 0;

	do {
		begin(model);
		memory_create(m, 0, 1);
		memory_create(m, 0, 2);
		step = 0;
		seen |= 1ull << scene();
		search.count = 0;
		for (size_t i = 0; i < made; i++)
			replay_search_add(&search, &list[i]);
	} while (replay_search_next(&search));
	replay_search_release(&search);
	return seen;
}

static enum memory_order_of store_order, load_order;

/* Thread 1 stores data and then a flag.  Thread 2 reads the flag and then the data.  Returns 2 *
 * flag + data. */
static int message(void)
{
	int flag, data;

	memory_store(m, 1, part(0), 1, MEMORY_RELAXED);
	memory_store(m, 1, part(1), 1, store_order);
	flag = (int)memory_load(m, 2, part(1), load_order);
	step = 1;
	data = (int)memory_load(m, 2, part(0), MEMORY_RELAXED);
	return 2 * flag + data;
}

#define STALE_DATA (1u << 2)

static void atomics(void **state)
{
	(void)state;
	store_order = load_order = MEMORY_RELAXED;
	assert_true(outcomes(RADDLE_MEMORY_PSO, message) & STALE_DATA);
	assert_true(outcomes(RADDLE_MEMORY_WEAK, message) & STALE_DATA);
	assert_false(outcomes(RADDLE_MEMORY_TSO, message) & STALE_DATA);
	store_order = MEMORY_RELEASE;
	assert_true(outcomes(RADDLE_MEMORY_WEAK, message) & STALE_DATA);
	load_order = MEMORY_ACQUIRE;
	assert_int_equal(outcomes(RADDLE_MEMORY_PSO, message) & STALE_DATA, 0);
	assert_int_equal(outcomes(RADDLE_MEMORY_WEAK, message) & STALE_DATA, 0);
	assert_true(outcomes(RADDLE_MEMORY_WEAK, message) & 1u << 3);
}

/* Does the same with fences.  Between them, thread 3 updates the flag, which continues the release
 * sequence. */
static int message_fenced(void)
{
	int flag, data;

	memory_store(m, 1, part(0), 1, MEMORY_RELAXED);
	memory_fence(m, 1, MEMORY_FENCE_RELEASE);
	memory_store(m, 1, part(1), 1, MEMORY_RELAXED);
	memory_update(m, 3, part(1), MEMORY_RELAXED);
	memory_updated(m, 3, part(1), 2, MEMORY_RELAXED);
	flag = (int)memory_load(m, 2, part(1), MEMORY_RELAXED);
	memory_fence(m, 2, MEMORY_FENCE_ACQUIRE);
	step = 1;
	data = (int)memory_load(m, 2, part(0), MEMORY_RELAXED);
	return 2 * flag + data;
}

static void fences(void **state)
{
	uint64_t seen = outcomes(RADDLE_MEMORY_WEAK, message_fenced);

	(void)state;
	assert_int_equal(seen & (1u << 2 | 1u << 4), 0);
	assert_true(seen & 1u << 5 && seen & 1u << 3 && seen & 1u << 0);
}

/* A thread that acquires a lock sees the stores before its release. */
static int locked(void)
{
	memory_store(m, 1, part(0), 1, MEMORY_RELAXED);
	memory_release(m, 1, 8);
	memory_acquire(m, 2, 8);
	return (int)memory_load(m, 2, part(0), MEMORY_RELAXED);
}

static int unlocked(void)
{
	memory_store(m, 1, part(0), 1, MEMORY_RELAXED);
	return (int)memory_load(m, 2, part(0), MEMORY_RELAXED);
}

static void locks(void **state)
{
	(void)state;
	for (unsigned model = 0; model < RADDLE_MEMORY_MODELS; model++) {
		assert_int_equal(outcomes(model, locked), 1u << 1);
		assert_int_equal(outcomes(model, unlocked), model == RADDLE_MEMORY_SC ? 2u : 3u);
	}
}

/* Two bytes of a cell are two locations.  An access to both reads their values at one time. */
static int bytes(void)
{
	struct memory_part low = {memory_track(m, 64, 0xffff, 0), 0xff}, high = {low.cell, 0xff00},
			   both = {low.cell, 0xffff};
	uint64_t v;

	memory_store(m, 1, low, 1, MEMORY_RELAXED);
	memory_store(m, 1, high, 0x200, MEMORY_RELAXED);
	assert_int_equal(memory_view(m, 1, low.cell), 0x201);
	v = memory_load(m, 2, both, MEMORY_RELAXED);
	return (int)((v & 3) | v >> 8 << 2);
}

static void parts(void **state)
{
	(void)state;
	assert_int_equal(outcomes(RADDLE_MEMORY_SC, bytes), 1u << 9);
	assert_int_equal(outcomes(RADDLE_MEMORY_TSO, bytes), 1u << 0 | 1u << 1 | 1u << 9);
	assert_int_equal(outcomes(RADDLE_MEMORY_PSO, bytes), 1u << 0 | 1u << 1 | 1u << 8 | 1u << 9);
}

/* Whatever the choices are, a loop that waits for a store ends. */
static int waits(void)
{
	int rounds = 0;

	memory_store(m, 1, part(0), 1, MEMORY_RELAXED);
	while (!memory_load(m, 2, part(0), MEMORY_RELAXED) && rounds < 60) {
		step = (uint64_t)++rounds;
	}
	return rounds;
}

static void fairness(void **state)
{
	(void)state;
	for (unsigned model = 0; model < RADDLE_MEMORY_MODELS; model++)
		assert_true(outcomes(model, waits) < 1ull << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known),    cmocka_unit_test(random_tests), cmocka_unit_test(atomics),
		cmocka_unit_test(fences),   cmocka_unit_test(locks),	    cmocka_unit_test(parts),
		cmocka_unit_test(fairness),
	};

	m = malloc(sizeof *m);
	pages = calloc(64 * MEMORY_HISTORY, sizeof *pages);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
