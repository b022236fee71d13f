// SPDX-License-Identifier: Apache-2.0
/*
 * What the tests of replay need: run with "use", a thread uses what another one takes away, which
 * goes well in the recorded order and ends in a crash in the other one.  With "idle" it does
 * nothing, with "echo" it copies its input besides, and says who its arguments are.
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
