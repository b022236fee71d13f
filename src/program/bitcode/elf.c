// SPDX-License-Identifier: Apache-2.0
/*
 * Reads ELF64 files in memory.  The input may be any bytes, and the results point into them.
 * Invariants: (1) bitcode_elf_parse() has checked that the section table lies inside the file, so
 * headers are read without another check.  (2) A section's `data` is NULL or has `size` readable
 * bytes.  (3) Every returned name ends inside the file.
 */
#include "bitcode/elf.h"

#include "base/error.h"

#include <elf.h>
#include <string.h>

static bool inside(uint64_t offset, uint64_t size, uint64_t length)
{
	return offset <= length && size <= length - offset;
}

/* Returns the string at `offset` of a table, or NULL if it does not end inside the table. */
static const char *string_at(const uint8_t *table, uint64_t size, uint64_t offset)
{
	if (!table || offset >= size || !memchr(table + offset, 0, size - offset))
		return NULL;
	return (const char *)table + offset;
}

static void read_header(const struct bitcode_elf *e, uint32_t index, Elf64_Shdr *h)
{
	memcpy(h, e->data + e->table + (uint64_t)index * sizeof *h, sizeof *h);
}

/* Finds the section table.  With extended numbering, section 0 contains the counts that do not fit
 * in the header. */
static bool find_sections(struct bitcode_elf *e, const Elf64_Ehdr *h)
{
	Elf64_Shdr first, names;
	uint64_t count = h->e_shnum, strings = h->e_shstrndx;

	e->table = h->e_shoff;
	if (!h->e_shoff)
		return true;
	if (h->e_shentsize != sizeof first || !inside(e->table, sizeof first, e->length))
		return false;
	read_header(e, 0, &first);
	if (!count)
		count = first.sh_size;
	if (strings == SHN_XINDEX)
		strings = first.sh_link;
	if (count > UINT32_MAX || !inside(e->table, count * sizeof first, e->length))
		return false;
	e->count = (uint32_t)count;
	if (strings >= count)
		return true;
	read_header(e, (uint32_t)strings, &names);
	if (names.sh_type == SHT_STRTAB && inside(names.sh_offset, names.sh_size, e->length)) {
		e->names = names.sh_offset;
		e->names_size = names.sh_size;
	}
	return true;
}

bool bitcode_elf_parse(struct bitcode_elf *e, const void *data, size_t length)
{
	Elf64_Ehdr h;

	*e = (struct bitcode_elf){.data = data, .length = length};
	if (length < sizeof h)
		return false;
	memcpy(&h, data, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64 ||
	    h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != EM_X86_64)
		return false;
	e->type = h.e_type;
	return find_sections(e, &h);
}

bool bitcode_elf_section(const struct bitcode_elf *e, uint32_t index, struct bitcode_elf_section *s)
{
	const char *name;
	Elf64_Shdr h;

	if (index >= e->count)
		return false;
	read_header(e, index, &h);
	name = e->names_size ? string_at(e->data + e->names, e->names_size, h.sh_name) : NULL;
	*s = (struct bitcode_elf_section){
		.name = name ? name : "",
		.index = index,
		.type = h.sh_type,
		.link = h.sh_link,
		.info = h.sh_info,
		.flags = h.sh_flags,
		.address = h.sh_addr,
		.size = h.sh_size,
		.offset = h.sh_offset,
		.entry_size = h.sh_entsize,
	};
	if (h.sh_type != SHT_NOBITS && h.sh_type != SHT_NULL && inside(h.sh_offset, h.sh_size, e->length))
		s->data = e->data + h.sh_offset;
	return true;
}

bool bitcode_elf_find(const struct bitcode_elf *e, const char *name, uint32_t previous,
		      struct bitcode_elf_section *s)
{
	RD_ASSERT(name != NULL && s != NULL);
	for (uint32_t i = previous + 1; i < e->count; i++)
		if (bitcode_elf_section(e, i, s) && s->data && !strcmp(s->name, name))
			return true;
	return false;
}

bool bitcode_elf_symbols(const struct bitcode_elf *e, uint32_t table, struct bitcode_elf_symbols *symbols)
{
	RD_ASSERT(table == SHT_SYMTAB || table == SHT_DYNSYM);
	for (uint32_t i = 1; i < e->count; i++) {
		bitcode_elf_section(e, i, &symbols->table);
		if (symbols->table.type != table || !symbols->table.data)
			continue;
		if (!bitcode_elf_section(e, symbols->table.link, &symbols->strings) || !symbols->strings.data)
			return false;
		symbols->count = symbols->table.size / sizeof(Elf64_Sym);
		symbols->next = 1;
		return true;
	}
	return false;
}

bool bitcode_elf_symbol_next(struct bitcode_elf_symbols *symbols, struct bitcode_elf_symbol *symbol)
{
	const char *name;
	Elf64_Sym s;

	if (symbols->next >= symbols->count)
		return false;
	memcpy(&s, symbols->table.data + symbols->next++ * sizeof s, sizeof s);
	name = string_at(symbols->strings.data, symbols->strings.size, s.st_name);
	*symbol = (struct bitcode_elf_symbol){
		.name = name ? name : "",
		.value = s.st_value,
		.size = s.st_size,
		.section = s.st_shndx,
		.type = ELF64_ST_TYPE(s.st_info),
		.binding = ELF64_ST_BIND(s.st_info),
	};
	return true;
}

void bitcode_elf_dynamic(const struct bitcode_elf *e, int64_t tag, bitcode_elf_dynamic_fn *fn, void *context)
{
	RD_ASSERT(fn != NULL);
	struct bitcode_elf_section dynamic, strings;

	for (uint32_t i = 1; i < e->count; i++) {
		bitcode_elf_section(e, i, &dynamic);
		if (dynamic.type != SHT_DYNAMIC || !dynamic.data ||
		    !bitcode_elf_section(e, dynamic.link, &strings))
			continue;
		for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.size; at += sizeof(Elf64_Dyn)) {
			const char *string;
			Elf64_Dyn d;

			memcpy(&d, dynamic.data + at, sizeof d);
			if (d.d_tag == DT_NULL)
				break;
			string = d.d_tag == tag ? string_at(strings.data, strings.size, d.d_un.d_val) : NULL;
			if (string)
				fn(context, string);
		}
	}
}

/* A note begins with three numbers of 4 bytes each: the size of its name, the size of its
 * descriptor, and its type.  The name and the descriptor follow, both padded to 4 bytes. */
bool bitcode_elf_note(const struct bitcode_elf *e, uint8_t key[16])
{
	static const uint8_t head[] = {7, 0, 0,	  0,   16,  0,	 0,   0,   1, 0,
				       0, 0, 'R', 'a', 'd', 'd', 'l', 'e', 0, 0};
	struct bitcode_elf_section s;

	/* Linkers may merge all notes into one section, and a stripped file may have no section
	 * names.  So search every note section. */
	for (uint32_t i = 1; i < e->count; i++) {
		bitcode_elf_section(e, i, &s);
		if (s.type != SHT_NOTE || !s.data)
			continue;
		for (uint64_t at = 0; at + sizeof head + 16 <= s.size; at += 4)
			if (!memcmp(s.data + at, head, sizeof head)) {
				memcpy(key, s.data + at + sizeof head, 16);
				return true;
			}
	}
	return false;
}

/*
 * At top level the abbreviation width is 2 and there are only blocks:
 * ENTER_SUBBLOCK = [1:2][block id:vbr8][width:vbr4]<align32>[length in words:32],
 * that is, one word, a length word, and the block.  The magic number of the next module ends in
 * binary 10, so it cannot be mistaken for a block.
 */
size_t bitcode_module_length(const uint8_t *p, size_t length)
{
	RD_ASSERT(p != NULL || length == 0);
	size_t at = 4;

	if (length < 4 || memcmp(p, "BC\xC0\xDE", 4))
		return 0;
	while (length - at >= 8) {
		uint32_t word, words;

		memcpy(&word, p + at, 4);
		memcpy(&words, p + at + 4, 4);
		if ((word & 3) != 1)
			break;
		if (words > (length - at - 8) / 4)
			return 0;
		at += 8 + 4 * (size_t)words;
	}
	return at > 4 ? at : 0;
}
