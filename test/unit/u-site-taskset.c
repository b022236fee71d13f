// SPDX-License-Identifier: Apache-2.0
/* Task sets: what is signed is taken, what is not, or is not for this build, is not. */
#include "base/error.h"
#include "site/report.h"
#include "site/taskset.h"

#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char build[] = "0123456789abcdef";
static const char good[] =
	"{\"version\":1,\"build\":\"0123456789abcdef\",\"serial\":5,\"issued\":1,\"expires\":99,"
	"\"state\":\"validate\",\"poll_s\":60,\"tasks\":[{\"id\":\"t.1\",\"candidate\":\"00000000000000aa\","
	"\"mode\":\"validate\",\"order\":\"alternate\",\"tau_us\":1000,\"unknown\":3}]}";

static void a_set_is_read(void **state)
{
	struct site_taskset set;
	(void)state;
	assert_int_equal(site_taskset_parse(&set, build, good, strlen(good), "test"), 0);
	assert_int_equal(set.serial, 5);
	assert_int_equal(set.expires, 99);
	assert_int_equal(set.state, SITE_VALIDATE);
	assert_int_equal(set.count, 1);
	assert_string_equal(set.tasks[0].id, "t.1");
	assert_int_equal(set.tasks[0].order, RADDLE_GUARD_ALTERNATE);
	assert_int_equal(set.tasks[0].tau_us, 1000);
}

/* Each pair is a part of the good set and what takes its place. */
static void wrong_sets_are_refused(void **state)
{
	static const char *const changes[][2] = {
		{"\"version\":1", "\"version\":2"},
		{"0123456789abcdef\",\"serial", "ffff456789abcdef\",\"serial"},
		{"\"state\":\"validate\"", "\"state\":\"attack\""},
		{"\"t.1\"", "\"../../etc\""},
		{"\"00000000000000aa\"", "\"zz\""},
		{"\"mode\":\"validate\"", "\"mode\":\"off\""},
		{"\"order\":\"alternate\"", "\"order\":\"both\""},
		{"\"tau_us\":1000", "\"tau_us\":-1"},
		{"]}", "]"},
	};
	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct site_taskset set;
		char text[1024];
		const char *at = strstr(good, changes[i][0]);
		assert_non_null(at);
		snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, changes[i][1],
			 at + strlen(changes[i][0]));
		assert_int_not_equal(site_taskset_parse(&set, build, text, strlen(text), "test"), 0);
		assert_int_equal(set.count, 0);
	}
}

static void only_the_key_signs(void **state)
{
	uint8_t key[SITE_KEY_BYTES], signature[64], text[96];
	size_t length = sizeof key, signed_length = sizeof signature;
	EVP_PKEY *pair = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	(void)state;
	assert_non_null(pair);
	assert_int_equal(EVP_PKEY_get_raw_public_key(pair, key, &length), 1);
	assert_int_equal(EVP_DigestSignInit(context, NULL, NULL, NULL, pair), 1);
	assert_int_equal(
		EVP_DigestSign(context, signature, &signed_length, (const uint8_t *)good, strlen(good)), 1);
	EVP_EncodeBlock(text, signature, sizeof signature);
	assert_true(site_taskset_signed(key, (char *)text, good, strlen(good)));
	assert_false(site_taskset_signed(key, (char *)text, good, strlen(good) - 1));
	assert_false(site_taskset_signed(key, "", good, strlen(good)));
	text[3] = text[3] == 'A' ? 'B' : 'A';
	assert_false(site_taskset_signed(key, (char *)text, good, strlen(good)));
	text[3] = '\n';
	assert_false(site_taskset_signed(key, (char *)text, good, strlen(good)));
	EVP_MD_CTX_free(context);
	EVP_PKEY_free(pair);
}

static void a_body_takes_what_fits(void **state)
{
	struct rd_buf lines = RD_BUF_INIT, body = RD_BUF_INIT;
	size_t used, before;
	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		site_report_add(&lines, &(struct site_report){.run = "0000000000000001",
							      .candidate = "00000000000000aa",
							      .seq = i,
							      .result = "not-seen",
							      .context = i % 16});
	before = lines.length;
	site_report_body(&body, build, "s", lines.data, &used);
	assert_true(used > 0 && used < before && body.length <= 65536);
	assert_int_equal(lines.data[used - 1], '\n');
	rd_buf_release(&body);
	site_report_body(&body, build, "s", lines.data + before, &used);
	assert_int_equal(used, 0);
	rd_buf_release(&body);
	rd_buf_release(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_is_read),
		cmocka_unit_test(wrong_sets_are_refused),
		cmocka_unit_test(only_the_key_signs),
		cmocka_unit_test(a_body_takes_what_fits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
