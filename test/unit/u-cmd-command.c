// SPDX-License-Identifier: Apache-2.0
/* Unit tests of which command the arguments of `raddle` name, and of the message if they name
 * none. */
#include "golden.h"

#include "base/error.h"
#include "cmd/cmd-int.h"

#include <stdio.h>

static char *said;

static void listen(void *context, enum rd_level level, const char *message)
{
	(void)context;
	if (level == RD_LOG_ERROR && !said)
		said = strdup(message);
}

/* Runs `raddle` with up to three words.  Stores what it printed to standard output in *text. */
static int run(char **text, const char *name, const char *word, const char *more)
{
	char *argv[] = {rd_xstrdup(name), word ? rd_xstrdup(word) : NULL, more ? rd_xstrdup(more) : NULL,
			NULL};
	char *owned[] = {argv[0], argv[1], argv[2]}; /* a command may replace its name */
	FILE *before = stdout;
	size_t length;
	int status;

	free(said);
	said = NULL;
	rd_log_set(listen, NULL);
	stdout = open_memstream(text, &length);
	status = cmd_run(1 + (word != NULL) + (more != NULL), argv);
	fclose(stdout);
	stdout = before;
	rd_log_set(NULL, NULL);
	for (size_t i = 0; i < 3; i++)
		free(owned[i]);
	return status;
}

static void overview_lists_the_commands(void **state)
{
	char *help, *list, *rest;

	(void)state;
	assert_int_equal(run(&help, "raddle", "help", NULL), CMD_OK);
	assert_int_equal(run(&list, "raddle", "--list-commands", NULL), CMD_OK);
	for (char *name = strtok_r(list, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
		char *row = rd_xasprintf("\n  %-10s ", name);

		assert_non_null(strstr(help, row));
		assert_true(cmd_is_command(name, strlen(name)));
		free(row);
	}
	free(help);
	free(list);
}

/* Every command has a help text, because its options are in the table. */
static void every_command_has_help(void **state)
{
	char *list, *rest, *text;

	(void)state;
	assert_int_equal(run(&list, "raddle", "--list-commands", NULL), CMD_OK);
	for (char *name = strtok_r(list, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
		if (!strcmp(name, "hive") || !strcmp(name, "site"))
			continue; /* these are separate executables */
		assert_int_equal(run(&text, "raddle", "help", name), CMD_OK);
		assert_memory_equal(text, "usage: raddle ", 14);
		assert_non_null(strstr(text, name));
		free(text);
	}
	free(list);
}

static void links_name_commands(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(run(&text, "/usr/bin/raddle-version", NULL, NULL), CMD_OK);
	assert_memory_equal(text, "raddle ", 7);
	free(text);
}

static void unknown_commands(void **state)
{
	char *text;

	(void)state;
	assert_int_equal(run(&text, "raddle", "dmup", NULL), CMD_FAILED);
	assert_string_equal(said, "there is no command 'dmup'; did you mean 'dump'?");
	free(text);
	assert_int_equal(run(&text, "raddle", "frobnicate", NULL), CMD_FAILED);
	assert_string_equal(said, "there is no command 'frobnicate'; 'raddle help' lists them");
	free(text);
	assert_int_equal(run(&text, "raddle", "--frobnicate", NULL), CMD_FAILED);
	assert_string_equal(said, "unknown option --frobnicate; 'raddle help' shows the usage");
	assert_string_equal(text, "");
	free(text);
	assert_false(cmd_is_command("dum", 3));
	assert_true(cmd_is_command("dumping", 4));
}

static int forget(void **state)
{
	(void)state;
	free(said);
	said = NULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overview_lists_the_commands),
		cmocka_unit_test(every_command_has_help),
		cmocka_unit_test(links_name_commands),
		cmocka_unit_test(unknown_commands),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
