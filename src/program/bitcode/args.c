// SPDX-License-Identifier: Apache-2.0
/*
 * Reads a compiler command line into a struct bitcode_args.  The tables below hold everything that
 * the wrapper knows about clang's options.  They list the options whose value is a separate
 * argument, because such a value must not be mistaken for an input.  They also list the options
 * with which clang generates no code for this machine.  An option that is in no table is passed on
 * unchanged.
 */
#include "bitcode/args.h"
#include "bitcode/text-int.h"

#include "base/error.h"
#include "base/alloc.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options whose value is the next argument. */
static const char *const separate[] = {
	"-o",
	"-I",
	"-D",
	"-U",
	"-L",
	"-l",
	"-F",
	"-B",
	"-T",
	"-u",
	"-z",
	"-e",
	"-x",
	"-A",
	"-G",
	"-b",
	"-J",
	"-include",
	"-include-pch",
	"-imacros",
	"-isystem",
	"-isystem-after",
	"-isysroot",
	"-iquote",
	"-idirafter",
	"-iprefix",
	"-iwithprefix",
	"-iwithprefixbefore",
	"-iwithsysroot",
	"-iframework",
	"-cxx-isystem",
	"-stdlib++-isystem",
	"-ivfsoverlay",
	"-MF",
	"-MT",
	"-MQ",
	"-MJ",
	"-Xlinker",
	"-Xclang",
	"-Xassembler",
	"-Xpreprocessor",
	"-Xanalyzer",
	"-Xopenmp-target",
	"-Xarch_host",
	"-Xarch_device",
	"-target",
	"-arch",
	"-mllvm",
	"-mthread-model",
	"-rpath",
	"-framework",
	"-Tbss",
	"-Tdata",
	"-Ttext",
	"-aux-info",
	"-dumpbase",
	"-resource-dir",
	"-working-directory",
	"-serialize-diagnostics",
	"--serialize-diagnostics",
	"-fdebug-compilation-dir",
	"-fcoverage-compilation-dir",
	"-fmodule-cache-path",
	"-Zlinker-input",
	"--param",
	"--sysroot",
	"--config",
	"--output",
	"--language",
	"--define-macro",
	"--undefine-macro",
	"--include-directory",
	"--include",
	"--imacros",
	"--library-directory",
	"--for-linker",
	"--force-link",
	"--prefix",
	"--entry",
	"-install_name",
	"-undefined",
	"-bundle_loader",
	"-dyld-prefix",
	"--dyld-prefix",
	"--CLASSPATH",
	"-Xcuda-ptxas",
	"-Xcuda-fatbinary",
	"-Xopenmp-target-arch",
	NULL,
};

/* Options with which clang makes no object for this machine. */
static const char *const passing[] = {
	"-E",
	"-M",
	"-MM",
	"--preprocess",
	"--dependencies",
	"--user-dependencies",
	"-fsyntax-only",
	"-###",
	"--version",
	"--help",
	"-help",
	"--help-hidden",
	"-dumpversion",
	"-dumpmachine",
	"-dumpspecs",
	"-dumpfullversion",
	"-emit-llvm",
	"-emit-ast",
	"-emit-interface-stubs",
	"--analyze",
	"--precompile",
	"-rewrite-objc",
	"-verify-pch",
	"-fdriver-only",
	"-cc1",
	"-cc1as",
	"-m32",
	"-m16",
	"-mx32",
	NULL,
};

/* Prefixes of further options with which clang makes no object for this machine. */
static const char *const passing_prefix[] = {
	"-print-",
	"--print-",
	"--target=",
	"-fthinlto-index",
	"-fembed-bitcode",
	"--offload",
	"-fopenmp-targets",
	"-fsanitize=cfi",
	"--autocomplete=",
	"-emit-header-unit",
	"-fmodule-header",
	"-ccc-",
	NULL,
};

static const char *const source_suffix[] = {
	".c",	".i",  ".cc", ".cp", ".cxx", ".cpp", ".CPP", ".c++", ".C",  ".CC",
	".CXX", ".ii", ".m",  ".mi", ".mm",  ".M",   ".mii", ".ll",  ".bc", NULL,
};

static const char *const assembler_suffix[] = {".s", ".S", ".sx", ".asm", NULL};

static const char *const foreign_suffix[] = {
	".h", ".H",   ".hh",  ".hp",  ".hxx", ".hpp", ".HPP", ".h++", ".tcc",  ".pch", ".gch", ".f",
	".F", ".f90", ".F90", ".for", ".cu",  ".cui", ".hip", ".cl",  ".cppm", ".pcm", NULL,
};

static const char *const source_language[] = {
	"c",
	"c++",
	"cpp-output",
	"c++-cpp-output",
	"objective-c",
	"objective-c++",
	"objective-c-cpp-output",
	"objective-c++-cpp-output",
	"objc-cpp-output",
	"objc++-cpp-output",
	"ir",
	NULL,
};

static const char *const assembler_language[] = {"assembler", "assembler-with-cpp", NULL};

/* Options that are not passed to clang.  With -flto, objects would be bitcode files.  The other
 * options have no effect without -flto. */
static const char *const lto[] = {
	"-ffat-lto-objects",	   "-fno-fat-lto-objects",
	"-fwhole-program-vtables", "-fvirtual-function-elimination",
	"-fsplit-lto-unit",	   NULL,
};

static const char *const few_debug[] = {
	"-g1", "-ggdb1", "-gmlt", "-gline-tables-only", "-gline-directives-only", NULL,
};

static bool starts_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (starts(s, *list))
			return true;
	return false;
}

bool bitcode_args_takes_value(const char *option)
{
	RD_ASSERT(option != NULL);
	return is_one_of(option, separate);
}

/* Returns true if the option is not passed to clang. */
static bool is_withheld(const char *s)
{
	return starts(s, "-flto") || is_one_of(s, lto) || is_one_of(s, few_debug) || !strcmp(s, "-g0") ||
	       !strcmp(s, "-ggdb0");
}

static bool is_split_debug(const char *s)
{
	return !strcmp(s, "-gsplit-dwarf") || starts(s, "-gsplit-dwarf=");
}

bool bitcode_args_keep(const struct bitcode_args *a, const char *argument)
{
	if (is_split_debug(argument))
		return a->debug == BITCODE_DEBUG_FULL;
	return !is_withheld(argument);
}

/* Reads one word of an @file, with the quoting rules of the GNU tools.  Returns false at the
 * end. */
static bool next_word(const char **text, struct rd_buf *word)
{
	const char *p = *text;
	char quote = 0;
	bool some = false;

	p += strspn(p, " \t\r\n\f\v");
	for (; *p && (quote || !strchr(" \t\r\n\f\v", *p)); p++) {
		some = true;
		if (*p == '\\' && p[1] && quote != '\'')
			rd_buf_addc(word, *++p);
		else if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
		else
			rd_buf_addc(word, *p);
	}
	*text = p;
	return some;
}

/* How deep @files may be nested.  Set by hand; clang has a similar limit. */
enum { NESTING_LIMIT = 20 };

/* Expands an @file.  If the file cannot be read, it stays an argument, and clang reports the
 * error. */
static void expand(struct bitcode_args *a, const char *argument, int depth)
{
	struct rd_buf content = RD_BUF_INIT, word = RD_BUF_INIT;
	const char *text;
	struct stat st;

	if (argument[0] != '@' || depth > NESTING_LIMIT || stat(argument + 1, &st) || S_ISDIR(st.st_mode) ||
	    access(argument + 1, R_OK) || rd_file_read(argument + 1, &content)) {
		rd_argv_add(&a->all, argument);
		return;
	}
	a->expanded = true;
	/* A pipe can be read only once, so clang must get the arguments in another file. */
	if (!S_ISREG(st.st_mode))
		a->dropped = true;
	text = content.data;
	while (next_word(&text, &word)) {
		expand(a, word.data, depth + 1);
		rd_buf_clear(&word);
	}
	rd_buf_release(&word);
	rd_buf_release(&content);
}

static const char *suffix_of(const char *path)
{
	RD_ASSERT(path != NULL);
	const char *base = strrchr(path, '/'), *dot;

	dot = strrchr(base ? base : path, '.');
	return dot ? dot : "";
}

/* Determines the kind of an input.  Returns false for an input that only clang can classify. */
static bool input_kind(const char *path, const char *language, enum bitcode_input_kind *kind)
{
	const char *suffix = suffix_of(path);

	*kind = BITCODE_OBJECT;
	if (language && strcmp(language, "none")) {
		if (is_one_of(language, source_language))
			*kind = BITCODE_SOURCE;
		else if (is_one_of(language, assembler_language))
			*kind = BITCODE_ASSEMBLER;
		else
			return false;
	} else if (is_one_of(suffix, source_suffix) || !strcmp(path, "-")) {
		*kind = BITCODE_SOURCE;
	} else if (is_one_of(suffix, assembler_suffix)) {
		*kind = BITCODE_ASSEMBLER;
	} else if (is_one_of(suffix, foreign_suffix)) {
		return false;
	}
	return true;
}

static void add_input(struct bitcode_args *a, size_t argument, const char *language)
{
	const char *path = a->all.items[argument];
	enum bitcode_input_kind kind;

	if (!input_kind(path, language, &kind)) {
		a->phase = BITCODE_PASS;
		return;
	}
	a->sources += kind == BITCODE_SOURCE;
	a->assemblers += kind == BITCODE_ASSEMBLER;
	RD_GROW(a->inputs, a->input_capacity, a->input_count + 1);
	a->inputs[a->input_count++] = (struct bitcode_input){path, argument, kind};
}

/* Reads a -g option.  Only some of them set the amount of debug information.  The others set its
 * form. */
static void read_debug(struct bitcode_args *a, const char *s)
{
	static const char *const full[] = {"-g", "-g2", "-g3", "-gfull", "-gused", "-gmodules", NULL};

	if (!strcmp(s, "-g0") || !strcmp(s, "-ggdb0"))
		a->debug = BITCODE_DEBUG_OFF;
	else if (is_one_of(s, few_debug))
		a->debug = BITCODE_DEBUG_LINES;
	else if (is_one_of(s, full) || starts(s, "-ggdb") || starts(s, "-glldb") || starts(s, "-gsce") ||
		 starts(s, "-gdbx") || (starts(s, "-gdwarf") && !starts(s, "-gdwarf-aranges")))
		a->debug = BITCODE_DEBUG_FULL;
}

static void lower_phase(struct bitcode_args *a, enum bitcode_phase phase)
{
	if (phase < a->phase)
		a->phase = phase;
}

static void read_option(struct bitcode_args *a, const char *s)
{
	if (is_one_of(s, passing) || starts_one_of(s, passing_prefix))
		lower_phase(a, BITCODE_PASS);
	else if (!strcmp(s, "-S") || !strcmp(s, "--assemble"))
		lower_phase(a, BITCODE_ASSEMBLY);
	else if (!strcmp(s, "-c") || !strcmp(s, "--compile"))
		lower_phase(a, BITCODE_COMPILE);
	else if (!strcmp(s, "-r"))
		lower_phase(a, BITCODE_RELOCATABLE);
	else if (starts(s, "--output="))
		a->output = s + strlen("--output=");
	else if (starts(s, "-o") && s[2] && !starts(s, "-objcmt") && strcmp(s, "-object"))
		a->output = s + 2;
	else if (starts(s, "-O"))
		a->optimised = strcmp(s, "-O0") != 0;
	else if (starts(s, "-g"))
		read_debug(a, s);
	else if (starts(s, "-save-temps") || starts(s, "--save-temps"))
		a->save_temps = true;
	else if (!strcmp(s, "-static") || !strcmp(s, "-static-pie") || !strcmp(s, "--static"))
		a->is_static = true;
	else if (!strcmp(s, "-shared") || !strcmp(s, "--shared"))
		a->shared = true;
	if (is_withheld(s) || is_split_debug(s))
		a->dropped = true;
}

/* Handles an option whose value is the next argument. */
static void read_value(struct bitcode_args *a, const char *option, const char *value, const char **language)
{
	if (!strcmp(option, "-o") || !strcmp(option, "--output"))
		a->output = value;
	else if (!strcmp(option, "-x") || !strcmp(option, "--language"))
		*language = value;
	else if (!strcmp(option, "-target") && !starts(value, "x86_64"))
		lower_phase(a, BITCODE_PASS);
	else if (!strcmp(option, "-Xlinker") && (!strcmp(value, "-r") || !strcmp(value, "--relocatable")))
		lower_phase(a, BITCODE_RELOCATABLE);
	else if (!strcmp(option, "-Xclang") && starts(value, "-emit-"))
		lower_phase(a, BITCODE_PASS);
}

void bitcode_args_parse(struct bitcode_args *a, int argc, char **argv)
{
	RD_ASSERT(argc >= 0 && argv != NULL);
	const char *language = NULL;
	bool only_inputs = false;

	*a = (struct bitcode_args){.phase = BITCODE_LINK};
	for (int i = 1; i < argc; i++)
		expand(a, argv[i], 0);
	for (size_t i = 0; i < a->all.count; i++) {
		const char *s = a->all.items[i];

		if (only_inputs || s[0] != '-' || !s[1]) {
			add_input(a, i, language);
		} else if (!strcmp(s, "--")) {
			only_inputs = true;
		} else if (bitcode_args_takes_value(s)) {
			if (i + 1 < a->all.count)
				read_value(a, s, a->all.items[++i], &language);
		} else if (starts(s, "-x")) {
			language = s + 2;
		} else if (!strcmp(s, "-Wl,-r") || !strcmp(s, "-Wl,--relocatable")) {
			lower_phase(a, BITCODE_RELOCATABLE);
		} else {
			read_option(a, s);
		}
	}
	/* Assembler code that goes to the terminal is only meant to be read, so it gets no
	 * bitcode. */
	if (!a->input_count || (a->phase == BITCODE_ASSEMBLY && a->output && !strcmp(a->output, "-")))
		a->phase = BITCODE_PASS;
}

void bitcode_args_release(struct bitcode_args *a)
{
	rd_argv_release(&a->all);
	free(a->inputs);
	*a = (struct bitcode_args){0};
}
