// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of replay/written.c: reading the records of what a program wrote and sent, which the
 * program may have damaged.
 */
#include "base/alloc.h"
#include "base/random.h"
#include "raddle/written.h"
#include "replay/run-int.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <cmocka.h>

static struct raddle_written *memory;
static struct replay_result result;

static int setup(void **state)
{
	(void)state;
	memory = aligned_alloc(64, sizeof *memory);
	memset(memory, 0, sizeof *memory);
	result = (struct replay_result){.arena = rd_arena_new()};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rd_arena_free(result.arena);
	free(memory);
	return 0;
}

static void add(uint32_t kind, const void *name, uint32_t name_size, const char *sent, uint64_t from)
{
	struct raddle_written_record r = {kind, name_size, (uint32_t)strlen(sent), 0, from};
	char *at = memory->records + memory->used;

	memcpy(at, &r, sizeof r);
	memcpy(at + sizeof r, name, name_size);
	memcpy(at + sizeof r + name_size, sent, strlen(sent));
	memory->used += raddle_written_size(r.name_size, r.sent_size);
}

static void test_records(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(8125)};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(53), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_un un = {AF_UNIX, "/run/log"};
	uint32_t un_size = (uint32_t)(offsetof(struct sockaddr_un, sun_path) + strlen(un.sun_path) + 1);

	(void)state;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	add(RADDLE_WRITTEN_FILE, "/a/b.txt", 8, "", 7);
	add(RADDLE_WRITTEN_DATAGRAM, &in, sizeof in, "x", 0);
	add(RADDLE_WRITTEN_DATAGRAM, &in6, sizeof in6, "yz", 0);
	add(RADDLE_WRITTEN_DATAGRAM, &un, un_size, "", 0);
	add(RADDLE_WRITTEN_DATAGRAM, "?", 1, "", 0);
	replay_copy_written(memory, &result);
	assert_int_equal(result.written_count, 5);
	assert_false(result.written_lost);
	assert_true(result.written[0].file);
	assert_string_equal(result.written[0].name, "/a/b.txt");
	assert_int_equal(result.written[0].from, 7);
	assert_false(result.written[1].file);
	assert_string_equal(result.written[1].name, "127.0.0.1 port 8125");
	assert_int_equal(result.written[1].sent_length, 1);
	assert_string_equal(result.written[2].name, "::1 port 53");
	assert_string_equal(result.written[2].sent, "yz");
	assert_string_equal(result.written[3].name, "/run/log");
	assert_string_equal(result.written[4].name, "an unknown address");
}

static void test_lost(void **state)
{
	(void)state;
	memory->lost = 1;
	replay_copy_written(memory, &result);
	assert_true(result.written_lost);
	assert_int_equal(result.written_count, 0);
}

/* Random bytes are read without a fault, and never more records than fit. */
static void test_damaged(void **state)
{
	struct rd_random random = rd_random_of(7, 0);

	(void)state;
	for (int round = 0; round < 200; round++) {
		for (size_t i = 0; i < 4096; i++)
			memory->records[i] = (char)rd_random_below(&random, round % 2 ? 3 : 256);
		memory->used = round % 3 ? 4096 : UINT32_MAX;
		replay_copy_written(memory, &result);
		assert_true(result.written_count <=
			    RADDLE_WRITTEN_BYTES / sizeof(struct raddle_written_record));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
