// SPDX-License-Identifier: Apache-2.0
/*
 * The table of commands.  The first argument of `raddle` names a command, which gets the other
 * arguments unchanged and whose exit status is returned.  If Raddle is called through a link named
 * raddle-COMMAND, it runs that command.  So CC=raddle-cc works with build systems that do not
 * allow a space in CC.
 */
#include "cmd/cmd-int.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

static int cmd_help(int argc, char **argv);
static int cmd_version(int argc, char **argv);

/* The commands.  A `foreign` command passes all its options, even --help, to another program. */
static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
	bool foreign;
} commands[] = {
	{"campaign", cmd_campaign, "show the results of injected faults", false},
	{"candidates", cmd_candidates, "list accesses that may race, without running the program", false},
	{"cc", cmd_cc, "compile C so that the program carries its bitcode", true},
	{"c++", cmd_cxx, "the same for C++", true},
	{"check", cmd_check, "record, predict and replay: find races and deadlocks", false},
	{"classify", cmd_classify, "find out what races do to the program", false},
	{"compare", cmd_compare, "find where runs deviate from a golden run, and how errors spread", false},
	{"diff", cmd_diff, "show which bugs are new, fixed or still there in another check", false},
	{"doctor", cmd_doctor, "check whether this machine has what Raddle needs", false},
	{"dump", cmd_dump, "show what is in a trace or another artefact", false},
	{"explore", cmd_explore, "run a program under many schedules, find failures", false},
	{"sketch", cmd_sketch, "explain why a program fails", false},
	{"export", cmd_export, "convert a trace to the format of another tool", false},
	{"facts", cmd_facts, "write facts about the whole program: calls, pointers, accesses", false},
	{"flavour", cmd_flavour, "make the instrumented form of a program", false},
	{"help", cmd_help, "show help about a command", false},
	{"hive", cmd_hive, "find races in production: the service, and commands that use it", false},
	{"import", cmd_import, "convert a trace of another tool to a trace directory", false},
	{"inject", cmd_inject, "inject faults into runs and compare them with a fault-free run", false},
	{"predict", cmd_predict, "find the races and deadlocks of other schedules", false},
	{"record", cmd_record, "run a program and record what its threads do", false},
	{"replay", cmd_replay, "reproduce a race or a deadlock from its schedule", false},
	{"reversible", cmd_reversible, "check whether a run is the same in every schedule", false},
	{"sanitize", cmd_sanitize, "show a full trace with names that are the same in every run", false},
	{"site", cmd_site, "run a program in production and look for races as a hive asks", false},
	{"slice", cmd_slice, "show what may contribute to a failure, without running the program", false},
	{"version", cmd_version, "show the version", false},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const struct command *find_command(const char *name, size_t n)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (!strncmp(commands[i].name, name, n) && !commands[i].name[n])
			return &commands[i];
	return NULL;
}

bool cmd_is_command(const char *name, size_t n)
{
	return find_command(name, n) != NULL;
}

static int unknown_command(const char *name)
{
	const char *nearest = NULL;
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (rd_is_near(name, commands[i].name, &best))
			nearest = commands[i].name;
	RD_ASSERT(!nearest == (best == SIZE_MAX));
	if (nearest)
		rd_fail(RD_EUSAGE, "there is no command '%s'; did you mean '%s'?", name, nearest);
	else
		rd_fail(RD_EUSAGE, "there is no command '%s'; 'raddle help' lists them", name);
	return CMD_FAILED;
}

static void print_overview(FILE *out)
{
	fputs("usage: raddle COMMAND [ARGUMENTS...]\n\n"
	      "Raddle finds the races and deadlocks of C and C++ programs, and proves each one.\n\n"
	      "commands:\n",
	      out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\n'raddle help COMMAND' or 'man raddle-COMMAND' explains one of them.\n", out);
}

static int cmd_help(int argc, char **argv)
{
	char *const arguments[] = {argc > 1 ? argv[1] : NULL, (char[]){"--help"}, NULL};
	const struct command *c;

	if (argc < 2 || argv[1][0] == '-') {
		print_overview(stdout);
		return CMD_OK;
	}
	c = find_command(argv[1], strlen(argv[1]));
	if (!c)
		return unknown_command(argv[1]);
	if (c->foreign || c->run == cmd_help || c->run == cmd_version) {
		printf("usage: raddle %s [ARGUMENTS...]\n\n%s\n\n'man raddle%s%s' has the details.\n",
		       c->name, c->help, c->foreign ? "-" : "", c->foreign ? c->name : "");
		return CMD_OK;
	}
	return c->run(2, (char **)arguments);
}

static int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("raddle %s (LLVM %s)\n", RADDLE_VERSION, RADDLE_LLVM);
	return CMD_OK;
}

/* Lists the commands for shell completion.  The help text does not mention this. */
static int list_commands(void)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		puts(commands[i].name);
	return CMD_OK;
}

int cmd_run(int argc, char **argv)
{
	char *base = strrchr(argv[0], '/');
	const struct command *c;
	const char *name;

	RD_ASSERT(argc >= 1 && argv[0] && !argv[argc]);
	base = base ? base + 1 : argv[0];
	if (!strncmp(base, "raddle-", 7) && (c = find_command(base + 7, strlen(base + 7)))) {
		if (!c->foreign)
			argv[0] = base + 7;
		return c->run(argc, argv);
	}
	if (!strcmp(base, "raddle-llvm-ar") || !strcmp(base, "raddle-llvm-ranlib"))
		return cmd_archive(base + strlen("raddle-llvm-"), argv);
	if (argc < 2) {
		print_overview(stderr);
		return CMD_FAILED;
	}
	name = argv[1];
	if (!strcmp(name, "--help") || !strcmp(name, "-h"))
		name = "help";
	if (!strcmp(name, "--version") || !strcmp(name, "-V"))
		name = "version";
	if (!strcmp(name, "--list-commands"))
		return list_commands();
	c = find_command(name, strlen(name));
	if (c)
		return c->run(argc - 1, argv + 1);
	if (name[0] == '-')
		rd_fail(RD_EUSAGE, "unknown option %s; 'raddle help' shows the usage", name);
	else
		unknown_command(name);
	return CMD_FAILED;
}
