/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes and numbers as lower-case hexadecimal digits, the only form in which Raddle writes ids and
 * keys. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RD_HEX_DIGITS "0123456789abcdef"

/* Writes 2 * n digits and the terminating zero. */
void rd_hex_write(char *to, const void *bytes, size_t n);

/* Reads n bytes.  Returns false, and writes nothing, if the text is not exactly 2 * n digits. */
bool rd_hex_read(void *to, const char *text, size_t n);

/* Returns true if the text consists of exactly `digits` digits.  The text may be NULL. */
bool rd_is_hex(const char *text, size_t digits);

/* Returns the value of the first `digits` characters, which must be digits.  `digits` is at most
 * 16. */
uint64_t rd_hex_number(const char *text, size_t digits);

#endif
