// SPDX-License-Identifier: Apache-2.0
/*
 * Quotes a source line for terminals.  In: a place.  Out: its line with a caret under the column.
 * A line that is too long is cut so that the part around the caret remains.  The file may have
 * changed since the build.  So control characters and invalid UTF-8 become '?', and a column past
 * the end of the line gets no caret.
 */
#include "report/source-int.h"

#include "base/error.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DOTS "..."
#define DOTS_WIDTH 3 /* the width of DOTS in columns */
#define NARROW 20    /* the smallest width, in columns, to which a line is cut */

/* A line as characters that a terminal can display. */
struct quoted {
	struct rd_buf text;
	/* the offset of each character in the text; the last entry is the end of the text */
	size_t *starts;
	size_t count;
	size_t mark; /* the number of the marked character; SIZE_MAX if there is none */
};

static size_t skip_blanks(const char *line, size_t length)
{
	size_t n = 0;

	while (n < length && (line[n] == ' ' || line[n] == '\t'))
		n++;
	return n;
}

static void read_line(struct quoted *q, const char *line, uint32_t column)
{
	size_t length = strcspn(line, "\r\n");

	q->starts = rd_xcalloc(length + 1, sizeof *q->starts);
	q->mark = SIZE_MAX;
	for (size_t i = skip_blanks(line, length); i < length; q->count++) {
		unsigned char c = (unsigned char)line[i];
		size_t n = c < 0x80 ? 1 : rd_utf8_length((const unsigned char *)line + i);
		bool bad = !n || (c < 0x20 && c != '\t') || c == 0x7f;

		n = n ? n : 1;
		if (column && column - 1 >= i && column - 1 < i + n)
			q->mark = q->count;
		q->starts[q->count] = q->text.length;
		if (bad || c == '\t')
			rd_buf_addc(&q->text, bad ? '?' : ' ');
		else
			rd_buf_add(&q->text, line + i, n);
		i += n;
	}
	q->starts[q->count] = q->text.length;
}

/* Selects the characters that are shown: all of them or, if there is not enough room, those around
 * the caret. */
static void choose(const struct quoted *q, size_t room, size_t *first, size_t *end)
{
	RD_ASSERT(room > 0);
	*first = 0;
	*end = q->count;
	if (q->count <= room)
		return;
	if (q->mark != SIZE_MAX && q->mark >= room - 2 * DOTS_WIDTH)
		*first = q->mark - room / 2;
	*end = *first + room - DOTS_WIDTH - (*first ? DOTS_WIDTH : 0);
	if (*end > q->count)
		*end = q->count;
}

static void print_quoted(FILE *out, const struct quoted *q, uint32_t number, int indent, int width)
{
	int digits = snprintf(NULL, 0, "%" PRIu32, number),
	    room = width - indent - digits - (int)strlen(" | ");
	size_t first, end;

	choose(q, (size_t)(room < NARROW ? NARROW : room), &first, &end);
	RD_ASSERT(first <= end && end <= q->count);
	/* The selected part contains the caret. */
	RD_ASSERT(q->mark == SIZE_MAX || (q->mark >= first && q->mark < end));
	fprintf(out, "%*s%" PRIu32 " | %s%.*s%s\n", indent, "", number, first ? DOTS : "",
		(int)(q->starts[end] - q->starts[first]), q->text.data + q->starts[first],
		end < q->count ? DOTS : "");
	if (q->mark >= first && q->mark < end)
		fprintf(out, "%*s | %*s^\n", indent + digits, "",
			(int)(q->mark - first + (first ? DOTS_WIDTH : 0)), "");
}

void source_quote(FILE *out, const struct finding_frame *place, const char *root, int indent, int width)
{
	RD_ASSERT(width > 0 && indent >= 0);
	struct rd_buf text = RD_BUF_INIT;
	const char *line = source_of(place, root, &text) ? source_line(text.data, place->line) : NULL;

	if (line) {
		struct quoted q = {.text = RD_BUF_INIT};
		read_line(&q, line, place->column);
		if (q.count)
			print_quoted(out, &q, place->line, indent, width);
		free(q.starts);
		rd_buf_release(&q.text);
	}
	rd_buf_release(&text);
}
