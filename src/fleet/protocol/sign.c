// SPDX-License-Identifier: Apache-2.0
/*
 * Keys and signatures, with GnuTLS, which the hive's HTTP server and the site's HTTP client load
 * anyway.  Private and public keys are stored as text, with the raw bytes in hexadecimal.
 */
#include "protocol/sign.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/hex.h"

#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The sizes of Ed25519 keys and signatures (RFC 8032). */
enum { KEY_BYTES = 32, SIGNATURE_BYTES = 64 };

struct protocol_signer {
	gnutls_privkey_t key;
	pthread_mutex_t lock;
	char public_key[PROTOCOL_KEY_TEXT];
};

int protocol_key_make(char secret[PROTOCOL_KEY_TEXT])
{
	uint8_t bytes[KEY_BYTES];

	if (gnutls_rnd(GNUTLS_RND_KEY, bytes, sizeof bytes) < 0)
		return rd_fail(RD_ESYSTEM, "hive: cannot get random numbers for a key");
	rd_hex_write(secret, bytes, sizeof bytes);
	return 0;
}

static int find_public(struct protocol_signer *s)
{
	gnutls_datum_t x = {0}, k = {0};
	int err = gnutls_privkey_export_ecc_raw(s->key, NULL, &x, NULL, &k);

	if (err >= 0 && x.size == KEY_BYTES)
		rd_hex_write(s->public_key, x.data, x.size);
	else
		err = -1;
	gnutls_free(x.data);
	gnutls_free(k.data);
	return err < 0 ? -1 : 0;
}

/* GnuTLS has no call that computes the public key from the raw private key.  But it does compute
 * it when it imports a PKCS #8 document, in which the public key is optional. */
static int import_secret(gnutls_privkey_t key, const uint8_t secret[KEY_BYTES])
{
	static const uint8_t head[] = {0x30, 0x2e, 2,	 1,    0, 0x30, 5, 6,
				       3,    0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20};
	uint8_t der[sizeof head + KEY_BYTES];
	gnutls_datum_t data = {der, sizeof der};

	memcpy(der, head, sizeof head);
	memcpy(der + sizeof head, secret, KEY_BYTES);
	return gnutls_privkey_import_x509_raw(key, &data, GNUTLS_X509_FMT_DER, NULL, 0);
}

int protocol_signer_open(struct protocol_signer **signer, const char *secret)
{
	uint8_t bytes[KEY_BYTES];
	struct protocol_signer *s;

	if (!rd_hex_read(bytes, secret, sizeof bytes))
		return rd_fail(RD_EFORMAT, "hive: the stored key is damaged");
	s = rd_xcalloc(1, sizeof *s);
	pthread_mutex_init(&s->lock, NULL);
	if (gnutls_privkey_init(&s->key) < 0 || import_secret(s->key, bytes) < 0 || find_public(s) < 0) {
		protocol_signer_close(s);
		return rd_fail(RD_EFORMAT, "hive: the stored key cannot be used");
	}
	*signer = s;
	return 0;
}

void protocol_signer_close(struct protocol_signer *s)
{
	if (!s)
		return;
	gnutls_privkey_deinit(s->key);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

const char *protocol_signer_public(const struct protocol_signer *s)
{
	return s->public_key;
}

int protocol_sign(struct protocol_signer *s, const void *data, size_t length,
		  char signature[PROTOCOL_SIGNATURE_TEXT])
{
	gnutls_datum_t message = {(unsigned char *)data, (unsigned)length}, raw = {0}, text = {0};
	int err;

	pthread_mutex_lock(&s->lock);
	err = gnutls_privkey_sign_data2(s->key, GNUTLS_SIGN_EDDSA_ED25519, 0, &message, &raw);
	pthread_mutex_unlock(&s->lock);
	if (err >= 0)
		err = gnutls_base64_encode2(&raw, &text);
	if (err >= 0 && text.size == PROTOCOL_SIGNATURE_TEXT - 1)
		memcpy(signature, text.data, text.size);
	else
		err = -1;
	signature[PROTOCOL_SIGNATURE_TEXT - 1] = '\0';
	gnutls_free(raw.data);
	gnutls_free(text.data);
	return err < 0 ? rd_fail(RD_ESYSTEM, "hive: cannot sign") : 0;
}

static bool verify(const gnutls_datum_t *x, const gnutls_datum_t *raw, const gnutls_datum_t *message)
{
	gnutls_pubkey_t key;
	bool is_right;

	if (gnutls_pubkey_init(&key) < 0)
		return false;
	is_right = gnutls_pubkey_import_ecc_raw(key, GNUTLS_ECC_CURVE_ED25519, x, NULL) >= 0 &&
		   gnutls_pubkey_verify_data2(key, GNUTLS_SIGN_EDDSA_ED25519, 0, message, raw) >= 0;
	gnutls_pubkey_deinit(key);
	return is_right;
}

bool protocol_is_signed(const char *public_key, const char *signature, const void *data, size_t length)
{
	uint8_t bytes[KEY_BYTES];
	gnutls_datum_t x = {bytes, sizeof bytes}, raw = {0},
		       message = {(unsigned char *)data, (unsigned)length};
	gnutls_datum_t text = {(unsigned char *)signature, (unsigned)strlen(signature)};
	bool is_right;

	if (!rd_hex_read(bytes, public_key, sizeof bytes) || text.size != PROTOCOL_SIGNATURE_TEXT - 1 ||
	    length > UINT32_MAX || gnutls_base64_decode2(&text, &raw) < 0)
		return false;
	is_right = raw.size == SIGNATURE_BYTES && verify(&x, &raw, &message);
	gnutls_free(raw.data);
	return is_right;
}
