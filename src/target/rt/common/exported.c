// SPDX-License-Identifier: Apache-2.0
/*
 * Determines whether a library of the program exports a name.  The search covers the symbol tables
 * of all loaded objects and allocates nothing.  dlsym() is no alternative: it allocates to report
 * that a name does not exist.  If the program defines malloc(), dlsym() would call it before the
 * real functions that it needs have been found.
 */
#include "rt/common/resolve.h"

#ifndef RADDLE_STATIC
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

struct exports {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *hashes; /* the table DT_GNU_HASH; NULL if the object has no such table */
};

struct wanted {
	const char *name;
	uint32_t hash;
	bool program; /* true until the first object, the program itself, has been skipped */
	bool found;
};

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* Returns the absolute address for a value from the dynamic section.  The dynamic linker has
 * already added the load address to these values, except in the kernel's vDSO. */
static const void *address(const struct dl_phdr_info *info, ElfW(Addr) value)
{
	return (const void *)(value < info->dlpi_addr ? info->dlpi_addr + value : value);
}

static bool exports_of(const struct dl_phdr_info *info, struct exports *out)
{
	*out = (struct exports){0};
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) *d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);

		if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
			continue;
		for (; d->d_tag != DT_NULL; d++) {
			if (d->d_tag == DT_SYMTAB)
				out->symbols = address(info, d->d_un.d_ptr);
			else if (d->d_tag == DT_STRTAB)
				out->strings = address(info, d->d_un.d_ptr);
			else if (d->d_tag == DT_GNU_HASH)
				out->hashes = address(info, d->d_un.d_ptr);
		}
	}
	return out->symbols && out->strings;
}

/* The hash table (DT_GNU_HASH) consists of four numbers, a filter, the first symbol of each
 * bucket, and the hashes of the symbols from `first` on.  Bit 0 of a hash marks the end of a
 * bucket. */
static bool has(const struct exports *e, const struct wanted *w)
{
	uint32_t buckets = e->hashes[0], first = e->hashes[1], filter = e->hashes[2];
	const uint32_t *bucket = e->hashes + 4 + filter * (sizeof(ElfW(Addr)) / sizeof *bucket);
	const uint32_t *chain = bucket + buckets;
	uint32_t at = buckets ? bucket[w->hash % buckets] : 0;

	if (at < first)
		return false;
	for (;; at++) {
		const ElfW(Sym) *symbol = &e->symbols[at];

		if ((chain[at - first] | 1) == (w->hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    !strcmp(e->strings + symbol->st_name, w->name))
			return true;
		if (chain[at - first] & 1)
			return false;
	}
}

/* An object without a hash table is assumed to export every name. */
static int look_into(struct dl_phdr_info *info, size_t size, void *context)
{
	struct wanted *w = context;
	struct exports exports;
	bool program = w->program;

	(void)size;
	w->program = false;
	if (!program && exports_of(info, &exports))
		w->found = !exports.hashes || has(&exports, w);
	return w->found;
}

bool rt_is_exported(const char *name)
{
	struct wanted w = {.name = name, .hash = hash_of(name), .program = true};

	dl_iterate_phdr(look_into, &w);
	return w.found;
}
#endif
