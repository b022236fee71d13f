// SPDX-License-Identifier: Apache-2.0
/*
 * Takes any records as two runs of a program, and sanitises, shows and compares them.  A run
 * compared with itself must have no deviation.  The fast and the slow comparison must have the same
 * result.
 *
 * The first byte selects how the rest is read.  If it is even, the rest is commands that write
 * records; operands come from a short list, so that records sometimes refer to the same memory.  If
 * it is odd, the rest is raw buffers.  0xf7 begins the next thread; among commands, 0xf6 ends the
 * golden run.
 */
#include "epa/compare.h"
#include "epa/show.h"
#include "test/unit/epa-fixture.h"
#include "test/unit/epa-twin.h"

#include <stdlib.h>

#define STACK 0x7ffd00000000ull
#define STACKS 0x7f0000000000ull /* stacks of further threads */

struct input {
	const uint8_t *at, *end;
};

static uint8_t byte(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* The upper half of a byte selects a base, and the lower half an offset from it. */
static uint64_t operand(struct input *in)
{
	static const uint64_t bases[16] = {0,
					   1,
					   STACK,
					   STACK + 0xf000,
					   FIX_PROGRAM,
					   FIX_PROGRAM + 0x100,
					   FIX_PROGRAM + 0x140,
					   0x602000000000,
					   0x602000001000,
					   STACKS,
					   STACKS + 0xf000,
					   STACKS + 0x20000,
					   4096,
					   UINT64_MAX - 64,
					   1ull << 47,
					   0x3ff0000000000000};
	uint8_t b = byte(in);
	return bases[b >> 4] + (b & 15) * (b & 1 ? 1u : 8u);
}

static void add_record(struct fix *f, struct input *in, unsigned thread, unsigned code)
{
	uint64_t operands[8];
	const char *letters;
	for (size_t i = 0; i < 8; i++)
		operands[i] = i < 5 ? operand(in) : 0;
	if (code < FIX_SITES) {
		if (code)
			fix_piece(f, thread, code, operands);
		return;
	}
	code -= FIX_SITES;
	letters = trace_kind(code)->operands;
	if (letters && *letters)
		fix_event(f, thread, code, operands);
}

/* Writes the records up to the end of the run. */
static void write_run(struct fix *f, struct input *in)
{
	unsigned thread = 0;
	fix_begin(f, STACK, FIX_PROGRAM);
	while (in->at < in->end) {
		uint8_t code = byte(in);
		if (code == 0xf6)
			break;
		if (code >= 0xf7)
			thread = (thread + 1) % FIX_THREADS;
		else
			add_record(f, in, thread, code);
	}
}

static void add_raw(struct fix *f, struct input *in)
{
	unsigned thread = 0;
	for (; in->at < in->end; in->at++) {
		if (*in->at == 0xf7)
			thread = (thread + 1) % FIX_THREADS;
		else
			rd_buf_addc(&f->raw[thread], (char)*in->at);
	}
}

static void show_all(struct epa_source *source)
{
	struct epa_names names;
	struct epa_walk *walk;
	struct epa_record r;
	struct rd_buf text = RD_BUF_INIT;
	epa_names_init(&names, NULL);
	if (epa_walk_open(&walk, source))
		abort();
	struct epa_show show = {&names, epa_source_sites(source)};
	struct epa_sanitizer *s = epa_sanitizer_new(walk, &names);
	while (epa_sanitizer_next(s, &r) > 0) {
		rd_buf_clear(&text);
		epa_show_record(&show, &r, &text);
		epa_show_place(show.sites, r.site, &text);
	}
	epa_sanitizer_free(s);
	epa_walk_close(walk);
	epa_names_release(&names);
	rd_buf_release(&text);
}

static bool deviates(struct epa_reference *golden, struct epa_source *run, bool propagation)
{
	struct epa_compare_options options = {.propagation = propagation};
	struct epa_comparison c;
	bool deviated;
	if (twin_compare(golden, run, &options, &c))
		abort();
	deviated = c.deviated;
	epa_comparison_release(&c);
	return deviated;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	struct epa_reference *reference = NULL;
	struct epa_source *golden, *run;
	struct fix a, b;
	if (size < 2 || size > 1u << 16)
		return 0;
	rd_log_set(rd_log_discard, NULL);
	fix_init(&a);
	fix_init(&b);
	if (byte(&in) & 1) {
		fix_begin(&a, STACK, FIX_PROGRAM);
		fix_begin(&b, STACK, FIX_PROGRAM);
		add_raw(&a, &in);
	} else {
		write_run(&a, &in);
		write_run(&b, &in);
	}
	golden = fix_source(&a);
	run = fix_source(&b);
	show_all(golden);
	if (!epa_reference_open(&reference, golden)) {
		RD_ASSERT(!deviates(reference, golden, true));
		RD_ASSERT(deviates(reference, run, true) == deviates(reference, run, false));
	}
	epa_reference_close(reference);
	epa_source_close(golden);
	epa_source_close(run);
	fix_release(&a);
	fix_release(&b);
	return 0;
}
