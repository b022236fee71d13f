// SPDX-License-Identifier: Apache-2.0
/* `raddle slice`: the statements that may have a part in a failure at a place, shown on the source. */
#include "sketch/track.h"

#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/printable.h"
#include "bitcode/facts.h"
#include "cmd/cmd.h"
#include "cmd/output.h"
#include "report/source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, MARGIN = 15, SOURCE_MAX = 8 << 20 };
enum { PATIENCE = 10 }; /* times the limit for a run that computes, or would if it got a processor */

static const struct cmd_usage usage = {
	"raddle slice --at FILE:LINE [--json FILE] [--track] PROG [-- ARGS...]",
	"Shows the static backward slice of a place: the statements of a program that\n"
	"'raddle cc' built which may have had a part in what happens there, in all functions\n"
	"and threads.  The program is not run.  The number before a line says how near the\n"
	"statement is to the failure, which has 0.  With --track the program is run once, and\n"
	"what its threads did at these statements and to their memory is shown in order.",
	"at json track sigma budget perturb hardware timeout quick verbose",
	"  raddle slice --at queue.c:45 ./server\n"
	"  raddle slice --at queue.c:45 --json slice.json ./server\n"
	"  raddle slice --at queue.c:45 --track --sigma 4 ./server -- --port 80\n",
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
	rd_make_printable(shown, length, false);
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

/* The document: the slice, and the run if there was one. */
struct document {
	struct slice *slice;
	const struct track *track;
	const struct sketch_runs *runs;
	const struct track_end *end;
};

static int write_json(const void *what, FILE *out)
{
	const struct document *d = what;
	struct rd_json j;

	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	slice_json(d->slice, &j);
	if (d->runs)
		track_json(d->track, d->runs, d->end, &j);
	rd_json_end(&j);
	return 0;
}

/* ---- a run ---- */

static void print_event(const struct sketch_runs *runs, const struct sketch_event *e)
{
	static const char *const words[] = {"reads", "writes", "branch", "calls", "sync"};
	const struct sketch_statement *s = &runs->statements[e->statement];
	const char *what = s->variable ? s->variable : "";
	char text[WIDTH];

	snprintf(text, sizeof text, "%s %s", s->operation ? s->operation : words[s->kind], what);
	rd_make_printable(text, strlen(text), false);
	printf("  T%-3" PRIu32 " %c %-36.36s %.20s:%" PRIu32, e->thread, s->found ? '+' : ' ', text,
	       rd_base_name(s->file), s->line);
	if (e->size && (e->value < 4096 || s->kind == SKETCH_BRANCH))
		printf("  %" PRIu64, e->value);
	else if (e->size)
		printf("  0x%" PRIx64, e->value);
	putchar('\n');
}

static void print_run(const struct sketch_runs *runs, const struct track_end *end)
{
	const struct sketch_run *run = &runs->items[0];

	printf("The run %s%s%s; %zu events at %zu statements, %" PRIu64 " seen.\n",
	       run->signature ? "failed: " : "passed", run->signature ? run->signature : "",
	       run->perturbed ? " (its threads lost time by chance)" : "", run->count, runs->statement_count,
	       end->seen);
	if (end->no_hardware)
		puts("The system has no watchpoints for us; gates in the code tracked alone.");
	for (size_t i = 0; i < run->count; i++)
		print_event(runs, &run->events[i]);
}

static int track_once(struct slice *s, char **argv)
{
	const struct track_how how = {
		.sigma = (uint32_t)opt.sigma, .quick = opt.quick, .verbose = opt.verbose};
	const struct run_limits limits = {
		.wall_ms = cmd_limit(opt.timeout, CMD_FOREVER), .patience = PATIENCE, .interrupts = 1};
	const struct track_request request = {.argv = argv,
					      .limits = &limits,
					      .sigma = (uint32_t)opt.sigma,
					      .budget = (uint32_t)opt.budget,
					      .hardware = opt.hardware,
					      .perturb = opt.perturb};
	struct sketch_runs runs = {0};
	struct track_end end = {0};
	struct track t;
	int err = track_open(&t, argv[0], s, &how);

	if (!err)
		err = track_run(&t, &request, &runs, &end);
	if (!err)
		err = cmd_document(opt.json, write_json, &(struct document){s, &t, &runs, &end});
	if (!err && !cmd_output_is_stdout())
		print_run(&runs, &end);
	sketch_runs_release(&runs);
	track_end_release(&end);
	track_close(&t);
	return err;
}

/* ---- the command ---- */

/* `argv`: of the run, if there is to be one. */
static int show(const struct facts *f, const char *file, uint32_t line, char **argv)
{
	struct slice_place at;
	struct slice s;
	int err = slice_find(&at, f, file, line);

	if (!err) {
		slice_make(&s, f, &at);
		if (argv)
			err = track_once(&s, argv);
		else
			err = cmd_document(opt.json, write_json, &(struct document){.slice = &s});
		if (!err && !argv && !cmd_output_is_stdout())
			print_slice(&s);
		slice_release(&s);
	}
	slice_place_release(&at);
	return err;
}

static int slice_program(const char *program, char **argv)
{
	struct facts *f;
	char *file;
	uint32_t line = 0;

	if (parse_place(opt.at, &file, &line))
		return CMD_FAILED;
	int err = rd_facts_open(program, &f);
	if (!err) {
		err = show(f, file, line, argv);
		facts_free(f);
	}
	free(file);
	return err ? CMD_FAILED : CMD_OK;
}

static int slice(const char *program)
{
	return slice_program(program, NULL);
}

int cmd_slice(int argc, char **argv)
{
	size_t count;
	bool track = false;

	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		track |= !strcmp(argv[i], "--track");
	if (!track)
		return cmd_operand(argc, argv, &usage, "a program", slice);
	int status = cmd_operands(argc, argv, &usage, &count);
	if (status != CMD_GO_ON)
		return status;
	return count ? slice_program(argv[1], argv + 1) : cmd_which(argv[0], "program");
}
