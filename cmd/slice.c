// SPDX-License-Identifier: Apache-2.0
/* `raddle slice`: the statements that may have a part in a failure at a place, shown on the source. */
#include "sketch/slice.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/shown.h"
#include "bitcode/facts.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "report/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, MARGIN = 15, SOURCE_MAX = 8 << 20 };

static const struct cmd_usage usage = {
	"raddle slice --at FILE:LINE [--json FILE] PROG",
	"Shows the static backward slice of a place: the statements of a program that\n"
	"'raddle cc' built which may have had a part in what happens there, in all functions\n"
	"and threads.  The program is not run.  The number before a line says how near the\n"
	"statement is to the failure, which has 0.",
	"at json",
	"  raddle slice --at queue.c:45 ./server\n"
	"  raddle slice --at queue.c:45 --json slice.json ./server\n",
	false,
};

/* FILE:LINE; a column behind it, as compilers and debuggers print it, is left alone. */
static int parse_place(const char *text, char **file, uint32_t *line)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	char *end = NULL;
	unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon == text || end == colon + 1 || (*end && *end != ':') || !number ||
	    number >= UINT32_MAX)
		return rd_fail(RD_EUSAGE,
			       "--at: which place?  It is given as FILE:LINE, for example queue.c:45");
	*file = strndup(text, (size_t)(colon - text));
	*line = (uint32_t)number;
	return *file ? 0 : rd_fail(RD_ENOMEM, "--at: there is no memory");
}

/* By function, then by line. */
struct line {
	uint32_t function, file, line, statement;
	size_t item;
};

static int by_place(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	RD_BY(x->function, y->function);
	RD_BY(x->file, y->file);
	RD_BY(x->line, y->line);
	return 0;
}

/* In place of a line that cannot be read: what happens there. */
static void print_words(struct slice *s, const struct line *line)
{
	static const char *const words[] = {"reads", "writes", "decides", "calls", "synchronises"};
	int room = WIDTH - MARGIN;

	for (size_t i = line->item; i < s->count && s->items[i].statement == line->statement; i++) {
		struct sketch_statement it = slice_statement(s, i);

		room -= printf("%s%s%s%.*s", i > line->item ? ", " : "", words[it.kind],
			       it.variable ? " " : "", room > 24 ? 24 : 0, it.variable ? it.variable : "");
		if (room < 40)
			break;
	}
	putchar('\n');
}

/* The line without the blanks before it, as far as it fits. */
static bool print_source(const struct rd_buf *text, uint32_t number)
{
	const char *line = text->length ? source_line(text->data, number) : NULL;
	char shown[WIDTH - MARGIN + 1];
	size_t length;

	if (!line)
		return false;
	line += strspn(line, " \t");
	length = strcspn(line, "\r\n");
	length = length < sizeof shown - 1 ? length : sizeof shown - 1;
	while (length && (line[length] & 0xc0) == 0x80) /* not within a character */
		length--;
	memcpy(shown, line, length);
	shown[length] = '\0';
	rd_shown(shown, length, false);
	puts(shown);
	return true;
}

static void print_line(struct slice *s, const struct line *line, const struct rd_buf *text)
{
	printf("%c %4" PRIu32 "  %5" PRIu32 "  ", line->statement ? ' ' : '!', line->statement, line->line);
	if (!print_source(text, line->line))
		print_words(s, line);
}

static void print_lines(struct slice *s, const struct line *lines, size_t count)
{
	struct rd_buf text = RD_BUF_INIT;
	const struct facts *f = s->facts;

	for (size_t i = 0; i < count; i++) {
		bool other_file = !i || lines[i].file != lines[i - 1].file;

		if (other_file) {
			rd_buf_clear(&text);
			if (!source_read(facts_string(f, lines[i].file), SOURCE_MAX, &text))
				rd_buf_clear(&text);
		}
		if (other_file || lines[i].function != lines[i - 1].function)
			printf("\n%s  %s()\n", facts_string(f, lines[i].file),
			       facts_string(f, f->functions[lines[i].function].name));
		print_line(s, &lines[i], &text);
	}
	rd_buf_release(&text);
}

static void print_slice(struct slice *s)
{
	const struct facts *f = s->facts;
	struct line *lines = calloc(s->statements + 1, sizeof *lines);
	size_t count = 0, functions = 0;

	if (!lines)
		return;
	for (size_t i = 0; i < s->count; i++) {
		const struct facts_value *v = &f->values[s->items[i].value];

		if (i && s->items[i].statement == s->items[i - 1].statement)
			continue;
		lines[count++] = (struct line){facts_function_at(f, s->items[i].value), v->file, v->line,
					       s->items[i].statement, i};
	}
	qsort(lines, count, sizeof *lines, by_place);
	for (size_t i = 0; i < count; i++)
		functions += !i || lines[i].function != lines[i - 1].function;
	printf("Slice of %s:%" PRIu32 ": %zu statements in %zu functions.\n", facts_string(f, s->file),
	       s->line, count, functions);
	if (s->moved)
		puts("There is no code at the line that was asked for; this is the nearest one.");
	print_lines(s, lines, count);
	free(lines);
}

static int write_json(const void *what, FILE *out)
{
	return slice_json((struct slice *)what, out);
}

static int show(const struct facts *f, const char *file, uint32_t line)
{
	struct slice_place at;
	struct slice s;
	int err = slice_find(&at, f, file, line);

	if (!err) {
		slice_make(&s, f, &at);
		err = cmd_document(opt.json, write_json, &s);
		if (!err && !cmd_output_is_stdout())
			print_slice(&s);
		slice_release(&s);
	}
	slice_place_release(&at);
	return err;
}

static int slice(const char *program)
{
	struct facts *f;
	char *path, *file;
	uint32_t line = 0;

	if (parse_place(opt.at, &file, &line))
		return CMD_FAILED;
	int err = rd_facts_build(program, &path);
	if (!err) {
		err = facts_read(&f, path);
		free(path);
	}
	if (!err) {
		err = show(f, file, line);
		facts_free(f);
	}
	free(file);
	return err ? CMD_FAILED : CMD_OK;
}

int cmd_slice(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a program", slice);
}
