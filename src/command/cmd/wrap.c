// SPDX-License-Identifier: Apache-2.0
/* Sentences on the terminal, wrapped at blanks.  In: a text and where the cursor is.  Out: lines on stdout.
 */
#include "cmd/cmd.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 79

void cmd_print_wrapped(const char *text, size_t indent, size_t column)
{
	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > indent && column + 1 + n > WIDTH) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			putchar(' ');
			column++;
		}
		printf("%.*s", (int)n, text);
		column += n;
		text += n + (text[n] == ' ');
	}
	putchar('\n');
}
