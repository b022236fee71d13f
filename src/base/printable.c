// SPDX-License-Identifier: Apache-2.0
/*
 * Text for terminals.  In: any bytes.  Out: the same number of bytes, without control characters.
 * In UTF-8, the control characters beyond ASCII are 0xc2 followed by a byte from 0x80 to 0x9f.
 * Terminals obey some of them.
 */
#include "base/printable.h"

#include <string.h>

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

void rd_make_printable(char *text, size_t length, bool lines)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i],
			      next = i + 1 < length ? (unsigned char)text[i + 1] : 0;

		if (c == 0xc2 && next >= 0x80 && next <= 0x9f)
			text[i] = text[i + 1] = '?';
		else if (is_control(c) && !(lines && (c == '\n' || c == '\t')))
			text[i] = '?';
	}
}

/* A colour is a sequence such as "\033[1;31m": bold or not, one of six colours, or reset. */
size_t rd_colour_length(const char *text, size_t length)
{
	const char *end = length ? memchr(text, 'm', length < 8 ? length : 8) : NULL;
	size_t n = end ? (size_t)(end - text) + 1 : 0;

	if (n < 4 || text[0] != '\033' || text[1] != '[')
		return 0;
	if (n == 4)
		return text[2] == '0' || text[2] == '1' ? n : 0;
	text += n - 3;
	if (text[0] != '3' || text[1] < '1' || text[1] > '6')
		return 0;
	return n == 5 || (n == 7 && !memcmp(text - 2, "1;", 2)) ? n : 0;
}
