/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of task sets (Ed25519).  The hive signs them, and a site checks them. */
#ifndef PROTOCOL_SIGN_H
#define PROTOCOL_SIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sizes of texts in bytes, with the terminating NUL: a key in hexadecimal, a signature in
 * base64. */
enum { PROTOCOL_KEY_TEXT = 65, PROTOCOL_SIGNATURE_TEXT = 89 };

struct protocol_signer;

/* Makes a new private key, in the form that protocol_signer_open() takes. */
int protocol_key_make(char secret[PROTOCOL_KEY_TEXT]);

int protocol_signer_open(struct protocol_signer **s, const char *secret);
void protocol_signer_close(struct protocol_signer *s);
/* Returns the public key, a text of PROTOCOL_KEY_TEXT bytes. */
const char *protocol_signer_public(const struct protocol_signer *s);

/* Signs bytes.  May be called by several threads. */
int protocol_sign(struct protocol_signer *s, const void *data, size_t length,
		  char signature[PROTOCOL_SIGNATURE_TEXT]);

/* Returns true if `signature` is a valid signature of the data by the owner of the key.  Never
 * prints a message. */
bool protocol_is_signed(const char *public_key, const char *signature, const void *data, size_t length);

#endif
