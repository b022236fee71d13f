// SPDX-License-Identifier: Apache-2.0
/* Wraps sentences for terminals at blanks.  In: a text and the cursor's column.  Out: lines on a
 * stream. */
#include "base/wrap.h"

#include "base/error.h"

#include <string.h>

/* The length of a line in columns.  No terminal is narrower than 80 columns, and some wrap a line
 * that fills all 80. */
#define WIDTH 79

void rd_wrap(const char *text, size_t indent, size_t column, FILE *out)
{
	RD_ASSERT(column >= indent);
	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > indent && column + 1 + n > WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)n, text);
		column += n;
		text += n + (text[n] == ' ');
	}
	putc('\n', out);
}
