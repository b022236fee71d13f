// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the link line of a link that is about to run.  It reads the parsed command and the files
 * that the command names, and makes records for line.c.
 *
 * Arguments keep their order.  Lists after "-Wl," are split, and relative paths are made absolute.
 * The inputs are examined.  If an input has bitcode, only its name is stored.  If an input has no
 * bitcode and is outside the system's directories, it is copied, because it may be gone when the
 * program is linked again.  Archive members with bitcode need no copy: if they were used, the
 * program contains their bitcode.  Members without bitcode are copied.
 */
#include "bitcode/line-int.h"

#include "base/alloc.h"
#include "base/file.h"
#include "bitcode/archive-int.h"
#include "bitcode/elf.h"
#include "bitcode/text-int.h"
#include "bitcode/trust-int.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest number of bytes of native code that are copied into a program.  Files beyond this
 * limit must still exist when the program is linked again.  Set by hand. */
#define COPY_LIMIT (32u << 20)

struct collector {
	struct rd_buf *out;
	char *directory;
	struct rd_argv search; /* the directories of -L options, as absolute paths */
	/* A linker option whose value, a file name, is the next word.  Otherwise NULL. */
	const char *pending;
	size_t copied;
	bool whole, only_static;
	bool saved_whole, saved_static;
	bool script; /* true if the user gave a linker script */
};

enum coverage { COVERED_NOT, COVERED_PARTLY, COVERED_FULLY };

/* Returns true if the file can be opened.  If not, clang reports the error. */
static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

static void add(struct collector *c, enum bitcode_item_kind kind, const char *text)
{
	bitcode_line_add(c->out, &(struct bitcode_item){.kind = kind, .text = text});
}

static char *absolute(const struct collector *c, const char *path)
{
	return path[0] == '/' ? rd_xstrdup(path) : rd_xasprintf("%s/%s", c->directory, path);
}

/* Returns true if the file belongs to the system and not to the user's build. */
static bool is_system_path(const char *path)
{
	static const char *const system[] = {"/usr/lib/", "/usr/lib64/", "/usr/libexec/", "/usr/local/lib/",
					     "/lib/",	  "/lib64/",	 "/usr/lib32/",	  "/opt/"};

	for (size_t i = 0; i < sizeof system / sizeof system[0]; i++)
		if (starts(path, system[i]))
			return true;
	return false;
}

/* ------------------------------------------------------------- coverage --- */

/*
 * Determines how much of an object can be made again.  An object that clang wrote can be made
 * again from its bitcode, or from the copy of itself that it contains.  But `ld -r` may have
 * merged such objects with foreign ones.  The results of `ld -r` are recognised by their name
 * tables: clang keeps the names of sections and symbols in one table, and linkers keep them in
 * two.
 */
static enum coverage coverage_of(const struct bitcode_elf *e)
{
	struct bitcode_elf_section s;

	if (!bitcode_elf_find(e, BITCODE_SECTION, 0, &s) &&
	    !bitcode_elf_find(e, BITCODE_NATIVE_SECTION, 0, &s))
		return COVERED_NOT;
	return bitcode_elf_find(e, ".shstrtab", 0, &s) ? COVERED_PARTLY : COVERED_FULLY;
}

static enum coverage coverage_of_bytes(const void *data, size_t length)
{
	struct bitcode_elf e;

	return bitcode_elf_parse(&e, data, length) ? coverage_of(&e) : COVERED_NOT;
}

/* --------------------------------------------------------------- inputs --- */

static void add_bytes(struct collector *c, enum bitcode_item_kind kind, const char *text,
		      const struct rd_map *bytes)
{
	c->copied += bytes->length;
	bitcode_line_add(c->out, &(struct bitcode_item){kind, text, bytes->data, bytes->length});
}

static bool fits(const struct collector *c, size_t length)
{
	return length <= COPY_LIMIT && c->copied <= COPY_LIMIT - length;
}

static void add_object(struct collector *c, const char *path, const struct rd_map *bytes)
{
	enum coverage covered = coverage_of_bytes(bytes->data, bytes->length);

	if (covered == COVERED_FULLY)
		add(c, BITCODE_ITEM_COVERED, path);
	else if (is_system_path(path) || !fits(c, bytes->length))
		add(c, BITCODE_ITEM_INPUT, path);
	else
		add_bytes(c, covered ? BITCODE_ITEM_PARTIAL : BITCODE_ITEM_NATIVE, path, bytes);
}

/* Finds the bytes of a member.  The members of a thin archive are separate files beside it. */
static bool open_member(const char *archive, const struct bitcode_member *m, struct rd_map *map, bool *mapped)
{
	const char *slash = strrchr(archive, '/');
	char *path;

	*mapped = m->data == NULL;
	*map = (struct rd_map){m->data, m->length};
	if (m->data)
		return true;
	if (m->name[0] == '/')
		path = rd_xstrdup(m->name);
	else
		path = rd_xasprintf("%.*s%s", slash ? (int)(slash - archive + 1) : 0, archive, m->name);
	if (!is_file(path) || rd_map_open(map, path))
		*mapped = false;
	free(path);
	return *mapped;
}

static void add_member(struct collector *c, const char *archive, const struct bitcode_member *m)
{
	char *text = rd_xasprintf("%s(%s)", archive, m->name);
	struct rd_map bytes;
	enum coverage covered;
	bool mapped;

	if (open_member(archive, m, &bytes, &mapped)) {
		covered = coverage_of_bytes(bytes.data, bytes.length);
		if (covered == COVERED_FULLY && c->whole)
			add(c, BITCODE_ITEM_COVERED, text);
		else if (covered != COVERED_FULLY && c->whole)
			add_bytes(c, covered ? BITCODE_ITEM_PARTIAL : BITCODE_ITEM_NATIVE, text, &bytes);
		else if (covered != COVERED_FULLY && fits(c, bytes.length))
			add_bytes(c, BITCODE_ITEM_MEMBER, text, &bytes);
	}
	if (mapped)
		rd_map_close(&bytes);
	free(text);
}

static void add_archive(struct collector *c, const char *path, struct bitcode_archive *a)
{
	struct bitcode_member *m;

	if (is_system_path(path)) {
		add(c, BITCODE_ITEM_INPUT, path);
		return;
	}
	/* With --whole-archive, all members are linked.  The archive is then treated as a list of
	 * objects. */
	if (!c->whole)
		add(c, BITCODE_ITEM_ARCHIVE, path);
	m = rd_xmalloc(sizeof *m);
	while (bitcode_archive_next(a, m))
		add_member(c, path, m);
	free(m);
}

static void add_input(struct collector *c, const char *given)
{
	char *path = absolute(c, given);
	struct bitcode_archive archive;
	struct bitcode_elf e;
	struct rd_map map = {0};

	if (!is_file(path) || rd_map_open(&map, path)) {
		add(c, BITCODE_ITEM_INPUT, path);
	} else if (bitcode_archive_parse(&archive, map.data, map.length)) {
		add_archive(c, path, &archive);
	} else if (bitcode_elf_parse(&e, map.data, map.length) && e.type == ET_REL) {
		add_object(c, path, &map);
	} else {
		add(c, BITCODE_ITEM_INPUT, path);
	}
	rd_map_close(&map);
	free(path);
}

/* Adds the object that was assembled from a source of this link.  It gets the name of the
 * source. */
static void add_assembled(struct collector *c, const char *source, const char *object)
{
	struct rd_map map;

	if (rd_map_open(&map, object))
		return;
	add_bytes(c, BITCODE_ITEM_NATIVE, source, &map);
	rd_map_close(&map);
}

/* Handles -l.  An archive of the user is treated like any other input.  Other libraries are found
 * again by name, in the directories of -L. */
static void add_library(struct collector *c, const char *name)
{
	char *option = rd_xasprintf("-l%s", name);

	for (size_t i = 0; i < c->search.count; i++) {
		const char *directory = c->search.items[i];
		char *dynamic, *archive;
		bool found;

		if (name[0] == ':') {
			dynamic = rd_xasprintf("%s/-", directory);
			archive = rd_xasprintf("%s/%s", directory, name + 1);
		} else {
			dynamic = rd_xasprintf("%s/lib%s.so", directory, name);
			archive = rd_xasprintf("%s/lib%s.a", directory, name);
		}
		found = !c->only_static && is_file(dynamic);
		if (!found && !is_system_path(archive) && is_file(archive)) {
			add_input(c, archive);
			free(option);
			option = NULL;
			found = true;
		}
		free(dynamic);
		free(archive);
		if (found)
			break;
	}
	if (option)
		add(c, BITCODE_ITEM_ARGUMENT, option);
	free(option);
}

static void add_search(struct collector *c, const char *directory)
{
	char *path = directory[0] == '=' ? rd_xstrdup(directory) : absolute(c, directory);
	char *option = rd_xasprintf("-L%s", path);

	rd_argv_add(&c->search, path);
	add(c, BITCODE_ITEM_ARGUMENT, option);
	free(option);
	free(path);
}

/* ------------------------------------------------------------ arguments --- */

static void add_file(struct collector *c, const char *option, const char *file)
{
	char *path = absolute(c, file), *text;
	struct rd_map map;

	c->script |= !strcmp(option, "--script");
	if (is_file(path) && !rd_map_open(&map, path)) {
		text = rd_xasprintf("%s=", option);
		add_bytes(c, BITCODE_ITEM_FILE, text, &map);
		rd_map_close(&map);
	} else {
		text = rd_xasprintf("%s=%s", option, path);
		add(c, BITCODE_ITEM_LINKER, text);
	}
	free(text);
	free(path);
}

static bool add_file_option(struct collector *c, const char *s)
{
	const char *name = without_dashes(s), *equals = strchr(name, '=');
	const char *known = bitcode_file_option(name, equals ? (size_t)(equals - name) : strlen(name));

	if (!known)
		return false;
	/* --script has a form with "=", but -T, which means the same, has none. */
	c->pending = !strcmp(known, "T") ? "script" : known;
	if (equals) {
		char *option = rd_xasprintf("--%s", c->pending);

		add_file(c, option, equals + 1);
		free(option);
		c->pending = NULL;
	}
	return true;
}

static void track_state(struct collector *c, const char *s)
{
	const char *name = without_dashes(s);

	if (!strcmp(name, "whole-archive"))
		c->whole = true;
	else if (!strcmp(name, "no-whole-archive"))
		c->whole = false;
	else if (!strcmp(name, "Bstatic") || !strcmp(name, "dn") || !strcmp(name, "non_shared"))
		c->only_static = true;
	else if (!strcmp(name, "Bdynamic") || !strcmp(name, "dy") || !strcmp(name, "call_shared"))
		c->only_static = false;
	if (!strcmp(name, "push-state")) {
		c->saved_whole = c->whole;
		c->saved_static = c->only_static;
	} else if (!strcmp(name, "pop-state")) {
		c->whole = c->saved_whole;
		c->only_static = c->saved_static;
	}
}

static void add_linker_argument(struct collector *c, const char *s)
{
	if (c->pending) {
		char *option = rd_xasprintf("--%s", c->pending);

		add_file(c, option, s);
		c->pending = NULL;
		free(option);
	} else if (s[0] != '-' && is_file(s)) {
		add_input(c, s);
	} else if (starts(s, "-l") && s[2]) {
		add_library(c, s + 2);
	} else if (starts(s, "-L") && s[2]) {
		add_search(c, s + 2);
	} else if (!add_file_option(c, s)) {
		track_state(c, s);
		add(c, BITCODE_ITEM_LINKER, s);
	}
}

static void add_linker_list(struct collector *c, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		char *one = rd_xstrndup(list, n);

		add_linker_argument(c, one);
		free(one);
		list += n + (list[n] == ',');
	}
}

static void add_value(struct collector *c, const char *option, const char *value)
{
	if (!strcmp(option, "-Xlinker") || !strcmp(option, "--for-linker")) {
		add_linker_argument(c, value);
	} else if (!strcmp(option, "-L") || !strcmp(option, "--library-directory")) {
		add_search(c, value);
	} else if (!strcmp(option, "-l")) {
		add_library(c, value);
	} else if (!strcmp(option, "-T")) {
		add_file(c, "--script", value);
	} else if (strcmp(option, "-o") && strcmp(option, "--output") && strcmp(option, "-x") &&
		   strcmp(option, "--language")) {
		add(c, BITCODE_ITEM_ARGUMENT, option);
		add(c, BITCODE_ITEM_ARGUMENT, value);
	}
}

static void add_option(struct collector *c, const struct bitcode_args *args, const char *s)
{
	if (starts(s, "-Wl,"))
		add_linker_list(c, s + 4);
	else if (starts(s, "-L"))
		add_search(c, s + 2);
	else if (starts(s, "-l"))
		add_library(c, s + 2);
	else if (starts(s, "-T") && !starts(s, "-Tbss") && !starts(s, "-Tdata") && !starts(s, "-Ttext"))
		add_file(c, "--script", s + 2);
	else if (s + 2 != args->output && !starts(s, "--output=") && !starts(s, "-x"))
		add(c, BITCODE_ITEM_ARGUMENT, s);
}

/* Collects all -L options first, because a -L option also applies to the -l options before it. */
static void find_searches(struct collector *c, const struct bitcode_args *args)
{
	struct rd_buf unused = RD_BUF_INIT, *out = c->out;

	c->out = &unused;
	for (size_t i = 0; i < args->all.count; i++) {
		const char *s = args->all.items[i];

		if (!strcmp(s, "-L") && args->all.items[i + 1])
			add_search(c, args->all.items[i + 1]);
		else if (starts(s, "-L") && s[2])
			add_search(c, s + 2);
	}
	c->out = out;
	rd_buf_release(&unused);
}

static void collect(struct collector *c, const struct bitcode_args *args, char *const *objects)
{
	size_t input = 0;

	for (size_t i = 0; i < args->all.count; i++) {
		const char *s = args->all.items[i];

		if (input < args->input_count && args->inputs[input].argument == i) {
			const struct bitcode_input *in = &args->inputs[input];

			if (in->kind == BITCODE_SOURCE)
				add(c, BITCODE_ITEM_COVERED, in->path);
			else if (objects && objects[input])
				add_assembled(c, in->path, objects[input]);
			else
				add_input(c, in->path);
			input++;
		} else if (bitcode_args_takes_value(s)) {
			if (args->all.items[i + 1])
				add_value(c, s, args->all.items[++i]);
		} else if (strcmp(s, "--")) {
			add_option(c, args, s);
		}
	}
}

bool bitcode_line_write(struct rd_buf *out, const struct bitcode_args *args, const char *driver,
			char *const *objects)
{
	char directory[PATH_MAX], *output;
	struct collector c = {.out = out, .directory = directory, .only_static = args->is_static};

	if (!getcwd(directory, sizeof directory))
		strcpy(directory, "/");
	output = absolute(&c, args->output ? args->output : "a.out");
	bitcode_line_begin(out);
	add(&c, BITCODE_LINE_DIRECTORY, directory);
	add(&c, BITCODE_LINE_DRIVER, driver);
	add(&c, BITCODE_LINE_OUTPUT, output);
	find_searches(&c, args);
	collect(&c, args, objects);
	bitcode_line_end(out);
	rd_argv_release(&c.search);
	free(output);
	return c.script;
}
