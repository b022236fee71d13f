// SPDX-License-Identifier: Apache-2.0
/*
 * Fuzzes the readers of programs and objects: ELF files with all their tables, the bitcode in them,
 * link lines and archives.  The harness reads every byte that a reader returns, so that a wrong
 * length is noticed.
 */
#include "bitcode/archive-int.h"
#include "bitcode/elf.h"
#include "bitcode/line.h"
#include "bitcode/program.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sum;

static void read_all(const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++)
		sum += p[i];
}

static void read_string(void *context, const char *s)
{
	(void)context;
	read_all(s, strlen(s));
}

static void read_symbols(const struct bitcode_elf *e, uint32_t table)
{
	struct bitcode_elf_symbols symbols;
	struct bitcode_elf_symbol s;

	if (bitcode_elf_symbols(e, table, &symbols))
		while (bitcode_elf_symbol_next(&symbols, &s))
			read_string(NULL, s.name);
}

static void read_line(const struct bitcode_line *line)
{
	for (size_t i = 0; i < line->count; i++) {
		read_string(NULL, line->items[i].text);
		read_all(line->items[i].data, line->items[i].length);
	}
}

static void read_program(struct bitcode_program *p)
{
	bitcode_program_split(p);
	for (size_t i = 0; i < p->unit_count; i++)
		read_all(p->elf.data + p->units[i].offset, p->units[i].length);
	for (size_t i = 0; i < p->native_count; i++)
		read_all(p->natives[i].data, p->natives[i].length);
	read_line(&p->line);
	bitcode_line_release(&p->line);
	free(p->units);
	free(p->natives);
}

static void read_elf(const uint8_t *data, size_t size)
{
	struct bitcode_program p = {0};
	struct bitcode_elf_section s;
	uint8_t key[16];

	if (!bitcode_elf_parse(&p.elf, data, size))
		return;
	for (uint32_t i = 0; bitcode_elf_section(&p.elf, i, &s); i++) {
		read_string(NULL, s.name);
		if (s.data)
			read_all(s.data, s.size);
	}
	read_symbols(&p.elf, SHT_SYMTAB);
	read_symbols(&p.elf, SHT_DYNSYM);
	bitcode_elf_dynamic(&p.elf, DT_NEEDED, read_string, NULL);
	if (bitcode_elf_note(&p.elf, key))
		read_all(key, sizeof key);
	read_program(&p);
}

static void read_archive(const uint8_t *data, size_t size)
{
	struct bitcode_archive archive;
	struct bitcode_member member;

	if (!bitcode_archive_parse(&archive, data, size))
		return;
	while (bitcode_archive_next(&archive, &member)) {
		read_string(NULL, member.name);
		if (member.data) {
			read_all(member.data, member.length);
			read_elf(member.data, member.length);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bitcode_line line;

	read_elf(data, size);
	read_archive(data, size);
	if (bitcode_line_parse(&line, data, size)) {
		read_line(&line);
		bitcode_line_release(&line);
	}
	return 0;
}
