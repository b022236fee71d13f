// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of full traces: layout, raw bytes, packing and the reader.
 *
 * A random layout is made as text.  Random pieces and rows are made as raw bytes.  What a reader
 * should report about them is computed by the slow reference below, which uses only the text of the
 * layout.  Then the bytes pass through packer, writer and reader.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "raddle/full.h"
#include "trace/pack.h"
#include "trace/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SLOT 5u
#define PIECES 40
#define SITES 300

static uint64_t random_state = 88172645463325252ull;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 11) % n;
}

/* --- a layout as text ---------------------------------------------------------------- */

static char *piece_ops[PIECES + 1]; /* the operations of piece n, separated by blanks */
static uint32_t piece_sizes[PIECES + 1];

static struct trace_sites *parse_table(struct rd_buf *body, size_t lines)
{
	struct rd_buf text = RD_BUF_INIT;
	struct trace_sites *sites = NULL;
	rd_buf_adds(&text, "raddle-sites\t1\n");
	rd_buf_add(&text, body->data, body->length);
	unsigned long long sum = XXH64(text.data, text.length, 0);
	rd_buf_addf(&text, "end\t%zu\t%016llx\n", lines, sum);
	if (trace_sites_parse(&sites, text.data, text.length, "test") != RD_OK)
		sites = NULL;
	rd_buf_release(&text);
	return sites;
}

static void add_types(struct rd_buf *op, uint32_t *size, unsigned count)
{
	static const char *const types[] = {"i1", "i2", "i4", "i8", "i16", "p8", "f4", "f8", "f10", "v24"};
	for (unsigned i = 0; i < count; i++) {
		const char *type = types[random_below(10)];
		rd_buf_adds(op, type);
		*size += (uint32_t)atoi(type + 1);
	}
}

/* Adds a random operation.  Its letter determines which fields it may have. */
static void add_op(struct rd_buf *ops, uint32_t *size)
{
	static const char letters[] = "elsarctvxbgmni";
	char letter = letters[random_below(sizeof letters - 1)];
	rd_buf_addf(ops, " %c%u", letter, 1 + random_below(SITES));
	switch (letter) {
	case 'l':
	case 's':
		*size += 8;
		add_types(ops, size, 1);
		break;
	case 'a':
		*size += 8;
		if (random_below(2)) {
			rd_buf_adds(ops, "i8");
			*size += 8;
		}
		break;
	case 'r': *size += 8; break;
	case 'm':
		rd_buf_adds(ops, "p8i8");
		*size += 24;
		break;
	case 'n':
		rd_buf_adds(ops, "i1i8");
		*size += 17;
		break;
	case 'g':
		rd_buf_adds(ops, "F8");
		*size += 8;
		break;
	case 'v':
	case 'x': add_types(ops, size, random_below(2)); break;
	case 'e':
	case 'c':
	case 't':
		if (random_below(3) == 0) {
			rd_buf_adds(ops, letter == 'e' ? "F8" : "C8");
			*size += 8;
		}
		add_types(ops, size, random_below(5));
		break;
	default: break;
	}
}

static struct trace_sites *random_table(void)
{
	struct rd_buf body = RD_BUF_INIT;
	rd_buf_addf(&body, "U\t%u\t1\tunit.c\n", SLOT);
	for (unsigned i = 1; i <= SITES; i++)
		rd_buf_addf(&body, "S\t%u\tr\t%u\t-\t-1\t%u\t0\tf\tx\tint\n", i, i % 9, i);
	for (unsigned i = 1; i <= PIECES; i++) {
		struct rd_buf ops = RD_BUF_INIT;
		uint32_t size = RADDLE_PIECE_HEAD;
		for (unsigned k = random_below(8); k > 0; k--)
			add_op(&ops, &size);
		size += size > RADDLE_PIECE_HEAD;
		rd_buf_addf(&body, "P\t%u\t1\t%u", i, size);
		for (size_t k = 0; k < ops.length; k++)
			rd_buf_addc(&body, ops.data[k] == ' ' ? '\t' : ops.data[k]);
		rd_buf_addc(&body, '\n');
		free(piece_ops[i]);
		piece_ops[i] = rd_xstrdup(ops.length ? ops.data : "");
		piece_sizes[i] = size;
		rd_buf_release(&ops);
	}
	struct trace_sites *sites = parse_table(&body, 1 + SITES + PIECES);
	rd_buf_release(&body);
	return sites;
}

/* --- what a reader should report, by the twin ------------------------------------------------ */

/* Writes one line for each record: kind, site, fields in hex. */
static void say(struct rd_buf *out, const char *kind, uint32_t site)
{
	rd_buf_addf(out, "\n%s %u", kind, site);
}

static void say_bytes(struct rd_buf *out, const uint8_t *p, size_t n)
{
	rd_buf_addc(out, ' ');
	for (size_t i = 0; i < n; i++)
		rd_buf_addf(out, "%02x", p[i]);
}

static const char *twin_kind(char letter)
{
	switch (letter) {
	case 'e': return "entry";
	case 'l': return "load";
	case 's': return "store";
	case 'a': return "alloca";
	case 'r': return "restore";
	case 'c': return "call";
	case 't': return "tail";
	case 'v': return "result";
	case 'x': return "return";
	case 'b': return "branch";
	case 'g': return "landing";
	case 'm': return "copy";
	case 'n': return "fill";
	default: return "value";
	}
}

/* The twin reads a piece with the text of its operations. */
static void twin_piece(struct rd_buf *out, unsigned n, const uint8_t *raw)
{
	const uint8_t *p = raw + RADDLE_PIECE_HEAD;
	char *copy = rd_xstrdup(piece_ops[n]), *rest = copy, *op;
	while ((op = strsep(&rest, " ")) != NULL) {
		char *at = op + 1;
		if (!*op)
			continue;
		uint32_t site = (SLOT << 16) + (uint32_t)strtoul(at, &at, 10);
		if (*op == 'i')
			continue;
		say(out, twin_kind(*op), site);
		if (strchr("lsarmn", *op)) {
			uint64_t address;
			memcpy(&address, p, 8);
			address--;
			say_bytes(out, (uint8_t *)&address, 8);
			p += 8;
		}
		while (*at) {
			size_t size = strtoul(at + 1, &at, 10);
			say_bytes(out, p, size);
			p += size;
		}
	}
	free(copy);
}

static void reader_says(struct rd_buf *out, const struct trace_record *r)
{
	if (r->kind == TRACE_FULL_EVENT) {
		say(out, trace_kind(r->event->kind)->name, 0);
		for (unsigned i = 0; trace_kind(r->event->kind)->operands[i]; i++)
			say_bytes(out, (const uint8_t *)&r->event->values[i], 8);
		return;
	}
	say(out, trace_full_kind_name(r->kind), r->site);
	if (r->kind == TRACE_FULL_RANGE) {
		say_bytes(out, (const uint8_t *)&r->address, 8);
		say_bytes(out, (const uint8_t *)&r->value, 8);
		for (uint32_t i = 0; i < r->listed; i++)
			say_bytes(out, (const uint8_t *)&r->pointers[i].value, 8);
		return;
	}
	if (r->op && r->op->address)
		say_bytes(out, (const uint8_t *)&r->address, 8);
	if (r->op && (r->op->frame || r->op->callee))
		say_bytes(out, (const uint8_t *)(r->op->frame ? &r->frame : &r->callee), 8);
	for (size_t i = 0; i < r->value_count; i++)
		say_bytes(out, r->bytes + r->values[i].offset, r->values[i].size);
}

/* --- random raw bytes --------------------------------------------------------------------- */

/* Makes an address, at any distance from others. */
static void random_address(uint8_t *p)
{
	static const uint64_t regions[] = {0x7ffd12340000, 0x7f1200000000, 0x7f1208000000, 0x555555800000};
	uint64_t v = regions[random_below(4)] + random_below(1u << random_below(24));
	memcpy(p, &v, 8);
}

/* Makes values that change like those of a program: often not at all, often by a little. */
static void random_bytes(uint8_t *p, size_t n)
{
	static uint64_t last[16];
	if (n == 8 && random_below(2)) {
		random_address(p);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t *v = &last[random_below(16)];
		if (random_below(4) == 0)
			*v += random_below(2) ? 8 : random_state;
		p[i] = (uint8_t)(*v >> 8 * (i % 8));
	}
}

static void add_piece(struct rd_buf *raw, struct rd_buf *expected)
{
	unsigned n = 1 + random_below(PIECES);
	uint8_t bytes[RADDLE_PIECE_MAX];
	uint32_t head = raddle_piece_head((SLOT << 16) + n);
	random_bytes(bytes, piece_sizes[n]);
	memcpy(bytes, &head, 4);
	if (piece_sizes[n] > RADDLE_PIECE_HEAD)
		bytes[piece_sizes[n] - 1] = 1;
	rd_buf_add(raw, (char *)bytes, piece_sizes[n]);
	twin_piece(expected, n, bytes);
}

static void add_event(struct rd_buf *raw, struct rd_buf *expected)
{
	static const uint8_t codes[] = {RADDLE_MUTEX_LOCK, RADDLE_ALLOC, RADDLE_THREAD_CREATE, RADDLE_NOTE};
	uint8_t code = codes[random_below(4)];
	rd_buf_addc(raw, (char)code);
	say(expected, trace_kind(code)->name, 0);
	for (const char *letter = trace_kind(code)->operands; *letter; letter++) {
		uint64_t v;
		random_bytes((uint8_t *)&v, 8);
		if (*letter == 'b') {
			v = 5;
			rd_buf_add(raw, (char *)&v, 4);
			rd_buf_adds(raw, "hello");
		} else {
			rd_buf_add(raw, (char *)&v, 8);
		}
		say_bytes(expected, (uint8_t *)&v, 8);
	}
}

static void add_range(struct rd_buf *raw, struct rd_buf *expected)
{
	uint8_t bytes[34 + 16 * RADDLE_FULL_POINTERS];
	uint32_t site = (SLOT << 16) + 1 + random_below(SITES),
		 listed = random_below(RADDLE_FULL_POINTERS + 1);
	random_bytes(bytes, sizeof bytes);
	bytes[0] = RADDLE_FULL_RANGE;
	memcpy(bytes + 1, &site, 4);
	bytes[33] = (uint8_t)listed;
	rd_buf_add(raw, (char *)bytes, 34 + 16 * listed);
	say(expected, "range", site);
	say_bytes(expected, bytes + 5, 8);
	say_bytes(expected, bytes + 21, 8);
	for (uint32_t i = 0; i < listed; i++)
		say_bytes(expected, bytes + 42 + 16 * i, 8);
}

static void add_atomic(struct rd_buf *raw, struct rd_buf *expected)
{
	static const uint8_t sizes[] = {1, 2, 4, 8, 16};
	uint8_t bytes[23 + 32], size = sizes[random_below(5)];
	uint32_t site = (SLOT << 16) + 1 + random_below(SITES);
	random_bytes(bytes, sizeof bytes);
	bytes[0] = RADDLE_FULL_ATOMIC;
	memcpy(bytes + 1, &site, 4);
	bytes[22] = size;
	rd_buf_add(raw, (char *)bytes, 23 + 2u * size);
	say(expected, "atomic", site);
	say_bytes(expected, bytes + 23, size);
	say_bytes(expected, bytes + 23 + size, size);
}

/* Makes one buffer, as a thread hands it over. */
static void random_buffer(struct rd_buf *raw, struct rd_buf *expected, size_t records)
{
	rd_buf_clear(raw);
	rd_buf_addc(raw, RADDLE_FULL_RESET);
	for (size_t i = 0; i < records; i++)
		switch (random_below(12)) {
		case 0: add_event(raw, expected); break;
		case 1: add_range(raw, expected); break;
		case 2: add_atomic(raw, expected); break;
		default: add_piece(raw, expected);
		}
}

static void read_all(struct trace_full *f, struct rd_buf *said)
{
	struct trace_record r;
	int got;
	while ((got = trace_full_next(f, &r)) > 0)
		reader_says(said, &r);
	assert_int_equal(got, 0);
}

static void release(struct trace_sites *sites, struct trace_layout *layout)
{
	trace_layout_free(layout);
	trace_sites_free(sites);
	for (unsigned i = 1; i <= PIECES; i++) {
		free(piece_ops[i]);
		piece_ops[i] = NULL;
	}
}

static struct trace_layout *random_layout(struct trace_sites **sites)
{
	struct trace_layout *layout = NULL;
	*sites = random_table();
	assert_non_null(*sites);
	assert_int_equal(trace_layout_new(&layout, *sites), RD_OK);
	return layout;
}

/* Raw bytes are read without packing. */
static void raw_bytes_are_read(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct rd_buf raw = RD_BUF_INIT, expected = RD_BUF_INIT, said = RD_BUF_INIT;
		struct trace_sites *sites;
		struct trace_layout *layout = random_layout(&sites);
		struct trace_full *f;
		trace_full_open_raw(&f, layout, 3, false);
		for (int i = 0; i < 3; i++) {
			random_buffer(&raw, &expected, 100);
			trace_full_feed(f, raw.data, raw.length);
			read_all(f, &said);
		}
		trace_full_feed(f, NULL, 0);
		read_all(f, &said);
		assert_string_equal(expected.data, said.data);
		trace_full_close(f);
		release(sites, layout);
		rd_buf_release(&raw);
		rd_buf_release(&expected);
		rd_buf_release(&said);
	}
}

/* Packed bytes are the same after unpacking. */
static void packing_loses_nothing(void **state)
{
	(void)state;
	for (int round = 0; round < 50; round++) {
		struct rd_buf raw = RD_BUF_INIT, expected = RD_BUF_INIT;
		struct trace_sites *sites;
		struct trace_layout *layout = random_layout(&sites);
		struct trace_packer *p = trace_packer_new(layout);
		struct trace_unpacker *u = trace_unpacker_new(layout, TRACE_FULL_VERSION);
		for (int i = 0; i < 5; i++) {
			size_t length;
			random_buffer(&raw, &expected, 200);
			assert_true(trace_pack(p, (uint8_t *)raw.data, raw.length) > 0);
			size_t had = trace_packed_raw(p);
			assert_int_equal(had, raw.length - 1);
			const void *packed = trace_packed_take(p, &length);
			assert_null(trace_unpack(u, packed, length, had));
			assert_memory_equal(trace_unpacked(u), raw.data + 1, had);
		}
		trace_packer_free(p);
		trace_unpacker_free(u);
		release(sites, layout);
		rd_buf_release(&raw);
		rd_buf_release(&expected);
	}
}

/* Bytes are read from files. */
static void files_are_read(void **state)
{
	char path[] = "/tmp/u-trace-full-XXXXXX";
	struct rd_buf raw = RD_BUF_INIT, expected = RD_BUF_INIT, said = RD_BUF_INIT;
	struct trace_sites *sites;
	struct trace_layout *layout = random_layout(&sites);
	struct trace_packer *p = trace_packer_new(layout);
	struct trace_writer *w;
	struct trace *trace;
	struct trace_full *f;
	size_t length;
	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	trace_writer_full(w);
	for (int i = 0; i < 20; i++) {
		random_buffer(&raw, &expected, 500);
		if (i == 7) { /* bytes that were not packed may be between packed ones */
			assert_int_equal(trace_writer_chunk(w, 0, raw.data, raw.length), RD_OK);
			continue;
		}
		trace_pack(p, (uint8_t *)raw.data, raw.length);
		size_t had = trace_packed_raw(p);
		const void *packed = trace_packed_take(p, &length);
		assert_int_equal(trace_writer_packed(w, 0, packed, length, had), RD_OK);
	}
	assert_int_equal(trace_writer_close(w), RD_OK);
	assert_int_equal(trace_open(&trace, path, true), RD_OK);
	assert_true(trace_is_full(trace));
	assert_int_equal(trace_full_open(&f, trace, layout, 0, false), RD_OK);
	read_all(f, &said);
	assert_string_equal(expected.data, said.data);
	trace_full_close(f);
	trace_close(trace);
	trace_packer_free(p);
	release(sites, layout);
	rd_remove_tree(path);
	rd_buf_release(&raw);
	rd_buf_release(&expected);
	rd_buf_release(&said);
}

/* --- unfinished pieces, calls and branches ----------------------------------------------- */

static struct trace_layout *small_layout(struct trace_sites **sites)
{
	static const char *const rows[] = {
		"U\t5\t1\tunit.c",
		"S\t1\te\t0\t-\t-1\t1\t0\tf\tf\t-",
		"S\t2\tr\t4\t-\t-1\t2\t0\tf\tx\tint",
		"S\t3\tw\t4\t-\t-1\t3\t0\tf\ty\tint",
		"S\t4\tc\t0\t-\t-1\t4\t0\tf\tg\t-",
		"S\t5\tx\t0\t-\t-1\t5\t0\tf\t-\t-",
		"S\t6\tg\t0\t-\t-1\t6\t0\tf\t-\t-",
		"P\t1\t1\t29\te1F8i4\tl2i4", /* 4 + 8 + 4 + 8 + 4 + 1 */
		"P\t2\t1\t29\ts3i4\tl2i4",   /* 4 + 12 + 12 + 1 */
		"P\t3\t1\t4\tc4",
		"P\t4\t1\t4\tx5",
		"P\t5\t1\t13\tg6F8",
		"S\t7\tb\t0\t-\t-1\t7\t0\tf\tbr\t-",
		"P\t6\t1\t4\tb7",
	};
	struct rd_buf body = RD_BUF_INIT;
	struct trace_layout *layout = NULL;
	size_t n = sizeof rows / sizeof *rows;
	for (size_t i = 0; i < n; i++)
		rd_buf_addf(&body, "%s\n", rows[i]);
	*sites = parse_table(&body, n);
	assert_non_null(*sites);
	assert_int_equal(trace_layout_new(&layout, *sites), RD_OK);
	rd_buf_release(&body);
	return layout;
}

static void add_head(struct rd_buf *raw, unsigned n)
{
	uint32_t head = raddle_piece_head((SLOT << 16) + n);
	rd_buf_add(raw, (char *)&head, 4);
}

static void add_number(struct rd_buf *raw, uint64_t v, size_t bytes)
{
	char wide[32] = {0};
	assert_true(bytes <= sizeof wide);
	memcpy(wide, &v, sizeof v);
	rd_buf_add(raw, wide, bytes);
}

/* A piece was interrupted in the middle.  The operations that were begun are reported; the last one
 * is marked as unfinished. */
static void unfinished_pieces_are_cut(void **state)
{
	struct rd_buf raw = RD_BUF_INIT;
	struct trace_sites *sites;
	struct trace_layout *layout = small_layout(&sites);
	struct trace_record r;
	struct trace_full *f;
	(void)state;
	add_head(&raw, 2);
	add_number(&raw, 0x1000 + 1, 8);
	add_number(&raw, 7, 4);
	add_number(&raw, 0x2000 + 1, 8);
	add_number(&raw, 0, 5);
	trace_full_open_raw(&f, layout, 0, false);
	trace_full_feed(f, raw.data, raw.length);
	assert_int_equal(trace_full_next(f, &r), 1);
	assert_int_equal(r.kind, TRACE_FULL_STORE);
	assert_int_equal(r.flags, 0);
	assert_int_equal(r.value, 7);
	assert_int_equal(trace_full_next(f, &r), 1);
	assert_int_equal(r.kind, TRACE_FULL_LOAD);
	assert_int_equal(r.flags, TRACE_RECORD_UNFINISHED);
	assert_int_equal(r.address, 0x2000);
	assert_int_equal(trace_full_next(f, &r), 0);
	memset(raw.data + 16, 0, 8); /* as if the load had not begun */
	trace_full_feed(f, raw.data, raw.length);
	assert_int_equal(trace_full_next(f, &r), 1);
	assert_int_equal(r.kind, TRACE_FULL_STORE);
	assert_int_equal(r.flags, TRACE_RECORD_UNFINISHED);
	assert_int_equal(trace_full_next(f, &r), 0);
	trace_full_close(f);
	trace_layout_free(layout);
	trace_sites_free(sites);
	rd_buf_release(&raw);
}

static void add_entry(struct rd_buf *raw, uint64_t frame)
{
	add_head(raw, 1);
	add_number(raw, frame, 8);
	add_number(raw, 1, 4);
	add_number(raw, 0x1001, 8);
	add_number(raw, 2, 4);
	add_number(raw, 1, 1);
}

/* A landing removes the scopes above its frame, and no others. */
static void landings_unwind(void **state)
{
	struct rd_buf raw = RD_BUF_INIT;
	struct trace_sites *sites;
	struct trace_layout *layout = small_layout(&sites);
	struct trace_record r;
	struct trace_full *f;
	uint32_t stack[8];
	(void)state;
	for (uint64_t frame = 900; frame > 500; frame -= 100) {
		add_entry(&raw, frame);
		add_head(&raw, 3);
	}
	trace_full_open_raw(&f, layout, 0, false);
	trace_full_feed(f, raw.data, raw.length);
	while (trace_full_next(f, &r) > 0)
		;
	assert_int_equal(trace_full_stack(f, stack, 8), 4);
	assert_int_equal(stack[0], (SLOT << 16) + 4);
	rd_buf_clear(&raw);
	add_head(&raw, 5);
	add_number(&raw, 800, 8);
	add_number(&raw, 1, 1);
	trace_full_feed(f, raw.data, raw.length);
	assert_int_equal(trace_full_next(f, &r), 1);
	assert_int_equal(r.kind, TRACE_FULL_LANDING);
	assert_int_equal(trace_full_stack(f, stack, 8), 2);
	rd_buf_clear(&raw);
	add_head(&raw, 4);
	add_head(&raw, 4);
	add_head(&raw, 4);
	trace_full_feed(f, raw.data, raw.length);
	while (trace_full_next(f, &r) > 0)
		;
	assert_int_equal(trace_full_stack(f, stack, 8), 0);
	trace_full_close(f);
	trace_layout_free(layout);
	trace_sites_free(sites);
	rd_buf_release(&raw);
}

/* Scopes above the limit are not kept, but their ends are counted. */
static void deep_calls_return(void **state)
{
	enum { KEPT = 1 << 24, ROUNDS = KEPT / 1024, FURTHER = 8 };
	struct rd_buf raw = RD_BUF_INIT;
	struct trace_sites *sites;
	struct trace_layout *layout = small_layout(&sites);
	struct trace_record r;
	struct trace_full *f;
	(void)state;
	trace_full_open_raw(&f, layout, 0, false);
	for (int i = 0; i < KEPT / ROUNDS; i++)
		add_entry(&raw, 900);
	for (int i = 0; i <= ROUNDS; i++) {
		if (i == ROUNDS)
			raw.length = raw.length / (KEPT / ROUNDS) * FURTHER;
		trace_full_feed(f, raw.data, raw.length);
		while (trace_full_next(f, &r) > 0)
			;
	}
	assert_int_equal(trace_full_stack(f, NULL, 0), KEPT);
	rd_buf_clear(&raw);
	for (int i = 0; i < FURTHER + 1; i++)
		add_head(&raw, 4);
	trace_full_feed(f, raw.data, raw.length);
	while (trace_full_next(f, &r) > 0)
		;
	assert_int_equal(trace_full_stack(f, NULL, 0), KEPT - 1);
	trace_full_close(f);
	trace_layout_free(layout);
	trace_sites_free(sites);
	rd_buf_release(&raw);
}

static void assert_branch(struct trace_full *f, uint32_t target)
{
	struct trace_record r;
	assert_int_equal(trace_full_next(f, &r), 1);
	assert_int_equal(r.kind, TRACE_FULL_BRANCH);
	assert_int_equal(r.value, target);
}

/* The target of a branch does not depend on the ends of buffers, nor on faults. */
static void branches_have_targets(void **state)
{
	struct rd_buf one = RD_BUF_INIT, two = RD_BUF_INIT;
	struct trace_sites *sites;
	struct trace_layout *layout = small_layout(&sites);
	struct trace_record r;
	struct trace_full *f;
	(void)state;
	add_head(&one, 6);
	rd_buf_addc(&one, RADDLE_FULL_FAULT);
	for (int i = 0; i < 5; i++)
		add_number(&one, 0, 8);
	add_head(&one, 6);
	rd_buf_addc(&two, RADDLE_FULL_RESET);
	add_head(&two, 6);
	add_entry(&two, 0); /* the entry of a handler */
	add_head(&two, 4);
	add_head(&two, 6);
	trace_full_open_raw(&f, layout, 0, false);
	trace_full_feed(f, one.data, one.length);
	assert_branch(f, (SLOT << 16) + 6);
	assert_int_equal(trace_full_next(f, &r), 1);
	assert_int_equal(r.kind, TRACE_FULL_FAULT);
	assert_int_equal(trace_full_next(f, &r), 0);
	trace_full_feed(f, two.data, two.length);
	assert_branch(f, (SLOT << 16) + 6);
	assert_branch(f, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(trace_full_next(f, &r), 1);
	assert_int_equal(r.kind, TRACE_FULL_RETURN);
	assert_int_equal(trace_full_next(f, &r), 0);
	trace_full_feed(f, NULL, 0);
	assert_branch(f, 0);
	assert_int_equal(trace_full_next(f, &r), 0);
	trace_full_close(f);
	trace_layout_free(layout);
	trace_sites_free(sites);
	rd_buf_release(&one);
	rd_buf_release(&two);
}

/* The packer stops where a buffer becomes invalid. */
static void packer_stops_at_nonsense(void **state)
{
	struct rd_buf raw = RD_BUF_INIT;
	struct trace_sites *sites;
	struct trace_layout *layout = small_layout(&sites);
	struct trace_packer *p = trace_packer_new(layout);
	(void)state;
	rd_buf_addc(&raw, RADDLE_FULL_RESET);
	add_head(&raw, 3);
	size_t good = raw.length - 1;
	add_number(&raw, 0, 20);
	assert_int_equal(trace_pack(p, (uint8_t *)raw.data, raw.length), 1);
	assert_int_equal(trace_packed_raw(p), good);
	raw.length = good + 1;
	add_head(&raw, 77);
	assert_int_equal(trace_pack(p, (uint8_t *)raw.data, raw.length), 1);
	raw.length = good + 1;
	add_head(&raw, 1); /* the fields of the piece are missing */
	assert_int_equal(trace_pack(p, (uint8_t *)raw.data, raw.length), 1);
	assert_int_equal(trace_packed_raw(p), 3 * good);
	trace_packer_free(p);
	trace_layout_free(layout);
	trace_sites_free(sites);
	rd_buf_release(&raw);
}

/* Layouts with contradictions are refused. */
static void bad_layouts_are_refused(void **state)
{
	static const char *const bad[] = {
		"P\t1\t1\t16\tl1i4",	     /* one byte too short */
		"P\t1\t1\t4\tz1",	     /* no such operation */
		"P\t1\t1\t4\tb0",	     /* no such site */
		"P\t1\t1\t17\tl1q4",	     /* no such type */
		"P\t1\t1\t17\tl1i4i4",	     /* two values, where a load has one */
		"P\t1\t1\t13\tl1",	     /* no value */
		"P\t1\t2\t4\tb1",	     /* no such function */
		"P\t1\t1\t13\tb1F8",	     /* a frame that does not belong here */
		"P\t1\t1\t5000\te1v128v128", /* the size is wrong */
		"P\t1\t1\t17\tl1i4<1",	     /* a load has no origin */
		"P\t1\t1\t17\ts1i4<0",	     /* no such origin */
		"P\t1\t1\t17\ts1i4<1<1",     /* two origins */
		"P\t1\t1\t4\tb1*",	     /* no value that could be marked */
	};
	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct rd_buf body = RD_BUF_INIT;
		struct trace_layout *layout = NULL;
		rd_buf_addf(&body, "U\t5\t1\tunit.c\nS\t1\tr\t4\t-\t-1\t2\t0\tf\tx\tint\n%s\n", bad[i]);
		struct trace_sites *sites = parse_table(&body, 3);
		assert_non_null(sites);
		assert_int_not_equal(trace_layout_new(&layout, sites), RD_OK);
		trace_sites_free(sites);
		rd_buf_release(&body);
	}
	rd_log_set(NULL, NULL);
}

/* Marks about values in the code are read. */
static void marks_are_read(void **state)
{
	static const char piece[] = "P\t1\t1\t35\tl1i4*\ti1*\ts1i2<1\te1i4i4*";
	struct rd_buf body = RD_BUF_INIT;
	struct trace_layout *layout;
	(void)state;
	rd_buf_addf(&body, "U\t5\t1\tunit.c\nS\t1\tr\t4\t-\t-1\t2\t0\tf\tx\tint\n%s\n", piece);
	struct trace_sites *sites = parse_table(&body, 3);
	assert_non_null(sites);
	assert_int_equal(trace_layout_new(&layout, sites), RD_OK);
	const struct trace_op *ops = trace_layout_at(layout, 0)->ops;
	assert_true(ops[0].values[0].calculated && !ops[0].numbers && !ops[0].moved);
	assert_true(ops[1].numbers);
	assert_int_equal(ops[2].moved, (5 << RADDLE_SITE_LOCAL_BITS) + 1);
	assert_true(!ops[2].values[0].calculated);
	assert_true(!ops[3].values[0].calculated && ops[3].values[1].calculated);
	trace_layout_free(layout);
	trace_sites_free(sites);
	rd_buf_release(&body);
}

/* These are the places where Linux maps memory on x86-64: at a base, shifted by up to 2^bits pages
 * upwards or, below the stack, downwards (arch/x86/mm/mmap.c, fs/binfmt_elf.c). */
static void addresses_may_be_anywhere(void **state)
{
	const uint64_t top = 1ull << 47, program = top / 3 * 2, no_stack_limit = top / 3,
		       largest_gap = top - top / 6 * 5;
	(void)state;
	for (unsigned bits = 28; bits <= 32; bits += 2)
		for (uint64_t step = 0; step <= 64; step++) {
			uint64_t shift = ((1ull << bits) - 1) / 64 * step << 12;
			assert_true(raddle_may_be_pointer(program + shift));
			assert_true(raddle_may_be_pointer(program + shift + (1ull << 30)));
			assert_true(raddle_may_be_pointer(top - (1ull << 34) - shift));
			assert_true(raddle_may_be_pointer(no_stack_limit + shift));
			assert_true(raddle_may_be_pointer(largest_gap - shift));
		}
	for (uint64_t high = 0; high < 512; high++)
		assert_true(!raddle_looks_like_pointer(high << 40) || raddle_may_be_pointer(high << 40));
	assert_false(raddle_may_be_pointer(0));
	assert_false(raddle_may_be_pointer(UINT32_MAX));
	assert_false(raddle_may_be_pointer(top));
	assert_false(raddle_may_be_pointer(0x3ff0000000000000)); /* 1.0 as a double */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raw_bytes_are_read),	    cmocka_unit_test(packing_loses_nothing),
		cmocka_unit_test(files_are_read),	    cmocka_unit_test(unfinished_pieces_are_cut),
		cmocka_unit_test(landings_unwind),	    cmocka_unit_test(deep_calls_return),
		cmocka_unit_test(branches_have_targets),    cmocka_unit_test(addresses_may_be_anywhere),
		cmocka_unit_test(packer_stops_at_nonsense), cmocka_unit_test(bad_layouts_are_refused),
		cmocka_unit_test(marks_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
