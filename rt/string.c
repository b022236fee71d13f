/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges whose length is a string's.  Instrumented code calls these beside the
 * string functions of libc; a string's address comes in, a range event goes out.
 * NULL is left to the real function.  Nothing here allocates, locks or sets errno;
 * strnlen may be interposed by nobody.
 */
#include "raddle/abi.h"

#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The bytes of a string with its end, at most max. */
static uint64_t string_size(const char *p, uint64_t max)
{
	uint64_t n = strnlen(p, max);
	return n < max ? n + 1 : n;
}

EXPORT void __raddle_read_string(struct raddle_self *self, const char *p, uint32_t site, uint64_t max)
{
	if (p != NULL && max != 0)
		__raddle_read_range(self, p, site, string_size(p, max));
}

EXPORT void __raddle_write_string(struct raddle_self *self, const char *p, uint32_t site, uint64_t max)
{
	if (p != NULL && max != 0)
		__raddle_write_range(self, p, site, string_size(p, max));
}

EXPORT void __raddle_read_common(struct raddle_self *self, const char *p, const char *other, uint32_t site,
				 uint64_t max)
{
	uint64_t n = 0;
	if (p == NULL || other == NULL || max == 0)
		return;
	while (n < max - 1 && p[n] == other[n] && p[n] != '\0')
		n++;
	__raddle_read_range(self, p, site, n + 1);
}

EXPORT void __raddle_write_copied(struct raddle_self *self, const char *p, const char *from, uint32_t site,
				  uint64_t max)
{
	if (p != NULL && from != NULL && max != 0)
		__raddle_write_range(self, p, site, string_size(from, max));
}

EXPORT void __raddle_write_appended(struct raddle_self *self, const char *p, const char *from, uint32_t site,
				    uint64_t max)
{
	if (p != NULL && from != NULL)
		__raddle_write_range(self, p + strlen(p), site, strnlen(from, max) + 1);
}
