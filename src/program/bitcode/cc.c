// SPDX-License-Identifier: Apache-2.0
/*
 * The compiler wrapper.  Clang runs once with the user's command line, and the wrapper completes
 * its result:
 *
 *   nothing to embed    exec clang
 *   -S, -c              clang with -fembed-bitcode, then rename the sections; an
 *                       assembler file's object gets a copy of itself instead
 *   link                clang with an additional object that contains the link line;
 *                       then rename, if sources were compiled on the way
 *
 * Our options come before the user's, so "--" and -x do not affect them, and the user's options
 * win.  A few user options are withheld (bitcode_args_keep).  Diagnostics are the same as clang's:
 * we add options only where something is compiled, so clang never warns that one is unused.
 *
 * The link object and shortened response files are memory files that clang and the linker open
 * through /proc, so a killed build leaves no files.
 */
#include "bitcode/cc.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/scratch.h"
#include "bitcode/args.h"
#include "bitcode/line.h"
#include "bitcode/patch-int.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Files that clang and the linker read while they run. */
struct input_files {
	struct rd_argv temporary; /* paths of files on disk that are removed at the end */
};

/* Makes a memory file, which disappears with this process.  If there is no /proc, makes a file on
 * disk instead.  The caller frees the path. */
static int make_file(struct input_files *f, const struct rd_buf *content, char **path)
{
	int fd = memfd_create("raddle", MFD_CLOEXEC);

	*path = rd_xasprintf("/proc/%ld/fd/%d", (long)getpid(), fd);
	if (fd < 0 || access(*path, R_OK)) {
		if (fd >= 0)
			close(fd);
		free(*path);
		*path = rd_xasprintf("%s/raddle-XXXXXX", rd_tmp_dir());
		fd = mkostemp(*path, O_CLOEXEC);
		if (fd >= 0)
			rd_argv_add(&f->temporary, *path);
	}
	if (fd >= 0 && !rd_write_all(fd, content->data, content->length))
		return 0;
	free(*path);
	return rd_fail_errno("cannot create a file for the link line");
}

static void remove_files(struct input_files *f)
{
	for (size_t i = 0; i < f->temporary.count; i++)
		unlink(f->temporary.items[i]);
	rd_argv_release(&f->temporary);
}

static void replace_process(const char *driver, int argc, char **argv)
{
	char **arguments = rd_xcalloc((size_t)argc + 2, sizeof *arguments);

	arguments[0] = (char *)driver;
	for (int i = 1; i < argc; i++)
		arguments[i] = argv[i];
	execvp(driver, arguments);
	rd_fail_errno("cannot run %s; install the package clang-" RADDLE_LLVM, driver);
	free(arguments);
}

static void add_embedding(struct rd_argv *out, const struct bitcode_args *args)
{
	if (!args->sources)
		return;
	rd_argv_add(out, "-Xclang");
	rd_argv_add(out, "-fembed-bitcode=all");
	if (!args->optimised) {
		/* Keeps clang from adding attributes that would prevent later optimisation.  The
		 * code is the same. */
		rd_argv_add(out, "-Xclang");
		rd_argv_add(out, "-disable-O0-optnone");
	}
	if (args->debug == BITCODE_DEBUG_FULL)
		return;
	/* With -save-temps the phases are separate, and the checksums of DWARF 5 would then cause
	 * an assembler warning. */
	rd_argv_add(out, args->save_temps ? "-gdwarf-4" : "-g");
}

/* Appends `s`, quoted for a response file. */
static void add_quoted(struct rd_buf *b, const char *s)
{
	rd_buf_addc(b, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			rd_buf_addc(b, '\\');
		rd_buf_addc(b, *s);
	}
	rd_buf_adds(b, "\"\n");
}

/* Adds the user's arguments, except the withheld ones.  Arguments from an @file are again passed
 * in an @file, because they may be too long for a command line. */
static int add_kept(struct rd_argv *out, const struct bitcode_args *args, struct input_files *files)
{
	struct rd_buf response = RD_BUF_INIT;
	char *path;
	int err = 0;

	for (size_t i = 0; i < args->all.count; i++) {
		const char *s = args->all.items[i];

		if (!bitcode_args_keep(args, s))
			continue;
		if (args->expanded)
			add_quoted(&response, s);
		else
			rd_argv_add(out, s);
	}
	if (args->expanded) {
		err = make_file(files, &response, &path);
		if (!err) {
			rd_argv_addf(out, "@%s", path);
			free(path);
		}
	}
	rd_buf_release(&response);
	return err;
}

/* The data of one call of the wrapper.  The clang commands that it runs share this data. */
struct cc_run {
	const char *driver;
	const struct bitcode_args *args;
	char **argv; /* the arguments that the user gave */
	struct input_files files;
};

static int command(struct cc_run *r, struct rd_argv *out)
{
	rd_argv_add(out, r->driver);
	add_embedding(out, r->args);
	if (r->args->dropped)
		return add_kept(out, r->args, &r->files);
	rd_argv_add_all(out, r->argv + 1);
	return 0;
}

/* Returns the path at which clang puts the result for an input if there is no -o.  The caller
 * frees it. */
static char *default_output(const char *input, const char *suffix)
{
	const char *base = strrchr(input, '/'), *dot;

	base = base ? base + 1 : input;
	dot = strrchr(base, '.');
	return rd_xasprintf("%.*s%s", dot ? (int)(dot - base) : (int)strlen(base), base, suffix);
}

static int complete_object(const struct bitcode_args *args, const struct bitcode_input *in, const char *path)
{
	if (args->phase == BITCODE_ASSEMBLY)
		return in->kind == BITCODE_SOURCE ? bitcode_patch_assembly(path) : 0;
	if (in->kind == BITCODE_SOURCE)
		return bitcode_patch_names(path, args->debug == BITCODE_DEBUG_OFF);
	if (in->kind == BITCODE_ASSEMBLER) {
		int err = bitcode_patch_names(path, false);

		return err ? err : bitcode_patch_native(path);
	}
	return 0;
}

static int complete_objects(const struct bitcode_args *args)
{
	for (size_t i = 0; i < args->input_count; i++) {
		const struct bitcode_input *in = &args->inputs[i];
		const char *suffix = args->phase == BITCODE_ASSEMBLY ? ".s" : ".o";
		char *path = args->output ? rd_xstrdup(args->output) : default_output(in->path, suffix);
		int err = strcmp(path, "-") ? complete_object(args, in, path) : 0;

		free(path);
		if (err)
			return 1;
	}
	return 0;
}

static int compile(struct cc_run *r)
{
	struct rd_argv arguments = RD_ARGV_INIT;
	int status = command(r, &arguments);

	if (!status)
		status = rd_run(arguments.items);
	rd_argv_release(&arguments);
	if (status)
		return status < 0 ? 1 : status;
	return complete_objects(r->args);
}

/* Assembles one source of a link into `object`.  Prints no errors, because the link assembles the
 * source again and reports them. */
static bool assemble(const char *driver, const struct bitcode_args *args, size_t input, const char *object)
{
	struct rd_argv arguments = RD_ARGV_INIT;
	struct rd_buf ignored = RD_BUF_INIT;
	size_t next = 0;
	int status;

	rd_argv_add(&arguments, driver);
	rd_argv_add(&arguments, "-Qunused-arguments");
	for (size_t i = 0; i < args->all.count; i++) {
		const char *s = args->all.items[i];

		if (next < args->input_count && args->inputs[next].argument == i) {
			if (next++ == input)
				rd_argv_add(&arguments, s);
		} else if (!strcmp(s, "-o") || !strcmp(s, "-MF") || !strcmp(s, "-MT") || !strcmp(s, "-MQ")) {
			i++;
		} else if (s + 2 != args->output && strncmp(s, "-M", 2)) {
			rd_argv_add(&arguments, s);
		}
	}
	rd_argv_add(&arguments, "-c");
	rd_argv_add(&arguments, "-o");
	rd_argv_add(&arguments, object);
	status = rd_run_capture(arguments.items, RD_FILE_MAX, &ignored);
	rd_argv_release(&arguments);
	rd_buf_release(&ignored);
	return status == 0;
}

/* Assembles the assembler sources among the inputs into a new directory.  Returns the paths of the
 * objects. */
static char **assemble_all(const char *driver, const struct bitcode_args *args, char **directory)
{
	char **objects = rd_xcalloc(args->input_count + 1, sizeof *objects);

	*directory = NULL;
	if (!args->assemblers || rd_scratch_open(directory, NULL, "raddle"))
		return objects;
	for (size_t i = 0; i < args->input_count; i++) {
		char *path;

		if (args->inputs[i].kind != BITCODE_ASSEMBLER)
			continue;
		path = rd_xasprintf("%s/%zu.o", *directory, i);
		if (assemble(driver, args, i, path))
			objects[i] = path;
		else
			free(path);
	}
	return objects;
}

static void remove_objects(const struct bitcode_args *args, char **objects, char *directory)
{
	RD_FREE_EACH(objects, args->input_count);
	free(objects);
	rd_scratch_close(directory);
}

/* Adds the object with the link line to the command.  If the user gave a linker script, the object
 * has no note, because a loaded note would be misplaced. */
static int add_line(struct cc_run *r, struct rd_argv *arguments)
{
	struct rd_buf line = RD_BUF_INIT, object = RD_BUF_INIT;
	char *directory, *path;
	char **objects = assemble_all(r->driver, r->args, &directory);
	bool script = bitcode_line_write(&line, r->args, r->driver, objects);
	int err;

	remove_objects(r->args, objects, directory);
	bitcode_link_object(&object, &line, !script);
	err = make_file(&r->files, &object, &path);
	if (!err) {
		rd_argv_add(arguments, "-Xlinker");
		rd_argv_add(arguments, path);
		free(path);
	}
	rd_buf_release(&line);
	rd_buf_release(&object);
	return err;
}

static int link_program(struct cc_run *r)
{
	struct rd_argv arguments = RD_ARGV_INIT, all = RD_ARGV_INIT;
	int status = command(r, &arguments);

	/* The link object comes first, so that no "--" precedes it. */
	rd_argv_add(&all, r->driver);
	if (!status && r->args->phase == BITCODE_LINK)
		status = add_line(r, &all);
	rd_argv_add_all(&all, arguments.items + 1);
	if (!status)
		status = rd_run(all.items);
	rd_argv_release(&arguments);
	rd_argv_release(&all);
	if (status)
		return status < 0 ? 1 : status;
	return bitcode_patch_names(r->args->output ? r->args->output : "a.out", false) ? 1 : 0;
}

int bitcode_cc(const char *driver, int argc, char **argv)
{
	RD_ASSERT(driver != NULL && argc >= 0);
	struct bitcode_args args;
	struct cc_run r = {.driver = driver, .args = &args, .argv = argv, .files = {RD_ARGV_INIT}};
	int status;

	bitcode_args_parse(&args, argc, argv);
	if (args.phase == BITCODE_PASS) {
		replace_process(driver, argc, argv);
		status = 1;
	} else if (args.phase == BITCODE_ASSEMBLY || args.phase == BITCODE_COMPILE) {
		status = compile(&r);
	} else {
		status = link_program(&r);
	}
	remove_files(&r.files);
	bitcode_args_release(&args);
	return status;
}
