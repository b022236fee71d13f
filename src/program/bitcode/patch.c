// SPDX-License-Identifier: Apache-2.0
/*
 * Changes objects that clang has just written.
 *
 * Names: clang puts bitcode into .llvmbc.  GNU ar, nm and ranlib load LLVM's plug-in, which takes
 * any file with such a section for a link-time optimisation object and drops its symbols from the
 * archive's index.  So the section is renamed.  Our names have the same length as clang's, so only
 * bytes of the section name table change.
 *
 * Native objects: an object without bitcode gets a section that contains the original object.  The
 * section, a new name table and a new header table are appended; nothing else moves.
 *
 * The link object has four sections; see bitcode_link_object().
 */
#include "bitcode/patch-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "bitcode/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Flags of <elf.h> that Debian 12's header lacks or spells differently. */
#define FLAG_RETAIN (1u << 21)
#define FLAG_EXCLUDE 0x80000000u

/* A regular file mapped for writing.  The length is 0 if there is nothing to patch. */
struct mapping {
	uint8_t *data;
	size_t length;
};

static int map_for_patching(const char *path, struct mapping *m)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;
	void *p;

	*m = (struct mapping){0};
	if (fd < 0)
		return errno == ENOENT ? 0 : rd_fail_errno("cannot open %s to rename its sections", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size == 0) {
		close(fd);
		return 0;
	}
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return rd_fail_errno("cannot map %s to rename its sections", path);
	*m = (struct mapping){p, (size_t)st.st_size};
	return 0;
}

static void unmap(struct mapping *m)
{
	if (m->length)
		munmap(m->data, m->length);
}

static void set_flag(struct mapping *m, const struct bitcode_elf *e, uint32_t index, uint64_t flag)
{
	uint8_t *at =
		m->data + e->table + (uint64_t)index * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_flags);
	uint64_t flags;

	memcpy(&flags, at, sizeof flags);
	flags |= flag;
	memcpy(at, &flags, sizeof flags);
}

static bool is_debug_section(const char *name)
{
	return !strncmp(name, ".debug_", 7) || !strncmp(name, ".rela.debug_", 12);
}

static void rename_section(struct mapping *m, const struct bitcode_elf_section *s, const char *name)
{
	memcpy(m->data + ((const uint8_t *)s->name - m->data), name, strlen(name));
}

int bitcode_patch_names(const char *path, bool hide_debug)
{
	struct bitcode_elf_section s;
	struct bitcode_elf e;
	struct mapping m;
	int err = map_for_patching(path, &m);

	if (err || !m.length)
		return err;
	_Static_assert(sizeof BITCODE_SECTION == sizeof BITCODE_CLANG_SECTION, "renamed in place");
	_Static_assert(sizeof BITCODE_COMMAND_SECTION == sizeof BITCODE_CLANG_COMMAND_SECTION,
		       "renamed in place");
	if (bitcode_elf_parse(&e, m.data, m.length)) {
		for (uint32_t i = 1; i < e.count; i++) {
			bitcode_elf_section(&e, i, &s);
			if (!strcmp(s.name, BITCODE_CLANG_SECTION))
				rename_section(&m, &s, BITCODE_SECTION);
			else if (!strcmp(s.name, BITCODE_CLANG_COMMAND_SECTION))
				rename_section(&m, &s, BITCODE_COMMAND_SECTION);
			else if (hide_debug && is_debug_section(s.name))
				set_flag(&m, &e, i, FLAG_EXCLUDE);
		}
	}
	unmap(&m);
	return 0;
}

static void rename_directive(struct mapping *m, const char *from, const char *to)
{
	size_t length = strlen(from);
	uint8_t *at = m->data, *end = m->data + m->length;

	while ((at = memmem(at, (size_t)(end - at), from, length)) != NULL) {
		if (at == m->data || at[-1] == '\n')
			memcpy(at, to, length);
		at += length;
	}
}

int bitcode_patch_assembly(const char *path)
{
	struct mapping m;
	int err = map_for_patching(path, &m);

	if (err || !m.length)
		return err;
	rename_directive(&m, "\t.section\t" BITCODE_CLANG_SECTION ",", "\t.section\t" BITCODE_SECTION ",");
	rename_directive(&m, "\t.section\t" BITCODE_CLANG_COMMAND_SECTION ",",
			 "\t.section\t" BITCODE_COMMAND_SECTION ",");
	unmap(&m);
	return 0;
}

void bitcode_native_entry(struct rd_buf *out, const char *name, const void *data, size_t length)
{
	RD_ASSERT(name != NULL && (data != NULL || length == 0));
	uint64_t sizes[2] = {strlen(name), length};

	rd_buf_add(out, "RADOBJ01", 8);
	rd_buf_add(out, sizes, sizeof sizes);
	rd_buf_adds(out, name);
	rd_buf_add(out, data, length);
}

/* Appends a section to the object in `b`, which must have a name table. */
static void append_section(struct rd_buf *b, const struct bitcode_elf *e, const char *name,
			   const struct rd_buf *data)
{
	Elf64_Shdr *table = rd_xcalloc(e->count + 1, sizeof *table), *added = &table[e->count];
	Elf64_Ehdr h;

	memcpy(&h, b->data, sizeof h);
	memcpy(table, b->data + e->table, e->count * sizeof *table);
	*added = (Elf64_Shdr){
		.sh_name = (Elf64_Word)e->names_size,
		.sh_type = SHT_PROGBITS,
		.sh_offset = b->length,
		.sh_size = data->length,
		.sh_addralign = 1,
	};
	rd_buf_add(b, data->data, data->length);
	table[h.e_shstrndx].sh_offset = b->length;
	table[h.e_shstrndx].sh_size = e->names_size + strlen(name) + 1;
	rd_buf_reserve(b, e->names_size + strlen(name) + 16);
	rd_buf_add(b, b->data + e->names, e->names_size);
	rd_buf_add(b, name, strlen(name) + 1);
	while (b->length % 8)
		rd_buf_addc(b, 0);
	h.e_shoff = b->length;
	h.e_shnum++;
	rd_buf_add(b, table, (e->count + 1) * sizeof *table);
	memcpy(b->data, &h, sizeof h);
	free(table);
}

int bitcode_patch_native(const char *path)
{
	struct rd_buf object = RD_BUF_INIT, entry = RD_BUF_INIT;
	struct bitcode_elf_section s;
	struct bitcode_elf e;
	struct stat st;
	int err = 0;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	err = rd_file_read(path, &object);
	/* An assembler file that clang made from C may already contain bitcode.  An object with
	 * extended section numbers cannot be patched. */
	if (!err && bitcode_elf_parse(&e, object.data, object.length) && e.type == ET_REL && e.names_size &&
	    e.count < SHN_LORESERVE - 1 && !bitcode_elf_find(&e, BITCODE_SECTION, 0, &s)) {
		int fd = open(path, O_WRONLY | O_CLOEXEC);

		bitcode_native_entry(&entry, path, object.data, object.length);
		append_section(&object, &e, BITCODE_NATIVE_SECTION, &entry);
		if (fd < 0 || rd_write_all(fd, object.data, object.length))
			err = rd_fail_errno("cannot write %s", path);
		if (fd >= 0)
			close(fd);
	}
	rd_buf_release(&entry);
	rd_buf_release(&object);
	return err;
}

enum { LINK_NULL, LINK_LINE, LINK_NOTE, LINK_STACK, LINK_NAMES, LINK_SECTIONS };

/*
 * The section of the link line must be marked as retained, because `ld.bfd --gc-sections` drops an
 * object that has only unallocated sections.  Retention is a GNU extension, so the object must be
 * marked as a GNU object.  The note is allocated, so that even tools that remove every unallocated
 * section keep it.
 */
void bitcode_link_object(struct rd_buf *out, const struct rd_buf *line, bool note)
{
	static const char names[] =
		"\0" BITCODE_LINK_SECTION "\0" BITCODE_NOTE_SECTION "\0.note.GNU-stack\0.shstrtab";
	static const uint8_t note_head[] = {7, 0, 0,   0,   16,	 0,   0,   0,	1, 0,
					    0, 0, 'R', 'a', 'd', 'd', 'l', 'e', 0, 0};
	const unsigned name[] = {0, 1, 1 + sizeof BITCODE_LINK_SECTION,
				 1 + sizeof BITCODE_LINK_SECTION + sizeof BITCODE_NOTE_SECTION,
				 1 + sizeof BITCODE_LINK_SECTION + sizeof BITCODE_NOTE_SECTION +
					 sizeof ".note.GNU-stack"};
	Elf64_Shdr table[LINK_SECTIONS] = {0};
	XXH128_canonical_t key;
	Elf64_Ehdr h = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
			    ELFOSABI_GNU},
		.e_type = ET_REL,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof h,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = LINK_SECTIONS,
		.e_shstrndx = LINK_NAMES,
	};

	XXH128_canonicalFromHash(&key, XXH3_128bits(line->data, line->length));
	for (int i = 1; i < LINK_SECTIONS; i++) {
		table[i].sh_name = name[i];
		table[i].sh_type = SHT_PROGBITS;
		table[i].sh_addralign = 1;
	}
	rd_buf_clear(out);
	rd_buf_add(out, &h, sizeof h);
	table[LINK_NOTE].sh_type = note ? SHT_NOTE : SHT_PROGBITS;
	table[LINK_NOTE].sh_flags = note ? SHF_ALLOC | FLAG_RETAIN : FLAG_RETAIN;
	table[LINK_NOTE].sh_addralign = 4;
	table[LINK_NOTE].sh_offset = out->length;
	table[LINK_NOTE].sh_size = sizeof note_head + sizeof key;
	rd_buf_add(out, note_head, sizeof note_head);
	rd_buf_add(out, &key, sizeof key);
	table[LINK_LINE].sh_flags = FLAG_RETAIN;
	table[LINK_LINE].sh_offset = table[LINK_STACK].sh_offset = out->length;
	table[LINK_LINE].sh_size = line->length;
	rd_buf_add(out, line->data, line->length);
	table[LINK_NAMES].sh_type = SHT_STRTAB;
	table[LINK_NAMES].sh_offset = out->length;
	table[LINK_NAMES].sh_size = sizeof names;
	rd_buf_add(out, names, sizeof names);
	while (out->length % 8)
		rd_buf_addc(out, 0);
	h.e_shoff = out->length;
	memcpy(out->data, &h, sizeof h);
	rd_buf_add(out, table, sizeof table);
}
