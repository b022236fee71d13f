// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the readers and writers in bitcode/: ELF files, bitcode sections, link lines,
 * archives.  Every file is also read truncated at each length and with each byte changed.  The
 * reader must neither crash nor return bytes outside the file.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "bitcode/archive-int.h"
#include "bitcode/elf.h"
#include "bitcode/line-int.h"
#include "bitcode/patch-int.h"
#include "bitcode/program.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Makes a link line with every kind of record. */
static void make_line(struct rd_buf *line)
{
	bitcode_line_begin(line);
	bitcode_line_add(line, &(struct bitcode_item){BITCODE_LINE_DIRECTORY, "/tmp/d", NULL, 0});
	bitcode_line_add(line, &(struct bitcode_item){BITCODE_LINE_DRIVER, "clang-19", NULL, 0});
	bitcode_line_add(line, &(struct bitcode_item){BITCODE_LINE_OUTPUT, "/tmp/d/x", NULL, 0});
	bitcode_line_add(line, &(struct bitcode_item){BITCODE_ITEM_ARGUMENT, "-pie", NULL, 0});
	bitcode_line_add(line, &(struct bitcode_item){BITCODE_ITEM_COVERED, "", NULL, 0});
	bitcode_line_add(line, &(struct bitcode_item){BITCODE_ITEM_NATIVE, "/tmp/n.o",
						      (const uint8_t *)"\0\1bytes", 7});
	bitcode_line_end(line);
}

static void line_round_trip(void **state)
{
	struct rd_buf bytes = RD_BUF_INIT;
	struct bitcode_line line;

	(void)state;
	make_line(&bytes);
	/* Bytes after a link line are ignored.  After ld -r, another line follows. */
	rd_buf_adds(&bytes, "more");
	assert_true(bitcode_line_parse(&line, (uint8_t *)bytes.data, bytes.length));
	assert_string_equal(line.directory, "/tmp/d");
	assert_string_equal(line.driver, "clang-19");
	assert_string_equal(line.output, "/tmp/d/x");
	assert_int_equal(line.count, 3);
	assert_int_equal(line.items[0].kind, BITCODE_ITEM_ARGUMENT);
	assert_string_equal(line.items[1].text, "");
	assert_int_equal(line.items[2].length, 7);
	assert_memory_equal(line.items[2].data, "\0\1bytes", 7);
	bitcode_line_release(&line);
	rd_buf_release(&bytes);
}

/* Copies data to an allocation of exactly this length, so that sanitizers detect overruns. */
static uint8_t *exact_copy(const void *data, size_t length)
{
	uint8_t *copy = rd_xmalloc(length ? length : 1);

	memcpy(copy, data, length);
	return copy;
}

static void line_damage(void **state)
{
	struct rd_buf bytes = RD_BUF_INIT;
	struct bitcode_line line;

	(void)state;
	make_line(&bytes);
	for (size_t n = 0; n < bytes.length; n++) {
		uint8_t *cut = exact_copy(bytes.data, n);

		assert_false(bitcode_line_parse(&line, cut, n));
		free(cut);
	}
	for (size_t i = 0; i < bytes.length; i++) {
		uint8_t *changed = exact_copy(bytes.data, bytes.length);

		changed[i] ^= 0xff;
		if (bitcode_line_parse(&line, changed, bytes.length))
			bitcode_line_release(&line);
		free(changed);
	}
	rd_buf_release(&bytes);
}

/* The smallest bytes that look like a module: the magic number and a block. */
static const uint8_t module[] = {'B', 'C', 0xc0, 0xde, 0x35, 0x14, 0, 0, 2, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8};

static void module_lengths(void **state)
{
	uint8_t two[2 * sizeof module + 3];

	(void)state;
	memcpy(two, module, sizeof module);
	memcpy(two + sizeof module, module, sizeof module);
	memset(two + 2 * sizeof module, 0, 3);
	assert_int_equal(bitcode_module_length(two, sizeof two), sizeof module);
	assert_int_equal(bitcode_module_length(two + sizeof module, sizeof module + 3), sizeof module);
	assert_int_equal(bitcode_module_length(two + 1, sizeof module), 0);
	for (size_t n = 0; n < sizeof module; n++)
		assert_int_equal(bitcode_module_length(two, n), 0);
}

static void parse_everything(const uint8_t *data, size_t length)
{
	struct bitcode_program p = {0};
	struct bitcode_elf_symbols symbols;
	struct bitcode_elf_symbol s;
	uint8_t key[16];

	if (!bitcode_elf_parse(&p.elf, data, length))
		return;
	if (bitcode_elf_symbols(&p.elf, SHT_SYMTAB, &symbols))
		while (bitcode_elf_symbol_next(&symbols, &s))
			assert_non_null(s.name);
	bitcode_elf_note(&p.elf, key);
	bitcode_program_split(&p);
	for (size_t i = 0; i < p.unit_count; i++)
		assert_true(p.units[i].offset + p.units[i].length <= length);
	for (size_t i = 0; i < p.native_count; i++)
		assert_true(p.natives[i].data + p.natives[i].length <= data + length);
	bitcode_line_release(&p.line);
	free(p.units);
	free(p.natives);
}

static void link_object(void **state)
{
	struct rd_buf line = RD_BUF_INIT, object = RD_BUF_INIT;
	struct bitcode_elf_section s;
	struct bitcode_elf e;
	struct bitcode_line parsed;
	uint8_t key[16];

	(void)state;
	make_line(&line);
	bitcode_link_object(&object, &line, true);
	assert_true(bitcode_elf_parse(&e, object.data, object.length));
	assert_int_equal(e.type, ET_REL);
	assert_true(bitcode_elf_note(&e, key));
	assert_true(bitcode_elf_find(&e, BITCODE_LINK_SECTION, 0, &s));
	assert_true(s.flags & (1u << 21));
	assert_true(bitcode_line_parse(&parsed, s.data, s.size));
	bitcode_line_release(&parsed);
	assert_true(bitcode_elf_find(&e, ".note.GNU-stack", 0, &s));
	assert_true(bitcode_elf_find(&e, BITCODE_NOTE_SECTION, 0, &s));
	assert_true(s.flags & SHF_ALLOC);
	assert_false(bitcode_elf_find(&e, BITCODE_SECTION, 0, &s));
	for (size_t n = 0; n < object.length; n++) {
		uint8_t *cut = exact_copy(object.data, n);

		parse_everything(cut, n);
		free(cut);
	}
	for (size_t i = 0; i < object.length; i++)
		for (int bit = 0; bit < 8; bit++) {
			uint8_t *changed = exact_copy(object.data, object.length);

			changed[i] ^= (uint8_t)(1 << bit);
			parse_everything(changed, object.length);
			free(changed);
		}
	rd_buf_release(&line);
	rd_buf_release(&object);
}

/* Modules are found by the name of their section, and padding between them is skipped. */
static void split(void **state)
{
	struct rd_buf section = RD_BUF_INIT, object = RD_BUF_INIT, native = RD_BUF_INIT;
	struct bitcode_program p = {0};
	char *name;

	(void)state;
	rd_buf_add(&section, module, sizeof module);
	rd_buf_add(&section, "\0\0\0", 3);
	rd_buf_add(&section, module, sizeof module);
	bitcode_link_object(&object, &section, true);
	/* Rename the section by changing bytes; both names have the same length. */
	name = memmem(object.data, object.length, BITCODE_LINK_SECTION, sizeof BITCODE_LINK_SECTION);
	assert_non_null(name);
	_Static_assert(sizeof BITCODE_LINK_SECTION == sizeof BITCODE_SECTION, "renamed in place");
	memcpy(name, BITCODE_SECTION, sizeof BITCODE_SECTION);
	assert_true(bitcode_elf_parse(&p.elf, object.data, object.length));
	bitcode_program_split(&p);
	assert_int_equal(p.unit_count, 2);
	assert_memory_equal(object.data + p.units[1].offset, module, sizeof module);
	assert_int_equal(p.units[1].length, sizeof module);
	assert_null(p.line.driver);
	free(p.units);
	bitcode_native_entry(&native, "n.o", "12345", 5);
	assert_int_equal(native.length, 8 + 16 + 3 + 5);
	rd_buf_release(&native);
	rd_buf_release(&section);
	rd_buf_release(&object);
}

static void archives(void **state)
{
	struct rd_buf bytes = RD_BUF_INIT;
	struct bitcode_archive a;
	struct bitcode_member *m = rd_xmalloc(sizeof *m);

	(void)state;
	bitcode_archive_begin(&bytes);
	bitcode_archive_add(&bytes, "dir/one.o", "odd", 3);
	bitcode_archive_add(&bytes, "two.o", "even", 4);
	assert_true(bitcode_archive_parse(&a, bytes.data, bytes.length));
	assert_true(bitcode_archive_next(&a, m));
	assert_string_equal(m->name, "one.o");
	assert_memory_equal(m->data, "odd", 3);
	assert_true(bitcode_archive_next(&a, m));
	assert_string_equal(m->name, "two.o");
	assert_int_equal(m->length, 4);
	assert_false(bitcode_archive_next(&a, m));
	for (size_t n = 0; n < bytes.length; n++) {
		uint8_t *cut = exact_copy(bytes.data, n);

		if (bitcode_archive_parse(&a, cut, n))
			while (bitcode_archive_next(&a, m))
				assert_true(m->data + m->length <= cut + n);
		free(cut);
	}
	free(m);
	rd_buf_release(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_round_trip), cmocka_unit_test(line_damage),
		cmocka_unit_test(module_lengths),  cmocka_unit_test(link_object),
		cmocka_unit_test(split),	   cmocka_unit_test(archives),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
