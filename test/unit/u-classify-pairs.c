// SPDX-License-Identifier: Apache-2.0
/* Unit tests of classify/locate.h: races that a user names by places, and those in reports of
 * ThreadSanitizer. */
#include "base/error.h"
#include "classify/locate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct classify_pairs pairs;

static int begin(void **state)
{
	(void)state;
	rd_log_set(rd_log_discard, NULL);
	classify_pairs_init(&pairs);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	classify_pairs_release(&pairs);
	rd_log_set(NULL, NULL);
	return 0;
}

static void is_pair(size_t n, const char *first, uint32_t line, const char *second, uint32_t other)
{
	assert_true(n < pairs.count);
	assert_string_equal(pairs.items[n].places[0].file, first);
	assert_int_equal(pairs.items[n].places[0].line, line);
	assert_string_equal(pairs.items[n].places[1].file, second);
	assert_int_equal(pairs.items[n].places[1].line, other);
}

static void named(void **state)
{
	static const char *const wrong[] = {"",	     "a.c:1",	    "a.c:1,",	   "a.c,b.c",
					    ":1,:2", "a.c:0,b.c:2", "a.c:x,b.c:2", "a.c:99999999999,b.c:2"};

	(void)state;
	assert_int_equal(classify_pairs_parse(&pairs, "src/a.c:12,b.c:7:3"), 0);
	is_pair(0, "src/a.c", 12, "b.c", 7);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(classify_pairs_parse(&pairs, wrong[i]), RD_EUSAGE);
	assert_int_equal(pairs.count, 1);
}

static const char report[] =
	"counter is\n"
	"==================\n"
	"WARNING: ThreadSanitizer: data race (pid=4711)\n"
	"  Write of size 4 at 0x55d1fa24d008 by thread T2:\n"
	"    #0 memcpy ../../../../src/libsanitizer/sanitizer_common/interceptors.inc:827 "
	"(libtsan.so.2+0x5a)\n"
	"    #1 add /src/count.c:12:10 (count+0xd1a)\n"
	"    #2 run /src/count.c:30:3 (count+0xd1b)\n"
	"\n"
	"  Previous atomic read of size 4 at 0x55d1fa24d008 by thread T1 (mutexes: write M0):\n"
	"    #0 std::foo<int>::get(int) const /src/foo bar/foo.h:7 (count+0x11)\n"
	"    #1 main /src/count.c:44 (count+0x12)\n"
	"\n"
	"  Thread T2 (tid=1, running) created by main thread at:\n"
	"    #0 pthread_create <null> (count+0x1)\n"
	"SUMMARY: ThreadSanitizer: data race /src/count.c:12:10 in add\n"
	"==================\n"
	"WARNING: ThreadSanitizer: lock-order-inversion (potential deadlock) (pid=4711)\n"
	"  Write of size 4 at 0x1 by thread T2:\n"
	"    #0 add /src/a.c:1 (a+0x1)\n"
	"  Previous write of size 4 at 0x1 by thread T1:\n"
	"    #0 add /src/a.c:2 (a+0x1)\n"
	"WARNING: ThreadSanitizer: data race (pid=4711)\n"
	"  Read of size 8 at 0x1 by main thread:\n"
	"    #0 main x.c:5 (x+0x1)\n"
	"  Previous write of size 8 at 0x1 by thread T1:\n"
	"    #0 <null> <null> (x+0x2)\n"
	"WARNING: ThreadSanitizer: data race (pid=4711)\n"
	"  Read of size 8 at 0x1 by main thread:\n"
	"    #0 main x.c:5\n"
	"  Previous write of size 8 at 0x1 by thread T1:\n"
	"    #0 set x.c:9\n";

static void reported(void **state)
{
	(void)state;
	assert_int_equal(classify_pairs_from_tsan(&pairs, report, "report"), 0);
	assert_int_equal(pairs.count, 2);
	is_pair(0, "/src/count.c", 12, "bar/foo.h", 7);
	is_pair(1, "x.c", 5, "x.c", 9);
	assert_int_equal(classify_pairs_from_tsan(&pairs, "all is well\n", "report"), RD_EFORMAT);
	assert_int_equal(classify_pairs_from_tsan(&pairs, "", "report"), RD_EFORMAT);
}

/* Reports by clang 19: of a C++ program, of one without line numbers, and of a library function. */
static const char cxx[] =
	"WARNING: ThreadSanitizer: data race (pid=1)\n"
	"  Read of size 4 at 0x1 by thread T2:\n"
	"    #0 (anonymous namespace)::Box::operator()(char const*) const /tmp/ts.cc:6:50 (ts+0xe7aab) "
	"(BuildId: 48ee)\n"
	"    #1 main::$_1::operator()() const /tmp/ts.cc:8:76 (ts+0xe7aab)\n"
	"\n"
	"  Previous write of size 4 at 0x1 by thread T1:\n"
	"    #0 memset <null> (ts+0x62ee1) (BuildId: 48ee)\n"
	"    #1 (anonymous namespace)::Box::add(int) /tmp/ts.cc:5:26 (ts+0xe7a2e) (BuildId: 48ee)\n"
	"\n";

static const char lineless[] =
	"WARNING: ThreadSanitizer: data race (pid=1)\n"
	"  Read of size 4 at 0x1 by thread T2:\n"
	"    #0 std::thread::_State_impl<main::$_1>::_M_run() ts.cc (ts+0xe7aab) (BuildId: 48ee)\n"
	"    #1 main /tmp/ts.cc:8:76 (ts+0xe7aab)\n"
	"\n"
	"  Previous write of size 4 at 0x1 by thread T1:\n"
	"    #0 work <null> (ts+0x62ee1)\n"
	"\n"
	"  Thread T2 (tid=1, running) created by main thread at:\n"
	"    #0 pthread_create <null> (ts+0x1)\n"
	"    #1 main /tmp/ts.cc:9:3 (ts+0x2)\n";

static void without_lines(void **state)
{
	(void)state;
	assert_int_equal(classify_pairs_from_tsan(&pairs, cxx, "report"), 0);
	is_pair(0, "/tmp/ts.cc", 6, "/tmp/ts.cc", 5);
	assert_null(pairs.items[0].places[0].within);
	assert_string_equal(pairs.items[0].places[1].within, "memset");
	assert_int_equal(classify_pairs_from_tsan(&pairs, lineless, "report"), RD_EFORMAT);
	assert_int_equal(pairs.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(named, begin, finish),
		cmocka_unit_test_setup_teardown(reported, begin, finish),
		cmocka_unit_test_setup_teardown(without_lines, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
