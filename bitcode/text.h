/* SPDX-License-Identifier: Apache-2.0 */
/* What the room asks of arguments everywhere. */
#ifndef BITCODE_TEXT_H
#define BITCODE_TEXT_H

#include <stdbool.h>
#include <string.h>

static inline bool starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

/* `list` ends with NULL. */
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

#endif
