// SPDX-License-Identifier: Apache-2.0
/*
 * A program for the tests of replay.  One thread uses a pointer that another thread clears.  That
 * succeeds in the recorded order and crashes in the other order.  With "idle" the program does
 * nothing and returns 3; with "echo" it first prints a line of its input.
 */
#include "micro/case.h"

static int value, *shared = &value;
THREAD(use)
{
	UNUSED;
	*shared = 1;
	return NULL;
}
THREAD(take)
{
	UNUSED;
	shared = NULL;
	return NULL;
}
int main(int argc, char **argv)
{
	char line[64];

	if (argc > 1 && strcmp(argv[1], "idle") == 0)
		return 3;
	if (argc > 1 && strcmp(argv[1], "echo") == 0 && fgets(line, sizeof line, stdin))
		printf("%s: %s", argv[1], line);
	fflush(stdout);
	run_two(use, take);
	return 0;
}
