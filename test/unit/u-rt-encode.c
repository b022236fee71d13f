// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the runtime's encoder with the trace decoder.  Random records are accesses, ranges,
 * atomics and events of every kind.  Call stacks grow, shrink, are replaced and become too deep to
 * be written in full.  The decoded events must equal the encoded ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rt/core/buffer/encode.h"
#include "trace/decode.h"

#include <stdlib.h>
#include <string.h>

enum { RECORDS = 20000, ROOM = RECORDS * 400, DEPTH = 4 * RT_STACK_WHOLE };

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t rnd_number(void)
{
	return rnd() >> (rnd() % 64);
}

/* A record, and the call stack at that time. */
struct expected {
	struct rt_record record;
	uint32_t depth;
	uint32_t top[4]; /* the innermost entries */
	uint32_t shown;	 /* number of entries that the decoder has */
};

static uint32_t shadow[DEPTH + 1];

/* Makes random calls and returns.  Entries after a return are overwritten by the next calls. */
static uint32_t *walk(uint32_t *base, uint32_t *top)
{
	size_t depth = (size_t)(top - base);
	size_t down = rnd() % 8 ? rnd() % 4 : rnd() % (depth + 1);
	size_t up = rnd() % 64 ? rnd() % 4 : rnd() % 1500;

	top -= down < depth ? down : depth;
	for (; up && top < base + DEPTH - 1; up--)
		*top++ = (uint32_t)(rnd() % RADDLE_SITE_MAX);
	return top;
}

static uint32_t codes[256];
static size_t code_count;

static void find_codes(void)
{
	code_count = 0;
	for (uint32_t code = RADDLE_FENCE + 1; code < RADDLE_ACCESS_FLAG; code++)
		if (rt_operands(code))
			codes[code_count++] = code;
	assert_true(code_count > 40);
}

static struct rt_record random_record(void)
{
	struct rt_record r = {.site = (uint32_t)(rnd_number() % RADDLE_SITE_MAX)};
	static const uint32_t own[] = {RADDLE_ACCESS, RADDLE_RANGE, RADDLE_ATOMIC, RADDLE_FENCE};

	r.code = rnd() % 4 ? own[rnd() % 4] : codes[rnd() % code_count];
	for (size_t i = 0; i < RADDLE_MAX_OPERANDS; i++)
		r.operand[i] = rnd_number();
	r.length = (uint32_t)(rnd() % 12);
	r.bytes = "abcdefghijklmnop";
	return r;
}

static uint8_t *put(struct rt_encoder *e, uint8_t *p, uint32_t *top, struct expected *x)
{
	size_t depth = (size_t)(top - e->stack_base);

	if (rt_stack_changed(e, top))
		p = rt_put_stack(e, p, top);
	x->depth = (uint32_t)depth;
	x->shown = (uint32_t)(depth <= RT_STACK_WHOLE ? depth : RT_STACK_OUTER + 1 + RT_STACK_INNER);
	for (size_t i = 0; i < 4 && i < depth; i++)
		x->top[i] = top[-1 - (int)i] & ~RT_STACK_EMITTED;
	if (x->record.code == RADDLE_ACCESS)
		return rt_put_access(e, p, x->record.site, x->record.operand[0]);
	return rt_put_record(e, p, &x->record);
}

static void compare_operands(const struct rt_record *r, const struct trace_event *e)
{
	size_t at = 0;

	for (const char *letter = rt_operands(r->code); *letter; letter++, at++) {
		if (*letter == 'q')
			assert_int_equal(e->q, r->operand[at]);
		else if (*letter == 't')
			assert_int_equal(e->t, r->operand[at]);
		else if (*letter == 'b') {
			assert_int_equal(e->length, r->length);
			assert_memory_equal(e->bytes, r->bytes, r->length);
		} else
			assert_int_equal(e->values[at], r->operand[at]);
	}
}

static void compare(const struct expected *x, const struct trace_event *e, const struct trace_decoder *d)
{
	const struct rt_record *r = &x->record;

	assert_int_equal(e->kind, r->code);
	assert_int_equal(d->depth, x->shown);
	for (size_t i = 0; i < 4 && i < x->depth; i++)
		assert_int_equal(d->stack[d->depth - 1 - i], x->top[i]);
	if (r->code == RADDLE_ACCESS || r->code == RADDLE_RANGE) {
		assert_int_equal(e->site, r->site);
		assert_int_equal(e->address, r->operand[0]);
		if (r->code == RADDLE_RANGE)
			assert_int_equal(e->size, r->operand[1]);
	} else if (r->code == RADDLE_ATOMIC || r->code == RADDLE_FENCE) {
		assert_int_equal(e->q, r->operand[0]);
		assert_int_equal(e->site, r->site);
		if (r->code == RADDLE_ATOMIC)
			assert_int_equal(e->address, r->operand[1]);
	} else {
		compare_operands(r, e);
	}
}

static void round_trip(void **state)
{
	struct rt_encoder *e = calloc(1, sizeof *e);
	struct expected *all = calloc(RECORDS, sizeof *all);
	uint8_t *bytes = malloc(ROOM), *p;
	struct trace_decoder d = {0};
	struct trace_event event;
	uint32_t *top;

	(void)state;
	find_codes();
	shadow[0] = RT_STACK_EMITTED;
	e->stack_base = top = shadow + 1;
	p = rt_put_reset(e, bytes);
	for (size_t i = 0; i < RECORDS; i++) {
		if (rnd() % 3 == 0)
			top = walk(e->stack_base, top);
		if (rnd() % 1000 == 0)
			p = rt_put_reset(e, p);
		all[i].record = random_record();
		p = put(e, p, top, &all[i]);
		assert_true(p < bytes + ROOM - RT_STACK_MAX - RT_RECORD_MAX);
	}
	trace_decoder_start(&d, bytes, (size_t)(p - bytes));
	for (size_t i = 0; i < RECORDS; i++) {
		assert_int_equal(trace_decode(&d, &event), 1);
		compare(&all[i], &event, &d);
	}
	assert_int_equal(trace_decode(&d, &event), 0);
	trace_decoder_release(&d);
	free(bytes);
	free(all);
	free(e);
}

/* The longest record of each kind fits into the room that callers reserve for it. */
static void longest_records(void **state)
{
	struct rt_encoder *e = calloc(1, sizeof *e);
	uint8_t bytes[4 * RT_RECORD_MAX];

	(void)state;
	find_codes();
	for (size_t i = 0; i < code_count; i++) {
		struct rt_record r = {.code = codes[i]};
		for (size_t k = 0; k < RADDLE_MAX_OPERANDS; k++)
			r.operand[k] = k % 2 ? 1ull << 63 : UINT64_MAX;
		r.bytes = "";
		e->q = e->t = e->a = 1ull << 62;
		assert_true(rt_put_record(e, bytes, &r) - bytes <= RT_RECORD_MAX);
	}
	free(e);
}

/* A stride is decoded as its single accesses, and what follows it is decoded as if each of them had
 * been written. */
static void stride_reads_as_accesses(void **state)
{
	struct rt_encoder *e = calloc(1, sizeof *e);
	struct rt_record stride = {
		.code = RADDLE_STRIDE, .site = 300, .count = 3, .operand = {0x7000, (uint64_t)-24, 5}};
	uint8_t bytes[256], *p = rt_put_reset(e, bytes);
	struct trace_decoder d = {0};
	struct trace_event event;

	(void)state;
	p = rt_put_access(e, p, 300, 0x1000);
	p = rt_put_record(e, p, &stride);
	p = rt_put_access(e, p, 301, 0x9000);
	p = rt_put_access(e, p, 300, 0x7001);
	trace_decoder_start(&d, bytes, (size_t)(p - bytes));
	for (int i = 0; i < 8; i++) {
		uint64_t expected[] = {0x1000,	    0x7000,	 0x7000 - 24, 0x7000 - 48,
				       0x7000 - 72, 0x7000 - 96, 0x9000,      0x7001};
		assert_int_equal(trace_decode(&d, &event), 1);
		assert_int_equal(event.kind, RADDLE_ACCESS);
		assert_int_equal(event.site, i == 6 ? 301 : 300);
		assert_int_equal(event.address, expected[i]);
	}
	assert_int_equal(trace_decode(&d, &event), 0);
	trace_decoder_release(&d);
	free(e);
}

static void endless_stride_is_damage(void **state)
{
	static const uint8_t none[] = {RADDLE_RESET, RADDLE_STRIDE, 2, 2, 2, 0};
	static const uint8_t many[] = {RADDLE_RESET, RADDLE_STRIDE, 2, 2, 2, 0x81, 0x80, 0x04};
	struct trace_decoder d = {0};
	struct trace_event event;

	(void)state;
	trace_decoder_start(&d, none, sizeof none);
	assert_int_equal(trace_decode(&d, &event), -1);
	trace_decoder_start(&d, many, sizeof many);
	assert_int_equal(trace_decode(&d, &event), -1);
	assert_string_equal(d.error, "a stride has too many accesses or none");
	trace_decoder_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(stride_reads_as_accesses),
		cmocka_unit_test(endless_stride_is_damage),
		cmocka_unit_test(longest_records),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
