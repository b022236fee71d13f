// SPDX-License-Identifier: Apache-2.0
/* Unit tests of failure reports: texts as written by gdb, the sanitizers and libc, and ends of
 * processes. */
#include "sketch/verdict-int.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void expect(const char *text, enum sketch_outcome kind, const char *what, const char *place)
{
	struct sketch_failure f;
	char found[256];

	assert_int_equal(sketch_read_text(&f, text, strlen(text), "text"), RD_OK);
	assert_int_equal(f.kind, kind);
	if (what)
		assert_string_equal(f.what, what);
	snprintf(found, sizeof found, "%s:%u %s", f.file, f.line, f.function ? f.function : "");
	assert_string_equal(found, place);
	sketch_failure_release(&f);
}

static void texts(void **state)
{
	(void)state;
	expect("queue.c:45", SKETCH_CRASH, NULL, "queue.c:45 ");
	expect("src/queue.c:45:3\n", SKETCH_CRASH, NULL, "src/queue.c:45 ");
	expect("noise\nprog: a.c:12: main: Assertion `x == 1' failed.\nAborted\n", SKETCH_ASSERTION,
	       "Assertion `x == 1' failed", "a.c:12 main");
	expect("p: d/a.cc:7: void *ns::look(void *): Assertion `a && \"b: c\"' failed.\n", SKETCH_ASSERTION,
	       NULL, "d/a.cc:7 ns::look");
	expect("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x60\n"
	       "READ of size 4 at 0x60 thread T1\n"
	       "    #0 0x4f in __interceptor_memcpy /build/llvm/asan.cpp:22\n"
	       "    #1 0x50 in consumer(void*) /src/pbzip2.cpp:893:10\n",
	       SKETCH_CRASH, "heap-use-after-free", "/src/pbzip2.cpp:893 consumer");
	expect("WARNING: ThreadSanitizer: data race (pid=7)\n  Write of size 4 at 0x1 by thread T1:\n"
	       "    #0 add /src/count.c:9 (count+0x12)\n",
	       SKETCH_CRASH, "data race", "/src/count.c:9 add");
	expect("Program terminated with signal SIGSEGV, Segmentation fault.\n"
	       "#0  __strlen_avx2 () at ../sysdeps/x86_64/multiarch/strlen-avx2.S:65\n"
	       "#1  0x0000555555555151 in next_url (u=0x0) at curl.c:29\n",
	       SKETCH_CRASH, "SIGSEGV", "curl.c:29 next_url");
	expect("a.c:4:9: runtime error: signed integer overflow\n", SKETCH_CRASH, NULL, "a.c:4 ");
}

static void no_place(void **state)
{
	static const char *const bad[] = {
		"", "hello", "#0 main", "a.c:", ":12", "a.c:0", "a b.c:1", "#0 0x1 in f () at "};
	struct sketch_failure f;

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(sketch_read_text(&f, bad[i], strlen(bad[i]), "text"), RD_EFORMAT);
		sketch_failure_release(&f);
	}
	rd_log_set(NULL, NULL);
}

/* Finds a failed assertion in the output of a program, which may contain anything else, and makes
 * its signature. */
static void assertions(void **state)
{
	static const char *const none[] = {"", "p: x/a.c:12: main: Assertion `x'", "p: Assertion `x' failed.",
					   "' failed: Assertion `"};
	static const char text[] = "begin\np: x/a.c:12: void *look(void *): Assertion `x' failed.\nend\n";
	struct sketch_failure f = {0};
	char *signature;

	(void)state;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_false(sketch_read_assertion(&f, none[i], strlen(none[i])));
	assert_true(sketch_read_assertion(&f, text, strlen(text)));
	signature = sketch_signature(&f);
	assert_string_equal(signature, "assertion Assertion `x' failed in look at a.c:12");
	free(signature);
	sketch_failure_release(&f);
}

static struct trial ended(int status)
{
	struct trial t = {.end = REPLAY_EXITED, .status = status};

	t.text[0] = (struct trial_text){"wrong\n", 6};
	t.text[1] = (struct trial_text){"e\n", 2};
	t.text[2].data = "";
	trial_digest(&t, &(struct trial_mask){0});
	return t;
}

static enum sketch_outcome judge(const char *command, int status, enum sketch_outcome before)
{
	struct judge j = {.command = command};
	struct sketch_failure f = {.kind = before};
	struct trial t = ended(status);
	enum sketch_outcome kind;

	assert_int_equal(verdict_judge(&j, &t, &f), RD_OK);
	kind = f.kind;
	sketch_failure_release(&f);
	judge_release(&j);
	return kind;
}

static void judged(void **state)
{
	(void)state;
	assert_int_equal(judge("grep -q wrong", 0, SKETCH_PASSED), SKETCH_OUTPUT);
	assert_int_equal(judge("grep -q right", 0, SKETCH_PASSED), SKETCH_PASSED);
	assert_int_equal(judge("test $RADDLE_STATUS = 3 && grep -q e /dev/fd/3", 3, SKETCH_EXIT),
			 SKETCH_EXIT);
	assert_int_equal(judge("false", 3, SKETCH_EXIT), SKETCH_PASSED);
	assert_int_equal(judge("false", 0, SKETCH_CRASH), SKETCH_CRASH);
	assert_int_equal(judge(NULL, 3, SKETCH_EXIT), SKETCH_EXIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(no_place),
		cmocka_unit_test(assertions),
		cmocka_unit_test(judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
