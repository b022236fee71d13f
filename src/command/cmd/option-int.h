/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of all commands: their values, and how a command gets them.  The rows are in
 * option.inc.  RADDLE_OPTIONS and a .raddle file may also set options, but the command line
 * overrides them; see base/defaults.h.
 */
#ifndef CMD_OPTION_INT_H
#define CMD_OPTION_INT_H

#include "base/option.h"

#define FLAG(member, letter, name, traits, help) bool member;
#define TEXT(member, letter, name, traits, argument, help) const char *member;
#define COUNT(member, letter, name, argument, initial, min, max, help) uint64_t member;
#define TIME(member, letter, name, initial, help) uint64_t member; /* in milliseconds */
struct cmd_options {
#include "cmd/option.inc"
};

/* The user's options.  A command may also write to its options. */
extern struct cmd_options opt;

/* Names of rows that several commands accept. */
#define CMD_DOCUMENTS "json sarif html "
#define CMD_KNOWN "baseline suppressions "
#define CMD_EFFORT "time prediction_memory limit window work sound_only no_races no_deadlocks "
#define CMD_BESIDE "with setup timeout "
#define CMD_BUILD "plugins fast quick "
#define CMD_WORDS "quiet verbose "

struct cmd_usage {
	const char *synopsis, *summary;
	/* Names of members of struct cmd_options, separated by blanks, in the order of --help. */
	const char *takes;
	const char *example;
	/* True if the command prints data for programs, so control characters are not replaced. */
	bool raw;
};

/* The parser returns this if the command may continue.  Otherwise it returns the exit status. */
#define CMD_GO_ON (-1)

/* Parses options and other arguments, in any order.  Afterwards argv[1] to argv[*count] are the
 * other arguments, followed by NULL. */
int cmd_operands(int argc, char **argv, const struct cmd_usage *usage, size_t *count);

/* Does the same as cmd_operands(), but also accepts `--json FILE OPERAND`.  If there are two words
 * and one of them follows --json, that word is the output file and not an operand.  If `arguments`
 * is set, words after "--" are arguments of the operand and are not counted. */
int cmd_operand_words(int argc, char **argv, const struct cmd_usage *usage, bool arguments, size_t *count);

typedef int cmd_run_fn(const char *operand);
/* Runs a command that takes exactly one argument besides options.  Returns the exit status.  If
 * the argument is missing, `what` names it in the error message. */
int cmd_operand(int argc, char **argv, const struct cmd_usage *usage, const char *what, cmd_run_fn *run);

/* The words after the options of a command that runs a program. */
struct cmd_words {
	/* The word before the program; NULL if the command takes none or an option replaces it. */
	const char *operand;
	char **program; /* the words of the program, then NULL; may be empty */
};

/* Parses options, an operand, more options, and a program with its arguments.  `what` names the
 * operand, such as "finding"; it is NULL if the command takes no operand.  The options --race,
 * --from-tsan and --resume replace the operand.  So does --without-sync, if "--" precedes the
 * program. */
int cmd_program(int argc, char **argv, const struct cmd_usage *usage, const char *what,
		struct cmd_words *words);

/* Prints "COMMAND: which WHAT?"  and returns the exit status. */
int cmd_which(const char *command, const char *what);

/* Checks --strategy, and prints an error if it is wrong (cmd/explore.c). */
int cmd_strategy(const char *command);

/* Converts the value of an option to a limit for other modules.  If the option is not set, returns
 * 0, so that the module chooses the limit.  If the user asked for no limit, returns `none`. */
uint64_t cmd_limit(uint64_t option, uint64_t none);

/* The time in milliseconds that stands for "no limit".  It is about eleven days. */
#define CMD_FOREVER UINT64_C(1000000000)

#endif
