// SPDX-License-Identifier: Apache-2.0
/* Hexadecimal digits.  Upper-case digits are refused, so that an id or a key has one spelling. */
#include "base/hex.h"

#include "base/error.h"

#include <string.h>

void rd_hex_write(char *to, const void *bytes, size_t n)
{
	const uint8_t *from = bytes;

	for (size_t i = 0; i < n; i++) {
		to[2 * i] = RD_HEX_DIGITS[from[i] >> 4];
		to[2 * i + 1] = RD_HEX_DIGITS[from[i] & 15];
	}
	to[2 * n] = '\0';
}

bool rd_is_hex(const char *text, size_t digits)
{
	return text && strlen(text) == digits && strspn(text, RD_HEX_DIGITS) == digits;
}

uint64_t rd_hex_number(const char *text, size_t digits)
{
	uint64_t n = 0;

	RD_ASSERT(digits <= 16);
	for (size_t i = 0; i < digits; i++)
		n = n << 4 | (uint64_t)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);
	return n;
}

bool rd_hex_read(void *to, const char *text, size_t n)
{
	if (!rd_is_hex(text, 2 * n))
		return false;
	for (size_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t)rd_hex_number(text + 2 * i, 2);
	return true;
}
