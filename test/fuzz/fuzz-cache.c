// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as an entry of the cache: a unit or the directory of a flavour.  0xf7 bytes
 * separate the files.  The cache must return only what was stored: it must find an intact entry,
 * and must reject the entry if any byte is changed.
 */
#include "bitcode/cache-int.h"
#include "test/fuzz/scratch.h"

#include <string.h>

#define CACHE SCRATCH "/cache"
#define KEY "00112233445566778899aabbccddeeff"

/* Returns the length of the next part of the input. */
static size_t next_part(const uint8_t **data, const uint8_t *end)
{
	const uint8_t *stop = memchr(*data, 0xf7, (size_t)(end - *data));

	return (size_t)((stop ? stop : end) - *data);
}

/* Writes the files of an entry: object, sites and hash of a unit, or the files of a flavour. */
static void write_parts(const char *const *paths, size_t count, const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;

	for (size_t i = 0; i < count && data < end; i++) {
		size_t n = next_part(&data, end);

		RD_ASSERT(rd_file_write(paths[i], data, n) == RD_OK);
		data += n < (size_t)(end - data) ? n + 1 : n;
	}
}

/* Files that were not stored by the cache must not be accepted. */
static void try_found(const struct bitcode_cache *c, const uint8_t *data, size_t size)
{
	static const char *const unit[] = {CACHE "/unit/00/" KEY ".o", CACHE "/unit/00/" KEY ".sites",
					   CACHE "/unit/00/" KEY ".sum"};
	static const char *const tree[] = {CACHE "/flavour/" KEY "/prog", CACHE "/flavour/" KEY "/.sites",
					   CACHE "/flavour/" KEY "/.sum"};
	char *stem = bitcode_cache_unit(c, KEY), *path = bitcode_cache_flavour(c, KEY);

	RD_ASSERT(rd_mkdirs(CACHE "/unit/00") == RD_OK && rd_mkdirs(CACHE "/flavour/" KEY) == RD_OK);
	write_parts(unit, 3, data, size);
	write_parts(tree, 3, data, size);
	bitcode_cache_has_unit(c, stem);
	bitcode_cache_has_flavour(c, path);
	free(stem);
	free(path);
}

/* A stored entry is found until one of its bytes changes. */
static void try_stored(struct bitcode_cache *c, const uint8_t *data, size_t size)
{
	char *stem = bitcode_cache_unit(c, KEY), *from, *object = rd_xasprintf("%s.o", stem), *sites;
	uint8_t other = size ? (uint8_t)(data[0] + 1) : 0;
	int fd;

	RD_ASSERT(bitcode_cache_begin(c) == RD_OK);
	from = rd_xasprintf("%s/u", c->work);
	sites = rd_xasprintf("%s.sites", from);
	rd_remove_tree(CACHE "/unit");
	RD_ASSERT(rd_file_write(sites, "sites", 5) == RD_OK);
	char *made = rd_xasprintf("%s.o", from);
	RD_ASSERT(rd_file_write(made, data, size) == RD_OK);
	RD_ASSERT(bitcode_cache_store_unit(from, stem) == RD_OK);
	RD_ASSERT(bitcode_cache_has_unit(c, stem));
	fd = open(object, O_WRONLY | O_CLOEXEC);
	RD_ASSERT(fd >= 0 && pwrite(fd, &other, 1, 0) == 1);
	close(fd);
	RD_ASSERT(!bitcode_cache_has_unit(c, stem));
	RD_FREE(stem, from, object, sites, made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bitcode_cache c;

	rd_log_set(rd_log_discard, NULL);
	scratch_make();
	rd_remove_tree(CACHE);
	setenv("RADDLE_CACHE", CACHE, 1);
	RD_ASSERT(bitcode_cache_open(&c) == RD_OK);
	try_found(&c, data, size);
	try_stored(&c, data, size);
	bitcode_cache_close(&c);
	return 0;
}
