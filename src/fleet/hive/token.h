/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of the hive's users and sites.  They are random texts, of which the hive stores only
 * SHA-256 hashes. */
#ifndef HIVE_TOKEN_H
#define HIVE_TOKEN_H

/* The sizes of texts in bytes, with the terminating NUL. */
enum { HIVE_HASH_TEXT = 65, HIVE_TOKEN_TEXT = 44 };

int hive_token_make(char token[HIVE_TOKEN_TEXT]); /* a token consists of letters, digits, - and _ */
void hive_hash(const char *text, char hash[HIVE_HASH_TEXT]);

#endif
