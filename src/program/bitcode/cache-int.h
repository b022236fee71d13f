/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of flavours: whole programs and the objects of single units, each under the hash of all
 * its inputs.
 *
 * 	DIR/flavour/KEY/...          a program, its libraries and its site table
 * 	DIR/unit/KK/KEY.o, .sites    one instrumented unit
 * 	DIR/unit/KK/KEY.facts        facts of a program
 * 	.../.sum, KEY.sum            the hash of an entry's files
 * 	DIR/cost/KEY                 how long a flavour has run (cost-int.h)
 * 	DIR/work/...                 current builds
 *
 * Entries are renamed into place and do not change after that, so processes need no locks.  Only
 * the CPU seconds of a flavour change (cost.c).  When the cache grows beyond BITCODE_CACHE_LIMIT,
 * the least recently used entries are removed.
 */
#ifndef BITCODE_CACHE_INT_H
#define BITCODE_CACHE_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <xxhash.h>

/* The maximum size of the cache in bytes.  Set by hand: it holds some tens of large programs. */
#define BITCODE_CACHE_LIMIT (5ull << 30)
/* Seconds for which an entry is kept after its last use; set by hand. */
enum { BITCODE_CACHE_RECENT = 3600 };

/* Keys are XXH128 hashes.  As text, they have 32 hexadecimal digits and a NUL. */
enum { BITCODE_KEY_TEXT = 33 };
void bitcode_key_text(XXH128_hash_t hash, char text[BITCODE_KEY_TEXT]);

struct bitcode_cache {
	char *directory; /* the path of the whole cache */
	char *work;	 /* the path of a directory that only this build uses */
};

int bitcode_cache_open(struct bitcode_cache *c);
void bitcode_cache_close(struct bitcode_cache *c); /* removes `work` */

/* These return paths of entries.  The caller frees them. */
char *bitcode_cache_flavour(const struct bitcode_cache *c, const char *key);
char *bitcode_cache_unit(const struct bitcode_cache *c, const char *key); /* the path has no suffix */

/* These functions return true if the cache has the entry, complete and undamaged.  If the entry is
 * damaged, they remove it and print a message.  The path of a unit has no suffix. */
bool bitcode_cache_has_flavour(const struct bitcode_cache *c, const char *path);
bool bitcode_cache_has_unit(const struct bitcode_cache *c, const char *path);

/* Creates `work` as an empty directory. */
int bitcode_cache_begin(struct bitcode_cache *c);

/* Moves an entry's files from `work` into place: PATH.o and PATH.sites, or PATH.facts. */
int bitcode_cache_store_unit(const char *from, const char *to);

/* Moves a directory from `work` into place.  Also succeeds if another process has stored the same
 * entry first. */
int bitcode_cache_store_tree(const char *from, const char *to);

/* Removes old entries until the total size of the rest is at most `limit` bytes.  Entries that
 * were used within the last `grace` seconds are never removed. */
void bitcode_cache_trim(const struct bitcode_cache *c, uint64_t limit, int64_t grace);

#endif
