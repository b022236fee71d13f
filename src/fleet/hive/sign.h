/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of task sets (Ed25519), hashes of tokens (SHA-256), random texts, and their spelling. */
#ifndef HIVE_SIGN_H
#define HIVE_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts, with their ends: a key in hexadecimal digits, a signature in base 64. */
enum { HIVE_KEY_TEXT = 65, HIVE_SIGNATURE_TEXT = 89, HIVE_HASH_TEXT = 65, HIVE_TOKEN_TEXT = 44 };

struct hive_signer;

/* A new private key, as hive_signer_open() takes it. */
int hive_key_make(char secret[HIVE_KEY_TEXT]);

int hive_signer_open(struct hive_signer **s, const char *secret);
void hive_signer_close(struct hive_signer *s);
const char *hive_signer_public(const struct hive_signer *s); /* HIVE_KEY_TEXT */

/* May be called by several threads. */
int hive_sign(struct hive_signer *s, const void *data, size_t length, char signature[HIVE_SIGNATURE_TEXT]);

/* Whether it is the signature of these bytes by the owner of the key.  Says nothing. */
bool hive_is_signed(const char *public_key, const char *signature, const void *data, size_t length);

void hive_hash(const char *text, char hash[HIVE_HASH_TEXT]);
int hive_token_make(char token[HIVE_TOKEN_TEXT]); /* of letters, digits, - and _ */

#endif
