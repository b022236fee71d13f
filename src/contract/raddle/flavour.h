/* SPDX-License-Identifier: Apache-2.0 */
/* The table of flavours (flavour.inc) for C. */
#ifndef RADDLE_FLAVOUR_H
#define RADDLE_FLAVOUR_H

#include <stdint.h>
#include <string.h>

enum raddle_flavour_number {
#define RADDLE_FLAVOUR(constant, name, layers, bytes, values) RADDLE_FLAVOUR_##constant,
#include "raddle/flavour.inc"
#undef RADDLE_FLAVOUR
	RADDLE_FLAVOURS
};

struct raddle_flavour {
	enum raddle_flavour_number number;
	const char *name;
	const char *hooks, *runtime, *static_runtime; /* names of files beside the tool */
	/* the minimum number of bytes of bitcode that one site takes (flavour.inc) */
	uint32_t bytes;
	int values; /* 1 if events carry values (flavour.inc) */
};

static inline const struct raddle_flavour *raddle_flavour(enum raddle_flavour_number number)
{
	static const struct raddle_flavour table[] = {
#define RADDLE_FLAVOUR(constant, name, layers, bytes, values)                                                \
	{RADDLE_FLAVOUR_##constant,                                                                          \
	 #name,                                                                                              \
	 "hook-" #name ".bc",                                                                                \
	 "libraddle-rt-" #name ".a",                                                                         \
	 "libraddle-rt-" #name "-static.a",                                                                  \
	 bytes,                                                                                              \
	 values},
#include "raddle/flavour.inc"
#undef RADDLE_FLAVOUR
	};

	return &table[number];
}

/* Returns the flavour with this name; NULL if there is none. */
static inline const struct raddle_flavour *raddle_flavour_find(const char *name)
{
	for (int i = 0; i < RADDLE_FLAVOURS; i++)
		if (strcmp(raddle_flavour((enum raddle_flavour_number)i)->name, name) == 0)
			return raddle_flavour((enum raddle_flavour_number)i);
	return NULL;
}

#endif
