/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options as data.  A command declares a table of its options with their help;
 * parsing, --help and the check against the man page all use that table.
 *
 *	static const struct rd_option options[] = {
 *		RD_FLAG('q', "quiet", &opt.quiet, "say nothing"),
 *		RD_STRING('o', "output", &opt.output, "DIR", "where the trace goes"),
 *		RD_NUMBER(0, "limit", &opt.limit, "BYTES", "stop there"),
 *		RD_END,
 *	};
 *
 * Long options are written `--output=DIR` or `--output DIR`; "--" ends the
 * options; the first argument that is no option ends them too.  The hidden
 * option --list-options prints the table, a line for each option.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rd_option_type { RD_OPT_END, RD_OPT_FLAG, RD_OPT_STRING, RD_OPT_NUMBER };

struct rd_option {
	enum rd_option_type type;
	char letter; /* 0: none */
	const char *name;
	void *value;	      /* bool *, const char **, uint64_t * */
	const char *argument; /* what help calls the argument */
	const char *help;
};

#define RD_FLAG(letter, name, value, help)                                                                   \
	{                                                                                                    \
		RD_OPT_FLAG, letter, name, (bool *){value}, NULL, help                                       \
	}
#define RD_STRING(letter, name, value, argument, help)                                                       \
	{                                                                                                    \
		RD_OPT_STRING, letter, name, (const char **){value}, argument, help                          \
	}
#define RD_NUMBER(letter, name, value, argument, help)                                                       \
	{                                                                                                    \
		RD_OPT_NUMBER, letter, name, (uint64_t *){value}, argument, help                             \
	}
#define RD_END                                                                                               \
	{                                                                                                    \
		RD_OPT_END, 0, 0, 0, 0, 0                                                                    \
	}

struct rd_usage {
	const char *synopsis; /* "raddle record [-o DIR] -- PROG ARGS..." */
	const char *summary;  /* one or more paragraphs */
	const struct rd_option *options;
	const char *example; /* lines of an example, shown verbatim */
};

/* Parses argv[1..]; returns the index of the first argument after the options,
 * RD_OPTION_HELP after it has printed help on stdout (-h, --help), or a negative
 * rd_err after a message.  Numbers take k, M and G suffixes. */
#define RD_OPTION_HELP 0
int rd_options_parse(int argc, char **argv, const struct rd_usage *usage);

/* For "did you mean": whether `candidate` is like `word`, and more so than any
 * before it.  *best starts as SIZE_MAX. */
bool rd_is_near(const char *word, const char *candidate, size_t *best);

#endif
