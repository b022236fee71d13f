// SPDX-License-Identifier: Apache-2.0
/*
 * Computes the identity of a build from an ELF file.  It is a text of 8 to 64 characters 0-9 and
 * a-z, and is the same for every copy of the file.  A build-id of any other length is ignored, so
 * that the result always has this form.
 */
#include "bitcode/build-id.h"

#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"

#include <elf.h>
#include <string.h>
#include <xxhash.h>

/* The smallest and largest length of a build-id in bytes.  Linkers write 8, 16 or 20 bytes.  With
 * fewer than 4, builds would collide. */
enum { GNU_ID_MIN = 4, GNU_ID_MAX = (RD_BUILD_ID_SIZE - 1) / 2 };

static uint64_t padded(uint32_t n)
{
	return ((uint64_t)n + 3) & ~UINT64_C(3);
}

/* Finds the build-id among the notes of a section.  Returns a pointer to its bytes in the file, or
 * NULL. */
static const uint8_t *find_note(const struct bitcode_elf_section *s, uint32_t *length)
{
	uint64_t at = 0;

	while (s->size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t rest = s->size - at - sizeof note;

		memcpy(&note, s->data + at, sizeof note);
		if (padded(note.n_namesz) > rest || padded(note.n_descsz) > rest - padded(note.n_namesz))
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(s->data + at + sizeof note, "GNU", 4) && note.n_descsz >= GNU_ID_MIN &&
		    note.n_descsz <= GNU_ID_MAX) {
			*length = note.n_descsz;
			return s->data + at + sizeof note + 4;
		}
		at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
	}
	return NULL;
}

void bitcode_build_id(const struct bitcode_elf *e, char id[RD_BUILD_ID_SIZE])
{
	struct bitcode_elf_section s;
	XXH128_canonical_t hash;

	for (uint32_t i = 1; i < e->count; i++) {
		uint32_t length;
		const uint8_t *bytes;

		if (!bitcode_elf_section(e, i, &s) || s.type != SHT_NOTE || !s.data)
			continue;
		bytes = find_note(&s, &length);
		if (bytes) {
			rd_hex_write(id, bytes, length);
			return;
		}
	}
	XXH128_canonicalFromHash(&hash, XXH3_128bits(e->data, e->length));
	id[0] = 'x';
	rd_hex_write(id + 1, hash.digest, sizeof hash.digest);
}

int rd_build_id(const char *path, char id[RD_BUILD_ID_SIZE])
{
	struct rd_map map;
	struct bitcode_elf e;
	int err = rd_map_open(&map, path);

	if (err)
		return err;
	if (bitcode_elf_parse(&e, map.data, map.length))
		bitcode_build_id(&e, id);
	else
		err = rd_fail(RD_EFORMAT, "%s: not a program for x86-64", path);
	rd_map_close(&map);
	return err;
}
