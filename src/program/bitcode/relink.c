// SPDX-License-Identifier: Apache-2.0
/*
 * Links a program again, by its link line.  The command is like the original one, except:
 *
 * - inputs with bitcode are left out; our objects take the place of the first of them, together
 *   with the native objects that are stored in the program;
 * - programs get libraddle-rt, and options that make its functions visible;
 * - options that strip, write other files or add another tool's runtime are left out, and $ORIGIN
 *   is the directory of the original program;
 * - a missing file is left out; if the link then fails, the message names the file;
 * - options that could choose a program to execute are ignored (bitcode/trust-int.h).
 *
 * Unoptimised code may refer to functions that exist nowhere, because the optimiser had removed all
 * calls of them.  If the original did not define such a name either, the name gets the address 0,
 * and the link is tried again.
 */
#include "bitcode/relink-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "bitcode/archive-int.h"
#include "bitcode/args.h"
#include "bitcode/text-int.h"
#include "bitcode/trust-int.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Both limits were set by hand.  Each attempt repairs one reason why a link fails, and takes
 * seconds.  MESSAGE_LIMIT is the number of bytes of the linker's messages to show, which fit on a
 * screen. */
enum { LINK_ATTEMPTS = 32, MESSAGE_LIMIT = 2000 };

struct linker {
	const struct bitcode_relink *r;
	struct rd_argv command;
	struct rd_buf missing; /* the names of missing files */
	char *origin;	       /* the directory of the original program */
	/* The number of files made so far in `work`; their names contain it. */
	unsigned files;
	bool placed; /* true if our objects are already in the command */
	bool is_static, shared;
};

static bool has_origin(const char *s)
{
	return strstr(s, "$ORIGIN") || strstr(s, "${ORIGIN}");
}

bool bitcode_relink_uses_origin(const struct bitcode_line *line)
{
	for (size_t i = 0; i < line->count; i++)
		if (has_origin(line->items[i].text))
			return true;
	return false;
}

static void add_filled(struct linker *l, const char *s)
{
	char *filled = fill_origin(s, strlen(s), l->origin);

	rd_argv_add(&l->command, filled);
	free(filled);
}

static void add_for_linker(struct linker *l, const char *s)
{
	rd_argv_add(&l->command, "-Xlinker");
	add_filled(l, s);
}

/* ---------------------------------------------------------------- files --- */

static int add_bytes(struct linker *l, const char *format, const uint8_t *data, size_t length)
{
	char *path = rd_xasprintf("%s/%u.%s", l->r->work, l->files++, strrchr(format, '.') + 1), *argument;
	int err = rd_file_write(path, data, length);

	if (!err) {
		argument = rd_xasprintf("%.*s%s", (int)(strrchr(format, '.') - format), format, path);
		if (*argument == '-')
			rd_argv_add(&l->command, "-Xlinker");
		rd_argv_add(&l->command, argument);
		free(argument);
	}
	free(path);
	return err;
}

static int add_native(struct linker *l, const uint8_t *data, size_t length)
{
	return add_bytes(l, ".o", data, length);
}

/* Adds our objects and the native objects of the program.  Only the first call has an effect. */
static int place_objects(struct linker *l)
{
	const struct bitcode_program *p = l->r->program;
	int err = 0;

	if (l->placed)
		return 0;
	l->placed = true;
	rd_argv_add_all(&l->command, l->r->objects->items);
	for (size_t i = 0; i < p->native_count && !err; i++)
		err = add_native(l, p->natives[i].data, p->natives[i].length);
	return err;
}

static void note_missing(struct linker *l, const char *path)
{
	rd_buf_addf(&l->missing, "%s%s", l->missing.length ? ", " : "", path);
	if (l->r->verbose)
		rd_info("%s: %s is missing; trying without it", l->r->program->path, path);
}

/* Adds an input.  If a library was instrumented, it replaces the original, which may no longer
 * exist. */
static void add_input(struct linker *l, const char *path)
{
	const char *base = strrchr(path, '/');
	char *flavoured = NULL;

	if (l->r->linked_from)
		flavoured = rd_xasprintf("%s%s", l->r->linked_from, base ? base : path);
	if (flavoured && rd_file_exists(flavoured))
		rd_argv_add(&l->command, flavoured);
	else if (bitcode_trusted_path(path) && access(path, R_OK) == 0)
		rd_argv_add(&l->command, path);
	else
		note_missing(l, path);
	free(flavoured);
}

/* Puts members without bitcode into a new archive.  Their records follow the record of their
 * archive.  They must stay in an archive, because each is linked only if something needs it. */
static int add_members(struct linker *l, const struct bitcode_item *item, const struct bitcode_item *end)
{
	struct rd_buf archive = RD_BUF_INIT, ignored = RD_BUF_INIT;
	char *path = rd_xasprintf("%s/%u.a", l->r->work, l->files++);
	char *const index[] = {(char[]){"ar"}, (char[]){"s"}, path, NULL};
	bool some = false;
	int err = 0;

	bitcode_archive_begin(&archive);
	for (; item < end && item->kind == BITCODE_ITEM_MEMBER; item++) {
		bitcode_archive_add(&archive, item->text, item->data, item->length);
		some = true;
	}
	if (some)
		err = rd_file_write(path, archive.data, archive.length);
	if (some && !err && rd_run_capture(index, RD_TEXT_MAX, &ignored))
		err = rd_fail(RD_ETOOL, "ar s %s: %s", path, ignored.data);
	if (some && !err)
		rd_argv_add(&l->command, path);
	rd_buf_release(&archive);
	rd_buf_release(&ignored);
	free(path);
	return err;
}

/* Adds an archive.  If the archive is missing, that does no harm as long as all members that were
 * used had bitcode. */
static int add_archive(struct linker *l, const struct bitcode_item *item, const struct bitcode_item *end)
{
	int err = place_objects(l);

	if (!err)
		err = add_members(l, item + 1, end);
	if (err)
		return err;
	if (bitcode_trusted_path(item->text) && access(item->text, R_OK) == 0)
		rd_argv_add(&l->command, item->text);
	else
		note_missing(l, item->text);
	return 0;
}

/* -------------------------------------------------------------- options --- */

/* Removes from the list those sanitizers whose checks are added after the bitcode is taken.  Their
 * runtimes would conflict with ours about malloc and pthread_create. */
static char *other_sanitizers(const char *list)
{
	static const char *const ours[] = {"address",	"thread",   "memory",	      "leak",
					   "hwaddress", "dataflow", "kernel-address", NULL};
	struct rd_buf b = RD_BUF_INIT;

	while (*list) {
		size_t n = strcspn(list, ",");
		char *one = rd_xstrndup(list, n);

		if (!is_one_of(one, ours))
			rd_buf_addf(&b, "%s%s", b.length ? "," : "", one);
		free(one);
		list += n + (list[n] == ',');
	}
	return rd_buf_detach(&b);
}

/* Returns how many items to leave out, beginning with `item`, which is an option that may have a
 * value.  Returns 0 if the item is used. */
static size_t left_out(const struct bitcode_item *item)
{
	static const char *const single[] = {"-s",
					     "-v",
					     "--verbose",
					     "-c",
					     "--coverage",
					     "-coverage",
					     "-fprofile-arcs",
					     "-ftest-coverage",
					     "-ffat-lto-objects",
					     "-fwhole-program-vtables",
					     "-fsplit-lto-unit",
					     NULL};
	static const char *const with_value[] = {"-MF", "-MT", "-MQ", "-MJ", "-include", "-imacros", NULL};

	if (is_one_of(item->text, single) || starts(item->text, "-flto") ||
	    starts(item->text, "-save-temps") || starts(item->text, "--save-temps") ||
	    starts(item->text, "-Wp,"))
		return 1;
	if (is_one_of(item->text, with_value))
		return 2;
	return starts(item->text, "-M") ? 1 : 0;
}

static void add_argument(struct linker *l, const char *s)
{
	if (starts(s, "-fsanitize=")) {
		char *rest = other_sanitizers(s + strlen("-fsanitize="));

		if (*rest)
			rd_argv_addf(&l->command, "-fsanitize=%s", rest);
		free(rest);
	} else if (!strcmp(s, "-fuse-ld=gold")) {
		/* gold cannot export symbols by pattern, so lld is used, which accepts gold's
		 * options. */
		rd_argv_add(&l->command, "-fuse-ld=lld");
	} else {
		add_filled(l, s);
	}
}

static size_t linker_left_out(const struct bitcode_item *item, const struct bitcode_item *end)
{
	static const char *const single[] = {"s",
					     "S",
					     "x",
					     "X",
					     "strip-all",
					     "strip-debug",
					     "discard-all",
					     "discard-locals",
					     "M",
					     "print-map",
					     "cref",
					     "t",
					     "trace",
					     "stats",
					     "verbose",
					     "no-undefined",
					     "print-gc-sections",
					     NULL};
	static const char *const with_value[] = {"Map", "dependency-file", "reproduce", "out-implib", NULL};
	const char *name = without_dashes(item->text);
	bool more = item + 1 < end && item[1].kind == BITCODE_ITEM_LINKER;

	if (is_one_of(name, single) || starts(name, "Map=") || starts(name, "dependency-file=") ||
	    starts(name, "reproduce=") || starts(name, "no-allow-shlib-undefined") || !strcmp(name, "zdefs"))
		return 1;
	if (is_one_of(name, with_value))
		return more ? 2 : 1;
	if (!strcmp(item->text, "-z") && more && !strcmp(item[1].text, "defs"))
		return 2;
	return 0;
}

static int add_item(struct linker *l, const struct bitcode_item *item, const struct bitcode_item *end)
{
	char *format;
	int err;

	switch (item->kind) {
	case BITCODE_ITEM_ARGUMENT: add_argument(l, item->text); return 0;
	case BITCODE_ITEM_LINKER: add_for_linker(l, item->text); return 0;
	case BITCODE_ITEM_INPUT: add_input(l, item->text); return 0;
	case BITCODE_ITEM_COVERED: return place_objects(l);
	case BITCODE_ITEM_ARCHIVE: return add_archive(l, item, end);
	case BITCODE_ITEM_PARTIAL: /* supply() adds the object if a name is missing */
		return place_objects(l);
	case BITCODE_ITEM_NATIVE:
		if (l->r->verbose)
			rd_info("%s: %s has no bitcode; its accesses are not recorded", l->r->program->path,
				item->text);
		return add_native(l, item->data, item->length);
	case BITCODE_ITEM_FILE:
		if (!bitcode_trusted_file_option(item->text))
			return 0;
		format = rd_xasprintf("%s.txt", item->text);
		err = add_bytes(l, format, item->data, item->length);
		free(format);
		return err;
	/* A member, which was added with its archive, or a kind that only newer versions know. */
	default: return 0;
	}
}

/* Returns how many items to leave out, beginning with `item`.  They are left out because of
 * left_out() or because they are not trusted. */
static size_t left_out_here(struct linker *l, const struct bitcode_item *item, const struct bitcode_item *end)
{
	size_t skip = 0;

	if (item->kind == BITCODE_ITEM_ARGUMENT)
		skip = left_out(item);
	else if (item->kind == BITCODE_ITEM_LINKER)
		skip = linker_left_out(item, end);
	if (skip)
		return skip;
	skip = bitcode_distrusted(item, end);
	if (skip && l->r->verbose)
		rd_info("%s: its link line has %s, which is ignored", l->r->program->path, item->text);
	return skip;
}

static int add_items(struct linker *l)
{
	const struct bitcode_line *line = &l->r->program->line;
	const struct bitcode_item *end = line->items + line->count;
	int err = 0;

	for (const struct bitcode_item *item = line->items; item < end && !err;) {
		size_t skip = left_out_here(l, item, end);
		bool value = item->kind == BITCODE_ITEM_ARGUMENT && bitcode_args_takes_value(item->text);

		if (!skip)
			err = add_item(l, item++, end);
		if (!skip && value && item < end && item->kind == BITCODE_ITEM_ARGUMENT && !err)
			err = add_item(l, item++, end);
		item += skip;
	}
	return err ? err : place_objects(l);
}

/* -------------------------------------------------------------- runtime --- */

/* Adds `--wrap` for each function that a member of the static runtime interposes.  The member
 * defines the function as __wrap_FUNCTION. */
static void add_wraps(struct linker *l, const struct bitcode_member *m, bool memory)
{
	struct bitcode_elf_symbols symbols;
	struct bitcode_elf_symbol s;
	struct bitcode_program object = {0};

	if (!bitcode_elf_parse(&object.elf, m->data, m->length))
		return;
	if (!memory && bitcode_program_defines(&object, "__wrap_malloc"))
		return;
	if (!bitcode_elf_symbols(&object.elf, SHT_SYMTAB, &symbols))
		return;
	while (bitcode_elf_symbol_next(&symbols, &s))
		if (s.section != SHN_UNDEF && starts(s.name, "__wrap_")) {
			rd_argv_add(&l->command, "-Xlinker");
			rd_argv_addf(&l->command, "--wrap=%s", s.name + strlen("__wrap_"));
		}
}

static int add_static_runtime(struct linker *l, const char *path, bool memory)
{
	struct bitcode_archive archive;
	struct bitcode_member *m;
	struct rd_map map;
	int err = rd_map_open(&map, path);

	if (err)
		return err;
	m = rd_xmalloc(sizeof *m);
	if (bitcode_archive_parse(&archive, map.data, map.length))
		while (bitcode_archive_next(&archive, m))
			add_wraps(l, m, memory);
	free(m);
	rd_map_close(&map);
	return 0;
}

static int add_runtime(struct linker *l)
{
	static const char *const groups[] = {"sync", "process", "memory"};
	bool memory = !bitcode_program_defines(l->r->program, "malloc");
	char *path;
	int err;

	/* Every static program contains a malloc().  If it also contains __libc_malloc, the
	 * malloc() is that of libc.a. */
	if (l->is_static)
		memory |= bitcode_program_defines(l->r->program, "__libc_malloc");
	if (!memory && l->r->verbose)
		rd_info("%s: defines malloc itself; allocations are not recorded", l->r->program->path);
	err = rd_support_file(l->is_static ? l->r->static_runtime : l->r->runtime, &path);
	if (!err && l->is_static)
		err = add_static_runtime(l, path, memory);
	if (!err) /* the object of the runtime that must come first (rt/core/memory/redzone.c) */
		add_for_linker(l, "--undefined=__raddle_away");
	for (size_t i = 0; i < (memory ? 3 : 2) && !err; i++) {
		rd_argv_add(&l->command, "-Xlinker");
		rd_argv_addf(&l->command, "--undefined=__raddle_interpose_%s", groups[i]);
	}
	if (!err) {
		if (!l->is_static)
			add_for_linker(l, "--export-dynamic-symbol=__raddle_*");
		rd_argv_add(&l->command, path);
		free(path);
	}
	return err;
}

/* -------------------------------------------------------------- running --- */

static void read_kind(struct linker *l)
{
	const struct bitcode_line *line = &l->r->program->line;

	for (size_t i = 0; i < line->count; i++) {
		const char *s = line->items[i].text;

		if (line->items[i].kind == BITCODE_ITEM_ARGUMENT) {
			l->is_static |=
				!strcmp(s, "-static") || !strcmp(s, "-static-pie") || !strcmp(s, "--static");
			l->shared |= !strcmp(s, "-shared") || !strcmp(s, "--shared");
		} else if (line->items[i].kind == BITCODE_ITEM_LINKER) {
			l->shared |= !strcmp(s, "-shared") || !strcmp(s, "-Bshareable");
		}
	}
}

static int build_command(struct linker *l)
{
	int err;

	rd_argv_add(&l->command, bitcode_trusted_driver(l->r->program->line.driver));
	rd_argv_add(&l->command, "-Qunused-arguments");
	add_for_linker(l, "--no-demangle");
	rd_argv_add(&l->command, "-o");
	rd_argv_add(&l->command, l->r->output);
	if (l->r->found_in) {
		/* Requests the old tag, DT_RPATH.  The loader searches it before LD_LIBRARY_PATH,
		 * and also uses it for libraries that other libraries need. */
		add_for_linker(l, "--disable-new-dtags");
		add_for_linker(l, "-rpath");
		add_for_linker(l, l->r->found_in);
	}
	if (l->r->linked_from)
		rd_argv_addf(&l->command, "-L%s", l->r->linked_from);
	if (l->r->soname) {
		add_for_linker(l, "-soname");
		add_for_linker(l, l->r->soname);
	}
	err = add_items(l);
	if (!err && !l->shared)
		err = add_runtime(l);
	return err;
}

/* Runs the command in the directory of the original link, if it still exists. */
static int run_command(struct linker *l, struct rd_buf *output)
{
	const char *directory = l->r->program->line.directory;
	char *log = rd_xasprintf("%s/link.log", l->r->work);
	int fd = open(log, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), status;
	pid_t pid;

	rd_buf_clear(output);
	if (fd < 0) {
		status = rd_fail_errno("cannot create %s", log);
	} else {
		status = rd_spawn(l->command.items, access(directory, X_OK) ? l->r->work : directory, fd,
				  &pid);
		if (!status)
			status = rd_wait(pid);
		close(fd);
		if (status > 0 && rd_file_read(log, output))
			status = RD_ESYSTEM;
	}
	free(log);
	return status;
}

/* Finds the next undefined name in the messages of ld.bfd or lld.  The caller frees it. */
static char *next_undefined(const char **text)
{
	static const char *const phrases[] = {"undefined reference to `",
					      "undefined symbol: ", "undefined reference to '"};
	const char *best = NULL, *end;
	char *name;

	for (size_t i = 0; i < 3; i++) {
		const char *at = strstr(*text, phrases[i]);

		if (at && (!best || at + strlen(phrases[i]) < best))
			best = at + strlen(phrases[i]);
	}
	if (!best)
		return NULL;
	end = best + strcspn(best, "'\n ");
	*text = end;
	name = rd_xstrndup(best, (size_t)(end - best));
	return name;
}

static bool object_defines(const struct bitcode_item *item, const char *name)
{
	struct bitcode_program object = {0};

	return bitcode_elf_parse(&object.elf, item->data, item->length) &&
	       bitcode_program_defines(&object, name);
}

/*
 * If an object that `ld -r` merged defines a missing name, the object contains code without
 * bitcode, so it is added to the link.  For names that our objects define as well, our objects
 * win, because they come first.
 */
static bool supply(struct linker *l, const char *name)
{
	const struct bitcode_line *line = &l->r->program->line;

	for (size_t i = 0; i < line->count; i++) {
		const struct bitcode_item *item = &line->items[i];

		if (item->kind != BITCODE_ITEM_PARTIAL || !object_defines(item, name))
			continue;
		if (l->r->verbose)
			rd_info("%s: a part of %s has no bitcode; its accesses are not recorded",
				l->r->program->path, item->text);
		add_for_linker(l, "--allow-multiple-definition");
		return !add_native(l, item->data, item->length);
	}
	return false;
}

/* Defines a name as 0 if the original program did not define it either.  Such a name is never
 * called. */
static bool define_absent(struct linker *l, const char *name)
{
	if (starts(name, "__raddle_") || bitcode_program_defines(l->r->program, name))
		return false;
	rd_argv_add(&l->command, "-Xlinker");
	rd_argv_addf(&l->command, "--defsym=%s=0", name);
	return true;
}

/* Handles the undefined names in a linker's messages.  Returns false if one of them cannot be
 * handled.  One merged object may supply several names, so the link is tried again after each
 * object. */
static bool provide(struct linker *l, const char *output)
{
	bool some = false;
	char *name;

	while ((name = next_undefined(&output)) != NULL) {
		bool supplied = supply(l, name), done = supplied || define_absent(l, name);

		free(name);
		if (supplied || !done)
			return done;
		some = true;
	}
	return some;
}

static int report(const struct linker *l, struct rd_buf *output)
{
	if (output->length > MESSAGE_LIMIT) {
		output->length = MESSAGE_LIMIT;
		output->data[MESSAGE_LIMIT] = '\0';
	}
	if (l->missing.length)
		return rd_fail(RD_ETOOL, "%s: cannot be linked again; these files are missing: %s\n%s",
			       l->r->program->path, l->missing.data, output->data);
	return rd_fail(RD_ETOOL, "%s: cannot be linked again:\n%s", l->r->program->path, output->data);
}

static int run_link(struct linker *l)
{
	struct rd_buf output = RD_BUF_INIT;
	int status = 1;

	for (int attempt = 0; attempt < LINK_ATTEMPTS && status > 0; attempt++) {
		status = run_command(l, &output);
		if (status > 0 && (l->missing.length || !provide(l, output.data)))
			break;
	}
	if (status > 0)
		status = report(l, &output);
	rd_buf_release(&output);
	return status;
}

int bitcode_relink(const struct bitcode_relink *r)
{
	RD_ASSERT(r->program != NULL && r->objects != NULL && r->work != NULL);
	struct linker l = {.r = r, .command = RD_ARGV_INIT, .missing = RD_BUF_INIT};
	const char *slash = strrchr(r->program->path, '/');
	int err;

	l.origin = rd_xstrndup(r->program->path, slash ? (size_t)(slash - r->program->path) : 0);
	read_kind(&l);
	err = build_command(&l);
	if (!err)
		err = run_link(&l);
	rd_argv_release(&l.command);
	rd_buf_release(&l.missing);
	free(l.origin);
	return err;
}
