// SPDX-License-Identifier: Apache-2.0
/*
 * Extracts the parts of a program: bitcode units, native objects and the link line.  All of them
 * point into the mapped file.  Linkers concatenate the sections of their inputs.  So each section
 * is a sequence of modules or entries, each with its own length, and padding between them is
 * skipped.
 */
#include "bitcode/program.h"

#include "base/alloc.h"
#include "base/error.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NATIVE_HEADER = 24 }; /* bytes before the name of a native object: the magic and two lengths */

static void split_units(struct bitcode_program *p, const struct bitcode_elf_section *s)
{
	size_t at = 0;

	while (at < s->size) {
		size_t n = bitcode_module_length(s->data + at, s->size - at);

		if (!n) {
			at++;
			continue;
		}
		RD_GROW(p->units, p->unit_capacity, p->unit_count + 1);
		p->units[p->unit_count++] = (struct bitcode_unit){s->offset + at, n};
		at += n;
	}
}

/* Reads one entry: "RADOBJ01", u64 length of the name, u64 length of the object, the name, the
 * object. */
static size_t split_native(struct bitcode_program *p, const uint8_t *data, size_t left)
{
	uint64_t sizes[2];

	if (left < NATIVE_HEADER || memcmp(data, "RADOBJ01", 8))
		return 0;
	memcpy(sizes, data + 8, sizeof sizes);
	left -= NATIVE_HEADER;
	if (sizes[0] > left || sizes[1] > left - sizes[0])
		return 0;
	RD_GROW(p->natives, p->native_capacity, p->native_count + 1);
	p->natives[p->native_count++] = (struct bitcode_native){data + NATIVE_HEADER + sizes[0], sizes[1],
								(const char *)data + NATIVE_HEADER, sizes[0]};
	return NATIVE_HEADER + sizes[0] + sizes[1];
}

static void split_natives(struct bitcode_program *p, const struct bitcode_elf_section *s)
{
	size_t at = 0;

	while (at < s->size) {
		size_t n = split_native(p, s->data + at, s->size - at);

		at += n ? n : 1;
	}
}

void bitcode_program_split(struct bitcode_program *p)
{
	struct bitcode_elf_section s;

	for (uint32_t i = 1; i < p->elf.count; i++) {
		bitcode_elf_section(&p->elf, i, &s);
		if (!s.data || s.flags & SHF_COMPRESSED)
			continue;
		if (!strcmp(s.name, BITCODE_SECTION) || !strcmp(s.name, BITCODE_CLANG_SECTION))
			split_units(p, &s);
		else if (!strcmp(s.name, BITCODE_NATIVE_SECTION))
			split_natives(p, &s);
		else if (!strcmp(s.name, BITCODE_LINK_SECTION) && !p->line.driver)
			bitcode_line_parse(&p->line, s.data, s.size);
	}
}

/* Reports why the file is not a program of `raddle cc`, and what the user can do. */
static int explain(const struct bitcode_program *p)
{
	struct bitcode_elf_section s;
	uint8_t key[16];

	if (p->map.length >= 2 && !memcmp(p->map.data, "#!", 2))
		return rd_fail(
			RD_EFORMAT,
			"%s: is a script; name the program that it starts (libtool keeps it in .libs/)",
			p->path);
	if (!p->elf.data)
		return rd_fail(RD_EFORMAT, "%s: not an x86-64 ELF program", p->path);
	if (p->unit_count)
		return rd_fail(RD_EFORMAT,
			       "%s: its objects carry bitcode, but it was not linked by 'raddle cc'; link it "
			       "with 'raddle cc' or 'raddle c++' too (make LD=, CC=, CXX=)",
			       p->path);
	if (bitcode_elf_find(&p->elf, BITCODE_LINK_SECTION, 0, &s))
		return rd_fail(RD_EFORMAT,
			       "%s: was linked by 'raddle cc', but none of its objects was compiled by it; "
			       "rebuild all of it with CC=\"raddle cc\"",
			       p->path);
	if (bitcode_elf_note(&p->elf, key))
		return rd_fail(RD_EFORMAT,
			       "%s: was built by 'raddle cc', but a tool has removed its bitcode since "
			       "(llvm-strip and objcopy do that; GNU strip does not)",
			       p->path);
	return rd_fail(RD_EFORMAT,
		       "%s: carries no bitcode; build it with 'raddle cc' (make CC=\"raddle cc\")", p->path);
}

static bool load(struct bitcode_program *p)
{
	if (!bitcode_elf_parse(&p->elf, p->map.data, p->map.length)) {
		p->elf.data = NULL;
		return false;
	}
	bitcode_program_split(p);
	return p->unit_count && p->line.driver;
}

int bitcode_program_open(struct bitcode_program *p, const char *path)
{
	RD_ASSERT(path != NULL);
	int err;

	*p = (struct bitcode_program){.path = rd_xstrdup(path)};
	err = rd_map_open(&p->map, path);
	if (!err && !load(p))
		err = explain(p);
	if (err)
		bitcode_program_close(p);
	return err;
}

bool bitcode_program_probe(struct bitcode_program *p, const char *path)
{
	struct stat st;

	*p = (struct bitcode_program){.path = rd_xstrdup(path)};
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0 &&
	    !rd_map_open(&p->map, path) && load(p))
		return true;
	bitcode_program_close(p);
	return false;
}

void bitcode_program_close(struct bitcode_program *p)
{
	bitcode_line_release(&p->line);
	rd_map_close(&p->map);
	RD_FREE(p->units, p->natives, p->path);
	*p = (struct bitcode_program){0};
}

static bool table_defines(const struct bitcode_program *p, uint32_t table, const char *name)
{
	struct bitcode_elf_symbols symbols;
	struct bitcode_elf_symbol s;

	if (!bitcode_elf_symbols(&p->elf, table, &symbols))
		return false;
	while (bitcode_elf_symbol_next(&symbols, &s))
		if (s.section != SHN_UNDEF &&
		    (s.type == STT_FUNC || s.type == STT_OBJECT || s.type == STT_NOTYPE) &&
		    s.binding != STB_LOCAL && !strcmp(s.name, name))
			return true;
	return false;
}

bool bitcode_program_defines(const struct bitcode_program *p, const char *name)
{
	RD_ASSERT(name != NULL);
	return table_defines(p, SHT_SYMTAB, name) || table_defines(p, SHT_DYNSYM, name);
}
