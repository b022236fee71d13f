// SPDX-License-Identifier: Apache-2.0
/*
 * Finds which shared libraries the loader will use for a program, and opens those that contain
 * bitcode, each once.  The search follows ld.so(8) and is breadth-first, so for each name the
 * first library found wins, as it does in the loader.  Libraries in the system's directories are
 * opened, but their dependencies are not searched, because those belong to the system too.
 */
#include "bitcode/library-int.h"
#include "bitcode/text-int.h"

#include "base/alloc.h"
#include "base/map.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct library_search {
	struct bitcode_libraries *found;
	struct rd_names seen; /* the names that were searched for already */
	struct rd_argv queue; /* paths of files whose dependencies have not been searched yet */
	char *origin;	      /* the directory of the current file */
	const struct bitcode_elf *file;
	char *result; /* the path of the library that was searched for last */
	const char *wanted;
};

/* The first DISTRIBUTION_DIRECTORIES directories belong to the distribution.  The others are for
 * software that was installed in addition. */
enum { DISTRIBUTION_DIRECTORIES = 6 };
static const char *const system_directories[] = {
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib64",
	"/usr/lib64",
	"/lib",
	"/usr/lib",
	"/usr/local/lib/x86_64-linux-gnu",
	"/usr/local/lib",
};

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Tries each directory of a list separated by colons. */
static void try_list(void *context, const char *list)
{
	struct library_search *s = context;

	while (!s->result && *list) {
		size_t n = strcspn(list, ":;");
		char *directory = fill_origin(list, n, s->origin);
		char *path = rd_xasprintf("%s/%s", *directory ? directory : ".", s->wanted);

		if (is_file(path))
			s->result = path;
		else
			free(path);
		free(directory);
		list += n + (list[n] != '\0');
	}
}

static void note_runpath(void *context, const char *list)
{
	(void)list;
	*(bool *)context = true;
}

static void locate(struct library_search *s, const char *name)
{
	const char *environment = getenv("LD_LIBRARY_PATH");
	bool runpath = false;

	s->result = NULL;
	s->wanted = name;
	if (strchr(name, '/')) {
		if (is_file(name))
			s->result = rd_xstrdup(name);
		return;
	}
	bitcode_elf_dynamic(s->file, DT_RUNPATH, note_runpath, &runpath);
	if (!runpath)
		bitcode_elf_dynamic(s->file, DT_RPATH, try_list, s);
	if (environment)
		try_list(s, environment);
	bitcode_elf_dynamic(s->file, DT_RUNPATH, try_list, s);
	for (size_t i = 0; i < sizeof system_directories / sizeof system_directories[0]; i++)
		try_list(s, system_directories[i]);
}

static bool is_below(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return !strncmp(path, directory, n) && path[n] == '/';
}

/* Returns true if the path of a library is in a directory of the distribution. */
static bool is_system(const char *path)
{
	for (size_t i = 0; i < DISTRIBUTION_DIRECTORIES; i++)
		if (is_below(path, system_directories[i]))
			return true;
	return false;
}

static void need(void *context, const char *name)
{
	struct library_search *s = context;
	struct bitcode_program p;
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	uint32_t number;

	if (rd_names_find(&s->seen, name, strlen(name), &number))
		return;
	rd_names_put(&s->seen, name, strlen(name));
	locate(s, name);
	if (!s->result) {
		rd_argv_add(&s->found->natives, base);
		return;
	}
	if (bitcode_program_probe(&p, s->result)) {
		RD_GROW(s->found->items, s->found->capacity, s->found->count + 1);
		s->found->items[s->found->count++] =
			(struct bitcode_library){.program = p, .name = rd_xstrdup(base)};
	} else {
		rd_argv_add(&s->found->natives, base);
	}
	if (!is_system(s->result))
		rd_argv_add(&s->queue, s->result);
	free(s->result);
	s->result = NULL;
}

static void search_needs(struct library_search *s, const char *path, const struct bitcode_elf *e)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return;
	*strrchr(real, '/') = '\0';
	s->origin = real;
	s->file = e;
	bitcode_elf_dynamic(e, DT_NEEDED, need, s);
}

/* Adds preloaded libraries to the native ones, even if they have bitcode, because preloaded
 * libraries are not instrumented. */
static void add_preloaded(struct bitcode_libraries *l)
{
	const char *list = getenv("LD_PRELOAD");

	while (list && *list) {
		size_t n = strcspn(list, " :");
		char *path = rd_xstrndup(list, n), *slash = strrchr(path, '/');

		if (n)
			rd_argv_add(&l->natives, slash ? slash + 1 : path);
		free(path);
		list += n + (list[n] != '\0');
	}
}

void bitcode_libraries_find(struct bitcode_libraries *l, const struct bitcode_program *p,
			    const struct bitcode_libraries *plugins)
{
	struct library_search s = {.found = l, .seen = RD_NAMES_INIT, .queue = RD_ARGV_INIT};

	*l = (struct bitcode_libraries){.natives = RD_ARGV_INIT};
	search_needs(&s, p->path, &p->elf);
	for (size_t i = 0; i < plugins->count; i++)
		search_needs(&s, plugins->items[i].program.path, &plugins->items[i].program.elf);
	add_preloaded(l);
	for (size_t i = 0; i < s.queue.count; i++) {
		struct rd_map map;
		struct bitcode_elf e;

		if (rd_map_open(&map, s.queue.items[i]))
			continue;
		if (bitcode_elf_parse(&e, map.data, map.length))
			search_needs(&s, s.queue.items[i], &e);
		rd_map_close(&map);
	}
	rd_argv_release(&s.queue);
	rd_names_release(&s.seen);
}

void bitcode_library_close(struct bitcode_library *l)
{
	bitcode_program_close(&l->program);
	rd_argv_release(&l->aliases);
	free(l->name);
}

void bitcode_libraries_release(struct bitcode_libraries *l)
{
	for (size_t i = 0; i < l->count; i++)
		bitcode_library_close(&l->items[i]);
	free(l->items);
	rd_argv_release(&l->natives);
	*l = (struct bitcode_libraries){0};
}
