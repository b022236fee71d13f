// SPDX-License-Identifier: Apache-2.0
/* Unit tests of sketch/stack-int.h: the stack of a process that waits in a function of the test
 * shows that function. */
#include "sketch/stack-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

extern char __executable_start[];
static volatile int waits;
static int fds[2];

/* A place in the stack is in this function if it is less than 256 bytes after the function's
 * address. */
static __attribute__((noinline)) void wait_here(void)
{
	char byte;

	if (read(fds[0], &byte, 1) != 1)
		waits++;
	waits++;
}

static bool was_called_from(const uint64_t *places, size_t count, uint64_t from, uint64_t length)
{
	for (size_t i = 0; i < count; i++)
		if (places[i] >= from && places[i] < from + length)
			return true;
	return false;
}

static void test_stack(void **state)
{
	struct stack_code code = {0};
	uint64_t places[STACK_PLACES], here = (uintptr_t)wait_here - (uintptr_t)__executable_start;
	size_t count;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		wait_here();
		_exit(0);
	}
	do /* until the process is in this function */
		count = stack_places(&code, "/proc/self/exe", pid, (uint32_t)pid, places);
	while (!was_called_from(places, count, here, 256));
	assert_int_equal(code.base, (uintptr_t)__executable_start);

	/* A thread that does not exist has no stack. */
	assert_int_equal(stack_places(&code, "/proc/self/exe", pid, (uint32_t)pid + 1000000, places), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stack)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
