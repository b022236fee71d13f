// SPDX-License-Identifier: Apache-2.0
/*
 * Races that do harm only with another input (test/cli/classify-paths.sh).  -DPROGRAM=name selects
 * the program when it is compiled, so that its input need not select it.  `labels-input` has the
 * input of each recorded run and what the race does.
 *
 * With the recorded input, both orders of each race have the same result.
 */
#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int shared;
static long setting;
static char *table;

/* ---- inputs ---- */

static void number_argument(char **argv)
{
	setting = atoi(argv[1]);
}

static void number_stdin(char **argv)
{
	char line[64];

	(void)argv;
	if (fgets(line, sizeof line, stdin))
		setting = strtol(line, NULL, 10);
}

static void number_scanned(char **argv)
{
	int n = 0;

	(void)argv;
	if (scanf("%d", &n) == 1)
		setting = n;
}

static void number_file(char **argv)
{
	char text[64] = "";
	FILE *f = fopen(argv[1], "r");

	if (!f)
		exit(2);
	if (fread(text, 1, sizeof text - 1, f) > 0)
		setting = atol(text);
	fclose(f);
}

static void number_environment(char **argv)
{
	const char *text = getenv("LIMIT");

	(void)argv;
	setting = text ? atoi(text) : 0;
}

static void word_argument(char **argv)
{
	setting = strcmp(argv[1], "table") == 0;
}

static void letter_stdin(char **argv)
{
	int c = getchar();

	(void)argv;
	setting = isdigit(c) ? c - '0' : -1;
}

/* Makes a number of all digits of a line and ignores other characters. */
static void parsed_stdin(char **argv)
{
	char line[64];

	(void)argv;
	if (!fgets(line, sizeof line, stdin))
		return;
	for (const char *p = line; *p && *p != '\n'; p++)
		setting = *p >= '0' && *p <= '9' ? setting * 10 + (*p - '0') : setting;
}

/* The input passes through several loops over arrays before a sum is computed from it. */
#define COLUMNS 200
static char text[COLUMNS];
static int column[COLUMNS], scaled[COLUMNS];

static void summed_stdin(char **argv)
{
	(void)argv;
	if (!fgets(text, sizeof text, stdin))
		return;
	for (int i = 0; i < COLUMNS; i++)
		column[i] = text[i];
	for (int i = 0; i < COLUMNS; i++)
		scaled[i] = column[i] * 2 + text[0];
	for (int i = 0; i < COLUMNS; i++)
		setting += scaled[i] - text[0];
	setting /= 2;
}

/* ---- more inputs, of the hold-out set in `labels-input` ---- */

static void hex_argument(char **argv)
{
	setting = strtol(argv[1], NULL, 16) == 0xbeef ? 7 : 0;
}

static void second_scanned(char **argv)
{
	char line[64];
	int first, second = 0;

	(void)argv;
	if (fgets(line, sizeof line, stdin) && sscanf(line, "%d,%d", &first, &second) == 2)
		setting = second - 70;
}

static void word_environment(char **argv)
{
	const char *text = getenv("LIMIT");

	(void)argv;
	setting = text && !strcmp(text, "fast") ? 7 : 0;
}

static void line_file(char **argv)
{
	char line[32];
	FILE *f = fopen(argv[1], "r");

	if (f && fgets(line, sizeof line, f))
		setting = atoi(line) == 2042 ? 7 : 0;
}

static void length_stdin(char **argv)
{
	char line[64];

	(void)argv;
	if (fgets(line, sizeof line, stdin))
		setting = strlen(line) < 4 ? 7 : 0;
}

static void prefix_argument(char **argv)
{
	setting = !strncmp(argv[1], "--x", 3) ? 7 : 0;
}

static void getline_stdin(char **argv)
{
	char *line = NULL;
	size_t size = 0;

	(void)argv;
	if (getline(&line, &size, stdin) > 0)
		setting = line[0] == '!' ? 7 : 0;
	free(line);
}

static void descriptor_file(char **argv)
{
	char two[2] = "";
	int fd = open(argv[1], O_RDONLY);

	if (read(fd, two, 2) == 2)
		setting = two[1] - two[0] == 3 ? 7 : 0;
	close(fd);
}

/* Pointers that depend on the input are kept in memory: the address of a row, and the address of the
 * variable that a conditional expression chooses. */
static const struct row {
	const char *name;
	long number;
} rows[] = {{"none", 1}, {"low", 2}, {"high", 7}, {"full", 3}}, *row;
static long seven = 7, eight = 8, *chosen;

static void row_argument(char **argv)
{
	row = &rows[argv[1][0] & 3];
}

static void chosen_argument(char **argv)
{
	chosen = argv[1][0] == 's' ? &seven : &eight;
}

/* ---- what the race does ---- */

/* After figure 15 of Kasikci's thesis: the value that the racing read returns is ignored with one
 * input, and leads to a crash with another. */
static void *crashes_above_hundred(void *arg)
{
	int seen = shared;

	(void)arg;
	if (setting > 100 && !seen)
		*(volatile char *)table = 1;
	return NULL;
}

static void *crashes_when_set(void *arg)
{
	int seen = shared;

	(void)arg;
	if (setting == 1 && !seen)
		*(volatile char *)table = 1;
	return NULL;
}

static void *crashes_at_seven(void *arg)
{
	int seen = shared;

	(void)arg;
	if (setting == 7 && !seen)
		abort();
	return NULL;
}

static void *crashes_at_the_third_row(void *arg)
{
	int seen = shared;

	if (row == &rows[2] && !seen)
		abort();
	return arg;
}

static void *crashes_at_the_chosen(void *arg)
{
	int seen = shared;

	if (*chosen == 7 && !seen)
		abort();
	return arg;
}

/* With one input, the thread also reads the racy variable on an earlier line. */
static void *looks_twice(void *arg)
{
	int seen;

	if (setting > 100 && shared == 3)
		return arg;
	seen = shared;
	if (setting > 100 && !seen)
		abort();
	return arg;
}

/* With one input, the thread does not reach the race. */
static void *skips(void *arg)
{
	return setting <= 100 && shared == 7 ? NULL : arg;
}

static void *fails_in_a_range(void *arg)
{
	int seen = shared;

	(void)arg;
	assert(setting < 1000 || setting > 1010 || seen);
	return NULL;
}

static void *prints_when_negative(void *arg)
{
	int seen = shared;

	(void)arg;
	if (setting < 0)
		printf("%d\n", seen);
	return NULL;
}

static void *never_minds(void *arg)
{
	volatile int seen = shared;

	(void)arg;
	(void)seen;
	if (setting > 50)
		puts("large");
	return NULL;
}

/* The program prints its input in one order and a constant in the other.  With the recorded input
 * the two are the same, although no branch tests for that. */
static void *writes_five(void *arg)
{
	(void)arg;
	shared = 5;
	return NULL;
}

/* The input also decides which of three reads takes part in the race. */
static void *behind_a_switch(void *arg)
{
	int seen;

	(void)arg;
	switch (setting) {
	case 1: seen = shared; break;
	case 2: seen = shared + 1; break;
	default: seen = shared;
	}
	if (setting == 3 && !seen)
		abort();
	return NULL;
}

#define OTHERWISE(n)                                                                                         \
	if (setting > (n))                                                                                   \
	__asm__ volatile("# %0" ::"i"(n))

/* More branches depend on the input than paths are explored; the race affects only the last one. */
static void *crashes_behind_others(void *arg)
{
	int seen = shared;

	OTHERWISE(700);
	OTHERWISE(600);
	OTHERWISE(500);
	OTHERWISE(400);
	OTHERWISE(300);
	OTHERWISE(200);
	if (setting == seen + 50)
		abort();
	return arg;
}

#define argv_above number_argument, crashes_above_hundred
#define argv_word word_argument, crashes_when_set
#define argv_prints number_argument, prints_when_negative
#define argv_harmless number_argument, never_minds
#define argv_written number_argument, writes_five
#define argv_switch number_argument, behind_a_switch
#define argv_behind number_argument, crashes_behind_others
#define stdin_above number_stdin, crashes_above_hundred
#define stdin_scanned number_scanned, crashes_at_seven
#define stdin_letter letter_stdin, crashes_at_seven
#define stdin_parsed parsed_stdin, fails_in_a_range
#define argv_hex hex_argument, crashes_at_seven
#define stdin_second second_scanned, crashes_at_seven
#define env_word word_environment, crashes_at_seven
#define file_line line_file, crashes_at_seven
#define stdin_length length_stdin, crashes_at_seven
#define argv_prefix prefix_argument, crashes_at_seven
#define stdin_getline getline_stdin, crashes_at_seven
#define file_descriptor descriptor_file, crashes_at_seven
#define stdin_summed summed_stdin, fails_in_a_range
#define file_above number_file, crashes_above_hundred
#define file_range number_file, fails_in_a_range
#define argv_row row_argument, crashes_at_the_third_row
#define argv_chosen chosen_argument, crashes_at_the_chosen
#define argv_skips number_argument, skips
#define argv_twice number_argument, looks_twice
#define env_above number_environment, crashes_above_hundred

static const struct {
	void (*read)(char **argv);
	void *(*work)(void *arg);
} program = {PROGRAM};

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argc;
	program.read(argv);
	pthread_create(&t, NULL, program.work, NULL);
	shared = program.work == writes_five ? (int)setting : 1;
	pthread_join(t, NULL);
	if (program.work == writes_five)
		printf("%d\n", shared);
	puts("done");
	return 0;
}
