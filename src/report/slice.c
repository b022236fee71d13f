// SPDX-License-Identifier: Apache-2.0
/*
 * Prints the source lines of a slice, and the events of a tracked run, in 80 columns.  In: the
 * slice with its facts, and the events of a run.  Out: lines of text.  If a source line cannot be
 * read, a description of the statement replaces it.
 */
#include "report/slice.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "report/source-int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The width of a line in columns, and the width of the margin before its source text. */
enum { WIDTH = 80, MARGIN = 15 };
/* maximum size of a source file in bytes; larger files were generated */
enum { SOURCE_MAX = 8 << 20 };
/* larger values are shown in hexadecimal, since they are addresses or masks */
enum { DECIMAL_MAX = 4096 };
/* maximum width of a variable's name in the description of a statement */
enum { NAME_MAX_SHOWN = 24 };
/* The description of another instruction is added only if at least this many columns are free. */
enum { ROOM_FOR_MORE = 40 };

/* A line of the slice.  Lines are sorted by function, then by line. */
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

/* Prints a description of the statement, in place of a line that cannot be read. */
static void print_words(FILE *out, struct slice *s, const struct line *line)
{
	static const char *const words[] = {"reads", "writes", "decides", "calls", "synchronises"};
	int room = WIDTH - MARGIN;

	for (size_t i = line->item; i < s->count && s->items[i].statement == line->statement; i++) {
		struct slice_statement it = slice_statement_at(s, i);

		room -= fprintf(out, "%s%s%s%.*s", i > line->item ? ", " : "", words[it.kind],
				it.variable ? " " : "", room > NAME_MAX_SHOWN ? NAME_MAX_SHOWN : 0,
				it.variable ? it.variable : "");
		if (room < ROOM_FOR_MORE)
			break;
	}
	putc('\n', out);
}

/* Prints a source line without leading blanks, cut to the width. */
static bool print_source(FILE *out, const struct rd_buf *text, uint32_t number)
{
	const char *line = text->length ? source_line(text->data, number) : NULL;
	char shown[WIDTH - MARGIN + 1];
	size_t length;

	if (!line)
		return false;
	line += strspn(line, " \t");
	length = strcspn(line, "\r\n");
	length = length < sizeof shown - 1 ? length : sizeof shown - 1;
	while (length && (line[length] & 0xc0) == 0x80) /* do not cut inside a character */
		length--;
	memcpy(shown, line, length);
	shown[length] = '\0';
	rd_make_printable(shown, length, false);
	fprintf(out, "%s\n", shown);
	return true;
}

static void print_line(FILE *out, struct slice *s, const struct line *line, const struct rd_buf *text)
{
	fprintf(out, "%c %4" PRIu32 "  %5" PRIu32 "  ", line->statement ? ' ' : '!', line->statement,
		line->line);
	if (!print_source(out, text, line->line))
		print_words(out, s, line);
}

static void print_lines(FILE *out, struct slice *s, const struct line *lines, size_t count)
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
			fprintf(out, "\n%s  %s()\n", facts_string(f, lines[i].file),
				facts_string(f, f->functions[lines[i].function].name));
		print_line(out, s, &lines[i], &text);
	}
	rd_buf_release(&text);
}

void report_slice_text(struct slice *s, FILE *out)
{
	const struct facts *f = s->facts;
	struct line *lines = rd_xcalloc(s->statements + 1, sizeof *lines);
	size_t count = 0, functions = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct facts_value *v = &f->values[s->items[i].value];

		if (i && s->items[i].statement == s->items[i - 1].statement)
			continue;
		RD_ASSERT(count < s->statements);
		lines[count++] = (struct line){facts_function_at(f, s->items[i].value), v->file, v->line,
					       s->items[i].statement, i};
	}
	qsort(lines, count, sizeof *lines, by_place);
	for (size_t i = 0; i < count; i++)
		functions += !i || lines[i].function != lines[i - 1].function;
	fprintf(out, "Slice of %s:%" PRIu32 ": %zu statements in %zu functions.\n", facts_string(f, s->file),
		s->line, count, functions);
	if (s->moved)
		fputs("There is no code at the requested line; this is the nearest one.\n", out);
	print_lines(out, s, lines, count);
	free(lines);
}

static void print_event(FILE *out, const struct sketch_runs *runs, const struct sketch_event *e)
{
	static const char *const words[] = {"reads", "writes", "branch", "calls", "sync"};
	const struct slice_statement *s = &runs->statements[e->statement];
	const char *what = s->variable ? s->variable : "";
	char text[WIDTH];

	snprintf(text, sizeof text, "%s %s", s->operation ? s->operation : words[s->kind], what);
	rd_make_printable(text, strlen(text), false);
	fprintf(out, "  T%-3" PRIu32 " %c %-36.36s %.20s:%" PRIu32, e->thread, s->found ? '+' : ' ', text,
		rd_base_name(s->file), s->line);
	if (e->size && (e->value < DECIMAL_MAX || s->kind == SLICE_BRANCH))
		fprintf(out, "  %" PRIu64, e->value);
	else if (e->size)
		fprintf(out, "  0x%" PRIx64, e->value);
	putc('\n', out);
}

void report_track_text(const struct sketch_runs *runs, const struct track_end *end, FILE *out)
{
	const struct sketch_run *run = &runs->items[0];

	fprintf(out, "The run %s%s%s; %zu events at %zu statements, %" PRIu64 " seen.\n",
		run->signature ? "failed: " : "passed", run->signature ? run->signature : "",
		run->perturbed ? " (its threads were delayed at random)" : "", run->count,
		runs->statement_count, end->seen);
	if (end->no_hardware)
		fputs("No hardware watchpoint was available; the run was tracked only by instrumentation.\n",
		      out);
	for (size_t i = 0; i < run->count; i++)
		print_event(out, runs, &run->events[i]);
}
