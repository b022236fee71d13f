// SPDX-License-Identifier: Apache-2.0
/*
 * Source excerpts.  In: a place.  Out: the lines around it as HTML.  There is no excerpt unless the
 * file is a regular file of reasonable size and has that line.  A missing file is not an error,
 * because reports are often read on another machine.
 */
#include "report/html-int.h"
#include "base/error.h"
#include "report/source-int.h"

#include "base/buf.h"
#include "base/json.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The limits were set by hand. */
#define LINES_AROUND 3 /* number of lines before and after a place, as in diff -u */
/* maximum size of a file in bytes; a larger one is hardly a source file */
#define FILE_MAX (8 << 20)
/* maximum number of bytes that are shown of a line; generated code has longer lines */
#define LINE_MAX_SHOWN 400

static const char *entity(unsigned char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

void html_text(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)(text ? text : "");

	while (*s) {
		size_t n = *s < 0x80 ? 1 : rd_utf8_length(s);
		const char *instead = entity(*s);

		if (!instead && (!n || *s == 0x7f || (*s < 0x20 && *s != '\t' && *s != '\n')))
			instead = "\xef\xbf\xbd";
		if (instead)
			fputs(instead, out);
		else
			fwrite(s, 1, n, out);
		s += n ? n : 1;
	}
}

/* The file is opened without blocking, because the path may name a FIFO. */
bool source_read(const char *path, size_t max, struct rd_buf *text)
{
	RD_ASSERT(max > 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	bool good = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 &&
		    (size_t)st.st_size <= max;

	while (good && text->length <= max) {
		rd_buf_reserve(text, 65536);
		ssize_t n = read(fd, text->data + text->length, 65536);

		if (n <= 0)
			break;
		text->length += (size_t)n;
	}
	if (text->capacity)
		text->data[text->length] = '\0';
	if (fd >= 0)
		close(fd);
	return good && text->length && !memchr(text->data, '\0', text->length);
}

static void put_line(FILE *out, const char *line, size_t number, bool here)
{
	char shown[LINE_MAX_SHOWN + 1];
	size_t length = strcspn(line, "\r\n");

	length = length < LINE_MAX_SHOWN ? length : LINE_MAX_SHOWN;
	memcpy(shown, line, length);
	shown[length] = '\0';
	fprintf(out, "<span class=\"ln%s\" data-n=\"%zu\">", here ? " here" : "", number);
	html_text(out, shown);
	fputs("\n</span>", out);
}

const char *source_line(const char *text, size_t number)
{
	for (size_t i = 1; i < number && *text; i++) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return number && *text ? text : NULL;
}

bool source_of(const struct finding_frame *place, const char *root, struct rd_buf *text)
{
	struct rd_buf path = RD_BUF_INIT;

	if (!place->file || !place->line)
		return false;
	if (root && place->file[0] != '/')
		rd_buf_addf(&path, "%s/", root);
	rd_buf_adds(&path, place->file);
	bool read = source_read(path.data, FILE_MAX, text);
	rd_buf_release(&path);
	return read;
}

bool html_excerpt(FILE *out, const struct finding_frame *place, const char *root)
{
	struct rd_buf text = RD_BUF_INIT;
	size_t number = place->line > LINES_AROUND ? place->line - LINES_AROUND : 1;
	bool shown = source_of(place, root, &text) && source_line(text.data, place->line);

	if (shown) {
		fputs("<pre class=\"src\">", out);
		for (const char *line; number <= place->line + LINES_AROUND; number++)
			if ((line = source_line(text.data, number)))
				put_line(out, line, number, number == place->line);
		fputs("</pre>\n", out);
	}
	rd_buf_release(&text);
	return shown;
}
