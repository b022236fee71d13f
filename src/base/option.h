/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as data.  A command declares a table of its options with their help.  Parsing, --help,
 * shell completion, defaults files and the check against the man page all use that table.
 *
 * 	static const struct rd_option options[] = {
 * 		RD_FLAG('q', "quiet", &opt.quiet, "say nothing"),
 * 		RD_STRING('o', "output", &opt.output, "DIR", "where the trace goes"),
 * 		RD_NUMBER(0, "limit", &opt.limit, "BYTES", "stop there"),
 * 		RD_END,
 * 	};
 *
 * Long options are written `--output=DIR` or `--output DIR`.  The options end at "--", which is
 * never an argument of an option, or at the first argument that is not an option.  The hidden
 * option --list-options prints the table, one line per option.
 * Numbers take the suffixes k, M, G and T.  Durations are in seconds unless they have a unit:
 * 500ms, 30s, 5m, 1.5h, 2d.  They are stored in milliseconds.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rd_option_type { RD_OPT_END, RD_OPT_FLAG, RD_OPT_STRING, RD_OPT_NUMBER, RD_OPT_DURATION };

/* The effects that an option may have outside the process.  A .raddle file must not set options
 * with the traits WRITES, MAKES or RUNS (base/defaults.c). */
enum rd_option_trait {
	RD_OPT_READS = 1,  /* names a file to read, or several files separated by commas */
	RD_OPT_WRITES = 2, /* names a file to write; "-" is standard output */
	RD_OPT_MAKES = 4,  /* names a directory to create or fill */
	RD_OPT_RUNS = 8,   /* decides what is executed, or removes something */
	/* The argument may be omitted (--name[=ARGUMENT]); the value is then "-". */
	RD_OPT_OPTIONAL = 16,
};

/* For options in which the number or duration 0 has a meaning: the value of an option that was not
 * set.  The `initial` of such options is "". */
#define RD_OPTION_UNSET UINT64_MAX

struct rd_option {
	enum rd_option_type type;
	char letter;	 /* the short option; 0 if there is none */
	unsigned traits; /* a set of enum rd_option_trait */
	const char *name;
	void *value;	      /* points to the value: bool *, const char ** or uint64_t * */
	const char *argument; /* the name of the argument in the help text */
	const char *initial;  /* the default of a number, as text; NULL means 0 */
	uint64_t min, max;    /* the range of a number; a max of 0 means no limit */
	const char *help;
};

#define RD_FLAG(letter, name, value, help)                                                                   \
	{                                                                                                    \
		RD_OPT_FLAG, letter, 0, name, (bool *){value}, NULL, NULL, 0, 0, help                        \
	}
#define RD_STRING(letter, name, value, argument, help)                                                       \
	{                                                                                                    \
		RD_OPT_STRING, letter, 0, name, (const char **){value}, argument, NULL, 0, 0, help           \
	}
#define RD_NUMBER(letter, name, value, argument, help)                                                       \
	{                                                                                                    \
		RD_OPT_NUMBER, letter, 0, name, (uint64_t *){value}, argument, NULL, 0, 0, help              \
	}
#define RD_END                                                                                               \
	{                                                                                                    \
		RD_OPT_END, 0, 0, 0, 0, 0, 0, 0, 0, 0                                                        \
	}

struct rd_usage {
	const char *synopsis; /* for example "raddle record [-o DIR] -- PROG ARGS..." */
	const char *summary;  /* one or more paragraphs */
	const struct rd_option *options;
	const char *example; /* lines of an example, shown verbatim */

	/* If true, the word after an option with an optional argument is that argument, unless the
	 * word looks like an option.  Set this only for commands whose operand comes last. */
	bool next_word;
};

#define RD_OPTION_HELP 0 /* the result of rd_options_parse() if the help text was printed */
/* Parses argv[1..].  Returns the index of the first argument after the options.  Returns
 * RD_OPTION_HELP after printing help on stdout (-h, --help), and a negative rd_err after an error
 * message. */
int rd_options_parse(int argc, char **argv, const struct rd_usage *usage);

/* Sets the options to their defaults.  Flags are off, strings are NULL, and numbers and durations
 * have the value `initial`. */
void rd_options_init(const struct rd_option *options);

/* Returns the option whose name is the first `n` characters of `name`, or NULL if there is none. */
const struct rd_option *rd_option_find(const struct rd_option *options, const char *name, size_t n);

/* Stores the argument of an option.  `argument` is NULL if the option was given without one.  The
 * text must outlive the options.  Messages begin with `where`, which may be "". */
int rd_option_set(const struct rd_option *o, const char *where, const char *argument);

/* Checks that the options name only files and directories that can be written.  So an error is
 * reported before hours of work.  Nothing is created.  `command` is the name of the command, for
 * the message. */
int rd_options_check(const struct rd_option *options, const char *command);

/* For "did you mean" messages.  Returns true if `candidate` is similar to `word`, and more similar
 * than all earlier candidates.  *best must be SIZE_MAX before the first call. */
bool rd_is_near(const char *word, const char *candidate, size_t *best);

#endif
