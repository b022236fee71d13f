// SPDX-License-Identifier: Apache-2.0
/*
 * Tables of the options that are accepted in a link line.  They are known to be harmless, and
 * build systems use them.  All other options are left out.  Options that matter only for
 * compilation, such as warnings and definitions, are accepted by prefix, because a link ignores
 * them.
 */
#include "bitcode/trust-int.h"

#include "base/error.h"
#include "bitcode/args.h"
#include "bitcode/text-int.h"

#include <string.h>

const char *bitcode_trusted_driver(const char *driver)
{
	return strstr(driver, "++") ? "clang++-" RADDLE_LLVM : "clang-" RADDLE_LLVM;
}

bool bitcode_trusted_path(const char *path)
{
	return path[0] == '/';
}

static bool has_prefix(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (starts(s, *list))
			return true;
	return false;
}

/* Returns true if an option is harmful although it begins like a harmless one. */
static bool is_harmful_argument(const char *s)
{
	static const char *const prefixes[] = {"-fplugin",
					       "-fpass-plugin",
					       "-fcrash-diagnostics",
					       "-fmodule",
					       "-fprebuilt",
					       "-fbuild-session",
					       "-ftime-trace",
					       "-fproc-stat",
					       "-fsave-optimization-record",
					       "-foptimization-record",
					       "-fdiagnostics-log",
					       "-fopenmp-cuda",
					       "-foffload",
					       "-mllvm",
					       "-mlinker-version",
					       "-gcc-",
					       "-Wl,",
					       "-Wa,",
					       "-Wp,",
					       NULL};
	static const char *const linkers[] = {"-fuse-ld=bfd",  "-fuse-ld=gold", "-fuse-ld=lld",
					      "-fuse-ld=mold", "-fuse-ld=ld",	NULL};

	return has_prefix(s, prefixes) || (starts(s, "-fuse-ld") && !is_one_of(s, linkers));
}

static bool is_known_argument(const char *s)
{
	static const char *const prefixes[] = {
		"-l",	       "-L",	       "-O", "-g",	  "-m",	      "-f",	 "-W",
		"-D",	       "-U",	       "-I", "-std=",	  "-stdlib",  "-rtlib=", "--rtlib=",
		"-unwindlib=", "--unwindlib=", "-T", "--target=", "-isystem", "-iquote", "-idirafter",
		"-nostdinc",   "-pedantic",    "-M", NULL};
	static const char *const whole[] = {"-pthread",
					    "-pthreads",
					    "-static",
					    "--static",
					    "-static-pie",
					    "-static-libgcc",
					    "-static-libstdc++",
					    "-static-openmp",
					    "-static-libsan",
					    "-shared",
					    "--shared",
					    "-shared-libgcc",
					    "-shared-libsan",
					    "-pie",
					    "--pie",
					    "-no-pie",
					    "-nopie",
					    "--no-pie",
					    "-rdynamic",
					    "-nostdlib",
					    "-nostdlib++",
					    "-nodefaultlibs",
					    "-nostartfiles",
					    "-nolibc",
					    "-r",
					    "-s",
					    "-S",
					    "-x",
					    "-u",
					    "-z",
					    "-e",
					    "-p",
					    "-pg",
					    "-w",
					    "-v",
					    "-c",
					    "-ansi",
					    "-target",
					    "-arch",
					    "-pipe",
					    "-include",
					    "-imacros",
					    "-undef",
					    "-P",
					    "-C",
					    "-H",
					    "-Q",
					    "-Qunused-arguments",
					    "-t",
					    "--coverage",
					    "-coverage",
					    "-traditional",
					    "-trigraphs",
					    "-ObjC",
					    "-Z",
					    NULL};

	return is_one_of(s, whole) || has_prefix(s, prefixes);
}

/* Options of the linkers, without their dashes. */
static const char *const linker_single[] = {"as-needed",
					    "no-as-needed",
					    "gc-sections",
					    "no-gc-sections",
					    "export-dynamic",
					    "no-export-dynamic",
					    "E",
					    "Bsymbolic",
					    "Bsymbolic-functions",
					    "Bsymbolic-non-weak-functions",
					    "Bno-symbolic",
					    "Bstatic",
					    "Bdynamic",
					    "dn",
					    "dy",
					    "non_shared",
					    "call_shared",
					    "static",
					    "shared",
					    "Bshareable",
					    "pie",
					    "no-pie",
					    "pic-executable",
					    "start-group",
					    "end-group",
					    "(",
					    ")",
					    "start-lib",
					    "end-lib",
					    "whole-archive",
					    "no-whole-archive",
					    "push-state",
					    "pop-state",
					    "build-id",
					    "eh-frame-hdr",
					    "no-eh-frame-hdr",
					    "no-undefined",
					    "no-undefined-version",
					    "undefined-version",
					    "allow-shlib-undefined",
					    "no-allow-shlib-undefined",
					    "allow-multiple-definition",
					    "enable-new-dtags",
					    "disable-new-dtags",
					    "copy-dt-needed-entries",
					    "no-copy-dt-needed-entries",
					    "add-needed",
					    "no-add-needed",
					    "fatal-warnings",
					    "no-fatal-warnings",
					    "warn-common",
					    "warn-once",
					    "warn-unresolved-symbols",
					    "no-warnings",
					    "w",
					    "warn-shared-textrel",
					    "warn-execstack",
					    "no-warn-execstack",
					    "no-warn-rwx-segments",
					    "no-warn-mismatch",
					    "no-warn-search-mismatch",
					    "no-warn-backrefs",
					    "warn-backrefs",
					    "error-unresolved-symbols",
					    "demangle",
					    "no-demangle",
					    "color-diagnostics",
					    "relax",
					    "no-relax",
					    "emit-relocs",
					    "q",
					    "relocatable",
					    "r",
					    "i",
					    "n",
					    "N",
					    "nmagic",
					    "omagic",
					    "no-nmagic",
					    "no-omagic",
					    "no-dynamic-linker",
					    "nostdlib",
					    "sort-common",
					    "no-keep-memory",
					    "reduce-memory-overheads",
					    "no-mmap-output-file",
					    "threads",
					    "no-threads",
					    "thread",
					    "no-rosegment",
					    "rosegment",
					    "execute-only",
					    "merge-exidx-entries",
					    "no-merge-exidx-entries",
					    "print-gc-sections",
					    "no-print-gc-sections",
					    "no-ld-generated-unwind-info",
					    "ld-generated-unwind-info",
					    "dynamic-list-data",
					    "dynamic-list-cpp-new",
					    "dynamic-list-cpp-typeinfo",
					    "strip-all",
					    "strip-debug",
					    "s",
					    "S",
					    "x",
					    "X",
					    "discard-all",
					    "discard-locals",
					    "discard-none",
					    "d",
					    "dc",
					    "dp",
					    "stats",
					    "verbose",
					    "t",
					    "trace",
					    "M",
					    "print-map",
					    "cref",
					    "no-define-common",
					    "define-common",
					    "check-sections",
					    "no-check-sections",
					    "apply-dynamic-relocs",
					    "no-apply-dynamic-relocs",
					    "fix-cortex-a53-843419",
					    "optimize-bb-jumps",
					    "no-optimize-bb-jumps",
					    "export-dynamic-symbols",
					    "zdefs",
					    "znow",
					    "zrelro",
					    "no-dynamic-linker",
					    NULL};

/* Options of the linkers whose value follows "=" or is the next item. */
static const char *const linker_valued[] = {"rpath",
					    "R",
					    "rpath-link",
					    "soname",
					    "h",
					    "z",
					    "e",
					    "entry",
					    "u",
					    "undefined",
					    "require-defined",
					    "m",
					    "dynamic-linker",
					    "I",
					    "init",
					    "fini",
					    "defsym",
					    "wrap",
					    "hash-style",
					    "exclude-libs",
					    "section-start",
					    "Ttext",
					    "Tdata",
					    "Tbss",
					    "Ttext-segment",
					    "Trodata-segment",
					    "Tldata-segment",
					    "image-base",
					    "sort-section",
					    "sort-common",
					    "build-id",
					    "icf",
					    "compress-debug-sections",
					    "unresolved-symbols",
					    "orphan-handling",
					    "pack-dyn-relocs",
					    "export-dynamic-symbol",
					    "version-exports-section",
					    "y",
					    "trace-symbol",
					    "L",
					    "library-path",
					    "l",
					    "library",
					    "O",
					    "threads",
					    "thread-count",
					    "auxiliary",
					    "f",
					    "filter",
					    "F",
					    "a",
					    "A",
					    "max-page-size",
					    "common-page-size",
					    "stack",
					    "split-stack-adjust-size",
					    "spare-dynamic-tags",
					    "no-threads",
					    "keep-unique",
					    "whole-archive-except",
					    "sysroot-relative",
					    "target2",
					    "format",
					    "b",
					    "oformat",
					    "Y",
					    "undefined-glob",
					    NULL};

/* Returns true if the option is `name` with its value in the same word, as in --soname=X, -znow and
 * -O1.  Of the single-letter options, only z and O are accepted in this form. lld also accepts long
 * options with a single dash, such as -load-pass-plugin and -error-handling-script.  They must not
 * be mistaken for -l or -e with a value, but no long option begins with z or O. */
static bool joins(const char *option, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(option, name, length) && option[length] &&
	       (option[length] == '=' || !strcmp(name, "z") || !strcmp(name, "O"));
}

static size_t distrusted_for_linker(const struct bitcode_item *item, const struct bitcode_item *end)
{
	bool value = item + 1 < end && item[1].kind == BITCODE_ITEM_LINKER && item[1].text[0] != '-';
	const char *name = without_dashes(item->text);

	/* A word that is not an option is the value of the option before it, or a file for the
	 * linker. */
	if (item->text[0] != '-' || is_one_of(name, linker_single) || is_one_of(name, linker_valued))
		return item->text[0] == '@';
	if (bitcode_file_option(name, strcspn(name, "=")))
		return 0;
	for (const char *const *o = linker_valued; *o; o++)
		if (joins(name, *o))
			return 0;
	return value ? 2 : 1;
}

size_t bitcode_distrusted(const struct bitcode_item *item, const struct bitcode_item *end)
{
	RD_ASSERT(item < end);
	bool value;

	if (item->kind == BITCODE_ITEM_LINKER)
		return distrusted_for_linker(item, end);
	if (item->kind != BITCODE_ITEM_ARGUMENT)
		return 0;
	value = bitcode_args_takes_value(item->text) && item + 1 < end &&
		item[1].kind == BITCODE_ITEM_ARGUMENT;
	if (is_known_argument(item->text) && !is_harmful_argument(item->text))
		return 0;
	return value ? 2 : 1;
}

const char *bitcode_file_option(const char *name, size_t length)
{
	static const char *const known[] = {"version-script",
					    "dynamic-list",
					    "script",
					    "T",
					    "default-script",
					    "retain-symbols-file",
					    "symbol-ordering-file",
					    "export-dynamic-symbol-list",
					    NULL};

	for (const char *const *o = known; *o; o++)
		if (strlen(*o) == length && !strncmp(*o, name, length))
			return *o;
	return NULL;
}

bool bitcode_trusted_file_option(const char *option)
{
	size_t length = strlen(option);

	return length > 4 && starts(option, "--") && option[length - 1] == '=' &&
	       bitcode_file_option(option + 2, length - 3);
}
