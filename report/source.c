// SPDX-License-Identifier: Apache-2.0
/*
 * Source excerpts.  A place comes in, the lines around it go out as HTML, if the
 * file is an ordinary one of reasonable size and has that line.  A file that is
 * missing is no failure: reports are read far from where programs are built.
 */
#include "report/html.h"

#include "base/buf.h"
#include "base/json.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AROUND 3
#define FILE_MAX (8 << 20)
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

/* Opened without blocking, so that a FIFO in its place does no harm. */
bool html_read(const char *path, size_t max, struct rd_buf *text)
{
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

static bool put_lines(FILE *out, const char *text, size_t line)
{
	size_t number = 1, first = line > AROUND ? line - AROUND : 1;
	const char *start = NULL;

	for (const char *p = text; *p && number <= line; number++) {
		if (number == first)
			start = p;
		p += strcspn(p, "\n");
		p += *p == '\n';
	}
	if (number <= line || !start)
		return false;
	fputs("<pre class=\"src\">", out);
	for (number = first; *start && number <= line + AROUND; number++) {
		put_line(out, start, number, number == line);
		start += strcspn(start, "\n");
		start += *start == '\n';
	}
	fputs("</pre>\n", out);
	return true;
}

bool html_excerpt(FILE *out, const struct finding_frame *place, const char *root)
{
	struct rd_buf path = RD_BUF_INIT, text = RD_BUF_INIT;
	bool shown = false;

	if (place->file && place->line) {
		if (root && place->file[0] != '/')
			rd_buf_addf(&path, "%s/", root);
		rd_buf_adds(&path, place->file);
		shown = html_read(path.data, FILE_MAX, &text) && put_lines(out, text.data, place->line);
	}
	rd_buf_release(&path);
	rd_buf_release(&text);
	return shown;
}
