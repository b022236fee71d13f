// SPDX-License-Identifier: Apache-2.0
/*
 * Options from a .raddle file and from RADDLE_OPTIONS.  In: a command's table.  Out: values in the
 * table, set before the command line is parsed.
 *
 * The user sets the variable, so it may contain any option.  The file may come with sources that
 * other people wrote.  It is used only if no other user can have changed it, and it must not choose
 * what is executed or written.  An option in the file that does so is an error.
 */
#include "base/defaults.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/outside.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME ".raddle"

enum { FILE_MAX = 65536 }; /* bytes, chosen by hand: a list of options is far shorter */

/* The file or variable that options come from. */
struct source {
	const struct rd_defaults *d;
	const char *name;      /* the path of the file, or the variable's name; for messages */
	const char *directory; /* the directory of the file; NULL for the variable */
	unsigned line;
};

static char *keep(const struct source *s, const char *text, size_t n)
{
	return rd_arena_strndup(s->d->values, text, n);
}

#define PLACE_MAX (PATH_MAX + 16)

/* Writes the beginning of a message: "FILE:3: " or "RADDLE_OPTIONS: ". */
static void place_of(const struct source *s, char out[PLACE_MAX])
{
	if (s->directory)
		snprintf(out, PLACE_MAX, "%s:%u: ", s->name, s->line);
	else
		snprintf(out, PLACE_MAX, "%s: ", s->name);
}

static int wrong(const struct source *s, const char *what, const char *word, size_t n)
{
	char where[PLACE_MAX];

	place_of(s, where);
	return rd_fail(RD_EUSAGE, "%s%s '%.*s'", where, what, (int)n, word);
}

/* An input file with a relative path is looked up beside the .raddle file, not in the current
 * directory. */
static const char *locate(const struct source *s, const struct rd_option *o, const char *value)
{
	struct rd_buf path = RD_BUF_INIT;
	const char *kept = value;

	if (s->directory && value && o->traits & RD_OPT_READS && *value != '/') {
		rd_buf_addf(&path, "%s/%s", s->directory, value);
		kept = keep(s, path.data, path.length);
	}
	rd_buf_release(&path);
	return kept;
}

/* Sets an option.  An option of another command is skipped; an option of no command is an error. */
static int give(const struct source *s, const char *name, size_t n, const char *value)
{
	const struct rd_option *o = rd_option_find(s->d->options, name, n);
	char where[PLACE_MAX];

	if (!o)
		return s->d->is_option(name, n) ? RD_OK : wrong(s, "no command has the option", name, n);
	if (s->directory && o->traits & (RD_OPT_RUNS | RD_OPT_WRITES | RD_OPT_MAKES))
		return wrong(s, "a file cannot decide what is run, written or removed: option", name, n);
	place_of(s, where);
	return rd_option_set(o, where, locate(s, o, value));
}

/* ---- RADDLE_OPTIONS ---- */

/* Reads a word up to the next blank outside quotes, and removes the quotes.  Returns NULL if a
 * quote is not closed. */
static char *next_word(const struct source *s, const char **at)
{
	struct rd_buf word = RD_BUF_INIT;
	char quote = 0, *text;

	for (; **at && (quote || !isspace((unsigned char)**at)); ++*at) {
		if (**at == quote)
			quote = 0;
		else if (!quote && (**at == '\'' || **at == '"'))
			quote = **at;
		else
			rd_buf_addc(&word, **at);
	}
	text = quote ? NULL : keep(s, word.data, word.length);
	rd_buf_release(&word);
	return text;
}

static int give_words(struct source *s, const char *text)
{
	int err = RD_OK;

	for (text += strspn(text, " \t\n"); *text && !err; text += strspn(text, " \t\n")) {
		char *word = next_word(s, &text);

		if (!word)
			return rd_fail(RD_EUSAGE, "%s: a quote is not closed", s->name);
		size_t n = strcspn(word, "=");
		if (strncmp(word, "--", 2) != 0 || n == 2)
			err = wrong(s, "write --NAME or --NAME=VALUE, not", word, strlen(word));
		else
			err = give(s, word + 2, n - 2, word[n] ? word + n + 1 : NULL);
	}
	return err;
}

/* ---- .raddle ---- */

/* Cuts blanks off both ends. */
static void trim(const char **text, size_t *n)
{
	while (*n && isspace((unsigned char)**text)) {
		++*text;
		--*n;
	}
	while (*n && isspace((unsigned char)(*text)[*n - 1]))
		--*n;
}

/* Parses a section such as "[check predict]".  Stores in *ours whether the section applies to this
 * command. */
static int read_section(const struct source *s, const char *text, size_t n, bool *ours)
{
	const char *end = text + n - 1;

	if (*end != ']')
		return wrong(s, "no ] at the end of", text, n);
	*ours = false;
	for (text++; text < end;) {
		size_t length = strcspn(text, " \t]");

		if (length && !s->d->is_command(text, length))
			return wrong(s, "there is no command", text, length);
		if (length == strlen(s->d->command) && !strncmp(text, s->d->command, length))
			*ours = true;
		text += length + (length == 0);
	}
	return RD_OK;
}

static int read_line(const struct source *s, const char *text, size_t n, bool *ours)
{
	const char *equals, *value = NULL;
	size_t value_length;

	trim(&text, &n);
	if (!n || *text == '#')
		return RD_OK;
	if (*text == '[')
		return read_section(s, text, n, ours);
	if (!*ours)
		return RD_OK;
	equals = memchr(text, '=', n);
	if (equals) {
		value = equals + 1;
		value_length = n - (size_t)(value - text);
		n = (size_t)(equals - text);
		trim(&value, &value_length);
		value = keep(s, value, value_length);
	}
	trim(&text, &n);
	return give(s, text, n, value);
}

static int read_lines(struct source *s, const char *text)
{
	bool ours = true; /* lines before the first section apply to every command */
	int err = RD_OK;

	for (s->line = 1; *text && !err; s->line++) {
		size_t n = strcspn(text, "\n");

		err = read_line(s, text, n, &ours);
		text += n + (text[n] == '\n');
	}
	return err;
}

/* Returns true if the search ends here: in the home directory, at the top of a repository, or in
 * /. */
static bool is_top(const char *directory)
{
	char *git = rd_xasprintf("%s/.git", directory);
	const char *home = getenv("HOME");
	bool top = rd_file_exists(git) || (home && !strcmp(home, directory)) || !directory[1];

	free(git);
	return top;
}

/* Returns the path of the nearest .raddle file, in the current directory or above it, or NULL if
 * there is none. */
static char *find_file(void)
{
	char directory[PATH_MAX];

	if (!getcwd(directory, sizeof directory))
		return NULL;
	for (;;) {
		char *path = rd_xasprintf("%s/" FILE_NAME, directory[1] ? directory : ""), *slash;

		if (rd_file_exists(path))
			return path;
		free(path);
		if (is_top(directory))
			return NULL;
		slash = strrchr(directory, '/');
		slash[slash == directory] = '\0';
	}
}

/* Reads the file if it is trusted.  Returns 1, after a warning, if it is not. */
static int read_trusted(const char *path, struct rd_buf *text)
{
	struct stat st;
	int fd = rd_outside_open(path, FILE_MAX, &st);
	const char *stranger = fd < 0 ? NULL : rd_untrusted_reason(&st);
	ssize_t n = 0;

	if (fd < 0)
		return fd;
	if (stranger) {
		rd_warn("%s: it %s, and is ignored", path, stranger);
	} else {
		rd_buf_reserve(text, FILE_MAX + 1);
		n = read(fd, text->data, FILE_MAX);
		text->length = n > 0 ? (size_t)n : 0;
		text->data[text->length] = '\0';
	}
	close(fd);
	return n < 0 ? rd_fail_errno("cannot read %s", path) : stranger != NULL;
}

static int read_file(struct source s, const char *path)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *slash = strrchr(path, '/');
	char *directory = rd_xstrndup(path, slash ? (size_t)(slash - path) : 0);
	int err = read_trusted(path, &text);

	s.name = path;
	s.directory = slash ? directory : ".";
	if (!err)
		err = strlen(text.data) != text.length
			      ? rd_fail(RD_EFORMAT, "%s: it contains a zero byte", path)
			      : read_lines(&s, text.data);
	free(directory);
	rd_buf_release(&text);
	return err < 0 ? err : RD_OK;
}

int rd_defaults(const struct rd_defaults *d)
{
	struct source s = {.d = d, .name = "RADDLE_OPTIONS"};
	const char *words = getenv("RADDLE_OPTIONS"), *named = getenv("RADDLE_FILE");
	char *path = named ? rd_xstrdup(named) : find_file();
	int err = path && *path ? read_file(s, path) : RD_OK;

	if (!err && words)
		err = give_words(&s, words);
	free(path);
	return err;
}
