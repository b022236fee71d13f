// SPDX-License-Identifier: Apache-2.0
/* Unit tests of signatures.  The test vectors of RFC 8032 are reproduced, and data without a valid
 * signature is rejected. */
#include "base/error.h"
#include "base/hex.h"
#include "protocol/sign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* RFC 8032, section 7.1, tests 2 and 3: secret key, public key, message, and signature in base
 * 64. */
static const struct {
	const char *secret, *public_key, *message, *signature;
} rfc[] = {
	{"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
	 "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "\x72",
	 "kqAJqfDUyrhyDoILX2QlQKKye1QWUD+Ps3YiI+vbadoIWsHkPhWZbkWPNhPQ8R2MOHsurrQwKu6wDSkWErsMAA=="},
	{"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
	 "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "\xaf\x82",
	 "YpHWV97sJAJIJ+acOr4BowzlSKKEdDpEXjaA19taw6wY/5tTjRbykK5n92CYTcZZSnwV6XFu0o3AJ77O6h7ECg=="},
};

static void signatures_are_those_of_the_standard(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rfc / sizeof *rfc; i++) {
		struct protocol_signer *s;
		char signature[PROTOCOL_SIGNATURE_TEXT];
		assert_int_equal(protocol_signer_open(&s, rfc[i].secret), 0);
		assert_string_equal(protocol_signer_public(s), rfc[i].public_key);
		assert_int_equal(protocol_sign(s, rfc[i].message, strlen(rfc[i].message), signature), 0);
		assert_string_equal(signature, rfc[i].signature);
		assert_true(protocol_is_signed(rfc[i].public_key, signature, rfc[i].message,
					       strlen(rfc[i].message)));
		protocol_signer_close(s);
	}
}

static void only_the_key_signs(void **state)
{
	static const char text[] = "a task set";
	char secret[PROTOCOL_KEY_TEXT], signature[PROTOCOL_SIGNATURE_TEXT];
	struct protocol_signer *s;
	(void)state;
	assert_int_equal(protocol_key_make(secret), 0);
	assert_true(rd_is_hex(secret, PROTOCOL_KEY_TEXT - 1));
	assert_int_equal(protocol_signer_open(&s, secret), 0);
	assert_int_equal(protocol_sign(s, text, strlen(text), signature), 0);
	const char *key = protocol_signer_public(s);
	assert_true(protocol_is_signed(key, signature, text, strlen(text)));
	assert_false(protocol_is_signed(rfc[0].public_key, signature, text, strlen(text)));
	assert_false(protocol_is_signed("", signature, text, strlen(text)));
	assert_false(protocol_is_signed(key, signature, text, strlen(text) - 1));
	assert_false(protocol_is_signed(key, "", text, strlen(text)));
	signature[3] = signature[3] == 'A' ? 'B' : 'A';
	assert_false(protocol_is_signed(key, signature, text, strlen(text)));
	signature[3] = '\n';
	assert_false(protocol_is_signed(key, signature, text, strlen(text)));
	protocol_signer_close(s);
}

static void a_damaged_key_is_refused(void **state)
{
	struct protocol_signer *s;
	(void)state;
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(protocol_signer_open(&s, "4ccd"), RD_EFORMAT);
	assert_int_equal(protocol_signer_open(&s, ""), RD_EFORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signatures_are_those_of_the_standard),
		cmocka_unit_test(only_the_key_signs),
		cmocka_unit_test(a_damaged_key_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
