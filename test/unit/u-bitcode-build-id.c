// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the identity of builds: programs with and without a GNU build-id, and damaged
 * notes. */
#include "base/buf.h"
#include "base/file.h"
#include "bitcode/build-id.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Makes an ELF file with one section, which contains the notes. */
static void make_file(struct rd_buf *file, const void *notes, size_t length)
{
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_DYN,
			   .e_machine = EM_X86_64,
			   .e_shoff = sizeof head,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 2};
	Elf64_Shdr sections[2] = {
		{0}, {.sh_type = SHT_NOTE, .sh_offset = sizeof head + sizeof sections, .sh_size = length}};

	rd_buf_add(file, &head, sizeof head);
	rd_buf_add(file, sections, sizeof sections);
	rd_buf_add(file, notes, length);
}

static void id_of(const void *notes, size_t length, char id[RD_BUILD_ID_SIZE])
{
	struct rd_buf file = RD_BUF_INIT;
	struct bitcode_elf e;

	make_file(&file, notes, length);
	assert_true(bitcode_elf_parse(&e, file.data, file.length));
	bitcode_build_id(&e, id);
	rd_buf_release(&file);
}

static const uint8_t two_notes[] = {4,	 0, 0, 0, 2,   0,   0,	 0, 9,	  0,	0, 0,	'G', 'N',
				    'U', 0, 1, 2, 0,   0,   4,	 0, 0,	  0,	4, 0,	0,   0,
				    3,	 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 1, 0xef};

static void finds_the_note(void **state)
{
	char id[RD_BUILD_ID_SIZE];

	(void)state;
	id_of(two_notes, sizeof two_notes, id);
	assert_string_equal(id, "dead01ef");
}

/* If a note is truncated or has a changed byte, the id comes from the note or from a hash of the
 * file.  Its form is always valid. */
static void damaged_notes(void **state)
{
	char id[RD_BUILD_ID_SIZE];

	(void)state;
	for (size_t n = 0; n < sizeof two_notes; n++) {
		id_of(two_notes, n, id);
		assert_int_equal(id[0], 'x');
		assert_int_equal(strlen(id), 33);
	}
	for (size_t i = 0; i < sizeof two_notes; i++) {
		uint8_t changed[sizeof two_notes];

		memcpy(changed, two_notes, sizeof changed);
		changed[i] ^= 0xff;
		id_of(changed, sizeof changed, id);
		assert_int_equal(strspn(id, "0123456789abcdefx"), strlen(id));
		assert_in_range(strlen(id), 8, 64);
	}
}

static void of_this_program(void **state)
{
	char id[RD_BUILD_ID_SIZE], again[RD_BUILD_ID_SIZE];

	(void)state;
	assert_int_equal(rd_build_id("/proc/self/exe", id), 0);
	assert_int_equal(rd_build_id("/proc/self/exe", again), 0);
	assert_string_equal(id, again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_the_note),
		cmocka_unit_test(damaged_notes),
		cmocka_unit_test(of_this_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
