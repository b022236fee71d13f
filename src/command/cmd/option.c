// SPDX-License-Identifier: Apache-2.0
/*
 * The options of all commands.  This file parses a command's arguments by the rows of option.inc
 * that the command accepts.  It stores the values in `opt`, and returns the other arguments.  Files
 * that options name are checked before the command begins its work.
 */
#include "cmd/option-int.h"

#include "base/defaults.h"
#include "base/error.h"
#include "base/terminal.h"
#include "cmd/cmd-int.h"
#include "cmd/output-int.h"
#include "inject/campaign.h"
#include "inject/setup.h"

#include <string.h>

struct cmd_options opt;

enum {
	/* maximum number of options of a command; no command has as many */
	OPTIONS_MAX = 160,
	/* The longest time that an option accepts: eleven days.  Set by hand; a longer time is a
	 * typing error. */
	DURATION_MAX_S = 1000000,
};

#define READS RD_OPT_READS
#define WRITES RD_OPT_WRITES
#define MAKES RD_OPT_MAKES
#define RUNS RD_OPT_RUNS
#define OPTIONAL RD_OPT_OPTIONAL

#define FLAG(member, letter, name, traits, help)                                                             \
	{#member, {RD_OPT_FLAG, letter, traits, name, &opt.member, NULL, NULL, 0, 0, help}},
#define TEXT(member, letter, name, traits, argument, help)                                                   \
	{#member, {RD_OPT_STRING, letter, traits, name, &opt.member, argument, NULL, 0, 0, help}},
#define COUNT(member, letter, name, argument, initial, min, max, help)                                       \
	{#member, {RD_OPT_NUMBER, letter, 0, name, &opt.member, argument, initial, min, max, help}},
#define TIME(member, letter, name, initial, help)                                                            \
	{#member,                                                                                            \
	 {RD_OPT_DURATION, letter, 0, name, &opt.member, "TIME", initial, 0, DURATION_MAX_S * 1000ull,       \
	  help}},

static const struct row {
	const char *member;
	struct rd_option option;
} rows[] = {
#include "cmd/option.inc"
};

enum { ROWS = sizeof rows / sizeof *rows };

static const struct rd_option *row_of(const char *member, size_t n)
{
	for (size_t i = 0; i < ROWS; i++)
		if (!strncmp(rows[i].member, member, n) && !rows[i].member[n])
			return &rows[i].option;
	RD_BUG("a command takes an option that is not in option.inc");
}

static bool is_known(const char *name, size_t n)
{
	for (size_t i = 0; i < ROWS; i++)
		if (!strncmp(rows[i].option.name, name, n) && !rows[i].option.name[n])
			return true;
	return false;
}

/* A command's own table. */
struct table {
	struct rd_option options[OPTIONS_MAX];
	struct rd_usage usage;
	bool raw;
};

static void make_table(struct table *t, const struct cmd_usage *usage, bool next_word)
{
	size_t count = 0;

	for (const char *at = usage->takes; *at;) {
		size_t n = strcspn(at, " ");

		RD_ASSERT(n > 0 && count + 1 < OPTIONS_MAX);
		t->options[count++] = *row_of(at, n);
		at += n + strspn(at + n, " ");
	}
	t->options[count] = (struct rd_option)RD_END;
	t->raw = usage->raw;
	t->usage = (struct rd_usage){usage->synopsis, usage->summary, t->options, usage->example, next_word};
}

/* Returns true if the first argument asks for help or for a list of options.  Both work even if
 * the defaults are wrong. */
static bool asks_for_help(int argc, char **argv)
{
	return argc > 1 &&
	       (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "--list-options"));
}

/* The values of options that come from a .raddle file or RADDLE_OPTIONS.  They are kept until the
 * process ends, like those from the command line. */
static struct rd_arena *values;

static int begin(struct table *t, int argc, char **argv)
{
	struct rd_defaults d = {.options = t->options,
				.command = argv[0],
				.is_option = is_known,
				.is_command = cmd_is_command};

	rd_options_init(t->options);
	d.values = values = values ? values : rd_arena_new();
	return asks_for_help(argc, argv) ? RD_OK : rd_defaults(&d);
}

static int finish(const struct table *t, const char *command)
{
	if (!t->raw && !cmd_output_is_stdout())
		rd_terminal_stdout();
	if (opt.verbose) /* --quiet omits the report, but never a warning */
		rd_log_level(RD_LOG_INFO);
	return rd_options_check(t->options, command) ? CMD_FAILED : CMD_GO_ON;
}

int cmd_operands(int argc, char **argv, const struct cmd_usage *usage, size_t *count)
{
	char **next = argv + 1, **operands = next;
	const char *command = argv[0];
	struct table t;

	RD_ASSERT(argc >= 1 && !argv[argc]);
	*count = 0;
	make_table(&t, usage, false);
	if (begin(&t, argc, argv))
		return CMD_FAILED;
	while (argc > 1) {
		int first = rd_options_parse(argc, argv, &t.usage);
		if (first <= 0)
			return first == RD_OPTION_HELP ? CMD_OK : CMD_FAILED;
		bool all = first > 1 && !strcmp(argv[first - 1], "--");
		argc -= first;
		argv += first;
		/* Operands replace words that were already read. */
		RD_ASSERT(argc >= 0 && next <= argv);
		for (int i = 0; i < (all ? argc : argc > 0); i++)
			*next++ = argv[i];
		if (all)
			break;
	}
	*next = NULL;
	*count = (size_t)(next - operands);
	return finish(&t, command);
}

/* Handles `--json FILE OPERAND`.  If there are two words, not counting the operand's arguments,
 * the word after --json is the file. */
static void take_document(char **argv, const char *after_json, size_t *count, size_t arguments)
{
	if (*count != 2 + arguments || !after_json || !opt.json || strcmp(opt.json, "-"))
		return;
	RD_ASSERT(argv[1] && argv[2] && !argv[*count + 1]);
	for (int i = 1; i <= 2; i++)
		if (argv[i] == after_json) {
			opt.json = after_json;
			memmove(argv + i, argv + i + 1, (*count + 1 - (size_t)i) * sizeof *argv);
			--*count;
			return;
		}
}

int cmd_operand_words(int argc, char **argv, const struct cmd_usage *usage, bool arguments, size_t *count)
{
	const char *after_json = NULL;
	int end = 1, status;

	for (; end < argc && strcmp(argv[end], "--") != 0; end++)
		if (!strcmp(argv[end], "--json") && end + 1 < argc)
			after_json = argv[end + 1];
	status = cmd_operands(argc, argv, usage, count);
	if (status == CMD_GO_ON)
		take_document(argv, after_json, count,
			      arguments && end < argc ? (size_t)(argc - end - 1) : 0);
	return status;
}

int cmd_operand(int argc, char **argv, const struct cmd_usage *usage, const char *what, cmd_run_fn *run)
{
	size_t count;
	int status = cmd_operand_words(argc, argv, usage, false, &count);

	if (status != CMD_GO_ON)
		return status;
	if (count > 1)
		rd_fail(RD_EUSAGE, "%s: unexpected argument '%s'", argv[0], argv[2]);
	else if (!count)
		rd_fail(RD_EUSAGE, "%s: needs %s; 'raddle help %s' shows the usage", argv[0], what, argv[0]);
	return count == 1 ? run(argv[1]) : CMD_FAILED;
}

int cmd_which(const char *command, const char *what)
{
	rd_fail(RD_EUSAGE, "%s: which %s? 'raddle help %s' shows the usage", command, what, command);
	return CMD_FAILED;
}

/* Parses options and moves *at to the first word after them.  Returns CMD_GO_ON, or the exit status
 * if the command must end. */
static int parse_some(const struct table *t, int argc, char **argv, int *at)
{
	int first = rd_options_parse(argc - *at, argv + *at, &t->usage);

	if (first <= 0)
		return first == RD_OPTION_HELP ? CMD_OK : CMD_FAILED;
	*at += first;
	RD_ASSERT(*at <= argc);
	return CMD_GO_ON;
}

/* Returns true if the operand is omitted.  It is omitted if another option replaces it.  It is
 * also omitted if --without-sync is given and the options end with "--", so that the program
 * follows. */
static bool has_no_operand(char **argv, int at)
{
	return opt.race || opt.from_tsan || opt.resume ||
	       (opt.without_sync && at > 0 && !strcmp(argv[at - 1], "--"));
}

int cmd_program(int argc, char **argv, const struct cmd_usage *usage, const char *what,
		struct cmd_words *words)
{
	struct table t;
	int at = 0, status;

	RD_ASSERT(argc >= 1 && !argv[argc]);
	make_table(&t, usage, true);
	if (begin(&t, argc, argv))
		return CMD_FAILED;
	status = parse_some(&t, argc, argv, &at);
	words->operand = NULL;
	if (status == CMD_GO_ON && what && !has_no_operand(argv, at)) {
		if (at == argc)
			return cmd_which(argv[0], what);
		words->operand = argv[at];
		status = parse_some(&t, argc, argv, &at);
	}
	words->program = argv + at;
	return status == CMD_GO_ON ? finish(&t, argv[0]) : status;
}

uint64_t cmd_limit(uint64_t option, uint64_t none)
{
	return option == RD_OPTION_UNSET ? 0 : option ? option : none;
}
