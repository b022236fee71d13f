// SPDX-License-Identifier: Apache-2.0
/*
 * Aligns random threads with edited copies of themselves.  Every record must occur once and in
 * order, and paired records must be the same instruction.  If blocks were removed or inserted,
 * little besides those blocks may remain unmatched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "epa-fixture.h"

#include "epa/align.h"

#include <stdlib.h>

#define LENGTH 3000

static uint32_t seed = 5;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

/* What the alignment reported. */
struct seen {
	uint64_t golden, run; /* the next expected value of each thread */
	const uint64_t *run_values;
	size_t pairs, parts, missing, extra;
};

static uint64_t value_of(const struct epa_record *r)
{
	assert_int_equal(r->kind, TRACE_FULL_LOAD);
	return r->slots[1].where;
}

static void on_pair(void *context, const struct epa_record *golden, const struct epa_record *run,
		    uint64_t number)
{
	struct seen *s = context;
	assert_int_equal(golden->site, run->site);
	assert_int_equal(golden->kind, run->kind);
	if (golden->kind == TRACE_FULL_EVENT)
		return;
	(void)number;
	assert_int_equal(value_of(golden), s->golden++);
	assert_int_equal(value_of(run), s->run_values[s->run++]);
	s->pairs++;
}

static void on_part(void *context, size_t place, const struct epa_record *golden,
		    const struct epa_record *run, uint64_t number)
{
	struct seen *s = context;
	(void)place;
	(void)number;
	if (golden && run)
		assert_int_not_equal(golden->site, run->site);
	s->parts++;
}

static void on_only(void *context, size_t place, const struct epa_record *r, bool golden)
{
	struct seen *s = context;
	(void)place;
	if (r->kind == TRACE_FULL_EVENT)
		return;
	if (golden)
		assert_int_equal(value_of(r), s->golden++);
	else
		assert_int_equal(value_of(r), s->run_values[s->run++]);
	*(golden ? &s->missing : &s->extra) += 1;
}

/* Adds a load by one of two instructions.  The value identifies the record. */
static void put(struct fix *f, unsigned instruction, uint64_t value)
{
	static const enum fix_site sites[] = {FIX_LOAD, FIX_LOAD2};

	FIX(f, 0, sites[instruction & 1], FIX_PROGRAM + 0x100, value);
}

struct edit {
	size_t at, removed, added;
};

/* Makes the threads.  The golden one has the values 0, 1, 2 and so on.  The run lacks some of them
 * and has others, from 1000000 up. */
static size_t make_run(struct fix *f, const uint8_t *instructions, const struct edit *edits, uint64_t *values)
{
	size_t count = 0;
	for (size_t i = 0; i < LENGTH; i++) {
		for (const struct edit *e = edits; e->at; e++) {
			if (e->at != i)
				continue;
			for (size_t k = 0; k < e->added; k++) {
				values[count] = 1000000 + count;
				put(f, rnd(2), values[count]);
				count++;
			}
			i += e->removed;
		}
		values[count] = i;
		put(f, instructions[i], values[count++]);
	}
	return count;
}

static void align_once(struct fix *golden, struct fix *run, const uint64_t *values, struct seen *s)
{
	struct epa_source *a = fix_source(golden), *b = fix_source(run);
	struct epa_reference *ref;
	struct epa_names names;
	struct epa_walk *w;
	struct epa_cursor cursor;
	struct epa_record r, last = {0};
	struct epa_align_sink sink = {s, on_pair, on_part, on_only};
	*s = (struct seen){.run_values = values};
	assert_int_equal(epa_reference_open(&ref, a), RD_OK);
	assert_int_equal(epa_walk_open(&w, b), RD_OK);
	epa_names_init(&names, epa_reference_names(ref));
	struct epa_sanitizer *sanitizer = epa_sanitizer_new(w, &names);
	epa_cursor_open(&cursor, ref, 0);
	struct epa_aligner *aligner = epa_aligner_new(&sink, &last, &cursor);
	while (epa_sanitizer_next(sanitizer, &r) > 0)
		epa_aligner_feed(aligner, &r);
	epa_aligner_end(aligner);
	for (const uint64_t *words; (words = epa_cursor_peek(&cursor)) != NULL; epa_cursor_skip(&cursor)) {
		epa_reference_unpack(ref, &r, words);
		on_only(s, 0, &r, true);
	}
	epa_aligner_free(aligner);
	epa_cursor_close(&cursor);
	epa_sanitizer_free(sanitizer);
	epa_names_release(&names);
	epa_walk_close(w);
	epa_reference_close(ref);
	epa_source_close(a);
	epa_source_close(b);
}

static void edited_copies(void **state)
{
	struct fix golden, run;
	static uint8_t instructions[LENGTH];
	static uint64_t values[2 * LENGTH];
	struct seen s;
	(void)state;
	fix_init(&golden);
	fix_init(&run);
	for (unsigned round = 0; round < 60; round++) {
		struct edit edits[] = {{200 + rnd(500), rnd(40), rnd(40)},
				       {1000 + rnd(500), rnd(2) ? rnd(1200) : 0, rnd(3) ? 0 : rnd(1500)},
				       {2900 + rnd(99), rnd(2), rnd(3)},
				       {0, 0, 0}};
		fix_clear(&golden);
		fix_clear(&run);
		FIX_EVENT(&golden, 0, RADDLE_THREAD_START, 0, 0, 0x1000, 0x1000, 0);
		FIX_EVENT(&run, 0, RADDLE_THREAD_START, 0, 0, 0x1000, 0x1000, 0);
		for (size_t i = 0; i < LENGTH; i++) {
			instructions[i] = (uint8_t)rnd(2);
			put(&golden, instructions[i], i);
		}
		size_t count = make_run(&run, instructions, edits, values);
		align_once(&golden, &run, values, &s);
		assert_int_equal(s.golden, LENGTH);
		assert_int_equal(s.run, count);
		assert_int_equal(s.pairs + s.missing, LENGTH);
		assert_int_equal(s.pairs + s.extra, count);
	}
	fix_release(&golden);
	fix_release(&run);
}

/* If a removed or inserted block has other instructions than its surroundings, exactly that block
 * is unmatched. */
static void blocks(void **state)
{
	static const enum fix_site sites[] = {FIX_LOAD, FIX_LOAD2, FIX_LOADP};
	struct fix golden, run;
	static uint64_t values[LENGTH];
	struct seen s;
	(void)state;
	fix_init(&golden);
	fix_init(&run);
	for (unsigned removed = 0; removed < 2; removed++) {
		size_t count = 0;
		fix_clear(&golden);
		fix_clear(&run);
		FIX_EVENT(&golden, 0, RADDLE_THREAD_START, 0, 0, 0x1000, 0x1000, 0);
		FIX_EVENT(&run, 0, RADDLE_THREAD_START, 0, 0, 0x1000, 0x1000, 0);
		for (size_t i = 0; i < 600; i++) {
			enum fix_site site = sites[(i < 200) + 2 * (i >= 400)];
			FIX(&golden, 0, site, FIX_PROGRAM + 0x100, i);
			if (removed && i >= 200 && i < 400)
				continue;
			for (unsigned k = 0; !removed && i == 400 && k < 150; k++) {
				values[count] = 5000 + k;
				FIX(&run, 0, sites[1], FIX_PROGRAM + 0x100, values[count++]);
			}
			values[count] = i;
			FIX(&run, 0, site, FIX_PROGRAM + 0x100, values[count++]);
		}
		align_once(&golden, &run, values, &s);
		assert_int_equal(s.missing, removed ? 200 : 0);
		assert_int_equal(s.extra, removed ? 0 : 150);
		assert_int_equal(s.parts, 1);
	}
	fix_release(&golden);
	fix_release(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(edited_copies), cmocka_unit_test(blocks)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
