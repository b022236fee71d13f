// SPDX-License-Identifier: Apache-2.0
/* Makes tokens and hashes them, with GnuTLS.  A token has 43 random characters of 6 bits each. */
#include "hive/token.h"

#include "base/error.h"
#include "base/hex.h"

#include <gnutls/crypto.h>
#include <stdint.h>
#include <string.h>

void hive_hash(const char *text, char hash[HIVE_HASH_TEXT])
{
	uint8_t bytes[32];

	if (gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), bytes) < 0)
		RD_BUG("there is no SHA-256");
	rd_hex_write(hash, bytes, sizeof bytes);
}

int hive_token_make(char token[HIVE_TOKEN_TEXT])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t bytes[HIVE_TOKEN_TEXT - 1];

	if (gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof bytes) < 0)
		return rd_fail(RD_ESYSTEM, "hive: cannot get random numbers for a token");
	for (size_t i = 0; i < sizeof bytes; i++)
		token[i] = digits[bytes[i] & 63];
	token[sizeof bytes] = '\0';
	return 0;
}
