/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads ELF files from memory.  Only 64-bit little-endian x86-64 files are supported.  All other
 * files are rejected as "not ELF".  The input is not trusted: each offset and length is checked
 * against the size of the file before it is used, and a name that does not end inside its table is
 * read as "".  Nothing is copied, so the results point into the caller's bytes.
 */
#ifndef BITCODE_ELF_H
#define BITCODE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sections that Raddle adds to objects and programs (doc/format/program.md). */
#define BITCODE_SECTION ".rad.bc"	   /* bitcode modules, one after another */
#define BITCODE_COMMAND_SECTION ".rad.cmd" /* clang's command lines */
#define BITCODE_NATIVE_SECTION ".rad.obj"  /* objects that have no bitcode */
#define BITCODE_LINK_SECTION ".rad.ln"	   /* the link line */
/* Only in a flavour: the names of functions with assembler that may order threads. */
#define BITCODE_ASSEMBLER_SECTION ".rad.as"
/* A note that remains when tools strip the other sections. */
#define BITCODE_NOTE_SECTION ".note.raddle"

/* The names that clang uses for .rad.bc and .rad.cmd.  They are as long as our names. */
#define BITCODE_CLANG_SECTION ".llvmbc"
#define BITCODE_CLANG_COMMAND_SECTION ".llvmcmd"

struct bitcode_elf {
	const uint8_t *data;
	size_t length;
	uint16_t type;		    /* ET_REL, ET_EXEC or ET_DYN */
	uint64_t table;		    /* the offset of the section headers in the file */
	uint32_t count;		    /* number of sections; may be 0 */
	uint64_t names, names_size; /* offset and size of the section name table */
};

struct bitcode_elf_section {
	const char *name; /* the section's name; "" if it has no name */
	uint32_t index, type, link, info;
	uint64_t flags, address, size, offset, entry_size;
	/* The content.  NULL for SHT_NOBITS, or if the bytes are outside the file. */
	const uint8_t *data;
};

struct bitcode_elf_symbol {
	const char *name;
	uint64_t value, size;
	uint16_t section; /* SHN_UNDEF, SHN_ABS, SHN_COMMON or the index of a section */
	uint8_t type, binding;
};

/* Reads the header of a file.  Returns false, without a message, if the bytes are not a supported
 * ELF file. */
bool bitcode_elf_parse(struct bitcode_elf *e, const void *data, size_t length);

/* Reads the header of section `index`.  Returns false if there is no such section. */
bool bitcode_elf_section(const struct bitcode_elf *e, uint32_t index, struct bitcode_elf_section *s);

/* Finds the next section called `name` after section `previous`.  To find the first one, pass 0. */
bool bitcode_elf_find(const struct bitcode_elf *e, const char *name, uint32_t previous,
		      struct bitcode_elf_section *s);

/* The symbols of the first section of type `table` (SHT_SYMTAB or SHT_DYNSYM). */
struct bitcode_elf_symbols {
	struct bitcode_elf_section table, strings;
	uint64_t next, count;
};
bool bitcode_elf_symbols(const struct bitcode_elf *e, uint32_t table, struct bitcode_elf_symbols *symbols);
bool bitcode_elf_symbol_next(struct bitcode_elf_symbols *symbols, struct bitcode_elf_symbol *symbol);

/* bitcode_elf_dynamic() calls `fn` with each string of the dynamic section whose tag is `tag`. */
typedef void bitcode_elf_dynamic_fn(void *context, const char *string);
void bitcode_elf_dynamic(const struct bitcode_elf *e, int64_t tag, bitcode_elf_dynamic_fn *fn, void *context);

/* Returns true if the file has a note of Raddle, and stores the note's 16-byte key. */
bool bitcode_elf_note(const struct bitcode_elf *e, uint8_t key[16]);

/* Returns the length of the bitcode module that starts at `p`, or 0 if no module starts there. */
size_t bitcode_module_length(const uint8_t *p, size_t length);

#endif
