// SPDX-License-Identifier: Apache-2.0
/*
 * Assembles the site table of doc/format/sites.md from the parts that raddle-instr wrote, one per
 * unit, and from the linked files.  The addresses of variables are known only after the link, so
 * they are added here.
 */
#include "bitcode/sites-int.h"

#include "base/field.h"
#include "base/error.h"
#include "base/file.h"
#include "bitcode/elf.h"

#include <elf.h>
#include <string.h>
#include <xxhash.h>

#define FIRST_LINE "raddle-sites\t1\n"

void bitcode_sites_begin(struct bitcode_sites *s)
{
	*s = (struct bitcode_sites){RD_BUF_INIT};
	rd_buf_adds(&s->text, FIRST_LINE);
}

int bitcode_sites_add_unit(struct bitcode_sites *s, const char *path)
{
	RD_ASSERT(path != NULL);
	size_t before = s->text.length;
	int err = rd_file_read(path, &s->text);

	if (err)
		return err;
	if (s->text.length == before || s->text.data[s->text.length - 1] != '\n')
		return rd_fail(RD_EFORMAT, "%s: not a part of a site table", path);
	return 0;
}

int bitcode_sites_add_module(struct bitcode_sites *s, const char *path, const char *name)
{
	RD_ASSERT(path != NULL && name != NULL);
	struct bitcode_elf_symbols symbols;
	struct bitcode_elf_symbol symbol;
	struct bitcode_elf e;
	struct rd_map map;
	int err = rd_map_open(&map, path);

	if (err)
		return err;
	if (bitcode_elf_parse(&e, map.data, map.length) && bitcode_elf_symbols(&e, SHT_SYMTAB, &symbols))
		while (bitcode_elf_symbol_next(&symbols, &symbol)) {
			if (symbol.type != STT_OBJECT || symbol.section == SHN_UNDEF || !symbol.size)
				continue;
			rd_buf_addc(&s->text, 'A');
			rd_field_add(&s->text, name);
			rd_buf_addf(&s->text, "\t%llu\t%llu", (unsigned long long)symbol.value,
				    (unsigned long long)symbol.size);
			rd_field_add(&s->text, symbol.name);
			rd_buf_addc(&s->text, '\n');
		}
	rd_map_close(&map);
	return 0;
}

int bitcode_sites_write(struct bitcode_sites *s, const char *path)
{
	RD_ASSERT(path != NULL);
	unsigned long long records = 0, hash = XXH64(s->text.data, s->text.length, 0);

	for (size_t i = strlen(FIRST_LINE); i < s->text.length; i++)
		records += s->text.data[i] == '\n';
	rd_buf_addf(&s->text, "end\t%llu\t%016llx\n", records, hash);
	return rd_file_write(path, s->text.data, s->text.length);
}

void bitcode_sites_release(struct bitcode_sites *s)
{
	rd_buf_release(&s->text);
}
