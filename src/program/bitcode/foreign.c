// SPDX-License-Identifier: Apache-2.0
/*
 * Finds code of a program that Raddle did not compile.  From the modules of a program and their
 * instrumented files, it makes a list for messages, such as "libchan.so", "spin.o", "assembler in
 * lock".  Each name is listed once.
 *
 * Libraries that are known not to order threads by themselves are left out.  They order threads
 * only through libc, whose functions are interposed, or they work on data of one thread.  An
 * unknown library is listed even if it has no atomic instructions, because on x86-64 a plain store
 * is also a release.  All members of archives are listed, because the link line does not show
 * which of them are linked.
 */
#include "bitcode/foreign-int.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "bitcode/elf.h"
#include "bitcode/flavour.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 5 }; /* largest number of names in a message; set by hand */

/* File names of known libraries, up to the ".so" or the version. */
static const char *const known[] = {
	"ld-linux-x86-64", "libc",	  "libm",
	"libpthread",	   "librt",	  "libdl",
	"libutil",	   "libresolv",	  "libcrypt",
	"libgcc_s",	   "libstdc++",	  "libz",
	"libbz2",	   "liblzma",	  "libzstd",
	"liblz4",	   "libevent",	  "libuv",
	"libtinfo",	   "libncurses",  "libncursesw",
	"libreadline",	   "libpcre",	  "libpcre2",
	"libjemalloc",	   "libtcmalloc", "libtcmalloc_minimal",
	"libmimalloc",	   "libxxhash",	  "libasan",
	"libubsan",	   "linux-vdso",
};

struct foreign_names {
	struct rd_names names; /* the names in the list, each once */
	struct rd_argv *out;
};

/* Returns true for libomp, unless the user has disabled its reports.  libomp reports its actions
 * to the runtime (rt/core/library/ompt.c). */
static bool is_known_openmp(const char *name)
{
	const char *tool = getenv("OMP_TOOL");

	return !strncmp(name, "libomp.so", 9) && !(tool && !strcmp(tool, "disabled"));
}

bool bitcode_foreign_is_known(const char *name)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		size_t n = strlen(known[i]);

		/* Examples: libevent-2.1.so.7, libevent_core-2.1.so.7, libpcre2-8.so.0. */
		if (!strncmp(name, known[i], n) && (name[n] == '.' || name[n] == '-'))
			return true;
	}
	return !strncmp(name, "libevent_", 9) || is_known_openmp(name);
}

static void add(struct foreign_names *l, const char *name, size_t length)
{
	uint32_t number;

	if (rd_names_find(&l->names, name, length, &number))
		return;
	rd_names_put(&l->names, name, length);
	rd_argv_addf(l->out, "%.*s", (int)length, name);
}

static void add_file(struct foreign_names *l, const char *path)
{
	const char *slash = strrchr(path, '/');

	add(l, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
}

/* Adds an input without bitcode.  Shared libraries are skipped here, because they are found as
 * libraries that the file needs. */
static void add_item(struct foreign_names *l, const struct bitcode_item *item)
{
	switch (item->kind) {
	case BITCODE_ITEM_NATIVE:
	case BITCODE_ITEM_PARTIAL:
	case BITCODE_ITEM_MEMBER: add_file(l, item->text); break;
	case BITCODE_ITEM_INPUT:
		if (!strstr(item->text, ".so"))
			add_file(l, item->text);
		break;
	default: break;
	}
}

static void add_module(struct foreign_names *l, const struct bitcode_program *p)
{
	for (size_t i = 0; i < p->native_count; i++) {
		const struct bitcode_native *n = &p->natives[i];
		const char *slash = memrchr(n->name, '/', n->name_length);
		size_t skip = slash ? (size_t)(slash + 1 - n->name) : 0;

		add(l, n->name + skip, n->name_length - skip);
	}
	for (size_t i = 0; i < p->line.count; i++)
		add_item(l, &p->line.items[i]);
}

/* Adds the names in the section about assembler.  The section is a sequence of NUL-terminated
 * texts, which instr/foreign.c writes. */
static void add_assembler(struct foreign_names *l, const char *path)
{
	struct bitcode_elf e;
	struct bitcode_elf_section s = {0};
	struct rd_map map;

	if (rd_map_open(&map, path))
		return;
	if (bitcode_elf_parse(&e, map.data, map.length))
		while (bitcode_elf_find(&e, BITCODE_ASSEMBLER_SECTION, s.index, &s))
			for (uint64_t at = 0; s.data && at < s.size;) {
				size_t n = strnlen((const char *)s.data + at, s.size - at);

				if (n)
					add(l, (const char *)s.data + at, n);
				at += n + 1;
			}
	rd_map_close(&map);
}

void bitcode_foreign_list(const struct bitcode_modules *all, const struct rd_argv *flavoured,
			  struct rd_argv *out)
{
	struct foreign_names l = {.names = RD_NAMES_INIT, .out = out};

	for (size_t i = 0; i < all->libraries.natives.count; i++)
		if (!bitcode_foreign_is_known(all->libraries.natives.items[i]))
			add_file(&l, all->libraries.natives.items[i]);
	for (size_t i = 0; i < all->count; i++)
		add_module(&l, all->items[i].program);
	for (size_t i = 0; i < flavoured->count; i++)
		add_assembler(&l, flavoured->items[i]);
	rd_names_release(&l.names);
}

static bool is_named(const struct rd_argv *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], name))
			return true;
	return false;
}

/* Returns true if a file belongs to the flavour.  Such files are in the directory of the
 * executable. */
static bool is_flavoured(const struct rd_flavour *f, const char *path)
{
	return !strncmp(path, f->executable, (size_t)(rd_base_name(f->executable) - f->executable));
}

void rd_flavour_loaded(struct rd_flavour *f, const char *path)
{
	const char *name = rd_base_name(path);
	struct bitcode_program p;

	if (bitcode_foreign_is_known(name) || is_flavoured(f, path) || is_named(&f->foreign, name))
		return;
	rd_argv_add(&f->foreign, name);
	if (bitcode_program_probe(&p, path)) {
		rd_warn("%s was loaded without instrumentation, although it carries bitcode; name it with "
			"--plugins",
			path);
		bitcode_program_close(&p);
	}
}

char *rd_flavour_foreign(const struct rd_flavour *f)
{
	struct rd_buf text = RD_BUF_INIT;

	for (size_t i = 0; i < f->foreign.count && i < SHOWN; i++)
		rd_buf_addf(&text, "%s%s", i ? ", " : "", f->foreign.items[i]);
	if (f->foreign.count > SHOWN)
		rd_buf_addf(&text, " and %zu more", f->foreign.count - SHOWN);
	if (f->loads_more)
		rd_buf_addf(&text, "%swhat dlopen() loads", text.length ? ", " : "");
	if (text.length)
		return rd_buf_detach(&text);
	rd_buf_release(&text);
	return NULL;
}
