// SPDX-License-Identifier: Apache-2.0
/*
 * Probes of programs and files: the compilers that Raddle runs, the linkers, Raddle's own files,
 * gdb.  The compilers and raddle-instr are not only looked up but also run, because a compiler
 * without headers or a program without its libraries is useless.
 */
#include "doctor/probe-int.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "base/scratch.h"
#include "raddle/flavour.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CLANG "clang-" RADDLE_LLVM
#define CLANGXX "clang++-" RADDLE_LLVM

static bool in_path(const char *program)
{
	char *found = rd_find_program(program);

	free(found);
	return found != NULL;
}

/* Runs `program` with up to two arguments.  Returns its exit status, or -1 if it does not start. */
static int run(struct rd_buf *output, const char *program, const char *a, const char *b)
{
	struct rd_argv argv = RD_ARGV_INIT;
	int status;

	rd_argv_add(&argv, program);
	if (a)
		rd_argv_add(&argv, a);
	if (b)
		rd_argv_add(&argv, b);
	status = in_path(program) ? rd_run_capture(argv.items, RD_TEXT_MAX, output) : -1;
	rd_argv_release(&argv);
	return status;
}

/* Returns the version in the output of a compiler: "19.1.7" in "Debian clang version 19.1.7
 * (3~deb12u1)\n...". */
static char *version_in(const char *text)
{
	RD_ASSERT(text != NULL);
	const char *p = strstr(text, "version ");
	size_t n;

	if (!p)
		return rd_xstrdup("of unknown version");
	p += strlen("version ");
	n = strspn(p, "0123456789.");
	return rd_xstrndup(p, n);
}

/* Compiles and links a threaded program in a directory that is then removed. */
static bool can_build(const char *compiler, const char *name, const char *text)
{
	struct rd_buf output = RD_BUF_INIT;
	char *directory, *source, *flag;
	bool built;

	if (rd_scratch_open(&directory, NULL, "raddle-doctor"))
		return false;
	source = rd_xasprintf("%s/%s", directory, name);
	flag = rd_xasprintf("-o%s/program", directory);
	built = rd_file_write(source, text, strlen(text)) == 0 && run(&output, compiler, source, flag) == 0;
	rd_scratch_close(directory);
	rd_buf_release(&output);
	free(source);
	free(flag);
	return built;
}

void doctor_compiler(struct doctor_item *item)
{
	static const char program[] = "#include <pthread.h>\n#include <stdio.h>\n"
				      "int main(void) { puts(\"\"); return pthread_self() == 0; }\n";
	struct rd_buf output = RD_BUF_INIT;
	char *version;

	if (run(&output, CLANG, "--version", NULL) != 0) {
		item->found = rd_xstrdup("no " CLANG " in PATH");
		doctor_conclude(item, DOCTOR_MISSING,
				"raddle cc compiles with it; other versions of LLVM do not work.",
				"apt-get install " CLANG);
	} else {
		version = version_in(output.data);
		item->found = rd_xasprintf(CLANG " %s; no other version of LLVM is used", version);
		free(version);
		if (!can_build(CLANG, "try.c", program))
			doctor_conclude(
				item, DOCTOR_MISSING,
				"It cannot build a small threaded program: headers or a linker are missing.",
				"apt-get install libc6-dev binutils");
	}
	rd_buf_release(&output);
}

void doctor_cxx(struct doctor_item *item)
{
	static const char program[] = "#include <thread>\nint main() { std::thread t([] {}); t.join(); }\n";

	if (can_build(CLANGXX, "try.cc", program)) {
		item->found = rd_xstrdup(CLANGXX " builds std::thread programs");
		return;
	}
	item->found = rd_xstrdup(CLANGXX " cannot build C++ programs");
	doctor_conclude(item, DOCTOR_MISSING, "raddle c++ needs the C++ headers and library.",
			"apt-get install libstdc++-12-dev");
}

void doctor_linkers(struct doctor_item *item)
{
	static const struct {
		const char *name, *program;
	} linkers[] = {{"bfd", "ld.bfd"}, {"gold", "ld.gold"}, {"lld", "ld.lld"}, {"mold", "ld.mold"}};
	struct rd_buf found = RD_BUF_INIT;

	for (size_t i = 0; i < sizeof linkers / sizeof linkers[0]; i++)
		if (in_path(linkers[i].program))
			rd_buf_addf(&found, "%s%s", found.length ? ", " : "", linkers[i].name);
	if (!found.length) {
		rd_buf_adds(&found, "none");
		doctor_conclude(item, DOCTOR_MISSING, "Nothing can be linked.", "apt-get install binutils");
	}
	item->found = rd_buf_detach(&found);
}

/* Tests raddle-instr.  If libLLVM cannot be loaded, the loader ends raddle-instr with status
 * 127. */
void doctor_instrumenter(struct doctor_item *item)
{
	struct rd_buf output = RD_BUF_INIT;
	char *path;
	int status;

	if (rd_support_file("raddle-instr", &path)) {
		item->found = rd_xstrdup("not found");
		doctor_conclude(item, DOCTOR_MISSING, "raddle record cannot instrument programs.",
				"Install Raddle again, or run make in its source tree.");
		return;
	}
	status = run(&output, path, "--help", NULL);
	item->found = rd_xasprintf("%s", path);
	if (status)
		doctor_conclude(item, DOCTOR_MISSING,
				"It does not start, probably because libLLVM is missing.",
				"apt-get install libllvm" RADDLE_LLVM);
	rd_buf_release(&output);
	free(path);
}

static void look_for(const char *name, struct rd_buf *missing)
{
	char *path;

	if (rd_support_file(name, &path))
		rd_buf_addf(missing, "%s%s", missing->length ? ", " : "no ", name);
	else
		free(path);
}

void doctor_support_files(struct doctor_item *item)
{
	struct rd_buf missing = RD_BUF_INIT;

	for (int i = 0; i < RADDLE_FLAVOURS; i++) {
		const struct raddle_flavour *f = raddle_flavour((enum raddle_flavour_number)i);

		look_for(f->hooks, &missing);
		look_for(f->runtime, &missing);
		look_for(f->static_runtime, &missing);
	}
	if (missing.length)
		doctor_conclude(item, DOCTOR_MISSING, "Recorded programs are linked with these files.",
				"Install Raddle again, or run make in its source tree.");
	else
		rd_buf_adds(&missing, "for dynamic and static programs");
	item->found = rd_buf_detach(&missing);
}

void doctor_gdb(struct doctor_item *item)
{
	if (in_path("gdb")) {
		item->found = rd_xstrdup("gdb in PATH");
		return;
	}
	item->found = rd_xstrdup("no gdb in PATH");
	doctor_conclude(item, DOCTOR_MISSING, "Findings will not open in a debugger.", "apt-get install gdb");
}
