/* SPDX-License-Identifier: Apache-2.0 */
/* Small helpers for command arguments. */
#ifndef BITCODE_TEXT_INT_H
#define BITCODE_TEXT_INT_H

#include "base/buf.h"

#include <stdbool.h>
#include <string.h>

static inline bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* Returns true if `s` is in `list`, which ends with NULL. */
static inline bool is_one_of(const char *s, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(s, *list))
			return true;
	return false;
}

static inline const char *without_dashes(const char *s)
{
	s += s[0] == '-';
	return s + (s[0] == '-');
}

/* Returns a copy of the first `length` characters of `s` in which $ORIGIN is replaced by `origin`.
 * The caller frees it. */
static inline char *fill_origin(const char *s, size_t length, const char *origin)
{
	struct rd_buf b = RD_BUF_INIT;

	for (size_t skip; length; s += skip, length -= skip) {
		skip = length >= 7 && starts(s, "$ORIGIN")     ? 7
		       : length >= 9 && starts(s, "${ORIGIN}") ? 9
							       : 1;
		if (skip > 1)
			rd_buf_adds(&b, origin);
		else
			rd_buf_addc(&b, *s);
	}
	return rd_buf_detach(&b);
}

#endif
