// SPDX-License-Identifier: Apache-2.0
/*
 * Options as data.  In: a command's table and its arguments.  Out: values, stored through the
 * table's pointers, and help on stdout.  The hidden --list-options prints the table for shell
 * completion and for the test that compares it with the man page.
 */
#include "base/option.h"

#include "base/buf.h"
#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of help texts.  Lines fit a terminal of 80 columns; most options end before the
 * column in which explanations begin. */
enum { LINE_WIDTH = 79, HELP_COLUMN = 24 };

/* The length of the longest word that is compared with the options, in letters.  A longer word is
 * not a misspelt option. */
enum { NEAREST_MAX = 32 };

static bool takes_argument(const struct rd_option *o)
{
	return o->type != RD_OPT_FLAG;
}

/* Appends "=FILE", "[=FILE]" or nothing. */
static void add_argument(const struct rd_option *o, struct rd_buf *out)
{
	bool optional = o->traits & RD_OPT_OPTIONAL;

	if (takes_argument(o))
		rd_buf_addf(out, "%s=%s%s", optional ? "[" : "", o->argument, optional ? "]" : "");
}

/* Returns true if a paragraph ends here: at a blank line, before an indented line, or at the
 * end. */
static bool ends_paragraph(const char *text)
{
	return !*text || (*text == '\n' && strchr("\n \t", text[1]));
}

/* Prints a paragraph.  Its first line begins at `column`, the others at `indent`.  Returns the text
 * after the paragraph.  Line breaks in the source text do not matter. */
static const char *print_wrapped(const char *text, size_t column, size_t indent)
{
	bool first = true;

	while (!ends_paragraph(text)) {
		size_t n = strcspn(text, " \n");

		if (!first && column + 1 + n > LINE_WIDTH) {
			printf("\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		printf("%s%.*s", first ? "" : " ", (int)n, text);
		column += n + !first;
		first = false;
		text += n;
		while (!ends_paragraph(text) && (*text == ' ' || *text == '\n'))
			text++;
	}
	putchar('\n');
	return *text ? text + 1 : text;
}

/* Prints paragraphs wrapped.  Lines that begin with white space are preformatted. */
static void print_summary(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		if (!n || *text == ' ' || *text == '\t') {
			printf("%.*s\n", (int)n, text);
			text += n + (text[n] == '\n');
		} else {
			text = print_wrapped(text, 0, 0);
		}
	}
}

static void print_option(const struct rd_option *o)
{
	struct rd_buf left = RD_BUF_INIT, help = RD_BUF_INIT;

	if (o->letter)
		rd_buf_addf(&left, "  -%c, --%s", o->letter, o->name);
	else
		rd_buf_addf(&left, "      --%s", o->name);
	add_argument(o, &left);
	if (left.length + 2 > HELP_COLUMN)
		printf("%s\n%*s", left.data, HELP_COLUMN, "");
	else
		printf("%-*s", HELP_COLUMN, left.data);
	rd_buf_adds(&help, o->help);
	if (o->initial && *o->initial)
		rd_buf_addf(&help, " (%s)", o->initial);
	print_wrapped(help.data, HELP_COLUMN, HELP_COLUMN);
	rd_buf_release(&left);
	rd_buf_release(&help);
}

static const struct rd_option help_option = RD_FLAG('h', "help", NULL, "show this help");

static void print_help(const struct rd_usage *usage)
{
	printf("usage: %s\n\n", usage->synopsis);
	print_summary(usage->summary);
	printf("\noptions:\n");
	for (const struct rd_option *o = usage->options; o->type != RD_OPT_END; o++)
		print_option(o);
	print_option(&help_option);
	if (usage->example) {
		size_t n = strlen(usage->example);

		printf("\nexample:\n%s%s", usage->example, n && usage->example[n - 1] == '\n' ? "" : "\n");
	}
}

static void list_option(const struct rd_option *o)
{
	struct rd_buf line = RD_BUF_INIT;

	if (o->letter)
		rd_buf_addf(&line, "-%c ", o->letter);
	rd_buf_addf(&line, "--%s", o->name);
	add_argument(o, &line);
	puts(line.data);
	rd_buf_release(&line);
}

static void print_list(const struct rd_usage *usage)
{
	for (const struct rd_option *o = usage->options; o->type != RD_OPT_END; o++)
		list_option(o);
	list_option(&help_option);
}

/* Returns the Damerau-Levenshtein distance, which is the number of letters to change, add, drop or
 * swap with their neighbour. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	size_t row[3][NEAREST_MAX + 1];

	if (na > NEAREST_MAX || nb > NEAREST_MAX)
		return SIZE_MAX;
	for (size_t k = 0; k <= nb; k++)
		row[0][k] = k;
	for (size_t i = 1; i <= na; i++) {
		size_t *now = row[i % 3], *up = row[(i + 2) % 3], *upper = row[(i + 1) % 3];

		now[0] = i;
		for (size_t k = 1; k <= nb; k++) {
			size_t best = up[k - 1] + (a[i - 1] != b[k - 1]);

			if (up[k] + 1 < best)
				best = up[k] + 1;
			if (now[k - 1] + 1 < best)
				best = now[k - 1] + 1;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    upper[k - 2] + 1 < best)
				best = upper[k - 2] + 1;
			now[k] = best;
		}
	}
	return row[na % 3][nb];
}

bool rd_is_near(const char *word, const char *candidate, size_t *best)
{
	size_t d = edit_distance(word, candidate), n = strlen(word);

	if (d >= *best || d > (n < 4 ? 1 : n < 8 ? 2 : 3))
		return false;
	*best = d;
	return true;
}

static int unknown_option(const char *name, size_t n, const struct rd_usage *usage)
{
	const char *nearest = NULL;
	size_t best = SIZE_MAX;
	struct rd_buf word = RD_BUF_INIT;

	rd_buf_add(&word, name, n);
	for (const struct rd_option *o = usage->options; o->type != RD_OPT_END; o++)
		if (rd_is_near(word.data, o->name, &best))
			nearest = o->name;
	if (nearest)
		rd_fail(RD_EUSAGE, "unknown option --%s; did you mean --%s?", word.data, nearest);
	else
		rd_fail(RD_EUSAGE, "unknown option --%s; --help lists all options", word.data);
	rd_buf_release(&word);
	return RD_EUSAGE;
}

/* ---- values ---- */

static int set_number(const struct rd_option *o, const char *where, const char *text, uint64_t value)
{
	bool bounded = o->max && o->type == RD_OPT_NUMBER;

	if (value < o->min || (o->max && value > o->max))
		return bounded ? rd_fail(RD_EUSAGE, "%s--%s=%s: out of range (%" PRIu64 " to %" PRIu64 ")",
					 where, o->name, text, o->min, o->max)
			       : rd_fail(RD_EUSAGE, "%s--%s=%s: out of range", where, o->name, text);
	*(uint64_t *)o->value = value;
	return 0;
}

static int parse_number(const struct rd_option *o, const char *where, const char *text)
{
	static const char suffixes[] = "kKMGT";
	static const unsigned char shifts[] = {10, 10, 20, 30, 40};
	unsigned long long value;
	const char *suffix;
	unsigned shift = 0;
	char *end;

	errno = 0;
	value = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	if (*end && (suffix = strchr(suffixes, *end))) {
		shift = shifts[suffix - suffixes];
		end++;
	}
	if (*text < '0' || *text > '9' || *end)
		return rd_fail(RD_EUSAGE, "%s--%s=%s: not a number (such as 4096, 64k, 16M or 2G)", where,
			       o->name, text);
	if (errno == ERANGE || value > UINT64_MAX >> shift)
		return rd_fail(RD_EUSAGE, "%s--%s=%s: the number is too large", where, o->name, text);
	return set_number(o, where, text, (uint64_t)value << shift);
}

/* Skips digits and an optional fraction. strtod() would also accept nan, inf and hexadecimal
 * numbers. */
static const char *skip_decimal(const char *text)
{
	size_t n = strspn(text, "0123456789");

	if (n && text[n] == '.')
		n += 1 + strspn(text + n + 1, "0123456789");
	return text + n;
}

static int parse_duration(const struct rd_option *o, const char *where, const char *text)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {{"", 1e3}, {"s", 1e3}, {"ms", 1}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3}};
	const char *unit = skip_decimal(text);

	for (size_t i = 0; i < sizeof units / sizeof *units && unit != text; i++) {
		double ms = !strcmp(unit, units[i].name) ? strtod(text, NULL) * units[i].ms : -1;

		if (ms > 1e15)
			return rd_fail(RD_EUSAGE, "%s--%s=%s: out of range", where, o->name, text);
		if (ms > 0 && ms < 1)
			ms = 1; /* 0 would mean no limit */
		if (ms >= 0)
			return set_number(o, where, text, (uint64_t)ms);
	}
	return rd_fail(RD_EUSAGE, "%s--%s=%s: not a duration (such as 30, 500ms, 30s, 5m or 1h)", where,
		       o->name, text);
}

int rd_option_set(const struct rd_option *o, const char *where, const char *argument)
{
	if (!argument && takes_argument(o)) {
		if (!(o->traits & RD_OPT_OPTIONAL))
			return rd_fail(RD_EUSAGE, "%soption --%s needs an argument%s (%s)", where, o->name,
				       *where ? " after '='" : "", o->argument);
		argument = "-";
	}
	switch (o->type) {
	case RD_OPT_FLAG:
		if (argument)
			return rd_fail(RD_EUSAGE, "%soption --%s takes no argument", where, o->name);
		*(bool *)o->value = true;
		return 0;
	case RD_OPT_STRING: *(const char **)o->value = argument; return 0;
	case RD_OPT_NUMBER: return parse_number(o, where, argument);
	case RD_OPT_DURATION: return parse_duration(o, where, argument);
	case RD_OPT_END: break;
	}
	RD_BUG("an option of no known type");
}

static void init_option(const struct rd_option *o)
{
	if (o->type == RD_OPT_FLAG)
		*(bool *)o->value = false;
	else if (o->type == RD_OPT_STRING)
		*(const char **)o->value = NULL;
	else if (!o->initial || !*o->initial)
		*(uint64_t *)o->value = o->initial ? RD_OPTION_UNSET : 0;
	else if (rd_option_set(o, "", o->initial))
		RD_BUG("an initial value that its option does not take");
}

void rd_options_init(const struct rd_option *options)
{
	for (const struct rd_option *o = options; o->type != RD_OPT_END; o++)
		init_option(o);
}

const struct rd_option *rd_option_find(const struct rd_option *options, const char *name, size_t n)
{
	for (const struct rd_option *o = options; o->type != RD_OPT_END; o++)
		if (!strncmp(o->name, name, n) && !o->name[n])
			return o;
	return NULL;
}

/* ---- arguments ---- */

/* Returns true if the word after an option is its argument. */
static bool takes_next(const struct rd_option *o, const char *next, const struct rd_usage *usage)
{
	if (!next || !takes_argument(o) || !strcmp(next, "--"))
		return false;
	if (o->traits & RD_OPT_OPTIONAL)
		return usage->next_word && (next[0] != '-' || !next[1]);
	return true;
}

/* parse_long() and parse_letters() return the number of arguments that they used, or a negative
 * rd_err. */
static int parse_long(char **args, const struct rd_usage *usage)
{
	const char *name = args[0] + 2, *equals = strchr(name, '=');
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	const struct rd_option *o = rd_option_find(usage->options, name, n);
	bool next = o && !equals && takes_next(o, args[1], usage);
	int err;

	if (!o)
		return unknown_option(name, n, usage);
	err = rd_option_set(o, "", equals ? equals + 1 : next ? args[1] : NULL);
	return err ? err : 1 + next;
}

static int parse_letters(char **args, const struct rd_usage *usage)
{
	for (const char *p = args[0] + 1; *p; p++) {
		const struct rd_option *o = usage->options;
		bool next;
		int err;

		while (o->type != RD_OPT_END && o->letter != *p)
			o++;
		if (o->type == RD_OPT_END)
			return rd_fail(RD_EUSAGE, "unknown option -%c; --help lists all options", *p);
		next = !p[1] && takes_next(o, args[1], usage);
		if (takes_argument(o) && !p[1] && !next)
			return rd_fail(RD_EUSAGE, "option -%c needs an argument (%s)", *p, o->argument);
		err = rd_option_set(o, "", !takes_argument(o) ? NULL : next ? args[1] : p + 1);
		if (err || takes_argument(o))
			return err ? err : 1 + next;
	}
	return 1;
}

int rd_options_parse(int argc, char **argv, const struct rd_usage *usage)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-' && argv[i][1]) {
		int taken;

		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			print_help(usage);
			return RD_OPTION_HELP;
		}
		if (!strcmp(argv[i], "--list-options")) {
			print_list(usage);
			return RD_OPTION_HELP;
		}
		taken = argv[i][1] == '-' ? parse_long(argv + i, usage) : parse_letters(argv + i, usage);
		if (taken < 0)
			return taken;
		i += taken;
	}
	return i;
}
