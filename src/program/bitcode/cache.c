// SPDX-License-Identifier: Apache-2.0
/*
 * The flavour cache on disk.  Invariants: (1) An entry under its final name is complete, because it
 * was renamed into place.  (2) An entry's modification time is the time of its last use.  (3)
 * Processes do not trust anything under work/ that they did not create.  (4) An entry is used only
 * if its files still have the hash that was stored with them.  A failure to clean up is never an
 * error: the next build tries again.
 */
#include "bitcode/cache-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void bitcode_key_text(XXH128_hash_t hash, char text[BITCODE_KEY_TEXT])
{
	snprintf(text, BITCODE_KEY_TEXT, "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
}

int bitcode_cache_open(struct bitcode_cache *c)
{
	char *given, real[PATH_MAX];
	int err;

	*c = (struct bitcode_cache){0};
	err = rd_cache_dir(&given);
	if (err)
		return err;
	/* Flavours contain their own path and are linked from other directories, so the path must
	 * be absolute. */
	if (realpath(given, real))
		c->directory = rd_xstrdup(real);
	else
		err = rd_fail_errno("%s: cannot use it as cache", given);
	free(given);
	return err;
}

void bitcode_cache_close(struct bitcode_cache *c)
{
	rd_scratch_close(c->work);
	free(c->directory);
	*c = (struct bitcode_cache){0};
}

char *bitcode_cache_flavour(const struct bitcode_cache *c, const char *key)
{
	RD_ASSERT(*key && !strchr(key, '/'));
	return rd_xasprintf("%s/flavour/%s", c->directory, key);
}

char *bitcode_cache_unit(const struct bitcode_cache *c, const char *key)
{
	RD_ASSERT(*key && !strchr(key, '/'));
	return rd_xasprintf("%s/unit/%.2s/%s", c->directory, key, key);
}

int bitcode_cache_begin(struct bitcode_cache *c)
{
	char *parent = rd_xasprintf("%s/work", c->directory), name[32];
	int err = rd_mkdirs(parent);

	snprintf(name, sizeof name, "%ld", (long)getpid());
	if (!err)
		err = rd_scratch_open(&c->work, parent, name);
	free(parent);
	return err;
}

static int make_parent(const char *path)
{
	char *parent = rd_xstrndup(path, (size_t)(strrchr(path, '/') - path));
	int err = rd_mkdirs(parent);

	free(parent);
	return err;
}

/* Records that an entry is in use, so that other entries are removed before it. */
static void touch(const char *path)
{
	utimensat(AT_FDCWD, path, NULL, 0);
}

/* -------------------------------------------------------------- hashing --- */

static const char *const unit_suffixes[] = {".o", ".sites", ".facts"};
enum { UNIT_SUFFIXES = sizeof unit_suffixes / sizeof *unit_suffixes };

/* Adds a file's name and content to the hash.  A file that cannot be read counts as empty. */
static void add_file(XXH3_state_t *state, const char *path, const char *name)
{
	struct rd_map map;

	XXH3_128bits_update(state, name, strlen(name) + 1);
	if (access(path, R_OK) || rd_map_open(&map, path))
		return;
	XXH3_128bits_update(state, map.data, map.length);
	rd_map_close(&map);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_hashed(const struct dirent *e)
{
	return strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strcmp(e->d_name, ".sum");
}

/* Adds all files below the directory, sorted by name.  For a symbolic link, it adds the link's
 * target path. */
static void add_tree(XXH3_state_t *state, const char *directory)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_hashed, by_name);

	for (int i = 0; i < count; i++) {
		char *path = rd_xasprintf("%s/%s", directory, entries[i]->d_name), target[PATH_MAX];
		ssize_t length = readlink(path, target, sizeof target);

		if (length >= 0)
			XXH3_128bits_update(state, target, (size_t)length);
		else if (entries[i]->d_type == DT_DIR)
			add_tree(state, path);
		else
			add_file(state, path, entries[i]->d_name);
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void add_unit(XXH3_state_t *state, const char *unit)
{
	for (int i = 0; i < UNIT_SUFFIXES; i++) {
		char *path = rd_xasprintf("%s%s", unit, unit_suffixes[i]);

		if (rd_file_exists(path))
			add_file(state, path, unit_suffixes[i]);
		free(path);
	}
}

/* Computes the hash of an entry, as text.  `add` adds the entry's content to the hash state. */
static void sum(void (*add)(XXH3_state_t *, const char *), const char *entry, char text[BITCODE_KEY_TEXT])
{
	XXH3_state_t *state = XXH3_createState();

	RD_ASSERT(state);
	XXH3_128bits_reset(state);
	add(state, entry);
	bitcode_key_text(XXH3_128bits_digest(state), text);
	XXH3_freeState(state);
}

static bool has_sum(const char *path, const char text[BITCODE_KEY_TEXT])
{
	struct rd_buf stored = RD_BUF_INIT;
	bool same = rd_file_exists(path) && !rd_file_read(path, &stored) &&
		    stored.length == BITCODE_KEY_TEXT - 1 && !memcmp(stored.data, text, stored.length);

	rd_buf_release(&stored);
	return same;
}

/* Moves the entry away before removing it, so that no process finds a partial entry. */
static void evict(const struct bitcode_cache *c, const char *path)
{
	char *aside =
		rd_xasprintf("%s/work/old-%ld-%s", c->directory, (long)getpid(), strrchr(path, '/') + 1);

	if (rename(path, aside) == 0)
		rd_remove_tree(aside);
	else
		rd_remove_tree(path);
	free(aside);
}

bool bitcode_cache_has_flavour(const struct bitcode_cache *c, const char *path)
{
	char *stored = rd_xasprintf("%s/.sum", path), text[BITCODE_KEY_TEXT];
	bool sound = false;

	if (rd_file_exists(path)) {
		sum(add_tree, path, text);
		sound = has_sum(stored, text);
		if (sound) {
			touch(path);
		} else {
			rd_warn("%s is damaged; it is made again", path);
			evict(c, path);
		}
	}
	free(stored);
	return sound;
}

bool bitcode_cache_has_unit(const struct bitcode_cache *c, const char *unit)
{
	char *stored = rd_xasprintf("%s.sum", unit), text[BITCODE_KEY_TEXT];
	bool sound = false, there = rd_file_exists(stored);

	if (there) {
		sum(add_unit, unit, text);
		sound = has_sum(stored, text);
	}
	if (there && !sound)
		rd_warn("%s is damaged; it is made again", unit);
	for (int i = -1; i < UNIT_SUFFIXES && there; i++) {
		char *path = rd_xasprintf("%s%s", unit, i < 0 ? ".sum" : unit_suffixes[i]);

		if (sound)
			touch(path);
		else
			evict(c, path);
		free(path);
	}
	free(stored);
	return sound;
}

/* -------------------------------------------------------------- storing --- */

/* The hash is stored last.  A unit without a hash is incomplete and not used. */
int bitcode_cache_store_unit(const char *from, const char *to)
{
	RD_ASSERT(from != NULL && to != NULL);
	char *stored = rd_xasprintf("%s.sum", to), text[BITCODE_KEY_TEXT];
	int err = make_parent(to);

	sum(add_unit, from, text);
	for (int i = 0; i < UNIT_SUFFIXES && !err; i++) {
		char *source = rd_xasprintf("%s%s", from, unit_suffixes[i]);
		char *target = rd_xasprintf("%s%s", to, unit_suffixes[i]);

		if (rd_file_exists(source) && rename(source, target))
			err = rd_fail_errno("cannot move %s to %s", source, target);
		free(source);
		free(target);
	}
	if (!err)
		err = rd_file_write(stored, text, BITCODE_KEY_TEXT - 1);
	free(stored);
	return err;
}

int bitcode_cache_store_tree(const char *from, const char *to)
{
	RD_ASSERT(from != NULL && to != NULL);
	char *stored = rd_xasprintf("%s/.sum", from), text[BITCODE_KEY_TEXT];
	int err = make_parent(to);

	sum(add_tree, from, text);
	if (!err)
		err = rd_file_write(stored, text, BITCODE_KEY_TEXT - 1);
	if (!err && rename(from, to) && errno != EEXIST && errno != ENOTEMPTY)
		err = rd_fail_errno("cannot move %s to %s", from, to);
	free(stored);
	return err;
}

/* ------------------------------------------------------------- trimming --- */

struct entry {
	char *path;
	uint64_t size;
	int64_t used;
};

struct entries {
	struct entry *items;
	size_t count, capacity;
	uint64_t total;
};

/* nftw() passes no context, so a variable is needed.  The walk is short and single-threaded. */
static _Thread_local uint64_t tree_size;

static int add_size(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)path;
	(void)type;
	(void)walk;
	tree_size += (uint64_t)st->st_blocks * 512;
	return 0;
}

static void add_entry(struct entries *list, char *path)
{
	struct stat st;

	if (lstat(path, &st)) {
		free(path);
		return;
	}
	tree_size = 0;
	nftw(path, add_size, 16, FTW_PHYS);
	RD_GROW(list->items, list->capacity, list->count + 1);
	list->items[list->count++] = (struct entry){path, tree_size, st.st_mtime};
	list->total += tree_size;
}

static void add_children(struct entries *list, const char *directory, int depth)
{
	DIR *d = opendir(directory);
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)) != NULL) {
		char *path;

		if (e->d_name[0] == '.')
			continue;
		path = rd_xasprintf("%s/%s", directory, e->d_name);
		if (!depth) {
			add_entry(list, path);
			continue;
		}
		add_children(list, path, depth - 1);
		free(path);
	}
	closedir(d);
}

static int by_use(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* Removes the remains of killed builds. */
static void remove_stale_work(const struct bitcode_cache *c, int64_t before)
{
	char *directory = rd_xasprintf("%s/work", c->directory);
	struct entries list = {0};

	add_children(&list, directory, 0);
	for (size_t i = 0; i < list.count; i++) {
		if (list.items[i].used < before)
			rd_remove_tree(list.items[i].path);
		free(list.items[i].path);
	}
	free(list.items);
	free(directory);
}

void bitcode_cache_trim(const struct bitcode_cache *c, uint64_t limit, int64_t grace)
{
	RD_ASSERT(grace >= 0);
	char *flavours = rd_xasprintf("%s/flavour", c->directory),
	     *units = rd_xasprintf("%s/unit", c->directory), *costs = rd_xasprintf("%s/cost", c->directory);
	int64_t before = time(NULL) - grace;
	struct entries list = {0};

	add_children(&list, flavours, 0);
	add_children(&list, units, 1);
	add_children(&list, costs, 0);
	qsort(list.items, list.count, sizeof *list.items, by_use);
	for (size_t i = 0; i < list.count && list.total > limit && list.items[i].used < before; i++) {
		evict(c, list.items[i].path);
		list.total -= list.items[i].size;
	}
	RD_FREE_EACH(list.items, list.count, .path);
	RD_FREE(list.items, flavours, units, costs);
	remove_stale_work(c, time(NULL) - 24 * 3600);
}
