// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the plug-ins that a program may load, and opens those that contain bitcode, each once.
 *
 * The arguments of dlopen() are not known beforehand, but build systems put plug-ins near the
 * program.  So if a program calls dlopen(), its directory is searched, within limits.  The user
 * can name other plug-ins.  A plug-in that is found but never loaded costs only the time to
 * instrument it.
 */
#include "bitcode/plugin-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <dirent.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How many levels of directories, and how many directory entries, are searched at most.  Set by
 * hand to bound the time of a search. */
enum { SEARCH_DEPTH = 2, SEARCH_ENTRIES = 4096 };

struct plugin_search {
	struct bitcode_libraries *found;
	const struct bitcode_libraries *libraries;
	size_t entries_seen; /* the number of directory entries read so far */
};

bool bitcode_loads_more(const struct bitcode_program *p)
{
	struct bitcode_elf_symbols symbols;
	struct bitcode_elf_symbol s;

	if (!bitcode_elf_symbols(&p->elf, SHT_DYNSYM, &symbols))
		return false;
	while (bitcode_elf_symbol_next(&symbols, &s))
		if (s.section == SHN_UNDEF && (!strcmp(s.name, "dlopen") || !strcmp(s.name, "dlmopen")))
			return true;
	return false;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static struct bitcode_library *find(const struct bitcode_libraries *l, const char *path)
{
	for (size_t i = 0; i < l->count; i++)
		if (is_same_file(l->items[i].program.path, path))
			return &l->items[i];
	return NULL;
}

/* Opens a plug-in.  Returns NULL if the file contains no bitcode. */
static struct bitcode_library *open_plugin(struct bitcode_libraries *l, const char *path)
{
	struct bitcode_program p;

	if (!bitcode_program_probe(&p, path))
		return NULL;
	RD_GROW(l->items, l->capacity, l->count + 1);
	l->items[l->count] = (struct bitcode_library){.program = p, .name = rd_xstrdup(rd_base_name(path))};
	return &l->items[l->count++];
}

/* Adds the file as a plug-in.  Returns true if it contains bitcode. */
static bool add(struct plugin_search *s, const char *path)
{
	char *real = realpath(path, NULL);
	struct bitcode_library *plugin = real ? find(s->found, real) : NULL;
	bool is_library = real && find(s->libraries, real);

	if (real && !plugin && !is_library)
		plugin = open_plugin(s->found, real);
	if (plugin && strcmp(rd_base_name(path), plugin->name) != 0)
		rd_argv_add(&plugin->aliases, rd_base_name(path));
	free(real);
	return plugin || is_library;
}

/* Returns true if the name is like x.so or x.so.1. */
static bool is_shared_object(const char *name)
{
	const char *so = strstr(name, ".so");

	return so && (so[3] == '\0' || so[3] == '.');
}

static bool is_hidden(const char *name)
{
	return name[0] == '.' && strcmp(name, ".libs") != 0; /* libtool puts libraries into .libs */
}

static void search_directory(struct plugin_search *s, const char *directory, int depth)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *path = rd_xasprintf("%s/%s", directory, name);
		struct stat st;

		if (!is_hidden(name) && s->entries_seen++ < SEARCH_ENTRIES && !lstat(path, &st)) {
			if (S_ISDIR(st.st_mode) && depth)
				search_directory(s, path, depth - 1);
			else if (!S_ISDIR(st.st_mode) && is_shared_object(name))
				add(s, path);
		}
		free(path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static int add_named(struct plugin_search *s, const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return rd_fail_errno("%s: this plug-in cannot be found", path);
	if (S_ISDIR(st.st_mode)) {
		s->entries_seen = 0;
		search_directory(s, path, SEARCH_DEPTH);
		return 0;
	}
	if (!S_ISREG(st.st_mode) || !add(s, path))
		return rd_fail(RD_EUSAGE, "%s: this plug-in was not built by raddle cc", path);
	return 0;
}

static int add_list(struct plugin_search *s, const char *list)
{
	int err = 0;

	while (list && *list && !err) {
		size_t n = strcspn(list, ":");
		char *path = rd_xstrndup(list, n);

		err = n ? add_named(s, path) : 0;
		free(path);
		list += n + (list[n] != '\0');
	}
	return err;
}

static bool any_loads_more(const struct bitcode_program *p, const struct bitcode_libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++)
		if (bitcode_loads_more(&libraries->items[i].program))
			return true;
	return bitcode_loads_more(p);
}

int bitcode_plugins_find(struct bitcode_libraries *plugins, const struct bitcode_libraries *libraries,
			 const struct bitcode_program *p, const char *named)
{
	struct plugin_search s = {.found = plugins, .libraries = libraries};
	int err = add_list(&s, named);

	if (!err && any_loads_more(p, libraries)) {
		char *directory = rd_xstrndup(p->path, (size_t)(rd_base_name(p->path) - p->path));

		s.entries_seen = 0;
		search_directory(&s, *directory ? directory : ".", SEARCH_DEPTH);
		free(directory);
	}
	return err;
}

void bitcode_plugins_leave_out(struct bitcode_libraries *plugins, const struct bitcode_libraries *libraries)
{
	size_t kept = 0;

	for (size_t i = 0; i < plugins->count; i++) {
		if (find(libraries, plugins->items[i].program.path))
			bitcode_library_close(&plugins->items[i]);
		else
			plugins->items[kept++] = plugins->items[i];
	}
	plugins->count = kept;
}
