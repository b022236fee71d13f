// SPDX-License-Identifier: Apache-2.0
/*
 * Escapes fields.  Undoing the escapes of a field yields the original text.
 */
#include "base/field.h"

#include <string.h>

static const char plain[] = "\t\n\\", letters[] = "tn\\";

void rd_field_add(struct rd_buf *out, const char *text)
{
	rd_buf_addc(out, '\t');
	if (!text || !*text)
		rd_buf_adds(out, RD_ABSENT);
	else if (strcmp(text, RD_ABSENT) == 0)
		rd_buf_adds(out, "\\" RD_ABSENT);
	else
		for (; *text; text++) {
			const char *special = strchr(plain, *text);

			if (special)
				rd_buf_addc(out, '\\');
			rd_buf_addc(out, special ? letters[special - plain] : *text);
		}
}

bool rd_field_undo(char *field)
{
	char *to = field;

	if (strcmp(field, RD_ABSENT) == 0) {
		*field = '\0';
		return true;
	}
	for (const char *from = field; *from; from++) {
		const char *letter;

		if (*from != '\\') {
			*to++ = *from;
			continue;
		}
		letter = *++from ? strchr(letters, *from) : NULL;
		if (!letter && *from != '-')
			return false;
		*to++ = letter ? plain[letter - letters] : '-';
	}
	*to = '\0';
	return true;
}
