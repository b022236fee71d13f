// SPDX-License-Identifier: Apache-2.0
/*
 * Reads failures from reports.  In: untrusted bytes.  Out: a failure.
 *
 * A report is read line by line.  The first line that names a kind of failure determines the kind.
 * The first frame in the user's code determines the place.  A frame is in the user's code if it has
 * a line number, is not a function of a sanitizer, and is not in a system directory.  No assumption
 * is made about lengths.
 */
#include "sketch/outcome.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Largest number of bytes of a report; chosen by hand to bound memory. */
#define MOST_REPORT (UINT64_C(16) << 20)
/* upper limit for line numbers; ten times this number fits into 64 bits */
#define MOST_LINE 1000000000u

void sketch_failure_release(struct sketch_failure *f)
{
	RD_FREE(f->what, f->file, f->function);
	*f = (struct sketch_failure){0};
}

/* ---- signatures ---- */

char *sketch_signature(const struct sketch_failure *f)
{
	struct rd_buf text = RD_BUF_INIT;

	RD_ASSERT(f->kind != SKETCH_PASSED);
	rd_buf_adds(&text, sketch_outcome_name(f->kind));
	if (f->what)
		rd_buf_addf(&text, " %s", f->what);
	if (f->function)
		rd_buf_addf(&text, " in %s", f->function);
	if (f->file)
		rd_buf_addf(&text, " at %s:%" PRIu32, rd_base_name(f->file), f->line);
	return rd_buf_detach(&text);
}

/* ---- pieces of lines ---- */

struct line {
	const char *at, *end;
};

static bool next_line(const char **at, const char *end, struct line *l)
{
	const char *stop;

	if (*at >= end)
		return false;
	stop = memchr(*at, '\n', (size_t)(end - *at));
	*l = (struct line){*at, stop ? stop : end};
	*at = stop ? stop + 1 : end;
	return true;
}

/* Returns the position of the words in the line, or NULL if they are not there. */
static const char *find(const struct line *l, const char *words)
{
	return memmem(l->at, (size_t)(l->end - l->at), words, strlen(words));
}

static void set(char **to, const char *from, size_t length)
{
	free(*to);
	*to = rd_xstrndup(from, length);
}

/* Parses FILE:LINE or FILE:LINE:COLUMN between `at` and `end`.  Returns false if the text is not a
 * place. */
static bool split_place(const char *at, const char *end, struct sketch_failure *f)
{
	const char *colon = end;
	uint64_t line = 0;

	while (end > at && (isdigit((unsigned char)end[-1]) || end[-1] == ':'))
		end--;
	colon = end > at ? memchr(end, ':', (size_t)(colon - end)) : NULL;
	if (!colon)
		return false;
	for (const char *p = colon + 1; isdigit((unsigned char)*p) && line < MOST_LINE; p++)
		line = line * 10 + (uint64_t)(*p - '0');
	if (!line || colon == at || line >= MOST_LINE)
		return false;
	set(&f->file, at, (size_t)(colon - at));
	f->line = (uint32_t)line;
	return true;
}

/* ---- assertions ---- */

static bool is_in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':' || c == '~';
}

/* Sets the function's name from a text such as "look" or "void *look(void *)". */
static void set_function(struct sketch_failure *f, const char *at, const char *end)
{
	const char *bracket = memchr(at, '(', (size_t)(end - at)), *stop = bracket ? bracket : end,
		   *begin = stop;

	while (begin > at && is_in_name(begin[-1]))
		begin--;
	if (begin == stop)
		begin = at;
	set(&f->function, begin, (size_t)(stop - begin));
}

bool sketch_read_assertion(struct sketch_failure *f, const char *text, size_t length)
{
	struct line l;

	for (const char *at = text; next_line(&at, text + length, &l);) {
		const char *said = find(&l, ": Assertion `"), *failed = find(&l, "' failed"), *function,
			   *name;

		if (!said || !failed || failed < said)
			continue;
		name = memmem(l.at, (size_t)(said - l.at), ": ", 2);
		function = said;
		while (name && function > name + 2 && memcmp(function - 2, ": ", 2) != 0)
			function--;
		if (!name || function <= name + 2 || !split_place(name + 2, function - 2, f))
			continue;
		f->kind = SKETCH_ASSERTION;
		set_function(f, function, said);
		set(&f->what, said + 2, (size_t)(failed + strlen("' failed") - said - 2));
		return true;
	}
	return false;
}

/* ---- texts ---- */

static bool is_of_system(const char *function, size_t length, const char *file)
{
	static const char *const folders[] = {"/usr/",	   "/lib/",	"/build/",   "../sysdeps/",
					      "./nptl/",   "./stdlib/", "./assert/", "./malloc/",
					      "./signal/", "./debug/",	"./string/"};
	static const char *const heads[] = {"__asan",	       "__tsan",      "__interceptor", "__sanitizer",
					    "__GI_",	       "__libc",      "__pthread",     "__assert",
					    "operator delete", "operator new"};

	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (!strncmp(file, folders[i], strlen(folders[i])))
			return true;
	if (strstr(file, "compiler-rt/") || strstr(file, "libsanitizer/"))
		return true;
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		if (length >= strlen(heads[i]) && !memcmp(function, heads[i], strlen(heads[i])))
			return true;
	return false;
}

/* Returns the length of a function's name, which ends at a bracket or blank. */
static size_t name_length(const char *at, const char *end)
{
	size_t n = 0;

	while (at + n < end && at[n] != '(' && at[n] != ' ' && at[n] != '<')
		n++;
	return n;
}

/* Reads a frame: "#1 0x4f in f(int) /src/a.c:12:3 (prog+0x1)" of sanitizers, "#1 f /src/a.c:12" of
 * TSan, "#1  0x4f in f (x=1) at a.c:12" of gdb. */
static bool read_frame(const struct line *l, struct sketch_failure *f)
{
	const char *in = find(l, " in "), *at = find(l, " at "), *end = l->end, *name = l->at, *place;
	struct sketch_failure found = {0};
	size_t length;

	while (name < l->end && *name == ' ')
		name++;
	if (name == l->end || *name != '#')
		return false;
	while (name < l->end && *name != ' ')
		name++;
	while (name < l->end && *name == ' ')
		name++;
	if (in && (!at || in < at))
		name = in + 4;
	if (find(l, " (") && !at)
		end = find(l, " (") > name ? find(l, " (") : end;
	place = at ? at + 4 : end;
	while (!at && place > name && place[-1] != ' ')
		place--;
	length = name_length(name, l->end);
	if (place <= name || !split_place(place, end, &found) || !length ||
	    is_of_system(name, length, found.file)) {
		sketch_failure_release(&found);
		return false;
	}
	RD_FREE(f->file, f->function);
	f->file = found.file;
	f->line = found.line;
	f->function = rd_xstrndup(name, length);
	return true;
}

/* Finds the kind of failure that a line states.  Returns false if it does not state a kind. */
static bool read_kind(const struct line *l, struct sketch_failure *f)
{
	static const struct {
		const char *words;
		enum sketch_outcome kind;
	} rows[] = {{"ERROR: AddressSanitizer: ", SKETCH_CRASH},
		    {"WARNING: ThreadSanitizer: ", SKETCH_CRASH},
		    {"FATAL: ThreadSanitizer: ", SKETCH_CRASH},
		    {"ERROR: LeakSanitizer: ", SKETCH_EXIT},
		    {"runtime error: ", SKETCH_CRASH},
		    {"Program terminated with signal ", SKETCH_CRASH},
		    {" received signal ", SKETCH_CRASH}};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *at = find(l, rows[i].words), *end;

		if (!at)
			continue;
		at += strlen(rows[i].words);
		for (end = at; end < l->end && !strchr(",.(\n", *end); end++)
			if (end > at && *end == ' ' && (end + 4 < l->end) && !memcmp(end, " on ", 4))
				break;
		while (end > at && end[-1] == ' ')
			end--;
		if (end == at)
			continue;
		f->kind = rows[i].kind;
		set(&f->what, at, (size_t)(end - at));
		if (!strncmp(f->what, "SIGINT", 6) || find(l, "lock-order-inversion"))
			f->kind = SKETCH_HANG;
		return true;
	}
	return false;
}

/* Reads the place at the start of a line such as "a.c:12:3: runtime error: ...". */
static bool read_own_place(const struct line *l, struct sketch_failure *f)
{
	const char *at = find(l, ": runtime error: ");

	return at && split_place(l->at, at, f);
}

/* Reads a text that consists of one word, which is a place. */
static bool read_bare(const char *text, size_t length, struct sketch_failure *f)
{
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	if (!length || memchr(text, '\n', length) || memchr(text, ' ', length))
		return false;
	if (!split_place(text, text + length, f))
		return false;
	f->kind = f->kind ? f->kind : SKETCH_CRASH;
	return true;
}

int sketch_read_text(struct sketch_failure *f, const char *text, size_t length, const char *name)
{
	struct line l;
	bool kind = false;
	char *copy = rd_xstrndup(text, length); /* numbers are parsed up to a NUL */
	const char *at = copy;

	*f = (struct sketch_failure){0};
	length = strlen(copy);
	if (sketch_read_assertion(f, copy, length) || read_bare(copy, length, f)) {
		free(copy);
		return RD_OK;
	}
	while (!f->file && next_line(&at, copy + length, &l)) {
		kind = kind || read_kind(&l, f);
		if (!read_own_place(&l, f))
			read_frame(&l, f);
	}
	free(copy);
	if (!f->file)
		return rd_fail(RD_EFORMAT,
			       "sketch: %s: it has no place of a failure; expected: a frame of the program's "
			       "own code with FILE:LINE (a stack of a sanitizer or of gdb), a failed "
			       "assertion, or FILE:LINE alone",
			       name);
	f->kind = kind ? f->kind : SKETCH_CRASH;
	return RD_OK;
}

/* ---- files ---- */

static bool is_core(const unsigned char *head, size_t n)
{
	return n >= 18 && !memcmp(head, "\177ELF", 4) && head[16] == 4; /* ET_CORE */
}

static int read_core(struct sketch_failure *f, const char *core, const char *program)
{
	const char *argv[] = {"gdb", "-q", "-nx", "-batch", "-ex", "bt 64", program, core, NULL};
	struct rd_buf text = RD_BUF_INIT;
	int status = rd_run_capture((char *const *)argv, MOST_REPORT, &text), err = RD_OK;

	if (status < 0)
		err = status;
	else if (status)
		err = rd_fail(RD_ETOOL, "sketch: %s: gdb could not read the core file (status %d)", core,
			      status);
	else
		err = sketch_read_text(f, text.data, text.length, core);
	rd_buf_release(&text);
	return err;
}

int sketch_read_report(struct sketch_failure *f, const char *report, const char *program)
{
	unsigned char head[18];
	struct stat st;

	*f = (struct sketch_failure){0};
	if (stat(report, &st) < 0) {
		if (read_bare(report, strlen(report), f))
			return RD_OK;
		return rd_fail_errno("sketch: %s", report);
	}
	if (is_core(head, rd_file_head(report, head, sizeof head)))
		return read_core(f, report, program);
	return RD_WITH_FILE(report, MOST_REPORT, text, sketch_read_text(f, text.data, text.length, report));
}
