// SPDX-License-Identifier: Apache-2.0
/* Parses places in the source.  In: FILE:LINE.  Out: the file and the line. */
#include "base/place.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

bool rd_place_parse(const char *text, char **file, uint32_t *line)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	char *end = NULL;
	unsigned long number = colon ? strtoul(colon + 1, &end, 10) : 0;

	if (!colon || colon == text || end == colon + 1 || (*end && *end != ':') || !number ||
	    number >= UINT32_MAX)
		return false;
	*file = rd_xstrndup(text, (size_t)(colon - text));
	*line = (uint32_t)number;
	return true;
}
