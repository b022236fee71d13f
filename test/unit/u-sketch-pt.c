// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the reader of Intel PT: packets that libipt's own encoder wrote for random ways through
 * random code, against a walk through the same code.
 */
#include "sketch/pt-int.h"

#include "base/context.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#if defined __has_include && __has_include(<intel-pt.h>)
#include <dlfcn.h>
#include <intel-pt.h>

enum { BASE = 0x400000, BLOCKS = 12, BLOCK = 16, STEPS = 200, PACKETS = 1 << 16 };

static struct {
	__typeof__(pt_alloc_encoder) *alloc;
	__typeof__(pt_free_encoder) *release;
	__typeof__(pt_enc_next) *next;
} encoder;

static bool load(void)
{
	void *handle = dlopen("libipt.so.2", RTLD_NOW);

	if (!handle)
		return false;
	*(void **)&encoder.alloc = dlsym(handle, "pt_alloc_encoder");
	*(void **)&encoder.release = dlsym(handle, "pt_free_encoder");
	*(void **)&encoder.next = dlsym(handle, "pt_enc_next");
	return encoder.alloc && encoder.release && encoder.next;
}

/* Blocks of 16 bytes: nops, then a conditional jump (0f 84), an indirect one (ff e0) or nothing. */
struct code {
	unsigned char bytes[BLOCKS * BLOCK];
	int to[BLOCKS]; /* where a conditional jump goes; -1: there is none; -2: an indirect one */
};

static void make_code(struct code *c)
{
	memset(c->bytes, 0x90, sizeof c->bytes);
	for (int b = 0; b < BLOCKS; b++) {
		unsigned char *at = c->bytes + b * BLOCK + 10;
		int kind = rand() % 4, relative;

		c->to[b] = -1;
		if (b == BLOCKS - 1 || kind == 3) { /* the last one must not run off */
			memcpy(at + 4, "\xff\xe0", 2);
			c->to[b] = -2;
		} else if (kind) {
			c->to[b] = rand() % BLOCKS;
			relative = c->to[b] * BLOCK - (b + 1) * BLOCK;
			memcpy(at, "\x0f\x84", 2);
			memcpy(at + 2, &relative, 4);
		}
	}
}

struct writer {
	struct pt_encoder *to;
	uint64_t bits;
	uint8_t count;
};

static void put(struct writer *w, const struct pt_packet *p)
{
	assert_true(encoder.next(w->to, p) > 0);
}

static void flush(struct writer *w)
{
	struct pt_packet p = {.type = ppt_tnt_8};

	if (!w->count)
		return;
	p.payload.tnt = (struct pt_packet_tnt){w->count, w->bits};
	put(w, &p);
	w->bits = w->count = 0;
}

static void put_bit(struct writer *w, bool taken)
{
	w->bits = w->bits << 1 | taken;
	if (++w->count == 6)
		flush(w);
}

static void put_ip(struct writer *w, enum pt_packet_type type, uint64_t ip)
{
	struct pt_packet p = {.type = type};

	p.payload.ip = (struct pt_packet_ip){pt_ipc_sext_48, ip};
	put(w, &p);
}

static void begin(struct writer *w, int block)
{
	struct pt_packet p = {.type = ppt_psb};

	put(w, &p);
	p.type = ppt_psbend;
	put(w, &p);
	p.type = ppt_mode;
	p.payload.mode.leaf = pt_mol_exec;
	p.payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
	put(w, &p);
	put_ip(w, ppt_tip_pge, BASE + (uint64_t)block * BLOCK);
}

/* Goes a random way, writes the packets of it, and returns the blocks that were come to. */
static size_t walk(const struct code *c, struct writer *w, uint32_t *blocks)
{
	size_t count = 0;
	int at = rand() % BLOCKS;

	begin(w, at);
	for (int i = 0; i < STEPS; i++) {
		blocks[count++] = (uint32_t)at;
		if (c->to[at] == -2) {
			flush(w);
			at = rand() % BLOCKS;
			if (i + 1 < STEPS)
				put_ip(w, ppt_tip, BASE + (uint64_t)at * BLOCK);
			else
				put_ip(w, ppt_tip_pgd, BASE + (uint64_t)at * BLOCK);
		} else if (c->to[at] == -1) {
			at++;
			i--;
			if (count == 4 * STEPS)
				break;
		} else {
			bool taken = rand() % 2;

			put_bit(w, taken);
			at = taken ? c->to[at] : at + 1;
		}
	}
	flush(w);
	return count;
}

static void random_ways(void **state)
{
	static unsigned char packets[PACKETS];
	struct pt_place places[BLOCKS];

	(void)state;
	if (!load())
		skip();
	srand(5);
	for (uint32_t i = 0; i < BLOCKS; i++)
		places[i] = (struct pt_place){BASE + i * BLOCK, i};
	for (int round = 0; round < 200; round++) {
		uint32_t expected[4 * STEPS + 1];
		struct pt_config config;
		struct writer w = {0};
		struct pt_left left;
		struct code code;

		memset(packets, 0, sizeof packets);
		make_code(&code);
		pt_config_init(&config);
		config.begin = packets;
		config.end = packets + sizeof packets;
		w.to = encoder.alloc(&config);
		assert_non_null(w.to);
		size_t count = walk(&code, &w, expected);
		encoder.release(w.to);
		struct pt_code piece = {BASE, code.bytes, sizeof code.bytes};
		struct pt_trace t = {.packets = packets,
				     .size = sizeof packets,
				     .code = &piece,
				     .code_count = 1,
				     .places = places,
				     .place_count = BLOCKS,
				     .most = 100000};
		assert_int_equal(pt_decode(&t, &left), RD_OK);
		/* What follows the last packet needs none, until a branch does: it is not known to have been.
		 */
		assert_true(left.count + 1 >= count);
		assert_memory_equal(left.numbers, expected,
				    (left.count < count ? left.count : count) * sizeof *expected);
		assert_int_equal(left.gaps, 0);
		free(left.numbers);
	}
}

/* Code that is not known, packets that are none, a jump to itself: said, and it ends. */
static void rubbish(void **state)
{
	static unsigned char packets[4096];
	struct pt_config config;
	struct writer w = {0};
	struct pt_left left;
	struct pt_trace t = {.packets = packets, .size = sizeof packets, .most = 5000};

	(void)state;
	if (!load())
		skip();
	pt_config_init(&config);
	config.begin = packets;
	config.end = packets + sizeof packets;
	w.to = encoder.alloc(&config);
	begin(&w, 0);
	put_bit(&w, true);
	flush(&w);
	encoder.release(w.to);
	assert_int_equal(pt_decode(&t, &left), RD_OK);
	assert_int_equal(left.count, 0);
	assert_true(left.gaps > 0);
	free(left.numbers);

	static const unsigned char loop[] = {0xeb, 0xfe};
	struct pt_code piece = {BASE, loop, sizeof loop};
	struct pt_place place = {BASE, 7};
	t.code = &piece;
	t.code_count = 1;
	t.places = &place;
	t.place_count = 1;
	assert_int_equal(pt_decode(&t, &left), RD_OK);
	assert_true(left.cut || left.gaps > 0);
	assert_true(left.instructions <= 5000);
	free(left.numbers);

	for (int round = 0; round < 300; round++) {
		for (size_t i = 0; i < sizeof packets; i++)
			packets[i] = (unsigned char)(round % 2 ? rand() : i % 2 ? 0x82 : 0x02);
		assert_int_equal(pt_decode(&t, &left), RD_OK);
		free(left.numbers);
	}
	t.size = 0;
	assert_int_equal(pt_decode(&t, &left), RD_OK);
	assert_int_equal(left.instructions, 0);
}

#else
static void random_ways(void **state)
{
	struct pt_left left;

	(void)state;
	rd_context_enter(&(struct rd_context){.log = rd_log_discard});
	assert_int_not_equal(pt_decode(&(struct pt_trace){0}, &left), RD_OK);
}

static void rubbish(void **state)
{
	(void)state;
	assert_false(pt_has_library());
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_ways), cmocka_unit_test(rubbish)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
