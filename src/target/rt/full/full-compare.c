// SPDX-License-Identifier: Apache-2.0
/*
 * Versions of memcmp() and bcmp() whose results depend only on the bytes compared.  glibc defines
 * only the sign of the result.  The absolute value depends on whether an argument is near the end
 * of a page.  Since addresses differ from run to run, the same comparison could return different
 * values, and two runs of a program would differ even without a fault.  The program and the
 * libraries that it is linked with use these functions.
 */
#include "rt/full/full.h"

#include <endian.h>
#include <string.h>

#define COMPARE __attribute__((weak, visibility("default"), no_builtin))

static inline uint64_t word(const unsigned char *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof v);
	return le64toh(v);
}

static inline int compare(const unsigned char *a, const unsigned char *b, size_t size)
{
	for (; size >= 8; a += 8, b += 8, size -= 8) {
		uint64_t x = word(a), y = word(b);

		if (x != y) {
			int shift = __builtin_ctzll(x ^ y) & ~7;
			return (int)(x >> shift & 0xff) - (int)(y >> shift & 0xff);
		}
	}
	for (; size != 0; a++, b++, size--)
		if (*a != *b)
			return *a - *b;
	return 0;
}

COMPARE int memcmp(const void *a, const void *b, size_t size)
{
	return compare(a, b, size);
}

COMPARE int bcmp(const void *a, const void *b, size_t size)
{
	return compare(a, b, size);
}
